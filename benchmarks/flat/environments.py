# SPDX-License-Identifier: Apache-2.0
"""The environments of the tools: what is installed in each, and where."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from beside.running import NotInstalled, clean, environment, last_line

PATIENCE = 600  # clock seconds for one installation


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool from PyPI.

    Attributes
    ----------
    requirements
        What is installed with all that it needs.
    alone
        What is installed by itself, because some of what it asks for is large and is not used here; with the reason.
    """

    name: str
    requirements: tuple[str, ...]
    alone: str = ""
    reason: str = ""


WITHOUT_TORCH = "without PyTorch, which only its neural networks use"
TOOLS = {
    tool.name: tool
    for tool in (
        Tool(name="DataSynthesizer", requirements=("DataSynthesizer==0.1.13", "pandas==3.1.1")),
        Tool(name="OpenDP", requirements=("opendp[mbi]==0.16.0", "pandas==3.1.1")),
        Tool(
            name="SmartNoise",
            requirements=("mbi==1.1.0", "disjoint-set==0.9.0", "pac-synth==0.0.8", "Faker", "smartnoise-sql>=1.0.10"),
            alone="smartnoise-synth==1.0.8",
            reason=WITHOUT_TORCH,
        ),
        Tool(
            name="SDV",
            requirements=(
                *("copulas>=0.12.1", "rdt>=2.0.0", "sdmetrics>=0.32.0", "boto3>=1.28", "cloudpickle>=2.1"),
                *("graphviz>=0.13.2", "platformdirs>=4.0", "pyyaml>=6.0.1", "tqdm>=4.29", "pandas<3"),
            ),
            alone="sdv==2.0.0",
            reason=WITHOUT_TORCH,
        ),
        Tool(name="Anonymeter", requirements=("anonymeter==1.1.0",)),
    )
}


def python_of(tool: Tool, cache: Path) -> Path:
    """The Python of a tool's environment under ``cache``; made if it is not there."""
    folder = cache / tool.name.lower()
    python = environment(folder, tool.requirements)
    ready = folder / "ready_alone"
    if not tool.alone or (ready.exists() and ready.read_text() == tool.alone):
        return python
    asked = [str(python), "-I", "-m", "pip", "install", "-qq", "--no-deps", "--disable-pip-version-check", tool.alone]
    try:
        subprocess.run(asked, check=True, capture_output=True, text=True, timeout=PATIENCE, env=clean())
    except subprocess.CalledProcessError as error:
        raise NotInstalled(f"not installed: {last_line(error.stderr or '')}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise NotInstalled(f"not installed: {error}") from error
    ready.write_text(tool.alone)
    return python
