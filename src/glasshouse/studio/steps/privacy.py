# SPDX-License-Identifier: Apache-2.0
"""The second step: what is asked for, what it means for a person, and how much of it the table allows."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from glasshouse import bounds
from glasshouse.errors import GlasshouseError, InputError
from glasshouse.studio.page import OVERTAKEN, Step, desk_of, form_of, fragment, is_overtaken, page, to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from glasshouse.journeys.advice.sketch import Sketch
    from glasshouse.studio.desk import Desk
    from glasshouse.studio.job import Job
    from glasshouse.studio.outlook import Outlook

__all__ = ["STEP", "choose_usual", "closed", "sketched"]

_ELL = _K = 5  # what is asked for where the table allows it and nothing was decided
_UNATTENDED = 10.0  # seconds after which work was not ended by the person who looks at it now
_MOST_VALUES = 300  # that a form lists
_MOST_SLIDER, _LEAST_SLIDER = 60, 10


def read_names() -> tuple[str, ...]:
    """The choices on which the sketch of a table depends."""
    from glasshouse.policy.keys import COLUMN, TABLES

    keys = (*TABLES["source"].values(), *TABLES["roles"].values(), *COLUMN.values())
    return tuple(key.choice for key in keys)


def closed(desk: Desk) -> str:
    """Why nothing can be promised yet."""
    if not desk.has_table:
        return "choose a table first"
    return "" if desk.choices.get("quasi") else "say first which columns others may know"


def sketched(desk: Desk) -> tuple[Job | None, Sketch | None]:
    """The work that sketches the table as it is read now, and the sketch if it is made."""
    if closed(desk):
        return None, None
    names = read_names()
    about = desk.about(names)
    job = desk.job("sketch", about=about)
    if job is None or (job.state == "cancelled" and job.unattended > _UNATTENDED):
        choices = {name: desk.choices[name] for name in names if name in desk.choices}
        job = desk.start("sketch", "table_sketch.sketch", {"choices": choices}, about=about)
    job.attend()
    return job, desk.found("sketch", about=about)


def choose_usual(desk: Desk, sketch: Sketch) -> None:
    """Choose the usual guarantee, if none was chosen and the table allows it."""
    from glasshouse.principles.l_diversity import LDiversity
    from glasshouse.studio.offers import asks, choices_for

    if asks(desk.choices):
        return
    if not sketch.sensitive:
        desk.choose(k=max(2, min(_K, sketch.n_people)))
        return
    usual = sketch.feasible(LDiversity(ell=_ELL))
    if usual is not None:
        desk.choose(**choices_for(usual))


# --- pages ------------------------------------------------------------------------------------------------------------


async def _show(request: Request) -> Response:
    desk = desk_of(request)
    job, sketch = sketched(desk)
    if sketch is None:
        return page(request, "privacy.html", why=closed(desk), job=job, sketch=None)
    choose_usual(desk, sketch)
    return _form(request, sketch, desk.choices)


def _form(
    request: Request,
    sketch: Sketch,
    choices: Mapping[str, Any],
    *,
    form: Mapping[str, Sequence[str]] | None = None,
    refused: str = "",
    status: int = 200,
) -> Response:
    """The page with its form: as it was decided, or as it was sent and refused."""
    from glasshouse.studio.offers import OFFERS, asks, texts_of
    from glasshouse.studio.outlook import Outlook, outlook

    asked, texts, columns = texts_of(choices, sketch.sensitive)
    texts["suppress"] = _percent(choices.get("suppress"))
    if form is not None:
        asked = [name for name in form.get("ask", ()) if name in OFFERS]
        texts |= {name: form[name][0] for name in texts if form.get(name)}
        columns |= _ticked(form, columns)
    ell = _largest_ell(sketch)
    found = Outlook(refused=refused) if refused else outlook(sketch, choices) if asks(choices) else _nothing(sketch)
    return page(
        request,
        "privacy.html",
        status=status,
        why="",
        job=None,
        sketch=sketch,
        offers=list(OFFERS.values()),
        asked=asked,
        texts=texts,
        columns=columns,
        values=_values(sketch, choices.get("designated") or (), form),
        slider=min(_MOST_SLIDER, max(_LEAST_SLIDER, 2 * ell)),
        outlook=found,
        **_reach(sketch, ell),
    )


def _ticked(form: Mapping[str, Sequence[str]], columns: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """By offer, the columns that a form names, as it was sent."""
    sent = [name for name in columns if f"{name}.of-columns" in form]
    return {name: [n for n in range(len(columns[name])) if str(n) in form.get(f"{name}.columns", ())] for name in sent}


def _values(
    sketch: Sketch, designated: Sequence[str] | Mapping[str, Sequence[str]], form: Mapping[str, Sequence[str]] | None
) -> list[dict[str, Any]]:
    """For every sensitive column what its values are, which of them the form lists, and which of these are picked."""
    from glasshouse.cells.values import text_of

    found, several = [], len(sketch.sensitive) > 1
    for number, name in enumerate(sketch.sensitive):
        place = f"designated-l-diversity.values{f'@{number}' * several}"
        own = designated.get(name, ()) if isinstance(designated, Mapping) else designated
        values = sketch.values(number)
        listed = [(text_of(value), n) for value, n in values[:_MOST_VALUES] if value is not None]
        sent = None if form is None else form.get(place, ())
        picked = [text in own if sent is None else str(i) in sent for i, (text, _) in enumerate(listed)]
        shown = [{"text": text, "count": n, "picked": on} for (text, n), on in zip(listed, picked, strict=True)]
        found.append({"name": name, "place": place, "values": shown, "n_more": max(0, len(values) - _MOST_VALUES)})
    return found


def _largest_ell(sketch: Sketch) -> int:
    """The largest l that the table allows; 1 if there is none."""
    from glasshouse.bounds import MOST_WHOLE
    from glasshouse.principles.l_diversity import LDiversity

    found = sketch.feasible(LDiversity(ell=MOST_WHOLE)) if sketch.sensitive else None
    return found.terms.one_in or 1 if found is not None else 1


def _reach(sketch: Sketch, ell: int) -> dict[str, Any]:
    """How large l can be, what prevents a larger l, and what it would cost."""
    from glasshouse.principles.l_diversity import LDiversity
    from glasshouse.studio.outlook import costs_of_larger, obstacle_of

    if not sketch.sensitive:
        return {"largest": 1, "obstacle": None, "larger": []}
    error = sketch.obstacle(LDiversity(ell=ell + 1))
    obstacle = None if error is None else obstacle_of(error)
    return {"largest": ell, "obstacle": obstacle, "larger": costs_of_larger(sketch, ell)}


def _nothing(sketch: Sketch) -> Outlook:
    """The text if nothing is decided because the usual guarantee is impossible."""
    from glasshouse.studio.outlook import outlook

    return outlook(sketch, {"ell": 2})


def _value_names(sketch: Sketch) -> dict[str, list[str]]:
    """The values that the form lists for every sensitive column, in its order."""
    return {column["name"]: [value["text"] for value in column["values"]] for column in _values(sketch, (), None)}


def _percent(share: Any) -> str:
    if share in (None, 0, "0"):
        return ""
    from glasshouse.principles.parameters import exact_share, plain

    return str(plain(exact_share(share) * 100))


# --- forms ------------------------------------------------------------------------------------------------------------


def _sent(form: Mapping[str, Sequence[str]], sketch: Sketch) -> dict[str, Any]:
    """The choices that the sent form would make, with None for those it removes."""
    from glasshouse.principles.parameters import plain
    from glasshouse.studio.offers import choices_from

    text = (form.get("suppress", ("",))[0] or "0").strip()
    try:
        percent = bounds.exact(text)
    except ValueError:
        percent = Fraction(-1)
    if not 0 <= percent < 100:
        raise InputError("the share of records that may be left out must be a percentage of at least 0 and below 100")
    share = str(plain(percent / 100)) if percent else None
    return {**choices_from(form, _value_names(sketch)), "suppress": share}


def _as_decided(desk: Desk, changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**desk.choices, **changes}.items() if value is not None}


async def _words(request: Request) -> Response:
    """What the form means as it stands, while it is filled in."""
    from glasshouse.studio.outlook import Outlook, outlook

    desk, form = desk_of(request), await form_of(request)
    _, sketch = sketched(desk)
    if sketch is None:
        return fragment("privacy_words.html", outlook=Outlook(refused="The table is being read."), n_people=0)
    if is_overtaken(desk, form):
        return fragment("overtaken.html", here="privacy")
    try:
        found = outlook(sketch, _as_decided(desk, _sent(form, sketch)))
    except GlasshouseError as error:
        found = Outlook(refused=str(error))
    return fragment("privacy_words.html", outlook=found, n_people=sketch.n_people)


async def _decide(request: Request) -> Response:
    """Decide what the form says, or what one of the offered buttons does."""
    from glasshouse.studio.outlook import outlook

    desk = desk_of(request)
    form = await form_of(request)
    _, sketch = sketched(desk)
    if sketch is None:
        return to("/privacy")
    if is_overtaken(desk, form):
        return _form(request, sketch, desk.choices, status=OVERTAKEN)
    try:
        changes = _sent(form, sketch)
    except GlasshouseError as error:
        return _form(request, sketch, desk.choices, form=form, refused=str(error), status=400)
    wanted = _as_decided(desk, changes)
    found = outlook(sketch, wanted)
    take = form.get("take", [""])[0]
    if take:
        remedy = next((one for one in found.remedies if one.name == take), None)
        if remedy is None:
            words = "This offer has changed: look at what is offered now."
            return _form(request, sketch, desk.choices, form=form, refused=words, status=400)
        desk.choose(**{**changes, **remedy.choices})
        return to("/privacy")
    if found.refused:
        return _form(request, sketch, wanted, form=form)
    desk.choose(**changes)
    return to("/release" if "publish" in form else "/method" if "go" in form else "/privacy")


async def _again(request: Request) -> Response:
    desk_of(request).forget("sketch")
    return to("/privacy")


def _decided(desk: Desk) -> str:
    if closed(desk):
        return ""
    from glasshouse.studio.offers import asks

    if not asks(desk.choices):
        return ""
    from glasshouse.policy.choices import principle
    from glasshouse.studio.outlook import title_of

    try:
        title = title_of(principle(desk.choices))
    except GlasshouseError:
        return "not yet possible"
    left_out = _percent(desk.choices.get("suppress"))
    return f"{title}, up to {left_out} % left out" if left_out else title


STEP = Step(
    name="privacy",
    title="Privacy",
    routes=[
        Route("/privacy", _show),
        Route("/privacy", _decide, methods=["POST"]),
        Route("/privacy/words", _words, methods=["POST"]),
        Route("/privacy/again", _again, methods=["POST"]),
    ],
    decided=_decided,
    closed=closed,
)
