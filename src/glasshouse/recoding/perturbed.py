# SPDX-License-Identifier: Apache-2.0
"""Perturbed generalization: boxes, one record sampled from each, its sensitive value perturbed.

Tao, Xiao, Li, Zhang, "On Anti-Corruption Privacy Preserving Publication", ICDE 2008 (CORRUPTION), Section IV. The paper
perturbs every record, generalizes, and samples one record of every group. Here the record is sampled first and alone is
perturbed: records are perturbed independently of each other, and neither grouping nor sampling looks at a sensitive
value, so the published value has the same distribution, and the others are discarded in either order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.cells import MISSING, quoted, with_missing
from glasshouse.errors import DomainError, Infeasible, InputError, NotSupported, ParameterError
from glasshouse.kernels import compiled
from glasshouse.microdata.domains import Column, Domain, text_of
from glasshouse.plural import counted
from glasshouse.principles.parameters import fraction, plain
from glasshouse.principles.principle import Adversary, Claim
from glasshouse.recoding.generalization import Boxes, group_ranges, group_sets, numbered, published_values, set_texts
from glasshouse.recoding.recoding import Recoding, check_names
from glasshouse.release.layout import PART_ROWS, PERTURBED, SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from glasshouse.microdata import Groups, Microdata
    from glasshouse.microdata.kinds import Kinds
    from glasshouse.principles.background_sensitive import BackgroundSensitive
    from glasshouse.principles.parameters import Exact
    from glasshouse.principles.principle import Requirement
    from glasshouse.randomness import Draws
    from glasshouse.recoding.generalization import Ranges
    from glasshouse.recoding.parts.table_in_parts import TableInParts
    from glasshouse.recoding.recoding import Divided
    from glasshouse.release.layout import Layout

__all__ = [
    "OWNER",
    "BoundingCells",
    "Perturbed",
    "bounding_cells",
    "end_codes",
    "find_overlap",
    "perturb",
    "refuse_overlap",
    "sampled_values",
]

_LARGEST_DENOMINATOR = 2**62  # of a retention: what one draw can decide
OWNER = "perturbed generalization"
_BITS = 63  # codes in a word of marks
_WORDS = 4  # attributes of more codes than these words mark are left to `group_sets`
_FEW = 8  # so many boxes are compared in pairs at once
_LIMIT = 1024  # so many that no cut divides are still compared in pairs
_DENSE = 4  # codes that spread over at most so many times the number of boxes are counted, others sorted


@dataclass(frozen=True, kw_only=True, slots=True, init=False, repr=False)
class Perturbed(Recoding):
    """Publish one record of every group: its box, its perturbed sensitive value, and the size of its group.

    The record is a uniformly random one of its group. Its sensitive value is retained with probability exactly ``p``,
    and otherwise replaced by a uniformly random value of the sensitive domain, which may be the same value again.

    Parameters
    ----------
    p
        The retention, an exact number from 0 to 1; left out, it is found by `meeting`.
    domain
        The sensitive domain: every value that a person may have, whether or not it occurs; None in it stands for a
        missing value. Left out, it is taken from the data, and nothing is promised: a published value that nobody
        else has would be known to come from the one person who is left.

    Guarantee
    ---------
    With a declared domain, and with boxes that are disjoint and made from quasi-identifiers alone: rho1-to-rho2 and
    delta-growth as given by CORRUPTION Theorems 2 and 3, against an attacker who knows the sensitive values of any
    number of other people, if people's values are independent for the attacker.

    At fixed groups the published table is a random function of the boxes, the groups' sizes and the multisets of their
    sensitive values: the sampled record is drawn by its place in the order of its group's values, so the same draws
    give the same table no matter who has which value, and in which order the rows came (TRANSPARENT Definition 1).

    Cost
    ----
    O(n d) time for the boxes, O(m d log m) to see that m boxes are disjoint; two or three draws a group.

    Examples
    --------
    >>> from glasshouse.microdata import Groups, examples
    >>> from glasshouse.randomness import Source
    >>> table, pairs = examples.corruption_table1(), Groups(np.array([0, 0, 1, 1, 2, 2, 3, 3], np.int32), 4)
    >>> published = Perturbed(p=0.25).recode(table, pairs, source=Source.seeded(7))["data"]
    >>> published.column_names, published["Age"].to_pylist(), published["G"].to_pylist()
    (['Age', 'Gender', 'Zipcode', 'Disease', 'G'], ['[25, 30]', '[45, 50]', '[55, 58]', '[65, 80]'], [2, 2, 2, 2])
    """

    name: ClassVar[str] = PERTURBED.name
    in_words: ClassVar[str] = (
        "From each group one person, chosen at random, is published: with the group's ranges, its size, and a "
        "sensitive value that is either the true one or a random one."
    )
    layout: ClassVar[Layout] = PERTURBED

    p: Fraction | None = None
    domain: tuple[str | None, ...] | None = None

    def __init__(self, *, p: Exact | None = None, domain: Iterable[Any] | None = None) -> None:
        retention = None if p is None else fraction("Perturbed", "p", p, least=0, most=1)
        if retention is not None and retention.denominator > _LARGEST_DENOMINATOR:
            raise ParameterError("Perturbed", "p", "a fraction with a denominator of at most 2**62", p)
        object.__setattr__(self, "p", retention)
        object.__setattr__(self, "domain", None if domain is None else _declared(domain))

    def spelled(self, table: Microdata) -> Microdata:
        """The table, spelled like the declared domain."""
        return table if self.domain is None else table.spelled_by(self.domain)

    def settle(self, requirement: Requirement, method: Divided, table: Microdata) -> Self:
        """Choose the retention for the guarantee; refuse groups whose boxes may overlap."""
        if requirement.target is None:
            raise NotSupported(
                "the recoding 'perturbed' cannot guarantee a principle about groups",
                instead="ask for a limit on the attacker's probability: RhoBreach (rho1=) or DeltaGrowth (delta=)",
            )
        if not method.disjoint:
            raise NotSupported(
                f"the recoding 'perturbed' cannot use groups that were made by {method!r}",
                instead="leave the method out: this recoding needs groups that are made from quasi-identifiers alone "
                "and whose boxes do not overlap",
            )
        return self.meeting(requirement.target, self.n_values(table))

    def check(self, table: Microdata, requirement: Requirement) -> None:
        """Raise `NotSupported` unless there is one sensitive column, and groups are made by quasi-identifiers alone."""
        _sensitive(table)
        check_names(table, self.added(), OWNER)
        if requirement.columns:
            raise NotSupported(
                f"{OWNER} cannot use groups made for {requirement.describe()}, which looks at sensitive values",
                instead="ask for a limit on the attacker's probability, for which groups depend on quasi-identifiers "
                "alone: RhoBreach (rho1=) or DeltaGrowth (delta=)",
            )

    def meaning(self, domain: Domain) -> str:
        """Say what a cell of a quasi-identifier means, for people who read the release."""
        return Boxes().meaning(domain)

    def sensitive_meaning(self) -> str:
        """Say what a published sensitive value means."""
        values = (
            "the observed values" if self.domain is None else f"the {counted(len(self.domain), 'value')} of its domain"
        )
        kept = "some probability" if self.p is None else f"probability {plain(self.p)}"
        return (
            f"the value of one person of the group, kept with {kept}; otherwise a random one of {values}, all equally "
            "probable"
        )

    def added(self) -> dict[str, str]:
        """The names of the columns that are not in the table, with their meanings."""
        return {SIZE: "how many people the group has; this record is one of them"}

    def limits(self) -> tuple[str, ...]:
        """Say what this form of publication does not guarantee."""
        return (
            (
                "a published record need not be true for anybody: a random value may look impossible beside its "
                "quasi-identifiers"
            ),
            "it is not hidden whether a person is in the table",
            "if the same table is released a second time with new random values, an attacker can combine the two and "
            "learn more",
        )

    def n_values(self, table: Microdata) -> int:
        """How many values the sensitive domain has: as declared, or else as observed."""
        return _sensitive(table).domain.size if self.domain is None else len(self.domain)

    def meeting(self, target: BackgroundSensitive, n_values: int) -> Self:
        """Fix the retention by a target: the largest that meets it, or the given one, if that meets it.

        A target without a bound leaves a given retention as it is; ``n_values`` is the size of the sensitive domain.
        """
        if target.bound is None:
            self._retention()  # which must be given
            return self
        largest = target.largest_retention(n_values)
        if self.p is None and largest > 0:
            return replace(self, p=largest)
        if self.p is not None and target.prevents(self.p, n_values, target.bound):
            return self
        got = "any retention" if self.p is None else f"a retention of {plain(self.p)}"
        most = f"the largest that meets it is {plain(largest)}" if largest else "ask for less, or for larger groups"
        raise Infeasible(
            f"the {target.title} is not possible with {got}, groups of {target.k:,} and "
            f"{counted(n_values, 'sensitive value')}: {most}",
            principle=target,
            largest=largest,
        )

    def claimed(self, claim: Claim, requirement: Requirement, sensitive: Sequence[str]) -> Claim:
        """The guarantee on an attacker's probabilities; groups by themselves guarantee nothing here."""
        assert requirement.target is not None
        if len(sensitive) != 1 or self.p is None:
            raise InputError("a perturbed sample must have one sensitive column and state its retention")
        return self.claim(requirement.target, sensitive[0])

    def claim(self, target: BackgroundSensitive, column: str) -> Claim:
        """The guarantee for a sensitive column of this name; it does not depend on the table."""
        p = self._retention()
        if self.domain is None:
            return _no_claim(
                "the possible values (domain) of the sensitive column were not declared, and the values in the "
                "table reveal which values people have"
            )
        n_values = len(self.domain)
        achieved = target.achieving(p, n_values)
        if achieved is None and target.bound is None:
            return _no_claim(f"a retention of {plain(p)} is too large for any bound")
        if achieved is None or (target.bound is not None and not target.prevents(p, n_values, target.bound)):
            return _no_claim(f"a retention of {plain(p)} does not meet the {target.title}")
        asked = achieved if target.bound is None else target
        return Claim(
            adversary=Adversary.CORRUPTING,
            promise=asked.describe(column),
            theorem=(
                f"{target.theorem}, with retention p = {plain(p)}, groups of at least k = {target.k:,}, "
                f"{n_values:,} declared sensitive values and lambda = {plain(target.lambda_)}: a {achieved.title}"
            ),
            assumptions=(
                f"the declared domain of {column} contains every value that a person may have, and was not chosen by "
                "looking at the data",
                (
                    "the groups were made from quasi-identifiers alone, and their ranges of quasi-identifiers (boxes) "
                    "do not overlap"
                ),
                "for the attacker, the sensitive values of different people are independent; so, for example, "
                "members of a household with the same disease are not covered",
                *_skewed(target),
            ),
            limits=target.outside(),
        )

    def recode(
        self, table: Microdata, groups: Groups, *, source: Draws | None = None, **_unused: object
    ) -> dict[str, pa.Table]:
        """Publish one perturbed record for each of ``groups`` of ``table``, with draws from a child of ``source``.

        That is the child of a table in one part; see `in_parts`. Boxes that overlap are refused (CORRUPTION, G3), by
        comparing the boxes themselves.
        """
        from glasshouse.randomness import Source

        source = (Source.secure() if source is None else source).child("part", 0)
        p = self._retention()
        sensitive = _sensitive(table)
        check_names(table, self.added(), OWNER)
        domain, code_in_domain = _resolve(self.domain, sensitive)
        groups = _without_empty(groups)
        cells = [bounding_cells(column, groups) for column in table.quasi]
        refuse_overlap(np.stack([c.low for c in cells], axis=1), np.stack([c.high for c in cells], axis=1), OWNER)

        # draws are made in the order of the boxes, which are all different
        order = _box_order(cells)
        sizes = groups.sizes[order]
        sampled = code_in_domain[_sample(sensitive.codes, groups, order, source)]
        published = perturb(sampled, p, domain.size, source)

        columns = {
            column.name: pa.DictionaryArray.from_arrays(pa.array(cell.of_group[order]), cell.texts)
            for column, cell in zip(table.quasi, cells, strict=True)
        }
        columns[sensitive.name] = sampled_values(domain, published)
        columns[SIZE] = pa.array(sizes.astype(np.int32))
        return {self.layout.people: pa.table(columns)}

    def in_parts(self, kinds: Kinds, *, part_rows: int = PART_ROWS, **_unused: object) -> tuple[TableInParts, ...]:
        """One table in parts of consecutive boxes; draws are made from a child that belongs to the part.

        A table of several parts is another one than `recode` gives, with the same probabilities. Boxes that overlap
        are refused when the table is settled.
        """
        from glasshouse.recoding.parts.sample_table import SampleTable

        p = self._retention()
        sensitive = _sensitive(kinds.table)
        check_names(kinds.table, self.added(), OWNER)
        domain, code_in_domain = _resolve(self.domain, sensitive, kinds.counts)
        name = self.layout.people
        return (
            SampleTable(
                name=name,
                quasi=kinds.table.quasi,
                sensitive=sensitive,
                n_people=kinds.n_people,
                domain=domain,
                code_in_domain=code_in_domain,
                p=p,
                part_rows=part_rows,
            ),
        )

    def to_data(self) -> dict[str, Any]:
        """Give the recoding as plain data, for JSON; `from_data` makes it again."""
        domain = None if self.domain is None else list(self.domain)
        return {"name": self.name, "p": None if self.p is None else plain(self.p), "domain": domain}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Make the recoding from what `to_data` gave."""
        if data.get("name", cls.name) != cls.name or not data.keys() <= {"name", "p", "domain"}:
            raise InputError(f"{cls.name} takes p and domain: it cannot be made from {dict(data)}")
        return cls(p=data.get("p"), domain=data.get("domain"))

    def __repr__(self) -> str:
        p = None if self.p is None else plain(self.p)
        return f"Perturbed(p={p!r}, domain={self.domain!r})"

    def _retention(self) -> Fraction:
        if self.p is None:
            raise InputError(
                "the retention p (the probability that a value is kept) is not known: give it (p=), or give the bound "
                "from which it is calculated (rho2= or delta=)"
            )
        return self.p


def _declared(values: Iterable[Any]) -> tuple[str | None, ...]:
    """Read a declared domain as texts, by which values are looked up; None stands for missing."""
    if isinstance(values, str):
        raise ParameterError("Perturbed", "domain", "a list of values", values)
    texts = tuple(None if value is None else text_of(value) for value in values)
    repeated = [text for text, times in Counter(texts).items() if times > 1]
    if repeated or len(texts) < 2:
        what = f"{counted(len(texts), 'value')}, of which {counted(len(repeated), 'is', 'are')} repeated"
        raise ParameterError("Perturbed", "domain", "two or more different values", what)
    return texts


def _sensitive(table: Microdata) -> Column:
    if any(column.domain.members is not None for column in table.sensitive):
        raise NotSupported(
            f"{OWNER} does not support a column whose values are sets",
            instead="draw one row of each person (repeated='sample'), or use a principle about groups",
        )
    if len(table.sensitive) == 1:
        return table.sensitive[0]
    raise NotSupported(
        f"{OWNER} needs exactly one sensitive column, and the table has {len(table.sensitive) or 'none'}",
        instead="name one column as sensitive: the guarantee is about one value for each person",
    )


def _resolve(
    declared: tuple[str | None, ...] | None, column: Column, weights: NDArray[np.int64] | None = None
) -> tuple[Domain, NDArray[np.int32]]:
    """The sensitive domain with the type of the column, and the place in it of each of the column's codes.

    With ``weights``, each code of the column is that of so many people.
    """
    observed = column.domain
    if declared is None:
        return observed, np.arange(observed.size, dtype=np.int32)
    code_of = {text: code for code, text in enumerate(observed.texts)}
    values = [None if text is None else _value(text, code_of, observed) for text in declared]
    known = [value for value in values if value is not None]
    place = {text_of(value): i for i, value in enumerate(known)}
    if len(place) < len(known):
        raise DomainError(
            f"the domain that was declared for column {column.name!r} has {counted(len(known) - len(place), 'value')} "
            "twice: list each value once",
            column=column.name,
        )
    places = [place.get(text, -1) for text in observed.texts]
    if observed.missing:
        places.append(len(known) if None in values else -1)
    code_in_domain = np.array(places, np.int32)
    _refuse_undeclared(column, code_in_domain, weights)
    array = pa.array(known, observed.values.type)
    return replace(observed, values=array, missing=None in values, taxonomy=None, tree=None), code_in_domain


def _value(text: str, code_of: Mapping[str, int], observed: Domain) -> Any:
    """Read a declared value with the type of the column."""
    if text in code_of:
        return observed.values[code_of[text]].as_py()
    try:
        return pa.scalar(text).cast(observed.values.type).as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DomainError(
            f"the domain declared for column {observed.name!r} has the value {text!r}, which is not of the type of the "
            f"column ({observed.kind}): correct it, or leave it out",
            column=observed.name,
            values=[text],
        ) from None


def _refuse_undeclared(column: Column, code_in_domain: NDArray[np.int32], weights: NDArray[np.int64] | None) -> None:
    """Raise `DomainError` if a record has a value outside the declared domain; values that no record has may be."""
    if (code_in_domain >= 0).all():
        return
    counts = np.bincount(column.codes, weights=weights, minlength=len(code_in_domain)).astype(np.int64)
    outside = np.flatnonzero((code_in_domain < 0) & (counts > 0))
    if not len(outside):
        return
    missing = column.domain.missing_code if column.domain.missing else -1
    gaps = ""
    instead = (
        "declare every value that a person may have (domain=, at the command line also as @FILE with one value on "
        "each line)"
    )
    if missing in outside:
        gaps = f", {counts[missing]:,} of these records without a value"
        instead += ", and leave out the records without one (missing='drop') or, in Python, declare None"
    raise DomainError(
        f"column {column.name!r} has {counted(len(outside), 'value')}, in "
        f"{counted(int(counts[outside].sum()), 'record')}, outside its declared domain{gaps}: {instead}",
        column=column.name,
        values=[None if code == missing else column.domain.texts[code] for code in outside.tolist()],
    )


def _without_empty(groups: Groups) -> Groups:
    present = groups.sizes > 0
    if present.all():
        return groups
    renumbered = np.append(np.cumsum(present) - 1, -1).astype(np.int32)  # label -1, not published, finds the last place
    return type(groups)(renumbered[groups.labels], int(present.sum()))


def _box_order(cells: Sequence[BoundingCells]) -> NDArray[np.intp]:
    """The groups in the order of their cells."""
    keys = [cell.of_group.astype(np.min_scalar_type(len(cell.texts)), copy=False) for cell in cells]
    return np.lexsort(keys[::-1])


def _sample(codes: NDArray[np.int32], groups: Groups, order: NDArray[np.intp], source: Draws) -> NDArray[np.int32]:
    """The sensitive code of a uniformly random record of every group, groups in this order.

    A place is drawn in the sorted order of the group's codes, so it does not matter who of the group has which.
    """
    rank = np.empty(groups.n_groups, np.int32)
    rank[order] = np.arange(groups.n_groups, dtype=np.int32)
    offsets = np.concatenate([[0], np.cumsum(groups.sizes[order])])
    by_group = np.empty(int(offsets[-1]), np.int32)
    compiled("glasshouse.recoding._kernels").gather_by_box(groups.labels, rank, codes, offsets[:-1].copy(), by_group)
    picked = np.empty(groups.n_groups, np.int32)
    places = source.belows(np.diff(offsets))
    compiled("glasshouse.recoding._kernels").pick_smallest(by_group, offsets, places, picked)
    return picked


def sampled_values(domain: Domain, codes: NDArray[np.int32]) -> pa.Array:
    """Published values: text as a dictionary of those that occur, unless a value may be missing."""
    return domain.decode(codes) if domain.missing else published_values(Column(domain, codes), codes)


def perturb(codes: NDArray[np.int32], p: Fraction, n_values: int, source: Draws) -> NDArray[np.int32]:
    """Retain each code with probability ``p``, else draw one of the domain (CORRUPTION, P2)."""
    replaced = source.belows(p.denominator, len(codes)) >= p.numerator
    perturbed = codes.copy()
    perturbed[replaced] = source.belows(n_values, int(replaced.sum()))
    return perturbed


def _skewed(target: BackgroundSensitive) -> tuple[str, ...]:
    if target.lambda_ == 1:
        return ()
    return (
        "before seeing the release, the attacker's probability for any sensitive value of a person is at "
        f"most {plain(target.lambda_)}",
    )


def _no_claim(reason: str) -> Claim:
    return Claim(
        adversary=Adversary.LINKING,
        promise=f"nothing: {reason}",
        theorem="none",
        limits=("any bound on the attacker's probability for a person's sensitive value",),
    )


# ---------------------------------------------------------------------------------------------- boxes of many groups
#
# Where one record a group is published there are as many boxes as rows, so nothing is done for each box in turn: texts
# are written column by column, as `Boxes` would write them, and sets of codes are gathered as bits.


@dataclass(frozen=True, eq=False)
class BoundingCells:
    """One attribute of all boxes: distinct cells in their natural order, and per group its cell and its end codes.

    A cell lies between ``low`` and ``high`` in the order in which the attribute may be cut, where missing comes last.
    """

    texts: pa.Array
    of_group: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]


def bounding_cells(column: Column, groups: Groups, *, words: int = _WORDS) -> BoundingCells:
    """One attribute's cell for every group: an interval of an ordered attribute, a set of an unordered one.

    No group is empty. Attributes of more than ``words`` times 63 codes are done in another way, with the same result.

    Examples
    --------
    >>> from glasshouse.microdata import Groups, examples
    >>> table = examples.transparent_t1()
    >>> cells = bounding_cells(table.quasi[0], Groups(np.array([0, 0, 1, 1, 2, 2, 2, 2], np.int32), 3))
    >>> cells.texts.to_pylist(), cells.low.tolist(), cells.high.tolist()
    (['[21, 27]', '32', '[54, 60]'], [0, 2, 3], [1, 2, 4])
    """
    if column.domain.ordered:
        ranges = group_ranges(column, groups)
        low, high = _ends(column, ranges)
        return _of_kinds(_interval_texts(column, ranges), ranges.of_group, low, high)
    marked = column.domain.size <= words * _BITS
    sets, of_group = _marked_sets(column, groups) if marked else group_sets(column, groups)
    ends = np.array([(codes[0], codes[-1]) for codes in sets], np.int32).reshape(-1, 2)
    return _of_kinds(pa.array(set_texts(column, sets), pa.string()), of_group, ends[:, 0], ends[:, 1])


def end_codes(column: Column, groups: Groups) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The smallest and the largest code of every group, where missing comes last; as `bounding_cells` has them."""
    ranges = group_ranges(column, groups)
    low, high = _ends(column, ranges)
    return low.astype(np.int32)[ranges.of_group], high.astype(np.int32)[ranges.of_group]


