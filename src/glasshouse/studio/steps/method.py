# SPDX-License-Identifier: Apache-2.0
"""The third step: the usual way to publish, ways side by side, and any way by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from glasshouse.errors import GlasshouseError, InputError
from glasshouse.studio.page import OVERTAKEN, Step, desk_of, form_of, fragment, is_overtaken, page, to
from glasshouse.studio.steps.privacy import choose_usual, closed, read_names, sketched

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from glasshouse.journeys.advice.sketch import Sketch
    from glasshouse.studio.desk import Desk
    from glasshouse.studio.job import Job
    from glasshouse.studio.outlook import Outlook

__all__ = ["STEP"]

_PRESENCE = ("secret", "public")


def _about(desk: Desk) -> str:
    """The inputs of a comparison: the table, and what is asked for."""
    from glasshouse.studio.offers import ASKED

    return desk.about((*read_names(), *(name for name in ASKED if name not in ("retention", "domain")), "suppress"))


# --- pages ------------------------------------------------------------------------------------------------------------


async def _show(request: Request) -> Response:
    desk = desk_of(request)
    job, sketch = sketched(desk)
    if sketch is None:
        return page(request, "method.html", why=closed(desk), reading=job, sketch=None)
    choose_usual(desk, sketch)
    return _page(request, sketch, desk.choices)


def _page(
    request: Request,
    sketch: Sketch,
    choices: Mapping[str, Any],
    *,
    form: Mapping[str, Sequence[str]] | None = None,
    refused: str = "",
    status: int = 200,
) -> Response:
    """The page, as it was decided, or with the way by hand as it was sent and refused."""
    from glasshouse import catalog
    from glasshouse.policy.choices import publish_arguments
    from glasshouse.studio.offers import asks
    from glasshouse.studio.outlook import Outlook, outlook
    from glasshouse.studio.ways import efforts, fitting, hand_texts, parameters_of

    desk = desk_of(request)
    found = Outlook(refused=refused) if refused else outlook(sketch, choices)
    usual = outlook(sketch, _without_way(choices))
    columns = [*sketch.quasi, *sketch.sensitive]
    texts = hand_texts(choices, columns)
    picked = {"method": choices.get("method", ""), "recoding": choices.get("recoding", "")}
    if form is not None:
        texts = {name: values[0] for name, values in form.items() if name.count(".") == 2}
        picked = {room: form.get(room, [""])[0] for room in picked}
    job = desk.job("compare", about=_about(desk))
    requirement = None if usual.refused else sketch.plan(publish_arguments(_without_way(choices))).plan.requirement
    return page(
        request,
        "method.html",
        status=status,
        why="",
        reading=None,
        sketch=sketch,
        is_asked=asks(choices),
        outlook=found,
        usual=usual,
        job=job,
        told=_told(job),
        methods={} if requirement is None else fitting(requirement),
        recodings=_recodings(sketch, choices) if requirement is not None else {},
        one_way=requirement is not None and requirement.target is not None,
        efforts=efforts(sketch.n_people),
        columns=columns,
        rooms=[
            {
                "name": room,
                "title": title,
                "classes": {n: {"in_words": cls.in_words, "parameters": parameters_of(cls)} for n, cls in classes},
                "picked": picked[room],
            }
            for room, title, classes in (
                ("method", "How people are grouped", list(catalog.METHODS.items())),
                ("recoding", "How groups are published (recoding)", list(catalog.RECODINGS.items())),
            )
        ],
        texts=texts,
    )


def _without_way(choices: Mapping[str, Any]) -> dict[str, Any]:
    """The choices with the usual way; the domain of a bound on probabilities is a part of what is asked for."""
    given_up = ("method", "parameters", "recoding", "recoding_with", "marginal")
    return {name: value for name, value in choices.items() if name not in given_up}


def _recodings(sketch: Sketch, choices: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Every recoding of the catalogue, with the reason if it does not fit."""
    from glasshouse import catalog
    from glasshouse.comparing.compare import recodings_of
    from glasshouse.policy.choices import publish_arguments

    plan = sketch.plan(publish_arguments(_without_way(choices))).plan
    fit, left_out = recodings_of(None, plan.requirement, sketch.kinds.table)
    fitting = {recoding.name for recoding in fit}
    return {
        name: {"fits": name in fitting, "refused": left_out.get(name, ""), "in_words": cls.in_words}
        for name, cls in catalog.RECODINGS.items()
    }


