# SPDX-License-Identifier: Apache-2.0
"""Asked values: what the values in a question mean for a release, before anything is counted.

Zero is the right answer to a question about a value that nobody has, and the wrong one to a question with a slip in it.
Where a release shows which texts a column can have (its sensitive values, exact cells, a declared tree or order), any
other is refused, with the nearest that there is. Where it does not, or the value is a number or a date, the question
is answered, and the answer says that no published cell has the value. Both look at nothing but the release and what
its reader brought along.

Where a taxonomy is known, a node may be asked for: it stands for all values below it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.analyst.questions.question import Like, Not, Test
from glasshouse.errors import DomainError, InputError, near_text
from glasshouse.microdata.domains import few, text_of
from glasshouse.release.layout import FOREIGN
from glasshouse.sql_names import sql_name
from glasshouse.supports.axes import NodeSupport
from glasshouse.supports.evidence import seats_of
from glasshouse.supports.supports import CellSupports, Listed, OrMissing, Prefix, Span, number_of
from glasshouse.supports.value_sets import Listing, ValueSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from glasshouse.analyst.questions.question import Condition, Question
    from glasshouse.microdata.set_members import Members
    from glasshouse.supports.evidence import Evidence
    from glasshouse.supports.supports import Support


__all__ = ["check_domain", "compared_order", "sets_note", "settled"]


def settled(evidence: Evidence, question: Question) -> tuple[Question, tuple[str, ...]]:
    """The question with nodes replaced by the values below them, and what its reader should know of its values.

    A text that the column cannot have is a `DomainError`.
    """
    settling = _Settling(evidence)
    where = settling.condition(question.where)
    measures = tuple(
        measure if measure.among is None else replace(measure, among=settling.condition(measure.among))
        for measure in question.measures
    )
    cases = tuple(
        replace(case, branches=tuple((settling.condition(own), value) for own, value in case.branches))
        for case in question.cases
    )
    named = [*question.group_by, *(measure.column for measure in question.measures)]
    settling.notes += [
        f"{name!r} is {side}-coded: {text} means {text} and everything {('above' if side == 'top' else 'below')}"
        for name in named
        if name is not None
        for side, text in evidence.limits.get(name, {}).items()
    ]
    asked = replace(question, where=where, measures=measures, cases=cases)
    return asked, tuple(dict.fromkeys(settling.notes))


def compared_order(evidence: Evidence, column: str) -> tuple[str, ...] | None:
    """The order in which ``<``, ``>=`` and BETWEEN compare the texts of a column; None for the alphabet.

    It is refused to compare texts whose order is not in the release, and numbers that are texts, where the alphabet has
    another order than the numbers.
    """
    settling = _Settling(evidence)
    if settling.is_masked(column):
        return None
    order = evidence.order_of(column)
    if order is not None:
        return order
    if column in evidence.declared.unordered:
        raise evidence.without_order(column)
    texts = settling.texts(column)
    alphabet = sorted(texts) if texts is not None and _are_numbers(texts) else []
    disorder = next(((a, b) for a, b in pairwise(alphabet) if float(a) > float(b)), None)
    if disorder is not None:
        first, then = disorder
        raise InputError(
            f"the values of column {column!r} are texts made of digits, and texts are compared letter by letter, so "
            f"that {first!r} comes before {then!r}: list the values instead, as in "
            f"{sql_name(column)} IN ({then!r}, {first!r})"
        )
    return None


def _are_numbers(texts: Iterable[str]) -> bool:
    """Whether all texts are written as numbers."""
    return all(_NUMBER.fullmatch(text) for text in texts)


def _are_alike(texts: Iterable[str], ends: Iterable[str]) -> bool:
    """Whether all are numbers, and the texts are on the same side of the ends by letters as by numbers."""
    known, limits = list(texts), list(ends)
    return _are_numbers([*known, *limits]) and all(
        (own < end, own > end) == (float(own) < float(end), float(own) > float(end)) for end in limits for own in known
    )


def sets_note(column: str) -> str:
    """Say what a question about a column of sets means."""
    return f"{column!r} contains sets of values: a person is counted under every value in the person's set"


def check_domain(evidence: Evidence, column: str, values: Iterable[Any]) -> None:
    """Refuse texts that are in no declared tree or order of the column, where there is one."""
    known = _declared(evidence, column)
    if known is not None and evidence.kinds[column] == "category":
        for value in values:
            if value is not None and text_of(value) not in known:
                raise DomainError.unknown(text_of(value), list(known), column=column)


_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
_FOR_MISSING = frozenset({"", "missing", "null", "none", "na", "n/a", "nan"})  # what people write for a missing value
# what a value that nobody has does, by whether all but some values are asked for
_LEFT_OUT = ("counted", "left out")
_MOST_COMPARED = 1_000_000  # pairs of a number that is asked for and a cell: of more no number is noted by itself


@dataclass(eq=False)
class _Settling:
    """Works out what one question means for a release."""

    evidence: Evidence
    notes: list[str] = field(default_factory=list)

    def condition(self, condition: Condition) -> Condition:
        if isinstance(condition, Test):
            members = self.evidence.members(condition.column)
            if members is not None:
                return Test(condition.column, self._sets(condition.column, members, condition.values))
            return Test(condition.column, self._values(condition.column, condition.values))
        if isinstance(condition, Like):
            found = Test(condition.column, self._fitting(condition))
            return found if found.values.is_empty else self.condition(found)
        if isinstance(condition, Not):
            return Not(self.condition(condition.part))
        return type(condition)(tuple(self.condition(part) for part in condition.parts))

    def _values(self, column: str, values: ValueSet) -> ValueSet:
        if not values.cuts:
            if values.is_empty:
                shown = "published range" if self.evidence.labelled_ranges(column) else "value"
                hint = self._missing_hint(column)
                self.notes.append(f"no {shown} of {column!r} fits the condition, so nobody is counted for it{hint}")
            return values
        if self.evidence.asked_kinds[column] == "category":
            return self._texts(column, values)
        self._check_limits(column, values)
        self._note_numbers(column, values)
        return values

    def _sets(self, column: str, members: Members, values: ValueSet) -> ValueSet:
        """The sets that have one of some values; where all but some are asked for, those that have none of these."""
        pieces = values.pieces()
        singles = members.domain
        for text in map(text_of, pieces.values) if isinstance(pieces, Listing) else ():
            if text not in singles.texts:
                raise self._unknown(column, text, list(singles.texts))
        without = isinstance(pieces, Listing) and pieces.cofinite
        wanted = ~values if without else values
        found = np.zeros(len(members), bool)
        for code, value in enumerate(singles.listed()):
            if value in wanted:
                found |= members.having(code)
        self.notes.append(sets_note(column))
        texts = self.evidence.published(column).values
        return ValueSet.of([text for text, has in zip(texts, found, strict=True) if has != without])

    def _fitting(self, asked: Like) -> ValueSet:
        """The texts of a column that fit a pattern, or do not; refused where the release does not tell the texts."""
        if ranges := self.evidence.labelled_ranges(asked.column):
            raise DomainError(
                f"LIKE cannot be answered for column {asked.column!r}, because it contains ranges: compare it, as in "
                f"{next(iter(ranges.values())).told_apart(asked.column)}",
                column=asked.column,
            )
        if self.is_masked(asked.column):
            found = self._of_masked(asked.column, asked.fits, asked.fits_all)
            return ~found & ~ValueSet.of([None]) if asked.negated else found
        known = self.texts(asked.column)
        if known is None:
            raise InputError(
                f"LIKE cannot be answered for column {asked.column!r}: its cells stand for texts that the release "
                "does not list. Ask for single values with = or IN, or pass the taxonomy of the column"
            )
        fitting = [text for text in sorted(known) if asked.fits(text)]
        if not fitting:
            self.notes.append(f"no published cell of {asked.column!r} fits {asked.pattern!r}: nobody is counted for it")
        found = ValueSet.of(fitting)
        return ~found & ~ValueSet.of([None]) if asked.negated else found

    def texts(self, column: str) -> frozenset[str] | None:
        """All texts that a column has or may have; None if its cells stand for texts that the release does not list."""
        members = self.evidence.members(column)
        known = frozenset(members.domain.texts) - {None} if members is not None else self._known(column)
        if known is not None:
            return known
        listed = [support.spelled_out.listed() for support in self._supports(column)]
        if any(values is None for values in listed):
            return None
        return frozenset(text_of(value) for values in listed for value in values or () if value is not None)

    def is_masked(self, column: str) -> bool:
        """Whether a sensitive column has values whose ends are masked, such as ``F10.*``."""
        evidence = self.evidence
        sensitive = evidence.home_of(column) in evidence.release.recipe.sensitive
        return sensitive and any(self._has_mask(text_of(value)) for value in evidence.sensitive_values(column))

    def _has_mask(self, text: str) -> bool:
        """Whether the end of a text was replaced by stars before it was published.

        Stars alone are a value like any other, because sensitive values are published as they were; in the table of
        another tool they stand for any text.
        """
        return text.endswith("*") and (text.strip("*") != "" or self.evidence.release.layout is FOREIGN)

    def _of_masked(self, column: str, has: Callable[[str], bool], has_all: Callable[[str], bool | None]) -> ValueSet:
        """The values asked about, of which some are masked; refused if only some texts behind a mask may be meant."""
        texts = [text_of(value) for value in self.evidence.sensitive_values(column) if value is not None]
        found = {text: has_all(text.rstrip("*")) if self._has_mask(text) else has(text) for text in texts}
        divided = [text for text, whole in found.items() if whole is None]
        if divided:
            raise InputError(
                f"the condition on {column!r} is true for only some of the texts that {few(divided, 3)} may stand for: "
                "their ends were replaced by stars, and the release does not show them. Ask for the published values "
                "as they are, with = or IN"
            )
        return ValueSet.of([text for text, whole in found.items() if whole])

    def _check_limits(self, column: str, values: ValueSet) -> None:
        """Refuse to distinguish values beyond a top or bottom code, which are published as one value."""
        reader = CellSupports(name=column, kind=self.evidence.asked_kinds[column])
        for name, text in self.evidence.limits.get(column, {}).items():
            side = ValueSet.above if name == "top" else ValueSet.below
            beyond = side(reader.value(text), closed=True, whole=reader.kind in ("integer", "date"))
            asked = values & beyond
            if not asked.is_empty and asked != beyond:
                sign = ">=" if name == "top" else "<="
                end = text if reader.kind in ("integer", "float") else f"'{text}'"
                raise InputError(
                    f"column {column!r} is {name}-coded: {text} means {text} and everything "
                    f"{('above' if name == 'top' else 'below')}. Ask for {sql_name(column)} {sign} {end}, or only for "
                    f"values that are {('below' if name == 'top' else 'above')} {end}"
                )

    def _texts(self, column: str, values: ValueSet) -> ValueSet:
        """Texts of a column: known ones, and the leaves of nodes."""
        pieces = values.pieces()
        if not isinstance(pieces, Listing):
            return self._range_of_texts(column, values)
        asked = [text_of(value) for value in pieces.values]
        below = self._below(column)
        known = self._known(column)
        shown = _Shown(self._supports(column))
        nodes = {text: node for text in asked if (node := shown.node(text)) is not None}
        unseen = []
        for text in asked:
            if text in nodes:
                if not any(support.extremes(nodes[text])[1] for support in self._supports(column)):
                    unseen.append(text)
                continue
            if known is not None and text not in known and text not in below:
                raise self._unknown(column, text, [*known, *below])
            if text not in below and not shown.has(text):
                unseen.append(text)
        if unseen:
            self._note_texts(column, unseen, shown, excluded=pieces.cofinite)
        leaves = [leaf for text in asked if text not in nodes for leaf in below.get(text, (text,))]
        found = ValueSet.of([*leaves, *([None] if values.missing != pieces.cofinite else [])])
        for node in nodes.values():
            found = found | node
        return ~found if pieces.cofinite else found

    def _range_of_texts(self, column: str, values: ValueSet) -> ValueSet:
        """Texts between others, which are compared letter by letter; where some are masked, the published ones."""
        texts = self.texts(column)
        ends = {end for one in values.intervals() for end in (one.low, one.high) if end is not None}
        if texts is None or not _are_alike(texts, ends):
            self.notes.append(f"texts of {column!r} are compared letter by letter, as in a dictionary")
        if not self.is_masked(column):
            return values
        found = self._of_masked(column, values.__contains__, lambda start: _has_all(values, start))
        return found | ValueSet.of([None]) if None in values else found

    def _unknown(self, column: str, text: str, known: Sequence[str]) -> DomainError:
        """The error for a text that the column cannot have; also how to ask for missing values, if they are meant."""
        hint = self._missing_hint(column) if text.casefold() in _FOR_MISSING else ""
        if not hint:
            return DomainError.unknown(text, known, column=column)
        return DomainError(f"column {column!r} has no value {text!r}{hint}", column=column, values=[text])

    def _missing_hint(self, column: str) -> str:
        """How missing values are asked for, if the column has some."""
        missing = ValueSet.of([None])
        has_some = any(support.share(missing) > 0 for support in self._supports(column))
        return f"; to count missing values, write {sql_name(column)} IS NULL" if has_some else ""

    def _note_texts(self, column: str, unseen: list[str], shown: _Shown, *, excluded: bool) -> None:
        near = near_text(unseen[0], list(shown.texts)) if len(unseen) == 1 else None
        hint = "" if near is None else f"; did you mean {near!r}?"
        if any(text.casefold() in _FOR_MISSING for text in unseen):
            hint = self._missing_hint(column) or hint
        self.notes.append(
            f"no published cell of {column!r} contains {few(unseen, 3)}, so nobody is "
            f"{_LEFT_OUT[excluded]} for it{hint}"
        )

    def _note_numbers(self, column: str, values: ValueSet) -> None:
        """Say so if no cell has any of the values, or if they have no share of what is measured."""
        supports, excluded = self._supports(column), False
        if any(_touches(support, values) for support in supports):
            excluded = values.starts
            kind = self.evidence.asked_kinds[column]
            if kind in ("float", "timestamp") and not any(support.share(values) > 0 for support in supports):
                low, high = ("1", "2") if kind == "float" else ("'2024-05-01'", "'2024-05-02'")
                name = sql_name(column)
                self.notes.append(
                    f"column {column!r} is continuous, so people with one exact value cannot be counted: ask for a "
                    f"range of values, as in {name} >= {low} AND {name} < {high}"
                )
            values = self._unseen(supports, values)
            if values.is_empty:
                return
        self.notes.append(
            f"no published cell of {column!r} contains a value in {_in_words(values)}, so nobody is "
            f"{_LEFT_OUT[excluded]} for it"
        )

    def _unseen(self, supports: Sequence[Support], values: ValueSet) -> ValueSet:
        """The listed numbers that no cell contains; also where all but these are asked for."""
        asked = (~values if values.starts else values).intervals()
        listed = [one for one in asked if one.low is not None and one.high is not None]
        if len(listed) * len(supports) > _MOST_COMPARED:
            return ValueSet.nothing()
        parts = [
            ValueSet.between(one.low, one.high, closed=(one.closed_low, one.closed_high), whole=values.whole)
            for one in listed
        ]
        return ValueSet.any_of([part for part in parts if not any(_touches(own, part) for own in supports)])

    def _supports(self, column: str) -> Sequence[Support]:
        evidence = self.evidence
        if evidence.home_of(column) in evidence.release.recipe.sensitive:
            return [Listed((value,)) for value in evidence.sensitive_values(column)]
        _, seats = seats_of(evidence, [column])
        return evidence.supports(seats, column)

    def _below(self, column: str) -> dict[str, tuple[str, ...]]:
        """The nodes of a known taxonomy, with the values below each."""
        taxonomy = self.evidence.taxonomies.get(column)
        return {} if taxonomy is None else dict(taxonomy.leaves_below)

    def _known(self, column: str) -> frozenset[str] | None:
        """All texts that a column can have; None if the release does not tell."""
        evidence = self.evidence
        if evidence.home_of(column) in evidence.release.recipe.sensitive:
            published = evidence.published(evidence.home_of(column))
            if published.kind == "sample" and evidence.release.recipe.recoding.get("domain") is None:
                return None
            return frozenset(text_of(value) for value in evidence.sensitive_values(column) if value is not None)
        declared = _declared(evidence, column)
        if declared is not None or not evidence.is_exact:
            return declared
        return frozenset(
            text_of(value)
            for support in self._supports(column)
            for value in support.listed() or ()
            if value is not None
        )


def _declared(evidence: Evidence, column: str) -> frozenset[str] | None:
    taxonomy = evidence.taxonomies.get(column)
    if taxonomy is not None and taxonomy.is_listed:
        return frozenset(taxonomy.leaves)
    return frozenset(map(text_of, evidence.ordered[column])) if column in evidence.ordered else None


class _Shown:
    """The texts that some cells stand for."""

    def __init__(self, supports: Sequence[Support]) -> None:
        self.texts: set[str] = set()
        self._prefixes: list[Prefix] = []
        for support in supports:
            inner = support.support if isinstance(support, OrMissing) else support
            if isinstance(inner, Prefix):
                self._prefixes.append(inner)
            elif isinstance(inner, NodeSupport):
                self.texts.add(inner.label)
            else:
                self.texts.update(text_of(value) for value in inner.listed() or () if value is not None)

    def node(self, text: str) -> ValueSet | None:
        """All texts below a node such as ``476**``, if cells of the column are written in this way; otherwise None."""
        start = text.rstrip("*")
        if start == text or not any(len(one.start) + one.stars == len(text) for one in self._prefixes):
            return None
        return ValueSet.between(start, start + chr(0x10FFFF))

    def has(self, text: str) -> bool:
        """Whether some cell may stand for a text."""
        return text in self.texts or any(prefix.covers(text) for prefix in self._prefixes)


def _touches(support: Support, values: ValueSet) -> bool:
    """Whether a cell contains one of the values, even if only a single point of a measured range."""
    inner = support.support if isinstance(support, OrMissing) else support
    if isinstance(support, OrMissing) and None in values:
        return True
    if not isinstance(inner, Span) or inner.kind in ("integer", "date"):  # whole numbers and days are counted
        return inner.extremes(values)[1] > 0
    for low, high, _, _ in values.intervals():
        start = inner.low if low is None else number_of(low, inner.kind)
        stop = inner.high if high is None else number_of(high, inner.kind)
        if start <= inner.high and stop >= inner.low:
            return True
    return False


def _has_all(values: ValueSet, start: str) -> bool | None:
    """Whether a set has all texts with a beginning; None if it has only some of them."""
    extent = ValueSet.between(start, start + chr(0x10FFFF))
    if not (extent & ~values).has_values:
        return True
    return None if (extent & values).has_values else False


def _in_words(values: ValueSet) -> str:
    text = str(values)
    return text if len(text) <= 60 else f"{text[:57]}..."