def _ends(column: Column, ranges: Ranges) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    past = column.domain.missing_code
    low = np.where(ranges.low <= ranges.high, ranges.low, past)
    return low, np.where(ranges.missing == 1, past, ranges.high)


def _of_kinds(
    texts: pa.Array, of_group: NDArray[np.int32], low: NDArray[np.integer], high: NDArray[np.integer]
) -> BoundingCells:
    return BoundingCells(texts, of_group, low.astype(np.int32)[of_group], high.astype(np.int32)[of_group])


def _interval_texts(column: Column, ranges: Ranges) -> pa.Array:
    """Write every range in the form of `interval` and `with_missing`."""
    known = ranges.low <= ranges.high
    values = pa.array([quoted(value) for value in column.domain.values.to_pylist()] or [MISSING], pa.string())
    low, high = (values.take(pa.array(np.where(known, ends, 0))) for ends in (ranges.low, ranges.high))
    texts = pc.if_else(pa.array(ranges.low == ranges.high), low, _joined("[", low, ", ", high, "]"))
    if ranges.missing.any():
        gaps = pc.if_else(pa.array(known), _joined(texts, with_missing("")), pa.scalar(with_missing(None)))
        texts = pc.if_else(pa.array(ranges.missing == 1), gaps, texts)
    return texts


