# SPDX-License-Identifier: Apache-2.0
"""The choices that ask for a principle: what `glasshouse.policy.choices.principle` makes of them is that principle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glasshouse.principles.principle import Principle

__all__ = ["choices_asking_for"]

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
    """The choices that ask for a principle, or for all of several; what is usual is left out.

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
