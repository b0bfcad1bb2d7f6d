# SPDX-License-Identifier: Apache-2.0
"""A comparison: a row for each way to publish, the recommended way, and the files in which these are written."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.comparing.recommendation import undominated
from glasshouse.errors import OutputError
from glasshouse.plural import counted
from glasshouse.release.package.listing import add_files
from glasshouse.release.package.tables import guarded_name
from glasshouse.visible import in_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

__all__ = ["COLUMNS", "COLUMNS_EXPLAINED", "FILES", "Comparison", "Row", "cannot_write", "label_of", "own_folder"]

FILES = ("comparison.html", "comparison.csv", "comparison.json", "frontier.svg")
_RELEASE = "datapackage.json"
_TWIN = (
    "Measured on copies of the table with made-up sensitive values (twins). A twin has the same quasi-identifiers, and "
    "each sensitive value as often as in the table, but it was made without looking at who has which value. So the "
    "recommendation reveals nothing about anybody's value. A recommendation by the true values could reveal "
    "something about them."
)
COLUMNS_EXPLAINED = (
    "probability: the largest that an attacker has for any value of a person; cost: how much more often an attacker "
    "who learns a model guesses right about people in the table than about others; error: mean relative error of "
    "answers; KL: difference from the true distribution (Kullback-Leibler divergence); group: average number of "
    "records in a group"
)
"What the columns of the printed table are."
_TRUTH = (
    "Measured on the true sensitive values. The recommendation depends on them, so an attacker who sees it can learn "
    "from it, and no guarantee covers this. To avoid this, compare without the true values."
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One way to publish a table: a method and a recoding, with what they promise and how they did.

    Attributes
    ----------
    method, recoding
        What they are called, with parameters that are not the usual ones.
    recipe
        Both as plain data.
    promise, adversary, theorem
        The guarantee, the attacker that it is for, and why it is kept.
    shows_presence
        Whether exact quasi-identifiers are published, so that anybody can see who is in the table.
    ties_groups
        Whether the groups depend on each other, so that a little knowledge about people adds up to much.
    belief
        The largest probability that an attacker who knows the algorithm reaches; None where it is not known.
    how
        ``exact`` or ``sampled``, measured by an attack; ``bound``, it is at most this, by the theorem; or
        ``not known``.
    belief_error, above, limit, told
        Error of a sampled probability; the share of people with a probability above the limit; the limit, 1/l; and what
        else there is to say of the attack.
    cost, cost_error
        What being in the table costs against an attacker who learns from the release: how much more often the value
        with the highest probability is true of people in the table than of people on whose groups nothing was fitted,
        and half the width of its 95 % interval. None where it was not measured; ``told`` says why.
    error, errors, spread, baseline, coverage
        Mean relative error of the answers to the workload: over all runs, and of each run; its standard error over
        runs; the same without any link between quasi-identifiers and sensitive values; how many true counts the 95 %
        intervals have in them.
    kl, average_size, ncp
        KL divergence from the table's distribution to the reconstructed one, in nats; records a group (a bucket, for
        ANGEL); average width of the cells.
    seconds, memory
        To publish; memory is in bytes, beyond what the process had before, and None where the system does not tell.
    failed
        Why there is nothing else to tell, if there is not.
    """

    method: str
    recoding: str
    recipe: Mapping[str, Any] = field(default_factory=dict)
    promise: str = ""
    adversary: str = ""
    theorem: str = ""
    shows_presence: bool = False
    ties_groups: bool = False
    belief: float | None = None
    how: str = "not known"
    belief_error: float = 0.0
    above: float | None = None
    limit: str | None = None
    told: str = ""
    cost: float | None = None
    cost_error: float | None = None
    error: float | None = None
    errors: tuple[float, ...] = ()
    spread: float | None = None
    baseline: float | None = None
    coverage: float | None = None
    kl: float | None = None
    average_size: float | None = None
    ncp: float | None = None
    seconds: float | None = None
    memory: int | None = None
    failed: str = ""

    @property
    def way(self) -> str:
        """The method and the recoding, in words."""
        return f"{self.method} as {self.recoding}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Row:
        """The row from plain data; fields that this version does not know are left out."""
        known = {f.name for f in fields(cls)}
        told = {name: value for name, value in data.items() if name in known}
        return cls(**told | {"errors": tuple(told.get("errors") or ())})


COLUMNS = (
    *(f.name for f in fields(Row) if f.name not in ("recipe", "theorem", "errors", "told", "failed")),
    *("told", "failed"),
)
"The columns of the table, which are attributes of `Row`; ``recommended`` comes before them."


