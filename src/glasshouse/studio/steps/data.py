# SPDX-License-Identifier: Apache-2.0
"""The first step: a table is chosen, looked at, and its columns get roles.

`data_source` opens tables, `data_columns` reads and shows roles, `data_taxonomy` has the page of a column's taxonomy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from glasshouse.database import masked
from glasshouse.errors import GlasshouseError, InputError
from glasshouse.studio.open_table import UPLOADS, begin, check, check_job, found, look, look_job
from glasshouse.studio.page import OVERTAKEN, Step, desk_of, form_of, fragment, is_overtaken, page, to
from glasshouse.studio.steps import data_source, data_taxonomy
from glasshouse.studio.steps.data_columns import MISSING, ROLES, UNITS, column_of, decide, views
from glasshouse.studio.tasks.text import shortened
from glasshouse.studio.upload import upload_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from glasshouse.studio.desk import Desk

__all__ = ["STEP", "begin"]


def _shown(request: Request, *, trouble: str = "", typed: dict[str, str] | None = None, status: int = 200) -> Response:
    """The page of the step; with a trouble it says what was wrong, and what was typed is still there."""
    desk = desk_of(request)
    job = look_job(desk)
    state = "" if job is None else job.state  # looked at once, for work can end while the page is written
    seen = found(desk) if state == "done" else None
    return page(
        request,
        "data.html",
        status=400 if trouble else status,
        trouble=trouble,
        typed=typed or {},
        job=job,
        state=state,
        message="" if job is None else _said(job.message, []),
        has_parts=job is not None and (_PARTS in job.message or _names_a_part(desk)),
        found=seen,
        notices=[] if seen is None else [_said(notice, _names(seen)) for notice in seen["notices"]],
        columns=[] if seen is None else views(desk, seen),
        roles=ROLES,
        policies=MISSING,
        units=UNITS,
        standing=_standing(desk, seen),
        encodings=data_source.ENCODINGS,
        delimiters=data_source.DELIMITERS,
        patients=data_source.PATIENTS,
        most_patients=data_source.MOST_PATIENTS,
    )


def _names_a_part(desk: Desk) -> bool:
    """Whether a sheet of a workbook, or a table of the file of a database, was named."""
    return desk.has_table and "://" not in desk.choices["file"] and bool(desk.choices.get("table"))


def _standing(desk: Desk, seen: dict[str, Any] | None) -> dict[str, Any]:
    """The result of checking the decisions."""
    names = _names(seen)
    job = check_job(desk) if seen is not None else None
    state = "" if job is None else job.state  # looked at once, for work can end while the page is written
    result = job.result if job is not None and state == "done" else None
    accepted = set(desk.choices.get("accept", ()))
    cautions = [
        {
            **caution,
            "sentence": shortened(caution["sentence"], names),
            "mend": _said(caution["mend"], names),
            "number": names.index(caution["column"]),
            "accepted": not accepted.isdisjoint({caution["name"], f"{caution['name']}:{caution['column']}"}),
        }
        for caution in (result or {}).get("cautions", ())
        if caution["column"] in names
    ]
    return {
        "job": job,
        "state": state,
        "message": "" if job is None else shortened(job.message, names),
        "hint": "" if job is None else _hint(job.message),
        "result": result,
        "notices": [_said(notice, names) for notice in (result or {}).get("notices", ())],
        "cautions": cautions,
        "open": sum(not caution["accepted"] for caution in cautions),
        "quasi": desk.choices.get("quasi", []),
        "sensitive": desk.choices.get("sensitive", []),
        "mark": desk.mark,
    }


_HINTS = {
    "missing='category'": "Choose above what happens to rows with missing values.",
    "an earlier row has": "Choose another column as identifier. If people have several rows, use the command line: it "
    "publishes one record of each person (--repeated together), or draws one row of each (--repeated sample).",
    "the identifier": "Choose another column as identifier, or none.",
    "taxonomy": "Change above how the values of this column are coarsened.",
    "infinite values": "Give a smallest or largest value above, under “More about”.",
}


_DECIMAL = "choose the comma under “This is not right”"
_PARTS = "name one with table="  # of the error about a workbook with several sheets, or a database with several tables
_OPTIONS = {
    _PARTS: "choose one below",
    "use decimal=','": _DECIMAL,
    "read a text file with decimal=','": f"if it is a text file, {_DECIMAL}",
    "may stay: decimal=','": f"may stay: {_DECIMAL}",
}


def _said(words: str, names: list[str]) -> str:
    """What the package says of a table, with the fields of this page in the place of its options."""
    for option, field in _OPTIONS.items():
        words = words.replace(option, field)
    return shortened(words, names)


def _hint(message: str) -> str:
    """What a person can do on the page about an error that names options of the command line."""
    general = "Change what is decided above; it is checked again at once."
    return next((hint for sign, hint in _HINTS.items() if sign in message), general)


def _names(seen: dict[str, Any] | None) -> list[str]:
    return [] if seen is None else [column["name"] for column in seen["columns"]]


async def _show(request: Request) -> Response:
    return _shown(request)


async def _show_standing(request: Request) -> Response:
    desk = desk_of(request)
    return fragment("data_standing.html", standing=_standing(desk, found(desk)), trouble="")


# --- opening ----------------------------------------------------------------------------------------------------------


async def _open(request: Request) -> Response:
    form = await form_of(request)
    path = form.get("path", [""])[0]
    try:
        data_source.open_path(desk_of(request), path)
    except InputError as error:
        return _shown(request, trouble=masked(str(error)), typed={} if "://" in path else {"path": path[:4096]})
    return to("/data")


async def _upload(request: Request) -> Response:
    """An uploaded file: a table, or the hierarchy of a column of the open table."""
    desk = desk_of(request)
    if "taxonomy" in request.query_params:
        return await data_taxonomy.send(request)
    try:
        data_source.open_upload(desk, await upload_of(request, desk.workspace, UPLOADS))
    except GlasshouseError as error:
        return _shown(request, trouble=str(error))
    return to("/data")


async def _database(request: Request) -> Response:
    form = await form_of(request)
    given = {name: form.get(name, [""])[0] for name in ("address", "table", "query", "password")}
    try:
        data_source.open_database(desk_of(request), **given)
    except GlasshouseError as error:  # the address is not shown again: it may hold a password
        return _shown(request, trouble=str(error), typed={name: given[name] for name in ("table", "query")})
    return to("/data")


async def _hospital(request: Request) -> Response:
    form = await form_of(request)
    try:
        data_source.open_hospital(desk_of(request), form.get("rows", [""])[0].strip())
    except InputError as error:
        return _shown(request, trouble=str(error))
    return to("/data")


async def _reading(request: Request) -> Response:
    desk, form = desk_of(request), await form_of(request)
    if not desk.has_table or "://" in desk.choices["file"]:
        return _shown(request, trouble="no CSV file is open: open one first")
    given = {name: form.get(name, [""])[0] for name in ("delimiter", "other", "encoding", "decimal")}
    try:
        if form.get("of") != [desk.notes["of"]]:
            raise InputError("this form was about another table: load the page again")
        data_source.read_again(desk, **given)
    except InputError as error:
        return _shown(request, trouble=str(error))
    return to("/data")


async def _part(request: Request) -> Response:
    """Read one sheet of the workbook that is open, or one table of the file of a database."""
    desk, form = desk_of(request), await form_of(request)
    try:
        if not desk.has_table or form.get("of") != [desk.notes["of"]]:
            raise InputError("this form was about another table: load the page again")
        data_source.read_part(desk, form.get("table", [""])[0])
    except InputError as error:
        return _shown(request, trouble=str(error))
    return to("/data")


async def _again(request: Request) -> Response:
    """Examine the table, or check the decisions, once more."""
    desk = desk_of(request)
    if desk.has_table and desk.found("look") is None:
        look(desk)
    elif desk.has_table:
        desk.forget("check")
        check(desk)
    return to("/data")


# --- deciding ---------------------------------------------------------------------------------------------------------


def _decided(desk: Desk, form: dict[str, list[str]]) -> None:
    seen = found(desk)
    if seen is None:
        raise InputError("the table was not looked at yet: wait until its columns are shown")
    decide(desk, seen, form)
    desk.notes["before"] = ""
    check(desk)


async def _columns(request: Request) -> Response:
    desk, form = desk_of(request), await form_of(request)
    try:
        _decided(desk, form)
    except InputError as error:
        return _shown(request, trouble=str(error))
    return to("/data#standing")


async def _columns_live(request: Request) -> Response:
    """The same for the script, which inserts the result."""
    desk, form = desk_of(request), await form_of(request)
    trouble = ""
    try:
        _decided(desk, form)
    except InputError as error:
        trouble = str(error)
    return fragment("data_standing.html", standing=_standing(desk, found(desk)), trouble=trouble)


async def _caution(request: Request) -> Response:
    """Accept a caution, take that back, or merge spellings that look alike."""
    desk, form = desk_of(request), await form_of(request)
    seen = found(desk)
    if seen is None or is_overtaken(desk, form):
        return _shown(request, status=OVERTAKEN)
    try:
        column = seen["columns"][column_of(form.get("column", [""])[0], seen)]["name"]
        name, what = form.get("name", [""])[0], form.get("what", [""])[0]
        cautions = _standing(desk, seen)["cautions"]
        known = {caution["name"] for caution in cautions if caution["column"] == column}
        if name not in known or what not in ("accept", "withdraw", "merge"):
            raise InputError("there is no such caution any more: load the page again")
    except InputError as error:
        return _shown(request, trouble=str(error))
    accepted = [one for one in desk.choices.get("accept", []) if one not in (name, f"{name}:{column}")]
    if what == "accept":
        accepted.append(f"{name}:{column}")
    desk.choose(accept=accepted)
    if what == "merge":
        desk.choose(normalise=[*desk.choices.get("normalise", []), column])
        check(desk)
    return to("/data#standing")


def _in_the_rail(desk: Desk) -> str:
    if not desk.has_table:
        return ""
    known, sensitive = len(desk.choices.get("quasi", ())), len(desk.choices.get("sensitive", ()))
    roles = f": {known} that others may know, {sensitive} sensitive" if known or sensitive else ""
    return f"{desk.shown_name}{roles}"


STEP = Step(
    name="data",
    title="Data",
    routes=[
        Route("/data", _show),
        Route("/data/open", _open, methods=["POST"]),
        Route("/data/upload", _upload, methods=["POST"]),
        Route("/data/database", _database, methods=["POST"]),
        Route("/data/hospital", _hospital, methods=["POST"]),
        Route("/data/reading", _reading, methods=["POST"]),
        Route("/data/part", _part, methods=["POST"]),
        Route("/data/again", _again, methods=["POST"]),
        Route("/data/columns", _columns, methods=["POST"]),
        Route("/data/columns/live", _columns_live, methods=["POST"]),
        Route("/data/standing", _show_standing),
        Route("/data/caution", _caution, methods=["POST"]),
        *data_taxonomy.ROUTES,
    ],
    decided=_in_the_rail,
    closed=lambda desk: "it needs a table, and only a release was opened: open a table" if desk.release else "",
)
