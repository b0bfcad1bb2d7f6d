# SPDX-License-Identifier: Apache-2.0
"""Environments for other tools, apart from ours and from each other, and jobs in them with limits."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import tempfile
import venv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

SLACK = 20  # CPU seconds on top of the limit: starting Python, importing and reading are not the tool's
PATIENCE = 5  # times the limit, by the clock: the machine may be busy


class NotInstalled(Exception):
    """A tool that is not there, with the reason."""


def environment(folder: Path, requirements: Sequence[str]) -> Path:
    """The Python of an environment with these packages; made if it is not there."""
    python, ready = folder / "bin" / "python", folder / "ready"
    if ready.exists() and ready.read_text().split() == [*requirements]:
        return python
    try:
        venv.create(folder, with_pip=True, clear=True)
        asked = [str(python), "-I", "-m", "pip", "install", "-qq", "--disable-pip-version-check", *requirements]
        subprocess.run(asked, check=True, capture_output=True, text=True, timeout=600, env=clean())
    except subprocess.CalledProcessError as error:
        raise NotInstalled(f"not installed: {last_line(error.stderr or '')}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise NotInstalled(f"not installed: {error}") from error
    ready.write_text(" ".join(requirements))
    return python


def clean() -> dict[str, str]:
    """What the environment of a job is told of ours: nothing about Python."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}


def run(
    python: Path,
    script: Path,
    job: Mapping[str, Any],
    *,
    seconds: float,
    gigabytes: float,
    slack: float = SLACK,
    patience: float = PATIENCE,
) -> dict[str, Any]:
    """Do a job in a process of its own: what it tells, or ``failed`` with the reason."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "job.json"
        file.write_text(json.dumps(job))
        process = subprocess.Popen(
            [str(python), "-I", str(script), str(file)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=clean(),
            cwd=folder,
            start_new_session=True,
            preexec_fn=_limits(seconds + slack, gigabytes),
        )
        try:
            out, err = process.communicate(timeout=seconds * patience + slack)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return {"failed": f"over {seconds * patience:g} s by the clock"}
    if process.returncode == -signal.SIGXCPU:
        return {"failed": f"over {seconds:g} s"}
    try:
        told: dict[str, Any] = json.loads(out.splitlines()[-1])
    except (IndexError, ValueError):
        return {"failed": f"ended with {process.returncode}: {last_line(err)}"}
    if told.get("cpu", 0) > seconds:
        return {"failed": f"over {seconds:g} s"}
    return told


def _limits(seconds: float, gigabytes: float) -> Callable[[], None]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
        resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 1e9), int(gigabytes * 1e9)))

    return limit


def last_line(text: str) -> str:
    """The last line of a message that is not empty, which is where Python and pip say what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "without a word"