def label_of(thing: Any) -> str:
    """A method or recoding by its name, with parameters that are not the usual ones.

    >>> from glasshouse.grouping.cuts.even_split import EvenSplit
    >>> from glasshouse.grouping.cuts.mondrian import Mondrian
    >>> from glasshouse.grouping.refinement import Refined
    >>> from glasshouse.grouping.transparent.tailor import Tailor
    >>> [label_of(method) for method in (Mondrian(), Mondrian(partitioning="relaxed"), EvenSplit(extra=2))]
    ['mondrian', 'mondrian (relaxed)', 'even-split (extra=2)']
    >>> label_of(Refined(coarse=Tailor()))
    'refined (tailor)'
    """
    name, unusual = str(thing.name), []
    for f in fields(thing) if is_dataclass(thing) else ():
        value, usual = getattr(thing, f.name), f.default_factory() if f.default_factory is not MISSING else f.default
        if value != usual:
            word = label_of(value) if hasattr(value, "divide") else value
            unusual.append(word if isinstance(word, str) else f"{f.name}={word}")
    return f"{name} ({', '.join(unusual)})" if unusual else name


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparison:
    """Ways to publish a table, side by side. It is confidential: its figures were made from the microdata.

    Attributes
    ----------
    rows
        One for each way: first those that protect against attackers who know the algorithm, the smallest error first.
    recommended
        The row of the way to take; None if there is none.
    reason, notes
        Why, in one or two sentences; and what else to know.
    used_truth
        Whether the true sensitive values were used, on which no choice should rest.
    principle, workload, n_tuples, runs, seed, model
        What was asked for, which questions were put, to how many people, how often everything was run, the seed of all
        random choices, and the model that answered the questions.
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
    model: str = "uniform"

    def __repr__(self) -> str:
        best = "nothing" if self.recommended is None else self.recommended.way
        return f"Comparison({counted(len(self.rows), 'way')}; {best} is recommended)"

    @property
    def caution(self) -> str:
        """What the choice rests on, and what that means."""
        return _TRUTH if self.used_truth else _TWIN

    @property
    def failures(self) -> dict[str, str]:
        """Why ways failed: ways of one method that failed for the same reason are listed together."""
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
            "model": self.model,
            "left_out": dict(self.left_out),
            "rows": [row.to_dict() for row in self.rows],
        }

    def to_table(self) -> pa.Table:
        """The rows as an Arrow table."""
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

    def shown(self) -> dict[str, Any]:
        """What the page and the picture show: plain data, with which rows are recommended and on the frontier."""
        edge = undominated([row for row in self.rows if not row.failed])
        marks = ({"way": row.way, "chosen": row is self.recommended, "on_edge": row in edge} for row in self.rows)
        rows = [{**row.to_dict(), **mark} for row, mark in zip(self.rows, marks, strict=True)]
        return {**self.to_dict(), "rows": rows, "impossible": {**self.failures, **self.left_out}}

    def to_svg(self) -> str:
        """The privacy-utility frontier as an SVG picture."""
        from glasshouse.pages.charts.frontier import ALONE, frontier

        return str(frontier(self.shown()["rows"], style=ALONE))

    def to_html(self) -> str:
        """The comparison as one self-contained HTML page, to read and to print."""
        from glasshouse.pages.comparison_page import page

        return page(self.shown())

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
        head = f"{'':{wide}}  safe against     probability        cost   error     KL  group"
        lines = [
            f"{counted(len(self.rows), 'way')} to publish {counted(self.n_tuples, 'record')}: {self.principle}",
            head,
        ]
        for row in self.rows:
            if not row.failed:
                lines.append(f"{row.way:{wide}}  {row.adversary:<16} {_belief(row):<16} {_numbers(row)}".rstrip())
        lines += [COLUMNS_EXPLAINED, *(f"{ways}: {why}" for ways, why in self.failures.items())]
        return in_lines([*lines, "", f"Recommended: {self.reason}", *self.notes, self.caution])


def _belief(row: Row) -> str:
    return "not known" if row.belief is None else f"{row.belief:.4f} ({row.how})"


def _numbers(row: Row) -> str:
    values = [(row.cost, 6, 3), (row.error, 7, 4), (row.kl, 6, 3), (row.average_size, 6, 1)]
    return " ".join(f"{'':{wide}}" if v is None else f"{v:{wide}.{digits}f}" for v, wide, digits in values)


def own_folder(folder: Path) -> Path:
    """Make a folder that only its owner can enter; refuse a folder that is published."""
    if (folder / _RELEASE).exists():
        raise OutputError(
            f"{folder} is a release, and a comparison is confidential and must not be published with it: choose "
            "another folder",
            path=folder,
        )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None
    return folder


def cannot_write(path: Path, error: OSError) -> OutputError:
    """The error if the system refuses to write."""
    return OutputError(f"cannot write {path}: {os.strerror(error.errno or 0)}", path=path)
