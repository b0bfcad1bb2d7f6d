# SPDX-License-Identifier: Apache-2.0
"""The application: the routes of all steps, the progress of jobs, and the few files that pages need."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from glasshouse.studio.page import RUNNING, desk_of, page, to
from glasshouse.studio.steps import STEPS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from glasshouse.studio.desk import Desk

__all__ = ["application"]

_ASSETS = {"studio.css": "text/css", "studio.js": "text/javascript", "mark.svg": "image/svg+xml"}
_PLACE = re.compile(r"[a-z]+(/[a-z]+)?")  # a step, or a page of one
_LOOK = 0.1  # seconds between two looks at a job


def application(desk: Desk) -> Starlette:
    """The studio for one desk; it must be protected by a `Guard`."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        watch = asyncio.create_task(_watch(desk))
        yield
        watch.cancel()
        await asyncio.to_thread(desk.end)

    made = Starlette(
        routes=[
            Route("/", _first),
            Route("/assets/{name}", _asset),
            Route("/here", _here),
            Route("/jobs/{name}/events", _events),
            Route("/jobs/{name}/cancel", _cancel, methods=["POST"]),
            *(route for step in STEPS for route in step.routes),
        ],
        middleware=[Middleware(_Noting, desk=desk)],
        lifespan=lifespan,
        exception_handlers={404: _not_found, 500: _failed},
    )
    made.state.desk = desk
    return made


class _Noting:
    """Records, for every request, which jobs are running when it arrives."""

    def __init__(self, application: ASGIApp, desk: Desk) -> None:
        self._application, self._desk = application, desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[RUNNING] = self._desk.running
        await self._application(scope, receive, send)


async def _watch(desk: Desk) -> None:
    while True:
        await asyncio.sleep(1)
        desk.end_unattended()


async def _first(request: Request) -> Response:
    return to("/look" if desk_of(request).release else "/data")


async def _here(request: Request) -> Response:
    """A page says that it is still open, so that work goes on while another step is looked at."""
    desk_of(request).attend()
    return Response(status_code=204)


@cache
def _content(name: str) -> bytes:
    own = (files("glasshouse.studio") / "assets" / name).read_bytes()
    if name != "studio.css":
        return own
    return (files("glasshouse.pages") / "templates" / "style.css").read_bytes() + own


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _ASSETS:
        return PlainTextResponse("there is no such file\n", 404)
    return Response(_content(name), media_type=_ASSETS[name])


async def _events(request: Request) -> Response:
    """The progress of a job, sent whenever it changes, as server-sent events."""
    desk, name = desk_of(request), request.path_params["name"]

    async def told() -> AsyncIterator[str]:
        version = -1
        while True:
            job = desk.job(name)
            if job is None:
                yield _event({"state": "gone"})
                return
            job.attend()
            if job.version != version:
                version = job.version
                yield _event(job.to_dict())
            if not job.runs:
                return
            if await request.is_disconnected():
                return
            await asyncio.sleep(_LOOK)

    return StreamingResponse(told(), media_type="text/event-stream")


def _event(content: dict[str, Any]) -> str:
    return f"data: {json.dumps(content)}\n\n"


async def _cancel(request: Request) -> Response:
    desk_of(request).cancel(request.path_params["name"])
    form = await request.form(max_files=0)
    back = form.get("to")
    known = isinstance(back, str) and _PLACE.fullmatch(back) and back.partition("/")[0] in {step.name for step in STEPS}
    return to(f"/{back}" if known else "/")


async def _not_found(request: Request, _: Exception) -> Response:
    return page(request, "lost.html", status=404, words="There is no such page.")


async def _failed(request: Request, error: Exception) -> Response:
    words = f"Something went wrong in the studio itself ({type(error).__name__}). Nothing was published by this step."
    return page(request, "lost.html", status=500, words=words)
