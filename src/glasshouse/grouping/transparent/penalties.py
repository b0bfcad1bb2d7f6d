# SPDX-License-Identifier: Apache-2.0
"""Penalties: the cost of a group; the transparent methods choose the cuts and divisions with the least cost.

TRANSPARENT Section 3: any penalty ``h`` will do that does not look at sensitive values and is superadditive,
``h(G1 + G2) >= h(G1) + h(G2)`` for disjoint groups. A penalty is written in a recipe by its name, and is its name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from glasshouse.errors import ParameterError
from glasshouse.grouping.method import Method, frequency_ell
from glasshouse.grouping.top.piece import bound_to, whole_piece
from glasshouse.principles.principle import Adversary, Claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from glasshouse.engines import Memory
    from glasshouse.grouping.top.piece import Piece
    from glasshouse.microdata import Column, Groups, Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.principle import Requirement
    from glasshouse.randomness import Source

__all__ = [
    "Custom",
    "Discernibility",
    "Judge",
    "Penalty",
    "Perimeter",
    "Transparent",
    "judged",
    "penalty_of",
    "unchecked",
]


class Penalty(str):
    """A penalty; it is also the string that names it in a recipe."""

    __slots__ = ()


class _Known(Penalty):
    """A penalty that is given by a name."""

    __slots__ = ()
    word: ClassVar[str]

    def __new__(cls) -> Self:
        return super().__new__(cls, cls.word)

    def __repr__(self) -> str:
        return f"'{self.word}'"

    def __getnewargs__(self) -> tuple[()]:  # type: ignore[override]  # a string's would be its text
        return ()


class Perimeter(_Known):
    """TRANSPARENT Eq. 4: the size of a group times the sum of its widths, as shares of the whole table's widths.

    >>> Perimeter()
    'perimeter'
    >>> Perimeter() == "perimeter"
    True
    """

    __slots__ = ()
    word = "perimeter"


class Discernibility(_Known):
    """The square of a group's size (Bayardo and Agrawal, ICDE 2005): how many records are alike, summed over records.

    >>> Discernibility() == "discernibility"
    True
    """

    __slots__ = ()
    word = "discernibility"


class Custom(Penalty):
    """A penalty given as a function of a group's records. A recipe only says ``custom``, which cannot be rebuilt.

    Parameters
    ----------
    function
        Gets a list of one tuple or more, each with the values of the quasi-identifiers of one person (None where
        missing), in order of ``quasi=``; and returns a number, finite and 0 or more. The list is sorted, attribute by
        attribute, each as its domain is ordered (missing last), so it tells which records a group has and nothing else.
        Numbers are added and compared exactly; a float means the decimal that it prints, so int and Fraction are the
        better choice where ties matter. **It must** give the same number for the same list whenever it is called; be
        superadditive, ``f(a + b) >= f(a) + f(b)``; and depend on nothing but its argument, above all on no sensitive
        value: a penalty that knows them voids the guarantee, and nobody can check it here.

    Cost
    ----
    The function is tried on both parts of every cut or division, in the thread that calls, whatever the number of
    threads. A group of m tuples and d attributes has up to ``d m`` cuts: ``2 d m`` calls, for lists of ``d m^2`` tuples
    together. A bucket of x columns of m tuples has ``d (m - 1)`` divisions, for lists of ``d x m^2``.

    >>> spread = Custom(lambda people: len(people) * (max(age for age, in people) - min(age for age, in people)))
    >>> spread == "custom", spread.function([(20,), (25,)])
    (True, 10)
    """

    __slots__ = ("function",)

    function: Callable[[list[tuple[Any, ...]]], Any]

    def __new__(cls, function: Callable[[list[tuple[Any, ...]]], Any]) -> Self:
        """Make a penalty of a function."""
        if not callable(function):
            raise ParameterError("Custom", "function", "a function of a list of tuples", function)
        penalty = super().__new__(cls, "custom")
        penalty.function = function
        return penalty

    def __repr__(self) -> str:
        return f"Custom({self.function!r})"

    def __getnewargs__(self) -> tuple[Any]:  # a string's would be its text
        return (self.function,)

    def __eq__(self, other: object) -> bool:
        return self.function is other.function if isinstance(other, Custom) else str.__eq__(self, other) is True

    __hash__ = str.__hash__


def penalty_of(given: object, owner: str) -> Penalty:
    """Turn a penalty, the name of one, or a function into a penalty; ``owner`` is the method that was given it.

    >>> penalty_of("perimeter", "Tailor"), penalty_of(Discernibility(), "Ace")
    ('perimeter', 'discernibility')
    >>> penalty_of("custom", "Tailor")
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
        owner,
        "penalty",
        ("'perimeter', 'discernibility' or a function of a list of tuples (a function cannot be recorded in a recipe)"),
        given,
    )