def _joined(*parts: pa.Array | str) -> pa.Array:
    return pc.binary_join_element_wise(*parts, "")


def _marked_sets(column: Column, groups: Groups) -> tuple[list[tuple[int, ...]], NDArray[np.int32]]:
    """Do as `group_sets` does, with a bit for every code."""
    kernels = compiled("glasshouse.recoding._kernels")
    firsts = range(0, column.domain.size, _BITS)
    marks = np.zeros((len(firsts), groups.n_groups), np.int64)
    number, n_numbers = np.zeros(groups.n_groups, np.int32), 1
    for mask, first in zip(marks, firsts, strict=True):
        kernels.label_masks(groups.labels, column.codes, first, mask)
        kinds, of_group = numbered(mask, 2 ** min(column.domain.size - first, _BITS))
        distinct, number = numbered(number.astype(np.int64) * len(kinds) + of_group, n_numbers * len(kinds))
        n_numbers = len(distinct)
    example = np.empty(n_numbers, np.int64)  # a group of each kind
    example[number] = np.arange(groups.n_groups)
    found = [_codes_of(masks) for masks in marks[:, example].T.tolist()]
    order = sorted(range(n_numbers), key=found.__getitem__)
    rank = np.empty(n_numbers, np.int32)
    rank[order] = np.arange(n_numbers, dtype=np.int32)
    return [found[i] for i in order], rank[number]


