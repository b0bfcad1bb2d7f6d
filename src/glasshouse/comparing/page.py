# SPDX-License-Identifier: Apache-2.0
"""The page of a comparison: one HTML file that needs nothing else, in the style of the steward's report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasshouse.comparing.frontier import MARKS, frontier
from glasshouse.report.document import document
from glasshouse.report.page import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from glasshouse.comparing.comparison import Comparison
    from glasshouse.comparing.row import Row

__all__ = ["page"]

_TITLE = "Ways to publish, compared"
_OWN = "body { max-width: 76rem; } tr.chosen th, tr.chosen td { background: var(--leaf-wash); }"


def page(found: Comparison) -> str:
    """Write the page."""
    body = [
        "<header>",
        '<p class="inside">Inside: do not publish this page</p>',
        f"<h1>{_TITLE}</h1>",
        f'<p class="lead">{text(found.principle)}</p>',
        f'<p class="soft">{found.n_tuples:,} tuples; questions: {text(found.workload)}; '
        f"{'one run' if found.runs == 1 else f'means of {found.runs} runs'}, seed {found.seed}.</p>",
        "</header>",
        "<main>",
        *_recommendation(found),
        *_picture(found),
        *_table(found),
        *_failures(found),
        "</main>",
    ]
    return document(f"{_TITLE}: {text(found.principle)}", body, f"{MARKS}{_OWN}")


def _recommendation(found: Comparison) -> Iterator[str]:
    yield "<section><h2>Recommendation</h2>"
    yield f'<p class="lead">{text(found.reason)}</p>'
    yield '<ul class="cautions">'
    level = "stop" if found.used_truth else "note"
    yield f'<li class="{level}">{text(found.caution)}</li>'
    for note in found.notes:
        yield f'<li class="note">{text(note)}</li>'
    yield "</ul></section>"


def _picture(found: Comparison) -> Iterator[str]:
    yield "<section><h2>Privacy and utility</h2><figure>"
    yield frontier(found)
    yield (
        "<figcaption>Full marks were measured, empty ones are bounds by a theorem, red ones do not hold against "
        "whoever knows the algorithm. The line joins the ways that no other one beats in both; a ring is around the "
        "recommended one.</figcaption>"
    )
    yield "</figure></section>"


def _table(found: Comparison) -> Iterator[str]:
    names = ("method", "recoding", "holds against", "belief", "how", "error", "KL", "group", "seconds", "MiB")
    yield '<section><h2>All of them</h2><div class="wide"><table>'
    yield (
        "<caption>Belief: the most that whoever knows the algorithm believes of anybody. Error: mean relative error of "
        "answers. KL: divergence in nats. Group: tuples on average. Seconds and memory: to publish.</caption>"
    )
    yield "<thead><tr>"
    yield from (f'<th class="{"number" if i in (3, 5, 6, 7, 8, 9) else ""}">{n}</th>' for i, n in enumerate(names))
    yield "</tr></thead><tbody>"
    for row in found.rows:
        if not row.failed:
            yield _line(row, chosen=row is found.recommended)
    yield "</tbody></table></div></section>"


def _line(row: Row, *, chosen: bool) -> str:
    numbers = [
        _number(row.error, 4),
        _number(row.kl, 3),
        _number(row.average_size, 1),
        _number(row.seconds, 2),
        _number(None if row.memory is None else row.memory / (1 << 20), 0),
    ]
    opened = '<tr class="chosen">' if chosen else "<tr>"
    return (
        f"{opened}<th>{text(row.method)}</th>"
        f"<td>{text(row.recoding)}</td><td>{text(row.adversary)}</td>"
        f'<td class="number">{_number(row.belief, 4)}</td><td title="{text(row.told)}">{text(row.how)}</td>'
        + "".join(f'<td class="number">{number}</td>' for number in numbers)
        + "</tr>"
    )


def _failures(found: Comparison) -> Iterator[str]:
    if not (found.failures or found.left_out):
        return
    yield '<section><h2>What was not possible</h2><dl class="said">'
    for what, why in {**found.failures, **found.left_out}.items():
        yield f"<dt>{text(what)}</dt><dd>{text(why)}</dd>"
    yield "</dl></section>"


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"
