# SPDX-License-Identifier: Apache-2.0
"""The auditor's view: a release folder is checked against its guarantee, or any tool's table is counted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from glasshouse.errors import GlasshouseError, InputError
from glasshouse.studio.page import desk_of, form_of, page, to
from glasshouse.studio.steps.sight import number, only, place_of, sight_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from glasshouse.studio.desk import Desk

__all__ = ["ROUTES"]

_PAGE = "/look/auditor"
_FOLDER, _COLUMNS, _TABLE = "look-folder", "look-columns", "look-table"
_WHOLE = {"k": "k", "ell": "l", "distinct_ell": "distinct l"}
_SHARES = {"t": "t", "entropy_ell": "entropy l", "alpha": "alpha"}
_ROOM = "audits"  # the folder of the workspace for tables that are sent
_LONGEST = 30  # letters of a number


async def _show(request: Request) -> Response:
    return _page(request)


def _page(request: Request, trouble: str = "", given: dict[str, str] | None = None) -> Response:
    desk = desk_of(request)
    folder, columns, table = (desk.job(name) for name in (_FOLDER, _COLUMNS, _TABLE))
    for job in (folder, columns, table):
        if job is not None:
            job.attend()
    about = {} if columns is None else json.loads(columns.about)
    asked = {} if table is None else json.loads(table.about)
    return page(
        request,
        "auditor.html",
        status=400 if trouble else 200,
        sight=sight_of(desk),
        folder=folder,
        folder_path="" if folder is None else json.loads(folder.about)["path"],
        columns=columns,
        file=about.get("shown", ""),
        look=columns.result if columns is not None and columns.state == "done" else None,
        table=table,
        asked=given if given is not None else asked.get("form", {}),
        chosen=asked.get("chosen", {}),
        trouble_words=trouble,
    )


# --- a release --------------------------------------------------------------------------------------------------------


async def _verify(request: Request) -> Response:
    desk, form = desk_of(request), await form_of(request)
    try:
        path = only(form, "path")
        if not path:
            raise InputError("name the folder of a release, or the file of a table")
        place = place_of(path)
        if os.path.isdir(place):  # noqa: PTH112 - pathlib fails on what cannot be a path
            _forget(desk)
            given = {"path": place}
            desk.start(_FOLDER, "verification.folder", given, about=json.dumps({"path": path}))
        elif os.path.isfile(place):  # noqa: PTH113
            _begin(desk, place, Path(place).name)
        else:
            raise InputError(f"there is no file and no folder {path}: check its name, and give the whole path")
    except GlasshouseError as error:
        return _page(request, str(error))
    return to(f"{_PAGE}#found")


def _forget(desk: Desk) -> None:
    for name in (_FOLDER, _COLUMNS, _TABLE):
        desk.forget(name)


# --- a table ----------------------------------------------------------------------------------------------------------


def _begin(desk: Desk, path: str, shown: str) -> None:
    """Start to read the columns of a table."""
    _forget(desk)
    room = desk.workspace.folder / _ROOM
    for old in room.iterdir() if room.is_dir() else ():  # what was sent before
        if str(old) != path:
            desk.workspace.remove(old)
    desk.start(_COLUMNS, "verification.columns", {"path": path}, about=json.dumps({"path": path, "shown": shown}))


async def _upload(request: Request) -> Response:
    from glasshouse.studio.upload import upload_of

    desk = desk_of(request)
    try:
        sent = await upload_of(request, desk.workspace, _ROOM)
    except GlasshouseError as error:
        return _page(request, str(error))
    _begin(desk, str(sent.path), sent.name)
    return to(f"{_PAGE}#found")


async def _count(request: Request) -> Response:
    desk, form = desk_of(request), await form_of(request)
    written = {name: values[0][:_LONGEST] for name, values in form.items() if name in {*_WHOLE, *_SHARES, "recursive"}}
    try:
        look = desk.job(_COLUMNS)
        if look is None or look.state != "done":
            raise InputError("name a table first")
        names = [column["name"] for column in look.result["columns"]]
        roles: dict[str, list[int]] = {"quasi": [], "sensitive": []}
        for i in range(len(names)):
            role = only(form, f"role-{i}", "none")
            if role in roles:
                roles[role].append(i)
            elif role != "none":
                raise InputError("choose a role from the list")
        if not roles["quasi"]:
            raise InputError("choose at least one column whose values others may know about people")
        asked = {role: [names[i] for i in places] for role, places in roles.items()}
        given = {"path": json.loads(look.about)["path"], "asked": {**asked, **_thresholds(form)}}
        about = json.dumps({"form": written, "chosen": roles})
        desk.start(_TABLE, "verification.table", given, about=about)
    except GlasshouseError as error:
        return _page(request, str(error), written)
    return to(f"{_PAGE}#found")


def _thresholds(form: dict[str, list[str]]) -> dict[str, Any]:
    """The thresholds for every group; empty fields are ignored."""
    found: dict[str, Any] = {}
    for name, words in _WHOLE.items():
        text = only(form, name)
        if text:
            found[name] = number(text, 1_000_000_000, words)
    for name, words in _SHARES.items():
        text = only(form, name)
        if text:
            found[name] = _share(text, words)
    text = only(form, "recursive")
    if text:
        c, _, ell = text.partition(",")
        found["recursive"] = (_share(c.strip(), "c"), number(ell.strip(), 1_000_000_000, "the l of recursive (c, l)"))
    population = only(form, "population")
    if population:
        found["population"] = number(population, 100_000_000_000, "the size of the population")
    return found


def _share(text: str, words: str) -> str:
    from glasshouse import bounds

    try:
        bounds.exact(text[: _LONGEST + 1])
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{words} must be a number such as 0.2 or 1/5") from None
    if len(text) > _LONGEST:
        raise InputError(f"{words} must be a number such as 0.2 or 1/5")
    return text


ROUTES = [
    Route(_PAGE, _show),
    Route(f"{_PAGE}/verify", _verify, methods=["POST"]),
    Route(f"{_PAGE}/upload", _upload, methods=["POST"]),
    Route(f"{_PAGE}/count", _count, methods=["POST"]),
]
