# SPDX-License-Identifier: Apache-2.0
"""Every test that the list of tiers names exists: a test that was renamed would run with other cases, or not at all."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.tiers import LONG, THINNED

ROOT = Path(__file__).resolve().parents[2]


@cache
def defined(file: str) -> set[str]:
    path = ROOT / file
    return (
        set(re.findall(r"^\s*(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.M))
        if path.is_file()
        else set()
    )


def test_every_test_in_the_list_of_tiers_exists() -> None:
    missing = []
    for name in sorted({*THINNED, *LONG}):
        file, _, test = name.partition("::")
        if test.rpartition("::")[2].partition("[")[0] not in defined(file):
            missing.append(name)
    assert THINNED
    assert LONG
    assert not missing, "\n" + "\n".join(missing)
