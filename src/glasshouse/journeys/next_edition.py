# SPDX-License-Identifier: Apache-2.0
"""The next edition: people who came since the last one are divided alone, and join what was published.

Theorem E1: if an edition divides only people who were never candidates of an earlier one, by a method that holds
against an attacker who knows it, with random choices of its own and parameters fixed in advance, then all editions
together tell about a person what the person's own edition tells. So earlier rows and counts stay as they are, and
what is decided here is decided by identifiers, sizes and labels alone.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from glasshouse import catalog
from glasshouse.errors import DisclosureWarning, Infeasible, InputError, NotSupported, SchemaError
from glasshouse.journeys.edition_tables import as_edition, as_first, edition_of, joined, n_groups_of, with_labels
from glasshouse.journeys.ledger import Ledger
from glasshouse.journeys.load import load, promised_by_recipe
from glasshouse.journeys.republication import PARTITION
from glasshouse.plural import counted
from glasshouse.principles.parameters import exact_share
from glasshouse.release.edition import Edition, check_label, in_words
from glasshouse.release.edition import plain_column as _plain
from glasshouse.release.layout import EDITION, LEFT
from glasshouse.release.package.listing import add_files, private_file
from glasshouse.release.package.pair import AUDIT, RELEASE, check_pair

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from glasshouse.grouping.method import Method
    from glasshouse.journeys.ledger import Comparison
    from glasshouse.microdata import Microdata
    from glasshouse.principles.principle import Principle
    from glasshouse.recoding.recoding import Recoding
    from glasshouse.release import Release

__all__ = ["Past", "closed_instead", "newest", "told_by"]

_ALIKE: Final = "leave this choice out, and it will be the same"
_FOLLOWED: Final = "followed.json"
_TOLD: Final = "edition.json"
_WAIT: Final = (
    "These people must not wait for a later edition, because that would reveal something about their values. Leave "
    "them out for good (leave_out=True, --leave-out); nothing is then guaranteed for them"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Past:
    """What was published so far, and a later version of the table."""

    folder: Path  # the folder of the last edition, with release and audit
    release: Release  # all editions so far; one that had none is the first
    ledger: Ledger
    table: Microdata
    label: int | str  # of the new edition
    found: Comparison

    @classmethod
    def of(cls, after: str | Path, table: Microdata, edition: Any, *, at_least: int, keep_published: bool) -> Past:
        """Read what was published, and compare the table with it; refused if the release cannot be continued."""
        folder = Path(after)
        check_pair(folder)
        release = as_first(load(folder / RELEASE), None)
        ledger = Ledger.read(folder / AUDIT)
        if table.identifier is None:
            raise InputError("an edition needs an identifier, so that people can be recognised: name its column")
        _check_columns(table, release)
        label = len(release.editions) + 1 if edition is None else check_label(edition)
        if str(label) in {str(one.label) for one in release.editions}:
            raise InputError(f"there is an edition {label!r} already: give this one another label")
        found = ledger.compared(table)
        if len(found.arrivals) < at_least:
            raise InputError(
                f"{counted(len(found.arrivals), 'new person was', 'new people were')} added, but an edition must have "
                f"at least {at_least:,}: they are not published yet. Glasshouse looked only at their number and "
                "recorded nothing"
            )
        if found.n_changed and not keep_published:
            before = "published before now"
            changed = counted(found.n_changed, f"person who was {before} has", f"people who were {before} have")
            raise InputError(
                f"{changed} other sensitive values. Publishing "
                "both values would reveal who changed, and more, so an edition cannot correct values. To continue "
                "with the published values, keep them (keep_published=True)"
            )
        return cls(folder=folder, release=release, ledger=ledger, table=table, label=label, found=found)

    @property
    def number(self) -> int:
        """The number of the new edition, counted from 1."""
        return len(self.release.editions) + 1

    @property
    def audit(self) -> Path:
        """The audit of what was published so far."""
        return self.folder / AUDIT

    @property
    def n_groups(self) -> int:
        """How many groups there are so far."""
        return n_groups_of(self.release)

    @property
    def arrivals(self) -> Microdata:
        """The people who came, as a table of their own: what is published does not depend on other people's values."""
        return self.table.take(self.found.arrivals)

    def notices(self, edition: Edition) -> list[str]:
        """What was done with the new people, in this edition, and with people who were known, in sentences."""
        found, stay = self.found, "the published values were not changed"
        told = [
            (edition.n_tuples, "new person was", "new people were", "published"),
            (edition.n_dropped, "new person was", "new people were", "left out of this edition, and will stay out"),
            (
                len(found.leavers),
                "person who was published before is",
                "people who were published before are",
                "not in this table: they are listed as having left",
            ),
            (found.n_changed, "person now has", "people now have", f"other sensitive values: {stay}"),
            (found.n_moved, "person now has", "people now have", f"other quasi-identifiers: {stay}"),
            (
                found.n_returned,
                "person who had left is",
                "people who had left are",
                "in the table again: they stay listed as having left",
            ),
            (found.n_left_out, "person was", "people were", "left out of an earlier edition, and will stay out"),
        ]
        return [f"{counted(n, one, many)} {what}" for n, one, many, what in told if n]

    def made_alike(
        self, principle: Any, method: Method | None, recoding: Recoding | None, suppress: Any
    ) -> tuple[Principle | Mapping[str, Principle], Method, Recoding, Any]:
        """Principle, method, recoding and suppression of the first edition; refused if others are asked for."""
        recipe = self.release.recipe
        given = {
            "principle": None if principle is None else catalog.principle_to_data(principle, recipe.sensitive),
            "method": None if method is None else catalog.to_data(method),
            "recoding": None if recoding is None else catalog.to_data(recoding),
        }
        for name, data in given.items():
            first = getattr(recipe, name)
            if data is not None and any(first.get(key) != value for key, value in data.items() if value is not None):
                raise NotSupported(f"every edition must have the same {name} as the first", instead=_ALIKE)
        if suppress is not None and exact_share(suppress) != exact_share(recipe.suppress):
            what = "every edition must allow the same share of records to be left out (--suppress) as the first"
            raise NotSupported(what, instead=_ALIKE)
        return (
            catalog.principle_of(recipe),
            catalog.method_of(recipe),
            catalog.recoding_of(recipe),
            recipe.suppress,
        )

    def followed_by(self, own: Release | None) -> Release:
        """All editions, with a new one; None for one without people, or whose people are left out for good."""
        n_came = len(self.found.arrivals)
        edition = (
            Edition(label=self.label, n_tuples=0, n_dropped=n_came) if own is None else as_edition(own, self.label)
        )
        whole = self.release if own is None else joined(self.release, own, self.label, self.table)
        editions = (*self.release.editions, edition)
        whole = replace(
            whole,
            editions=editions,
            left=self._left(editions),
            n_tuples=sum(one.n_tuples for one in editions),
            n_dropped=sum(one.n_dropped for one in editions),
            n_suppressed=sum(one.n_suppressed for one in editions),
        )
        whole = with_labels(whole)
        return replace(whole, guarantee=promised_by_recipe(whole))

    def ledger_with(self, own: Ledger | None) -> Ledger:
        """The ledger of all editions."""
        if own is None and len(self.found.arrivals):
            own = Ledger.left_out(self.ledger.key, self.arrivals, self.number, self.ledger)
        return self.ledger.followed_by(own, self.found.leavers, self.number)

    def partition_with(self, own: pa.Table) -> pa.Table:
        """The group of everybody in all editions."""
        earlier = pq.read_table(self.audit / PARTITION)
        kind = earlier.schema.field("identifier").type
        own = own.set_column(0, "identifier", own["identifier"].cast(kind))
        return pa.concat_tables([earlier.cast(own.schema), own]).combine_chunks()

    def tell(self, inside: Path, edition: Edition) -> None:
        """Record in the new audit what was done with all people; warn about values that have changed."""
        told = {"edition": self.label, "notices": self.notices(edition)}
        private_file(inside / _TOLD).write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        if self.found.n_changed or self.found.n_moved:
            changed = self.found.n_changed + self.found.n_moved
            warnings.warn(
                f"{counted(changed, 'person now has', 'people now have')} other values than the published "
                "ones, which stay as they are: answers "
                "describe people as they were when they came",
                DisclosureWarning,
                stacklevel=3,
            )

    def refuse_again(self, out: Any, *, force: bool) -> None:
        """Refuse to follow an edition a second time, which would divide the same people twice."""
        if Path(out).resolve() == self.folder.resolve():
            raise InputError(
                f"{out} is the folder of the earlier edition, which must stay as it is: choose another folder for out"
            )
        if (self.audit / _FOLLOWED).exists() and not force:
            raise InputError(
                f"{self.folder} already has a next edition. An attacker could combine two different next editions of "
                "the same people: continue from that edition. If nobody has received it, replace it with force"
            )

    def mark_followed(self, out: Path) -> None:
        """Record in the audit that the edition was continued."""
        told = {"edition": self.label, "folder": out.name}
        add_files(self.audit, {_FOLLOWED: json.dumps(told, indent=2, ensure_ascii=False) + "\n"})

    def _left(self, editions: Sequence[Edition]) -> pa.Table | None:
        """Everybody who left so far; None if nobody did."""
        cells, came = self.ledger.cells_of(self.found.leavers)
        labels = pa.array([str(edition.label) for edition in editions])
        gone = pa.array([str(self.label)] * len(came), pa.string())
        new = pa.table({EDITION: labels.take(came), **cells, LEFT: gone})
        if self.release.left is not None:
            old = self.release.left
            texts = {name: _plain(old[name]).cast(pa.string()) for name in (EDITION, LEFT)}
            old = pa.table({name: texts.get(name, _plain(old[name])) for name in new.column_names})
            new = pa.concat_tables([old, new], promote_options="permissive")
        return new if new.num_rows else None


