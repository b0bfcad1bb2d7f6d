# SPDX-License-Identifier: Apache-2.0
"""Recheck: whether a release keeps its guarantee, counted by the second implementation from the tables alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse import catalog
from glasshouse.cells.sets import members_in
from glasshouse.declarations import tree_of_axis
from glasshouse.errors import GlasshouseError, GuaranteeBroken, NotSupported, SourceError
from glasshouse.journeys.edition_checks import edition_checks
from glasshouse.journeys.load import check_declared, checked_promise, load, promised_by_recipe
from glasshouse.microdata import Column, read
from glasshouse.microdata.domains import text_of
from glasshouse.microdata.set_members import as_sets
from glasshouse.plural import counted
from glasshouse.principles.principle import Requirement
from glasshouse.recoding.columns import cells_of
from glasshouse.release.edition import in_words
from glasshouse.release.layout import COUNT, FOREIGN, layout_of
from glasshouse.release.package.stream import MOST_BYTES, open_release
from glasshouse.release.package.tables import is_text
from glasshouse.verification import Check, Verification, verify_table
from glasshouse.verification.beliefs import growth_stays_within, worst_belief
from glasshouse.verification.limit import BY_SIZES, Question, count_values
from glasshouse.verification.part_count import count_part, joined_count, order_checks, questions_of
from glasshouse.verification.sensitive import Scale
from glasshouse.verification.stream_count import count_sample, count_stream, not_counted
from glasshouse.verification.verdict import Subject
from glasshouse.verification.verify_table import Thresholds, joined_counting, thresholds, views_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from glasshouse.microdata import Microdata
    from glasshouse.microdata.set_members import Members
    from glasshouse.principles.background_sensitive import BackgroundSensitive
    from glasshouse.principles.principle import Part, Principle
    from glasshouse.recoding.perturbed import Perturbed
    from glasshouse.release import Guarantee, Release
    from glasshouse.release.package.stream import ReleaseStream
    from glasshouse.verification.limit import Read, ValueCounts
    from glasshouse.verification.part_count import PartCount, PartQuestion
    from glasshouse.verification.stream_count import StreamCount

__all__ = ["recheck", "verify_parts", "verify_release", "verify_stream"]

_PARTS = {
    "promise": "the promise",
    "adversary": "the attacker",
    "adversary_knows": "what the attacker knows",
    "theorem": "the theorem",
    "assumptions": "the list of assumptions",
    "limits": "the list of what is not guaranteed",
}
"""The parts of a guarantee, and how they are called."""

_NO_SAMPLE = (
    "the release guarantees something that only a perturbed sample can guarantee, but it is not a perturbed sample"
)
_MOST_COUNTED = 1 << 31  # records of which every product of two counts fits into 64 bits


def recheck(release: Release, requirement: Requirement) -> Verification:
    """Recount the published tables; raise `GuaranteeBroken` unless every group satisfies the requirement.

    Where sensitive values are published apart from generalized quasi-identifiers, as ANGEL does, k is counted in the
    generalized tables, and everything else in the table of sensitive values.
    """
    if _is_sample(release):
        return _recount_sample(release, requirement.anonymity)
    found = _recount(release, requirement, requirement.sets, brief=True)
    broken = [check for check in found.checks if not check.holds]
    if broken:
        raise GuaranteeBroken(f"the published tables do not satisfy {broken[0].asked}", group=broken)
    return found


def verify_release(release: Release | str | Path) -> Verification:
    """Check a release, or the folder of one, against its guarantee; see `glasshouse.verify`.

    The words of a release that another version wrote cannot be compared. What is counted is then what its recipe asks,
    and its guarantee is the one that this version makes of the recipe.
    """
    release = load(release) if isinstance(release, str | Path) else release
    try:
        return _verify(release)
    except GlasshouseError:
        raise
    except (ArithmeticError, AssertionError, AttributeError, LookupError, StopIteration, TypeError, ValueError):
        raise SourceError("the release has a recipe that this version of Glasshouse cannot read") from None


def verify_stream(
    folder: str | Path, *, most_bytes: int = MOST_BYTES, progress: Callable[[int], None] = lambda _: None
) -> Verification:
    """Check a release in a folder of any size against its guarantee: its tables are read in batches.

    Counted are what the recipe asks of every group, whether the tables tell the same groups, and whether their rows
    ascend by what they show. The checks are those of `verify` for a release in memory, in the same words. What the
    columns achieve beyond that is not counted.

    Where it must be known how often each value occurs, as for t-closeness, sensitive columns are read twice; and so are
    columns with a taxonomy or an order that the release carries, which their cells must fit.

    Parameters
    ----------
    folder
        The folder of the release.
    most_bytes
        Memory that one of its files may take.
    progress
        Is told how many rows were counted so far, of all tables.
    """

    def count(opened: ReleaseStream, release: Release) -> tuple[Verification, int]:
        if _is_sample(release):
            return _stream_of_sample(release, opened.batches, progress)
        return _stream_of_groups(release, opened.batches, partial(count_stream, opened.batches, progress=progress))

    return _verified(folder, most_bytes, count)


def verify_parts(
    folder: str | Path, run: Callable[[Callable[[Any], Any], list[Any]], list[Any]], *, most_bytes: int = MOST_BYTES
) -> Verification:
    """The verdict of `verify_stream`, with every file counted separately, where ``run`` decides.

    If something is not as it should be, a stream over all files says what. A stream also counts what no file can be
    asked by itself: samples, and principles for which it must be known how often each value occurs.

    Parameters
    ----------
    folder
        The folder of the release, by a path that is the same everywhere.
    run
        Is called with a function and a list, and gives what the function gives for every item of the list.
    most_bytes
        Memory that one of its files may take.
    """
    key = os.urandom(16)  # numbers stand for random bits that nobody can foresee

    def count(opened: ReleaseStream, tables: Mapping[str, Sequence[str]], asked: dict[str, Any]) -> StreamCount:
        questions = questions_of(tables, **asked)
        paths = {table.name: table.files for table in opened.manifest.tables}
        files = [
            _FileToCount(str(Path(folder).absolute()), path, question, key, most_bytes)
            for question in questions
            for path in paths[question.table]
        ]
        found = iter(run(_counted_file, files))
        parts = [[next(found) for _ in paths[question.table]] for question in questions]
        if any(part is None for own in parts for part in own):
            raise GuaranteeBroken("a file of the release does not have the expected form")
        return joined_count(questions, parts, key)

    def by_files(opened: ReleaseStream, release: Release) -> tuple[Verification, int]:
        if _is_sample(release) or release.sets or _asks_of_values(release):
            raise GuaranteeBroken("the check needs information that is not in the file itself")
        return _stream_of_groups(
            release, opened.batches, lambda tables, *, counts, **asked: count(opened, tables, asked)
        )

    try:
        found = _verified(folder, most_bytes, by_files, tell=False)
    except GuaranteeBroken:
        return verify_stream(folder, most_bytes=most_bytes)
    return found if found.holds else verify_stream(folder, most_bytes=most_bytes)


@dataclass(frozen=True)
class _FileToCount:
    """A file of a release, and what is counted of it."""

    folder: str
    path: str
    question: PartQuestion
    key: bytes
    most_bytes: int


def _counted_file(file: _FileToCount) -> PartCount | None:
    """Count a file; None if something is wrong, which is then reported elsewhere."""
    try:
        with open_release(file.folder, most_bytes=file.most_bytes) as opened:
            batches = opened.batches(file.question.table, file.question.columns, file.path)
            return count_part(batches, file.question, file.key)
    except (GuaranteeBroken, SourceError):
        return None


def _verified(
    folder: str | Path,
    most_bytes: int,
    count: Callable[[ReleaseStream, Release], tuple[Verification, int]],
    *,
    tell: bool = True,
) -> Verification:
    """Check a release against its guarantee, by a count of its tables; ``tell`` reports tables that do not match."""
    with open_release(folder, most_bytes=most_bytes) as opened:
        release = opened.described()
        if layout_of(release.recipe) is FOREIGN:
            raise _foreign()
        promised = checked_promise(release, folder)
        check_declared(release, folder, partial(_cells_of_stream, release, opened.batches))
        try:
            found, n_tuples = count(opened, release)
            of_editions = edition_checks(opened.with_people(release))
        except GuaranteeBroken as error:
            if not tell:
                raise
            reason = str(error).partition("; nothing was published")[0]
            broken = not_counted(release.n_tuples, release.recipe.quasi, _said(reason, holds=False, wrong=reason))
            return replace(broken, subject=_subject(release))
        except GlasshouseError:
            raise
        except (ArithmeticError, AssertionError, AttributeError, LookupError, StopIteration, TypeError, ValueError):
            raise SourceError("the release has a recipe that this version of Glasshouse cannot read") from None
    said = [
        _same_number(release, n_tuples),
        *of_editions,
        *_compared(promised if release.other_writer else release.guarantee, promised),
    ]
    counting = (*found.counting, *_about_words(release))
    return replace(found, checks=(*found.checks, *said), counting=counting, subject=_subject(release))


def _cells_of_stream(release: Release, read: Read, name: str) -> set[str]:
    """The different cells of a column in all tables."""
    found: set[str] = set()
    for table, empty in release.tables.items():
        if name in empty.column_names:
            for batch in read(table, [name]):
                found |= cells_of({table: batch}, name)
    return found


def _stream_of_groups(release: Release, read: Read, count: Callable[..., StreamCount]) -> tuple[Verification, int]:
    """Count the groups of a release by ``count``, a form of `count_stream`, and its records."""
    recipe = release.recipe
    if release.sets:
        raise NotSupported(
            "columns of sets cannot be counted in batches",
            instead="load the release into memory (gh.load), and verify that",
        )
    tables = {name: table.column_names for name, table in release.tables.items()}
    requirement = Requirement.in_words(catalog.principle_of(recipe), recipe.sensitive, release.sets)
    counts: dict[str, ValueCounts] = {}
    if _asks_of_values(release):
        if release.n_tuples >= _MOST_COUNTED:
            raise NotSupported(
                "it cannot be counted how often each value occurs in a release of 2^31 records or more",
                instead="use k-anonymity, or l-diversity by frequency or by different values, which can be counted in "
                "a release of any size",
            )
        counts = count_values(read, tables, recipe.sensitive, COUNT)
        requirement = Requirement.in_groups(catalog.principle_of(recipe), _values_of_stream(release, counts))
    shown = {name: own.values.to_pylist() + [None] * bool(own.counts[0]) for name, own in counts.items()}
    questions = _questions(requirement, shown.__getitem__)

    def asked(sensitive: Sequence[str]) -> list[Question]:
        own = [_for_columns(question, tuple(sensitive)) for question in questions]
        return [_question_of_stream(question, sensitive, counts) for question in _together(own or [{}])]

    found = count(
        tables,
        quasi=recipe.quasi,
        sensitive=recipe.sensitive,
        asked=asked,
        counts=counts,
        cells_k=recipe.recoding.get("k"),
        natural=_in_natural_order(release),
    ).verification
    return found.exposed() if layout_of(release.recipe).exact else found, found.n_tuples


def _asks_of_values(release: Release) -> bool:
    """Whether it must be known how often each value occurs, in groups and in all."""
    requirement = Requirement.in_words(catalog.principle_of(release.recipe), release.recipe.sensitive, release.sets)
    return any(word not in BY_SIZES for question in _questions(requirement) for word in question)


def _stream_of_sample(release: Release, read: Read, progress: Callable[[int], None]) -> tuple[Verification, int]:
    """Count a perturbed sample as a stream, and the people whom it represents."""
    ((name, table),) = release.tables.items()
    cells = [column for column in table.column_names if column in release.recipe.quasi]
    counts = count_values(read, {name: table.column_names}, release.recipe.sensitive, COUNT)
    values = _values_of_stream(release, counts)
    requirement = Requirement.in_groups(catalog.principle_of(release.recipe), values)
    size = release.layout.size
    assert size is not None
    found = count_sample(read, name, quasi=cells, size=size, progress=progress)
    groups = found.verification
    _check_sample(release, requirement.anonymity, groups, smallest_group=found.smallest_group, n_people=found.n_people)
    kept = _check_beliefs(cast("Perturbed", catalog.recoding_of(release.recipe)), requirement, values)
    return replace(groups, checks=(*kept, *groups.checks)), found.n_people


def _question_of_stream(
    question: dict[str, Any], sensitive: Sequence[str], counts: Mapping[str, ValueCounts]
) -> Question:
    """The limits of a question by column, and the values of columns of which more than sizes must be known."""
    words = Thresholds.__annotations__
    limits = thresholds(cast("Thresholds", {w: what for w, what in question.items() if w in words}), list(sensitive))
    told = {word: question.get(word) or {} for word in ("ordered", "taxonomies", "designated", "distance")}
    scales = {
        name: Scale(
            counts[name].coded(name),
            kind=counts[name].values.type,
            order=told["ordered"].get(name),
            taxonomy=told["taxonomies"].get(name),
            designated=told["designated"].get(name),
            distance=told["distance"].get(name),
        )
        for name in sensitive
        if name in counts
    }
    return Question(limits=limits, scales=scales)


def _values_of_stream(release: Release, counts: Mapping[str, ValueCounts]) -> Microdata:
    """Like `_values_of`, for counted values: each value that occurs, in columns of one length."""
    found = []
    for name, own in counts.items():
        kind = next(table.schema.field(name).type for table in release.tables.values() if name in table.column_names)
        values = _as_times(own.values) if pa.types.is_timestamp(kind) and is_text(own.values.type) else own.values
        missing = pa.nulls(int(bool(own.counts[0])), values.type)
        found.append(_as_values(release, {name: pa.chunked_array([values, missing])}))
    n_rows = max(table.n_tuples for table in found)
    columns = (column for table in found for column in table.sensitive)
    same_length = tuple(Column(column.domain, np.resize(column.codes, n_rows)) for column in columns)
    return replace(found[0], sensitive=same_length, n_tuples=n_rows)


def _as_times(texts: pa.Array) -> pa.Array:
    """Convert timestamps that a CSV file gave as texts."""
    try:
        return texts.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return texts.cast(pa.timestamp("us", "UTC"))


def _in_natural_order(release: Release) -> list[str]:
    """Columns whose values are exact and have their natural order; no order was declared."""
    exact = ("quasi-identifier", "sensitive") if layout_of(release.recipe).exact else ("sensitive",)
    return [c.name for c in release.columns if c.role in exact and c.declared is None and c.axis is None]


def _verify(release: Release) -> Verification:
    if layout_of(release.recipe) is FOREIGN:
        raise _foreign()
    promised = promised_by_recipe(release)
    people = [table for table in release.tables.values() if set(table.column_names) & set(release.recipe.quasi)]
    own = [name for name in release.recipe.quasi if name in people[0].column_names]
    try:
        values = _values_of(release)
        requirement = Requirement.in_groups(catalog.principle_of(release.recipe), values)
        if requirement.target is None:
            found, kept = _recount(release, requirement, release.sets, brief=False), []
        else:
            if not _is_sample(release):
                raise SourceError(_NO_SAMPLE)
            found = _recount_sample(release, requirement.anonymity)
            recoding = cast("Perturbed", catalog.recoding_of(release.recipe))  # of which samples are
            kept = _check_beliefs(recoding, requirement, values)
    except GuaranteeBroken as error:
        reason = str(error).partition("; nothing was published")[0]
        broken = verify_table(people[0], quasi=own, brief=True)
        return replace(broken, checks=(_said(reason, holds=False, wrong=reason),), subject=_subject(release))
    said = [
        *_in_order(release),
        _same_number(release, _n_tuples(release, found)),
        *edition_checks(release),
        *_compared(release.guarantee, promised),
    ]
    counting = (*found.counting, *_about_words(release))
    return replace(found, checks=(*found.checks, *kept, *said), counting=counting, subject=_subject(release))


def _subject(release: Release) -> Subject:
    """What a release claims to be: its principle by name, and for which columns."""
    asked, columns = catalog.principle_of(release.recipe), release.recipe.sensitive
    if isinstance(asked, Mapping):
        named = " and ".join(f"{asked[name].title} for {name}" for name in columns if name in asked)
        return Subject(principle=named, other_writer=release.other_writer)
    title: str | None = asked.title
    if asked.bounds_beliefs and _is_sample(release):
        recoding = cast("Perturbed", catalog.recoding_of(release.recipe))
        title = _bounded_title(recoding, cast("BackgroundSensitive", asked))
    whose = f" for {' and '.join(columns)}" if asked.needs_sensitive and columns else ""
    return Subject(principle=None if title is None else f"{title}{whose}", other_writer=release.other_writer)


def _bounded_title(recoding: Perturbed, target: BackgroundSensitive) -> str | None:
    """The promise of a sample, with the bound that its retention achieves; None if it promises nothing."""
    if recoding.domain is None or recoding.p is None:
        return None
    return target.bounded(target.bound or target.achieved(recoding.p, len(recoding.domain))).title


def _foreign() -> NotSupported:
    return NotSupported(
        (
            "another tool's table cannot be checked against a guarantee of Glasshouse, which guarantees nothing "
            "about that table"
        ),
        instead="verify its file as a table, and say what it must satisfy: k, ell, t",
    )


def _compared(stated: Guarantee, promised: Guarantee) -> list[Check]:
    """Whether every part of a guarantee is literally the one that follows from the recipe."""
    told, made = stated.to_data(), promised.to_data()
    return [
        _said(
            f"{what} matches the recipe word for word",
            holds=told[key] == made[key],
            wrong=f"{what} does not match the recipe word for word",
        )
        for key, what in _PARTS.items()
    ]


def _about_words(release: Release) -> list[str]:
    told = [in_words(release.editions)] if release.editions else []
    if not release.other_writer:
        return told
    return [
        *told,
        f"the release was written by another version ({release.other_writer}), so the words of its guarantee and its "
        "README cannot be compared. The guarantee was made again from its recipe by this version",
    ]


def _same_number(release: Release, n_tuples: int) -> Check:
    wrong = f"it has {counted(n_tuples, 'record')}, and says that it has {release.n_tuples:,}"
    return _said("as many records as the release says", holds=n_tuples == release.n_tuples, wrong=wrong)


def _said(what: str, *, holds: bool, wrong: str = "") -> Check:
    return Check(asked=what, column=None, n_failing=0 if holds else 1, n_tuples=0, worst=(), wrong=wrong)


def _values_of(release: Release) -> Microdata:
    """The published sensitive values as a table, with the orders and trees that the release gives; without cells."""
    columns: dict[str, Any] = {}
    if _is_sample(release):
        columns = {name: release.data[name] for name in release.recipe.sensitive}
    else:
        for view in views_of(release.tables, release.recipe.quasi, release.recipe.sensitive):
            columns |= {name: view.table[name] for name in view.sensitive}
    return _as_values(release, columns)


def _as_values(release: Release, columns: Mapping[str, Any]) -> Microdata:
    """Sensitive columns as a table; nobody's cells."""
    nobody = next(name for name in map(str, range(len(columns) + 1)) if name not in columns)
    n_rows = len(next(iter(columns.values()))) if columns else release.n_tuples
    told = {column.name: column for column in release.columns if column.name in columns}
    axes = {name: column.axis for name, column in told.items() if column.axis is not None}
    table = read(
        pa.table({nobody: pa.nulls(n_rows, pa.int8()).fill_null(0), **columns}),
        quasi=[nobody],
        sensitive=list(columns) or None,
        # A number that was published is a name: amounts are refused, or binned, on the way in.
        categorical=[name for name, column in told.items() if column.kind == "category" or name not in axes],
        ordered={name: axis["order"] for name, axis in axes.items() if "heights" not in axis},
        taxonomies={name: tree_of_axis(axis) for name, axis in axes.items() if "heights" in axis},
        missing="category",
    )
    columns_read = (as_sets(column) if column.name in release.sets else column for column in table.sensitive)
    return replace(table, sensitive=tuple(_with_designated(column, release) for column in columns_read))


