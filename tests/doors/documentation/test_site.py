"""What ``make docs`` checks of a built site: each kind of fault is found, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tools.built_site import faults
from tools.narrow_pages import too_wide

GOOD = {
    "index.html": '<link rel="stylesheet" href="site.css"><a href="rooms/one.html#here">one</a> <a href="https://elsewhere.org">far</a>',
    "rooms/one.html": '<h2 id="here">Here</h2> <a href="../index.html">home</a> <img src="../a.svg" alt="a house">',
    "404.html": '<a href="/index.html">home</a>',
    "site.css": "body { background: url(data:image/png;base64,AAAA) }",
    "a.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
}


def site(folder: Path, **changed: str) -> Path:
    """A small site, with something added to some of its files."""
    for name, text in GOOD.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + changed.get(path.stem, ""), encoding="utf-8")
    return folder


def test_nothing_is_wrong_with_a_site_that_is_whole(tmp_path: Path) -> None:
    assert [] == list(faults(site(tmp_path)))


@pytest.mark.parametrize(
    ("where", "added", "told"),
    [
        ("index", '<a href="two.html">two</a>', "two.html, which does not exist"),
        ("index", '<a href="rooms/one.html#there">there</a>', "rooms/one.html#there, where there is no such place"),
        ("index", '<a href="#nowhere">nowhere</a>', "#nowhere, where there is no such place"),
        ("index", '<script src="https://cdn.example.org/a.js"></script>', "fetches https://cdn.example.org/a.js"),
        ("index", '<script src="//cdn.example.org/a.js"></script>', "fetches //cdn.example.org/a.js"),
        ("index", '<link rel="stylesheet" href="https://fonts.example.org/a">', "fetches https://fonts.example.org/a"),
        ("index", '<link rel="preconnect" href="https://fonts.example.org">', "fetches https://fonts.example.org"),
        ("one", '<img src="https://example.org/a.png" alt="a picture">', "fetches https://example.org/a.png"),
        ("one", '<img src="b.svg" alt="a picture">', "there is no b.svg"),
        ("one", '<img src="../a.svg">', "a picture without words"),
        ("one", '<pre class="mermaid">a</pre>', "a script would be fetched"),
        ("one", '<p style="background: url(https://example.org/a.png)">', "a style fetches"),
        ("site", "@import 'https://fonts.example.org/a.css';", "site.css fetches something from elsewhere"),
        ("a", '<image href="https://example.org/a.png"/>', "a.svg fetches something from elsewhere"),
    ],
)
def test_what_is_wrong_is_found(where: str, added: str, told: str, tmp_path: Path) -> None:
    found = list(faults(site(tmp_path, **{where: added})))

    assert len(found) == 1, found
    assert told in found[0]


def test_a_page_to_which_nothing_leads_is_found(tmp_path: Path) -> None:
    site(tmp_path)
    (tmp_path / "lost.html").write_text('<h1 id="lost">Lost</h1><a href="#lost">here</a>', encoding="utf-8")

    assert ["no page leads to lost.html"] == list(faults(tmp_path))


def test_a_compiled_file_is_found(tmp_path: Path) -> None:
    (site(tmp_path) / "a.pyc").write_bytes(b"")

    assert ["a.pyc tells of the machine on which it was made"] == list(faults(tmp_path))


def test_a_program_in_the_site_is_found(tmp_path: Path) -> None:
    (site(tmp_path) / "rooms" / "a.py").write_text("", encoding="utf-8")

    assert ["rooms/a.py is a program, and no page: move it out of docs/"] == list(faults(tmp_path))


def test_there_is_no_program_in_the_folder_of_pages() -> None:
    assert [] == sorted(path.name for path in (ROOT / "docs").rglob("*.py"))


def test_an_empty_folder_is_no_site(tmp_path: Path) -> None:
    assert ["has no index.html"] == [fault.partition(" ")[2] for fault in faults(tmp_path)]


def test_making_the_documentation_is_strict_and_checks_what_was_built() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = makefile[makefile.index("\ndocs:") :].partition("\n\n")[0]

    assert "zensical build --clean --strict" in recipe
    assert recipe.rstrip().endswith("python -m tools.built_site site")
    assert yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["site_dir"] == "site"


def test_what_is_wider_than_a_phone_is_found_and_what_scrolls_is_not(tmp_path: Path) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("Chromium is not here")
    style = (ROOT / "docs" / "site.css").read_text(encoding="utf-8")
    table = f"<table><tr>{'<td>' + 'x' * 30 + '</td>'}{'<td>' + 'y' * 90 + '</td>'}</tr></table>"
    head = '<meta name="viewport" content="width=device-width">'
    for name, css in {"styled": style, "bare": ""}.items():
        body = f'<body style="margin: 0"><main class="md-typeset">{table}</main>'
        (tmp_path / f"{name}.html").write_text(f"{head}<style>{css}</style>{body}", encoding="utf-8")
    found = list(too_wide([tmp_path / "bare.html", tmp_path / "styled.html"], browser))

    assert found
    assert {fault.partition(" ")[0] for fault in found} == {"bare.html"}
