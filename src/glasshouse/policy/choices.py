# SPDX-License-Identifier: Apache-2.0
"""Choices: what was asked for, by name, whether on a command line or in a policy, and the objects that it means.

Choices are plain: lists of names, numbers or their text, mappings by column. What is absent or None was left open.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from glasshouse import bounds, catalog
from glasshouse.errors import InputError, ParameterError
from glasshouse.policy.keys import EACH
from glasshouse.policy.table_format import format_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from glasshouse.grouping.method import Method
    from glasshouse.microdata import Taxonomy
    from glasshouse.principles.principle import Principle
    from glasshouse.recoding.recoding import Recoding

    Named = Callable[[str], str]

__all__ = [
    "DEFAULTS",
    "c_and_ell",
    "edition_arguments",
    "label",
    "limit",
    "method",
    "one_principle",
    "option",
    "principle",
    "publish_arguments",
    "read_arguments",
    "recoding",
    "taxonomy",
    "whole",
]

_OF_VALUES = ("ell", "distinct_ell", "entropy_ell", "recursive", "t")
_OF_BELIEFS = ("rho1", "delta", "s", "retention")
_OF_EDITIONS = ("after", "edition", "at_least", "keep_published", "leave_out")
_OPTIONS = {"bins": "--bin", "parameters": "--with", "lambda_": "--lambda", "format_": "--format"}
DEFAULTS: dict[str, Any] = {
    "missing": "error",
    "repeated": "error",
    "distance": "equal",
    "lambda_": "1",
    "suppress": "0",
    "carry": "cells",
    "at_least": 0,
    "keep_published": False,
    "leave_out": False,
    "zip": False,
    "report": "brief",
    "threads": 0,
    "engine": "auto",
    "partition": True,
    "schema": "released",
    "decimal": ".",
}
"""The choices that are made for those who did not choose, where there is such a default."""


def option(name: str) -> str:
    """The option of the command line for a choice.

    >>> option("distinct_ell"), option("bins")
    ('--distinct-ell', '--bin')
    """
    return _OPTIONS.get(name, f"--{name.replace('_', '-')}")


def read_arguments(choices: Mapping[str, Any], named: Named = option) -> dict[str, Any]:
    """Give the keyword arguments of `glasshouse.read`."""
    given = {name: value for name, value in choices.items() if value is not None}
    if not given.get("quasi"):
        raise InputError(
            f"name at least one quasi-identifier, a column whose values others may know about people: {named('quasi')}"
        )

    def trees(choice: str) -> dict[str, Any]:
        return {column: taxonomy(text, named(choice)) for column, text in given.get(choice, {}).items()}

    return {
        "quasi": list(given["quasi"]),
        "sensitive": list(given.get("sensitive", ())) or None,
        "identifier": given.get("identifier"),
        "repeated": given.get("repeated", "error"),
        "weight": given.get("weight"),
        "together": [list(names) for names in given.get("together", ())],
        "missing": given.get("missing", "error"),
        "taxonomies": trees("taxonomy"),
        "ordered": dict(given.get("order", {})),
        "bins": trees("bins"),
        "categorical": list(given.get("categorical", ())),
        "normalise": list(given.get("normalise", ())),
        "bottom": {column: limit(value) for column, value in given.get("bottom", {}).items()},
        "top": {column: limit(value) for column, value in given.get("top", {}).items()},
        "accept": list(given.get("accept", ())),
        "delimiter": given.get("delimiter"),
        "encoding": given.get("encoding"),
        "decimal": given.get("decimal", "."),
        **{name: given[name] for name in ("table", "query") if name in given},
    }


def publish_arguments(choices: Mapping[str, Any], named: Named = option) -> dict[str, Any]:
    """Give the keyword arguments of `glasshouse.publish`, but for the table and the folder.

    Those of editions are there if one was asked for. What a later edition is not told is as in the first.
    """
    from glasshouse.principles.parameters import exact_share

    later = choices.get("after") is not None
    suppress = choices.get("suppress", 0)
    return {
        "principle": None if later and not _asks(choices) else principle(choices, named),
        "method": method(choices, named),
        "recoding": recoding(choices, named),
        "suppress": None if later and not exact_share(suppress) else suppress,
        **edition_arguments(choices),
        "carry": choices.get("carry", "cells"),
        "threads": choices.get("threads", 0),
        "format": format_of(choices),
        "title": choices.get("title"),
        "licence": choices.get("licence"),
        "zip": choices.get("zip", False),
    }


def edition_arguments(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Give the keyword arguments of `glasshouse.publish` that concern editions; none if no such choice was made.

    >>> edition_arguments({"after": "out", "edition": "2027", "leave_out": False})
    {'after': 'out', 'edition': 2027}
    """
    given = {name: choices[name] for name in _OF_EDITIONS if choices.get(name)}
    called = choices.get("edition")  # which may be 0
    return given if called is None else {**given, "edition": label(called)}