def _with_designated(column: Column, release: Release) -> Column:
    """The column with a place in its domain for designated values that are published nowhere.

    Somebody may have been dropped who had one; that nobody who is published has it does not break the promise.
    """
    asked = catalog.principle_of(release.recipe)
    asked = asked[column.name] if isinstance(asked, Mapping) else asked
    named = [value for one in asked.singles() for value in one.terms.named]
    domain = column.domain
    if domain.members is not None:
        return Column(replace(domain, members=_with_named(domain.members, named)), column.codes)
    if None in named and not domain.missing:
        domain = replace(domain, missing=True)
    known = set(domain.texts)
    more = list(
        {text_of(value): value for value in named if value is not None and text_of(value) not in known}.values()
    )
    if not more or domain.tree is not None:
        return Column(domain, column.codes)
    try:
        values = pa.concat_arrays([domain.values, pa.array(more).cast(domain.values.type)])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return Column(domain, column.codes)
    codes = np.where(column.codes == len(domain.values), len(values), column.codes).astype(np.int32)
    return Column(replace(domain, values=values), codes)


def _with_named(members: Members, named: Sequence[Any]) -> Members:
    """The members of sets with a place in their domain for these values, of which some may be in no set."""
    singles = members.domain
    texts = [*singles.texts, *dict.fromkeys(text_of(value) for value in named if value is not None)]
    values = list(dict.fromkeys(texts))
    codes = np.where(members.codes == len(singles.values), len(values), members.codes).astype(np.int32)
    missing = singles.missing or None in named
    return replace(members, domain=replace(singles, values=pa.array(values, pa.string()), missing=missing), codes=codes)


