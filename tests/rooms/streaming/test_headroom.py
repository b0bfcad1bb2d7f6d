# SPDX-License-Identifier: Apache-2.0
"""How much memory a process may still take: the least of what machine, control groups and its own limit leave."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from glasshouse.unpacking.headroom import memory_left


def told(root: Path, files: dict[str, str]) -> Path:
    """A file system in which the kernel tells this."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


MACHINE = {"proc/meminfo": "MemTotal:  4000 kB\nMemFree:  100 kB\nMemAvailable:   2000 kB\n"}
WITHIN = {
    "sys/fs/cgroup/a/b/memory.max": "max\n",
    "sys/fs/cgroup/a/b/memory.current": "500\n",
    "sys/fs/cgroup/a/memory.max": "10000\n",
    "sys/fs/cgroup/a/memory.current": "4000\n",
    "sys/fs/cgroup/a/memory.stat": "anon 7\ninactive_file 300\n",
}
OLD = {
    "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n",
    "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "9223372036854771712\n",
    "sys/fs/cgroup/memory/x/memory.usage_in_bytes": "5\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "8000\n",
    "sys/fs/cgroup/memory/memory.usage_in_bytes": "1000\n",
    "sys/fs/cgroup/memory/memory.stat": "total_inactive_file 50\n",
}


@pytest.mark.parametrize(
    ("files", "left"),
    [
        (MACHINE, 2000 << 10),
        ({**MACHINE, "proc/self/cgroup": "0::/a/b\n", **WITHIN}, 6300),
        ({**MACHINE, "proc/self/cgroup": "0::/not/here\n"}, 2000 << 10),
        ({**MACHINE, **OLD}, 7050),
        ({**MACHINE, **OLD, "sys/fs/cgroup/memory/memory.usage_in_bytes": "9000\n"}, 0),
    ],
    ids=["machine", "control groups", "a group that is not seen", "old control groups", "nothing"],
)
def test_the_least_counts(files: dict[str, str], left: int, tmp_path: Path) -> None:
    assert memory_left(told(tmp_path, files)) == left


def test_this_machine_has_some() -> None:
    left = memory_left()
    assert left is None or left > 1 << 20


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is that of Linux")
def test_the_limit_of_the_process_counts() -> None:
    program = (
        "import resource; from glasshouse.unpacking.headroom import memory_left; "
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)); print(memory_left())"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert 0 < int(printed) < 4 << 30