def label(value: Any) -> int | str:
    """Read the label of an edition: a whole number, also as text; otherwise a text.

    >>> label("2027"), label("2027-spring"), label("007")
    (2027, '2027-spring', '007')
    """
    return int(value) if isinstance(value, str) and value.isascii() and str(value) == _as_number(value) else value


def _as_number(text: str) -> str | None:
    """The normalised text of a number; None if the text is not a number, or too long to be a label."""
    return str(int(text)) if text.removeprefix("-").isdecimal() and len(text) <= 16 else None


def taxonomy(text: str, name: str = "--taxonomy") -> Taxonomy | str:
    """Make the taxonomy of a column from its text; a file is only checked by its name, and read later.

    >>> taxonomy("intervals:10"), taxonomy("tree.csv")
    (Taxonomy.intervals(width=10), 'tree.csv')
    """
    from glasshouse.microdata.taxonomy.taxonomy import Taxonomy, check_suffix, names_file

    try:
        if not names_file(text):
            return Taxonomy.of(text)
        check_suffix(text)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    return text


def limit(value: Any) -> Any:
    """Read a top or bottom code: a number or a date, or the text of one."""
    from datetime import date

    if not isinstance(value, str):
        return value
    try:
        return _number(value)
    except ValueError:
        pass
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise InputError(
            f"a top or bottom code must be a number or a date such as 2024-05-31, and it is {value!r}"
        ) from None


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def method(choices: Mapping[str, Any], named: Named = option) -> Method | None:
    """The chosen method; None if none is named.

    >>> method({"method": "mondrian", "parameters": {"partitioning": "relaxed"}})
    Mondrian(partitioning='relaxed')
    """
    name, parameters = choices.get("method"), choices.get("parameters") or {}
    if name is None and parameters:
        raise InputError(f"{named('parameters')} sets a parameter of a method: name the method with {named('method')}")
    return None if name is None else catalog.chosen(catalog.METHODS, {**parameters, "name": name})


def recoding(choices: Mapping[str, Any], named: Named = option) -> Recoding | None:
    """The chosen recoding; None if none is named.

    With ANGEL ``k`` is the k of its buckets: what `principle` then asks of the batches is everything else.

    >>> recoding({"recoding": "angel", "k": "5", "marginal": [["age", "disease"]]})
    Angel(k=5, marginals=(('age', 'disease'),), cells='boxes')
    """
    asked, marginals = choices.get("recoding"), choices.get("marginal")
    name = "perturbed" if asked is None and _asks_of_beliefs(choices) else asked
    if name != "perturbed" and (choices.get("retention") or choices.get("domain")):
        raise InputError(f"{named('retention')} and {named('domain')} can only be given with the recoding 'perturbed'")
    if name is None and choices.get("recoding_with"):
        raise InputError(
            f"{named('recoding_with')} sets a parameter of a recoding: name the recoding with {named('recoding')}"
        )  # fmt: skip
    if marginals and name not in (None, "angel"):
        raise InputError(f"{named('marginal')} can only be given with the recoding 'angel', not with {name!r}")
    if name is None and not marginals:
        return None
    chosen = dict(choices.get("recoding_with") or {})
    if marginals:
        chosen["marginals"] = tuple(map(tuple, marginals))
    if name == "angel" and choices.get("k"):
        chosen.setdefault("k", whole(named("k"), choices["k"]))
    if name == "perturbed":
        chosen |= {"p": choices.get("retention"), "domain": choices.get("domain")}
    return catalog.chosen(catalog.RECODINGS, {**chosen, "name": name or "angel"})