def _in_order(release: Release) -> list[Check]:
    """Whether the rows of every table ascend."""
    quasi, sensitive = release.recipe.quasi, release.recipe.sensitive
    return order_checks(release.tables, quasi=quasi, sensitive=sensitive, natural=_in_natural_order(release))


def _n_tuples(release: Release, found: Verification) -> int:
    return int(pc.sum(release.data[layout_of(release.recipe).size]).as_py()) if _is_sample(release) else found.n_tuples


def _check_beliefs(recoding: Perturbed, requirement: Requirement, values: Microdata) -> list[Check]:
    """Whether the retention keeps probabilities within the bound, and published values are in the declared domain."""
    target = requirement.target
    if target is None or recoding.domain is None:
        return []  # and then nothing is promised
    (column,) = values.sensitive
    shown = {column.domain.texts[code] for code in set(column.codes.tolist()) if code < len(column.domain.values)}
    n_values, retention = len(recoding.domain), recoding.p
    assert retention is not None
    bound = target.bound or target.achieved(retention, n_values)
    return [
        _said(
            "every published value is in the declared domain",
            holds=shown <= set(recoding.domain),
            wrong="a published value is not in the declared domain",
        ),
        _said(
            f"a {target.bounded(bound).title}",
            holds=_is_kept(target, retention, n_values, bound),
            wrong=f"the probability of keeping a value is too high for a {target.bounded(bound).title}",
        ),
    ]


