"""Draw Mirror beside other methods from mirror_world.csv: ``python tools/mirror_world.py``.

A panel for every table and recoding: the mean error of a thousand questions against l, on a logarithmic axis, with the
95 % intervals that benchmarks/mirror.py found. With the word ``tables`` it prints the same as Markdown.
"""

from __future__ import annotations

import csv
import sys
from html import escape
from math import log10
from pathlib import Path

HERE = Path(__file__).parents[1] / "docs" / "methods"
METHODS = {  # colour, dashes, and whether it protects against an attacker who knows it
    "Mirror": ("#0072b2", "", True),
    "Hybrid": ("#d55e00", "7 3", True),
    "Anatomize": ("#009e73", "2 3", True),
    "Mondrian, strict *": ("#cc79a7", "9 3 2 3", False),
    "no link": ("#777777", "1 4", True),
}
RECODINGS = ("anatomy", "boxes", "ANGEL")
WIDE, HIGH = 232, 176
LEFT, TOP, GAP = 58, 66, 16
INK = "#808080"  # legible on light and on dark

Row = dict[str, str]


def rows(workload: str = "transparent", principle: str = "l-diversity") -> list[Row]:
    """What was measured."""
    with (HERE / "mirror_world.csv").open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if (row["workload"], row["principle"]) == (workload, principle)]


def names(found: list[Row], column: str) -> list[str]:
    """What a column holds, in the order of first appearance."""
    return list(dict.fromkeys(row[column] for row in found))


def panel(found: list[Row], left: float, top: float, most_ell: int) -> str:
    """The curves of one table as one recoding."""
    errors = [float(row[end]) for row in found for end in ("low", "high") if row["method"] in METHODS]
    low, high = log10(max(min(errors), 1e-4)), log10(max(errors))

    def across(ell: float) -> float:
        return left + 12 + (ell - 2) / (most_ell - 2) * (WIDE - 24)

    def down(error: float) -> float:
        return top + HIGH - 8 - (log10(max(error, 1e-4)) - low) / (high - low) * (HIGH - 16)

    parts = [f'<rect x="{left}" y="{top}" width="{WIDE}" height="{HIGH}" fill="none" stroke="{INK}" opacity="0.5"/>']
    for power in range(-4, 2):
        for times in (1, 2, 5):
            tick = times * 10.0**power
            if 10**low <= tick <= 10**high:
                parts.append(
                    f'<line x1="{left}" y1="{down(tick):.1f}" x2="{left + WIDE}" y2="{down(tick):.1f}" stroke="{INK}" '
                    f'opacity="0.2"/><text x="{left - 5}" y="{down(tick) + 3:.1f}" text-anchor="end" '
                    f'font-size="9">{tick * 100:g} %</text>'
                )
    for ell in range(2, most_ell + 1):
        parts.append(
            f'<text x="{across(ell):.1f}" y="{top + HIGH + 12}" text-anchor="middle" font-size="9">{ell}</text>'
        )
    for name, (colour, dash, _) in reversed(METHODS.items()):  # Mirror last, above the others
        curve = sorted((int(row["bound"]), row) for row in found if row["method"] == name)
        points = [(across(ell), *(down(float(row[of])) for of in ("error", "low", "high"))) for ell, row in curve]
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in points)
        parts.append(f'<g stroke="{colour}" fill="none" stroke-width="1.8">')
        parts.append(f'<polyline points="{corners}" stroke-dasharray="{dash}"/>')
        parts += [f'<path d="M{x:.1f} {a:.1f} V{b:.1f} M{x - 3:.1f} {a:.1f} h6 M{x - 3:.1f} {b:.1f} h6"/>'
                  for x, _, a, b in points]  # fmt: skip
        parts.append("</g>")
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{colour}"/>' for x, y, _, _ in points]
    return "\n".join(parts)


