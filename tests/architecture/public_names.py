# SPDX-License-Identifier: Apache-2.0
"""Public names for type checkers: `python -m tests.architecture.public_names` writes __init__.pyi from __init__.py."""

from __future__ import annotations

from pathlib import Path

import glasshouse

STUB = Path(glasshouse.__file__).with_suffix(".pyi")
HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# The public names, for type checkers. `make fix` writes this file from __init__.py and catalog.py: edit those.
"""


def stub() -> str:
    """What __init__.pyi must say: where every public name comes from."""
    homes = glasshouse._HOME_OF | {name: home.rpartition(".")[0] for name, home in glasshouse._MODULES.items()}
    lines = [f"from {home} import {name} as {name}" for name, home in homes.items()]
    return "\n".join([HEAD, *sorted(lines, key=_place), "", "__version__: str", ""])


def _place(line: str) -> tuple[str, int, str]:
    """As import sorters have it: by module, constants before classes before functions."""
    _, home, _, name, *_ = line.split()
    return home, 0 if name.isupper() else 1 if name[0].isupper() else 2, name


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