# --- the comparison ---------------------------------------------------------------------------------------------------


def _told(job: Job | None) -> dict[str, Any] | None:
    """What there is to show of a comparison: rows with their numbers, the picture, and the recommendation."""
    if job is None or job.state not in ("running", "done") or not (job.parts or job.result):
        return None
    from glasshouse import catalog
    from glasshouse.comparing.comparison import Row
    from glasshouse.comparing.recommendation import undominated
    from glasshouse.pages.charts.frontier import frontier

    number = {(part["method"], part["recoding"]): i for i, part in enumerate(job.parts)}
    if job.state == "done":
        rows = [dict(row) for row in job.result["rows"]]
    else:
        made = [Row.from_dict(part) for part in job.parts]
        edge = undominated([row for row in made if not row.failed])
        rows = [
            {**part, "way": row.way, "chosen": False, "on_edge": row in edge}
            for part, row in zip(job.parts, made, strict=True)
        ]
    for row in rows:
        row["number"] = number[row["method"], row["recoding"]]
        row["says"] = [
            classes[name].in_words
            for classes, name in ((catalog.METHODS, _name(row, "method")), (catalog.RECODINGS, _name(row, "recoding")))
        ]
    picture = frontier(rows, links=[f"#way-{row['number']}" for row in rows])
    return {"rows": rows, "picture": picture, "found": job.result if job.state == "done" else None}


def _name(row: Mapping[str, Any], room: str) -> str:
    """The method or recoding of a row by its name in the catalogue."""
    recipe = row["recipe"].get(room)
    return str(recipe["name"] if recipe else row[room].partition(" ")[0])


async def _rows(request: Request) -> Response:
    """The finished rows of a running comparison."""
    desk = desk_of(request)
    return fragment("method_rows.html", told=_told(desk.job("compare", about=_about(desk))), desk=desk)


async def _compare(request: Request) -> Response:
    """Start a comparison of the selected ways."""
    from glasshouse import catalog
    from glasshouse.studio.ways import efforts

    desk, form = desk_of(request), await form_of(request)
    _, sketch = sketched(desk)
    if sketch is None:
        return to("/method")
    try:
        methods = _names(form.get("methods", ()), catalog.METHODS)
        recodings = _names(form.get("recodings", ()), catalog.RECODINGS)
        presence = form.get("presence", ["secret"])[0]
        if presence not in _PRESENCE:
            raise InputError("say whether it is a secret who is in the table")
    except GlasshouseError as error:
        return _page(request, sketch, desk.choices, refused=str(error), status=400)
    names = (*read_names(), *_asked_names())
    given = {
        "choices": {name: desk.choices[name] for name in names if name in desk.choices},
        "methods": methods,
        "recodings": recodings,
        "presence": presence,
        **efforts(sketch.n_people),
    }
    desk.start("compare", "ways.compare", given, about=_about(desk))
    return to("/method#compared")


def _asked_names() -> tuple[str, ...]:
    from glasshouse.studio.offers import ASKED

    return (*ASKED, "suppress")


def _names(given: Sequence[str], classes: Mapping[str, Any]) -> list[str]:
    if not given:
        raise InputError("tick at least one method and one recoding")
    for name in given:
        if name not in classes:
            raise InputError("there is no such method or recoding in this form")
    return list(dict.fromkeys(given))


# --- decisions --------------------------------------------------------------------------------------------------------


