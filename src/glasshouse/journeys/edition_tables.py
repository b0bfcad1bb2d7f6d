# SPDX-License-Identifier: Apache-2.0
"""The tables of editions: laid end to end they are one release, and each can be taken out again.

Earlier rows and counts come first and stay as they are. New groups have the numbers that follow.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse import catalog
from glasshouse.errors import InputError, NotSupported, SchemaError
from glasshouse.journeys.load import promised_by_recipe
from glasshouse.microdata.domains import code
from glasshouse.principles.principle import Adversary, Requirement
from glasshouse.recoding.columns import axis_of
from glasshouse.release.edition import Edition, check_label, edition_columns, labels_as_column, place_in
from glasshouse.release.edition import plain_column as _plain
from glasshouse.release.layout import EDITION, LEFT
from glasshouse.release.release import given_release

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.microdata import Domain, Microdata
    from glasshouse.release import Recipe, Release
    from glasshouse.release.release import PublishedColumn

__all__ = ["as_edition", "as_first", "edition_of", "joined", "n_groups_of", "with_labels"]


def as_first(release: Release, edition: Any) -> Release:
    """A release as the first edition of a table; a release with editions is returned unchanged.

    Examples
    --------
    >>> import glasshouse as gh
    >>> table = gh.synthetic.hospital(200, seed=1)
    >>> first = as_first(gh.publish(table, principle="3-diversity", recoding="anatomy"), 2026)
    >>> first.recipe.quasi[0], first.editions
    ('edition', (Edition(label=2026, n_tuples=200, n_dropped=0, n_suppressed=0),))
    """
    if release.editions:
        return release
    _refuse_unfit(release.recipe, release.guarantee.adversary)
    if release.weight is not None:
        raise NotSupported(
            f"a table with the survey weight {release.weight.name!r} cannot have editions, because the classes of "
            "the weight depend on everybody in the table",
            instead="leave the weight out, or publish each survey separately, if nobody is in two of them",
        )
    label = 1 if edition is None else check_label(edition)
    own = _repeated(label, _people(release).num_rows)
    tables = {
        name: table.add_column(0, EDITION, own) if name == release.layout.people else table
        for name, table in release.tables.items()
    }
    found = replace(
        release,
        tables=tables,
        editions=(as_edition(release, label),),
        recipe=replace(release.recipe, quasi=(EDITION, *release.recipe.quasi)),
    )
    found = with_labels(found)
    return replace(found, guarantee=promised_by_recipe(found))


def edition_of(release: Release, edition: Any) -> Release:
    """One edition of a release by itself: what was published of its people, groups numbered from 1.

    By Theorem E1 nothing is learned of them from the other editions.

    Examples
    --------
    >>> import glasshouse as gh
    >>> table = gh.synthetic.hospital(200, seed=1)
    >>> release = gh.publish(table, principle="3-diversity", recoding="anatomy", edition=2026)
    >>> edition_of(release, 2026).recipe.quasi == tuple(column.name for column in table.quasi)
    True
    """
    release = given_release(release)
    own = release.editions[place_in(release.editions, edition)]
    if not own.n_tuples:
        raise InputError(f"nobody was published in edition {own.label!r}: choose another edition")
    people, number = _people(release), str(release.layout.number)
    mine = people.filter(pc.equal(_plain(people[EDITION]).cast(pa.string()), str(own.label)))
    numbers = pc.unique(mine[number]).sort()
    least = int(numbers[0].as_py()) - 1
    tables = {}
    for name, table in release.tables.items():
        some = mine if name == release.layout.people else table.filter(pc.is_in(table[number], value_set=numbers))
        shifted = pc.subtract(some[number], pa.scalar(least, some[number].type))
        some = some.set_column(some.column_names.index(number), number, shifted)
        tables[name] = some.drop_columns([EDITION]) if EDITION in some.column_names else some
    alone = replace(
        release,
        tables=tables,
        columns=tuple(column for column in release.columns if column.name not in (EDITION, LEFT)),
        recipe=replace(release.recipe, quasi=release.recipe.quasi[1:]),
        n_tuples=own.n_tuples,
        n_dropped=own.n_dropped,
        n_suppressed=own.n_suppressed,
        editions=(),
        left=None,
        borders={},
    )
    return replace(alone, guarantee=promised_by_recipe(alone))


def joined(old: Release, new: Release, label: int | str, table: Microdata) -> Release:
    """The tables of earlier editions followed by those of a new one, whose groups get the next numbers.

    ``table`` is the one that the new edition was made of; labels become those of all editions by `with_labels`.
    """
    number = str(old.layout.number)
    n_groups = n_groups_of(old)
    tables, borders = {}, {}
    for name, earlier in old.tables.items():
        added = new.tables[name]
        shifted = pc.add(added[number], pa.scalar(n_groups, added[number].type))
        added = added.set_column(added.column_names.index(number), number, shifted)
        if name == old.layout.people:
            earlier = earlier.set_column(0, EDITION, _plain(earlier[EDITION]).cast(pa.string()))
            added = added.add_column(0, EDITION, _repeated(label, added.num_rows))
        tables[name] = _end_to_end(earlier, added)
        if old.borders.get(name) or new.borders.get(name):
            later = [earlier.num_rows + row for row in (0, *new.borders.get(name, ()))]
            borders[name] = [*old.borders.get(name, ()), *later]
    return replace(
        old,
        tables=tables,
        columns=_columns(old, new, table),
        recipe=replace(old.recipe, seeded=old.recipe.seeded or new.recipe.seeded),
        borders=borders,
        native=new.native,
        spent=new.spent,
        other_writer="",
    )


def _end_to_end(one: pa.Table, other: pa.Table) -> pa.Table:
    """Two tables as one, texts in one dictionary of those that occur."""
    found = {}
    for name in one.column_names:
        parts = [_plain(table[name]) for table in (one, other)]
        kind = parts[1].type if parts[0].type == pa.null() else parts[0].type
        whole = pa.chunked_array([chunk for part in parts for chunk in part.cast(kind).chunks], kind)
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        found[name] = whole.combine_chunks().dictionary_encode() if text else whole.combine_chunks()
    return pa.table(found)


def with_labels(release: Release) -> Release:
    """The release with numeric labels, if all labels are numbers, or else texts; and their columns' descriptions."""

    def labelled(table: pa.Table) -> pa.Table:
        for name in (EDITION, LEFT):
            if name in table.column_names:
                own = labels_as_column(release.editions, table[name])
                table = table.set_column(table.column_names.index(name), name, own)
        return table

    left = None if release.left is None else _sorted(labelled(release.left), release)
    told, gone = edition_columns(release.editions, left=left is not None)
    others = [column for column in release.columns if column.name not in (EDITION, LEFT)]
    return replace(
        release,
        tables={name: labelled(table) for name, table in release.tables.items()},
        left=left,
        columns=(told, *others, *([] if gone is None else [gone])),
    )


