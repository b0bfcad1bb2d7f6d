# SPDX-License-Identifier: Apache-2.0
"""A paper's experiments, done again: a page, drawings and numbers of every figure, a verdict on every claim."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.papers.results import Figure, Table, as_csv, as_markdown, cells_of_csv, number
from glasshouse.plural import counted
from glasshouse.release.package.folders import new_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.papers.claims import Claim

__all__ = ["ABOUT", "Reproduction"]

ABOUT = "about.json"
"The file with everything that the numbers do not say; from both, the drawings and the page can be made again."


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """The results of a paper's experiments.

    Attributes
    ----------
    paper
        One of `glasshouse.papers.PAPERS`.
    title
        The paper, and which of its figures and tables.
    data
        What it was measured on, in a sentence.
    command
        What gives it again.
    seconds
        How long it took, in seconds of the processor.
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
    seconds: float
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
            "command": self.command,
            "seconds": self.seconds,
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
        """The page, in Markdown; it links to the files of its drawings."""
        lines = [
            f"# {self.title}",
            "",
            f"Measured on {self.data}. Compare the shapes of the curves with the paper's; their heights may differ.",
            "",
            "```text",
            self.command,
            "```",
            "",
            f"This took {number(self.seconds)} seconds of processor time. {self._tally()} The documentation says, "
            f"under *Papers*, {self.title.partition(':')[0]}, why some claims are not confirmed with other data.",
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

    def _tally(self) -> str:
        words = [claim.verdict.word for claim in self.claims]
        confirmed, others = (counted(words.count(word), "is", "are") for word in ("yes", "no"))
        found = f"Of {counted(len(words), 'claim')}, {confirmed} confirmed here and {others} not"
        lacking = words.count("not measured")
        return f"{found}, and {lacking} could not be measured." if lacking else f"{found}."

    def save(self, folder: str | Path) -> Path:
        """Write the page, drawings and numbers into a new folder; if that fails, no folder is left."""
        about = {
            "paper": self.paper,
            "data": self.data,
            "command": self.command,
            "seconds": self.seconds,
            "results": [_about(shown) for shown in self.results],
        }
        target = Path(folder)
        with new_folder(target) as fresh:
            (fresh / f"{self.paper}.md").write_text(self.page(), encoding="utf-8")
            for shown in self.results:
                (fresh / f"{shown.name}.csv").write_text(as_csv(shown), encoding="utf-8")
                if isinstance(shown, Figure):
                    (fresh / f"{shown.name}.svg").write_text(shown.drawn(), encoding="utf-8")
            (fresh / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        return target

    @classmethod
    def load(cls, folder: str | Path) -> Reproduction:
        """Read a saved reproduction: claims are judged again, and nothing is measured."""
        folder = Path(folder)
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        results = [_shown(folder, known) for known in about["results"]]
        chapter = importlib.import_module(f"glasshouse.papers.{about['paper']}")
        return cls(
            paper=about["paper"],
            title=chapter.TITLE,
            data=about["data"],
            command=about["command"],
            seconds=about["seconds"],
            results=results,
            claims=chapter.judged(results),
            departures=chapter.DEPARTURES,
        )


def _about(shown: Figure | Table) -> dict[str, Any]:
    """The description of a figure or table, without its numbers."""
    axes = {"y": shown.y, "log": shown.log} if isinstance(shown, Figure) else {}
    return {"name": shown.name, "title": shown.title, **axes}


def _shown(folder: Path, about: dict[str, Any]) -> Figure | Table:
    columns, rows = cells_of_csv((folder / f"{about['name']}.csv").read_text(encoding="utf-8"))
    if "y" not in about:
        return Table(name=about["name"], title=about["title"], columns=columns, rows=rows)
    places: list[Any] = [row[0] for row in rows]
    curves: dict[str, dict[float, Any]] = {
        name: dict(zip(places, [row[i] for row in rows], strict=True)) for i, name in enumerate(columns[1:], 1)
    }
    return Figure(**about, x=columns[0], curves=curves)


def heading(name: str) -> str:
    """A name as a heading.

    >>> heading("figure-11a"), heading("table-XIV")
    ('Figure 11a', 'Table XIV')
    """
    kind, _, rest = name.partition("-")
    return f"{kind.capitalize()} {rest}"
