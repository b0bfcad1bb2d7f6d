"""Run the tests at both ends of the versions that pyproject.toml promises.

    python -m tests.installs.compat                        both ends, everything but Spark
    python -m tests.installs.compat lowest tests/rooms     one end, some of the tests
    python -m tests.installs.compat lowest --extras spark  with the extra as well

*Lowest*: Python 3.11 with exactly the lower bound of every dependency. *Newest*: the newest promised Python with the
newest version of every dependency; where this machine does not have that Python, in a bare Debian that has it, which
needs root and apt. The tests run against the wheel.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.installs.artifacts import build
from tests.installs.bounds import lowest, requirements
from tests.installs.debian import HOME, bare_system
from tests.installs.environments import NEWEST, ROOT, Environment, newest_python, oldest_python

__all__ = ["run", "run_in_debian"]

EXTRAS = ["yaml", "formats", "frames", "postgres", "trees", "studio"]
CHECKERS = {"ruff", "mypy", "import-linter", "types-PyYAML", "pandas-stubs"}  # `make check` runs them, not the tests
DEBIAN = "testing"  # has the newest Python
PROJECT = f"{HOME}/project"
OPTIONS = ["-q", "--dist", "worksteal", "-p", "no:cacheprovider"]


def run(end: str, wheel: Path, tests: list[str], extras: list[str], workers: str) -> bool:
    """Install the wheel with the versions of one end, and run tests; whether they passed."""
    python = oldest_python() if end == "lowest" else newest_python()
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Environment.made(Path(scratch) / "environment", python)
        constraints = Path(scratch) / "constraints.txt"
        constraints.write_text("\n".join(lowest(["dev"]) if end == "lowest" else []) + "\n", encoding="utf-8")
        fresh.install("--constraint", constraints, f"{wheel}[{','.join(extras)}]", *_tools())
        print(f"== {end} versions, {python}", flush=True)
        fresh.run("python", "-m", "pip", "--disable-pip-version-check", "freeze", "--all")
        try:
            fresh.run("python", "-m", "pytest", *OPTIONS, "-n", workers, *tests, cwd=ROOT)
        except subprocess.CalledProcessError:
            return False
    return True


def run_in_debian(wheel: Path, tests: list[str], extras: list[str], workers: str) -> bool:
    """Do so with the newest versions, on the Python of a bare Debian, with a copy of what is under version control."""
    beside = ROOT.parent / "shared"
    with bare_system(DEBIAN, {beside: f"{HOME}/shared"} if beside.is_dir() else {}) as bare:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
        for name in filter(None, listed.split("\0")):
            copy = bare.root / PROJECT[1:] / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy)
        needed = [str(one) for one in requirements(extras)]
        bare.install(str(wheel), *needed, *_tools())
        print(f"== newest versions, {bare.named}", flush=True)
        print(bare.run("pip", "--disable-pip-version-check", "freeze", "--all"), end="", flush=True)
        command = ["python", "-m", "pytest", *OPTIONS, "-n", workers, *tests]
        return bare.succeeds("env", "--chdir", PROJECT, *command)


def _tools() -> list[str]:
    """What the tests themselves need: the tools of developers, without the checkers and the package's own extras."""
    own = {requirement.name for requirement in requirements([*EXTRAS, "spark"])}
    needed = [r for r in requirements(["dev"]) if r.name not in own | CHECKERS]
    return [f"{r.name}[{','.join(r.extras)}]" if r.extras else r.name for r in needed]


def main() -> None:
    """Read the command line, build a wheel, and run the tests at one end or both."""
    parser = argparse.ArgumentParser(prog="python -m tests.installs.compat", description="Tests at both ends.")
    parser.add_argument("end", nargs="?", choices=["lowest", "newest", "both"], default="both")
    parser.add_argument("tests", nargs="*", default=["tests"], help="what pytest shall run (all tests)")
    parser.add_argument("--extras", default="", help="further extras to install, such as spark")
    parser.add_argument("--workers", default=str(os.cpu_count() or 2), help="how many processes run tests")
    given, more = parser.parse_known_args()
    wheel, _ = build(oldest_python())
    extras = EXTRAS + [extra for extra in given.extras.split(",") if extra]
    ends = ["lowest", "newest"] if given.end == "both" else [given.end]
    failed = []
    for end in ends:
        asked = (wheel, [*given.tests, *more], extras, given.workers)
        away = end == "newest" and newest_python() != f"python3.{NEWEST}"
        if not (run_in_debian(*asked) if away else run(end, *asked)):
            failed.append(end)
    if failed:
        raise SystemExit(f"tests failed with the {' and the '.join(failed)} versions")


if __name__ == "__main__":
    main()
