"""The deliberate faults of `make mutants` can still be made: a change of the package takes their texts along."""

from __future__ import annotations

import pytest

from tests import mutants
from tests.architecture.house import HOUSE
from tests.mutants import MUTANTS, Mutant


def test_the_text_of_every_fault_occurs_exactly_once_and_its_tests_exist() -> None:
    for mutant in MUTANTS:
        assert mutants.home_of(mutant, HOUSE).is_relative_to(HOUSE)
        assert mutants.tests_of(mutant)
        assert mutant.old != mutant.new


@pytest.mark.parametrize("text", ["no such text in the package", "from __future__ import annotations"])
def test_a_text_that_does_not_occur_once_is_noticed(text: str) -> None:
    with pytest.raises(LookupError, match="occurs in"):
        mutants.home_of(Mutant(text, "", "rooms"), HOUSE)


def test_tests_that_do_not_exist_are_noticed() -> None:
    with pytest.raises(LookupError, match="there are no tests"):
        mutants.tests_of(Mutant("", "", "rooms/test_nothing.py"))
