# SPDX-License-Identifier: Apache-2.0
"""One sentence says whether a release keeps its guarantee, and what is wrong if not; of a table, what was found."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.journeys import verify as journey
from glasshouse.journeys.recheck import verify_stream
from glasshouse.release.package.container.container import DAMAGED
from tests.rooms.release.kinds import ALL, of_kind, write

TABLE = {"zip": ["476**"] * 3 + ["479**"] * 3, "disease": ["flu", "flu", "ulcer", "flu", "ulcer", "asthma"]}
NOT = "Do not use the release: it does not agree with its description or its guarantee: "
NOTHING_ASKED = (
    "It was not compared with any requirement: name one, such as --k 5 (k=5), if you need an answer of yes or no."
)
KEPT = (
    "every file has the size and the checksum that datapackage.json lists, its guarantee (3-diversity for disease) was "
    "checked again by counting in the "
)


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(glasshouse, [str(word) for word in words])


def last_line(result: Result) -> str:
    return result.output.splitlines()[-1]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    gh.publish(gh.synthetic.hospital(60, seed=1), principle="3-diversity", out=tmp_path / "out")
    return tmp_path / "out"


def test_a_release_that_is_what_it_says_it_is(out: Path) -> None:
    shown, found = run("verify", out / "release"), gh.verify(out / "release")
    assert found.verdict == (
        f"{out / 'release'} keeps its guarantee and was not changed, as far as its files can show: "
        f"{KEPT}published tables and is kept, and it is not signed."
    )
    assert last_line(shown) == found.verdict
    assert str(found).splitlines()[-1] == found.verdict
    told = json.loads(run("verify", out / "release", "--json").stdout)
    assert told["verdict"] == found.to_dict()["verdict"] == found.verdict
    assert last_line(run("verify", out)) == found.verdict


def test_who_signed_and_whether_that_was_checked(out: Path) -> None:
    public = gh.new_key(out.parent / "steward.pem")
    made = gh.sign(out / "release", key=out.parent / "steward.pem", signer="The office")
    who = f"it was signed by The office on {made.date[:10]} with the key"
    unchecked = f", and {who} {made.key[:16]}; whether this key belongs to the signer was not checked."
    assert last_line(run("verify", out)).endswith(f"is kept{unchecked}")
    checked = run("verify", out, "--signed-by", public)
    assert last_line(checked).endswith(f"is kept, and {who} in {public}.")
    assert gh.verify(out, signed_by=public).verdict == last_line(checked)


@pytest.mark.parametrize("field", ["signer", "date", "key", "signature"])
def test_a_signature_that_is_none_is_told_without_any_key(out: Path, field: str) -> None:
    gh.new_key(out.parent / "steward.pem")
    gh.sign(out / "release", key=out.parent / "steward.pem", signer="The office")
    file = out / "release" / "signature.json"
    told = json.loads(file.read_text())
    file.write_text(json.dumps({**told, field: told[field][:-1] + ("0" if told[field][-1] != "0" else "1")}))
    shown = run("verify", out)
    assert shown.exit_code == 1
    assert last_line(shown) == (
        f"Do not use {out / 'release'}: it does not agree with its description or its guarantee: the signature "
        f"of {out / 'release'} was not made with this key, or was changed since: do not trust this release before you "
        "have asked the publisher which key is right."
    )
    assert gh.verify(out).holds is False


def test_a_file_that_was_changed_is_named(out: Path) -> None:
    file = next(path for path in sorted((out / "release").iterdir()) if path.suffix == ".parquet")
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    shown, told = run("verify", out), run("verify", out, "--json")
    reason = f"{file.name} is not the file that was published (its checksum differs)"
    verdict = f"{out / 'release'} cannot be checked: {reason}. {DAMAGED}"
    assert shown.exit_code == told.exit_code == 2
    assert last_line(shown) == f"error: {verdict}"
    assert json.loads(told.stdout) == {"verdict": verdict, "holds": False}
    with pytest.raises(gh.SourceError) as caught:
        gh.verify(out)
    assert str(caught.value) == verdict


def test_what_does_not_say_that_it_is_a_release_is_not_accused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "cannot be checked" not in run("verify", tmp_path / "empty").output


def test_a_promise_that_is_not_kept_is_told_with_its_groups() -> None:
    release = of_kind("boxes")
    stricter = replace(release.recipe, principle={"name": "l-diversity", "ell": 5})
    found = gh.verify(replace(release, recipe=stricter))
    (check,) = (check for check in found.checks if check.asked == "ell = 5")
    groups = f"{check.n_failing} groups with {check.n_tuples} records do not satisfy l = 5 for {check.column}"
    assert found.verdict.startswith(f"{NOT}{groups}; the promise does not match the")
    assert str(found).splitlines()[-1] == found.verdict
    assert "violated by 1 group with 0 records" not in str(found)


def test_other_faults_are_told_in_words() -> None:
    release = of_kind("boxes")
    fewer = gh.verify(replace(release, n_tuples=release.n_tuples + 1))
    assert f"it has {release.n_tuples} records, and says that it has {release.n_tuples + 1}" in fewer.verdict
    words = replace(release.guarantee, promise="nobody can learn anything", theorem="it is so", assumptions=("none",))
    other = gh.verify(replace(release, guarantee=replace(words, limits=(), adversary="nobody")))
    assert other.verdict == (
        f"{NOT}the promise does not match the recipe word for word; the attacker does "
        "not match the recipe word for word; the theorem does not match the recipe word for word; and 2 more checks "
        "fail."
    )


@pytest.mark.parametrize("kind", ALL)
def test_every_kind_of_release_has_a_verdict(kind: str, tmp_path: Path) -> None:
    folder = write(kind, tmp_path, "parquet")
    inside, outside = gh.verify(gh.load(folder)).verdict, gh.verify(folder).verdict
    assert inside.startswith("The release keeps its guarantee, as far as its tables can show: its guarantee (")
    assert inside.endswith("; this says nothing about its files or a signature.")
    assert outside.startswith(f"{folder} keeps its guarantee and was not changed, as far as its files can show: ")
    assert "any guarantee" not in outside


def test_a_sample_is_said_to_keep_what_it_achieves_or_to_promise_nothing() -> None:
    asked = {"principle": gh.RhoBreach(rho1="0.2", k=3)}
    people = gh.synthetic.hospital(60, seed=1)
    diseases = sorted(set(people.sensitive[0].domain.texts))
    promising = gh.publish(people, **asked, recoding=gh.Perturbed(p="0.3", domain=diseases))
    (bound,) = (check.asked for check in gh.verify(promising).checks if "guarantee" in check.asked[:30])
    assert f"its guarantee ({bound.removeprefix('a ')} for disease) was checked again" in gh.verify(promising).verdict
    with pytest.warns(gh.DisclosureWarning, match="promises nothing"):
        silent = gh.publish(people, **asked, recoding=gh.Perturbed(p="0.3"))
    assert silent.guarantee.promise.startswith("nothing")
    assert "can show: it says that it guarantees nothing; this" in gh.verify(silent).verdict


def test_a_release_of_another_version_is_not_said_to_have_the_right_words() -> None:
    folder = Path(__file__).parents[1] / "release" / "format_1"
    old = next(path.parent for path in sorted(folder.rglob("datapackage.json")))
    assert "; another version (format 1, " in gh.verify(old).verdict
    assert gh.verify(old).verdict.endswith("wrote it, so the words of its guarantee were not compared.")


def test_a_release_that_is_counted_in_batches_has_the_same_verdict(out: Path) -> None:
    assert verify_stream(out / "release").verdict == gh.verify(gh.load(out / "release")).verdict


def test_of_a_table_the_sentence_says_what_was_found(tmp_path: Path) -> None:
    has = "has 6 records in 2 groups, with k = 3, l = 1 for disease, and t = 0.166667 for disease (equal distance)."
    columns = {"quasi": ["zip"], "sensitive": "disease"}
    assert gh.verify(TABLE, **columns).verdict == f"The table {has[:-1]}. {NOTHING_ASKED}"
    assert gh.verify(TABLE, **columns, k=3).verdict == f"The table satisfies k = 3: it {has}"
    assert gh.verify(TABLE, **columns, k=3, ell=2).verdict == (
        "The table does not satisfy what was asked for: 1 group with 3 records does not satisfy l = 2 for disease; "
        f"it {has}"
    )
    assert gh.verify(TABLE, quasi=["zip"]).verdict == (
        f"The table has 6 records in 2 groups, with k = 3. {NOTHING_ASKED}"
    )
    file = tmp_path / "table.csv"
    file.write_text("\n".join(["zip,disease", *map(",".join, zip(*TABLE.values(), strict=True))]))
    shown = run("verify", file, "--quasi", "zip", "--sensitive", "disease", "--ell", "2")
    assert shown.exit_code == 1
    assert last_line(shown).startswith("The table does not satisfy what was asked for: 1 group with 3 records")


def test_the_verdict_stays_one_line() -> None:
    found = gh.verify({"q\n": ["a", "a"], "d\x1b[31m\n": ["x", "y"]}, quasi=["q\n"], sensitive="d\x1b[31m\n")
    assert "\n" not in found.verdict
    assert "\x1b" not in found.verdict


ALIKE = ["flu", "flu ", "FLU", "f\u200blu", "cafe\u0301", "caf\xe9"]


@pytest.mark.parametrize("recoding", ["angel", "boxes", "anatomy"])
def test_values_that_only_look_different_are_told_of_a_release_and_fail_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recoding: str
) -> None:
    columns = {"zip": [str(place) for place in range(12)], "disease": ALIKE * 2}
    table = gh.read(columns, quasi=["zip"], sensitive="disease", accept=["look-alikes"])
    release = gh.publish(table, principle="2-diversity", recoding=recoding)
    release.save(tmp_path / "release")
    found = [gh.verify(release), gh.verify(tmp_path / "release")]
    monkeypatch.setattr(journey, "_MOST_LOADED", 0)
    found.append(gh.verify(tmp_path / "release"))
    assert any("not read into memory" in note for note in found[-1].counting)
    for one in (*found, gh.verify(columns, quasi=["zip"], sensitive="disease", ell=1)):
        assert one.holds
        assert one.alike == ("disease",)
        assert sum("'disease' has 6 values that differ from another" in note for note in one.notices) == 1
        assert one.verdict.endswith(
            "; but some values of disease are written almost alike and were counted as different values, so groups "
            "are less diverse than counted if these mean the same."
        )


def test_values_that_only_look_different_are_not_in_the_verdict_on_group_sizes() -> None:
    found = gh.verify({"zip": ["1"] * 6, "disease": ALIKE}, quasi=["zip"], sensitive="disease", k=2)

    assert found.alike == ("disease",)
    assert "alike" not in found.verdict


def test_values_in_published_sets_that_only_look_different_are_told() -> None:
    sets = [["flu", "x"], ["FLU", "y"], ["z"], ["flu", "y"], ["x"], ["u"]]
    rows = [(str(person), drug) for person, own in enumerate(sets) for drug in own]
    columns = {"id": [one for one, _ in rows], "zip": [one for one, _ in rows], "drug": [drug for _, drug in rows]}
    table = gh.read(
        columns, identifier="id", quasi=["zip"], sensitive="drug", repeated="together", accept=["look-alikes"]
    )
    assert gh.verify(gh.publish(table, principle="2-diversity")).alike == ("drug",)
