"""A report says what the other calls say, names nobody, and tells what it leaves out."""

from __future__ import annotations

import hashlib
import json
import stat
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import glasshouse as gh
from glasshouse import catalog
from glasshouse.errors import OutputError, SourceError
from glasshouse.journeys.recheck import verify_release
from glasshouse.pages.report import Effort, report_on_file
from glasshouse.pages.report.beliefs import estimated_fits, histogram
from glasshouse.pages.report.facts import LAYOUT
from glasshouse.streaming.publish import PublishedFile, publish_file

PATIENTS = gh.synthetic.hospital(400, seed=3)
QUICK = Effort(questions=60, few_questions=20, seconds=10)


def made(**choices: Any) -> gh.Release:
    choices = {"principle": gh.LDiversity(ell=3), "source": gh.Source.seeded(1), **choices}
    return gh.publish(PATIENTS, **choices)


def two_columns() -> gh.Microdata:
    table = gh.synthetic.hospital_table(n=200, seed=1).to_pydict()
    smokes = [["often", "never", "rarely"][i % 3] for i in range(200)]
    return gh.read({**table, "smokes": smokes}, quasi=["age", "sex"], sensitive=["disease", "smokes"])


SAMPLES: dict[str, Any] = {
    "angel": {},
    "boxes": {"recoding": gh.Boxes(), "method": gh.Mondrian()},
    "anatomy": {"recoding": gh.Anatomy(), "method": gh.Anatomize()},
    "permutation": {"recoding": gh.Permutation()},
    "t-closeness": {"principle": gh.TCloseness(t="0.6")},
    "distinct": {"principle": gh.DistinctLDiversity(ell=3), "method": gh.EvenSplit()},
    "perturbed": {
        "principle": gh.DeltaGrowth(delta="0.5", lambda_="0.2", k=4),
        "recoding": gh.Perturbed(domain=PATIENTS.sensitive[0].domain.values.to_pylist()),
    },
}


# --- the numbers are those of the other calls -------------------------------------------------------------------------


@pytest.mark.parametrize("sample", SAMPLES)
def test_beliefs_are_those_of_attack(sample: str) -> None:
    release = made(**SAMPLES[sample])
    knowledge = gh.Knowledge(external=PATIENTS)
    facts = gh.make_report(release, PATIENTS, effort=QUICK, seed_source=gh.Source.seeded(5)).to_dict()

    attacks = {
        "linking": gh.Linking(),
        "corrupting": gh.Corruption(most_corrupted=1),
        "algorithm-aware": gh.ReverseEngineering(
            most_worlds=QUICK.most_worlds, most_runs=QUICK.most_runs, source=gh.Source.seeded(5)
        ),
    }
    for found in facts["beliefs"]:
        if not found["ran"]:
            with pytest.raises(gh.GlasshouseError):
                gh.attack(release, attacks[found["adversary"]], knowledge=knowledge)
            continue
        posterior = gh.attack(release, attacks[found["adversary"]], knowledge=knowledge)
        assert {**found, **posterior.to_dict()} == found
        assert sum(found["histogram"]["people"]) + found["people_unknown"] == posterior.n_people
        if posterior.limit is not None:
            assert len(posterior.above()) == found["people_above"]
    assert ["linking", "algorithm-aware", "corrupting"] == [found["adversary"] for found in facts["beliefs"]]


def test_the_adversary_who_knows_the_algorithm_attacks_k_anonymity_of_hundreds_exactly() -> None:
    table = gh.synthetic.hospital(500, seed=2)
    release = gh.publish(table, principle=gh.KAnonymity(k=5))
    linking, aware, _ = gh.make_report(release, table, effort=QUICK).to_dict()["beliefs"]

    assert ("algorithm-aware", True, "exact") == (aware["adversary"], aware["ran"], aware["how"])
    assert 500 == aware["people"] == linking["people"]


