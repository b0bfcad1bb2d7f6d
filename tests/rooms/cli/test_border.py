# SPDX-License-Identifier: Apache-2.0
"""What names and values hold is shown at the terminal and does nothing there, whatever the terminal is."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.visible import in_lines, in_markup, is_shown, json_text, visible

FORGED = "holds  k = 99"
EVIL = (
    "\x1b[31mred\x1b]8;;http://x\x07link\x1b]8;;\x07 \x9b2J\x85 \u202eturned\u2066 \u2028\u2029 \u200b\ufeff\u2060 "
    f"[red]m[/red] [link=http://x]y[/link] :bomb: \x7f a\n{FORGED}\r\tt \x01"
)
AGE, ILL, CITY = f"age{EVIL}", f"ill{EVIL}", f"city{EVIL}"
N = 48


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hostile table, a policy for it, and what was published by that."""
    folder = tmp_path_factory.mktemp("evil")
    columns: dict[str, Any] = {
        AGE: [20 + i % 9 for i in range(N)],
        CITY: [f"{['Oslo', 'Rome', 'Bonn'][i % 3]}{EVIL}" for i in range(N)],
        ILL: [f"{['flu', 'gout', 'cold', 'ulcer'][i % 4]}{EVIL}" for i in range(N)],
        "name": [f"p{i}{EVIL}" for i in range(N)],
    }
    pq.write_table(pa.table(columns), folder / "evil.parquet")
    (folder / "policy.toml").write_text(
        '[source]\nfile = "evil.parquet"\naccept = ["line-breaks"]\n'
        f"[roles]\nquasi = [{json.dumps(AGE)}, {json.dumps(CITY)}]\n"
        f'sensitive = {json.dumps(ILL)}\nidentifier = "name"\n[principle]\nell = 2\n'
        f'[release]\nout = "out"\ntitle = {json.dumps("T" + EVIL)}\n'.replace("\x7f", "\\u007f")
    )
    assert CliRunner().invoke(glasshouse, ["publish", str(folder / "policy.toml")]).exit_code == 0
    return folder


