"""Small random tables for all rooms: as columns of codes, as microdata, and as rows for the slow twins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

import glasshouse as gh


@dataclass(frozen=True)
class Plain:
    """A table as plain Python: quasi-identifiers by column, one sensitive column."""

    quasi: dict[str, list[Any]]
    sensitive: list[str]

    @property
    def columns(self) -> dict[str, list[Any]]:
        return {**self.quasi, "sensitive": self.sensitive}

    def microdata(self, **options: Any) -> gh.Microdata:
        return gh.read(self.columns, quasi=list(self.quasi), sensitive="sensitive", **options)

    def permuted(self, order: list[int]) -> Plain:
        return Plain(
            {name: [values[i] for i in order] for name, values in self.quasi.items()},
            [self.sensitive[i] for i in order],
        )


@st.composite
def plain_tables(draw: st.DrawFn, *, most: int = 24, least: int = 1, missing: bool = False) -> Plain:
    """Tables of up to ``most`` tuples, one to four quasi-identifiers of several kinds, few sensitive values.

    Degenerate ones are frequent: one tuple, one value, duplicate rows, wide domains.
    """
    n = draw(st.integers(least, most))
    d = draw(st.integers(1, 4))
    quasi: dict[str, list[Any]] = {}
    for i in range(d):
        widest = draw(st.sampled_from([0, 1, 3, 20, 100_000]))
        kind = draw(st.sampled_from(["integer", "float", "category"]))
        codes = draw(st.lists(st.integers(0, widest), min_size=n, max_size=n))
        values: list[Any] = {
            "integer": codes,
            "float": [code / 4 for code in codes],
            "category": [f"v{code}" for code in codes],
        }[kind]
        if missing and n > 1:
            gaps = draw(st.lists(st.booleans(), min_size=n, max_size=n))
            values = [None if gap and j else value for j, (gap, value) in enumerate(zip(gaps, values, strict=True))]
        quasi[f"q{i}"] = values
    kinds = draw(st.integers(1, 6))
    sensitive = draw(st.lists(st.sampled_from([f"s{j}" for j in range(kinds)]), min_size=n, max_size=n))
    return Plain(quasi, sensitive)


def partition(groups: gh.Groups) -> set[frozenset[int]]:
    """The groups as sets of row numbers."""
    members: dict[int, set[int]] = {}
    for row, label in enumerate(groups.labels.tolist()):
        members.setdefault(label, set()).add(row)
    return {frozenset(rows) for label, rows in members.items() if label >= 0}
