# SPDX-License-Identifier: Apache-2.0
"""Publication: a table published by choices, with a report in its audit; the same from the command line and the studio.

Where the work runs, what is refused before it begins, what is said of it and what is written besides follow from the
choices alone. Who watches, and how, is for the caller to say (`Watch`).
"""

from __future__ import annotations

import contextlib
import functools
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from glasshouse.errors import GlasshouseError, InputError, OutputError, having_written
from glasshouse.log import step
from glasshouse.policy.choices import DEFAULTS, edition_arguments, publish_arguments, read_arguments
from glasshouse.policy.table_format import MOST_FLAT, draws_flat, format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pyarrow as pa

    from glasshouse.microdata import Microdata
    from glasshouse.pages.report.report import Report
    from glasshouse.randomness import Source
    from glasshouse.release import Release
    from glasshouse.streaming.publish import PublishedFile

    Progress = Callable[[str, int, int], None]

__all__ = ["Publication", "Published", "Watch", "draw"]


class Watch(Protocol):
    """The interface for following the work while it runs."""

    def bar(self, unit: str) -> contextlib.AbstractContextManager[Progress]:
        """Give a function that takes what is being done, how much of it is done, and of how much."""

    def steps(self) -> contextlib.AbstractContextManager[None]:
        """Report the internal steps of the work."""

    def remark(self, kind: str, words: str) -> None:
        """Take a note or a warning."""


class Nobody:
    """A `Watch` that ignores everything."""

    @contextlib.contextmanager
    def bar(self, unit: str) -> Iterator[Progress]:
        """Report nothing."""
        yield lambda _what, _done, _total: None

    @contextlib.contextmanager
    def steps(self) -> Iterator[None]:
        """Report nothing."""
        yield

    def remark(self, kind: str, words: str) -> None:
        """Report nothing."""


@dataclass(frozen=True, eq=False)
class Published:
    """What was published, and what was assumed of the table.

    Parameters
    ----------
    made
        The release, or what is known of one whose tables were written part by part.
    notices
        What was assumed, in sentences.
    whole
        Whether ``made`` is the release itself, in memory.
    """

    made: Any
    notices: tuple[str, ...]
    whole: bool


