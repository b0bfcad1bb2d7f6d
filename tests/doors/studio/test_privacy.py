"""The second step: promises are set by slider and by number, said in words, and refused with what works instead."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh
from glasshouse import catalog
from glasshouse.policy.choices import principle
from glasshouse.studio.offers import ASKED, OFFERS, choices_for, choices_from, texts_of
from tests.doors.studio.desks import CANARIES, hospital, hostile, seated, settled, sketched, skewed, troubles
from tests.doors.studio.sitting import Sitting

ROLES: dict[str, Any] = {"quasi": ["age", "sex", "zipcode"], "sensitive": ["disease"]}


@pytest.fixture
def at_hospital(tmp_path: Path) -> Iterator[Sitting]:
    with seated(hospital(tmp_path), **ROLES) as made:
        yield made


def test_every_principle_of_the_catalogue_is_offered_and_makes_the_choices_that_ask_for_it() -> None:
    assert {*catalog.PRINCIPLES, *catalog.TARGETS} == {*OFFERS, "all-of"}
    for name, offer in OFFERS.items():
        form = {"ask": [name], **{offer.place(field): [field.usual] for field in offer.fields}}
        form |= {"designated-l-diversity.values": ["1"]} if name.startswith("designated") else {}
        choices = choices_from(form, {"disease": ["flu", "HIV"]})
        made = principle(choices)

        assert made.name == name
        assert set(choices) == set(ASKED)
        assert choices_for(made) == {**choices, "domain": None}
        assert texts_of(choices)[0] == [name]
        assert offer.principle.in_words
        assert offer.principle.left_open


def test_what_is_typed_comes_back_and_combinations_are_all_of_them() -> None:
    form = {"ask": ["k-anonymity", "recursive-l-diversity", "t-closeness"], "k-anonymity.k": ["4"]}
    form |= {"recursive-l-diversity.c": ["1/2"], "recursive-l-diversity.ell": ["3"]}
    form |= {"t-closeness.t": [".25"], "t-closeness.distance": ["ordered"]}
    choices = choices_from(form, {})

    assert {name: value for name, value in choices.items() if value is not None} == {
        "k": 4, "recursive": "0.5,3", "t": "0.25", "distance": "ordered",
    }  # fmt: skip
    assert principle(choices).title == "4-anonymity and recursive (0.5, 3)-diversity and 0.25-closeness"
    asked, texts, _ = texts_of(choices)
    assert set(asked) == set(form["ask"])
    assert texts["recursive-l-diversity.c"] == "0.5"


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"ask": "no-such-promise"},
        {"ask": "l-diversity"},
        {"ask": "l-diversity", "l-diversity.ell": "<script>"},
        {"ask": "l-diversity", "l-diversity.ell": "1"},
        {"ask": "l-diversity", "l-diversity.ell": "2.5"},
        {"ask": "l-diversity", "l-diversity.ell": "1e9999"},
        {"ask": "l-diversity", "l-diversity.ell": "9" * 99},
        {"ask": "l-diversity", "l-diversity.ell": "3", "suppress": "100"},
        {"ask": "l-diversity", "l-diversity.ell": "3", "suppress": "NaN"},
        {"ask": "l-diversity", "l-diversity.ell": "3", "take": "nothing"},
        {"ask": "t-closeness", "t-closeness.t": "0.2", "t-closeness.distance": "<b>"},
        {"ask": "t-closeness", "t-closeness.t": "-1"},
        {"ask": "designated-l-diversity", "designated-l-diversity.ell": "3"},
        {"ask": "designated-l-diversity", "designated-l-diversity.ell": "3", "designated-l-diversity.values": "99"},
        {"ask": ["l-diversity", "delta-growth"], "l-diversity.ell": "3", "delta-growth.delta": "0.3",
         "delta-growth.k": "6", "delta-growth.lambda_": "1"},
        {"ask": ["l-diversity", "designated-l-diversity"], "l-diversity.ell": "3", "designated-l-diversity.ell": "3",
         "designated-l-diversity.values": "0"},
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_plain_words(patient: Sitting, form: dict[str, Any]) -> None:
    with patient.client() as client:
        sketched(client)
        before = dict(patient.desk.choices)
        sent = client.post("/privacy", data=form)
        live = client.post("/privacy/words", data=form)

    assert sent.status_code in (200, 400)
    assert live.status_code == 200
    assert ('role="alert"' in live.text) or form.get("take") == "nothing"
    assert 'role="alert"' in sent.text
    assert "Traceback" not in sent.text + live.text
    assert "<script>" not in sent.text.replace('<script type="module"', "") + live.text
    assert patient.desk.choices == before


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"l-diversity.ell": "0"}, "The value of l must be a whole number of at least 2."),
        ({"l-diversity.ell": "2.5"}, "The value of l must be a whole number of at least 2."),
        ({"l-diversity.ell": ""}, "The value of l must be a whole number of at least 2."),
        ({"l-diversity.ell": "1e10"}, "The value of l must be a whole number of at least 2 and at most 2,147,483,647."),
        ({"ask": "t-closeness", "t-closeness.t": "1"}, "The value of t must be a number of at least 0 and below 1."),
        ({"ask": "delta-growth", "delta-growth.delta": ""}, "The value of delta must be a number above 0 and below 1."),
        (
            {"ask": "rho-breach", "rho-breach.rho1": "0.5", "rho-breach.rho2": "0.4"},
            "The value of rho2 must be above rho1, which is 0.5.",
        ),
    ],
)
def test_a_number_that_cannot_be_is_refused_in_the_words_of_its_field(
    patient: Sitting, form: dict[str, Any], words: str
) -> None:
    usual = {offer.place(field): field.usual for offer in OFFERS.values() for field in offer.fields}
    with patient.client() as client:
        sketched(client)
        live = client.post("/privacy/words", data={"ask": "l-diversity", **usual, **form})

    assert f"<p>{words}</p>" in live.text


def test_fields_take_the_numbers_that_their_principles_take() -> None:
    near = ("0", "0.001", "0.999", "1", "1.001", "1.5", "2", "3", "50")
    for name, offer in OFFERS.items():
        usual = {"ask": [name], **{offer.place(field): [field.usual] for field in offer.fields}}
        usual |= {"designated-l-diversity.values": ["1"]} if name.startswith("designated") else {}
        for field in (field for field in offer.fields if field.kind in ("whole", "number")):
            for text in near:
                if name == "rho-breach":  # of whose numbers the second must be above the first
                    usual |= {"rho-breach.rho1": ["0.0001"], "rho-breach.rho2": ["0.9999"]}
                number = Fraction(text)
                own = {field.choice: int(text) if number.denominator == 1 else text}
                if field.choice == "recursive":
                    own = {"recursive": f"{text},3" if field.parameter == "c" else f"2,{text}"}
                asked = {**choices_from(usual, {"disease": ["flu", "HIV"]}), **own}
                try:
                    principle(asked)
                    taken = True
                except gh.GlasshouseError:
                    taken = False
                assert field.allows(number) == taken, (name, field.parameter, text)


def test_what_was_changed_in_another_tab_is_shown_before_anything_is_kept(tmp_path: Path) -> None:
    with seated(hospital(tmp_path, 150), **ROLES) as made, made.client() as client:
        sketched(client)
        form = {"mark": made.desk.mark, "ask": "designated-l-diversity", "designated-l-diversity.ell": "3"}
        form |= {"designated-l-diversity.values": "0", "go": "1"}
        made.desk.choose(quasi=["age"], sensitive=["sex"])  # its values have other numbers
        sketched(client)
        before = dict(made.desk.choices)
        sent, live = client.post("/privacy", data=form), client.post("/privacy/words", data=form)
        assert made.desk.choices == before

    assert sent.status_code == 409
    for text in (sent.text, live.text):
        assert "Your choices were changed in another tab: look at them again before you go on." in text
    assert 'id="asked"' in sent.text


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sitting]:
    """A studio for many requests."""
    with seated(hospital(tmp_path_factory.mktemp("patient"), 150), **ROLES) as made:
        yield made


def test_without_roles_the_step_says_what_is_missing(tmp_path: Path) -> None:
    with seated(skewed(tmp_path, 20)) as made, made.client() as client:
        shown = client.get("/privacy")

        assert "which columns others may know" in shown.text
        assert client.post("/privacy", data={"ask": "l-diversity"}).status_code == 303
        assert made.desk.job("sketch") is None


def test_a_yes_and_no_column_is_offered_what_works(tmp_path: Path) -> None:
    with seated(skewed(tmp_path), quasi=["age", "sex"], sensitive=["addicted"]) as made, made.client() as client:
        text = sketched(client)

        assert "l-diversity is not possible for this table as it is: 175 of 200 people" in text
        assert "ell" not in made.desk.choices
        form = {"ask": "l-diversity", "l-diversity.ell": "2"}
        asked = {
            "suppress": {"ell": 2, "suppress": "0.75"},
            "designated": {"ell": 5, "designated": ["yes"]},
            "closeness": {"t": "0.1"},
            "alpha": {"alpha": "0.95", "k": 5},
            "perturbed": {"rho1": "0.2", "rho2": "0.5", "k": 6, "domain": ["no", "yes"]},
        }
        for take, choices in asked.items():
            assert f'value="{take}"' in text
            made.desk.choose(**dict.fromkeys((*ASKED, "suppress")))
            assert client.post("/privacy", data={**form, "take": take}).status_code == 303
            assert {name: made.desk.choices.get(name) for name in choices} == choices
            shown = settled(client, "/privacy")
            assert "✓ guaranteed" in shown
            assert 'role="alert"' not in shown
            left_out = "known to be among the 50 in the release, and not among the 150 who were left out: nobody"
            assert (left_out in shown) == (take == "suppress")
            assert ("The 150 people who were left out are not protected: only people" in shown) == (take == "suppress")


# --- several sensitive columns ----------------------------------------------------------------------------------------

VALUES = {"disease": ["flu", "HIV"], "drug": ["A", "B"], "smoker": ["no", "yes"]}


def test_each_column_has_a_guarantee_of_its_own() -> None:
    form = {
        "ask": ["l-diversity", "designated-l-diversity", "t-closeness"],
        **{f"{name}.of-columns": ["1"] for name in ("l-diversity", "designated-l-diversity", "t-closeness")},
        "l-diversity.ell": ["3"],
        "l-diversity.columns": ["0"],
        "designated-l-diversity.ell": ["5"],
        "designated-l-diversity.ell@1": ["4"],
        "designated-l-diversity.columns": ["1"],
        "designated-l-diversity.values@1": ["1"],
        "t-closeness.t": ["0.2"],
        "t-closeness.columns": ["2"],
        "t-closeness.distance@2": ["ordered"],
    }
    choices = choices_from(form, VALUES)

    assert {name: value for name, value in choices.items() if value is not None} == {
        "ell": {"disease": 3, "drug": 4},
        "designated": {"drug": ["B"]},
        "t": {"smoker": "0.2"},
        "distance": {"smoker": "ordered"},
    }
    filled = texts_of(choices, list(VALUES))
    assert set(filled.asked) == set(form["ask"])
    assert [filled.columns[name] for name in ("l-diversity", "designated-l-diversity", "t-closeness")] == [
        [0],
        [1],
        [2],
    ]
    assert (filled.texts["designated-l-diversity.ell@1"], filled.texts["t-closeness.distance@2"]) == ("4", "ordered")


def test_what_is_the_same_for_all_columns_is_one_number() -> None:
    form = {"ask": ["l-diversity", "k-anonymity"], "k-anonymity.k": ["4"], "l-diversity.ell": ["3"]}
    sent = {"l-diversity.of-columns": ["1"], "l-diversity.columns": ["0", "1", "2"], "l-diversity.ell@1": ["3"]}

    assert choices_from(form, VALUES) == choices_from({**form, **sent}, VALUES) == {
        **dict.fromkeys(ASKED), "ell": 3, "k": 4,
    }  # fmt: skip
    other = choices_from({**form, **sent, "l-diversity.ell@1": ["2"]}, VALUES)
    assert other["ell"] == {"disease": 3, "drug": 2, "smoker": 3}


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"l-diversity.columns": ["0", "1"]}, "nothing is guaranteed for the column 'smoker'"),
        ({"l-diversity.columns": []}, "choose the columns that this is for"),
        ({"l-diversity.columns": ["3"]}, "no such column"),
        ({"l-diversity.columns": ["-1"]}, "no such column"),
        ({"l-diversity.columns": ["0", "1", "2"], "l-diversity.ell@1": ["x"]}, "a whole number of at least 2"),
        (
            {"ask": ["l-diversity", "designated-l-diversity"], "l-diversity.columns": ["0", "1", "2"],
             "designated-l-diversity.of-columns": ["1"], "designated-l-diversity.columns": ["1"],
             "designated-l-diversity.ell": ["3"], "designated-l-diversity.values@1": ["0"]},
            "only one of these two guarantees for a column",
        ),
        (
            {"ask": ["l-diversity", "designated-l-diversity"], "l-diversity.columns": ["0", "2"],
             "designated-l-diversity.of-columns": ["1"], "designated-l-diversity.columns": ["1"],
             "designated-l-diversity.ell": ["3"]},
            "at least one value to protect",
        ),
    ],
)  # fmt: skip
def test_a_column_without_a_guarantee_is_said(form: dict[str, Any], words: str) -> None:
    sent = {"ask": ["l-diversity"], "l-diversity.ell": ["3"], "l-diversity.of-columns": ["1"], **form}
    with pytest.raises(gh.InputError) as refused:
        choices_from(sent, VALUES)

    assert words in str(refused.value)


def test_a_yes_and_no_column_beside_another_is_offered_a_guarantee_of_its_own(tmp_path: Path) -> None:
    table = "age,sex,ill,smokes\n" + "".join(
        f"{20 + i % 40},{'FM'[i % 2]},{'abcdef'[i * 7 % 6]},{'yes' if i % 9 == 0 else 'no'}\n" for i in range(240)
    )
    (tmp_path / "two.csv").write_text(table)
    with (
        seated(tmp_path / "two.csv", quasi=["age", "sex"], sensitive=["ill", "smokes"]) as made,
        made.client() as client,
    ):
        text = sketched(client)
        assert "for which columns" in text.lower()
        sent = client.post("/privacy", data={"ask": "l-diversity", "l-diversity.ell": "3", "take": "by-column"})
        assert sent.status_code == 303

        assert made.desk.choices["ell"] == {"ill": 3}
        assert list(made.desk.choices["t"]) == ["smokes"]
        shown = client.get("/privacy").text
        assert "3-diversity of ill and" in shown
        assert "Nobody&#39;s ill can be inferred" in shown
        for column, other in (("0", "1"), ("1", "0")):
            offer = "l-diversity" if column == "0" else "t-closeness"
            assert f'name="{offer}.columns" value="{column}" checked' in shown
            assert f'name="{offer}.columns" value="{other}" checked' not in shown
        assert "3-diversity of ill and" in settled(client, "/method")
        assert "--ell ill=3 --t smokes=" in settled(client, "/release")

        form = {"ask": ["l-diversity", "designated-l-diversity"], "l-diversity.ell": "3", "l-diversity.columns": "0"}
        form |= {f"{name}.of-columns": "1" for name in ("l-diversity", "designated-l-diversity")}
        form |= {"designated-l-diversity.columns": "1", "designated-l-diversity.ell": "4"}
        assert client.post("/privacy", data={**form, "designated-l-diversity.values@1": "1"}).status_code == 303
        assert made.desk.choices["ell"] == {"ill": 3, "smokes": 4}
        assert made.desk.choices["designated"] == {"smokes": ["yes"]}
        shown = client.get("/privacy").text
        assert 'name="designated-l-diversity.values@1" value="1" checked' in shown
        assert 'name="designated-l-diversity.values@0" value="1" checked' not in shown
        assert "--designated smokes=yes" in settled(client, "/release")


def test_a_table_that_cannot_be_read_is_said_and_can_be_read_again(tmp_path: Path) -> None:
    file = skewed(tmp_path, 20)
    with seated(file, quasi=["age"], sensitive=["no such column"]) as made, made.client() as client:
        assert "there is no column" in sketched(client)
        made.desk.choose(sensitive=["addicted"])
        assert "How safe must it be?" in sketched(client)
        assert made.desk.job("sketch").state == "done"  # type: ignore[union-attr]
        client.post("/privacy/again")
        assert made.desk.job("sketch") is None


def test_names_and_values_that_would_do_harm_are_shown_as_text(tmp_path: Path) -> None:
    roles = {"quasi": list(CANARIES[:2]), "sensitive": [CANARIES[2]], "categorical": [CANARIES[2]]}
    with seated(hostile(tmp_path), **roles) as made, made.client() as client:
        shown = sketched(client)
        assert made.desk.choices["ell"] == 4
        form = {"ask": "l-diversity", "l-diversity.ell": "5"}
        pages = [shown, client.post("/privacy/words", data=form).text, client.post("/privacy", data=form).text]
        form = {
            "ask": "designated-l-diversity",
            "designated-l-diversity.ell": "2",
            "designated-l-diversity.values": "0",
        }
        pages.append(client.post("/privacy/words", data=form).text)
        assert client.post("/privacy", data=form).status_code == 303
        pages += [client.get("/privacy").text, client.get("/method").text]
        pages.append(client.post("/method/choose", data={"method": "sift"}).text)
    for text in pages:
        assert "<script>" not in text
        assert '"onmouseover="' not in text
        assert "\u202e" not in text
        assert "alert(1)" in text


def test_slider_number_and_offers_by_keyboard_in_a_browser(at_hospital: Sitting, page: Any) -> None:
    desk = at_hospital.desk
    page.goto(at_hospital.address)
    page.goto(f"{at_hospital.base}/privacy")
    said = page.locator("#said")
    said.get_by_text(
        "more than 20 % confidence (1 in 5), even by an attacker who knows how the table was made"
    ).wait_for()
    assert page.locator(".rail .here .decided").inner_text() == "5-diversity"
    slider = page.get_by_role("slider", name="l: the probability is at most 1 in l").first
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    said.get_by_text("more than 14.3 % confidence (1 in 7)").wait_for()
    assert page.locator("[id='l-diversity.ell']").input_value() == "7"
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    said.get_by_text("The obstacle is the value influenza").wait_for()
    said.get_by_role("button", name="Leave out 92 of 300 records").wait_for()
    assert desk.choices["ell"] == 5  # nothing is decided until it is kept
    page.keyboard.press("Tab")  # to the number field beside it, all of which is then selected
    page.keyboard.type("12")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    said.get_by_text("12-diversity is not possible for this table").wait_for()
    assert desk.choices["ell"] == 5
    said.get_by_role("button", name="Ask for 9-diversity").focus()
    page.keyboard.press("Enter")
    said.get_by_text("more than 11.1 % confidence (1 in 9)").wait_for()
    assert desk.choices["ell"] == 9

    page.get_by_text("Other guarantees").click()
    page.get_by_label("Make every person look the same as others (k-anonymity)").check()
    said.get_by_text("Everybody looks the same as at least 4 other people").wait_for()
    page.get_by_role("button", name="Keep this guarantee and choose a method").click()
    page.wait_for_url("**/method")
    assert (desk.choices["ell"], desk.choices["k"]) == (9, 5)
    page.go_back()
    said.get_by_text("Everybody looks the same as at least 4 other people").wait_for()
    assert page.get_by_label("Make every person look the same as others (k-anonymity)").is_checked()
    for width, scheme in ((1280, "light"), (360, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert troubles(page) == []


def test_columns_of_a_guarantee_in_a_browser(tmp_path: Path, page: Any) -> None:
    rows = [f"{20 + i % 40},{'abcdef'[i * 7 % 6]},{'ABC'[i % 3]}" for i in range(120)]
    (tmp_path / "two.csv").write_text("\n".join(["age,ill,drug", *rows]) + "\n")
    with seated(tmp_path / "two.csv", quasi=["age"], sensitive=["ill", "drug"]) as made:
        page.goto(made.address)
        page.goto(f"{made.base}/privacy")
        said = page.locator("#said")
        said.get_by_text("ill can be inferred with more than 33.3 % confidence").wait_for()  # the table was read
        page.get_by_role("spinbutton", name="l: the probability is at most 1 in l, of drug").first.fill("2")
        said.get_by_text("drug can be inferred with more than 50 % confidence").wait_for()
        page.locator("[name='l-diversity.columns'][value='1']").uncheck()
        said.get_by_text("nothing is guaranteed for the column 'drug'").wait_for()
        page.locator("[name='l-diversity.columns'][value='1']").check()
        said.get_by_text("drug can be inferred with more than 50 % confidence").wait_for()
        page.get_by_role("button", name="Keep this guarantee and go on").click()
        page.wait_for_url("**/release")
        assert made.desk.choices["ell"]["drug"] == 2
        page.go_back()
        for width in (1280, 360):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert troubles(page) == []
        assert pytest.importorskip("axe_playwright_python.sync_playwright").Axe().run(page).response["violations"] == []