def test_people_whom_an_attack_exposes_are_counted_and_warned_of() -> None:
    release = made(method=gh.Greedy(), recoding=gh.Boxes())
    facts = gh.make_report(release, PATIENTS, effort=QUICK).to_dict()
    found = facts["beliefs"][1]

    posterior = gh.attack(release, gh.ReverseEngineering(), knowledge=gh.Knowledge(external=PATIENTS))
    assert found["people_above"] == len(posterior.above()) > 0
    assert any(f"{found['people_above']:,} of 400 people" in caution["text"] for caution in facts["cautions"])
    edges, people = found["histogram"]["edges"], found["histogram"]["people"]
    assert found["people_above"] == sum(n for low, n in zip(edges, people, strict=False) if low >= 1 / 3 - 1e-9)


def test_where_only_some_values_are_protected_a_report_compares_these() -> None:
    table = gh.read({"age": list(range(40)), "smokes": (["no"] * 7 + ["yes"]) * 5}, quasi=["age"], sensitive="smokes")
    release = gh.publish(table, principle=gh.DesignatedLDiversity(ell=5, values=("yes",)), recoding=gh.Boxes())
    report = gh.make_report(release, table, effort=QUICK)
    linking = report.to_dict()["beliefs"][0]

    posterior = gh.attack(release, knowledge=gh.Knowledge(external=table))
    assert (linking["limit"], linking["people_above"], linking["largest"]) == ("1/5", 0, posterior.reached.max())
    assert linking["largest"] <= 0.2 < linking["unprotected"] == posterior.largest.max()
    page = report.to_html()
    assert "Largest probability of a protected value" in page
    assert "largest probability of a value that is not protected" in page


def test_people_of_whom_nothing_can_be_said_are_counted_apart() -> None:
    ages, ills = [*range(20, 50)], ["flu", "gout", "mumps"] * 10
    table = gh.read({"age": ages, "ill": ills}, quasi=["age"], sensitive="ill")
    more = gh.read({"age": [*ages, 90], "ill": [*ills, "flu"]}, quasi=["age"], sensitive="ill")
    release = gh.publish(table, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), source=gh.Source.seeded(1))
    linking = gh.make_report(release, more, effort=QUICK).to_dict()["beliefs"][0]

    assert (31, 1, 30) == (linking["people"], linking["people_unknown"], sum(linking["histogram"]["people"]))


def test_a_table_of_a_few_people_is_attacked_exactly() -> None:
    table = gh.read({"x": [1, 2, 3, 4, 5], "y": [5, 4, 3, 2, 1], "s": list("bcaad")}, quasi=["x", "y"], sensitive="s")
    release = gh.publish(table, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), source=gh.Source.seeded(1))
    found = gh.make_report(release, table).to_dict()["beliefs"][1]

    assert ("exact", 1.0) == (found["how"], found["largest"])


def test_of_some_dozen_people_the_theorem_answers_where_there_is_one() -> None:
    table = PATIENTS.take(np.arange(48))
    release = gh.publish(table, principle=gh.LDiversity(ell=3), source=gh.Source.seeded(1))
    found = gh.make_report(release, table, effort=QUICK).to_dict()["beliefs"][1]

    posterior = gh.attack(release, gh.ReverseEngineering(how="bound"), knowledge=gh.Knowledge(external=table))
    assert {**found, **posterior.to_dict()} == found
    assert found["how"] == "bound"


@pytest.mark.parametrize("sample", ["boxes", "t-closeness", "distinct"])
def test_what_groups_achieve_is_what_verify_says(sample: str) -> None:
    release = made(**SAMPLES[sample])
    achieved = gh.make_report(release, PATIENTS, effort=QUICK).to_dict()["achieved"]
    counted = gh.verify(release.data, quasi=release.recipe.quasi, sensitive="disease").to_dict()

    assert {**achieved, "checks": [], "holds": None, "verdict": counted["verdict"]} == counted
    assert achieved["verdict"].startswith("The release keeps its guarantee")
    assert verify_release(release).to_dict() == achieved
    assert achieved["holds"]
    assert achieved["checks"]


