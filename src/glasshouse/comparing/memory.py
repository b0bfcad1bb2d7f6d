# SPDX-License-Identifier: Apache-2.0
"""Memory: how much more of it a process took for a while than it had before, as the system counts it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

__all__ = ["PeakMemory"]

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_FORGET_PEAK = "5"


class PeakMemory:
    """The most memory from when it is made; other threads' memory counts too. Where there is no /proc, None."""

    def __init__(self) -> None:
        pa.default_memory_pool().release_unused()
        try:
            _RESET.write_text(_FORGET_PEAK)
            self._before = _kilobytes("VmRSS")
        except OSError:
            self._before = None

    def grown(self) -> int | None:
        """In bytes."""
        after = None if self._before is None else _kilobytes("VmHWM")
        return None if after is None or self._before is None else max(0, after - self._before) << 10


def _kilobytes(name: str) -> int | None:
    for line in _STATUS.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return None
