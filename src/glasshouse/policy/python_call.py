# SPDX-License-Identifier: Apache-2.0
"""The Python call: choices as a program that has the same effect."""

from __future__ import annotations

import ast
from inspect import signature
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from glasshouse.errors import InputError
from glasshouse.policy.choices import DEFAULTS, edition_arguments, publish_arguments, read_arguments
from glasshouse.policy.command_line import refuse_secrets
from glasshouse.policy.keys import plain
from glasshouse.policy.policy_text import quoted
from glasshouse.policy.table_format import draws_flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["python_call"]

_WIDTH = 100
# What the command does besides, for which there is no public call: each choice, and what to say of it.
_ELSEWHERE = {
    "engine": "where the work runs",
    "master": "which cluster it runs on",
    "memory": "how much memory it takes",
    "spill": "where it keeps what does not fit into memory",
    "partition": "whether the audit keeps who is in which group",
}


def python_call(choices: Mapping[str, Any], *, force: bool = False) -> str:
    """Write the program that reads and publishes a table by these choices; what equals the default is left out.

    Relative paths are relative to the current folder, as on the command line. The release is that of the command. Of
    what the command can do besides, the program makes the report and sends tables to a database. A comment names
    the rest: where the work runs, and a flat table. By ``force`` it replaces what stands there.

    Examples
    --------
    >>> print(python_call({"file": "patients.csv", "quasi": ["age", "zipcode"], "taxonomy": {"zipcode": "prefix:5"},
    ...                    "sensitive": ["disease"], "ell": 5, "report": "none", "out": "out"}))
    import glasshouse as gh
    <BLANKLINE>
    table = gh.read(
        "patients.csv",
        quasi=["age", "zipcode"],
        sensitive="disease",
        taxonomies={"zipcode": gh.Taxonomy.prefix(length=5)},
    )
    release = gh.publish(table, principle=gh.LDiversity(ell=5), format="csv", out="out")
    # If the release has several tables, the command also draws a flat table: see gh.sample.
    <BLANKLINE>
    """
    wanted = plain(choices)
    refuse_secrets(wanted)
    if "file" not in wanted:
        raise InputError("no table was chosen: choose the file to read")
    import glasshouse as gh

    reading = read_arguments(wanted)
    if reading["sensitive"] is not None and len(reading["sensitive"]) == 1:
        [reading["sensitive"]] = reading["sensitive"]
    publishing = publish_arguments(wanted)
    if "out" in wanted:
        publishing |= {"out": wanted["out"], "force": force}
    elif "format_" not in wanted:
        del publishing["format"]  # nothing is written yet
    lines = [
        *_call("table", "gh.read", _code(wanted["file"]), _chosen(gh.read, reading)),
        *_call("release", "gh.publish", "table", _chosen(gh.publish, publishing)),
        *_afterwards(wanted),
    ]
    imports = ["import datetime", ""] if any("datetime.date" in line for line in lines) else []
    return "\n".join([*imports, "import glasshouse as gh", "", *lines]) + "\n"


def _afterwards(choices: Mapping[str, Any]) -> Iterator[str]:
    """What the command does after the release is made."""
    if "to" in choices:
        schema = {"schema": choices.get("schema", DEFAULTS["schema"])}
        yield from _call(None, "gh.to_postgres", f"release, {_code(choices['to'])}", schema)
    report = choices.get("report", DEFAULTS["report"])
    if edition_arguments(choices):
        yield (
            "# The command also writes a report on the new edition: gh.make_report(gh.edition_of(release, ...), its "
            "people)."
        )
    elif "out" in choices and report != "none":
        arguments = "release, table" if report == DEFAULTS["report"] else f"release, table, report={_code(report)}"
        yield f"gh.make_report({arguments}).write({_code(str(PurePath(choices['out'], 'audit')))})"
    if choices.get("flat"):
        yield "# The command also draws a flat table (--flat): gh.sample draws one from a release."
    elif "out" in choices and draws_flat(choices):
        yield "# If the release has several tables, the command also draws a flat table: see gh.sample."
    for name, what in _ELSEWHERE.items():
        if name in choices and choices[name] != DEFAULTS.get(name):
            yield f"# The command also says {what} (--{name}). The release does not depend on it."


def _call(target: str | None, function: str, first: str, arguments: Mapping[str, Any]) -> list[str]:
    """A call, on one line or with an argument on each."""
    given = [first, *(f"{name}={_code(value)}" for name, value in arguments.items())]
    start = f"{target} = {function}(" if target else f"{function}("
    line = f"{start}{', '.join(given)})"
    return [line] if len(line) <= _WIDTH else [start, *(f"    {one}," for one in given), ")"]


def _chosen(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that differ from the defaults of the function."""
    usual = {name: parameter.default for name, parameter in signature(function).parameters.items()}
    return {
        name: value
        for name, value in arguments.items()
        if value not in (None, [], {}, ()) and value != usual[name] and not (name == "suppress" and value in (0, "0"))
    }


# --- values as code ---------------------------------------------------------------------------------------------------


def _code(value: Any) -> str:
    """A value as code: its `repr`, with the name of the package added."""
    return _text(ast.parse(repr(value), mode="eval").body)


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return quoted(node.value) if isinstance(node.value, str) else repr(node.value)
    if isinstance(node, ast.List):
        return f"[{', '.join(map(_text, node.elts))}]"
    if isinstance(node, ast.Tuple):
        return f"({', '.join(map(_text, node.elts))}{',' if len(node.elts) == 1 else ''})"
    if isinstance(node, ast.Dict):
        items = zip(node.keys, node.values, strict=True)
        return "{" + ", ".join(f"{_text(key)}: {_text(value)}" for key, value in items if key is not None) + "}"
    if isinstance(node, ast.UnaryOp):  # a number below zero
        return f"-{_text(node.operand)}"
    if isinstance(node, ast.Name):
        return _name(node.id)
    if isinstance(node, ast.Attribute):
        return f"{_text(node.value)}.{node.attr}"
    assert isinstance(node, ast.Call), "choices print as calls, lists, texts and numbers"
    arguments = [*map(_text, node.args), *(f"{each.arg}={_text(each.value)}" for each in _told(node))]
    return f"{_text(node.func)}({', '.join(arguments)})"


def _name(name: str) -> str:
    import glasshouse as gh

    if name in dir(gh):
        return f"gh.{name}"
    return f'float("{name}")' if name in ("inf", "nan") else name


def _told(call: ast.Call) -> list[ast.keyword]:
    """The arguments of a call that differ from the defaults of its class."""
    import glasshouse as gh

    if not (isinstance(call.func, ast.Name) and call.func.id in dir(gh)):
        return call.keywords
    usual = {name: repr(each.default) for name, each in signature(getattr(gh, call.func.id)).parameters.items()}
    return [each for each in call.keywords if usual.get(str(each.arg)) != ast.unparse(each.value)]