def test_of_angel_and_anatomy_the_table_of_values_is_counted_and_people_are_found_in_the_others() -> None:
    angel, anatomy = (
        gh.make_report(made(**SAMPLES[s]), PATIENTS, effort=QUICK).to_dict() for s in ("angel", "anatomy")
    )

    assert ["Batch-ID"] == angel["achieved"]["quasi"]
    assert angel["achieved"]["sensitive"]["disease"]["ell"]["value"] >= 3
    (gt,), (qit,) = angel["findable"], anatomy["findable"]
    assert ("gt", False, True) == (gt["table"], gt["exact"], gt["k"] >= 3)
    assert ("qit", True) == (qit["table"], qit["exact"])
    counted = gh.verify(made(**SAMPLES["anatomy"]).tables["qit"], quasi=["age", "sex", "zipcode"])
    assert (counted.k, counted.n_groups) == (qit["k"], qit["groups"])


def test_of_a_perturbed_sample_k_is_the_smallest_group_that_it_states() -> None:
    release = made(**SAMPLES["perturbed"])
    (found,) = gh.make_report(release, PATIENTS, effort=QUICK).to_dict()["findable"]

    sizes = release.data["G"].to_pylist()
    assert (min(sizes), len(sizes)) == (found["k"], found["groups"])
    assert found["highest"] == pytest.approx(1 / min(sizes), abs=1e-6)


@pytest.mark.parametrize("sample", SAMPLES)
def test_utility_is_what_evaluate_says(sample: str) -> None:
    release = made(**SAMPLES[sample])
    facts = gh.make_report(release, PATIENTS, effort=QUICK).to_dict()

    for found, draw in zip(facts["utility"], (gh.Workload.transparent, gh.Workload.anatomy), strict=True):
        scores = gh.evaluate(release, PATIENTS, workload=draw(PATIENTS, n=60))
        assert (scores.workload, scores.n_questions) == (found["workload"], found["questions"])
        assert scores.error == pytest.approx(found["release"]["mean"], rel=1e-12)
        assert scores.baseline == pytest.approx(found["no_link"]["mean"], rel=1e-12)
        assert scores.coverage == found["coverage"]
        assert found["release"]["percentiles"][20] == found["release"]["median"]
        assert scores.losses.to_dict() == facts["losses"]
        assert scores.kl == facts["kl"]


def test_losses_of_several_marginals_are_those_of_the_widest() -> None:
    marginals = (("age", "disease"), ("age", "sex", "disease"), ("sex", "zipcode"))
    release = made(recoding=gh.Angel(marginals=marginals))
    facts = gh.make_report(release, PATIENTS, effort=QUICK).to_dict()

    assert gh.losses(release).to_dict() == facts["losses"]
    assert facts["utility"] == []  # no table has all attributes together, and that is said
    assert "no table of the release links all of the columns" in facts["no_utility"]


def test_every_sensitive_column_is_attacked_and_asked_about() -> None:
    table = two_columns()
    choices = {"disease": gh.DistinctLDiversity(ell=2), "smokes": gh.LDiversity(ell=2)}
    release = gh.publish(table, principle=choices, source=gh.Source.seeded(1))
    facts = gh.make_report(release, table, effort=QUICK).to_dict()

    assert ["disease"] * 3 + ["smokes"] * 3 == [found["column"] for found in facts["beliefs"]]
    assert [None] * 3 + ["1/2"] * 3 == [found["limit"] for found in facts["beliefs"]]
    assert ["disease", "disease", "smokes", "smokes"] == [found["column"] for found in facts["utility"]]
    assert {"disease", "smokes"} == set(facts["achieved"]["sensitive"])
    found = facts["beliefs"][3]
    posterior = gh.attack(release, gh.Linking(column="smokes"), knowledge=gh.Knowledge(external=table))
    assert {**found, **posterior.to_dict()} == found