def picture(found: list[Row]) -> str:
    """All panels: a column for each table, a row for each recoding."""
    tables = names(found, "table")
    width = LEFT + len(tables) * (WIDE + LEFT - GAP) + GAP
    height = TOP + len(RECODINGS) * (HIGH + 34) + 18
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        "<title>Mean error of a thousand questions against l, on real tables, by method</title>",
        f"<desc>{escape(in_words(found))}</desc>",
    ]
    x = float(LEFT)
    for name, (colour, dash, holds) in METHODS.items():
        said = name.removesuffix(" *") + ("" if holds else " (holds against nobody who knows it)")
        parts.append(
            f'<line x1="{x}" y1="16" x2="{x + 30}" y2="16" stroke="{colour}" stroke-width="2.5" '
            f'stroke-dasharray="{dash}"/><text x="{x + 36}" y="20">{escape(said)}</text>'
        )
        x += 60 + 6.6 * len(said)
    for i, table in enumerate(tables):
        left = LEFT + i * (WIDE + LEFT - GAP)
        here = [row for row in found if row["table"] == table]
        most = max(int(row["bound"]) for row in here)
        parts.append(
            f'<text x="{left + WIDE / 2}" y="48" text-anchor="middle" font-weight="bold">{escape(table)}</text>'
        )
        for j, recoding in enumerate(RECODINGS):
            top = TOP + j * (HIGH + 34)
            parts.append(panel([row for row in here if row["recoding"] == recoding], left, top, most))
            parts.append(f'<text x="{left + WIDE - 8}" y="{top + HIGH - 8}" text-anchor="end">{recoding}</text>')
        parts.append(f'<text x="{left + WIDE / 2}" y="{height - 8}" text-anchor="middle" font-style="italic">l</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def in_words(found: list[Row]) -> str:
    """What the drawing says, for those who cannot see it."""
    said = []
    for row in found:
        if row["recoding"] == "anatomy" and row["bound"] == "4" and row["method"] in METHODS:
            said.append(f"{row['table']}, l = 4, {row['method']}: {float(row['error']):.2%}")
    return "; ".join(said)


def ratios(found: list[Row], methods: tuple[str, ...]) -> str:
    """As Markdown: the error of the best of some methods, as a multiple of Mirror's, with its interval."""
    bounds = sorted({row["bound"] for row in found}, key=float)
    letter = "l" if found[0]["principle"] == "l-diversity" else "t"
    lines = [f"| | {letter} = " + " | ".join(bounds) + " |", "| --- |" + " --: |" * len(bounds)]
    for recoding in names(found, "recoding"):
        for table in names(found, "table"):
            cells = []
            for bound in bounds:
                place = {"recoding": recoding, "table": table, "bound": bound}
                there = [row for row in found if place.items() <= row.items() and row["method"] in methods]
                cells.append(multiple(min(there, key=lambda row: float(row["to_mirror"]))) if there else "")
            lines.append(f"| {recoding}, {table} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def multiple(row: Row) -> str:
    """A ratio with its interval; bold where Mirror is better beyond doubt, in italics where it is worse."""
    middle, low, high = (float(row[name]) for name in ("to_mirror", "to_mirror_low", "to_mirror_high"))
    mark = "**" if low > 1 else "*" if high < 1 else ""
    digits = 1 if middle >= 10 else 2
    return f"{mark}{middle:.{digits}f}{mark} ({low:.{digits}f} to {high:.{digits}f})"


def tables() -> dict[str, str]:
    """The tables of the page."""
    questions, holding, other = rows(), ("Hybrid", "Anatomize"), ("Mondrian, strict *", "Mondrian, relaxed *")
    return {
        "holding": ratios(questions, holding),
        "other": ratios(questions, other),
        "values": ratios(rows("anatomy"), holding),
        "closeness": ratios(rows(principle="t-closeness"), other),
    }


if __name__ == "__main__":
    if sys.argv[1:] == ["tables"]:
        sys.stdout.write("\n\n".join(tables().values()) + "\n")
    else:
        (HERE / "mirror_world.svg").write_text(picture(rows()), encoding="utf-8")