class Publication:
    """One publication: its choices, its destination, and its report.

    The steward's report is made before the folders appear, so that the audit never stands without it. ``page`` is where
    the report will lie, ``flat`` where the flat table lies, and ``flat_words`` what to know before it is used; None if
    there is none.

    Parameters
    ----------
    choices
        What was chosen, by the names of the command line's options; what is not there is as it is there by default.
    watch
        Who is told of the work.
    source
        For tests only: where random choices come from.
    """

    def __init__(
        self, choices: Mapping[str, Any], *, watch: Watch | None = None, source: Source | None = None
    ) -> None:  # fmt: skip
        self._started = time.process_time()
        self.choices = {**DEFAULTS, **choices}
        if "out" not in self.choices:
            raise InputError("say where to write with --out FOLDER: the folders release/ and audit/ are made in it")
        self.out = Path(self.choices["out"])
        self.page: str | None = None
        self.flat: Path | None = None
        self.flat_words: str | None = None
        self._is_flat_asked = bool(self.choices.get("flat"))
        self._watch: Watch = Nobody() if watch is None else watch
        self._source = source
        self._seeds: dict[str, Any] = {} if source is None else {"source": source, "allow_seed": source.is_seeded}
        self._send: Callable[[Release], None] = lambda _release: None

    # --- before the work ----------------------------------------------------------------------------------------------

    def prepare(self, *, force: bool = False) -> str:
        """Say where the work runs: memory, disk or spark; refuse, before it begins, what cannot be done there."""
        engine = self._engine()
        self._send = _sender(self.choices, force=force)
        self._check_flat(engine, force=force)
        return engine

    def _engine(self) -> str:
        choices, needing = self.choices, _needing_table(self.choices)
        engine = choices["engine"]
        if choices.get("master") and engine != "spark":
            raise InputError("--master can only be given with --engine spark")
        if engine == "auto":
            engine = self._chosen_engine(needing)
        if engine != "memory" and edition_arguments(choices):
            raise InputError(
                f"--engine {engine} cannot publish editions: use --engine memory, if the file fits into memory"
            )
        if engine == "disk":
            _refuse_on_disk(choices)
        for name in ("memory", "spill"):
            if engine != "disk" and choices.get(name):
                raise InputError(f"--{name} can only be given with --engine disk")
        if engine == "memory" and needing and not choices["partition"]:
            raise InputError(
                f"--no-partition is only possible if the file is published in batches, but {needing} needs the whole "
                f"table in memory: leave --no-partition out{_or_without(needing)}"
            )
        return str(engine)

    def _chosen_engine(self, needing: str | None) -> str:
        """Memory, if the file fits into it; otherwise disk, with a note on the reason."""
        from glasshouse.streaming.need import need_of

        choices = self.choices
        if choices.get("memory") or choices.get("spill"):
            return "disk"
        reading = read_arguments(choices)
        others = filter(None, [reading["identifier"], reading["weight"]])
        roles = {*reading["quasi"], *(reading["sensitive"] or ()), *others}
        need = None if choices.get("table") or choices.get("query") else need_of(choices["file"], roles)
        if need is None or need.fits:
            return "memory"
        what = f"{choices['file']} would take {need}"
        if needing is not None and not needing.startswith("--report"):
            self._watch.remark("warning", f"{what}. {_in_memory(needing)}")
            return "memory"
        left_out = (
            ""
            if choices["report"] == "none"
            else (", but the report lacks the parts that need the whole table in memory")
        )
        self._watch.remark(
            "note", f"{what}, so it is published from disk (--engine disk). The release is the same{left_out}"
        )
        return "disk"

    def _check_flat(self, engine: str, *, force: bool) -> None:
        """Look before the work whether a flat table can be written; refuse to leave one of an earlier release."""
        from glasshouse.release.package.flat import FLAT
        from glasshouse.release.package.folders import refuse_existing
        from glasshouse.release.package.listing import release_named_by

        place = self.out / FLAT
        is_there = release_named_by(place) is not None
        if is_there and engine == "memory" and draws_flat(self.choices):
            self._is_flat_asked = True  # whatever is published now, the flat table beside it must be drawn from it
        if self._is_flat_asked:
            refuse_existing(place, force=force)
        elif force and is_there:
            how = "leave --no-flat out" if self.choices.get("flat") is False else "give --flat"
            instead = f"{how} to draw a new one, or remove it" if engine == "memory" else "remove it first"
            raise OutputError(f"{place} was drawn from the release that is to be replaced: {instead}", path=place)

    # --- the work -----------------------------------------------------------------------------------------------------

    def publish(self, engine: str, *, force: bool = False) -> Published:
        """Publish in memory or on disk, as `prepare` said."""
        if engine == "disk" or not _needing_table(self.choices):
            published = self._publish_file(engine, force=force)
        else:
            published = self._publish_table(force=force)
        self._draw_flat(published.made, engine, force=force)
        return published

    def _publish_table(self, *, force: bool) -> Published:
        """Publish a table that is read as a whole."""
        from glasshouse.journeys.next_edition import told_by
        from glasshouse.journeys.plan import unused_taxonomies
        from glasshouse.journeys.publish import publish
        from glasshouse.release.package.pair import AUDIT

        with self._watch.steps():
            arguments = publish_arguments(self.choices)  # before a large file is read
            table = self.read()
            release = publish(
                table, **arguments, **self._seeds, out=self.out, force=force, finishing=self.reporting_on(table)
            )
            with having_written(self.out):
                self._send(release)
        notices = (*told_by(self.out / AUDIT), *table.notices, *unused_taxonomies(table, release.recipe))
        return Published(release, notices, whole=True)

    def _publish_file(self, engine: str, *, force: bool) -> Published:
        """Publish a file that is read in batches, in memory or on disk."""
        from glasshouse.streaming.publish import publish_file

        choices = self.choices
        arguments, reading = publish_arguments(choices), read_arguments(choices)
        with self._watch.bar("rows") as tell:
            made = publish_file(
                self.out,
                choices["file"],
                engine=engine,
                force=force,
                partition=choices["partition"],
                spill=choices.get("spill"),
                progress=tell,
                finishing=self.reporting_on_file(),
                **({"memory": choices["memory"] << 20} if "memory" in choices else {}),
                **arguments,
                **reading,
                **self._seeds,
            )
        return Published(made, made.notices, whole=False)

    def read(self) -> Microdata:
        """Read the table as a whole."""
        from glasshouse.microdata import read

        with step("read") as note:
            random = None if self._source is None else self._source.child("one row of each person")
            table = read(self.choices["file"], **read_arguments(self.choices), random=random)
            note(rows=table.n_tuples, columns=len(table.quasi) + len(table.sensitive))
        return table

    # --- what is written besides --------------------------------------------------------------------------------------

    def reporting_on(self, table: Microdata) -> Callable[[Release, Path, Path], None] | None:
        """How to report on a release of a table in memory; None if no report is wanted.

        A brief report may take as much CPU time as reading, publishing and writing took.
        """
        from glasshouse.journeys.next_edition import newest
        from glasshouse.pages.report import make_report

        report = self.choices["report"]

        def write(release: Release, audit: Path, folder: Path) -> None:
            spent = time.process_time() - self._started
            own, people = (release, table) if not release.editions else newest(release, audit, table)
            if own is None:
                self._watch.remark("note", "there is no report, because nobody was published in this edition")
                return
            with self._watch.bar("steps") as tell:
                make = functools.partial(
                    make_report, own, people, report=report, publishing=spent, progress=tell
                )  # fmt: skip
                self._write(make, release.n_tuples, audit, folder)

        return None if report == "none" else write

    def reporting_on_file(self) -> Callable[[PublishedFile], None] | None:
        """How to report on a file that was published in batches; None if no report is wanted."""
        from glasshouse.pages.report.report import report_on_file

        def write(made: PublishedFile) -> None:
            self._write(functools.partial(report_on_file, made), made.n_tuples, made.audit, made.folder)

        return None if self.choices["report"] == "none" else write

    def _write(self, make: Callable[[], Report], rows: int, audit: Path, release: Path) -> None:
        """Write the report to the audit; if that fails, the release is published without a report."""
        try:
            with step("report", rows=rows):
                make().write(audit, release=release)
        except (GlasshouseError, MemoryError) as error:
            reason = error if isinstance(error, GlasshouseError) else "there is not enough memory for a report"
            self._watch.remark("warning", f"the release is written without a report: {reason}")
            return
        self.page = str(self.out / "audit" / "report.html")

    def _draw_flat(self, made: Release | PublishedFile, engine: str, *, force: bool) -> None:
        """Draw a flat table from the release as it was written, if one is asked for, or belongs to it by default.

        Nothing but the folder of the release is read. What is drawn by default never makes publishing fail: where
        none can be drawn, it is said why.
        """
        by_default = draws_flat(self.choices) and _n_tables(made) > 1
        if not (self._is_flat_asked or by_default):
            return
        from glasshouse.release.package.flat import FLAT, no_flat_note

        why_not = None if self._is_flat_asked else _why_not_flat(made, engine, self.out / FLAT)
        if why_not is None:
            try:
                with having_written(self.out / "release"):
                    self._write_flat(self.out / FLAT, force=force)
            except (GlasshouseError, MemoryError) as error:
                if self._is_flat_asked:
                    raise
                why_not = str(error) if isinstance(error, GlasshouseError) else "there is not enough memory for one"
        if why_not is not None:
            [*sensitive] = made.recipe.sensitive
            attributes = [*made.recipe.quasi, sensitive[0]] if len(sensitive) > 1 else []
            self._watch.remark("note", no_flat_note(self.out, why_not, attributes))

    def _write_flat(self, place: Path, *, force: bool) -> None:
        from glasshouse.release import load
        from glasshouse.release.package.flat import flat_words, write_flat

        folder = self.out / "release"
        release = load(folder)
        source = None if self._source is None else self._source.child("flat table")
        drawn = draw(release, source=source, watch=self._watch)
        format = "xlsx" if format_of(self.choices) == "xlsx" else "csv"
        with step("write", rows=drawn[0].num_rows, tables=len(drawn)):
            [name] = write_flat(
                place, drawn, release=folder, n_tuples=release.n_tuples, format=format, force=force
            )  # fmt: skip
        self.flat, self.flat_words = place, flat_words(str(place / name), drawn[0])


