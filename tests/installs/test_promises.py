"""What the project says of its versions is the same everywhere."""

from __future__ import annotations

import re
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import glasshouse as gh
from glasshouse.release.package.manifest import FORMAT_VERSION
from tests.installs.artifacts import faults_of_wheel, paths_in
from tests.installs.bounds import lowest, requirements
from tests.installs.environments import NEWEST, OLDEST, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_in_the_citation() -> None:
    assert re.findall(r"^version: (.*)$", text("CITATION.cff"), re.MULTILINE) == [gh.__version__]


def test_the_change_log_has_the_version_or_what_is_unreleased() -> None:
    headings = re.findall(r"^## (.*)$", text("CHANGELOG.md"), re.MULTILINE)

    assert headings[0] == "Unreleased" or headings[0].startswith(gh.__version__)


def test_the_page_about_versions_names_the_newest_format() -> None:
    assert f"This version reads formats 1 to {FORMAT_VERSION}." in text("docs/versioning.md")


def test_the_pythons_that_are_named_are_those_that_are_tried() -> None:
    promised = [f"Programming Language :: Python :: 3.{minor}" for minor in range(OLDEST, NEWEST + 1)]

    assert [line for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)] == promised
    assert PROJECT["requires-python"] == f">=3.{OLDEST}"


def test_everything_that_is_needed_has_a_lower_bound() -> None:
    needed = requirements([extra for extra in PROJECT["optional-dependencies"] if extra not in ("docs", "dev")])
    bounds = lowest([extra for extra in PROJECT["optional-dependencies"] if extra != "docs"])

    assert {r.name for r in needed} <= {line.partition("==")[0] for line in bounds}
    for requirement in needed:
        (line,) = (line for line in bounds if line.startswith(f"{requirement.name}=="))
        assert requirement.specifier.contains(Version(line.partition("==")[2]))


def test_no_library_has_two_lower_bounds() -> None:
    names = [line.partition("==")[0] for line in lowest(list(PROJECT["optional-dependencies"]))]

    assert len(names) == len(set(names))


def test_an_extra_that_names_extras_stands_for_them() -> None:
    names = {r.name for r in requirements(["dev"])}

    assert {"numpy", "polars", "starlette", "pytest"} <= names
    assert "glasshouse" not in names
    assert all(isinstance(r, Requirement) for r in requirements([]))


def test_a_wheel_with_faults_is_told_apart(tmp_path: Path) -> None:
    wheel = tmp_path / "glasshouse-1-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("glasshouse/kernels/_sorting_kernels.abi3.so", b"\0/opt/ann/build/kernel.c\0")
        archive.writestr("glasshouse/kernels/_sorting_kernels.c", "")
        archive.writestr("tests/conftest.py", "")
    faults = faults_of_wheel(wheel)

    for expected in (
        "/opt/ann/build/kernel.c",
        "_sorting_kernels.c does not",
        "tests/conftest.py does",
        "every later",
    ):
        assert any(expected in fault for fault in faults), expected
    assert "glasshouse/kernels/_random_kernels was not compiled" in faults
    assert not any("_sorting_kernels was not compiled" in fault for fault in faults)


@pytest.mark.parametrize("template", ["fault.md", "idea.md", "words.md"])
def test_templates_have_a_name_and_say_what_they_are_for(template: str) -> None:
    head = text(f".github/ISSUE_TEMPLATE/{template}").split("---")[1]

    assert re.search(r"^name: .+$", head, re.MULTILINE)
    assert re.search(r"^about: .+\.$", head, re.MULTILINE)


def test_paths_of_the_machine_are_found_in_compiled_files() -> None:
    assert paths_in(b"\0/glasshouse/x\0") == []
    assert paths_in(b"\0/var/x.c\0") == ["/var/x.c"]