def test_a_release_without_a_sensitive_column_has_a_report_without_beliefs_and_questions() -> None:
    table = gh.read(gh.synthetic.hospital_table(n=200, seed=1), quasi=["age", "sex"], identifier="patient")
    release = gh.publish(table, principle=gh.KAnonymity(k=4), source=gh.Source.seeded(1))
    report = gh.make_report(release, table)
    facts = report.to_dict()

    assert ([], [], None) == (facts["beliefs"], facts["utility"], facts["kl"])
    assert facts["findable"][0]["k"] >= 4
    assert facts["losses"] == gh.losses(release).to_dict()
    assert "There is no sensitive column" in report.to_html()


# --- what is left out -------------------------------------------------------------------------------------------------


def test_of_a_large_table_what_is_cheap_is_done_and_the_rest_is_told() -> None:
    effort = replace(QUICK, most_rows=399)
    facts = gh.make_report(made(), PATIENTS, effort=effort).to_dict()
    linking, aware, corrupting = facts["beliefs"]

    assert [True, False, False] == [linking["ran"], aware["ran"], corrupting["ran"]]
    assert "1/3" == aware["bound"]
    assert [20, 20] == [found["questions"] for found in facts["utility"]]
    assert facts["kl"] is None
    assert len(facts["bounded"]) == 5
    assert all("399 rows" in said for said in facts["bounded"])
    assert gh.make_report(made(), PATIENTS, effort=replace(QUICK, most_rows=400)).to_dict()["bounded"] == []


def test_what_linking_would_find_is_bounded_by_the_largest_share_in_a_group() -> None:
    effort = replace(QUICK, most_linked=399)
    for sample in ("angel", "boxes", "anatomy", "t-closeness", "distinct"):
        release = made(**SAMPLES[sample])
        facts = gh.make_report(release, PATIENTS, effort=effort).to_dict()
        linking = facts["beliefs"][0]
        posterior = gh.attack(release, knowledge=gh.Knowledge(external=PATIENTS))

        assert not linking["ran"]
        assert facts["achieved"]["sensitive"]["disease"]["alpha"]["exact"] == linking["bound"]
        assert posterior.largest.max() <= float(Fraction(linking["bound"])) * (1 + 1e-12)
    perturbed = gh.make_report(made(**SAMPLES["perturbed"]), PATIENTS, effort=effort).to_dict()
    assert perturbed["beliefs"][0]["bound"] is None


def test_people_who_fit_too_many_places_are_not_linked() -> None:
    release = made(method=gh.Ace(), recoding=gh.Boxes())
    n_fits = estimated_fits(release, PATIENTS, "disease")
    facts = gh.make_report(release, PATIENTS, effort=replace(QUICK, most_fits=n_fits - 1)).to_dict()

    assert n_fits > 2 * 400
    assert not any(found["ran"] for found in facts["beliefs"])
    assert "fit so many records" in facts["beliefs"][0]["why_not"]
    assert facts["beliefs"][1]["bound"] == "1/3"
    assert gh.make_report(release, PATIENTS, effort=replace(QUICK, most_fits=n_fits)).to_dict()["beliefs"][0]["ran"]


@pytest.mark.parametrize("sample", ["angel", "boxes", "anatomy"])
def test_the_number_of_fits_is_estimated_from_some_rows(sample: str) -> None:
    table = gh.synthetic.hospital(4_000, seed=3)
    release = gh.publish(table, principle=gh.LDiversity(ell=3), source=gh.Source.seeded(1), **SAMPLES[sample])
    whole, some = (estimated_fits(release, table, "disease", sample=n) for n in (1 << 30, 500))

    # of boxes every row counts as a place of its own, which is too many by the size of a group, and never too few
    assert 0.4 * whole <= some <= (2 if sample != "boxes" else 60) * whole


