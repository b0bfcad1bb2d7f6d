"""The table of claims names real files and real tests."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.partition("## Where each claim is enforced")[2].splitlines() if line.startswith("| ")]
CLAIMS = [row.strip("| ").split(" | ") for row in ROWS[2:]]


def missing_in(text: str) -> list[str]:
    """What is named between backquotes and is not there."""
    missing = []
    for named in re.findall(r"`([^`]+)`", text):
        path, _, test = named.partition("::")
        if "/" not in path and not path.endswith((".py", ".toml")):
            continue
        places = [place for place in (ROOT / path, ROOT / "src" / "glasshouse" / path) if place.exists()]
        if not places or (test and f"def {test}(" not in places[0].read_text(encoding="utf-8")):
            missing.append(named)
    return missing


def test_every_claim_names_a_place_that_enforces_it_and_a_test_that_would_fail() -> None:
    assert len(CLAIMS) > 30
    for claim, enforced, test in CLAIMS:
        assert "`" in enforced or enforced == "all doors", claim
        assert "tests/" in test or "make check" in test, claim
        assert missing_in(enforced) == missing_in(test) == [], claim


def test_a_name_that_is_not_there_would_be_noticed() -> None:
    assert missing_in("`release/nothing.py`, `journeys/recheck.py`, `make fuzz`") == ["release/nothing.py"]
    assert missing_in("`tests/doors/fuzz/test_found.py::test_nothing`") == [
        "tests/doors/fuzz/test_found.py::test_nothing"
    ]