def told_by(audit: Path) -> tuple[str, ...]:
    """What was done with people who were known when an edition was made, in sentences; none of a first edition."""
    try:
        return tuple(map(str, json.loads((audit / _TOLD).read_text(encoding="utf-8"))["notices"]))
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def newest(release: Release, audit: Path, table: Microdata) -> tuple[Release | None, Microdata]:
    """The newest edition by itself, and its candidates among the people of the table that it was made of.

    None in place of the release if nobody was published in it.
    """
    edition = release.editions[-1]
    rows = np.flatnonzero(Ledger.read(audit).are_of(table, len(release.editions)))
    told = (
        f"this is about edition {edition.label} alone: an attacker who has all editions learns no more about its "
        f"people than from this one (Theorem E1); {in_words(release.editions)}"
    )
    people = replace(table.take(rows), notices=(told, *told_by(audit), *table.notices))
    return (edition_of(release, edition.label) if edition.n_tuples else None), people


def closed_instead(error: Infeasible) -> Infeasible:
    """The error for arrivals that cannot satisfy the principle; every edition has the same one, so no other helps."""
    return Infeasible(
        f"the people who were added since the last edition cannot be published: {error.reason}. {_WAIT}",
        principle=error.principle,
        column=error.column,
        count=error.count,
        of=error.of,
    )


def _check_columns(table: Microdata, release: Release) -> None:
    """Refuse a table with other columns, or one that was read in a way that depends on everybody in it."""
    recipe = release.recipe
    for role, own, first in (
        ("quasi-identifiers", table.quasi, recipe.quasi[1:]),
        ("sensitive columns", table.sensitive, recipe.sensitive),
    ):
        names = tuple(column.name for column in own)
        if names != first:
            raise SchemaError(
                f"the first edition has the {role} {', '.join(first)}, but this table "
                f"has {', '.join(names) or 'none'}: all editions must have the same columns, in the same order"
            )
    for column in (*table.quasi, *table.sensitive):
        domain = column.domain
        if domain.normalised or (domain.tree is not None and domain.tree.looks_at_table):
            what = "the most frequent spelling" if domain.normalised else "quantiles"
            raise NotSupported(
                (
                    f"an edition cannot have column {column.name!r} as it is read, because {what} of the whole "
                    "table, including people who are not in this edition, would affect what is published"
                ),
                instead="spell the values in the same way in the file, and give intervals instead of quantiles",
            )
