# SPDX-License-Identifier: Apache-2.0
"""Option range: what an option of the command line may be, told when it was given something else.

A `ParameterError` names a parameter of Python and its owner, such as ``LDiversity: ell``. At the command line it is
told as the option, ``--ell``, with a sentence on what a value of the option means.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

    from glasshouse.errors import ParameterError

__all__ = ["in_range"]

_OF_BELIEFS = {"lambda_": "--lambda", **{name: f"--{name}" for name in ("delta", "k", "rho1", "rho2", "s")}}
_OF_PRINCIPLES = {
    "AlphaKAnonymity": {"alpha": "--alpha", "k": "--k"},
    "DeltaGrowth": _OF_BELIEFS,
    "DesignatedLDiversity": {"ell": "--ell"},
    "DistinctLDiversity": {"ell": "--distinct-ell"},
    "EntropyLDiversity": {"ell": "--entropy-ell"},
    "KAnonymity": {"k": "--k"},
    "LDiversity": {"ell": "--ell"},
    "RecursiveLDiversity": {"c": "--recursive", "ell": "--recursive"},
    "RhoBreach": _OF_BELIEFS,
    "TCloseness": {"t": "--t"},
}
_MEANING = {
    "--alpha": "--alpha 0.5 means that no sensitive value may have more than half of the records of a group",
    "--decimal": "Numbers such as 72.5 need --decimal . and numbers such as 72,5 need --decimal ,",
    "--delimiter": "Write the character itself, in quotation marks: ';' for semicolons, $'\\t' for tabs",
    "--distinct-ell": "--distinct-ell 3 means that every group must have 3 different sensitive values",
    "--ell": (
        "--ell 3 means that no sensitive value may have more than 1/3 of the records of a group, so that an attacker "
        "can be sure of it with at most 33 %"
    ),
    "--encoding": "Names of encodings are utf-8, cp1252 (Windows, Western Europe) or latin-1. Leave it out to have it "
    "detected",
    "--entropy-ell": (
        "--entropy-ell 3 means that the values of every group must be as varied as 3 values that are equally frequent"
    ),
    "--k": "--k 5 means that every group must have at least 5 records",
    "--recursive": (
        "--recursive 2,3 means that in every group the most frequent value may occur at most twice as often as the "
        "third most frequent value and all rarer values together"
    ),
    "--suppress": "--suppress 0.02 means that at most 2 % of the records may be left out",
    "--t": (
        "--t 0.2 means that the sensitive values of every group may differ from those of the whole table by at most "
        "0.2, where 0 is no difference"
    ),
}
_PARTS = {"c": "C of --recursive C,L", "ell": "L of --recursive C,L"}
_PLAINER = (
    (r"\ban integer\b", "a whole number"),
    (r">= (\d+)", r"of at least \1"),
    (r"an encoding that Python knows", "the name of an encoding"),
)


def in_range(error: ParameterError, options: Container[str]) -> str | None:
    """What an option of a command must be; None if the parameter is no option of it.

    >>> from glasshouse.errors import ParameterError
    >>> in_range(ParameterError("KAnonymity", "k", "an integer >= 2", 0), {"--k"})
    '--k must be a whole number of at least 2, not 0. --k 5 means that every group must have at least 5 records'
    """
    option = _option(error)
    if option is None or option not in options:
        return None
    allowed = error.allowed
    for pattern, words in _PLAINER:
        allowed = re.sub(pattern, words, allowed)
    meaning = f". {_MEANING[option]}" if option in _MEANING else ""
    given = error.value
    shown = given if isinstance(given, str) and given.isprintable() and 0 < len(given.strip()) < 20 else error.shown
    what = _PARTS[error.name] if option == "--recursive" else option
    return f"{what} must be {allowed}, not {shown}{meaning}"


def _option(error: ParameterError) -> str | None:
    """The option for a parameter of a principle or of a function; None for one of a method or a recoding."""
    if error.owner.startswith("--"):
        return error.owner
    if error.owner in _OF_PRINCIPLES:
        return _OF_PRINCIPLES[error.owner].get(error.name)
    return f"--{error.name.replace('_', '-')}" if error.owner.islower() else None
