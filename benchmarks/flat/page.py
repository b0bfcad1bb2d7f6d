# SPDX-License-Identifier: Apache-2.0
"""The results as a table in Markdown, one row a tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
HEADS = (
    *("", "promise", "CPU", "workload T", "workload A", "everyday", "`GROUP BY`", "accuracy", "log loss"),
    *("guess: member, control", "membership", "singling out", "linking", "inference"),
)


def page(rows: Sequence[Row]) -> str:
    """One table in Markdown; a tool that gave nothing is a row that says why."""
    lines = [HEADS, ("---", "---", *["--:"] * (len(HEADS) - 2))]
    lines += [cells(row) for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cells(row: Row) -> tuple[str, ...]:
    """The cells of one row."""
    if "failed" in row:
        return (row["name"], row["promise"], row["failed"].replace("|", "/"), *[""] * (len(HEADS) - 3))
    useful, attack, judge = row["usefulness"], row["attacks"], row["anonymeter"]
    return (
        row["name"],
        row["promise"],
        seconds(row["cpu"]),
        *(f"{useful[name]:.3f}" for name in ("transparent", "anatomy", "everyday")),
        f"{useful['group_by'] * 10_000:.2f}",
        f"{useful['accuracy']:.3f}",
        f"{useful['log_loss']:.3f}",
        f"{attack['guessed_members']:.3f}, {attack['guessed_control']:.3f}",
        f"{attack['membership']:.3f}",
        risk(judge, "singling_out"),
        risk(judge, "linkability"),
        risk(judge, "inference"),
    )


def seconds(cpu: float | None) -> str:
    """CPU seconds, with as many digits as they are worth; nothing was done where there are none."""
    if cpu is None:
        return ""
    return f"{cpu:.0f} s" if cpu >= 10 else f"{cpu:.2g} s"


def risk(judge: Mapping[str, Any], attack: str) -> str:
    """Anonymeter's risk, with its interval."""
    if "failed" in judge:
        return "not judged"
    found = judge[attack]
    if "failed" in found:
        return "no answer"
    low, high = found["interval"]
    return f"{found['risk']:.2f} ({low:.2f}, {high:.2f})"
