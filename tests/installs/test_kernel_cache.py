"""The cache of compiled kernels gives back what was made from the same files, and trusts nobody else's folder."""

from __future__ import annotations

import importlib.util
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.installs.environments import ROOT

pytest.importorskip("setuptools", minversion="60")


@pytest.fixture
def setup(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The file setup.py as a module; it builds nothing unless it is run."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("GLASSHOUSE_KERNEL_CACHE", str(tmp_path / "cache"))
    spec = importlib.util.spec_from_file_location("kernel_setup", ROOT / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_kernel_has_the_same_place_unless_something_changes(setup: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = setup.extensions()[:2]
    place = setup.Cache(["cc", "-O3"]).place(one)

    assert setup.Cache(["cc", "-O3"]).place(one) == place
    assert setup.Cache(["cc", "-O2"]).place(one) != place
    assert setup.Cache(["cc", "-O3"]).place(other) != place
    monkeypatch.setattr(setup, "version", lambda _name: "another Cython")
    assert setup.Cache(["cc", "-O3"]).place(one) != place


def test_a_changed_source_has_another_place(setup: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "setup.py").write_text("", encoding="utf-8")
    (tmp_path / "src").mkdir()
    source, shared = tmp_path / "src" / "_kernels.py", tmp_path / "src" / "_kernels.pxd"
    places = set()
    for text, declared in (("a = 1", ""), ("a = 2", ""), ("a = 1", "cdef int a")):
        source.write_text(text, encoding="utf-8")
        shared.write_text(declared, encoding="utf-8")
        places.add(setup.Cache([]).place(setup.extension("kernels", Path("src/_kernels.py"), "-O3")))

    assert len(places) == 3


def test_what_is_kept_is_found_and_what_nobody_uses_goes(setup: Any, tmp_path: Path) -> None:
    cache = setup.Cache([])
    place = cache.place(setup.extensions()[0])
    old = place.parent / "old.so"
    old.write_bytes(b"")
    os.utime(old, (0, time.time() - setup.KEPT - 10))
    made = tmp_path / "made.so"
    made.write_bytes(b"compiled")
    cache.keep(made, place)

    assert place.read_bytes() == b"compiled"
    assert [path.name for path in place.parent.iterdir()] == [place.name]
    assert place.parent.stat().st_mode & 0o077 == 0


def test_a_folder_that_others_can_write_to_is_not_used(
    setup: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("GLASSHOUSE_KERNEL_CACHE", str(shared))
    assert setup.Cache([]).place(setup.extensions()[0]) is None

    shared.chmod(0o700)
    monkeypatch.setattr(setup.os, "geteuid", lambda: os.getuid() + 1)
    assert setup.Cache([]).place(setup.extensions()[0]) is None


@pytest.mark.parametrize("named", ["", "/dev/null/cache"])
def test_without_a_folder_nothing_is_kept(setup: Any, named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSHOUSE_KERNEL_CACHE", named)

    assert setup.Cache([]).place(setup.extensions()[0]) is None


def test_a_compiler_that_is_not_there_is_no_reason_to_stop(setup: Any) -> None:
    assert setup.Cache(["no-such-compiler"]).place(setup.extensions()[0]) is not None
