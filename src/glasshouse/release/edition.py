# SPDX-License-Identifier: Apache-2.0
"""Editions: a table that is published again, and again, each time for the people who came since.

A release of several editions is one release. Its people have one more quasi-identifier, `EDITION`, which tells the
edition in which they were published, and every group lies within one edition. Who of them has left is listed in a table
of its own, by what is published of their quasi-identifiers: never beside a group, and never beside a value.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import InputError, ParameterError, SourceError
from glasshouse.plural import counted
from glasshouse.release.layout import EDITION, LEFT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from glasshouse.release.release import Guarantee, PublishedColumn, Release

__all__ = [
    "Edition",
    "are_numbers",
    "check_editions",
    "check_label",
    "edition_columns",
    "in_words",
    "labels_as_column",
    "over_editions",
    "place_in",
    "places_counted",
    "plain_column",
]

_LABEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,39}", re.ASCII)
_LABELS: Final = (
    "a whole number, or a text of at most 40 letters, digits, spaces, dots, hyphens and underscores that begins with a "
    "letter or a digit, such as 2027-spring"
)
_LARGEST: Final = 1 << 53  # labels that every tool reads as the same number
_MEANING: Final = "the edition in which the person was first published; every group belongs to one edition only"
_LEFT_MEANING: Final = "the first edition without the person"


@dataclass(frozen=True, kw_only=True)
class Edition:
    """One edition of a release.

    Parameters
    ----------
    label
        What it is called: a whole number, such as a year, or a short text.
    n_tuples
        How many people were published in it.
    n_dropped, n_suppressed
        How many of its candidates were left out, and how many of these were suppressed before it was divided. Of an
        edition that could not be published all are left out.

    Examples
    --------
    >>> Edition(label=2027, n_tuples=120, n_dropped=3, n_suppressed=3).to_data()
    {'label': 2027, 'n_tuples': 120, 'n_dropped': 3, 'n_suppressed': 3}
    """

    label: int | str
    n_tuples: int
    n_dropped: int = 0
    n_suppressed: int = 0

    @property
    def is_closed(self) -> bool:
        """Whether all of its candidates were left out for good."""
        return not self.n_tuples and self.n_dropped > 0

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


def check_label(label: Any) -> int | str:
    """Refuse a label of an edition that is neither a whole number nor a short text.

    >>> check_label(2027), check_label("2027-spring")
    (2027, '2027-spring')
    """
    if isinstance(label, int) and not isinstance(label, bool) and abs(label) < _LARGEST:
        return label
    if isinstance(label, str) and _LABEL.fullmatch(label):
        return label
    raise ParameterError("publish", "edition", _LABELS, label)


def place_in(editions: Sequence[Edition], label: Any) -> int:
    """The index, from 0, of the edition with a label, which is given as number or text."""
    for place, edition in enumerate(editions):
        if str(edition.label) == str(label):
            return place
    if not editions:
        raise InputError(
            "the release has no editions, so it does not say who was added or left later: leave the edition out"
        )
    raise InputError(f"the release has no edition {label!r}: it has {', '.join(str(e.label) for e in editions)}")


def labels_as_column(editions: Sequence[Edition], labels: Any) -> pa.ChunkedArray:
    """Labels in the type of their published column: numbers if all editions have numbers, otherwise texts."""
    if are_numbers(editions):
        return labels.cast(pa.int64())
    return plain_column(labels).cast(pa.string()).dictionary_encode()


def are_numbers(editions: Sequence[Edition]) -> bool:
    """Whether the labels of all editions are numbers."""
    return all(isinstance(edition.label, int) for edition in editions)


def edition_columns(editions: Sequence[Edition], *, left: bool) -> tuple[PublishedColumn, PublishedColumn | None]:
    """The descriptions of the columns that editions add; the second only if somebody left."""
    from glasshouse.release.release import PublishedColumn

    kind = "integer" if are_numbers(editions) else "category"
    told = PublishedColumn(name=EDITION, role="quasi-identifier", kind=kind, meaning=_MEANING)
    return told, PublishedColumn(name=LEFT, role="added", kind=kind, meaning=_LEFT_MEANING) if left else None


def in_words(editions: Sequence[Edition]) -> str:
    """The list of editions, in a few words.

    >>> in_words([Edition(label=2026, n_tuples=1200), Edition(label=2027, n_tuples=0, n_dropped=3)])
    'editions: 2026 (1,200 people), 2027 (0 people, 3 left out)'
    """
    told = (
        f"{one.label} ({counted(one.n_tuples, 'person')}{f', {one.n_dropped:,} left out' if one.n_dropped else ''})"
        for one in editions
    )
    return f"editions: {', '.join(told)}"


def over_editions(guarantee: Guarantee, editions: Sequence[Edition]) -> Guarantee:
    """Combine the guarantees of all editions into one for all of them together (Theorem E1)."""
    if not editions:
        return guarantee
    limits = [
        "it is not hidden that a person was added or left: the edition of each person is published, and so is who left",
        *(
            (
                f"edition {edition.label} was not published: "
                f"its {counted(edition.n_dropped, 'new person', 'new people')} could not be published "
                "under the principle, and nothing is guaranteed for them; an attacker learns that they were too few, "
                "or that too many of them had the same value"
            )
            for edition in editions
            if edition.is_closed
        ),
    ]
    return replace(
        guarantee,
        promise=f"{guarantee.promise}, over all editions together",
        theorem=f"{guarantee.theorem}; all editions together reveal about a person only what the person's own edition "
        "reveals, because the other editions were made without the data of its people (Theorem E1)",
        assumptions=(
            *guarantee.assumptions,
            "for the attacker, the values of people in different editions are independent of each other",
            (
                "who is added and who leaves does not depend on sensitive values. If people with one value leave "
                "more often than people with another, an attacker can learn more about the people who left or "
                "stayed. For example, if people with one value leave twice as often as people with another, then "
                "among those who left the first value is about twice as probable, compared with the other, as the "
                "release says"
            ),
            "each person has only one identifier, which never changes",
        ),
        limits=(*guarantee.limits, *limits),
    )


def check_editions(release: Release) -> None:
    """Refuse a release whose editions do not match its tables, or of whom more people left than there were."""
    refusal = SourceError("this release is damaged or was changed: its editions do not fit its tables")
    if not release.editions:
        if EDITION in release.recipe.quasi[:1] and release.left is not None:
            raise refusal
        return
    people = _people(release)
    labels = [str(edition.label) for edition in release.editions]
    told = {str(row["values"]): row["counts"] for row in people[EDITION].value_counts().to_pylist()}
    stated = {label: e.n_tuples for label, e in zip(labels, release.editions, strict=True) if e.n_tuples}
    if len(set(labels)) < len(labels) or told != stated:
        raise refusal
    number = str(release.layout.number)
    pairs = people.group_by([number]).aggregate([(EDITION, "count_distinct")])
    if pc.max(pairs[f"{EDITION}_count_distinct"]).as_py() != 1:
        raise refusal
    if release.left is not None:
        _check_left(release, people, {label: place for place, label in enumerate(labels)})


def _people(release: Release) -> pa.Table:
    return release.tables[release.layout.people]


def _check_left(release: Release, people: pa.Table, place: Mapping[str, int]) -> None:
    """Everybody who left was there before: as many people with the same cells, and an earlier edition."""
    refusal = SourceError("this release is damaged or was changed: it lists people as having left who were not in it")
    assert release.left is not None
    quasi = list(release.recipe.quasi)
    if release.left.column_names != [*quasi, LEFT] or not release.left.num_rows:
        raise refusal
    rows = zip(release.left[EDITION].to_pylist(), release.left[LEFT].to_pylist(), strict=True)
    if not all(place.get(str(own), len(place)) < place.get(str(gone), -1) for own, gone in rows):
        raise refusal
    there, gone = places_counted(people, quasi), places_counted(release.left, quasi)
    if not all(there.get(cells, 0) >= count for cells, count in gone.items()):
        raise refusal


def places_counted(table: pa.Table, quasi: Sequence[str]) -> dict[tuple[Any, ...], int]:
    """How many rows show each combination of cells."""
    plain = pa.table({name: plain_column(table[name]) for name in quasi})
    found = plain.group_by(list(quasi)).aggregate([([], "count_all")])
    cells = zip(*(found[name].to_pylist() for name in quasi), strict=True)
    return dict(zip(cells, found["count_all"].to_pylist(), strict=True))


def plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without a dictionary."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
