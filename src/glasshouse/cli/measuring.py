# SPDX-License-Identifier: Apache-2.0
"""Time and memory of a command, for its summary."""

from __future__ import annotations

import sys
import time

__all__ = ["Measured"]


class Measured:
    """A clock that runs from when it is made, and the most memory that the process ever had."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._worked = time.process_time()

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return time.perf_counter() - self._started

    @property
    def cpu(self) -> float:
        """CPU seconds of all threads, since it was made."""
        return time.process_time() - self._worked

    @property
    def peak_memory(self) -> int | None:
        """In bytes; None where the system does not tell."""
        try:
            import resource
        except ImportError:
            return None
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most << 10

    def to_dict(self) -> dict[str, float | int | None]:
        """Both as plain data."""
        return {"seconds": round(self.seconds, 3), "peak_memory": self.peak_memory}

    def __str__(self) -> str:
        peak = self.peak_memory
        return f"{self.seconds:.1f} s" + ("" if peak is None else f", {peak / (1 << 20):,.0f} MiB at most")