def unchecked(penalty: Penalty) -> tuple[str, ...]:
    """The assumption of a method's guarantee about its penalty.

    >>> unchecked(Perimeter())
    ()
    """
    if isinstance(penalty, Custom):
        return (
            ("it is assumed, and was not checked, that the given penalty function does not look at sensitive values"),
        )
    return ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Transparent(Method):
    """What Tailor, Ace and Hybrid share: a penalty, and a claim of transparent l-diversity for one sensitive column."""

    theorem: ClassVar[str]
    """Why an attacker who knows the algorithm learns no more than l-diversity allows."""

    penalty: Any = field(default_factory=Perimeter)

    def __post_init__(self) -> None:
        object.__setattr__(self, "penalty", penalty_of(self.penalty, type(self).__name__))

    def claim(self, requirement: Requirement) -> Claim:
        """State what the groups guarantee, against which attacker, and why."""
        frequency_ell(requirement, type(self).__name__)
        return Claim(adversary=Adversary.ALGORITHM_AWARE, theorem=self.theorem, assumptions=unchecked(self.penalty))

    def _divide(self, table: Microdata, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        ell, column = frequency_ell(requirement, type(self).__name__)
        requirement.check_eligible()
        return self._divided(table, ell, column, source, engine)

    def _divided(
        self,
        table: Microdata,
        ell: int,
        column: Column,
        source: Source,
        engine: Memory,
        sections: NDArray[np.int32] | None = None,
    ) -> Groups:
        """Divide a table that is l-eligible in ``column``, or each of its sections, of which one comes after another.

        ``sections`` is the section of each record.
        """
        raise NotImplementedError

    @property
    def by_counts(self) -> bool:
        """Large tables can be divided with a built-in penalty, which needs counts; a custom one needs the people."""
        return not isinstance(self.penalty, Custom)

    def pieces(self, kinds: Kinds, requirement: Requirement, source: Source, most: int) -> list[Piece]:
        """Divide kinds, as counts, until pieces are small; with a custom penalty everybody is one piece."""
        ell, column = frequency_ell(bound_to(requirement, kinds.table), type(self).__name__)
        requirement.check_eligible()
        if not self.by_counts or kinds.n_people <= most:
            return [whole_piece(kinds)]
        return self._pieces(kinds, ell, column, source, most)

    def _pieces(self, kinds: Kinds, ell: int, column: Column, source: Source, most: int) -> list[Piece]:
        """Divide kinds that are more than ``most`` people; ``column`` has the sensitive values of kinds."""
        raise NotImplementedError

    def finish(self, kinds: Kinds, piece: Piece, requirement: Requirement, source: Source, engine: Memory) -> Groups:
        """Divide the people of a piece, each of its sections by itself."""
        people = piece.people(kinds)
        ell, column = frequency_ell(bound_to(requirement, people), type(self).__name__)
        return self._divided(people, ell, column, source, engine, piece.section_of_people())


class Judge:
    """A custom penalty applied to one table: calls the function for the cost of records, and checks its results.

    Parameters
    ----------
    penalty
        The penalty.
    table
        The microdata; of its columns the judge keeps the quasi-identifiers alone.
    owner
        The method that was given the penalty, for messages.

    Attributes
    ----------
    codes
        Per attribute, the code of every row of the table.

    >>> import glasshouse as gh
    >>> table = gh.read({"age": [30, 20, 60, 50]}, quasi=["age"])
    >>> judge = Judge(Custom(lambda people: people[-1][0] - people[0][0]), table, "Ace")
    >>> judge.cost(np.array([2, 0, 1]))
    40
    >>> judge.cheapest(np.array([[0, 1, 2, 3]]), 1)
    (0, 2)
    """

    def __init__(self, penalty: Custom, table: Microdata, owner: str) -> None:
        self.codes = [attribute.codes for attribute in table.quasi]
        self._function = penalty.function
        self._owner = owner
        ascending = np.lexsort(self.codes[::-1])
        self._place = np.empty(len(ascending), np.int64)
        self._place[ascending] = np.arange(len(ascending))
        columns = [attribute.domain.decode(attribute.codes[ascending]).to_pylist() for attribute in table.quasi]
        self._tuples: list[tuple[Any, ...]] = list(zip(*columns, strict=True))

    def cost(self, rows: NDArray[np.integer]) -> int | Fraction:
        """The exact cost of these rows together; `ParameterError` if the function gives none."""
        # Sorted: rows come column by column, and a bucket's columns lie in the order of their sensitive values.
        people = [self._tuples[place] for place in np.sort(self._place[rows], axis=None).tolist()]
        try:
            answer = self._function(people)
        except Exception as error:
            raise self._fault(f"raised {type(error).__name__}") from error
        if isinstance(answer, bool) or not isinstance(answer, Real | Decimal):
            raise self._fault(f"returned an object of type {type(answer).__name__}")  # which may hold data: not shown
        cost = _exact(answer)
        if cost is None or cost < 0:
            raise self._fault(f"returned {answer}" if cost is None else "returned a negative number")
        return cost

    def cheapest(self, columns: NDArray[np.integer], least: int) -> tuple[int, int]:
        """The canonical division (TRANSPARENT Definitions 11 and 12) by trying all: the attribute, and the size.

        A division takes the same number of records from the top of every column, sorted by one attribute. A canonical
        l-cut (Definitions 9 and 10) is the division of a single column.

        Parameters
        ----------
        columns
            Row numbers of the table: columns x records, each column in tie order.
        least
            How many records of a column both parts have at least.

        Returns
        -------
        tuple
            Of the divisions with the least cost that of the first attribute, and there the smallest: the attribute, and
            how many records of a column the first part has.
        """
        length = columns.shape[1]
        best: tuple[int | Fraction, int, int] | None = None
        for dim in range(len(self.codes)):
            by_value = np.take_along_axis(columns, self.ascending(columns, dim), axis=1)
            for size in range(least, length - least + 1):
                cost = self.cost(by_value[:, :size]) + self.cost(by_value[:, size:])
                if best is None or cost < best[0]:
                    best = cost, dim, size
        assert best is not None, "columns that are too short to be divided"
        return best[1:]

    def ascending(self, columns: NDArray[np.integer], dim: int) -> NDArray[np.intp]:
        """Per column, the indices of its records in the order of an attribute, equal ones in tie order."""
        return np.argsort(self.codes[dim][columns], axis=1, kind="stable")

    def _fault(self, what: str) -> ParameterError:
        allowed = f"a function that gives any list of tuples a number, finite and 0 or more (this one {what})"
        return ParameterError(self._owner, "penalty", allowed, self._function)


def judged(penalty: Penalty, table: Microdata, owner: str) -> Penalty | Judge:
    """Prepare a penalty for a table: a custom function needs a `Judge`, the others are built in."""
    return Judge(penalty, table, owner) if isinstance(penalty, Custom) else penalty


def _exact(number: Real | Decimal) -> int | Fraction | None:
    """Read a number exactly, a float as the decimal that it prints; None if it is not finite.

    >>> _exact(np.int8(3)), _exact(0.1), _exact(Decimal("0.10")), _exact(float("nan"))
    (3, Fraction(1, 10), Fraction(1, 10), None)
    """
    try:
        if isinstance(number, Integral):
            return int(number)
        if isinstance(number, Rational | Decimal):
            return Fraction(number)
        return Fraction(repr(float(number)))
    except (ValueError, OverflowError):
        return None