def _is_kept(target: BackgroundSensitive, retention: Fraction, n_values: int, bound: Fraction) -> bool:
    asked = target.terms.asked or {}
    if "rho1" in asked:
        return worst_belief(retention, n_values, target.k, target.lambda_, asked["rho1"]) <= bound
    return growth_stays_within(bound, retention, n_values, target.k, target.lambda_)


# -------------------------------------------------------------------------------------------------------- counting


def _is_sample(release: Release) -> bool:
    """Whether one record of each group is published, with the group's size."""
    return layout_of(release.recipe).size is not None


def _recount(release: Release, requirement: Requirement, sets: Sequence[str], *, brief: bool) -> Verification:
    """Count everything that is asked, in as few counts as it takes; the cells of ``sets`` are sets of values."""
    asked = _questions(requirement, partial(_shown, release))
    quasi, sensitive = release.recipe.quasi, release.recipe.sensitive
    found, views = [], views_of(release.tables, quasi, sensitive)
    for view in views:
        for question in _together([_for_columns(question, view.sensitive) for question in asked] or [{}]):
            given: dict[str, Any] = {"sensitive": view.sensitive, "sets": sets, "brief": brief, **question}
            given["suppressed_in"] = quasi  # sensitive values are published as they were: a star is one of them
            found.append(verify_table(view.table, quasi=view.quasi, **given))
    k = release.recipe.recoding.get("k")
    cells = []
    if k is not None:
        for table in release.tables.values():
            own = [name for name in quasi if name in table.column_names]
            if own:
                cells.append(verify_table(table, quasi=own, k=k, brief=True))
    columns: Mapping[str, Any] = {name: what for one in found for name, what in one.columns.items()}
    checks = tuple(check for verification in (*found, *cells) for check in verification.checks)
    counting = found[0].counting if brief else joined_counting(found, [*release.tables.values()], views, quasi)
    whole = replace(found[0], columns=columns, checks=checks, counting=counting)
    whole = whole.hidden_by(cells) if cells else whole
    return whole.exposed() if layout_of(release.recipe).exact else whole


