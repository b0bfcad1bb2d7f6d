# SPDX-License-Identifier: Apache-2.0
"""What is given in the place of a principle, a method, a recoding or an attack is of that kind, or is refused."""

from __future__ import annotations

from typing import Any

import pytest

import glasshouse as gh


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"recoding": gh.Anatomize()}, "a recoding is needed, and Anatomize is none"),
        ({"method": gh.Anatomy()}, "a method is needed, and Anatomy is none: make one, or give its name"),
        ({"method": gh.Mirror}, r"a method is needed, and Mirror is a class: write Mirror\(\) to make one"),
        ({"recoding": gh.Angel}, r"a recoding is needed, and Angel is a class: write Angel\(\) to make one"),
        ({"principle": gh.LDiversity}, r"a principle is needed, and LDiversity is a class: write LDiversity\(\)"),
        ({"principle": {"disease": gh.LDiversity}}, "a principle is needed, and LDiversity is a class"),
        ({"method": 3}, "a method is needed, and int is none"),
    ],
)
def test_an_object_of_another_kind_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(gh.InputError, match=said):
        gh.publish(gh.synthetic.hospital(100, seed=1), **{"principle": "3-diversity", **given})


def test_an_attack_is_an_attack() -> None:
    table = gh.synthetic.hospital(100, seed=1)
    knowledge = gh.Knowledge(external=table)
    release = gh.publish(table, principle="3-diversity")
    with pytest.raises(gh.InputError, match="an attack is needed, and Mirror is none"):
        gh.attack(release, gh.Mirror(), knowledge=knowledge)  # type: ignore[call-overload]
    with pytest.raises(gh.InputError, match=r"Linking is a class: write Linking\(\)"):
        gh.attack(release, gh.Linking, knowledge=knowledge)  # type: ignore[call-overload]