def principle(choices: Mapping[str, Any], named: Named = option) -> Principle | dict[str, Principle]:
    """The chosen principle; or one for each sensitive column, if something is asked of a column by its name.

    Of a column of which no value is designated, all values are protected.

    >>> principle({"sensitive": ["ill", "drug"], "ell": 3, "designated": {"drug": ["X"]}})
    {'ill': LDiversity(ell=3), 'drug': DesignatedLDiversity(ell=3, values=('X',))}
    >>> principle({"sensitive": ["ill", "pay"], "ell": {"ill": 3}, "t": {"pay": "0.2"}, "distance": "ordered"})
    {'ill': LDiversity(ell=3), 'pay': TCloseness(t='0.2', distance='ordered')}
    """
    own = {name: choices[name] for name in sorted(EACH) if isinstance(choices.get(name), Mapping)}
    if not own:
        return one_principle(choices, named)
    if "designated" in own and choices.get("ell") is None:
        raise InputError(f"{named('designated')} can only be given with {named('ell')}")
    known = _sensitive(choices) or list(dict.fromkeys(column for given in own.values() for column in given))
    for name, given in own.items():
        for column in given:
            if column not in known:
                near = get_close_matches(column, known, n=1)
                listed = ", ".join(map(repr, known))
                hint = f"did you mean {near[0]!r}?" if near else f"the sensitive columns are {listed}"
                raise InputError(f"{named(name)}: {column!r} is not a sensitive column: {hint}")
    each = {column: {**choices, **{name: given.get(column) for name, given in own.items()}} for column in known}
    for column, asked in each.items():
        if asked.get("t") is None and "distance" not in own:
            asked["distance"] = None  # which is that of the columns for which t-closeness is asked
        if all(asked.get(name) is None for name in (*_OF_VALUES, "alpha")):
            raise InputError(
                f"nothing is guaranteed for the sensitive column {column!r}: name it too, with {named('ell')} or "
                f"{named('t')}, or do not give it as a sensitive column"
            )
    made = {column: one_principle(asked, named) for column, asked in each.items()}
    return made if len(made) > 1 else made[known[0]]


def _sensitive(choices: Mapping[str, Any]) -> list[str]:
    """The sensitive columns as they are published; some may be compound."""
    columns, together = list(choices.get("sensitive") or ()), choices.get("together")
    if not together:
        return columns
    from glasshouse.microdata.compound_column import compound_name  # here, for it loads NumPy

    whole = {names[0]: compound_name(names) for names in together}
    parts = {name for names in together for name in names[1:]}
    return [whole.get(column, column) for column in columns if column not in parts]


