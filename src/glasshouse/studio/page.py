# SPDX-License-Identifier: Apache-2.0
"""A page of the studio: a template, the rail of steps beside it, and what was decided in each of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, RedirectResponse

from glasshouse.errors import GlasshouseError
from glasshouse.pages.html import environment_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jinja2 import Environment
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from glasshouse.studio.desk import Desk

__all__ = ["OVERTAKEN", "Step", "desk_of", "form_of", "fragment", "is_overtaken", "page", "seen", "to"]

# Kinds of files, with the module that reads each, by the extra that brings it.
_NEEDED: tuple[tuple[str, dict[str, str]], ...] = (
    ("formats", {"Excel": "openpyxl", "Stata": "pyreadstat", "SPSS": "pyreadstat", "SAS": "pyreadstat"}),
    ("frames", {"DuckDB": "duckdb"}),
)
RUNNING = "glasshouse.running"  # in the scope of a request: what ran when it came
OVERTAKEN = 409
"""The status of a page that is shown again because its choices were changed elsewhere: it says so."""
MOST_FIELDS = 20_000  # of a form: a table may have thousands of columns


@dataclass(frozen=True, kw_only=True)
class Step:
    """One of the steps in the rail.

    Parameters
    ----------
    name
        Its path and its template: ``data`` is at ``/data``.
    title
        What the rail calls it.
    routes
        Its pages and forms.
    decided
        What was decided in it, in a few words for the rail; empty if nothing was.
    closed
        Why it cannot be entered yet; empty if it can.
    """

    name: str
    title: str
    routes: Sequence[BaseRoute] = field(repr=False)
    decided: Callable[[Desk], str]
    closed: Callable[[Desk], str]


@cache
def environment() -> Environment:
    """The template engine of the studio, with escaping as in the pages of the package."""
    made = environment_of("glasshouse.studio", "glasshouse.pages")
    made.globals["files_read"] = files_read
    return made


def files_read() -> str:
    """The kinds of files that can be read here, in words: some need a package that may not be installed."""
    missing = {extra: [kind for kind, needed in kinds.items() if not find_spec(needed)] for extra, kinds in _NEEDED}
    optional = [kind for extra, kinds in _NEEDED for kind in kinds if kind not in missing[extra]]
    words = _either(["CSV", "Parquet", "Arrow", "ORC", "SQLite", *optional])
    more = [
        f" To read {_either(kinds)}, install an optional package: pip install 'glasshouse[{extra}]'."
        for extra, kinds in missing.items()
        if kinds
    ]
    return f"{words}.{''.join(more)}"


def _either(kinds: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1])))


def desk_of(request: Request) -> Desk:
    """The desk of the application."""
    desk: Desk = request.app.state.desk
    return desk


def page(request: Request, template: str, *, status: int = 200, **given: Any) -> Response:
    """A complete page, with the list of steps."""
    from glasshouse.studio.steps import STEPS

    desk = desk_of(request)
    desk.attend()
    overtaken = status == OVERTAKEN or "overtaken" in request.query_params
    here = request.url.path.split("/")[1]
    rail = [
        {
            "name": step.name,
            "title": step.title,
            "here": step.name == here,
            "decided": step.decided(desk),
            "closed": step.closed(desk),
        }
        for step in STEPS
    ]
    text = (
        environment()
        .get_template(template)
        .render({"desk": desk, "rail": rail, "here": here, "overtaken": overtaken, **given})
    )
    # Work that ended while the page was made may be shown neither as running nor as done: such a page is asked again.
    ended = request.scope.get(RUNNING, frozenset()) - desk.running
    return HTMLResponse(text, status, {"Refresh": "0"} if ended and request.method == "GET" else None)


def fragment(template: str, **given: Any) -> Response:
    """A part of a page, which the script puts in its place."""
    return HTMLResponse(environment().get_template(template).render(given))


def to(path: str) -> Response:
    """Go on to a page after a form."""
    return RedirectResponse(path, 303)


async def form_of(request: Request) -> dict[str, list[str]]:
    """The fields of a form, each with all of its values; files are not taken here."""
    form = await request.form(max_files=0, max_fields=MOST_FIELDS)
    found: dict[str, list[str]] = {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            found.setdefault(name, []).append(value)
    return found


def is_overtaken(desk: Desk, form: Mapping[str, Sequence[str]]) -> bool:
    """Whether a form was made for other choices than those that are decided now, as another tab can do."""
    return form.get("mark") != [desk.mark]


def seen(error: BaseException) -> str:
    """The text of a page for an error: our own messages are written for users, others are not shown."""
    return str(error) if isinstance(error, GlasshouseError) else f"an error in Glasshouse ({type(error).__name__})"