def test_reverse_engineering_ends_when_its_time_is_over() -> None:
    table = gh.synthetic.hospital(3_000, seed=1)
    release = gh.publish(table, principle=gh.LDiversity(ell=4), method=gh.Mondrian(), recoding=gh.Boxes())
    found = gh.make_report(release, table, effort=replace(QUICK, seconds=0)).to_dict()["beliefs"][1]

    assert (False, True) == (found["ran"], found["bounded"])
    assert "longer than is allowed for a report" in found["why_not"]


@pytest.mark.parametrize("sample", ["angel", "boxes"])
def test_progress_is_told_step_by_step_up_to_the_last(sample: str) -> None:
    told: list[tuple[str, int, int]] = []
    gh.make_report(made(**SAMPLES[sample]), PATIENTS, effort=QUICK, progress=lambda *step: told.append(step))

    assert [("reporting", i + 1, len(told)) for i in range(len(told))] == told


# --- warnings ---------------------------------------------------------------------------------------------------------


def levels(release: gh.Release, table: gh.Microdata = PATIENTS) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"stop": [], "attention": [], "note": []}
    cautions = gh.make_report(release, table, effort=QUICK).to_dict()["cautions"]
    assert sorted(cautions, key=lambda c: list(found).index(c["level"])) == cautions
    for caution in cautions:
        found[caution["level"]].append(caution["text"])
    return found


def test_a_fixed_seed_stops_a_release_and_a_secure_one_does_not() -> None:
    assert any("fixed seed" in text for text in levels(made())["stop"])
    assert levels(made(source=None))["stop"] == []


def test_tables_that_break_the_promise_stop_a_release() -> None:
    release = made(method=gh.Mondrian(), recoding=gh.Boxes(), source=None)
    spoiled = release.data.set_column(3, "disease", pa.array(["asthma"] * release.data.num_rows))
    broken = replace(release, tables={"data": spoiled})
    report = gh.make_report(broken, PATIENTS, effort=QUICK)

    assert report.to_dict()["kept"] is False
    assert any("The guarantee is broken" in text for text in levels(broken)["stop"])
    assert any("more than is guaranteed" in text for text in levels(broken)["stop"])
    assert "broken" in report.to_html()


def test_what_was_counted_already_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    release = made()
    counted = verify_release(release)
    monkeypatch.setattr("glasshouse.pages.report.facts.verify_release", lambda _: pytest.fail("counted again"))

    assert gh.make_report(release, PATIENTS, counted, effort=QUICK).to_dict()["achieved"] == counted.to_dict()


def test_tables_that_do_not_fit_together_are_told_so() -> None:
    release = made(recoding=gh.Anatomy())
    broken = replace(release, tables={**release.tables, "qit": release.tables["qit"].slice(1)})
    report = gh.make_report(broken, PATIENTS, effort=QUICK)

    assert (False, {}) == (report.to_dict()["kept"], report.to_dict()["achieved"]["sensitive"])
    assert "as many records in every group" in report.to_dict()["broken"]
    assert "<b>no</b>" in report.to_html()


def test_the_adversary_of_the_promise_decides_what_is_grave() -> None:
    mondrian = levels(made(method=gh.Mondrian(), recoding=gh.Boxes(), source=None))

    assert any("not against an attacker who also knows the algorithm" in text for text in mondrian["attention"])
    assert not any("also knows the algorithm. Anybody" in text for text in levels(made(source=None))["attention"])


