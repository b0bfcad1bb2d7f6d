# SPDX-License-Identifier: Apache-2.0
"""The page of a column's taxonomy: a rule, an uploaded hierarchy, or a typed tree, shown with all levels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from glasshouse.errors import GlasshouseError, InputError
from glasshouse.studio.open_table import READ, check, found
from glasshouse.studio.page import desk_of, form_of, fragment, page, to
from glasshouse.studio.steps.data_columns import UNITS, column_of, role_of
from glasshouse.studio.upload import upload_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from glasshouse.studio.desk import Desk
    from glasshouse.studio.job import Job

__all__ = ["ROUTES", "send"]

KINDS = ("none", "prefix", "intervals", "dates", "tree")
TREES = "taxonomies"
"""The folder of the workspace in which trees lie."""
MOST_SENT = 64 << 20  # bytes of a hierarchy
MOST_EDITED = 2_000  # lines of a tree that is edited in a page
_LONGEST = 40

_RULES = {
    "integer": ("prefix", "intervals"),
    "float": ("intervals",),
    "date": ("dates",),
    "timestamp": ("dates",),
    "category": ("prefix",),
    "text": ("prefix",),
}
"""The rules that fit a column, by what it holds."""

Form = dict[str, list[str]]


class _Place(NamedTuple):
    """A column of the open table."""

    number: int
    name: str
    column: Mapping[str, Any]


def _place(request: Request, number: str) -> _Place:
    seen = found(desk_of(request))
    if seen is None:
        raise InputError("the table was not looked at yet: go back to it, and wait until its columns are shown")
    i = column_of(number, seen)
    return _Place(i, seen["columns"][i]["name"], seen["columns"][i])


def _values(desk: Desk, place: _Place) -> Job:
    """The different values of the column: found, or being read."""
    categorical = place.name in desk.choices.get("categorical", ())
    about = (desk.about(READ), place.number, categorical)
    job = desk.job("values", about=about)
    if job is None or job.state == "cancelled":
        given = {name: desk.choices.get(name) for name in READ}
        given |= {"column": place.name, "categorical": categorical}
        job = desk.start("values", "column_values.values", given, about=about)
    job.attend()
    return job


# --- what a form says -------------------------------------------------------------------------------------------------


def _rule(form: Form, kind: str) -> str:
    """A rule as a text, such as ``prefix:5``."""
    if kind == "dates":
        units = [unit for unit in UNITS if unit in form.get("dates", [])]
        if not units:
            raise InputError("choose at least one level of dates")
        return f"dates:{','.join(units)}"
    typed = form.get(kind, [""])[-1].strip()[:_LONGEST]
    if kind == "prefix":
        if not (typed.isascii() and typed.isdecimal() and len(typed) < 4 and 1 <= int(typed) <= 100):
            raise InputError("the number of characters must be a whole number from 1 to 100")
        return f"prefix:{int(typed)}"
    try:
        width = float(typed)
    except ValueError:
        width = 0.0
    if not 0 < width < float("inf") or "_" in typed:
        raise InputError("the width of a range must be a number above 0, such as 10 or 0.5")
    return f"intervals:{typed}"


def _kind(form: Form) -> str:
    kind = form.get("kind", [""])[-1]
    if kind not in KINDS:
        raise InputError("choose how values are coarsened")
    return kind


def _made(form: Form, kind: str) -> tuple[Any, str]:
    """The taxonomy that a form describes, and its text: that of a rule, or the JSON of a tree."""
    from glasshouse.microdata import Taxonomy
    from glasshouse.studio.taxonomies import from_outline

    if kind != "tree":
        text = _rule(form, kind)
        return Taxonomy.of(text), text
    nested = from_outline(form.get("outline", [""])[-1])
    return Taxonomy.from_nested(nested), json.dumps(nested, ensure_ascii=False, indent=1)


def _levels(taxonomy: Any, name: str, stream: bytes) -> list[dict[str, Any]]:
    from glasshouse.studio.taxonomies import levels_of, values_of

    values = values_of(stream)
    if not len(values):
        raise InputError("the column has no values: leave it out")
    return levels_of(taxonomy, name, values)


def _preview(form: Form, name: str, stream: bytes) -> dict[str, Any]:
    """Every level of what a form describes, or what is wrong with it."""
    try:
        kind = _kind(form)
        if kind == "none":
            return {"kind": "none", "levels": [], "trouble": ""}
        return {"kind": kind, "levels": _levels(_made(form, kind)[0], name, stream), "trouble": ""}
    except GlasshouseError as error:
        return {"kind": "", "levels": [], "trouble": str(error)}


def _saved(desk: Desk, place: _Place, form: Form, stream: bytes) -> None:
    """Decide on what a form describes, if it fits the values of the column."""
    kind = _kind(form)
    if kind == "none":
        _choose(desk, place, None)
        return
    taxonomy, text = _made(form, kind)
    _levels(taxonomy, place.name, stream)
    if kind == "tree":
        path = desk.workspace.new(TREES, f"tree-{place.number + 1}.json")
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
        text = str(path)
    _choose(desk, place, text)


def _choose(desk: Desk, place: _Place, text: str | None) -> None:
    """Remember the taxonomy of a column, and use it if the column is published."""
    trees = {**desk.notes.get("trees", {}), place.name: text}
    desk.notes["trees"] = {name: tree for name, tree in trees.items() if tree is not None}
    chosen = {name: tree for name, tree in desk.choices.get("taxonomy", {}).items() if name != place.name}
    if text is not None and role_of(desk, place.name) in ("quasi", "sensitive"):
        chosen[place.name] = text
    desk.choose(taxonomy=chosen)
    check(desk)


# --- what a page shows ------------------------------------------------------------------------------------------------


def _form_of(text: str | None, column: Mapping[str, Any], stream: bytes) -> Form:
    """The current content of the form: the decisions, and sensible defaults in all other fields."""
    from glasshouse.microdata import Taxonomy
    from glasshouse.studio.taxonomies import outline_of, outline_of_values, values_of

    values = values_of(stream)
    longest = max((len(str(value)) for value in values.slice(0, 1000).to_pylist()), default=5)
    form: Form = {
        "kind": ["none"],
        "prefix": [str(min(longest, 100))],
        "intervals": [column["width"] or "10"],
        "dates": ["month", "quarter", "year"],
    }
    tree = None
    if text is not None:
        kind, _, argument = text.partition(":")
        tree = Taxonomy.of(text)
        if tree.is_listed:
            form["kind"] = ["tree"]
        else:
            form |= {"kind": [kind], kind: argument.split(",")}
    if tree is not None and tree.is_listed:
        form["outline"] = outline_of(tree)
    elif len(values) <= MOST_EDITED:
        form["outline"] = outline_of_values(values, tree)
    return form


async def _shown(request: Request, place: _Place, *, form: Form | None = None, trouble: str = "") -> Response:
    desk = desk_of(request)
    job = _values(desk, place)
    state = job.state  # looked at once, for work can end while the page is written
    given: dict[str, Any] = {"form": None, "lines": None, "preview": None, "values": None}
    if state == "done":
        text, stream = desk.notes.get("trees", {}).get(place.name), job.result["stream"]
        try:
            stands = await run_in_threadpool(_form_of, text, place.column, stream)
        except GlasshouseError as error:
            trouble = trouble or str(error)
            stands = await run_in_threadpool(_form_of, None, place.column, stream)
        if form is not None:
            lines = form.get("outline", [""])[-1].replace("\r", "").split("\n")
            stands = {**stands, **form, "outline": lines}
        lines = stands.get("outline", [])
        shown = {**stands, "outline": ["\n".join(lines)]}
        given = {
            "form": stands,
            "lines": lines if 0 < len(lines) <= MOST_EDITED else None,
            "preview": await run_in_threadpool(_preview, shown, place.name, stream),
            "values": job.result,
        }
    return page(
        request,
        "data_taxonomy.html",
        status=400 if trouble else 200,
        place=place,
        job=job,
        state=state,
        trouble=trouble,
        units=UNITS,
        is_sensitive=role_of(desk, place.name) == "sensitive",
        rules=_RULES.get(place.column["kind"], ()),
        of=desk.notes["of"],
        **given,
    )


def _lost(request: Request, error: Exception) -> Response:
    return page(request, "lost.html", status=400, words=f"{error}.")


async def _show(request: Request) -> Response:
    try:
        place = _place(request, request.path_params["number"])
    except InputError as error:
        return _lost(request, error)
    return await _shown(request, place)


async def _checked(request: Request) -> tuple[_Place, Form, Job]:
    """The column, the form and the values that a request is about; `InputError` if they do not belong together."""
    desk, form = desk_of(request), await form_of(request)
    place = _place(request, request.path_params["number"])
    if form.get("of") != [desk.notes["of"]]:
        raise InputError("this form was about another table: load the page again")
    return place, form, _values(desk, place)


async def _show_preview(request: Request) -> Response:
    try:
        place, form, job = await _checked(request)
        if job.state != "done":
            raise InputError("the values of the column are being read: wait a moment")
        preview = await run_in_threadpool(_preview, form, place.name, job.result["stream"])
    except InputError as error:
        preview = {"kind": "", "levels": [], "trouble": str(error)}
    return fragment("data_levels.html", preview=preview)


async def _save(request: Request) -> Response:
    try:
        place, form, job = await _checked(request)
    except InputError as error:
        return _lost(request, error)
    if job.state != "done":
        return await _shown(request, place)
    try:
        await run_in_threadpool(_saved, desk_of(request), place, form, job.result["stream"])
    except GlasshouseError as error:
        return await _shown(request, place, form=form, trouble=str(error))
    return to(f"/data#column-{place.number}")


async def send(request: Request) -> Response:
    """Receive an uploaded hierarchy for a column."""
    from glasshouse.studio.taxonomies import rows_of

    desk = desk_of(request)
    try:
        place = _place(request, request.query_params["taxonomy"])
        if request.query_params.get("of") != desk.notes["of"]:
            raise InputError("this form was about another table: load the page again")
    except InputError as error:
        return _lost(request, error)
    try:
        upload = await upload_of(request, desk.workspace, TREES, most=MOST_SENT)
        try:
            content = upload.path.read_bytes()
        finally:
            upload.path.unlink()
        is_json = upload.name.lower().endswith(".json")
        text = content if is_json else (await run_in_threadpool(rows_of, content)).encode()
        path = desk.workspace.new(TREES, f"tree-{place.number + 1}.{'json' if is_json else 'csv'}")
        path.write_bytes(text)
        path.chmod(0o600)
        await run_in_threadpool(_checked_file, desk, place, str(path))
    except GlasshouseError as error:
        return await _shown(request, place, trouble=str(error))
    return to(f"/data/taxonomy/{place.number}")


def _checked_file(desk: Desk, place: _Place, path: str) -> None:
    """Decide on the tree in a file, if it can be read and fits the values of the column."""
    from pathlib import Path

    from glasshouse.microdata import Taxonomy

    try:
        taxonomy = Taxonomy.of(path)
        job = _values(desk, place)
        if job.wait(60) and job.state == "done":
            _levels(taxonomy, place.name, job.result["stream"])
    except GlasshouseError:
        Path(path).unlink()
        raise
    _choose(desk, place, path)


ROUTES = [
    Route("/data/taxonomy/{number}", _show),
    Route("/data/taxonomy/{number}", _save, methods=["POST"]),
    Route("/data/taxonomy/{number}/preview", _show_preview, methods=["POST"]),
]
