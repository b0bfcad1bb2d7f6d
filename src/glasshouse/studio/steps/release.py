# SPDX-License-Identifier: Apache-2.0
"""The fourth step: shows what will be published, and publishes it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import FileResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Route

from glasshouse.errors import GlasshouseError, InputError
from glasshouse.policy.table_format import draws_flat, format_of
from glasshouse.studio.page import OVERTAKEN, Step, desk_of, form_of, fragment, is_overtaken, page, to
from glasshouse.studio.place import look_at, suggested_place
from glasshouse.studio.spelling import not_yet, spelling_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from glasshouse.studio.desk import Desk
    from glasshouse.studio.job import Job
    from glasshouse.studio.place import Place
    from glasshouse.studio.spelling import Spelling

__all__ = ["STEP"]

FORMATS = {
    "parquet": "Parquet, which keeps the types of columns",
    "csv": "CSV, which every program can read",
    "xlsx": "Excel: the tables in a workbook, beside the release in Parquet",
}
REPORTS = {
    "brief": "brief: takes no longer than publishing",
    "full": "full: every attack and every comparison, which may take long",
    "none": "none",
}
_WRITTEN = ("out", "format_", "title", "licence", "flat", "report")  # how it is written, and nothing of what is shown
_PRINCIPLE = ("k", "ell", "distinct_ell", "entropy_ell", "recursive", "t", "rho1", "delta", "s", "retention")
_ON_A_PAGE = 20
_LONGEST = 300  # characters of a title or a licence


# --- what is shown ----------------------------------------------------------------------------------------------------


async def _show(request: Request) -> Response:
    return await _page(request)


async def _page(
    request: Request,
    *,
    status: int = 200,
    trouble: str = "",
    ticked: Mapping[str, bool] | None = None,
    typed: str | None = None,
) -> Response:
    desk = desk_of(request)
    if closed := _closed(desk):
        return page(request, "lost.html", status=400, words=f"This step is not open yet: {closed}.")
    number = request.query_params.get("page", "1")
    if not number.isdecimal() or not 1 <= int(number) <= 1000:
        return page(request, "lost.html", status=400, words="There is no such page of people.")
    publishing, trial = desk.job("publish"), desk.job("trial", about=_about(desk))
    _note(desk, publishing)  # the page may be asked for before the process that did it is gone
    missing = _missing(desk)
    if trial is None and not missing and not (publishing is not None and publishing.runs):
        trial = _draw(desk)
    for job in (publishing, trial):
        if job is not None:
            job.attend()
    found = desk.found("trial", about=_about(desk))
    people = None if found is None else _people_page(found["people"], int(number))
    if found is not None and people is None:
        return page(request, "lost.html", status=400, words="There is no such page of people.")
    form = _form(desk, publishing, found, {"force": False, "again": False, **(ticked or {})}, typed)
    return page(
        request,
        "release.html",
        status=status,
        trouble_words=trouble,
        missing=missing,
        trial=trial,
        found=found,
        people=people,
        publishing=publishing,
        formats=FORMATS,
        format=format_of(desk.choices),
        flat=bool(desk.choices.get("flat")) or _draws_flat(desk),
        reports=REPORTS,
        spelling=await asyncio.to_thread(_spelled, desk, form["at"], {}, force=form["forced"]),
        **form,
    )


def _form(
    desk: Desk,
    publishing: Job | None,
    found: Mapping[str, Any] | None,
    ticked: Mapping[str, bool],
    typed: str | None,
) -> dict[str, Any]:
    """What was published last, what was refused, and what the form shows."""
    result = publishing.result if publishing is not None and publishing.state == "done" else None
    done = result if result is not None and not result["again"] else None
    changed = done is not None and done["choices"] != desk.choices
    place = typed if typed is not None else str(desk.choices.get("out") or suggested_place(desk))
    return {
        "done": done,
        "changed": changed,
        "refused": result["again"] if result is not None else "",
        "again": _published_before(desk, found),
        "place": place,
        "at": look_at(desk, place),
        "ticked": ticked,
        "forced": ticked["force"] or (done is not None and not changed and done["force"]),
    }


def _people_page(people: Mapping[str, Any], number: int) -> dict[str, Any] | None:
    """One page of the people of a trial; None if it does not exist."""
    n_people = len(people["who"])
    n_pages = max(1, -(-n_people // _ON_A_PAGE))
    if number > n_pages:
        return None
    first = (number - 1) * _ON_A_PAGE
    rows = range(first, min(first + _ON_A_PAGE, n_people))
    return {
        "columns": people["columns"],
        "tables": [{"name": each["name"], "columns": each["columns"]} for each in people["tables"]],
        "rows": [
            {
                "who": people["who"][i],
                "before": people["before"][i],
                "published": [each["rows"][i] for each in people["tables"]],
            }
            for i in rows
        ],
        "number": number,
        "n_pages": n_pages,
        "n_people": n_people,
        "first": first + 1,
        "last": rows.stop,
    }


def _published_before(desk: Desk, found: Mapping[str, Any] | None) -> list[str]:
    """The folders to which this table was published before, as far as it is known here."""
    here = [str(folder) for folder, file in desk.published_from.items() if file == desk.choices.get("file")]
    return list(dict.fromkeys([*here, *(found["again"] if found is not None else [])]))


def _about(desk: Desk) -> str:
    return desk.about(sorted(name for name in desk.choices if name not in _WRITTEN))


def _missing(desk: Desk) -> str:
    """What must be decided before a release can be drawn; empty if nothing."""
    if not desk.choices.get("quasi"):
        return "data"
    return "" if any(desk.choices.get(name) is not None for name in _PRINCIPLE) else "privacy"


# --- a trial ----------------------------------------------------------------------------------------------------------


def _draw(desk: Desk) -> Job:
    choices = {name: value for name, value in desk.choices.items() if name not in _WRITTEN}
    audits = [str(folder / "audit") for folder in desk.published]
    given = {"choices": choices, "seed": desk.seed, "audits": audits}
    return desk.start("trial", "trial_release.draw", given, about=_about(desk))


async def _draw_again(request: Request) -> Response:
    desk = desk_of(request)
    if not _closed(desk) and not _missing(desk):
        _draw(desk)
    return to("/release")


# --- publishing -------------------------------------------------------------------------------------------------------


async def _look_at_folder(request: Request) -> Response:
    """What is at the place where the user wants to write, while its name is typed."""
    form = await form_of(request)
    return fragment("release_folder.html", at=look_at(desk_of(request), form.get("out", [""])[0]))


async def _same(request: Request) -> Response:
    """What is decided and the form as a command, in Python and as a policy, while it is filled in."""
    desk, form = desk_of(request), await form_of(request)
    if is_overtaken(desk, form):
        return fragment("overtaken.html", here="release")
    at = look_at(desk, form.get("out", [""])[0])
    try:
        settings = _settings(desk, form)
    except InputError as error:
        return fragment("release_same.html", spelling=not_yet(str(error)))
    made = await asyncio.to_thread(_spelled, desk, at, settings, force="force" in form)
    return fragment("release_same.html", spelling=made)


def _spelled(desk: Desk, at: Place, settings: Mapping[str, Any], *, force: bool) -> Spelling:
    """The three texts that publish to a place what the page would publish there."""
    if at.kind == "stop":
        return not_yet(at.words)
    chosen = {name: value for name, value in {**desk.choices, **settings}.items() if value is not None}
    return spelling_of(desk, {**chosen, "out": str(at.path)}, force=force)


async def _publish(request: Request) -> Response:
    desk, form = desk_of(request), await form_of(request)
    if _closed(desk) or _missing(desk):
        return to("/release")
    if is_overtaken(desk, form):
        return await _page(request, status=OVERTAKEN)
    ticked, typed = {name: name in form for name in ("force", "again")}, form.get("out", [""])[0]
    try:
        desk.choose(**_settings(desk, form))
        at = look_at(desk, typed)
        if at.path is not None:
            desk.choose(out=str(at.path))
        if at.kind == "stop":
            raise InputError(at.words)
        if at.taken and not ticked["force"]:
            raise InputError(f"{at.words} Tick the box below the folder to replace it, or name another folder.")
    except InputError as error:
        return await _page(request, status=400, trouble=str(error), ticked=ticked, typed=typed)
    if _published_before(desk, desk.found("trial", about=_about(desk))) and not ticked["again"]:
        words = (
            "This table was published before. Read what that means, and tick the box if you want to publish it again."
        )
        return await _page(request, status=400, trouble=words, ticked=ticked, typed=typed)
    assert at.path is not None
    _start(desk, at.path, **ticked)
    return to("/release")


def _draws_flat(desk: Desk, **chosen: Any) -> bool:
    """Whether a flat table is made by default, given the number of tables in the trial."""
    found = desk.found("trial", about=_about(desk))
    several = found is None or len(found["people"]["tables"]) > 1
    return several and draws_flat({**desk.choices, **chosen})


def _settings(desk: Desk, form: Mapping[str, list[str]]) -> dict[str, Any]:
    """The choices in the form on how it is written; defaults are left out."""
    given = {name: values[0].strip() for name, values in form.items() if values}
    for name, known in (("format", FORMATS), ("report", REPORTS)):
        if name in given and given[name] not in known:
            raise InputError(f"this {name} is not known: choose one from the list")
    for name in ("title", "licence"):
        if len(given.get(name, "")) > _LONGEST or "\n" in given.get(name, ""):
            raise InputError(f"a {name} must be one line of at most {_LONGEST} characters")
    usual = format_of({"file": desk.choices.get("file")})
    format = given.get("format", usual)
    flat, usually_flat = "flat" in given, _draws_flat(desk, format_=format, flat=None)
    return {
        "format_": None if format == usual else format,
        "report": None if given.get("report", "brief") == "brief" else given["report"],
        "title": given.get("title") or None,
        "licence": given.get("licence") or None,
        "flat": None if flat == usually_flat else flat,
    }


def _start(desk: Desk, out: Path, *, force: bool, again: bool) -> None:
    """Publish in a job; if it ends early for any reason, nothing of it is kept."""
    choices = dict(desk.choices)
    missing = [folder for folder in out.parents if not folder.exists()]
    before = _stamp(out)

    def after(job: Job) -> None:
        _note(desk, job)
        if job.state != "done":
            _tidy(out, missing)
            if _stamp(out) not in (None, before):  # it was ended while it did something else with what was written
                job.parts.append({"written": str(out)})
                desk.note_published(out, str(choices["file"]))

    given = {"choices": choices, "force": force, "again": again, "seed": desk.seed}
    desk.start("publish", "release_folder.publish", given, about=desk.about(), after=after)


def _note(desk: Desk, job: Job | None) -> None:
    """Take note of what was published, for this step and the next."""
    if job is not None and job.state == "done" and job.result.get("out"):
        desk.note_published(Path(job.result["out"]), str(job.result["choices"]["file"]))


def _stamp(out: Path) -> tuple[int, int] | None:
    """An identification of the release in a folder, to tell later whether it was replaced."""
    try:
        found = (out / "release" / "datapackage.json").stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _tidy(out: Path, made: list[Path]) -> None:
    """Remove what an interrupted process left: its stages, and folders that it made for them."""
    from glasshouse.release.package.flat import FLAT
    from glasshouse.release.package.folders import tidy
    from glasshouse.release.package.pair import AUDIT, RELEASE, mend

    mend(out)
    for place in (out, out / AUDIT, out / RELEASE, out / FLAT):
        tidy(place)
    if not out.exists():
        for folder in made:
            try:
                folder.rmdir()
            except OSError:  # somebody else put something there
                break


# --- what can be taken along ------------------------------------------------------------------------------------------


async def _download(request: Request) -> Response:
    """The release as one file, the report, or the policy, of the last publication."""
    from glasshouse.release.package.container.zip_archive import archive_of

    desk, what = desk_of(request), request.path_params["what"]
    job = desk.job("publish")
    done = job.result if job is not None and job.state == "done" and job.result.get("out") else None
    if done is None:
        return page(request, "lost.html", status=404, words="Nothing was published yet.")
    out = Path(done["out"])
    if what == "release.zip":
        try:
            parts = await asyncio.to_thread(archive_of, out / "release")
        except GlasshouseError as error:
            return page(request, "lost.html", status=404, words=str(error))
        return StreamingResponse(parts, media_type="application/zip", headers=_attached(what))
    if what == "report.html" and done["page"] and Path(done["page"]).is_file():
        return FileResponse(done["page"], media_type="text/html", headers=_attached(what))
    if what == "policy.toml":
        spelling = await asyncio.to_thread(spelling_of, desk, done["choices"])
        return PlainTextResponse(spelling.policy, media_type="application/toml", headers=_attached(what))
    return page(request, "lost.html", status=404, words="There is no such file.")


def _attached(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


# --- the step ---------------------------------------------------------------------------------------------------------


def _decided(desk: Desk) -> str:
    file = desk.choices.get("file")
    written = [folder for folder in desk.published if desk.published_from.get(folder) == file]
    if written:
        return f"published to {written[-1].name}"
    return ""


def _closed(desk: Desk) -> str:
    return "" if desk.has_table else "choose a table first"


STEP = Step(
    name="release",
    title="Release",
    routes=[
        Route("/release", _show),
        Route("/release/trial", _draw_again, methods=["POST"]),
        Route("/release/folder", _look_at_folder, methods=["POST"]),
        Route("/release/same", _same, methods=["POST"]),
        Route("/release/publish", _publish, methods=["POST"]),
        Route("/release/download/{what}", _download),
    ],
    decided=_decided,
    closed=_closed,
)
