# SPDX-License-Identifier: Apache-2.0
"""A figure of the steward's report: people in groups of Greedy, attacked by somebody who knows the method."""

from __future__ import annotations

import glasshouse as gh
from glasshouse.pages.charts.report_figures import belief_figure
from glasshouse.pages.report import Effort

__all__ = ["picture"]

_STYLE = """
svg { font-family: system-ui, sans-serif; --ink: #17211c; --soft: #4c5a53; --line: #d3ddd7; --bar: #4a9472;
  --stop: #a3201c; --care: #7a4b00; }
@media (prefers-color-scheme: dark) {
  svg { --ink: #e6ebe8; --soft: #a7b2ac; --line: #3a433e; --bar: #45c99d; --stop: #ff7b72; --care: #f2c26b; }
}
text { fill: var(--ink); font-size: 12px; } .axis { fill: var(--soft); } .grid { stroke: var(--line); }
.bar { fill: var(--bar); } .bar.above { fill: var(--stop); }
line.limit { stroke: var(--stop); stroke-width: 1.5; stroke-dasharray: 5 4; }
text.limit { fill: var(--stop); font-weight: 600; }
.bar.above.elsewhere, text.limit.elsewhere { fill: var(--care); } line.limit.elsewhere { stroke: var(--care); }
"""


def picture() -> str:
    """The histogram as it stands in the report, with a style of its own."""
    table = gh.synthetic.hospital(300, seed=1)
    release = gh.publish(
        table,
        principle=gh.LDiversity(ell=3),
        method=gh.Greedy(),
        recoding=gh.Boxes(),
        source=gh.Source.seeded(1),
    )
    facts = gh.make_report(release, table, effort=Effort(questions=1, few_questions=1)).to_dict()
    found = next(found for found in facts["beliefs"] if found["adversary"] == "algorithm-aware")
    return f"{belief_figure(found, 'beliefs', style=_STYLE)}\n"
