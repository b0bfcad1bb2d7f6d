# SPDX-License-Identifier: Apache-2.0
"""Print the packages that pyproject.toml asks for, one on each line, for pip.

``python tools/requirements.py build`` prints what compiles the package, ``run`` what it needs to run, and any other
word an extra, such as ``dev`` for what developers need besides.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

__all__ = ["requirements"]


def requirements(what: str) -> list[str]:
    """The requirements of building, of running, or of an extra."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    if what == "build":
        found: list[str] = project["build-system"]["requires"]
    elif what == "run":
        found = project["project"]["dependencies"]
    else:
        found = project["project"]["optional-dependencies"][what]
    return found


if __name__ == "__main__":
    sys.stdout.write("\n".join(requirements(sys.argv[1])) + "\n")
