"""Fresh virtual environments, and the Pythons of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Environment", "newest_python", "oldest_python", "pythons"]

ROOT = Path(__file__).resolve().parents[2]
OLDEST, NEWEST = 11, 14  # the minor versions of Python 3 that are promised


@dataclass(frozen=True)
class Environment:
    """A virtual environment."""

    folder: Path

    @classmethod
    def made(cls, folder: Path, python: str) -> Environment:
        """Make it anew, with pip alone inside."""
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", folder], check=True)
        return cls(folder)

    @property
    def programs(self) -> Path:
        """Where its programs are."""
        return self.folder / ("Scripts" if os.name == "nt" else "bin")

    def run(
        self, *command: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, silent: bool = False
    ) -> None:
        """Run one of its programs, which knows nothing of the environment or the sources this one runs in."""
        hidden = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE"}
        around = {name: value for name, value in os.environ.items() if name not in hidden}
        program, *arguments = command
        out = subprocess.DEVNULL if silent else None
        around |= env or {}
        subprocess.run([self.programs / program, *arguments], cwd=cwd, env=around, stdout=out, check=True)

    def install(self, *what: str | Path, env: Mapping[str, str] | None = None) -> None:
        """Install with pip, quietly."""
        quiet = ("--quiet", "--disable-pip-version-check")
        self.run("python", "-m", "pip", "install", *quiet, *what, env=env)


def pythons() -> list[str]:
    """The Pythons of this machine that are promised to work and can make environments, oldest first.

    >>> all(name.startswith("python3.") for name in pythons())
    True
    """
    found = []
    for minor in range(OLDEST, NEWEST + 1):
        name = f"python3.{minor}"
        command = [name, "-c", f"import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, {minor}))"]
        if shutil.which(name) and _succeeds(command):
            found.append(name)
    return found


def oldest_python() -> str:
    """The oldest Python that is promised; this one, if it has no name of its own here."""
    return f"python3.{OLDEST}" if f"python3.{OLDEST}" in pythons() else sys.executable


def newest_python() -> str:
    """The newest Python of this machine that is promised."""
    return (pythons() or [sys.executable])[-1]


def _succeeds(command: Sequence[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
