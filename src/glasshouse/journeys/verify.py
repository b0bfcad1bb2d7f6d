# SPDX-License-Identifier: Apache-2.0
"""Verify: count again, by the second implementation, what a release keeps or what any tool's table achieves."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import pyarrow as pa

from glasshouse.cells.sets import members_in
from glasshouse.errors import DomainError, InputError, NotSupported, SourceError
from glasshouse.journeys import recheck
from glasshouse.journeys.load import checked_promise, load
from glasshouse.microdata.cautions import Findings, Written
from glasshouse.microdata.reading.sources import open_source
from glasshouse.recoding.columns import cells_of
from glasshouse.release import Release
from glasshouse.release.astray import pointing, resembles_release
from glasshouse.release.copies.copy_folder import COPIES, checked_beside, compared_copies
from glasshouse.release.package.container.container import holds_release
from glasshouse.release.package.manifest import MANIFEST
from glasshouse.release.package.pair import RELEASE
from glasshouse.release.package.signature import signature_in
from glasshouse.release.package.stream import open_release
from glasshouse.release.package.tables import is_text
from glasshouse.verification import Check, verify_table
from glasshouse.verification.columns import untangled
from glasshouse.verification.verify_table import roles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from glasshouse.microdata import Taxonomy
    from glasshouse.microdata.cautions import Caution
    from glasshouse.microdata.reading.sources import Source
    from glasshouse.release import Guarantee
    from glasshouse.release.package.signature import Signature
    from glasshouse.verification import Verification
    from glasshouse.verification.limit import Read
    from glasshouse.verification.verify_table import Distance, Missing, Number, Thresholds

__all__ = ["FolderCheck", "release_in", "verify", "verify_folder", "verify_release"]

_MOST_LOADED = 1 << 24  # records of a release whose tables are read into memory
_MAY_BE_SAME = frozenset({"look-alikes", "same-numbers"})
"""Findings about different values that may mean the same, so that groups are less diverse than they seem."""
_STREAMED = (
    "the release is large and was not read into memory: it was checked whether every group satisfies what was asked "
    "for, but other measures were not calculated"
)


def verify(
    source: Any,
    *,
    quasi: Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    missing: Missing = "category",
    ordered: Mapping[str, Sequence[Any]] | None = None,
    taxonomies: Mapping[str, Taxonomy | str | Path] | None = None,
    designated: Mapping[str, Sequence[Any]] | None = None,
    distance: Distance | Mapping[str, Distance] | None = None,
    suppressed: Sequence[Any] = ("*",),
    population: int | None = None,
    risk_threshold: Number = Fraction(1, 5),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    table: str | None = None,
    signed_by: str | Path | None = None,
    **asked: Unpack[Thresholds],
) -> Verification:
    """Count again, by an implementation of its own, whether a release keeps its promise, or what a table achieves.

    A release is held to what its recipe asks of every group, and its guarantee to the one that the recipe stands for,
    word for word; its rows must ascend by what they show, so that their order tells nothing else. Whether the recipe
    was followed cannot be seen from the tables. A folder with a table of several
    files, or of more than 16,777,216 records, is read in batches, and only what the recipe asks is counted. Of a
    table, whichever tool made it, everything is counted: k, l-diversity of every kind, t-closeness, re-identification
    risk.

    Parameters
    ----------
    source
        A `Release`; the folder or the zip archive of one, or the folder that `publish` wrote it into; or a table: a
        path or a frame, as for `glasshouse.read`. Everything below is for a table alone.
    quasi
        Quasi-identifiers: rows with equal values in all of them form a group.
    sensitive
        Sensitive column or columns; without any, only group sizes are counted.
    missing
        ``category`` (the default): a missing value equals other missing values and nothing else; ``error`` refuses
        them; ``drop`` leaves their rows out and says how many.
    ordered
        Declared orders of sensitive categories, for the ordered distance; numbers and dates have theirs.
    taxonomies
        Taxonomies of sensitive columns, for the hierarchical distance.
    designated
        By column the values that alone are sensitive, for ``designated_ell``; None stands for missing.
    distance
        The ground distance that ``t`` means; by default hierarchical for a column with a taxonomy, ordered for one with
        an order, else equal. All that apply are reported anyway.
    suppressed
        What stands in a suppressed cell. Such cells equal each other and nothing else; how many there are is reported.
    population
        People in the population of which the table is a sample, for the journalist's risk; see `Risk`.
    risk_threshold
        A record is at risk if it is found with a larger probability than this.
    delimiter, encoding, decimal
        How a CSV file is written; the delimiter and the encoding are detected, and the decimal sign is a point, unless
        they are given.
    table
        The sheet of a workbook, or the table of a database.
    signed_by
        Of the folder of a release: the file of the public key that must have signed it, see `sign`. A release that
        was not signed with it, or was changed since, is a `SourceError`.
    **asked
        What every group should keep: ``k``, ``ell``, ``distinct_ell``, ``entropy_ell``, ``designated_ell``,
        ``recursive=(c, ell)``, ``alpha``, ``t``; numbers, or mappings by sensitive column. `Verification.holds` tells
        whether all do: nothing is accepted by rounding. A float means the decimal number that it prints.

    Returns
    -------
    Verification
        ``verdict`` says in one sentence whether the release keeps its guarantee, or what the table achieves;
        ``holds`` is False if anything does not, and ``checks`` say what.

    Examples
    --------
    >>> import glasshouse as gh
    >>> found = gh.verify(gh.publish(gh.examples.transparent_t1(), principle=gh.LDiversity(2)))
    >>> found.holds, found.ell, found.checks[0].asked
    (True, 2, 'ell = 2')
    >>> table = {"zip": ["476**", "476**", "479**", "479**"], "disease": ["flu", "flu", "flu", "ulcer"]}
    >>> found = gh.verify(table, quasi=["zip"], sensitive="disease", k=2, ell=2)
    >>> found.k, found.ell, found.t, found.holds
    (2, 1, 0.25, False)
    >>> print(found.checks[1].worst[0])
    zip=476** (2 records)
    """
    options: dict[str, Any] = {
        "quasi": quasi,
        "sensitive": sensitive,
        "missing": missing,
        "ordered": ordered,
        "taxonomies": taxonomies,
        "designated": designated,
        "distance": distance,
        "suppressed": suppressed,
        "population": population,
        "risk_threshold": risk_threshold,
        **asked,
    }
    reading: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal, "table": table}
    folder = Path(source) if isinstance(source, str | Path) else None
    if isinstance(source, Release) or (
        folder is not None and (holds_release(folder) or (quasi is None and resembles_release(folder)))
    ):
        usual = verify.__kwdefaults__ or {}
        for name, value in {**options, **reading}.items():
            if value != usual.get(name):
                raise InputError(
                    f"{name} is for a table: a release is checked against its own guarantee, so leave it out"
                )
        if folder is None:
            if signed_by is not None:
                raise InputError(
                    "signed_by is for the folder of a release: a release in memory has no signature, so leave it out"
                )
            return _verified_in_memory(source)
        with pointing(folder, "gh.verify"):
            return verify_folder(folder, signed_by).found
    if signed_by is not None:
        raise InputError("signed_by is for the folder of a release: a table has no signature, so leave it out")
    if quasi is None:
        if folder is not None and "://" not in str(source) and not folder.exists():
            raise InputError(f"{source} does not exist: give the folder of a release, or the file of a table")
        raise InputError(
            "no quasi-identifiers are given: name the columns of the table that others may know, with quasi=[...]"
        )
    names, others = roles(quasi, sensitive)
    opened, mixed = _open(source, [*names, *others], **reading | {"decimal": decimal or "."})
    roles(quasi, sensitive, opened.columns)
    orders = {name: order for name, order in opened.orders.items() if name in others}
    options["ordered"] = {**orders, **(ordered or {})}
    hollow = Findings(opened.written)
    for name in others:
        hollow.look_through(name, "sensitive", opened.table.column(name))
    notices = [*opened.notices, *mixed, *hollow.notices, *(caution.sentence for caution in hollow.cautions)]
    found = verify_table(opened.table, notices=notices, **options)
    return replace(found, alike=_columns_of(caution for caution in hollow.cautions if caution.name in _MAY_BE_SAME))


class FolderCheck(NamedTuple):
    """The verification of a release in a folder, the guarantee that follows from its recipe, and its signature."""

    found: Verification
    guarantee: Guarantee
    signature: Signature | None


def verify_folder(out: Path, signed_by: str | Path | None = None) -> FolderCheck:
    """Check the release in a folder against its guarantee, and its signature, if there is one, against its key.

    If it is the folder that a release was published into, copies in it are compared with the release, and flat tables
    and the archive in it are checked by their checksums.

    A large one is read batch after batch where what it promises can be counted so, and else loaded as any other.

    Parameters
    ----------
    out
        The folder or the archive of the release, or the folder that it was published into.
    signed_by
        The file of the public key that must have signed it.
    """
    folder = release_in(out)
    signature = _checked_signature(folder, signed_by)
    with _as_claimed(folder):
        streamed = _verified_stream(folder)
        if streamed is None:
            release = load(folder)
            streamed = _verified_in_memory(release), release.guarantee
    found, promised = streamed
    assert found.subject is not None, "of a release"
    checks, words = _signature_in_words(signature, folder, signed_by)
    subject = replace(found.subject, place=str(folder), signature=words)
    found = replace(found, checks=(*found.checks, *checks), subject=subject)
    if out != folder:
        copies = compared_copies(load(folder), out) if any((out / name).is_dir() for name in COPIES) else []
        found = replace(found, counting=(*found.counting, *copies, *checked_beside(out)))
    return FolderCheck(found, promised, signature)


def _checked_signature(folder: Path, trusted: str | Path | None) -> Signature | None:
    """The signature of a release, checked if there is a key that must have made it; None if it has none."""
    signature = signature_in(folder)
    if trusted is not None:
        if signature is None:
            raise SourceError(
                f"{folder} has no signature, so nothing shows that the holder of the key in {trusted} published it",
                source=folder,
            )
        signature.check(folder, trusted)
    return signature


def _signature_in_words(
    signature: Signature | None, folder: Path, trusted: str | Path | None
) -> tuple[list[Check], str]:
    """A sentence on a signature; and whether it is a valid one, if no key has decided that before."""
    if signature is None:
        return [], "it is not signed"
    who = f"it was signed by {signature.signer} on {signature.date[:10]}"
    if trusted is not None:
        return [], f"{who} with the key in {trusted}"
    wrong = signature.mismatch(folder)
    check = Check(
        asked="the signature was made for this release with the key that it names",
        column=None,
        n_failing=0 if wrong is None else 1,
        n_tuples=0,
        worst=(),
        wrong=wrong or "",
    )
    return [check], f"{who} with the key {signature.key[:16]}; whether this key belongs to the signer was not checked"


@contextmanager
def _as_claimed(folder: Path) -> Iterator[None]:
    """The verdict for a release that was changed or cannot be read: it is not accepted."""
    try:
        yield
    except SourceError as error:
        told = str(error)
        if not (folder.is_file() or (folder / MANIFEST).exists()) or told.startswith(f"{folder} "):
            raise  # it does not say that it is a release, or the sentence is about the release already
        reason = told.removeprefix(f"{folder}: ")
        raise SourceError(f"{folder} cannot be checked: {reason}", source=error.source) from None


def _verified_stream(folder: Path) -> tuple[Verification, Guarantee] | None:
    """The same as a stream; None if it is small, or cannot be counted so."""
    with open_release(folder) as opened:
        manifest = opened.manifest
        if manifest.n_tuples <= _MOST_LOADED and all(len(table.files) == 1 for table in manifest.tables):
            return None
        try:
            found = recheck.verify_stream(folder)
        except NotSupported:
            return None
        opened.check_cells()
        release = opened.described()
        found = _noting_alike(replace(found, counting=(*found.counting, _STREAMED)), release, opened.batches)
        return found, checked_promise(release, folder)


def _verified_in_memory(release: Release) -> Verification:
    return _noting_alike(recheck.verify_release(release), release, lambda table, _: iter([release.tables[table]]))


def _noting_alike(found: Verification, release: Release, read: Read) -> Verification:
    """The verification of a release, with a note on published sensitive values that may mean the same."""
    texts = Findings(Written(n_columns=0, delimiters=()))
    for name in release.recipe.sensitive:
        cells: set[str] = set()
        for table, rows in release.tables.items():
            if name in rows.column_names and is_text(rows[name].type):
                for batch in read(table, [name]):
                    cells |= cells_of({table: batch}, name)
        single = {one for cell in cells for one in members_in(cell)} if name in release.sets else cells
        values = pa.array(sorted(one for one in single if one is not None), pa.string())
        texts.look(name, "sensitive", values, np.ones(len(values), np.int64))
    alike = [caution for caution in texts.cautions if caution.name in _MAY_BE_SAME]
    notices = [caution.sentence for caution in alike]
    return replace(found, notices=(*found.notices, *notices), alike=_columns_of(alike))


def release_in(folder: Path) -> Path:
    """The folder of a release: this one, or the one in it if `publish` wrote a release and its audit into it."""
    inner = folder / RELEASE
    return inner if inner.is_dir() and not (folder / MANIFEST).exists() else folder


def verify_release(release: Release | str | Path) -> Verification:
    """The old name of `verify` for releases."""
    warnings.warn("gh.verify_release(...) is now gh.verify(...)", DeprecationWarning, stacklevel=2)
    return verify(release)


def _open(source: Any, names: list[str], **reading: Any) -> tuple[Source, list[str]]:
    """Open the source; if a column mixes types, take its values as texts, and say so."""
    notices: list[str] = []
    while True:
        try:
            return open_source(source, columns=names, **reading), notices
        except DomainError as error:
            plainer = None if error.column is None else untangled(source, error.column)
            if plainer is None:
                raise
            notices.append(
                f"{error.column} has numbers and texts: the number 1 and the text '1' count as two different values. "
                "If they mean the same, write all of them as numbers or all as texts, and verify the table again"
            )
            source = plainer


def _columns_of(cautions: Iterable[Caution]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(caution.column for caution in cautions))