def _recount_sample(release: Release, k: int) -> Verification:
    """One record a group, with the group's size: different cells everywhere, nobody lost, no group below k."""
    found = verify_table(release.data, quasi=release.recipe.quasi)
    sizes = release.data[layout_of(release.recipe).size]
    _check_sample(release, k, found, smallest_group=pc.min(sizes).as_py(), n_people=pc.sum(sizes).as_py())
    return found


def _check_sample(release: Release, k: int, found: Verification, *, smallest_group: int, n_people: int) -> None:
    if found.n_groups < found.n_tuples:
        raise GuaranteeBroken("two records of the sample have the same cells")
    if smallest_group < k:
        raise GuaranteeBroken(f"the sample has a group of fewer than {counted(k, 'record')}")
    if n_people != release.n_tuples:
        raise GuaranteeBroken("the groups of the sample do not add up to the table")


def _questions(requirement: Requirement, shown: Callable[[str], Sequence[Any]] | None = None) -> list[dict[str, Any]]:
    """The questions about every group; ``shown`` gives a column's published values, some of which are designated."""
    return [
        _question(part, occurring)
        for part in requirement.parts
        for principle in part.principle.singles()
        if (occurring := principle if shown is None else _occurring(principle, shown, part)) is not None
    ]


def _for_columns(question: dict[str, Any], sensitive: tuple[str, ...]) -> dict[str, Any]:
    """The part of a question that concerns these columns."""
    return {
        key: {name: value[name] for name in value if name in sensitive} if isinstance(value, dict) else value
        for key, value in question.items()
    }


