# SPDX-License-Identifier: Apache-2.0
"""Questions: what is asked of a release, however it was written.

A condition is made of tests, each of which says that a record's value of one column is in a set. It is either true or
false of a record: `Not` takes all records that its part does not take, those with missing values among them. What SQL
makes of missing values is settled where SQL is read.

An estimator needs no more than conjunctions: `disjoint_terms` divides any condition into some that no record satisfies
twice, so that their answers add up.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from glasshouse.errors import InputError, ParameterError
from glasshouse.supports.value_sets import ValueSet, common_parts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

__all__ = [
    "EVERYBODY",
    "And",
    "Bound",
    "Case",
    "Condition",
    "Having",
    "Like",
    "Measure",
    "Not",
    "Or",
    "Order",
    "Question",
    "Test",
    "disjoint_terms",
    "reduced",
]

_MOST_TERMS = 4_096
_MOST_WORK = 1_000_000  # tests looked at: some seconds; to tell whether a condition holds for anybody can take forever
_MOST_NESTED = 100


@dataclass(frozen=True, slots=True)
class Test:
    """The value of a column is in a set; None in the set stands for a missing value."""

    __test__ = False  # pytest collects classes of this name

    column: str
    values: ValueSet


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold; without parts it is true for everybody."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one part holds; without parts it is true for nobody."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Condition


@dataclass(frozen=True, slots=True)
class Like:
    """The text of a column fits a pattern, in which ``%`` stands for any signs and ``_`` for one; or does not fit it.

    A pattern is no set of values: `glasshouse.analyst.questions.asked_values` makes one of it, by what a release shows.
    """

    column: str
    pattern: str
    escape: str = ""  # the sign before a % or a _ that stands for itself
    any_case: bool = False
    negated: bool = False

    def fits(self, text: str) -> bool:
        """Whether a text matches the pattern, ignoring whether a match is asked for.

        >>> [Like("zip", "47_%").fits(text) for text in ("476", "47602", "47")]
        [True, True, False]
        """
        signs = _signs(self.pattern.casefold() if self.any_case else self.pattern, self.escape)
        text = text.casefold() if self.any_case else text
        at = place = 0
        again: tuple[int, int] | None = None  # where to go on if the last % must take one sign more
        while at < len(text):
            sign = signs[place] if place < len(signs) else None
            if sign == ("any",):
                again, place = (place, at), place + 1
            elif sign is not None and sign in (("one",), text[at]):
                at, place = at + 1, place + 1
            elif again is not None:
                again = (again[0], again[1] + 1)
                place, at = again[0] + 1, again[1]
            else:
                return False
        return all(sign == ("any",) for sign in signs[place:])

    def fits_all(self, start: str) -> bool | None:
        """Whether all texts with a beginning match the pattern, whatever is asked for; None if only some may.

        >>> like = Like("icd", "F10.%")
        >>> [like.fits_all(start) for start in ("F10.1", "F1", "E11.")]
        [True, None, False]
        """
        signs = _signs(self.pattern.casefold() if self.any_case else self.pattern, self.escape)
        text = start.casefold() if self.any_case else start
        fixed = "".join(sign for sign in signs if isinstance(sign, str)) if ("one",) not in signs else ""
        ends = [sign for sign in signs if not isinstance(sign, str)] == [("any",)] == signs[-1:]
        if ends and text.startswith(fixed):
            return True
        at = next((i for i, sign in enumerate(signs) if not isinstance(sign, str)), len(signs))
        known = "".join(str(sign) for sign in signs[:at])
        return None if text.startswith(known[: len(text)]) else False


def _signs(pattern: str, escape: str) -> list[str | tuple[str]]:
    found: list[str | tuple[str]] = []
    signs = iter(pattern)
    for sign in signs:
        if sign == escape:
            found.append(next(signs, sign))
        else:
            found.append({"%": ("any",), "_": ("one",)}.get(sign, sign))
    return found


Condition = Test | Like | And | Or | Not

EVERYBODY = And(())
_NOBODY = Or(())


@dataclass(frozen=True, slots=True)
class Measure:
    """One number that is asked for."""

    kind: Literal["count", "sum", "avg", "share", "quantile"]
    column: str | None  # what is added up, averaged or ordered; None for a count or a share
    name: str  # its heading in the answer
    among: Condition | None = field(default=None, repr=False)  # of which of the tuples; of a share, the tuples it is of
    at: float | None = field(default=None, repr=False)  # of a quantile: which share lies below it
    between: bool = field(default=False, repr=False)  # of a quantile: whether it may lie between two values
    of_ranges: bool = field(default=False, repr=False)  # whether the column has ranges of numbers, such as [30, 40)

    def __post_init__(self) -> None:
        if self.kind not in ("count", "sum", "avg", "share", "quantile"):
            raise ParameterError("Measure", "kind", "'count', 'sum', 'avg', 'share' or 'quantile'", self.kind)
        if (self.column is None) != (self.kind in ("count", "share")):
            raise ParameterError(
                "Measure",
                "column",
                "given for a sum, an average or a quantile, and left out for a count or a share",
                self.column,
            )
        if (self.kind == "quantile") != (self.at is not None) or (self.at is not None and not 0 <= self.at <= 1):
            raise ParameterError("Measure", "at", "a share between 0 and 1, for a quantile", self.at)

    @property
    def is_plain(self) -> bool:
        """Whether it is a count, or a sum or an average of numbers, over all records that the question is about."""
        return self.among is None and not self.of_ranges and self.kind in ("count", "sum", "avg")


@dataclass(frozen=True, slots=True)
class Case:
    """A column that is made in the question: the value of the first condition that is true, or another one."""

    name: str
    branches: tuple[tuple[Condition, Any], ...]
    otherwise: Any = None

    def parts(self) -> dict[Any, Condition]:
        """Its values, with a condition for each; for every record exactly one of them is true."""
        found: dict[Any, list[Condition]] = {}
        before: list[Condition] = []
        for condition, value in self.branches:
            found.setdefault(value, []).append(And((*(Not(own) for own in before), condition)))
            before.append(condition)
        found.setdefault(self.otherwise, []).append(And(tuple(Not(own) for own in before)))
        return {value: Or(tuple(parts)) for value, parts in found.items()}


@dataclass(frozen=True, slots=True)
class Bound:
    """A comparison of a measure, given by its index, with a number."""

    measure: int
    how: Literal["=", "<>", "<", "<=", ">", ">="]
    value: float


@dataclass(frozen=True, slots=True)
class Having:
    """Which rows of the answer are kept: all of some bounds, or any of them, or what is not so."""

    kind: Literal["and", "or", "not"]
    parts: tuple[Having | Bound, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """How rows are ordered: by a grouping column or a measure, given by its index."""

    of: Literal["key", "measure"]
    place: int
    descending: bool = False
    missing_first: bool = False


@dataclass(frozen=True)
class Question:
    """What is asked: some measures, over the records that satisfy a condition, perhaps apart for each group of them."""

    measures: tuple[Measure, ...]  # what is asked for, at least one
    where: Condition = EVERYBODY  # of which records
    group_by: tuple[str, ...] = ()  # apart for each combination of values of these columns
    headings: tuple[str, ...] = ()  # how these columns are called in the answer; by their own names unless told
    as_of: int | str | None = None  # the edition that is asked about: who had come by then, and had not left
    cases: tuple[Case, ...] = ()  # the grouping columns that are made in the question, by their names
    having: Having | Bound | None = None  # which rows are kept
    order: tuple[Order, ...] = ()  # by what they are ordered
    limit: int | None = None  # how many are shown at most
    offset: int = 0  # how many are left out before
    n_hidden: int = 0  # how many of the last measures are asked for HAVING or ORDER BY alone

    @property
    def is_plain(self) -> bool:
        """Whether it asks for nothing but counts, sums and averages, for columns of the release."""
        arranged = self.having or self.order or self.limit is not None or self.offset
        return not self.cases and not arranged and all(measure.is_plain for measure in self.measures)

    def __post_init__(self) -> None:
        if not self.headings:
            object.__setattr__(self, "headings", self.group_by)
        if len(self.headings) != len(self.group_by):
            raise ParameterError("Question", "headings", "one for each grouping column", self.headings)


def disjoint_terms(
    condition: Condition, *, last: Collection[str] = (), most: int = _MOST_TERMS, work: int = _MOST_WORK
) -> list[dict[str, ValueSet]]:
    """Divide a condition into conjunctions: a record that satisfies it satisfies exactly one of them, others none.

    One column after the other is decided: its values are divided into parts that no test tells apart, values that
    leave the same rest of the condition are put together, and the rest is divided in turn (Shannon's expansion). A
    conjunction is the columns that matter and the values wanted; ``{}`` is everybody, and no conjunction nobody. Where
    there would be more than ``most``, or more than ``work`` tests are looked at on the way, that is an `InputError`.

    Columns of ``last`` are decided after all others, and no conjunctions are put together again. So any two differ in
    another column, or agree in all others.

    >>> young, women = Test("age", ValueSet.below(30)), Test("sex", ValueSet.of(["F"]))
    >>> disjoint_terms(And((young, women)))
    [{'age': <ValueSet (-inf, 30)>, 'sex': <ValueSet {F}>}]
    >>> disjoint_terms(Or((young, women)))
    [{'age': <ValueSet (-inf, 30)>}, {'age': <ValueSet [30, inf) or missing>, 'sex': <ValueSet {F}>}]
    """
    found: list[dict[str, ValueSet]] = []
    undecided: list[tuple[dict[str, ValueSet], Condition]] = [({}, reduced(condition))]
    while undecided:
        term, rest = undecided.pop()
        terms, term, rest = _at_once(term, rest, last)
        found += terms
        if rest == EVERYBODY:
            found.append(term)
        elif rest != _NOBODY:
            tests = list(_tests(rest))
            column = _next_column(rest, tests, last)
            parts = common_parts(list(dict.fromkeys(test.values for test in tests if test.column == column)))
            work -= len(tests) * len(parts)
            undecided += reversed(_decided(term, rest, column, parts.values()))
        if work < 0 or len(found) + len(undecided) > most:
            raise InputError(
                f"the condition is too complicated: it divides into more than {most:,} separate cases, or "
                "takes too long to divide; ask several simpler questions, or use fewer ORs between different "
                "columns"
            )
    return found if last else _merged(found)


def _at_once(
    term: dict[str, ValueSet], rest: Condition, last: Collection[str]
) -> tuple[list[dict[str, ValueSet]], dict[str, ValueSet], Condition]:
    """Decide the columns that occur in only one test at the top level: the terms, and the rest to divide."""
    if isinstance(rest, Test):
        return [{**term, rest.column: rest.values}], term, _NOBODY
    if not isinstance(rest, And | Or):
        return [], term, rest
    tests = Counter(test.column for test in _tests(rest))
    alone = [part for part in rest.parts if isinstance(part, Test) and tests[part.column] == 1]
    others = [part for part in rest.parts if not (isinstance(part, Test) and tests[part.column] == 1)]
    if isinstance(rest, And):
        return [], {**term, **{test.column: test.values for test in alone}}, _joined(And, others)
    if others:
        others += [test for test in alone if test.column in last]
        alone = [test for test in alone if test.column not in last]
    found = []
    for test in sorted(alone, key=lambda test: test.column in last):
        found.append({**term, test.column: test.values})
        term = {**term, test.column: ~test.values}
    return found, term, _joined(Or, others)


def _decided(
    term: dict[str, ValueSet], rest: Condition, column: str, parts: Iterable[ValueSet]
) -> list[tuple[dict[str, ValueSet], Condition]]:
    """The condition that remains for each of the column's values; values with the same remainder are put together."""
    by_rest: dict[Condition, list[ValueSet]] = {}
    for part in parts:
        by_rest.setdefault(_given(rest, column, part), []).append(part)
    return [
        (_with(term, column, ValueSet.any_of(own)), remains) for remains, own in by_rest.items() if remains != _NOBODY
    ]


def _next_column(rest: Condition, tests: list[Test], last: Collection[str]) -> str:
    """The next column: one whose single test may decide everything; otherwise the one in most tests."""
    others = [test for test in tests if test.column not in last]
    if isinstance(rest, And | Or):
        for part in rest.parts:
            if isinstance(part, Test) and not (others and part.column in last):
                return part.column
    return Counter(test.column for test in others or tests).most_common(1)[0][0]


def _tests(condition: Condition) -> Iterator[Test]:
    if isinstance(condition, Test):
        yield condition
    elif isinstance(condition, Like):
        raise AssertionError("a pattern was not made a set of values")
    elif isinstance(condition, Not):
        yield from _tests(condition.part)
    else:
        for part in condition.parts:
            yield from _tests(part)


def _given(condition: Condition, column: str, part: ValueSet) -> Condition:
    """What remains of a reduced condition once the value is known to be in a part that no test divides."""
    if isinstance(condition, Test):
        if condition.column != column:
            return condition
        return _NOBODY if (part & condition.values).is_empty else EVERYBODY
    if isinstance(condition, Not | Like):
        raise AssertionError("a reduced condition has no Not and no pattern in it")
    parts = [_given(own, column, part) for own in condition.parts]
    return _joined(type(condition), parts)


def reduced(condition: Condition) -> Condition:
    """The same condition without `Not`, one test per column side by side, without parts that are constant.

    >>> young = Test("age", ValueSet.below(30))
    >>> reduced(Or((young, Not(young)))) == EVERYBODY
    True
    """
    _check_nesting(condition)
    return _reduced(condition, negated=False)


def _reduced(condition: Condition, *, negated: bool) -> Condition:
    if isinstance(condition, Not):
        return _reduced(condition.part, negated=not negated)
    if isinstance(condition, Test):
        test = Test(condition.column, ~condition.values) if negated else condition
        return _joined(And, [test])
    if isinstance(condition, Like):
        raise AssertionError("a pattern was not made a set of values")
    parts = [_reduced(part, negated=negated) for part in condition.parts]
    return _joined(And if isinstance(condition, And) != negated else Or, parts)


def _joined(kind: type[And | Or], parts: list[Condition]) -> Condition:
    """All of some reduced conditions (`And`), or any of them (`Or`), reduced."""
    join, decided = (ValueSet.all_of, _NOBODY) if kind is And else (ValueSet.any_of, EVERYBODY)
    tests, others = _sorted_out(parts, kind)
    kept: dict[Condition, None] = {}
    for column, values in tests.items():
        test = Test(column, values[0] if len(values) == 1 else join(values))
        if test.values.is_empty if kind is And else test.values.is_everything:
            return decided
        if not (test.values.is_everything if kind is And else test.values.is_empty):
            kept[test] = None
    kept.update(others)
    if decided in kept:
        return decided
    return next(iter(kept)) if len(kept) == 1 else kind(tuple(kept))


def _sorted_out(
    parts: list[Condition], kind: type[And | Or]
) -> tuple[dict[str, list[ValueSet]], dict[Condition, None]]:
    """The tests by column, and the other parts, each once; parts of the same kind are taken apart."""
    tests: dict[str, list[ValueSet]] = {}
    others: dict[Condition, None] = {}
    for part in parts:
        inner = part.parts if isinstance(part, kind) else (part,)
        for own in inner:
            if isinstance(own, Test):
                tests.setdefault(own.column, []).append(own.values)
            else:
                others[own] = None
    return tests, others


def _merged(terms: list[dict[str, ValueSet]]) -> list[dict[str, ValueSet]]:
    """Merge terms that differ in a single column, as long as there are any.

    A term that has no test of a column has no disjoint twin there: only those that have one are compared, by the sum of
    the hashes of their other tests before they are compared in full.
    """
    before = len(terms) + 1
    while 1 < len(terms) < before:
        before = len(terms)
        sums = list(map(_sum, terms))
        for column in dict.fromkeys(name for term in terms for name in term):
            rest = [
                total - hash((column, term[column])) if column in term else None
                for total, term in zip(sums, terms, strict=True)
            ]
            if len(set(rest) - {None}) < len(rest) - rest.count(None):
                terms = _merged_along(terms, column, rest)
                sums = list(map(_sum, terms))
    return terms


def _sum(term: dict[str, ValueSet]) -> int:
    return sum(map(hash, term.items()))


def _merged_along(terms: list[dict[str, ValueSet]], column: str, rest: list[int | None]) -> list[dict[str, ValueSet]]:
    """Merge terms that differ only in one column; only terms whose other columns occur twice are candidates."""
    occurs = Counter(rest)
    kept: list[dict[str, ValueSet]] = []
    alike: dict[frozenset[tuple[str, ValueSet]], list[dict[str, ValueSet]]] = {}
    for term, own in zip(terms, rest, strict=True):
        if own is None or occurs[own] == 1:
            kept.append(term)
        else:
            others = frozenset(item for item in term.items() if item[0] != column)
            alike.setdefault(others, []).append(term)
    return kept + [_with(own[0], column, ValueSet.any_of([term[column] for term in own])) for own in alike.values()]


def _with(term: dict[str, ValueSet], column: str, values: ValueSet) -> dict[str, ValueSet]:
    """The term with other values for one column, which is left out if it does not matter."""
    if values.is_everything:
        return {name: own for name, own in term.items() if name != column}
    return {**term, column: values}


def _check_nesting(condition: Condition) -> None:
    """Refuse deeply nested conditions, before any function recurses into them."""
    level: list[Condition] = [condition]
    for _ in range(_MOST_NESTED):
        inner = [part for own in level if isinstance(own, And | Or) for part in own.parts]
        level = inner + [own.part for own in level if isinstance(own, Not)]
        if not level:
            return
        if len(level) > _MOST_WORK:
            break
    raise InputError(
        f"the condition is too large, or nested more than {_MOST_NESTED} levels deep: ask several simpler questions"
    )