def test_dropped_people_exact_quasi_identifiers_and_useless_answers_are_told() -> None:
    skewed = {"age": list(range(40)), "ill": ["flu"] * 26 + ["gout", "mumps"] * 7}
    table = gh.read(skewed, quasi=["age"], sensitive="ill")
    release = gh.publish(
        table, principle=gh.LDiversity(ell=2), method=gh.Separate(), recoding=gh.Anatomy(), suppress="1/2"
    )
    found = levels(release, table)

    assert release.n_dropped == 12
    assert any("12 of 40 people (30.00%) were left out" in text for text in found["attention"])
    assert any("shows exact quasi-identifiers" in text for text in found["attention"])
    whole = made(method=gh.Separate(), recoding=gh.Anatomy())  # one group tells what no link tells
    assert any("the release is no more useful than that" in text for text in levels(whole)["attention"])
    assert any("nobody has two rows" in text for text in found["note"])


@pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")
def test_what_to_do_without_protection_against_an_attacker_who_knows_the_algorithm() -> None:
    cut = levels(made(**SAMPLES["boxes"]))["attention"]
    assert any("Publish again without choosing a method" in text for text in cut)

    undeclared = made(**(SAMPLES["perturbed"] | {"recoding": gh.Perturbed()}))  # another method would not help
    found = levels(undeclared)["attention"]
    assert any(text.startswith("The release promises nothing: the possible values (domain)") for text in found)
    assert not any("who links people" in text for text in found)


# --- what is said in words, and what is never said --------------------------------------------------------------------


def test_every_method_and_recoding_is_told_in_plain_words() -> None:
    for thing in (*catalog.METHODS.values(), *catalog.RECODINGS.values()):
        assert thing.in_words.endswith("."), thing


@pytest.mark.parametrize("recoding", [gh.Taxonomies(), gh.Angel(cells="taxonomies")])
def test_no_identifier_and_no_value_that_was_not_published_is_in_it(recoding: Any, tmp_path: Path) -> None:
    n = 60
    codes = [f"canary{i:03d}" for i in range(n)]
    data = {"who": [f"person-{i:03d}" for i in range(n)], "code": codes, "ill": ["flu", "gout", "mumps"] * 20}
    tree = gh.Taxonomy.from_nested({"all": {f"part {p}": codes[p::3] for p in range(3)}})
    table = gh.read(data, identifier="who", quasi=["code"], sensitive="ill", taxonomies={"code": tree})
    gh.publish(table, out=tmp_path, principle=gh.LDiversity(ell=3), method=gh.Separate(), recoding=recoding)
    release = gh.load(tmp_path / "release")
    gh.make_report(release, table).write(tmp_path / "audit")

    for name in ("report.html", "report.json"):
        content = (tmp_path / "audit" / name).read_text(encoding="utf-8")
        assert "canary" not in content
        assert "person-" not in content


def test_values_on_their_way_are_told_by_column() -> None:
    data = {
        "age": [*range(20, 50), None],
        "grade": ["low", "high", "middle"] * 10 + ["low"],
        "ill": ["flu", "gout"] * 15 + ["flu"],
    }
    table = gh.read(
        data,
        quasi=["age", "grade"],
        sensitive="ill",
        missing="category",
        ordered={"grade": ["low", "middle", "high"]},
        top={"age": 45},
    )
    release = gh.publish(table, principle=gh.KAnonymity(k=2), source=gh.Source.seeded(1))
    age, grade, ill = gh.make_report(release, table).to_dict()["mapping"]

    assert (26, 1, "of its values") == (age["values"], age["missing"], age["order"])
    assert age["cells"] == len(release.data["age"].unique())
    assert ("declared", None, 0) == (grade["order"], grade["taxonomy"], grade["missing"])
    assert ("none", "sensitive", 2) == (ill["order"], ill["role"], ill["cells"])
    assert "age is top-coded" in gh.make_report(release, table).to_html().replace("Age", "age")


# --- files ------------------------------------------------------------------------------------------------------------


