# SPDX-License-Identifier: Apache-2.0
"""The choices for a principle: `glasshouse.policy.choices.principle` makes that principle of them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse.policy.keys import EACH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.principles.principle import Principle

__all__ = ["choices_asking_for", "choices_asking_for_each"]

# By principle: its parameters, and the choice that each of them is. What recursive l-diversity takes is one choice.
_CHOICES = {
    "k-anonymity": {"k": "k"},
    "l-diversity": {"ell": "ell"},
    "distinct-l-diversity": {"ell": "distinct_ell"},
    "entropy-l-diversity": {"ell": "entropy_ell"},
    "recursive-l-diversity": {"c": "recursive", "ell": "recursive"},
    "designated-l-diversity": {"ell": "ell", "values": "designated"},
    "alpha-k-anonymity": {"alpha": "alpha", "k": "k"},
    "t-closeness": {"t": "t", "distance": "distance"},
    "rho-breach": {"rho1": "rho1", "rho2": "rho2", "lambda_": "lambda_", "k": "k"},
    "delta-growth": {"delta": "delta", "lambda_": "lambda_", "k": "k"},
}
_USUAL = {"distance": "equal", "lambda_": 1}


def choices_asking_for(principle: Principle) -> dict[str, Any]:
    """The choices for a principle, or for a combination of several; default values are left out.

    >>> import glasshouse as gh
    >>> choices_asking_for(gh.AllOf(gh.KAnonymity(4), gh.RecursiveLDiversity(c="1/2", ell=3)))
    {'k': 4, 'recursive': '0.5,3'}
    >>> choices_asking_for(gh.TCloseness("0.2")), choices_asking_for(gh.DesignatedLDiversity(3, ["yes"]))
    ({'t': '0.2'}, {'ell': 3, 'designated': ['yes']})
    """
    found: dict[str, Any] = {}
    for one in principle.singles():
        data = one.to_data()
        for parameter, choice in _CHOICES[one.name].items():
            value = data[parameter]
            found[choice] = f"{found[choice]},{value}" if choice == "recursive" and choice in found else value
    return {name: value for name, value in found.items() if value is not None and value != _USUAL.get(name)}


def choices_asking_for_each(principles: Mapping[str, Principle]) -> dict[str, Any] | None:
    """The choices that ask for a principle of each column; None if there are none: sizes of groups cannot differ.

    What all columns have in common is asked of all of them.

    >>> import glasshouse as gh
    >>> choices_asking_for_each({"ill": gh.LDiversity(3), "drug": gh.DesignatedLDiversity(3, ["X"])})
    {'ell': 3, 'designated': {'drug': ['X']}}
    >>> choices_asking_for_each({"ill": gh.LDiversity(3), "pay": gh.TCloseness("0.2", distance="ordered")})
    {'ell': {'ill': 3}, 't': {'pay': '0.2'}, 'distance': {'pay': 'ordered'}}
    >>> choices_asking_for_each({"ill": gh.AlphaKAnonymity("0.5", 3), "drug": gh.LDiversity(3)}) is None
    True
    """
    each = {column: choices_asking_for(one) for column, one in principles.items()}
    found: dict[str, Any] = {}
    for name in dict.fromkeys(name for own in each.values() for name in own):
        given = {column: own[name] for column, own in each.items() if name in own}
        values = list(given.values())
        if len(given) == len(each) and all(value == values[0] for value in values):
            found[name] = values[0]
        elif name in EACH:
            found[name] = given
        else:
            return None
    return found
