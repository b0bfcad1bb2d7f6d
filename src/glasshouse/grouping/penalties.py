# SPDX-License-Identifier: Apache-2.0
"""Penalties: what a group costs; Tailor and its kin choose the cuts that cost least.

TRANSPARENT Section 3: any penalty ``h`` will do that does not look at sensitive values and is superadditive,
``h(G1 + G2) >= h(G1) + h(G2)`` for disjoint groups. A penalty is written in a recipe by its name, and is its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from glasshouse.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Custom", "Discernibility", "Penalty", "Perimeter", "penalty_of"]


class Penalty(str):
    """A penalty, which is also the name that stands for it in a recipe."""

    __slots__ = ()


class Perimeter(Penalty):
    """TRANSPARENT Eq. 4: the size of a group times the sum of its widths, as shares of the whole table's widths.

    >>> Perimeter()
    'perimeter'
    >>> Perimeter() == "perimeter"
    True
    """

    __slots__ = ()

    def __new__(cls) -> Self:
        """Make the perimeter."""
        return super().__new__(cls, "perimeter")

    def __repr__(self) -> str:
        return "'perimeter'"


class Discernibility(Penalty):
    """The square of a group's size (Bayardo and Agrawal, ICDE 2005): how many tuples are alike, summed over tuples.

    >>> Discernibility() == "discernibility"
    True
    """

    __slots__ = ()

    def __new__(cls) -> Self:
        """Make the discernibility."""
        return super().__new__(cls, "discernibility")

    def __repr__(self) -> str:
        return "'discernibility'"


class Custom(Penalty):
    """A penalty of one's own: a function of a group's tuples. A recipe says ``custom``, from which none can be rebuilt.

    Parameters
    ----------
    function
        Gets a list of tuples, each with the values of the quasi-identifiers of one person (None where missing), in
        order of ``quasi=``, and returns a number; exact numbers (int, Fraction) make ties exact. **It must** give the
        same number for the same tuples whenever it is called, and in whatever order they come; be superadditive,
        ``f(a + b) >= f(a) + f(b)``; and depend on nothing but its argument, above all on no sensitive value: a penalty
        that knows them voids the guarantee, and nobody can check it here.

    >>> spread = Custom(lambda people: len(people) * (max(age for age, in people) - min(age for age, in people)))
    >>> spread == "custom", spread.function([(20,), (25,)])
    (True, 10)
    """

    __slots__ = ("function",)

    function: Callable[[list[tuple[Any, ...]]], Any]

    def __new__(cls, function: Callable[[list[tuple[Any, ...]]], Any]) -> Self:
        """Make a penalty of a function."""
        penalty = super().__new__(cls, "custom")
        penalty.function = function
        return penalty

    def __repr__(self) -> str:
        return f"Custom({self.function!r})"

    def __eq__(self, other: object) -> bool:
        return self.function is other.function if isinstance(other, Custom) else str.__eq__(self, other) is True

    __hash__ = str.__hash__


def penalty_of(given: object) -> Penalty:
    """Turn a penalty, the name of one, or a function into a penalty.

    >>> penalty_of("perimeter"), penalty_of(Discernibility())
    ('perimeter', 'discernibility')
    >>> penalty_of("custom")
    Traceback (most recent call last):
    glasshouse.errors.ParameterError: Tailor: penalty must be 'perimeter', 'discernibility' or a function ...
    """
    if isinstance(given, Penalty):
        return given
    if given == "perimeter":
        return Perimeter()
    if given == "discernibility":
        return Discernibility()
    if callable(given):
        return Custom(given)
    raise ParameterError(
        "Tailor",
        "penalty",
        "'perimeter', 'discernibility' or a function of a list of tuples (which no recipe can hold)",
        given,
    )
