"""The way to a kernel: compiled where it was compiled, else interpreted with one warning."""

from __future__ import annotations

import runpy
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glasshouse import kernels
from glasshouse.errors import InterpretedKernelsWarning
from tests.conftest import ROOT

NAMES = [
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    for path in sorted((ROOT / "src").rglob("_*kernels.py"))
]


@pytest.mark.parametrize("name", NAMES)
def test_every_kernel_is_compiled_here_and_runs_from_its_source_too(name: str) -> None:
    assert kernels.compiled(name).__file__.endswith(".so")
    assert kernels.interpreted(name).__name__ == name


def test_a_kernel_that_runs_from_its_source_runs_what_it_imports_from_its_source() -> None:
    shared = "glasshouse.kernels._sorting_kernels"
    compiled = sys.modules.get(shared)
    module = kernels._from_source("glasshouse.engines._kernels")
    codes = np.array([3, 1, 2] * 20 + [0] * 60, np.int32)

    vars(module)["sort_codes"](memoryview(codes), 60, 3)

    assert vars(module)["sort_codes"].__code__.co_filename.endswith("_sorting_kernels.py")
    assert codes[:60].tolist() == [1] * 20 + [2] * 20 + [3] * 20
    assert sys.modules.get(shared) is compiled


@pytest.mark.parametrize("broken", [False, True])
def test_either_all_kernels_are_compiled_or_none(broken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They call each other: one that is compiled cannot call one that is not, nor the other way round."""
    pytest.importorskip("setuptools")
    import Cython.Build
    import setuptools
    from setuptools.command.build_ext import build_ext
    from setuptools.errors import CompileError

    def build(self: Any, ext: setuptools.Extension) -> None:
        if broken and ext.name == "second":
            raise CompileError("no compiler")
        Path(self.get_ext_fullpath(ext.name)).write_text("compiled")

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(setuptools, "setup", lambda **given: None)
    monkeypatch.setattr(Cython.Build, "cythonize", lambda some, **options: some)
    monkeypatch.setenv("GLASSHOUSE_KERNEL_CACHE", "")
    command = runpy.run_path("setup.py")["KernelsIfPossible"]
    monkeypatch.setattr(build_ext, "build_extension", build)
    names = ["first", "second", "third"]
    run = command(setuptools.Distribution({"ext_modules": [setuptools.Extension(name, []) for name in names]}))
    run.build_lib, run.parallel = str(tmp_path), False
    run.ensure_finalized()

    run.build_extensions()

    assert len(list(tmp_path.iterdir())) == (0 if broken else 3)


def test_without_compiled_kernels_there_is_one_warning_and_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, offsets = np.array([0, 0, 1, 2], np.int32), np.array([0, 3, 4])

    def largest() -> list[int]:
        found = np.empty(2, np.int64)
        module = kernels.compiled("glasshouse.microdata._counting_kernels")
        module.largest_counts(codes, offsets, np.zeros(3, np.int64), found)
        return found.tolist()

    expected = largest()
    monkeypatch.setattr(kernels, "_is_extension", lambda module: False)
    monkeypatch.setattr(kernels, "_warned", False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [expected, expected] == [largest(), largest()]

    assert [InterpretedKernelsWarning] == [warning.category for warning in caught]
    assert "gcc" in str(caught[0].message)


def test_the_whole_package_works_from_source_alone(tmp_path: Path) -> None:
    """A copy without a single compiled file publishes and verifies a table."""
    import shutil

    copy = tmp_path / "glasshouse"
    shutil.copytree(ROOT / "src" / "glasshouse", copy, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    script = (
        "import glasshouse as gh; assert gh.__file__.startswith(sys_path);"
        "r = gh.publish(gh.examples.transparent_t1(), principle=gh.LDiversity(ell=2), recoding=gh.Boxes());"
        "print(gh.verify(r.data, quasi=['Age', 'Zipcode'], sensitive='Disease').ell)"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, sys_path := {str(tmp_path)!r}); {script}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.stdout.strip() == "2", done.stderr
    assert done.stderr.count("compiled parts of Glasshouse are missing") == 1
