"""Draw the leaves of Mirror on two attributes: ``python tools/mirror_leaves.py``.

The synthetic census, 1,500 people by age and education. Every leaf is drawn as its bounding
box; where a halving failed its two halves are parted by a dashed line.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

import glasshouse as gh
from glasshouse.engines import Memory, Nodes
from glasshouse.grouping.mirror.halves import HalvedRows, blocks_of
from glasshouse.grouping.mirror.mirror import alike_together, group_size
from glasshouse.grouping.perimeter import weighted_places
from glasshouse.grouping.transparent.packed_rows import packed_rows
from glasshouse.principles.principle import Requirement

PICTURE = Path(__file__).parents[1] / "docs" / "methods" / "mirror_leaves.svg"
ELL = 10
WIDTH, HEIGHT, MARGIN = 400, 330, 46
COLOURS = {"untested": "#3a7ca5", "failed": "#c8553d"}


def leaves(table: gh.Microdata) -> dict[str, list[np.ndarray]]:
    """The rows of every leaf of the first block, left half before right half, by what became of them."""
    requirement = Requirement.of(gh.LDiversity(ell=ELL), table)
    source, engine = gh.Source.seeded(1), Memory()
    size = group_size(ELL)
    block = blocks_of(alike_together(table, source, engine), requirement, 2 * size, size // 2, source)[0]
    rows = HalvedRows(packed_rows(table, table.sensitive[0], block.order), weighted_places(table), [0, 1])
    parts = rows.tested(0, block.k, len(block.order), ELL, Fraction(1), engine)
    return {
        name: [_rows(rows, nodes, i) for i in range(len(nodes))] for name, nodes in zip(COLOURS, parts, strict=True)
    }


def _rows(rows: HalvedRows, nodes: Nodes, i: int) -> np.ndarray:
    return rows.take(nodes[slice(i, i + 1)])[1]


def picture(table: gh.Microdata) -> str:
    """An SVG of all leaves, with a point for everybody."""
    x, y = (column.codes for column in table.quasi)
    spans = [column.domain.size for column in table.quasi]
    jitter = np.random.default_rng(1).uniform(-0.35, 0.35, (2, table.n_tuples))

    def across(code: float) -> float:
        return MARGIN + (code + 0.5) / spans[0] * (WIDTH - MARGIN - 8)

    def down(code: float) -> float:
        return HEIGHT - MARGIN - (code + 0.5) / spans[1] * (HEIGHT - MARGIN - 30)

    def box(rows: np.ndarray, style: str) -> str:
        left, right = across(x[rows].min() - 0.45), across(x[rows].max() + 0.45)
        top, bottom = down(y[rows].max() + 0.42), down(y[rows].min() - 0.42)
        size = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}"'
        return f'<rect {size} fill="none" {style}/>'

    points = "".join(
        f'<circle cx="{across(a):.1f}" cy="{down(b):.1f}" r="0.9"/>'
        for a, b in zip(x + jitter[0], y + jitter[1], strict=True)
    )
    shapes = []
    for name, found in leaves(table).items():
        for rows in found:
            shapes.append(box(rows, f'stroke="{COLOURS[name]}" stroke-width="1.4"'))
            if name == "failed":
                for half in np.split(rows, 2):
                    shapes.append(box(half, f'stroke="{COLOURS[name]}" stroke-width="0.7" stroke-dasharray="3 2"'))
    legend = "".join(
        f'<rect x="{MARGIN + 150 * i}" y="8" width="12" height="12" fill="none" stroke="{colour}" stroke-width="1.6"/>'
        f'<text x="{MARGIN + 150 * i + 18}" y="18">{text}</text>'
        for i, (text, colour) in enumerate(
            zip(("leaf, not tested further", "leaf whose halving failed"), COLOURS.values(), strict=True)
        )
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="11" fill="#555">'
        f"<title>The leaves of Mirror on {table.quasi[0].name} and {table.quasi[1].name}, l = {ELL}</title>"
        f'<g fill="#888" fill-opacity="0.5">{points}</g>{"".join(shapes)}{legend}'
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">{table.quasi[0].name}</text>'
        f'<text x="14" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 14 {HEIGHT / 2})">'
        f"{table.quasi[1].name}</text></svg>\n"
    )


def drawn() -> str:
    """The picture of the page about Mirror."""
    census = gh.synthetic.census(1_500, seed=4)
    columns = {column.name: column for column in census.quasi}
    return picture(replace(census, quasi=(columns["age"], columns["education"])))


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
