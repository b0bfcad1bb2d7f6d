# SPDX-License-Identifier: Apache-2.0
"""Spelling: decisions at a desk as an equivalent command, Python call and policy.

They work as they stand while the workspace exists. What lies in it, such as a file that was dropped on the page or a
taxonomy that was edited there, is named, for a workspace that is not kept is removed when the studio ends.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.errors import GlasshouseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from glasshouse.studio.desk import Desk

__all__ = ["Spelling", "not_yet", "spelling_of"]

_POLICY = "policy.toml"
_WAITING = "Not yet: "


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """The same choices in three ways, for the page.

    Parameters
    ----------
    command, python, policy
        The texts; where one cannot be written yet, why not.
    note
        What to know before one of them is used: which paths are temporary, and why the command names a policy.
    temporary
        Paths among the choices that lie in a workspace which will be removed.
    """

    command: str
    python: str
    policy: str
    note: str
    temporary: tuple[str, ...] = ()


def spelling_of(desk: Desk, choices: Mapping[str, Any] | None = None, *, force: bool = False) -> Spelling:
    """The three forms of the decisions at a desk, or of other choices made there.

    Parameters
    ----------
    desk
        The desk.
    choices
        What was chosen; by default what is decided now.
    force
        Whether what stands in the folder is to be replaced.
    """
    from glasshouse.policy.command_line import command_line
    from glasshouse.policy.policy_text import policy_text
    from glasshouse.policy.python_call import python_call

    chosen = dict(desk.choices if choices is None else choices)
    temporary = () if desk.workspace.is_kept else tuple(_inside(desk.workspace.folder, chosen))
    policy = _tried(lambda: policy_text(chosen))
    place = desk.workspace.folder / _POLICY
    reason = ""

    def command() -> str:
        nonlocal temporary, reason
        made = command_line(chosen, policy=str(place))
        if made.reason is not None:
            _write(place, policy)
            reason = made.reason
            temporary = temporary if desk.workspace.is_kept else (*temporary, str(place))
        program, verb, *rest = made.arguments
        return shlex.join([program, verb, *(["--force"] if force else []), *rest])

    told = _tried(command)
    return Spelling(
        command=told,
        python=_tried(lambda: python_call(chosen, force=force)),
        policy=_remark(temporary) + policy,
        note=_note(reason, temporary),
        temporary=temporary,
    )


def not_yet(why: str) -> Spelling:
    """What stands in the place of all three while nothing can be published."""
    words = f"{_WAITING}{why}"
    return Spelling(command=words, python=words, policy=words, note="")


def _tried(write: Callable[[], str]) -> str:
    try:
        return write()
    except GlasshouseError as error:
        return f"{_WAITING}{error}"


def _write(place: Path, text: str) -> None:
    place.write_text(text, encoding="utf-8")
    place.chmod(0o600)


def _inside(folder: Path, value: Any) -> Iterator[str]:
    """All texts in a choice that are paths in a folder."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from _inside(folder, inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _inside(folder, inner)
    elif isinstance(value, str | Path) and Path(value).is_relative_to(folder):
        yield str(value)


def _note(reason: str, temporary: tuple[str, ...]) -> str:
    said = [f"The command names a policy file that the studio has written. The reason: {reason}."] if reason else []
    if temporary:
        listed = ", ".join(dict.fromkeys(temporary))
        said.append(
            "These files are in the studio's own folder, which is removed when the studio ends. To use the command, "
            f"the call or the policy later, copy them, and write their new paths instead: {listed}."
        )
    return " ".join(said)


def _remark(temporary: tuple[str, ...]) -> str:
    if not temporary:
        return ""
    return (
        "# Some files below are in the studio's own folder, which is removed when the studio ends.\n# Copy those "
        "files, and write their new paths here.\n"
    )
