# SPDX-License-Identifier: Apache-2.0
"""The attacker's view: what the attacker knows, and what follows for one person and for everybody."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from glasshouse.errors import GlasshouseError, InputError
from glasshouse.studio.page import desk_of, form_of, page, to
from glasshouse.studio.steps.sight import number, only, place_of, sight_of
from glasshouse.studio.tasks.attack import is_promised

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from glasshouse.studio.desk import Desk
    from glasshouse.studio.steps.sight import Sight

__all__ = ["ROUTES"]

_PAGE = "/look/adversary"
_ATTACK, _PERSON, _SOMEBODY = "look-attack", "look-person", "look-somebody"
_EFFORTS = ("brief", "full")
_MOST_SHOWN = 2_000  # letters of a field that is shown again
_MOST_FOUND_OUT = 1_000  # people whose values are told
KNOWS = {
    "linking": (
        "The release",
        "The attacker has the release and a list of people with their quasi-identifiers, and looks people up in it.",
    ),
    "reverse-engineering": (
        "The release and the algorithm",
        "The attacker also knows how the release was made, and works out which tables could have given it.",
    ),
    "corruption": (
        "The release and some people's values",
        "The attacker also knows the values of some people, and subtracts them from the counts of their groups.",
    ),
    "intersection": (
        "This release and an earlier one",
        (
            "The attacker has two releases about the same people, looks up a person's group in each of them, and sees "
            "which values the two groups have in common."
        ),
    ),
    "definetti": (
        "The release and the population",
        (
            "The attacker learns from all groups together how the sensitive value depends on the other columns, and "
            "guesses for each person the value that is usual for similar people."
        ),
    ),
}
"""What an attacker can know, by the names of attacks, in plain words."""
PROMISED = {
    "linking": "who has the release and everybody's quasi-identifiers",
    "algorithm-aware": "who also knows the algorithm",
    "corrupting": "who also knows the algorithm, and the values of other people",
}
"""The attackers that guarantees are about, in plain words."""
WHOLE_LIST = ("reverse-engineering", "intersection")
"""Attacks that need everybody in the table on the list of people."""


async def _show(request: Request) -> Response:
    return _page(request)


def _page(request: Request, trouble: str = "", form: dict[str, list[str]] | None = None) -> Response:
    desk = desk_of(request)
    status = 400 if trouble else 200
    sight = sight_of(desk)
    if sight is None:
        return page(request, "adversary.html", status=status, sight=None, trouble_words=trouble)
    look = sight.first_look(desk)
    attack, asked = sight.job(desk, _ATTACK)
    person, _ = sight.job(desk, _PERSON)
    somebody, described = sight.job(desk, _SOMEBODY)
    return page(
        request,
        "adversary.html",
        status=status,
        sight=sight,
        look=look,
        found=look.result if look.state == "done" else None,
        attack=attack,
        attacked=attack.result if attack is not None and attack.state == "done" else None,
        asked={"attack": "linking", **(_typed(form) if form else described.get("asked") or asked)},
        person=person,
        somebody=somebody,
        described=_described(form) if form else described.get("values", []),
        knows=KNOWS,
        promised=PROMISED,
        is_promised=is_promised,
        whole_list=WHOLE_LIST,
        trouble_words=trouble,
    )


# --- forms ------------------------------------------------------------------------------------------------------------


async def _attack(request: Request) -> Response:
    desk, form = desk_of(request), await form_of(request)
    try:
        sight = _sight(desk)
        asked = _asked(form)
        people = _people(sight, asked)
        if sight.table is None and people is None:
            raise InputError("name a file with the people that the attacker knows, or describe one person below")
        _forget(desk)
        keep = desk.workspace.new("beliefs", "beliefs.pickle")
        given = {"release": str(sight.folder), "asked": asked, "keep": str(keep), "table": sight.table}
        sight.start(
            desk, _ATTACK, "attack.attack", {**given, "people": people, "seed": desk.seed}, {**asked, "keep": str(keep)}
        )
    except GlasshouseError as error:
        return _page(request, str(error), form)
    return to(_PAGE)


async def _person(request: Request) -> Response:
    desk, form = desk_of(request), await form_of(request)
    try:
        sight = _sight(desk)
        attack, asked = sight.job(desk, _ATTACK)
        if attack is None or attack.state != "done" or not attack.result["ran"]:
            raise InputError("run an attack first: then you can look at people one by one")
        row, name = only(form, "row"), only(form, "name")
        if row:
            who: dict[str, Any] = {"row": number(row, 1 << 31, "the row of a person")}
        elif name:
            who = {"name": name}
        else:
            raise InputError("say which person to look at: give the identifier, or the number of the row")
        desk.forget(_SOMEBODY)
        sight.start(desk, _PERSON, "attack.person", {"keep": asked["keep"], **who}, who)
    except GlasshouseError as error:
        return _page(request, str(error))
    return to(f"{_PAGE}#person")


async def _somebody(request: Request) -> Response:
    desk, form = desk_of(request), await form_of(request)
    try:
        sight = _sight(desk)
        look = sight.first_look(desk)
        if look.state != "done":
            raise InputError("the release is still being read: try again in a moment")
        asked = _asked(form)
        people = _people(sight, asked)
        alone = sight.table is None and people is None
        if alone and asked["attack"] in WHOLE_LIST:
            raise InputError("this attack needs a list of everybody who is in the table: name its file")
        values = [only(form, f"value-{i}") for i in range(len(look.result["quasi"]))]
        desk.forget(_PERSON)
        given = {"release": str(sight.folder), "asked": asked, "values": values, "table": sight.table}
        sight.start(
            desk,
            _SOMEBODY,
            "attack.somebody",
            {**given, "people": people, "seed": desk.seed},
            {"asked": asked, "values": values},
        )
    except GlasshouseError as error:
        return _page(request, str(error), form)
    return to(f"{_PAGE}#person")


def _sight(desk: Desk) -> Sight:
    sight = sight_of(desk)
    if sight is None:
        raise InputError("there is no release to look at: publish one in the step before")
    return sight


def _forget(desk: Desk) -> None:
    """Delete the results of an earlier attack."""
    job = desk.job(_ATTACK)
    for name in (_ATTACK, _PERSON, _SOMEBODY):
        desk.forget(name)
    if job is not None:
        job.wait(5)
    desk.workspace.remove(desk.workspace.folder / "beliefs")


def _asked(form: dict[str, list[str]]) -> dict[str, Any]:
    """What the attacker knows, by the fields of a form."""
    attack, effort = only(form, "attack", "linking"), only(form, "effort", "brief")
    if attack not in KNOWS or effort not in _EFFORTS:
        raise InputError("choose what the attacker knows from the list")
    asked: dict[str, Any] = {"attack": attack, "effort": effort}
    asked["column"] = number(only(form, "column", "0"), 1_000, "the number of the sensitive column")
    if attack == "corruption":
        lines = [line.strip() for line in only(form, "corrupted").splitlines() if line.strip()]
        if len(lines) > _MOST_FOUND_OUT:
            raise InputError(f"at most {_MOST_FOUND_OUT:,} people can be named here: name fewer")
        most = number(only(form, "most_corrupted", "1") or "1", 1_000, "the number of people whose values are known")
        asked |= {"corrupted": lines, "most_corrupted": most}
    if attack == "intersection":
        asked["other"] = only(form, "other")
        if not asked["other"]:
            raise InputError("name the folder of the earlier release")
        if not os.path.isdir(place_of(asked["other"])):  # noqa: PTH112
            raise InputError(f"there is no folder {asked['other']}: check its name, and give the whole path")
        asked["other"] = place_of(asked["other"])
    people, identifier = only(form, "people"), only(form, "identifier")
    if people:
        asked |= {"people": people, "identifier": identifier}
    return asked


def _typed(form: dict[str, list[str]]) -> dict[str, Any]:
    """Form input that was invalid, to show it again."""
    names = ("attack", "effort", "other", "people", "identifier", "most_corrupted", "corrupted")
    typed: dict[str, Any] = {name: form[name][0][:_MOST_SHOWN] for name in names if name in form}
    return {**typed, "corrupted": typed.get("corrupted", "").splitlines()}


def _described(form: dict[str, list[str]]) -> list[str]:
    """The same for a person described by hand."""
    places = range(sum(name.startswith("value-") for name in form))
    return [form.get(f"value-{i}", [""])[0][:_MOST_SHOWN] for i in places]


def _people(sight: Sight, asked: dict[str, Any]) -> dict[str, str] | None:
    """The named list of people, if the table is not available."""
    if sight.table is not None or not asked.get("people"):
        return None
    file = place_of(asked["people"])
    if not os.path.isfile(file):  # noqa: PTH113 - pathlib fails on what cannot be a path
        raise InputError(f"there is no file {asked['people']}: check its name, and give the whole path")
    return {"file": file, "identifier": asked.get("identifier", "")}


ROUTES = [
    Route(_PAGE, _show),
    Route(f"{_PAGE}/attack", _attack, methods=["POST"]),
    Route(f"{_PAGE}/person", _person, methods=["POST"]),
    Route(f"{_PAGE}/somebody", _somebody, methods=["POST"]),
]
