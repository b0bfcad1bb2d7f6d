# SPDX-License-Identifier: Apache-2.0
"""A paper's experiments, done again: a page, drawings and numbers of every figure, a verdict on every claim."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.release.placing import new_folder
from glasshouse.reproducing.figures import line_chart
from glasshouse.reproducing.results import Figure, as_csv, as_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.reproducing.claims import Claim
    from glasshouse.reproducing.results import Table

__all__ = ["Reproduction"]


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """What came of a paper's experiments.

    Attributes
    ----------
    paper
        One of `glasshouse.reproducing.PAPERS`.
    title
        The paper, and which of its figures and tables.
    data
        What it was measured on, in a sentence.
    command
        What gives it again.
    results
        Figures and tables, in the paper's order.
    claims
        What the paper says of them, with verdicts.
    departures
        Where this is not what the paper did.
    """

    paper: str
    title: str
    data: str
    command: str
    results: Sequence[Figure | Table]
    claims: Sequence[Claim]
    departures: Sequence[str]

    def __str__(self) -> str:
        lines = [f"{self.title}", f"on {self.data}", ""]
        for claim in self.claims:
            lines.append(f"  {claim.verdict.word:<12}  {claim.text} [{claim.where}]: {claim.verdict.said}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "paper": self.paper,
            "title": self.title,
            "data": self.data,
            "claims": [claim.to_dict() for claim in self.claims],
            "results": {
                shown.name: {
                    "title": shown.title,
                    "columns": list(shown.columns),
                    "rows": [list(row) for row in shown.cells()],
                }
                for shown in self.results
            },
            "departures": list(self.departures),
        }

    def page(self) -> str:
        """The page, in Markdown; it names its drawings by file."""
        lines = [
            f"# {self.title}",
            "",
            f"Measured on {self.data}. Shapes of curves compare with the paper's; heights need not.",
            "",
            "```text",
            self.command,
            "```",
            "",
            "## Claims",
            "",
            "| the paper says | where | here | the number |",
            "| --- | --- | --- | --- |",
        ]
        for claim in self.claims:
            lines.append(f"| {claim.text} | {claim.where} | **{claim.verdict.word}** | {claim.verdict.said} |")
        lines += ["", "## Departures", "", *(f"* {departure}" for departure in self.departures), ""]
        for shown in self.results:
            lines += [f"## {heading(shown.name)}", "", f"{shown.title}. [CSV]({shown.name}.csv)", ""]
            if isinstance(shown, Figure):
                lines += [f"![{shown.title}]({shown.name}.svg)", ""]
            lines += [as_markdown(shown), ""]
        return "\n".join(lines)

    def save(self, folder: str | Path) -> Path:
        """Write the page, drawings and numbers into a new folder; it appears whole or not at all."""
        target = Path(folder)
        with new_folder(target) as fresh:
            (fresh / f"{self.paper}.md").write_text(self.page(), encoding="utf-8")
            for shown in self.results:
                (fresh / f"{shown.name}.csv").write_text(as_csv(shown), encoding="utf-8")
                if isinstance(shown, Figure):
                    (fresh / f"{shown.name}.svg").write_text(line_chart(shown), encoding="utf-8")
        return target


def heading(name: str) -> str:
    """A name as a heading.

    >>> heading("figure-11a"), heading("table-XIV")
    ('Figure 11a', 'Table XIV')
    """
    kind, _, rest = name.partition("-")
    return f"{kind.capitalize()} {rest}"