@pytest.fixture(autouse=True)
def this_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that are run elsewhere import what is tested here."""
    monkeypatch.setenv("PYTHONPATH", str(Path(gh.__file__).parents[1]))


def lines(place: Path) -> dict[str, tuple[list[str], int]]:
    """Command lines that meet hostile names, values, titles and file names, and how they end."""
    file, policy, release = str(place / "evil.parquet"), str(place / "policy.toml"), str(place / "out" / "release")
    attack = ["attack", release, "--external", file, "--identifier", "name"]
    return {
        "inspect": (["inspect", file], 0),
        "init": (["init", file, "--out", "-"], 0),
        "taxonomy": (["taxonomy", file, "name=prefix:400", "--json"], 0),
        "taxonomy in lines": (["taxonomy", file, "name=prefix:400"], 2),
        "taxonomy of nothing": (["taxonomy", file, f"{CITY}=prefix:400"], 2),
        "publish": (["publish", policy, "--force"], 0),
        "publish on disk": (
            ["publish", file, "--quasi", "name", "--sensitive", ILL.replace(",", ""), "--ell", "2", "--engine", "disk",
             "--accept", "line-breaks,direct-identifiers", "--out", str(place / "disk"), "--force"], 0),
        "publish nothing": (["publish", file, "--quasi", f"x{EVIL}", "--k", "2", "--out", str(place / "no")], 2),
        "publish by a wrong option": (["publish", file, "--method", EVIL], 2),
        "verify": (["verify", release], 0),
        "verify a table": (["verify", file, "--quasi", CITY, "--sensitive", ILL, "--k", "99"], 1),
        "verify by a wrong number": (["verify", file, "--quasi", CITY, "--t", EVIL, "--sensitive", ILL], 2),
        "show": (["show", release], 0),
        "show nothing": (["show", str(place / f"no{EVIL}")], 2),
        "learn from few": (["learn", release], 2),
        "learn nothing": (["learn", release, "--column", EVIL], 2),
        "query": (["query", release, f'SELECT COUNT(*), "{ILL}" GROUP BY "{ILL}"'], 0),
        "query nothing": (["query", release, f'SELECT COUNT(*) WHERE "x{EVIL}" = 1'], 2),
        "attack": (attack, 0),
        "attack and limit": ([*attack, "--fail-above", "0.01"], 1),
        "attack and save": ([*attack, "--attack", "reverse-engineering", "--save"], 0),
        "marginals": (["marginals", file, "--quasi", f"{AGE},{CITY}", "--sensitive", ILL, "--identifier", "name",
                       "--accept", "line-breaks", "--marginal", f"{AGE},{ILL}", "--out", str(place / "out")], 0),
        "compare": (["compare", policy, "--out", str(place / "compared")], 0),
        "no such command": ([f"no{EVIL}"], 2),
        "no such option": (["show", f"--no{EVIL}"], 2),
        "help": (["--help"], 0),
        "completion": (["completion", "zsh"], 0),
    }  # fmt: skip


NAMES = list(lines(Path()))


def check(printed: str) -> None:
    hidden = sorted({hex(ord(c)) for c in printed if not is_shown(c) and c != "\n"})
    assert not hidden
    assert not re.search(rf"^\s*{FORGED}", printed, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_hidden_and_no_forged_line_is_printed(name: str, place: Path) -> None:
    line, code = lines(place)[name]
    result = CliRunner().invoke(glasshouse, line)

    assert result.exit_code == code, result.output
    check(result.stdout)
    check(result.stderr)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("help", "init")])
def test_json_holds_the_values_as_they_are_and_shows_all_of_them(name: str, place: Path) -> None:
    line, code = lines(place)[name]
    result = CliRunner().invoke(glasshouse, [*line, "--json"])

    assert result.exit_code == code, result.output
    check(result.stdout)
    if code < 2:
        json.loads(result.stdout)


def test_pages_and_drawings_turn_no_words_around(place: Path) -> None:
    CliRunner().invoke(glasshouse, lines(place)["attack and save"][0])
    CliRunner().invoke(glasshouse, lines(place)["compare"][0])
    pages = [*place.rglob("*.html"), *place.rglob("*.svg")]

    assert len(pages) >= 3
    for page in pages:
        check(page.read_text(encoding="utf-8"))


def test_a_policy_for_hostile_names_is_plain_to_see_and_says_what_they_are(place: Path) -> None:
    text = CliRunner().invoke(glasshouse, ["init", str(place / "evil.parquet"), "--out", "-"]).stdout
    (place / "first.toml").write_text(text)

    assert AGE in gh.load_policy(place / "first.toml").read_arguments()["quasi"]


def command(line: list[str], place: Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "glasshouse", *line], cwd=place, env=env, capture_output=True, timeout=120, **options
    )


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "cp1252"},
        {"COLUMNS": "1"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"HOME": ""},
        {"TERM": "dumb", "FORCE_COLOR": "1"},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["inspect", "show", "show nothing"])
def test_a_poor_terminal_gets_what_it_can_show(name: str, env: dict[str, str], place: Path) -> None:
    line, code = lines(place)[name]
    result = command([word.encode() for word in line], place, env=env)  # type: ignore[misc]
    encoding = env.get("PYTHONIOENCODING", "utf-8")

    assert result.returncode == code, result.stderr.decode()
    check(result.stdout.decode(encoding))
    check(result.stderr.decode(encoding))
    if name == "show":
        found = command([*line, "--json"], place, env=env)
        assert json.loads(found.stdout.decode(encoding))["n_tuples"] == N


def test_a_reader_who_stops_gets_no_complaint(place: Path) -> None:
    line = [sys.executable, "-m", "glasshouse", "show", "out/release", "--rows", "40"]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as nobody:
        result = subprocess.run(line, cwd=place, stdout=nobody, stderr=subprocess.PIPE, timeout=120)

    assert (result.returncode, result.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("line", [["show", "out/release"], ["--help"], ["verify", "out/release", "--json"]], ids=str)
def test_a_full_disk_is_told_in_one_line(line: list[str], place: Path) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "glasshouse", *line], cwd=place, stdout=full, stderr=subprocess.PIPE, timeout=120
        )

    assert result.returncode == 3
    assert result.stderr.startswith(b"error: ")
    assert result.stderr.count(b"\n") == 1
    assert line == ["--help"] or result.stderr == b"error: No space left on device: the standard output\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_output_says_what_was_written_and_a_full_log_is_named(place: Path) -> None:
    (place / "ages.csv").write_text("age\n" + "30\n41\n" * 10)
    publish = f"{sys.executable} -m glasshouse publish ages.csv --quasi age --k 2 --out"
    for line, told in (
        ("o1 > /dev/full", "No space left on device: the standard output; o1 was written completely before this"),
        ("o2 --log-json /dev/full", "No space left on device: the log /dev/full"),
    ):
        result = subprocess.run(f"{publish} {line}", shell=True, cwd=place, capture_output=True, text=True, timeout=120)
        assert result.returncode == 3
        assert f"error: {told}" in result.stderr
    assert (place / "o1" / "release").is_dir()


@pytest.mark.skipif(os.name != "posix", reason="closed streams and limits are POSIX")
@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- 2>&-"])
def test_streams_that_are_closed_change_no_exit_code(closed: str, place: Path) -> None:
    for line, code in (("verify out/release", 0), ("show out/release --json", 0), ("show nothing", 2)):
        shell = f"{sys.executable} -m glasshouse {line} {closed}"
        assert subprocess.run(shell, shell=True, cwd=place, timeout=120).returncode == code


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX")
@pytest.mark.parametrize("kib", [60_000, 150_000])
def test_too_little_memory_to_begin_is_told_in_one_line(kib: int, place: Path) -> None:
    shell = f"ulimit -v {kib} && exec {sys.executable} -m glasshouse verify out/release"
    result = subprocess.run(["bash", "-c", shell], cwd=place, capture_output=True, timeout=120)

    assert result.returncode == 3
    assert b"Traceback" not in result.stderr
    assert result.stderr.splitlines()[-1].startswith(b"error: ")


def test_a_name_that_is_not_unicode_is_refused_in_one_line(place: Path) -> None:
    for line in (["show", b"no\xff"], ["inspect", b"no\xff.csv"], ["publish", "evil.parquet", "--quasi", "name",
                 "--k", "2", "--no-report", "--out", b"out\xff"]):  # fmt: skip
        result = command(line, place)  # type: ignore[arg-type]
        assert result.returncode == 2, result.stderr
        assert b"Traceback" not in result.stderr
        assert sum(line.startswith("error: ") for line in result.stderr.decode("utf-8").splitlines()) == 1


def test_a_fault_is_told_in_one_line_and_where_only_when_asked(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError(f"a value {EVIL}")

    monkeypatch.setattr("glasshouse.microdata.inspection.inspection.inspect", broken)
    quiet = CliRunner().invoke(glasshouse, ["inspect", "x.csv"])
    told = CliRunner().invoke(glasshouse, ["inspect", "x.csv", "--verbose"])

    assert (quiet.exit_code, told.exit_code) == (3, 3)
    assert quiet.stderr.count("\n") == 1
    assert "value" not in quiet.stderr
    assert "Traceback" in told.stderr
    check(told.stderr)


def test_only_the_border_prints() -> None:
    """No command prints by itself, so that nothing can be forgotten."""
    folder = Path(gh.__file__).parent / "cli"
    for file in folder.glob("*.py"):
        if file.name in ("printing.py", "progress.py"):  # what progress shows are words and numbers of our own
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            assert name not in ("print", "click.echo", "click.secho", "Console", "Table", "click.echo_via_pager"), file


# ---------------------------------------------------------------------------------------------------------- the words


def test_what_is_visible_stays_as_it_is() -> None:
    for text in ("age", "Zürich", "患者 年齢", "a b", "naïve ± µ", "🙂"):
        assert visible(text) == text


def test_every_character_that_hides_is_written_out() -> None:
    hidden = [*map(chr, (*range(32), *range(127, 160), 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F)))]
    hidden += [
        *map(chr, (*range(0x2066, 0x206A), 0x2028, 0x2029, 0xFEFF, 0xAD, 0x61C, 0xD800, 0xDFFF, 0xE0041, 0xFE0F))
    ]
    for one in hidden:
        assert re.fullmatch(r"\\(x..|u....|U........|[nrt])", visible(one))
        assert json.loads(json_text([one])) == [one]
        assert json_text([one]).isascii()
    assert in_lines(["a\nb", "c"]) == "a\\nb\nc"
    assert in_markup("<\x1b&\u202e") == "&lt;\\x1b&amp;\\u202e"