def _n_tables(made: Release | PublishedFile) -> int:
    return len(getattr(made, "packaged", getattr(made, "n_rows", ())))


def _why_not_flat(made: Release | PublishedFile, engine: str, place: Path) -> str | None:
    """Why no flat table is drawn by default, in words; None if one is."""
    if engine != "memory":
        return f"--engine {engine} cannot draw one"
    if made.n_tuples > MOST_FLAT:
        return f"{made.n_tuples:,} people were published, and for more than {MOST_FLAT:,} it takes long"
    if len(made.recipe.sensitive) > 1:
        return f"it can have only one of the sensitive columns {', '.join(made.recipe.sensitive)}"
    return f"{place} exists already (move it elsewhere first)" if place.exists() else None


def draw(
    release: Release, n: int | None = None, source: Any = None, *, watch: Watch, tables: int = 1, **given: Any
) -> list[pa.Table]:
    """Draw flat tables from a release; reports the progress of learning, and returns notes on the tables."""
    from glasshouse.analyst.answers.sample import sample

    with watch.bar("%") as tell, step("draw", rows=release.n_tuples, tables=tables):
        drawn = sample(
            release, n, source, tables=tables, report=lambda share: tell("learning", int(100 * share), 100), **given
        )
    notes = drawn[0].schema.metadata.get(b"glasshouse.notes")
    if notes is not None:
        watch.remark("note", notes.decode())
    return drawn


