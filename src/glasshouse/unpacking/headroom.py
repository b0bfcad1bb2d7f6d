# SPDX-License-Identifier: Apache-2.0
"""Headroom: how much memory this process may still take, by the machine, its control group and its own limits.

Read from what the kernel of Linux tells; elsewhere the size of the machine and the limit of the process. What cannot be
found out sets no limit.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from glasshouse.errors import NotSupported

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["memory_left", "refuse_without_room"]

_ROOT = Path("/")
_V2 = ("memory.max", "memory.current", "inactive_file")
_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def memory_left(root: Path = _ROOT) -> int | None:
    """The bytes that this process may still use; None if unknown.

    Parameters
    ----------
    root
        Where the file system begins, in which the kernel tells; another one for tests.
    """
    found = [*_machine(root), *_control_groups(root), *_own_limit(root)]
    return max(min(found), 0) if found else None


def refuse_without_room(n_bytes: int, doing: str, *, instead: str) -> None:
    """Refuse work in advance that needs more memory than is left, and say what can be done instead."""
    left = memory_left()
    if left is not None and n_bytes > left:
        raise NotSupported(
            f"{doing} needs about {n_bytes / 1000000000.0:,.1f} GB of memory, but only {left / 1000000000.0:,.1f} GB "
            "are free",
            instead=instead,
        )


def _machine(root: Path) -> Iterator[int]:
    """The memory that the machine can give without swapping; if that is unknown, all its memory."""
    for line in _text(root / "proc/meminfo").splitlines():
        name, _, amount = line.partition(":")
        if name == "MemAvailable" and amount.split():
            yield int(amount.split()[0]) << 10
            return
    with contextlib.suppress(AttributeError, OSError, ValueError):
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _control_groups(root: Path) -> Iterator[int]:
    """The memory left to the process's control group and its parents; pages that can be dropped are free."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers and "memory" not in controllers.split(","):
            continue
        top = root / "sys/fs/cgroup" / ("memory" if controllers else "")
        names = _V1 if controllers else _V2
        own = top / path.lstrip("/")
        for folder in [own, *own.parents]:  # a container may see its own group as the top
            if not folder.is_relative_to(top):
                break
            most, used = (_number(_text(folder / name)) for name in names[:2])
            if most is not None and used is not None:
                yield most - used + _droppable(folder, names[2])


def _droppable(folder: Path, name: str) -> int:
    for line in _text(folder / "memory.stat").splitlines():
        key, _, amount = line.partition(" ")
        if key == name:
            return _number(amount) or 0
    return 0


def _own_limit(root: Path) -> Iterator[int]:
    """The memory left by the limit on the address space of the process (``ulimit -v``)."""
    try:
        import resource
    except ImportError:  # not on this system
        return
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY:
        pages = _number(_text(root / "proc/self/statm").partition(" ")[0])
        yield most - (pages or 0) * resource.getpagesize()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _number(text: str) -> int | None:
    return int(text) if text.strip().isdecimal() else None
