# SPDX-License-Identifier: Apache-2.0
"""The catalogue: the one list of everything that has a name: principles, methods, recodings and attacks.

The command line, policies, comparisons, manifests, the public names of the package and the tests all read it. It holds
names; a class is loaded when it is first asked for, so that reading the list costs nothing and every module may do it.
A recipe's plain data, and what a caller names by text, become objects here and nowhere else.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from glasshouse.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from glasshouse.grouping.method import Method
    from glasshouse.principles.background_sensitive import BackgroundSensitive
    from glasshouse.principles.principle import Principle
    from glasshouse.recoding.recoding import Recoding
    from glasshouse.release import Recipe

__all__ = [
    "ATTACKS",
    "METHODS",
    "PRINCIPLES",
    "RECODINGS",
    "ROOMS",
    "TARGETS",
    "Classes",
    "chosen",
    "chosen_principle",
    "from_data",
    "method_of",
    "principle_from_data",
    "principle_of",
    "principle_to_data",
    "recoding_of",
    "to_data",
]

T = TypeVar("T")
BY_COLUMN = "by-column"


class Classes(Mapping[str, type[T]], Generic[T]):
    """Classes by name; the module of a class is loaded when the class is asked for.

    Parameters
    ----------
    what
        What each of them is called in a message.
    room
        The package in which their files are.
    classes
        By name the place of the class in that package: its file, and its name there.
    bases
        The places of the classes of which every object of this kind is one, also those that are not in the list.
    """

    def __init__(self, what: str, room: str, classes: Mapping[str, str], *bases: str) -> None:
        self.what = what
        self.room = room
        self.classes = classes
        self.bases = bases

    def __getitem__(self, name: str) -> type[T]:
        return self._loaded(self.classes[name])

    def _loaded(self, place: str) -> type[T]:
        module, _, name = f"{self.room}.{place}".rpartition(".")
        found: type[T] = getattr(importlib.import_module(module), name)
        return found

    def check(self, given: object) -> None:
        """Refuse an object of another kind, and a class in the place of an object."""
        bases = tuple(map(self._loaded, self.bases))
        if isinstance(given, bases):
            return
        needed = f"{'an' if self.what[0] in 'aeiou' else 'a'} {self.what} is needed"
        if isinstance(given, type) and issubclass(given, bases):
            raise InputError(f"{needed}, and {given.__name__} is a class: write {given.__name__}() to make one")
        names = ", ".join(map(repr, self.classes))
        raise InputError(f"{needed}, and {type(given).__name__} is none: make one, or give its name ({names})")

    @property
    def homes(self) -> dict[str, str]:
        """The module of each class, by the name of the class."""
        places = (f"{self.room}.{place}".rpartition(".") for place in self.classes.values())
        return {name: module for module, _, name in places}

    def __iter__(self) -> Iterator[str]:
        return iter(self.classes)

    def __len__(self) -> int:
        return len(self.classes)


PRINCIPLES: Classes[Principle] = Classes(
    "principle",
    "glasshouse.principles",
    {
        "k-anonymity": "k_anonymity.KAnonymity",
        "l-diversity": "l_diversity.LDiversity",
        "distinct-l-diversity": "l_diversity.DistinctLDiversity",
        "entropy-l-diversity": "entropy_l_diversity.EntropyLDiversity",
        "recursive-l-diversity": "l_diversity.RecursiveLDiversity",
        "designated-l-diversity": "l_diversity.DesignatedLDiversity",
        "alpha-k-anonymity": "k_anonymity.AlphaKAnonymity",
        "t-closeness": "t_closeness.TCloseness",
        "all-of": "all_of.AllOf",
    },
)
# besides them: bounds on an attacker's probabilities, which are not about groups
TARGETS: Classes[BackgroundSensitive] = Classes(
    "principle",
    "glasshouse.principles",
    {"rho-breach": "background_sensitive.RhoBreach", "delta-growth": "background_sensitive.DeltaGrowth"},
)
METHODS: Classes[Method] = Classes(
    "method",
    "glasshouse.grouping",
    {
        "mondrian": "cuts.mondrian.Mondrian",
        "snug": "cuts.snug.Snug",
        "tailor": "transparent.tailor.Tailor",
        "ace": "transparent.ace.Ace",
        "hybrid": "transparent.hybrid.Hybrid",
        "anatomize": "anatomize.anatomize.Anatomize",
        "mirror": "mirror.mirror.Mirror",
        "sift": "sift.sift.Sift",
        "even-split": "cuts.even_split.EvenSplit",
        "greedy": "along_order.greedy.Greedy",
        "randomised-greedy": "along_order.greedy.RandomisedGreedy",
        "symmetric": "along_order.symmetric.Symmetric",
        "separate": "separate.Separate",
        "refined": "refinement.Refined",
        "opt-gen": "opt_gen.OptGen",
    },
    "method.Method",
)
RECODINGS: Classes[Recoding] = Classes(
    "recoding",
    "glasshouse.recoding",
    {
        "boxes": "generalization.Boxes",
        "taxonomies": "generalization.Taxonomies",
        "anatomy": "anatomy.Anatomy",
        "permutation": "anatomy.Permutation",
        "angel": "angel.Angel",
        "perturbed": "perturbed.Perturbed",
    },
    "recoding.Recoding",
)
ATTACKS: Classes[Any] = Classes(
    "attack",
    "glasshouse.adversary",
    {
        "linking": "linking.Linking",
        "reverse-engineering": "reverse_engineering.reverse_engineering.ReverseEngineering",
        "minimality": "minimality.Minimality",
        "corruption": "corruption.corruption.Corruption",
        "intersection": "intersection.intersection.Intersection",
        "definetti": "learning.definetti.DeFinetti",
        "hint": "hint.hint.Hint",
        "singling-out": "risks.singling_out.SinglingOut",
        "linkability": "risks.linkability.Linkability",
        "inference": "risks.inference.Inference",
    },
    "task.Attack",
    "risks.risk_attack.RiskAttack",
)
ROOMS: tuple[Classes[Any], ...] = (PRINCIPLES, TARGETS, METHODS, RECODINGS, ATTACKS)
_ASKED: Classes[Principle] = Classes(
    "principle",
    PRINCIPLES.room,
    {**PRINCIPLES.classes, **TARGETS.classes},
    "principle.Principle",
    "background_sensitive.BackgroundSensitive",
)

_NUMBER = r"(\d+(?:\.\d+)?(?:/\d+)?)"
_TITLES = {
    rf"{_NUMBER}-anonymity": ("k-anonymity", "k"),
    rf"{_NUMBER}-diversity": ("l-diversity", "ell"),
    rf"distinct {_NUMBER}-diversity": ("distinct-l-diversity", "ell"),
    rf"entropy {_NUMBER}-diversity": ("entropy-l-diversity", "ell"),
    rf"recursive \({_NUMBER}, ?{_NUMBER}\)-diversity": ("recursive-l-diversity", "c", "ell"),
    rf"\({_NUMBER}, ?{_NUMBER}\)-anonymity": ("alpha-k-anonymity", "alpha", "k"),
    rf"{_NUMBER}-closeness": ("t-closeness", "t"),
}
"The patterns of the titles of principles, each with its principle and the parameters that its numbers are."


# --- by text ----------------------------------------------------------------------------------------------------------


@overload
def chosen(classes: Classes[T], given: T | str | Mapping[str, Any]) -> T: ...


@overload
def chosen(classes: Classes[T], given: None) -> None: ...


def chosen(classes: Classes[T], given: T | str | Mapping[str, Any] | None) -> T | None:
    """The object that is meant: by a name, with its usual parameters; by plain data; or the object itself.

    >>> chosen(METHODS, "mirror").name, chosen(RECODINGS, {"name": "angel", "k": 5}).k, chosen(METHODS, None)
    ('mirror', 5, None)
    """
    if isinstance(given, str):
        return from_data(classes, {"name": given})
    if isinstance(given, Mapping):
        return from_data(classes, given)
    if given is not None:
        classes.check(given)
    return given


def chosen_principle(given: Principle | str | Mapping[str, Any]) -> Principle | dict[str, Principle]:
    """The principle that is meant: by its title, as guarantees print it; by plain data; or one for each column.

    >>> chosen_principle("5-diversity"), chosen_principle("10-anonymity and 0.2-closeness").title
    (LDiversity(ell=5), '10-anonymity and 0.2-closeness')
    >>> chosen_principle({"disease": "entropy 2-diversity", "salary": {"name": "t-closeness", "t": "1/5"}})
    {'disease': EntropyLDiversity(ell=2), 'salary': TCloseness(t='0.2', distance='equal')}
    """
    if isinstance(given, str):
        return principle_from_data(_data_of(given))
    if isinstance(given, type):
        _ASKED.check(given)
    if not isinstance(given, Mapping):
        return given
    if given.get("name") in _ASKED:
        return principle_from_data(given)
    made: dict[str, Any] = {column: chosen_principle(one) for column, one in given.items()}
    return made


def _data_of(title: str) -> dict[str, Any]:
    """The plain data of the principle that has a title."""
    several = title.split(" and ")
    if len(several) > 1:
        return {"name": "all-of", "principles": [_data_of(one) for one in several]}
    for pattern, (name, *parameters) in _TITLES.items():
        found = re.fullmatch(pattern, title.strip())
        if found:
            numbers = (int(number) if number.isdecimal() else number for number in found.groups())
            return {"name": name, **dict(zip(parameters, numbers, strict=True))}
    raise InputError(
        f"there is no principle {title!r}: write a title such as '5-diversity', '10-anonymity', '0.2-closeness' or "
        "'10-anonymity and entropy 3-diversity', or make the principle, such as gh.LDiversity(5)"
    )


# --- plain data -------------------------------------------------------------------------------------------------------


def to_data(thing: Any) -> dict[str, Any]:
    """Describe a method or recoding as plain data: its name and its parameters.

    >>> from glasshouse.grouping.cuts.mondrian import Mondrian
    >>> to_data(Mondrian())
    {'name': 'mondrian', 'partitioning': 'strict'}
    """
    from dataclasses import fields

    if hasattr(thing, "to_data"):
        return dict(thing.to_data())
    return {"name": thing.name, **{f.name: _plain(getattr(thing, f.name)) for f in fields(thing)}}


def _plain(value: Any) -> Any:
    if hasattr(value, "divide"):
        return to_data(value)  # a method inside another
    if isinstance(value, str):
        return str(value)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def from_data(classes: Classes[T], data: Mapping[str, Any]) -> T:
    """Make an object from plain data.

    >>> from_data(METHODS, {"name": "mondrian", "partitioning": "relaxed"})
    Mondrian(partitioning='relaxed')
    >>> from_data(METHODS, {"name": "miror"})
    Traceback (most recent call last):
    glasshouse.errors.InputError: there is no method 'miror': did you mean 'mirror'?
    """
    from difflib import get_close_matches
    from inspect import signature

    name = data.get("name")
    if not isinstance(name, str) or name not in classes:
        near = get_close_matches(str(name), classes, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(classes)}"
        raise InputError(f"there is no {classes.what} {name!r}: {hint}")
    cls = classes[name]
    own: Any = getattr(cls, "from_data", None)
    if own is not None:
        made: T = own(data)
        return made
    given = {key: _revived(value) for key, value in data.items() if key != "name"}
    known = signature(cls).parameters
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise InputError(
            f"the {classes.what} {name!r} has no parameter {unknown[0]!r}: it has {', '.join(known) or 'none'}"
        )
    missing = [key for key, parameter in known.items() if parameter.default is parameter.empty and key not in given]
    if missing:
        raise InputError(
            f"the {classes.what} {name!r} needs {' and '.join(missing)}, as in gh.{cls.__name__}({missing[0]}=...)"
        )
    try:
        return cls(**given)
    except TypeError:
        raise InputError(
            f"the {classes.what} {name!r} cannot be made with these values of {', '.join(given)}: "
            f"help(gh.{cls.__name__}) says which values each parameter takes"
        ) from None


def _revived(value: Any) -> Any:
    if isinstance(value, Mapping):  # a method inside another, or numbers by attribute
        return from_data(METHODS, value) if isinstance(value.get("name"), str) else dict(value)
    return tuple(_revived(item) for item in value) if isinstance(value, list) else value


def principle_from_data(data: Mapping[str, Any]) -> Principle:
    """Make a principle from what its ``to_data`` gave.

    >>> principle_from_data({"name": "l-diversity", "ell": 8})
    LDiversity(ell=8)
    """
    return from_data(_ASKED, data)


def principle_to_data(principle: Principle | Mapping[str, Principle], columns: Sequence[str]) -> dict[str, Any]:
    """Describe a principle, or one per sensitive column in the order of these, as plain data."""
    if isinstance(principle, Mapping):
        return {"name": BY_COLUMN, "columns": {column: principle[column].to_data() for column in columns}}
    return principle.to_data()


def principle_of(recipe: Recipe) -> Principle | dict[str, Principle]:
    """Return the principle of a recipe, or one per sensitive column."""
    if recipe.principle.get("name") == BY_COLUMN:
        return {column: from_data(PRINCIPLES, data) for column, data in recipe.principle["columns"].items()}
    return principle_from_data(recipe.principle)


def method_of(recipe: Recipe) -> Method:
    """Return the grouping method of a recipe."""
    return from_data(METHODS, recipe.method)


def recoding_of(recipe: Recipe) -> Recoding:
    """Return the recoding of a recipe."""
    return from_data(RECODINGS, recipe.recoding)
