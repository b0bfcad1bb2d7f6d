# SPDX-License-Identifier: Apache-2.0
"""The equivalents of a click in the last step: a command, and a Python call.

The command line separates names by commas. Where a name has a comma in it, or something was decided that the command
has no option for, there is only the call.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["attack_equivalents", "question_equivalents", "verify_equivalents"]

_OF_LISTS = ("identifier", "categorical", "normalise", "delimiter", "encoding", "decimal", "taxonomy", "order")
"""What the command `attack` can be told of a list of people."""


def attack_equivalents(release: str, asked: Mapping[str, Any], file: str, choices: Mapping[str, Any]) -> dict[str, str]:
    """An attack on everybody on a list."""
    given = {name: value for name, value in choices.items() if value not in (None, [], {}, "")}
    plain = not asked.get("corrupted") and set(given) <= {*_OF_LISTS, "file", "quasi", "sensitive", "missing"}
    options: list[str] = ["--attack", asked["attack"], "--external", file]
    for name in ("identifier", "delimiter", "encoding", "decimal"):
        if name in given:
            options += [f"--{name}", str(given[name])]
    for name in ("categorical", "normalise"):
        if name in given:
            options += [f"--{name}", ",".join(given[name])]
            plain = plain and _listable(given[name])
    for name, value in given.get("taxonomy", {}).items():
        options += ["--taxonomy", f"{name}={value}"]
    plain = plain and "order" not in given
    parameters = []
    if asked["attack"] == "corruption" and asked.get("most_corrupted"):
        options += ["--most-corrupted", str(asked["most_corrupted"])]
        parameters.append(f"most_corrupted={asked['most_corrupted']!r}")
    if asked["attack"] == "intersection":
        options += ["--other", asked["other"]]
        parameters.append(f"others=(gh.load({asked['other']!r}),)")
    known = ", corrupted={...}" if asked.get("corrupted") else ""
    made = _class(asked["attack"])
    chosen = f"gh.{made}({', '.join(parameters)})" if parameters and not known else repr(asked["attack"])
    python = (
        "import glasshouse as gh\n\n"
        f"people = gh.read({file!r}{_arguments(given)})\n"
        f"release = gh.load({release!r})\n"
        f"print(gh.attack(release, {chosen}, knowledge=gh.Knowledge(external=people{known})))"
    )
    return {"command": _command("attack", release, *options) if plain else "", "python": python}


def question_equivalents(release: str, sql: str, model: str) -> dict[str, str]:
    """A question to a release."""
    how, argument = ([], "") if model == "learned" else (["--model", model], f", model={model!r}")
    python = f"import glasshouse as gh\n\nprint(gh.query(gh.load({release!r}), {sql!r}{argument}))"
    return {"command": _command("query", release, sql, *how), "python": python}


def verify_equivalents(path: str, asked: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The equivalents of verifying a release or a table."""
    if asked is None:
        python = f"import glasshouse as gh\n\nprint(gh.verify({path!r}))"
        return {"command": _command("verify", path), "python": python}
    options = []
    for name, value in asked.items():
        if value not in ([], None):
            text = ",".join(value) if isinstance(value, list) else str(value)
            options += [f"--{name}", text]
    known = set(asked) <= {"quasi", "sensitive", "k", "ell", "t", "population"}
    plain = known and _listable([*asked["quasi"], *asked["sensitive"]])
    words = "".join(f", {name}={value!r}" for name, value in asked.items() if value not in ([], None))
    python = f"import glasshouse as gh\n\nprint(gh.verify({path!r}{words}))"
    return {"command": _command("verify", path, *options) if plain else "", "python": python}


def _command(*words: str) -> str:
    return shlex.join(("glasshouse", *words))


def _listable(names: Sequence[str]) -> bool:
    """Whether names can be written as a list with commas."""
    return all("," not in name and name == name.strip() and name for name in names)


def _class(attack: str) -> str:
    from glasshouse import catalog

    return catalog.ATTACKS[attack].__name__


def _arguments(choices: Mapping[str, Any]) -> str:
    """The options for reading a table, as Python arguments."""
    from glasshouse.policy.choices import limit

    named = {"taxonomy": "taxonomies", "order": "ordered"}
    found = ""
    for name, value in choices.items():
        if name in ("bottom", "top"):
            found += f", {name}={ {column: limit(one) for column, one in value.items()}!r}"
        elif name != "file":
            found += f", {named.get(name, name)}={value!r}"
    return found
