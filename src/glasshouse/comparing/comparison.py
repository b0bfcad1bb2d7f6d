# SPDX-License-Identifier: Apache-2.0
"""A comparison: its rows, the way that is recommended, and how both are written down."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.comparing.keeping import own_folder
from glasshouse.release.cells import guarded_name
from glasshouse.release.contents import add_files
from glasshouse.visible import in_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from glasshouse.comparing.row import Row

__all__ = ["COLUMNS", "FILES", "Comparison"]

FILES = ("comparison.html", "comparison.csv", "comparison.json", "frontier.svg")
COLUMNS = (
    "method",
    "recoding",
    "promise",
    "adversary",
    "shows_presence",
    "belief",
    "how",
    "belief_error",
    "above",
    "limit",
    "error",
    "spread",
    "baseline",
    "coverage",
    "kl",
    "average_size",
    "ncp",
    "seconds",
    "memory",
    "told",
    "failed",
)
"""The columns of the table, which are attributes of `Row`; ``recommended`` stands before them."""
_TWIN = (
    "Measured on twins of the table: the same quasi-identifiers, and sensitive values that are made up, as many of "
    "each as in the table and without a look at who has which. So the choice tells nothing of anybody's value. To "
    "choose by how well ways do on the true values is itself a leak: the choice would depend on them."
)
_TRUTH = (
    "Measured on the true sensitive values: a choice by these figures depends on them, and whoever sees the choice can "
    "learn from it. That is itself a leak, which no guarantee covers. Without use_truth the choice rests on a twin."
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparison:
    """Ways to publish a table, side by side. It belongs inside: its figures were made from the microdata.

    Attributes
    ----------
    rows
        One for each way, those that hold against whoever knows the algorithm first, the least error first.
    recommended
        The row of the way to take; None if there is none.
    reason, notes
        Why, in one sentence; and what else to know.
    used_truth
        Whether the true sensitive values were used, on which no choice should rest.
    principle, workload, n_tuples, runs, seed
        What was asked for, which questions were put, to how many people, how often everything was run, and the seed of
        all random choices.
    left_out
        The recodings that do not fit, and why.
    """

    rows: tuple[Row, ...]
    recommended: Row | None
    reason: str
    notes: tuple[str, ...]
    used_truth: bool
    principle: str
    workload: str
    n_tuples: int
    runs: int
    seed: int
    left_out: Mapping[str, str]

    def __repr__(self) -> str:
        best = "nothing" if self.recommended is None else self.recommended.way
        return f"Comparison({len(self.rows)} ways; {best} is recommended)"

    @property
    def caution(self) -> str:
        """What the choice rests on, and what that means."""
        return _TRUTH if self.used_truth else _TWIN

    @property
    def failures(self) -> dict[str, str]:
        """Why ways failed: the ways of one method that failed alike stand together."""
        found: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            if row.failed:
                found.setdefault((row.method, row.failed), []).append(row.recoding)
        return {f"{method} as {', '.join(recodings)}": why for (method, why), recodings in found.items()}

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "recommended": None if self.recommended is None else self.recommended.recipe,
            "way": None if self.recommended is None else self.recommended.way,
            "reason": self.reason,
            "notes": list(self.notes),
            "caution": self.caution,
            "used_truth": self.used_truth,
            "principle": self.principle,
            "workload": self.workload,
            "n_tuples": self.n_tuples,
            "runs": self.runs,
            "seed": self.seed,
            "left_out": dict(self.left_out),
            "rows": [row.to_dict() for row in self.rows],
        }

    def to_table(self) -> pa.Table:
        """The rows as a table of Arrow."""
        import pyarrow as pa

        told: dict[str, list[Any]] = {"recommended": [row is self.recommended for row in self.rows]}
        return pa.table(told | {name: [getattr(row, name) for row in self.rows] for name in COLUMNS})

    def to_csv(self) -> str:
        """The rows as CSV; what is not known is empty, and no text is one that a spreadsheet would run."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["recommended", *COLUMNS])
        for row in self.rows:
            values = [getattr(row, name) for name in COLUMNS]
            told = [guarded_name(v) if isinstance(v, str) else v for v in (row is self.recommended, *values)]
            writer.writerow(["" if v is None else v for v in told])
        return text.getvalue()

    def to_svg(self) -> str:
        """The privacy-utility frontier, a picture by itself."""
        from glasshouse.comparing.frontier import ALONE, frontier

        return frontier(self, style=ALONE)

    def to_html(self) -> str:
        """One page that needs nothing else, to read and to print."""
        from glasshouse.comparing.page import page

        return page(self)

    def write(self, folder: str | Path) -> None:
        """Write ``comparison.html``, ``.csv`` and ``.json``, and ``frontier.svg``, for their owner alone.

        An earlier comparison is replaced. A file of these names that Glasshouse did not write there, or that was
        changed since, is not: it is refused before anything is written.
        """
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"
        files = dict(zip(FILES, (self.to_html(), self.to_csv(), text, self.to_svg()), strict=True))
        add_files(own_folder(Path(folder)), files)

    def __str__(self) -> str:
        wide = max([len(row.way) for row in self.rows], default=0)
        head = f"{'':{wide}}  holds against    belief            error     KL  group"
        lines = [f"{len(self.rows)} ways to publish {self.n_tuples:,} tuples: {self.principle}", head]
        for row in self.rows:
            if not row.failed:
                lines.append(f"{row.way:{wide}}  {row.adversary:<16} {_belief(row):<15} {_numbers(row)}".rstrip())
        lines += [f"{ways}: {why}" for ways, why in self.failures.items()]
        return in_lines([*lines, "", f"Recommended: {self.reason}", *self.notes, self.caution])


def _belief(row: Row) -> str:
    return "not known" if row.belief is None else f"{row.belief:.4f} ({row.how})"


def _numbers(row: Row) -> str:
    values = [(row.error, 7, 4), (row.kl, 6, 3), (row.average_size, 6, 1)]
    return " ".join(f"{'':{wide}}" if v is None else f"{v:{wide}.{digits}f}" for v, wide, digits in values)