def _codes_of(masks: list[int]) -> tuple[int, ...]:
    return tuple(_BITS * word + bit for word, mask in enumerate(masks) for bit in range(_BITS) if mask >> bit & 1)


# ------------------------------------------------------------------------- may a person fall into two boxes (G3)?
#
# Asked of the boxes themselves, whatever method made them. Boxes of a method that cuts come apart by cuts, so they are
# cut apart again: O(n d log n) time for the even cuts of Mondrian. Boxes that no cut divides are compared in pairs.


def find_overlap(
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    *,
    few: int = _FEW,
    limit: int = _LIMIT,
    dense: int = _DENSE,
) -> tuple[int, int] | bool:
    """Find two boxes that share a point: their numbers; False if there are none, True if that is undecided.

    ``low`` and ``high`` are the smallest and largest code of every box on every attribute (boxes x attributes). At the
    sizes ``few``, ``limit`` and ``dense`` the work is done in another way: the answer is the same, but for True beyond
    ``limit``.

    Examples
    --------
    >>> low = np.array([[0, 0], [2, 0], [1, 3]], np.int32)
    >>> find_overlap(low, np.array([[1, 4], [3, 2], [3, 4]], np.int32))
    (0, 2)
    >>> find_overlap(low, np.array([[1, 2], [3, 2], [3, 4]], np.int32))
    False
    """
    n, largest = len(low), int(high.max(initial=0))
    found = np.empty(2, np.int32)
    status = compiled("glasshouse.recoding._kernels").find_overlap(
        np.ascontiguousarray(low),
        np.ascontiguousarray(high),
        np.arange(n, dtype=np.int32),
        np.zeros(128, np.int64),
        *np.zeros((2, largest + 1), np.int64),
        *np.empty((2, 2 * n), np.int32),
        few,
        limit,
        dense,
        found,
    )
    return (int(found.min()), int(found.max())) if status == 1 else status == 2


def refuse_overlap(low: NDArray[np.int32], high: NDArray[np.int32], owner: str) -> None:
    """Raise `NotSupported` unless no two boxes share a point."""
    overlap = find_overlap(low, high)
    if overlap is not False:
        may = "may overlap" if overlap is True else "overlap"
        raise NotSupported(
            (
                f"{owner} does not support groups whose ranges of quasi-identifiers (boxes) {may}, so that a person "
                "may belong to two of them"
            ),
            instead="make the groups from quasi-identifiers alone with strict cuts: the method 'mondrian' under "
            "k-anonymity",
        )
