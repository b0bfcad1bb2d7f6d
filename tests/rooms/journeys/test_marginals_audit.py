# SPDX-License-Identifier: Apache-2.0
"""More marginals: what an audit said of the release as it was is gone, and what it says is true of what there is."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.journeys.marginals import publish_marginals
from glasshouse.journeys.recheck import recheck
from glasshouse.pages.report import Effort
from glasshouse.principles.principle import Requirement
from glasshouse.release.package.listing import add_files

QUICK = Effort(questions=20, few_questions=10, seconds=5)
STALE = "said of the release as it was"
N = 60
COLUMNS: dict[str, list[Any]] = {
    "age": [None if i == 7 else 20 + (i * i) % 47 for i in range(N)],
    "ward": [f"w{(i * 5) % 7}" for i in range(N)],
    "disease": [["flu", "gout", "ulcer", "cold", "asthma"][(i * 3 + i // 7) % 5] for i in range(N)],
}
MORE = [["ward", "disease"]]


def patients() -> gh.Microdata:
    """A table with something to notice: an age is missing."""
    return gh.read(COLUMNS, quasi=["age", "ward"], sensitive="disease", missing="category")


def published(out: Path) -> gh.Release:
    return gh.publish(patients(), out=out, principle=gh.LDiversity(ell=3), recoding=gh.Angel(k=4))


def report_in(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "audit" / "report.json").read_text(encoding="utf-8"))
    return found


def texts_in(found: Any) -> set[str]:
    if isinstance(found, dict):
        return set(found).union(*map(texts_in, found.values()))
    if isinstance(found, list):
        return set().union(*map(texts_in, found))
    return {found} if isinstance(found, str) else set()


def test_of_the_old_report_only_the_notices_survive_and_all_else_is_counted_anew(tmp_path: Path) -> None:
    release = published(tmp_path)
    gh.make_report(release, patients(), effort=QUICK).write(tmp_path / "audit")
    old = report_in(tmp_path)
    assert old["notices"] == list(patients().notices) != []
    assert {"beliefs", "utility", "files", "guarantee", "cautions"} <= old.keys()

    more = publish_marginals(tmp_path, patients(), marginals=MORE)

    counted = recheck(more, Requirement.of(gh.LDiversity(ell=3), patients()))
    assert len(counted.checks) == 3  # l, and k of either generalized table
    assert report_in(tmp_path) == {
        "notices": old["notices"],
        "accepted": [],
        "achieved": json.loads(json.dumps(counted.to_dict())),
        "recipe": json.loads(json.dumps(more.recipe.to_data())),
    }
    assert report_in(tmp_path)["recipe"] != old["recipe"]


def test_nothing_is_carried_over_from_anywhere_in_the_old_report(tmp_path: Path) -> None:
    """Also not from inside what comes again: every text of the old one is marked, and every number another."""
    published(tmp_path)
    old = report_in(tmp_path)

    def marked(found: Any) -> Any:
        if isinstance(found, dict):
            return {**{key: marked(value) for key, value in found.items()}, STALE: STALE}
        if isinstance(found, list):
            return [*map(marked, found), STALE]
        return 123_456 if isinstance(found, int | float) else STALE

    spoiled = {**{key: marked(old[key]) for key in old}, "beliefs": [STALE], STALE: STALE, "notices": ["as read"]}
    (tmp_path / "audit" / "report.json").write_text(json.dumps(spoiled))
    (tmp_path / "audit" / "contents.json").unlink()  # as an earlier version left it: nobody knows what it wrote

    publish_marginals(tmp_path, patients(), marginals=MORE)

    assert report_in(tmp_path)["notices"] == ["as read"]
    assert STALE not in texts_in(report_in(tmp_path))
    assert "123456" not in (tmp_path / "audit" / "report.json").read_text()


def test_pages_and_attacks_on_the_old_release_are_gone(tmp_path: Path) -> None:
    release = published(tmp_path)
    gh.make_report(release, patients(), effort=QUICK).write(tmp_path / "audit")
    add_files(tmp_path / "audit", {f"attack-linking.{kind}": STALE for kind in ("csv", "json", "svg")})

    publish_marginals(tmp_path, patients(), marginals=MORE)

    assert {path.name for path in (tmp_path / "audit").iterdir()} == {
        "contents.json",
        "report.json",
        "partition.parquet",
        "published.json",
    }


def test_a_report_that_is_made_afterwards_is_of_the_release_that_grew(tmp_path: Path) -> None:
    release = published(tmp_path)
    before = gh.make_report(release, patients(), effort=QUICK).write(tmp_path / "audit").to_dict()
    more = publish_marginals(tmp_path, patients(), marginals=MORE)
    after = gh.make_report(more, patients(), effort=QUICK).write(tmp_path / "audit").to_dict()

    assert [shown["name"] for shown in after["published"]["tables"]] == ["bt", "gt", "gt_2"]
    assert after["notices"] == before["notices"]
    for file in after["files"]:
        content = (tmp_path / "release" / file["name"]).read_bytes()
        assert file["sha256"] == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("content", [None, "", "{", "[]", "{}", '{"notices": 3}', "\ud800"])
def test_a_report_that_cannot_be_read_is_told_and_nothing_is_changed(content: str | None, tmp_path: Path) -> None:
    published(tmp_path)
    report = tmp_path / "audit" / "report.json"
    report.unlink()
    if content is not None:
        report.write_bytes(content.encode("utf-8", "surrogatepass"))
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    with pytest.raises(gh.InputError, match=r"report\.json (cannot be read|was changed)"):
        publish_marginals(tmp_path, patients(), marginals=MORE)

    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == files