async def _use(request: Request) -> Response:
    """Publish by the way of a row."""
    from glasshouse.comparing.comparison import Row
    from glasshouse.policy.choices import publish_arguments
    from glasshouse.studio.outlook import outlook
    from glasshouse.studio.ways import choices_of_row

    desk, form = desk_of(request), await form_of(request)
    _, sketch = sketched(desk)
    job = desk.job("compare", about=_about(desk))
    if sketch is None:
        return to("/method")
    if is_overtaken(desk, form):
        return _page(request, sketch, desk.choices, status=OVERTAKEN)
    text, parts = form.get("way", [""])[0], [] if job is None else job.parts
    row = next((part for part in parts if Row.from_dict(part).way == text), None)
    if row is None or not row["recipe"]:
        words = "This way is not among those that were compared last: compare again."
        return _page(request, sketch, desk.choices, refused=words, status=400)
    requirement = sketch.plan(publish_arguments(_without_way(desk.choices))).plan.requirement
    changes = choices_of_row(row["recipe"], requirement)
    changes = {name: value for name, value in changes.items() if name not in ("retention", "domain") or value}
    found = outlook(sketch, _changed(desk, changes))
    if found.refused:
        return _page(request, sketch, desk.choices, refused=found.refused, status=400)
    desk.choose(**changes)
    return to("/method")


def _changed(desk: Desk, changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**desk.choices, **changes}.items() if value is not None}


def _by_hand(form: Mapping[str, Sequence[str]], sketch: Sketch) -> dict[str, Any]:
    from glasshouse.studio.ways import hand_choices

    changes = hand_choices(form, [*sketch.quasi, *sketch.sensitive])
    if changes["recoding"] is None:  # what goes with a bound on probabilities was said in the step before
        del changes["retention"], changes["domain"]
    return changes


async def _words(request: Request) -> Response:
    """What the way by hand means, while it is filled in."""
    from glasshouse.studio.outlook import Outlook, outlook

    desk, form = desk_of(request), await form_of(request)
    _, sketch = sketched(desk)
    if sketch is None:
        return fragment("privacy_words.html", outlook=Outlook(refused="The table is being read."), n_people=0)
    if is_overtaken(desk, form):
        return fragment("overtaken.html", here="method")
    try:
        found = outlook(sketch, _changed(desk, _by_hand(form, sketch)))
    except GlasshouseError as error:
        found = Outlook(refused=str(error))
    return fragment("privacy_words.html", outlook=found, n_people=sketch.n_people)


async def _choose(request: Request) -> Response:
    """Decide on a way by hand, or do what one of the offered buttons does."""
    from glasshouse.studio.outlook import outlook

    desk, form = desk_of(request), await form_of(request)
    _, sketch = sketched(desk)
    if sketch is None:
        return to("/method")
    if is_overtaken(desk, form):
        return _page(request, sketch, desk.choices, status=OVERTAKEN)
    try:
        changes = _by_hand(form, sketch)
    except GlasshouseError as error:
        return _page(request, sketch, desk.choices, form=form, refused=str(error), status=400)
    found = outlook(sketch, _changed(desk, changes))
    if "take" in form:
        return _taken(request, sketch, found, form["take"][0])
    if found.refused:
        return _page(request, sketch, desk.choices, form=form, refused=found.refused, status=400)
    desk.choose(**changes)
    return to("/method")


def _taken(request: Request, sketch: Sketch, found: Outlook, take: str) -> Response:
    from glasshouse.studio.outlook import USUAL_WAY

    desk = desk_of(request)
    remedy = next((one for one in (*found.remedies, USUAL_WAY) if one.name == take), None)
    if remedy is None:
        words = "This offer has changed: look at what is offered now."
        return _page(request, sketch, desk.choices, refused=words, status=400)
    desk.choose(**remedy.choices)
    return to("/method")


def _decided(desk: Desk) -> str:
    from glasshouse.studio.offers import asks

    if closed(desk) or not asks(desk.choices):
        return ""
    method, recoding = desk.choices.get("method"), desk.choices.get("recoding")
    if method is None and recoding is None:
        return "the usual way"
    return f"{method or 'the usual method'} as {recoding or 'usual'}"


STEP = Step(
    name="method",
    title="Method",
    routes=[
        Route("/method", _show),
        Route("/method/rows", _rows),
        Route("/method/compare", _compare, methods=["POST"]),
        Route("/method/use", _use, methods=["POST"]),
        Route("/method/words", _words, methods=["POST"]),
        Route("/method/choose", _choose, methods=["POST"]),
    ],
    decided=_decided,
    closed=closed,
)