def one_principle(choices: Mapping[str, Any], named: Named = option) -> Principle:
    """The principle for all sensitive columns: one, or a combination of several."""
    import glasshouse as gh

    given = {name: value for name, value in choices.items() if value is not None}
    if given.get("designated") and "ell" not in given:
        raise InputError(f"{named('designated')} can only be given with {named('ell')}")
    if given.get("distance", "equal") != "equal" and "t" not in given:
        raise InputError(f"{named('distance')} can only be given with {named('t')}, whose distance it is")
    if _asks_of_beliefs(given) or given.get("recoding") == "perturbed":
        if _asks_of_values(given) or "alpha" in given:
            raise InputError(
                f"{', '.join(named(name) for name in _OF_BELIEFS)} limit the attacker's probabilities, and cannot be "
                "combined with a principle about groups, such as l-diversity: leave one of them out"
            )
        return _target(given, named)
    if "alpha" in given and "k" not in given:
        raise InputError(
            f"{named('alpha')} can only be given with {named('k')}: together they are (alpha, k)-anonymity"
        )

    def number(name: str) -> int:
        return whole(named(name), given[name])

    def anonymity() -> Principle:
        k = number("k")
        return gh.AlphaKAnonymity(alpha=given["alpha"], k=k) if "alpha" in given else gh.KAnonymity(k=k)

    def diversity() -> Principle:
        ell, designated = number("ell"), tuple(given.get("designated") or ())
        return gh.DesignatedLDiversity(ell=ell, values=designated) if designated else gh.LDiversity(ell=ell)

    makers: dict[str, Callable[[], Principle]] = {
        "k": anonymity,
        "ell": diversity,
        "distinct_ell": lambda: gh.DistinctLDiversity(ell=number("distinct_ell")),
        "entropy_ell": lambda: gh.EntropyLDiversity(ell=given["entropy_ell"]),
        "recursive": lambda: _recursive(given["recursive"], named),
        "t": lambda: gh.TCloseness(t=given["t"], distance=given.get("distance", "equal")),
    }
    if given.get("recoding") == "angel" and _asks_of_values(given):
        del makers["k"]  # which is then the k of the buckets
    asked = [make() for name, make in makers.items() if name in given]
    if not asked:
        wanted = ", ".join(named(name) for name in ("k", "ell", "t"))
        raise InputError(f"say what to guarantee: {wanted} or another principle (see glasshouse publish --help)")
    return asked[0] if len(asked) == 1 else gh.AllOf(principles=tuple(asked))


def _recursive(text: str, named: Named) -> Principle:
    import glasshouse as gh

    c, ell = c_and_ell(text, named)
    return gh.RecursiveLDiversity(c=c, ell=ell)


def c_and_ell(text: str, named: Named = option) -> tuple[str, int]:
    """Read the two numbers of recursive diversity.

    >>> c_and_ell("1/2, 3")
    ('1/2', 3)
    """
    c, _, ell = text.partition(",")
    if not (ell.strip().isdecimal() and len(ell) <= bounds.MOST_DIGITS):
        raise InputError(f"{named('recursive')} takes C,L such as 2,3, got {text[:100]!r}")
    return c.strip(), int(ell)


def _target(given: Mapping[str, Any], named: Named) -> Principle:
    """The chosen bound on probabilities."""
    import glasshouse as gh

    if "rho1" in given and "delta" in given:
        raise InputError(f"{named('rho1')} and {named('delta')} are two different guarantees: ask for one of them")
    if "rho2" in given and "rho1" not in given:
        raise InputError(f"{named('rho2')} can only be given with {named('rho1')}")
    size = {
        "lambda_": given.get("lambda_", "1"),
        "s": given.get("s"),
        "k": whole(named("k"), given["k"]) if "k" in given else None,
    }
    if not (size["s"] or size["k"]):
        raise InputError(
            f"the recoding 'perturbed' needs {named('k')}, the smallest size of a group, or {named('s')}, the "
            "largest share of the records that is published"
        )  # fmt: skip
    if "rho1" in given:
        return gh.RhoBreach(rho1=given["rho1"], rho2=given.get("rho2"), **size)
    return gh.DeltaGrowth(delta=given.get("delta"), **size)


def _asks_of_beliefs(choices: Mapping[str, Any]) -> bool:
    """Whether a bound on probabilities is asked for, which only a perturbed sample can keep."""
    return any(choices.get(name) is not None for name in _OF_BELIEFS)


def _asks(choices: Mapping[str, Any]) -> bool:
    """Whether a principle is asked for."""
    wanted = (*_OF_VALUES, *_OF_BELIEFS, "k", "alpha")
    return any(choices.get(name) is not None for name in wanted)


def _asks_of_values(choices: Mapping[str, Any]) -> bool:
    """Whether something is asked of the sensitive values, so that ANGEL's k can be that of the buckets alone."""
    return choices.get("alpha") is None and any(choices.get(name) is not None for name in _OF_VALUES)


def whole(name: str, value: Any) -> int:
    """Read a whole number, or the text of one."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return int(value) if isinstance(value, str) else int(value.__index__())
    except (TypeError, ValueError, AttributeError):
        raise ParameterError(name, "its value", "an integer", value) from None
