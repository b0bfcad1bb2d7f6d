"""Run the tests at both ends of the versions that pyproject.toml promises.

    python -m tests.installs.compat                        both ends, everything but Spark
    python -m tests.installs.compat lowest tests/rooms     one end, some of the tests
    python -m tests.installs.compat newest --extras spark  with the extra as well

*Lowest*: Python 3.11 with exactly the lower bound of every dependency. *Newest*: the newest promised Python of this
machine with the newest version of every dependency. The tests run against the wheel, in a fresh environment.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

from tests.installs.artifacts import build
from tests.installs.bounds import lowest, requirements
from tests.installs.environments import ROOT, Environment, newest_python, oldest_python

__all__ = ["run"]

EXTRAS = ["yaml", "formats", "frames", "postgres", "trees", "studio"]
CHECKERS = {"ruff", "mypy", "import-linter", "types-PyYAML", "pandas-stubs"}  # `make check` runs them, not the tests


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
        options = ["-q", "-n", workers, "--dist", "worksteal", "-p", "no:cacheprovider"]
        try:
            fresh.run("python", "-m", "pytest", *options, *tests, cwd=ROOT, env={"PYTHONDONTWRITEBYTECODE": "1"})
        except subprocess.CalledProcessError:
            return False
    return True


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
    failed = [end for end in ends if not run(end, wheel, [*given.tests, *more], extras, given.workers)]
    if failed:
        raise SystemExit(f"tests failed with the {' and the '.join(failed)} versions")


if __name__ == "__main__":
    main()