def _sorted(left: pa.Table, release: Release) -> pa.Table:
    """The people who left, sorted by their published values."""
    names = [*release.recipe.quasi, LEFT]
    plain = pa.table({name: _plain(left[name]) for name in names})
    return plain.take(pc.sort_indices(plain, [(name, "ascending") for name in names]))


def _columns(old: Release, new: Release, table: Microdata) -> tuple[PublishedColumn, ...]:
    """The descriptions of the columns of both releases; refused if they differ."""
    later = {column.name: column for column in new.columns}
    axes = {column.name: column.domain for column in table.sensitive}
    return tuple(
        replace(_column(column, later[column.name]), axis=_axis(column, later[column.name], axes.get(column.name)))
        for column in old.columns
        if column.name not in (EDITION, LEFT)
    )


def _column(old: PublishedColumn, new: PublishedColumn) -> PublishedColumn:
    if old.kind != new.kind:
        raise SchemaError(
            f"column {old.name!r} now has values of the kind {new.kind}, but had {old.kind} in the first edition: "
            "read it in the same way as for the first edition",
            column=old.name,
        )
    if old.declared != new.declared or old.limits != new.limits or (old.axis is None) != (new.axis is None):
        raise SchemaError(
            (
                f"column {old.name!r} was published with another taxonomy, order or limit: declare the same as for the "
                "first edition; if published cells are nodes of a taxonomy, the release must contain the whole "
                "taxonomy (carry='declared')"
            ),
            column=old.name,
        )
    longer = max(old.meaning, new.meaning, key=len)  # one of them may tell that values can be missing
    return replace(old, meaning=longer)


def _axis(old: PublishedColumn, new: PublishedColumn, domain: Domain | None) -> Mapping[str, Any] | None:
    """The declared order, or the tree, over the sensitive values of both."""
    if domain is None or old.axis is None or new.axis is None or old.axis == new.axis:
        return old.axis
    before, after = list(old.axis["order"]), list(new.axis["order"])
    texts = pa.array(sorted({*before, *after}))
    found = axis_of(code(texts, name=old.name, order=domain.order, taxonomy=domain.tree))
    if found is None or [text for text in found["order"] if text in before] != before:
        raise SchemaError(
            f"the values of {old.name!r} have another order than in the first edition: declare the same order",
            column=old.name,
        )
    return found


def _refuse_unfit(recipe: Recipe, adversary: str) -> None:
    """Refuse editions for releases that are not published in a form that Theorem E1 covers."""
    recoding = catalog.recoding_of(recipe)
    if recoding.layout.number is None or recipe.recoding.get("marginals"):
        raise NotSupported(
            "editions need the people in one table and the sensitive values in others, and the recoding "
            f"{recoding.name!r}{' with marginals' if recoding.layout.number else ''} does not publish them in this way",
            instead="use the recoding 'anatomy' or 'permutation', or 'angel' without marginals",
        )
    if adversary != Adversary.ALGORITHM_AWARE.value:
        raise NotSupported(
            "editions cannot be made by a method that guarantees nothing against an attacker who knows it",
            instead="do not choose a method: the default one protects against such an attacker",
        )
    requirement = Requirement.in_words(catalog.principle_of(recipe), recipe.sensitive)
    if any("t" in (one.terms.asked or {}) for part in requirement.parts for one in part.principle.singles()):
        raise NotSupported(
            "editions cannot guarantee t-closeness, which compares groups with the whole table, while each edition "
            "is a table of its own",
            instead="ask for l-diversity",
        )
    for name in (EDITION, LEFT):
        if name in (*recipe.quasi, *recipe.sensitive):
            raise SchemaError(
                f"editions add a column {name!r}, but the table already has a column of that name: rename the column "
                "of the table",
                column=name,
            )


def as_edition(release: Release, label: int | str) -> Edition:
    """A release as an edition with this label."""
    counts = {name: getattr(release, name) for name in ("n_tuples", "n_dropped", "n_suppressed")}
    return Edition(label=label, **counts)


def _people(release: Release) -> pa.Table:
    return release.tables[release.layout.people]


def _repeated(label: int | str, n: int) -> pa.Array:
    return pa.array([str(label)], pa.string()).take(pa.array(np.zeros(n, np.int32)))


def n_groups_of(release: Release) -> int:
    """How many groups a release has; they are numbered from 1."""
    return int(pc.max(_people(release)[str(release.layout.number)]).as_py())
