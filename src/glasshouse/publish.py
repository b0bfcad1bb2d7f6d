# SPDX-License-Identifier: Apache-2.0
"""Read this first: the whole journey from a table to a release, one call per room."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse import catalog
from glasshouse.engines import Memory
from glasshouse.errors import DisclosureWarning
from glasshouse.grouping import Hybrid, Mondrian, exact_share, keep_eligible
from glasshouse.grouping.method import is_frequency_diversity
from glasshouse.principles import Requirement
from glasshouse.principles.adversaries import Adversary
from glasshouse.randomness import Source
from glasshouse.recheck import recheck
from glasshouse.recoding import Boxes
from glasshouse.release import Guarantee, PublishedColumn, Recipe, Release
from glasshouse.release.audit import write_audit
from glasshouse.release.storage import new_folder, refuse_existing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.grouping import Method
    from glasshouse.microdata import Groups, Microdata
    from glasshouse.principles import Principle
    from glasshouse.principles.adversaries import Claim
    from glasshouse.verify import Verification

__all__ = ["publish", "publish_to"]


def publish(
    table: Microdata,
    *,
    principle: Principle | Mapping[str, Principle],
    method: Any = None,
    recoding: Any = None,
    suppress: Any = 0,
    source: Source | None = None,
    threads: int = 0,
) -> Release:
    """Divide a table under a principle, rewrite its groups, and check the result from the published tables alone.

    Parameters
    ----------
    table
        Microdata, from `read`.
    principle
        What safe means: a principle for every sensitive column, or a mapping from column to principle.
    method
        How the table is divided. By default `Hybrid` for l-diversity of one sensitive column, else `Mondrian`.
    recoding
        How groups are rewritten; `Boxes` by default.
    suppress
        Largest share of tuples that may be dropped where the table as a whole breaks the principle.
    source
        Where random choices come from: the operating system's secure source unless a test gives a seeded one.
    threads
        How many threads to use; all cores by default. The result does not depend on it.

    Returns
    -------
    Release
        Published tables, recipe and guarantee. Nothing is written until it is saved.

    Examples
    --------
    >>> import glasshouse as gh
    >>> release = gh.publish(gh.examples.transparent_t1(), principle=gh.LDiversity(ell=2))
    >>> release.data.num_rows, release.n_dropped
    (8, 0)
    """
    release, _, _ = _journey(table, principle, method, recoding, suppress, source, threads)
    return release


def publish_to(
    out: str | Path,
    table: Microdata,
    *,
    format: str = "parquet",
    force: bool = False,
    allow_seed: bool = False,
    **choices: Any,
) -> Release:
    """Publish a table into ``out/release``, which may go out, and ``out/audit``, which must stay inside.

    The audit folder keeps the partition, for later recodings of the same table, and what the release achieves; its
    owner alone can read it. Both folders are written, or none.

    Parameters
    ----------
    out
        Folder that gets the two folders.
    table, choices
        As in `publish`.
    format
        ``parquet`` or ``csv``.
    force
        Replace an earlier release and audit.
    allow_seed
        Write a release whose random choices came from a fixed seed.
    """
    out = Path(out)
    for folder in (out / "release", out / "audit"):
        refuse_existing(folder, force=force)  # before the work, not after it
    release, partition, achieved = _journey(table, **choices)
    report = {"notices": list(table.notices), "achieved": achieved.to_dict(), "recipe": release.recipe.to_data()}
    with new_folder(out / "audit", force=force, private=True) as inside:
        write_audit(inside, report, _who_is_where(table, partition))
        release.save(out / "release", format=format, force=force, allow_seed=allow_seed)
    return release


def _journey(
    table: Microdata,
    principle: Principle | Mapping[str, Principle],
    method: Any = None,
    recoding: Any = None,
    suppress: Any = 0,
    source: Source | None = None,
    threads: int = 0,
) -> tuple[Release, Groups, Verification]:
    """The journey itself; also the partition of the whole table, and what the second implementation counted."""
    recoding = Boxes() if recoding is None else recoding
    source = Source.secure() if source is None else source

    # eligible: the table itself must satisfy the principle, perhaps after dropping tuples
    kept = keep_eligible(table, principle, suppress, source)
    published = table if len(kept) == table.n_tuples else table.take(kept)
    requirement = Requirement.of(principle, published)
    requirement.check_eligible()
    method = default_method(requirement) if method is None else method
    claim = method.claim(requirement)
    if claim.adversary is Adversary.LINKING:
        warnings.warn(_attackable(method, requirement), DisclosureWarning, stacklevel=3)

    # divide, recode
    groups = method.divide(published, requirement, source=source, engine=Memory(threads=threads))
    tables = recoding.recode(published, groups)

    # bind: what is promised, and how it was made
    release = Release(
        tables=tables,
        columns=tuple(_published_columns(published, recoding)),
        recipe=_recipe(published, principle, method, recoding, suppress, source),
        guarantee=_guarantee(requirement, claim, table, len(kept)),
        n_tuples=len(kept) - groups.n_dropped,
        n_dropped=table.n_tuples - len(kept) + groups.n_dropped,
        native=table.source_kind,
    )

    # check again, from the published tables alone, by the second implementation
    achieved = recheck(release, requirement)
    return release, groups if published is table else groups.spread(kept, table.n_tuples), achieved


def default_method(requirement: Requirement) -> Method:
    """The method for whoever names none: the safest there is for what is asked.

    Hybrid, which holds against whoever knows it, for l-diversity of one sensitive column; else Mondrian, which divides
    under any principle, and under k-anonymity alone looks at no sensitive value.
    """
    return Hybrid() if is_frequency_diversity(requirement) else Mondrian()


def _attackable(method: Method, requirement: Requirement) -> str:
    remedy = (
        "the method 'hybrid' holds against her too"
        if is_frequency_diversity(requirement)
        else "l-diversity of one sensitive column, by the method 'hybrid', would hold against her too"
    )
    return f"an adversary who knows that the method {method.name!r} was used may learn more than is promised: {remedy}"


def _recipe(
    table: Microdata,
    principle: Principle | Mapping[str, Principle],
    method: Any,
    recoding: Any,
    suppress: Any,
    source: Source,
) -> Recipe:
    return Recipe(
        principle=catalog.principle_to_data(principle, [column.name for column in table.sensitive]),
        method=catalog.to_data(method),
        recoding=catalog.to_data(recoding),
        quasi=tuple(column.name for column in table.quasi),
        sensitive=tuple(column.name for column in table.sensitive),
        suppress=str(exact_share(suppress)),
        seeded=source.is_seeded,
    )


def _guarantee(requirement: Requirement, claim: Claim, whole: Microdata, n_kept: int) -> Guarantee:
    """Put the promise together: the principle's words, the method's claim, and what the table brings."""
    assumptions = ["one row per person"] if whole.identifier is None else []
    limits = list(claim.limits)
    if len(whole.sensitive) > 1:
        limits.append("each sensitive column is protected by itself: nothing is promised of what they reveal together")
    dropped = whole.n_tuples - n_kept
    if dropped:
        limits.append(
            f"{dropped:,} of {whole.n_tuples:,} tuples were dropped, at random among those with the most frequent "
            "sensitive values, and nothing is promised to them: who is known to be in the table and not in the release "
            "has such a value, and who is only known to be in the table may have been dropped"
        )
    return Guarantee(
        promise=requirement.describe(),
        adversary=claim.adversary.value,
        adversary_knows=claim.adversary.knows,
        theorem=claim.theorem,
        assumptions=tuple(assumptions),
        limits=tuple(limits),
    )


def _published_columns(table: Microdata, recoding: Any) -> list[PublishedColumn]:
    columns = [
        PublishedColumn(name=c.name, role="quasi-identifier", kind=c.domain.kind, meaning=recoding.meaning(c.domain))
        for c in table.quasi
    ]
    return columns + [
        PublishedColumn(name=c.name, role="sensitive", kind=c.domain.kind, meaning="exact value; empty if missing")
        for c in table.sensitive
    ]


def _who_is_where(table: Microdata, partition: Groups) -> pa.Table:
    """The partition, for later recodings of the same table: by identifier, or by row of the input."""
    people = (
        {"row": pa.array(np.arange(table.n_tuples))} if table.identifier is None else {"identifier": table.identifier}
    )
    return pa.table({**people, "group": pa.array(partition.labels)})
