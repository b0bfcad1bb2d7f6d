# SPDX-License-Identifier: Apache-2.0
"""Gives every parameter of the reference its own type and default.

Several parameters may share a line of a docstring (``quasi, sensitive``). The reader of docstrings takes type and
default of the first for all of them, and the page would say that a switch is a text. So each gets a line of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from griffe import Extension

if TYPE_CHECKING:
    from griffe import Module, Object

__all__ = ["OneByOne"]

_TOGETHER = re.compile(r"^(\w+(?:, \w+)+)\n((?:    .*(?:\n|\Z)|\n(?=    ))+)", re.MULTILINE)


class OneByOne(Extension):
    """Takes apart what docstrings say of several parameters together, once the package is loaded."""

    def on_package(self, *, pkg: Module, **kwargs: Any) -> None:
        """Go through all modules, classes and functions."""
        self._mend(pkg)

    def _mend(self, thing: Object) -> None:
        if thing.docstring is not None:
            thing.docstring.value = _TOGETHER.sub(_one_by_one, thing.docstring.value)
        for member in thing.members.values():
            if not member.is_alias:
                self._mend(member)


def _one_by_one(found: re.Match[str]) -> str:
    """The same words for each of the names."""
    return "".join(f"{name}\n{found[2].rstrip()}\n" for name in found[1].split(", ")) + "\n" * found[2].endswith("\n\n")