def _together(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put questions into as few counts as they fit: one, unless two ask the same of the same column."""
    merged: list[dict[str, Any]] = []
    for question in questions:
        for other in merged:
            shared = {key for key in question.keys() & other.keys() if question[key] != other[key]}
            if all(isinstance(question[key], dict) and not question[key].keys() & other[key].keys() for key in shared):
                for key, value in question.items():
                    other[key] = {**other.get(key, {}), **value} if isinstance(value, dict) else value
                break
        else:
            merged.append(dict(question))
    return merged


def _question(part: Part, principle: Principle) -> dict[str, Any]:
    """A principle as arguments of `verify`: everything except sizes is asked about its column."""
    asked = principle.terms.asked
    if asked is None:
        raise NotSupported(
            (f"the independent check does not know {principle.title}, so the release could not be checked"),
            instead="use a principle of the catalogue",
        )
    if part.column is None:
        return dict(asked)
    question = {word: what if word == "k" else {part.column.name: what} for word, what in asked.items()}
    return question | (_axis(part) if "distance" in asked else {})


def _shown(release: Release, name: str) -> Sequence[Any]:
    """The published values of a sensitive column; of sets, the single values in them."""
    own = next((table[name] for table in release.tables.values() if name in table.column_names), pa.array([]))
    values = list(pc.unique(own).to_pylist())
    return [one for text in values for one in members_in(text)] if name in release.sets else values


def _occurring(principle: Principle, shown: Callable[[str], Sequence[Any]], part: Part) -> Principle | None:
    """The principle without designated values that are published nowhere, which need not be counted."""
    named = principle.terms.named
    if not named or part.column is None:
        return principle
    texts = {"" if value is None else text_of(value) for value in shown(part.column.name)}
    values = tuple(value for value in named if ("" if value is None else text_of(value)) in texts)
    return principle.naming(values) if values else None


def _axis(part: Part) -> dict[str, Any]:
    """The order or the tree along which t-closeness measures."""
    assert part.column is not None
    domain = part.column.domain
    if domain.tree is not None:
        return {"taxonomies": {domain.name: domain.tree}}
    return {"ordered": {domain.name: domain.values.to_pylist()}} if domain.ordered else {}
