# SPDX-License-Identifier: Apache-2.0
"""The analyst's view: questions in SQL, answered from the release with intervals; the true answers are confidential."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from starlette.responses import Response
from starlette.routing import Route

from glasshouse.errors import GlasshouseError, InputError
from glasshouse.studio.page import desk_of, form_of, page, to
from glasshouse.studio.steps.sight import number, only, sight_of

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["ROUTES"]

_PAGE = "/look/analyst"
_ASK = "look-answer"
_MODELS = ("learned", "uniform")
_KINDS = {"csv": "text/csv", "json": "application/json"}


async def _show(request: Request) -> Response:
    return _page(request)


def _page(request: Request, trouble: str = "", given: dict[str, Any] | None = None) -> Response:
    desk = desk_of(request)
    status = 400 if trouble else 200
    sight = sight_of(desk)
    if sight is None:
        return page(request, "analyst.html", status=status, sight=None, trouble_words=trouble)
    look = sight.first_look(desk)
    job, asked = sight.job(desk, _ASK)
    return page(
        request,
        "analyst.html",
        status=status,
        sight=sight,
        look=look,
        found=look.result if look.state == "done" else None,
        job=job,
        answer=job.result if job is not None and job.state == "done" else None,
        asked={"sql": "", "model": "learned", **(given or asked)},
        trouble_words=trouble,
    )


async def _ask(request: Request) -> Response:
    desk, form = desk_of(request), await form_of(request)
    asked: dict[str, Any] = {}
    try:
        sight = sight_of(desk)
        if sight is None:
            raise InputError("there is no release to ask: publish one in the step before")
        model = only(form, "model", "learned")
        if model not in _MODELS:
            raise InputError("choose a model from the list")
        sql, example = only(form, "sql"), only(form, "example")
        if example:
            known = (sight.first_look(desk).result or {}).get("examples", [])
            sql = known[number(example, len(known), "the number of an example")] if known else ""
        asked = {"sql": sql, "model": model}
        if not sql:
            raise InputError("write a question, or choose one of the examples")
        kept = hashlib.sha256(sight.mark.encode()).hexdigest()[:16]
        keep = desk.workspace.folder / "learned" / f"{kept}.json"
        keep.parent.mkdir(mode=0o700, exist_ok=True)
        given = {"release": str(sight.folder), **asked, "keep": str(keep), "table": sight.table}
        sight.start(desk, _ASK, "answer.ask", given, asked)
    except GlasshouseError as error:
        return _page(request, str(error), asked)
    return to(f"{_PAGE}#answer")


async def _file(request: Request) -> Response:
    """The answer as a file: the estimates from the release, without the true answers."""
    desk, kind = desk_of(request), request.path_params["kind"]
    sight = sight_of(desk)
    answer = None if sight is None else sight.found(desk, _ASK)
    if answer is None or kind not in _KINDS:
        return page(request, "lost.html", status=404, words="There is no answer to save: ask a question first.")
    return Response(
        answer[kind],
        media_type=_KINDS[kind],
        headers={"Content-Disposition": f'attachment; filename="answer.{kind}"'},
    )


ROUTES = [
    Route(_PAGE, _show),
    Route(f"{_PAGE}/ask", _ask, methods=["POST"]),
    Route(f"{_PAGE}/answer.{{kind}}", _file),
]
