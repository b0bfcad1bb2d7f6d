"""Transparency by force, on the product's own methods: every world, every coin toss, exact beliefs.

``pytest`` runs a small tier (tests/grouping/test_transparency.py); ``make prove`` runs this file: thousands of tables.
For methods that claim to hold against whoever knows them no belief may exceed 1/l; for the others the search must find
a table where one does, or it would not notice anything.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import glasshouse as gh
from tests.grouping.doors import forced
from tests.naive import by_force

SAFE: dict[str, Callable[[], Any]] = {
    "Tailor": gh.Tailor,
    "Ace": gh.Ace,
    "Hybrid": gh.Hybrid,
    "Anatomize": gh.Anatomize,
    "EvenSplit at l + 1": gh.EvenSplit,
    "Symmetric at l + 1": gh.Symmetric,
    "Tailor refined by Anatomize": lambda: gh.Refined(coarse=gh.Tailor(), inner="anatomize"),
}
ATTACKABLE: dict[str, Callable[[], Any]] = {
    "strict Mondrian": gh.Mondrian,
    "Greedy": gh.Greedy,
    "Opt-Gen": gh.OptGen,
    "Symmetric refined by Anatomize": lambda: gh.Refined(coarse=gh.Symmetric(extra=0), inner="anatomize"),
    "Symmetric refined by Ace": lambda: gh.Refined(coarse=gh.Symmetric(extra=0), inner="ace"),
}
RECODINGS = {"by person": by_force.by_person, "by values": by_force.by_values, "by boxes": by_force.by_boxes}
# Tailor cuts nothing with fewer than 2l values, so a case with few of them would prove nothing.
VALUES: dict[str, Any] = {"n_values": (4, 5, 6), "max_worlds": 400}


def tally(name: str, make: Callable[[], Any], cases: Any, recode: Any = None, *, until_above: bool = False) -> Any:
    """Run a method of the product through cases."""

    def method_for(case: by_force.Case) -> by_force.Method:
        return forced(make(), partial(gh.LDiversity, ell=case.ell), case.positions)

    return by_force.try_cases(name, method_for, cases, recode, until_above=until_above)


def main(n_tables: int) -> None:
    """Run the full tier and print how much was run."""
    for name, make in SAFE.items():
        found = tally(name, make, by_force.random_cases(101, n_tables, people=(4, 5, 6, 7), **VALUES))
        assert found.n_above == 0, found
        for recode in RECODINGS.values():
            cases = by_force.random_cases(102, n_tables // 5, people=(4, 5, 6), extra=(0, 1, 2), **VALUES)
            assert tally(f"{name}, people outside", make, cases, recode).n_above == 0
    for name, make in ATTACKABLE.items():
        cases = by_force.random_cases(103, n_tables, people=(4, 5, 6), ells=(2,), n_values=(3, 4, 5), max_worlds=400)
        assert tally(name, make, cases, until_above=True).n_above > 0, f"no attack found on {name}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
