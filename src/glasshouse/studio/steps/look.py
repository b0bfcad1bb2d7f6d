# SPDX-License-Identifier: Apache-2.0
"""The last step: the release as an attacker, an analyst and an auditor see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from glasshouse.studio.page import Step, desk_of, page, to
from glasshouse.studio.steps import adversary, analyst, auditor
from glasshouse.studio.steps.sight import sight_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["STEP"]


async def _show(request: Request) -> Response:
    desk = desk_of(request)
    sight = sight_of(desk)
    job = None if sight is None else sight.first_look(desk)
    found = job.result if job is not None and job.state == "done" else None
    return page(request, "look.html", sight=sight, job=job, found=found, promised=adversary.PROMISED)


async def _again(request: Request) -> Response:
    desk = desk_of(request)
    desk.forget("look-release")
    return to("/look")


STEP = Step(
    name="look",
    title="Look at it",
    routes=[
        Route("/look", _show),
        Route("/look/again", _again, methods=["POST"]),
        *adversary.ROUTES,
        *analyst.ROUTES,
        *auditor.ROUTES,
    ],
    decided=lambda desk: "",
    closed=lambda desk: "",
)