def test_both_files_lie_in_the_audit_folder_for_their_owner_alone(tmp_path: Path) -> None:
    release = gh.publish(PATIENTS, out=tmp_path, principle=gh.LDiversity(ell=3))
    before = json.loads((tmp_path / "audit" / "report.json").read_text(encoding="utf-8"))
    report = gh.make_report(release, PATIENTS, effort=QUICK).write(tmp_path / "audit")
    data = json.loads((tmp_path / "audit" / "report.json").read_text(encoding="utf-8"))

    assert report.to_dict() == data
    assert report.to_html() == (tmp_path / "audit" / "report.html").read_text(encoding="utf-8")
    assert data["layout"] == LAYOUT
    assert {key: before[key] for key in ("notices", "recipe")} == {key: data[key] for key in ("notices", "recipe")}
    assert before.keys() <= data.keys() | {"layout"}
    assert before["achieved"].keys() == data["achieved"].keys()
    for name in ("report.html", "report.json"):
        assert stat.S_IMODE((tmp_path / "audit" / name).stat().st_mode) == 0o600
    assert {"release", "audit"} == {path.name for path in tmp_path.iterdir()}


def test_checksums_are_those_of_the_release_files(tmp_path: Path) -> None:
    release = gh.publish(PATIENTS, out=tmp_path, principle=gh.LDiversity(ell=3))
    report = gh.make_report(release, PATIENTS, effort=QUICK)
    written = report.write(tmp_path / "audit").to_dict()

    assert report.to_dict()["files"] == []
    names = {path.name for path in (tmp_path / "release").iterdir()}
    assert names == {file["name"] for file in written["files"]}
    for file in written["files"]:
        content = (tmp_path / "release" / file["name"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file["bytes"], file["sha256"])
    manifest = (tmp_path / "release" / "datapackage.json").read_text(encoding="utf-8")
    hashes = [file["sha256"] for file in written["files"] if file["name"].endswith("parquet")]
    assert all(f"sha256:{digest}" in manifest for digest in hashes)


def test_a_release_with_a_report_can_be_replaced_and_a_report_written_again(tmp_path: Path) -> None:
    release = gh.publish(PATIENTS, out=tmp_path, principle=gh.LDiversity(ell=3))
    for _ in range(2):
        gh.make_report(release, PATIENTS, effort=QUICK).write(tmp_path / "audit")
    with pytest.warns(gh.DisclosureWarning, match="before"):
        gh.publish(PATIENTS, out=tmp_path, principle=gh.LDiversity(ell=3), force=True)

    assert not (tmp_path / "audit" / "report.html").exists()  # it was about the old release


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    report = gh.make_report(made(), PATIENTS, effort=QUICK)

    with pytest.raises(OutputError, match="cannot write into"):
        report.write(tmp_path / "nowhere" / "audit")
    with pytest.raises(OutputError, match="cannot write into"):
        report.write(tmp_path / "audit")
    with pytest.raises(SourceError, match="cannot read"):
        report.with_files(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


def published_in_batches(folder: Path, **asked: Any) -> PublishedFile:
    pa_csv.write_csv(gh.synthetic.hospital_table(n=300, seed=1), folder / "patients.csv")
    given = {"quasi": ["age", "sex"], "sensitive": "disease", "principle": gh.LDiversity(ell=3), **asked}
    return publish_file(folder / "out", folder / "patients.csv", **given)


def test_a_file_that_was_published_in_batches_has_a_report_too(tmp_path: Path) -> None:
    published = published_in_batches(tmp_path)
    report = report_on_file(published)
    facts = report.write(published.audit).to_dict()

    assert (300, True) == (facts["published"]["tuples"], facts["kept"])
    assert [("ell = 3", True)] == [(c["asked"], c["holds"]) for c in facts["achieved"]["checks"] if c["column"]]
    assert {file["name"] for file in facts["files"]} >= {"gt.parquet", "bt.parquet", "datapackage.json"}
    assert report_on_file(published).to_dict()["achieved"] == facts["achieved"]
    assert "published in batches" in report.to_html()
    (published.audit / "report.json").write_text("{}")
    with pytest.raises(SourceError, match="says what was counted"):
        report_on_file(published)


@pytest.mark.parametrize(
    "asked",
    [
        {"recoding": "boxes"},
        {"recoding": "anatomy", "method": "anatomize"},
        {"recoding": "permutation"},
        {"recoding": gh.Angel(k=5)},
        {"principle": gh.KAnonymity(k=5), "sensitive": None},
        {"principle": gh.TCloseness(t="1/2"), "method": "mondrian"},
        {
            "principle": gh.RhoBreach(rho1="1/5", rho2="1/2", lambda_="1/10", k=6),
            "recoding": gh.Perturbed(
                domain=tuple(gh.synthetic.hospital_table(300, seed=1)["disease"].unique().to_pylist())
            ),
        },
    ],
    ids=["boxes", "anatomy", "permutation", "angel", "k-anonymity", "t-closeness", "perturbed"],
)
def test_a_report_on_a_file_says_what_one_on_the_same_release_in_memory_says(
    asked: dict[str, Any], tmp_path: Path
) -> None:
    published = published_in_batches(tmp_path, **asked)
    here = report_on_file(published)
    table = gh.read(tmp_path / "patients.csv", quasi=["age", "sex"], sensitive=asked.get("sensitive", "disease"))
    there = gh.make_report(gh.load(published.folder), table, effort=QUICK)
    found, known = here.to_dict(), there.to_dict()

    for name in ("recipe", "words", "guarantee", "kept", "broken", "notices", "published"):
        assert known[name] == found[name], name
    assert [shown for shown in known["findable"] if not shown["exact"]] == found["findable"]
    exact = [caution for caution in known["cautions"] if "exact quasi-identifiers" in caution["text"]]
    assert [caution for caution in found["cautions"] if "exact quasi-identifiers" in caution["text"]] == exact
    assert bool(exact) == any(shown["exact"] for shown in found["published"]["tables"])
    assert found["bounded"][0].startswith("No attack was tried")
    assert ("not counted how many people have" in " ".join(found["bounded"])) == bool(exact)
    assert "What happened to the values of each column is not listed." in here.to_html()


def test_a_report_on_a_file_counts_people_who_were_dropped_as_one_on_a_table_does(tmp_path: Path) -> None:
    rows = ["age,disease"] + [f"{i % 40},{'flu' if i % 3 else 'asthma'}" for i in range(90)] + [",flu", "7,"]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n")
    asked = {"principle": gh.LDiversity(ell=2), "suppress": "1/2"}
    roles = {"quasi": ["age"], "sensitive": "disease", "missing": "drop"}
    published = publish_file(tmp_path / "out", tmp_path / "people.csv", **roles, **asked)
    table = gh.read(tmp_path / "people.csv", **roles)
    there = gh.make_report(gh.publish(table, **asked), table, effort=QUICK).to_dict()

    assert published.n_incomplete == 2
    assert there["published"]["dropped"] > 0
    assert report_on_file(published).to_dict()["published"]["dropped"] == there["published"]["dropped"]


def test_a_report_prints_as_one_line() -> None:
    assert repr(gh.make_report(made(), PATIENTS, effort=QUICK)).startswith("Report(in every group")


# --- histograms -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [None, Fraction(1, 2), Fraction(1, 3), Fraction(1, 7), Fraction(1, 100)])
def test_everybody_is_in_one_bar_and_nobody_at_the_limit_is_beyond_it(limit: Fraction | None) -> None:
    some = np.concatenate([np.linspace(0, 1, 301), [0.0, 1.0], [] if limit is None else [float(limit)] * 5])
    edges, counts = histogram(some, limit)

    assert (0.0, 1.0) == (edges[0], edges[-1])
    assert np.all(np.diff(edges) > 0)
    assert len(some) == counts.sum()
    if limit is not None:
        beyond = counts[edges[:-1] >= float(limit) * (1 - 1e-9)].sum()
        assert np.count_nonzero(some > float(limit) * (1 + 1e-9)) == beyond