def _needing_table(choices: Mapping[str, Any]) -> str | None:
    """What is asked for that needs the table, or the release, in memory; None if the file can go by in batches."""
    from glasshouse.microdata.reading.sources import read_whole

    if choices.get("table") or choices.get("query"):
        return "a database"
    whole = read_whole(choices["file"])
    if whole is not None:
        return whole
    if edition_arguments(choices):
        return "an edition"
    if choices.get("flat"):
        return "--flat"
    if choices["repeated"] != DEFAULTS["repeated"]:
        return f"--repeated {choices['repeated']}"
    if choices.get("to"):
        return "--to"
    if choices.get("together"):
        return "--together"
    return None if choices["report"] == "none" else f"--report {choices['report']}"


def _in_memory(needing: str) -> str:
    """Why a file that may not fit into memory is published there all the same, and how it can be published from disk.

    >>> _in_memory("an edition")
    'It is published in memory all the same, because an edition can only be published in memory'
    """
    if needing.startswith("--"):
        return (
            f"The option {needing} needs the table in memory; if you leave this option out, the file can be published "
            "from disk"
        )
    why = "It is published in memory all the same, because"
    if needing == "an edition":
        return f"{why} an edition can only be published in memory"
    return (
        f"{why} {needing} cannot be read in batches: to publish it from disk, write the table to a CSV, Parquet or "
        "Arrow file first"
    )


def _or_without(needing: str) -> str:
    """How else a file can be published in batches, if an option alone is in the way."""
    if needing.startswith("--report"):
        return ", or give --no-report"
    return f", or leave {needing} out" if needing.startswith("--") else ""


def _refuse_on_disk(choices: Mapping[str, Any]) -> None:
    from glasshouse.microdata.reading.sources import read_whole
    from glasshouse.microdata.repeats import refuse_in_batches

    refuse_in_batches(choices["repeated"], "with --engine disk")
    if choices.get("flat"):
        raise InputError(
            "--engine disk cannot draw a flat table: leave --flat out, and run glasshouse sample on the release "
            "afterwards"
        )
    if choices.get("table") or choices.get("query") or choices.get("to"):
        raise InputError(
            "--engine disk reads files and writes folders, not databases: use --engine memory, or give a file and "
            "leave --to, --table and --query out"
        )
    whole = read_whole(choices["file"])
    if whole is not None:
        raise InputError(
            f"--engine disk reads CSV, Parquet and Arrow files in batches, and {whole} cannot be read in this way: "
            "write the table to such a file first, or use --engine memory"
        )


def _sender(choices: Mapping[str, Any], *, force: bool) -> Callable[[Release], None]:
    """What sends a release to the database that was named, if any; checks first whether that is possible."""
    if "to" not in choices:
        return lambda _release: None
    from glasshouse.release.postgres_schema import check_target, to_postgres

    target = {"schema": choices["schema"], "if_exists": "replace" if force else "error"}
    check_target(choices["to"], **target)

    def send(release: Release) -> None:
        with step("send", rows=release.n_tuples, tables=len(release.tables)):
            to_postgres(release, choices["to"], **target)

    return send
