# SPDX-License-Identifier: Apache-2.0
"""Independence: how much the inference about one person depends on other people's values, for a method.

Theorems about an attacker who knows the algorithm assume that all tables are equally likely. An attacker who knows a
little more, for instance that one value goes with a slightly larger income, is bounded too where the possible tables
are *a product over small sets of people*: where what the release and a proof tell of one set says nothing about
another, and inside a set every way to deal its values to its people is equally likely. A belief then depends on the few
people of one set alone, and little knowledge stays little. Where the sets are large, or the values of many groups
are tied to each other, little knowledge of each adds up to certainty.

Which sets these are is said by `Method.independent`; the proofs, and what each method is worth under them, are in
docs/methods/mirror.md, "Robust transparency".
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Final, Literal

from glasshouse.principles.parameters import fraction

if TYPE_CHECKING:
    from fractions import Fraction

    from glasshouse.principles.parameters import Exact

__all__ = ["Independent", "belief_bound", "left_open"]

Independent = Literal["groups", "half-groups", "faces", "buckets", "none"]
"""Over which sets of people possible tables are a product, once an attacker has been told something more.

``groups``
    Over groups, told which groups were divided further: whatever is known of other groups says nothing about this one.
``half-groups``
    Over halves of groups, told which values each half has.
``faces``
    Over the parts of groups whose tests failed, told which values each part has. These may be large, and may have a
    value often: nothing bounds beliefs but the numbers of a single release.
``buckets``
    Over no small sets: the values of all groups that were sliced from one bucket are exchanged together.
``none``
    Nothing is known.
"""


def belief_bound(share: Exact, odds: Exact) -> Fraction:
    """The largest probability of a value, within a set of people all of whose assignments are equally likely.

    The people of the set have the value in the given share. To the attacker people are independent, and the chances of
    any two people i and j for any two values u and v differ by no more than these odds: ``p_i(u) p_j(v)`` is at most
    odds times ``p_i(v) p_j(u)``. The bound is reached (docs/methods/mirror.md, L1).

    Parameters
    ----------
    share
        The number of people in the set who have the value, over the number of people in the set.
    odds
        At least 1, which is an attacker to whom all people are alike.

    Examples
    --------
    >>> from fractions import Fraction
    >>> belief_bound("1/2", 1), belief_bound("1/2", "3/2"), belief_bound(Fraction(2, 3), 2)
    (Fraction(1, 2), Fraction(3, 5), Fraction(4, 5))
    """
    held = fraction("belief_bound", "share", share, least=0, most=1)
    times = fraction("belief_bound", "odds", odds, least=1)
    return held * times / (1 - held + held * times)


_TOLD: Final = 2  # odds at which guarantees say what may be believed


def left_open(independent: Independent, share: Fraction | None) -> str:
    """Say what is not guaranteed against an attacker who knows a little about people before the release.

    >>> from fractions import Fraction
    >>> left_open("groups", Fraction(1, 4)).endswith("for some people as for others, a probability may reach 40 %")
    True
    """
    whom = "an attacker who knows a little about people before seeing the release"
    if independent == "buckets":
        return (
            f"{whom} may infer the values of nearly everybody, because what is learned about one group of this method "
            "says something about other groups: common knowledge can be enough, such as that a value is more frequent "
            "among people with large incomes"
        )
    if share is None:
        return f"{whom} may become certain of a value"
    percent = ceil(100 * belief_bound(share, _TOLD))
    return (
        f"{whom} can be more certain: for example, if the attacker knows that the odds of one value against another "
        f"are up to {_TOLD} times as high for some people as for others, a probability may reach {percent} %"
    )
