# SPDX-License-Identifier: Apache-2.0
"""Choices as a policy, as a command and as a Python call: each of them makes the same choices again."""

from __future__ import annotations

import shlex
from datetime import date
from pathlib import Path
from typing import Any

import click
import pyarrow.csv as pa_csv
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.bounds import exact
from glasshouse.cli.commands import glasshouse
from glasshouse.cli.publish import _choices
from glasshouse.policy.choices import DEFAULTS, option, publish_arguments, read_arguments
from glasshouse.policy.command_line import command_line
from glasshouse.policy.keys import is_secret
from glasshouse.policy.option_text import chosen
from glasshouse.policy.policy_text import policy_text
from glasshouse.policy.python_call import python_call
from glasshouse.visible import is_shown
from tests.rooms.cli.world import make_world, run
from tests.tiers import examples

PUBLISH = glasshouse.commands["publish"]
HOSTILE = ",=-\"'\\\n\r\t\0 .[]{}#@:/$`\x1b\x7f\u202e\u200b\ufe0fé\U0001f600"
names = st.text(st.sampled_from(HOSTILE + "ab"), min_size=1, max_size=5) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4
)
texts = names.filter(lambda text: "\0" not in text)
paths = texts.filter(lambda text: "://" not in text and str(Path(text)) == text and text != ".")
plain_names = st.sampled_from(["age", "first name", "zipcode", "Größe", "a.b", "-x", "@home", "it's", 'the "new"'])
taxonomies = st.sampled_from(["prefix:5", "intervals:0.5", "dates:month,year", "prefix:5.csv", "trees/town.json"])
limits = st.integers(-99, 99) | st.floats(-9, 9) | st.dates(date(1, 1, 1))
values = st.lists(names | st.integers(0, 9) | st.dates(), min_size=1, max_size=3)

PRINCIPLES: list[dict[str, Any]] = [
    {"k": 5},
    {"k": 5, "alpha": 0.5},
    {"ell": 3, "distinct_ell": 2},
    {"entropy_ell": 2.5, "recursive": "3/2,3"},
    {"t": "1/3", "distance": "ordered"},
    {"t": 0.2, "ell": 2, "distance": "equal"},
    {"rho1": "1/5", "rho2": 0.5, "lambda_": 0.1, "k": 6, "retention": 0.25},
    {"delta": 1e-05, "s": 0.25, "lambda_": 1},
]
METHODS: list[dict[str, Any]] = [
    {},
    {"method": "mondrian", "parameters": {"partitioning": "relaxed"}},
    {"method": "symmetric", "parameters": {"extra": 1}},
    {"method": "greedy", "parameters": {"safe": True, "last": "drop"}},
    {"method": "mirror", "parameters": {"weights": {"age": 3, "a": 0.5}, "priority": ["age", "a"]}},
    {"method": "mirror", "parameters": {"weights": {"a,b": 3}, "priority": ["c:d", "e,f"], "slack": "1.5"}},
    {"method": "refined", "parameters": {"coarse": {"name": "symmetric", "extra": 1}, "inner": "ace"}},
]


@st.composite
def choice_sets(draw: st.DrawFn, names: st.SearchStrategy[str] = names, values: Any = values) -> dict[str, Any]:
    """Choices as a policy holds them, in which everything that a person wrote may be hostile."""
    quasi = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    columns = st.sampled_from(quasi)
    many = {"max_size": 3}
    some: dict[str, Any] = {
        "identifier": texts if names is not plain_names else names,
        "sensitive": st.lists(names, min_size=1, max_size=2),
        "accept": st.lists(names, min_size=1, max_size=2),
        "taxonomy": st.dictionaries(columns, taxonomies, **many),
        "bins": st.dictionaries(columns, taxonomies, **many),
        "order": st.dictionaries(columns, values, **many),
        "bottom": st.dictionaries(columns, limits, **many),
        "top": st.dictionaries(columns, limits, **many),
        "categorical": st.lists(columns, unique=True),
        "normalise": st.lists(columns, unique=True),
        "missing": st.sampled_from(["error", "drop"]),
        "delimiter": st.sampled_from([";", "\t", "-"] if names is not plain_names else [";", "-"]),
        "decimal": st.sampled_from([".", ","]),
        "title": texts if names is not plain_names else names,
        "suppress": st.sampled_from([0, 0.01, "1/100", "0"]),
        "format_": st.sampled_from(["parquet", "csv"]),
        "report": st.sampled_from(["brief", "full", "none"]),
        "carry": st.sampled_from(["cells", "declared"]),
        "after": paths if names is not plain_names else st.just("earlier"),
        "edition": st.integers(0, 2027) | st.sampled_from(["spring", "007", "2027-1"]),
        "at_least": st.integers(0, 9),
        "keep_published": st.booleans(),
        "leave_out": st.booleans(),
        "flat": st.booleans(),
        "zip": st.booleans(),
        "partition": st.booleans(),
        "engine": st.sampled_from(["auto", "disk"]),
        "memory": st.integers(1, 99),
        "spill": paths if names is not plain_names else st.just("spill"),
        "threads": st.integers(0, 3),
    }
    picked = draw(st.sets(st.sampled_from(sorted(some)), max_size=6))
    made = {name: draw(some[name]) for name in sorted(picked)}
    made |= {"quasi": quasi, **draw(st.sampled_from(PRINCIPLES)), **draw(st.sampled_from(METHODS))}
    made |= {"file": draw(paths if names is not plain_names else st.just("patients.csv")), "out": "out"}
    if "ell" in made and draw(st.booleans()):
        each = st.dictionaries(st.sampled_from(made.get("sensitive", ["a"])), values, min_size=1, max_size=2)
        made["designated"] = draw(values | each)
    if "rho1" in made and draw(st.booleans()):
        made["domain"] = [*draw(values), "another", "one more"]
    elif not {"rho1", "delta"} & made.keys():
        made |= draw(
            st.sampled_from(
                [{}, {"recoding": "boxes"}, {"recoding": "angel", "recoding_with": {"cells": "taxonomies"}}]
            )
        )
        if made.get("recoding") == "angel" and "ell" in made:
            made["marginal"] = draw(
                st.lists(st.lists(names, min_size=1, max_size=2, unique=True), min_size=1, max_size=2)
            )
    assume(not any(map(is_secret, _strings(made))))
    made = {name: value for name, value in made.items() if value not in ([], {})}
    try:
        read_arguments(made), publish_arguments(made)
    except gh.GlasshouseError:  # a combination that no policy would take either
        assume(False)
    return made


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for part in parts for text in _strings(part)]


def understood(arguments: tuple[str, ...]) -> dict[str, Any]:
    """The choices that the command itself makes of its arguments."""
    assert arguments[:2] == ("glasshouse", "publish")
    context = PUBLISH.make_context("publish", list(arguments[2:]))
    with context:
        of_the_call = ("file", "force", "as_json", "verbose", "log_json")
        given = {name: value for name, value in context.params.items() if name not in of_the_call}
        return _choices(context.params["file"], given)


def meaning(choices: dict[str, Any]) -> dict[str, str]:
    """What choices mean for `read`, `publish` and everything beyond, so exactly that 1 and 1.0 are told apart."""
    publishing = publish_arguments(choices)
    publishing["suppress"] = None if publishing["suppress"] is None else exact(publishing["suppress"])
    whole = DEFAULTS | choices
    others = {
        name: whole.get(name) for name in ("file", "out", "after", "spill", "to", "flat", *DEFAULTS, "memory", "master")
    }
    del others["suppress"], others["lambda_"]
    others = {name: value if value is None or type(value) is bool else str(value) for name, value in others.items()}
    return {name: repr(value) for name, value in {**read_arguments(choices), **publishing, **others}.items()}


in_folder = settings(
    max_examples=examples(200),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@in_folder
@given(choices=choice_sets())
@example(choices={"file": "a", "quasi": ["a", "b"], "categorical": ["b", "a"], "normalise": ["b"], "k": 2})
@example(choices={"file": "a", "quasi": ["", "b"], "k": 2, "out": "../x", "top": {"": date(999, 1, 2)}})
def test_a_policy_makes_the_same_choices(
    choices: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(policy_text(choices), encoding="utf-8")
    found = dict(gh.load_policy("policy.toml").choices)
    if {"categorical", "normalise"} <= choices.keys():  # two orders that may contradict each other
        for name in ("categorical", "normalise"):
            assert sorted(found.pop(name)) == sorted(choices[name])

    assert found == {name: value for name, value in choices.items() if name in found or name not in _TWO}


_TWO = ("categorical", "normalise")


@in_folder
@given(choices=choice_sets())
def test_a_command_makes_the_same_choices_or_names_a_policy(choices: dict[str, Any]) -> None:
    made = command_line(choices)

    assert shlex.split(str(made)) == list(made.arguments)
    if made.reason is None:
        assert meaning(understood(made.arguments)) == meaning(choices)
        assert all(map(is_shown, str(made)))
    else:
        assert made.arguments == ("glasshouse", "publish", "policy.toml")


@in_folder
@given(choices=choice_sets(plain_names, st.lists(plain_names, min_size=1, max_size=3)))
@example(choices={"file": "a.csv", "quasi": ["age"], "k": 5, "after": "earlier", "edition": 0, "out": "out"})
def test_what_a_command_can_say_it_says(choices: dict[str, Any]) -> None:
    assume(not (choices.get("domain") or ["x"])[0].startswith("@"))  # which would be a file
    assume("coarse" not in choices.get("parameters", {}))
    assume("a,b" not in choices.get("parameters", {}).get("weights", ()))
    made = command_line(choices)

    assert made.reason is None
    assert meaning(understood(made.arguments)) == meaning(choices)


@in_folder
@given(choices=choice_sets())
def test_a_python_call_gives_the_same_arguments(choices: dict[str, Any]) -> None:
    assume("\0" not in choices["file"])
    recorded: dict[str, Any] = {}

    def record(function: str, **more: Any) -> Any:
        def call(first: Any, **arguments: Any) -> str:
            recorded[function] = (first, {**more, **arguments})
            return function

        return call

    code = python_call(choices)
    assert all(map(is_shown, code.replace("\n", "")))
    scope: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gh, "read", record("read", **read_arguments({"quasi": ["x"]})))
        patch.setattr(gh, "publish", record("publish", **publish_arguments({"k": 2})))
        patch.setattr(gh, "make_report", lambda *_a, **_k: Written())
        exec(code, scope)
    [(file, reading), (table, publishing)] = recorded["read"], recorded["publish"]
    sensitive = reading["sensitive"]
    reading["sensitive"] = [sensitive] if isinstance(sensitive, str) else sensitive
    publishing["suppress"] = exact(publishing["suppress"] or 0)
    wanted = publish_arguments(choices)

    assert (file, table, publishing.pop("out")) == (choices["file"], "read", choices["out"])
    assert repr(reading) == repr(read_arguments(choices))
    wanted["suppress"] = exact(wanted["suppress"] or 0)
    assert {name: repr(value) for name, value in publishing.items()} == {n: repr(value) for n, value in wanted.items()}


class Written:
    """A report that is not made."""

    def write(self, _folder: str) -> None:
        pass


# --- three ways to one release ----------------------------------------------------------------------------------------


def test_all_three_publish_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_world(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gh.Source, "secure", classmethod(lambda cls: cls(bytes(32), is_seeded=False)))
    choices: dict[str, Any] = {
        "file": "patients.csv",
        "identifier": "patient",
        "quasi": ["age", "sex", "zipcode", "admitted"],
        "sensitive": ["disease"],
        "taxonomy": {"zipcode": "prefix:5", "age": "intervals:10", "admitted": "dates:month"},
        "top": {"age": 80},
        "ell": 3,
        "recoding": "angel",
        "recoding_with": {"cells": "taxonomies"},
        "title": "Patients, 'all' of them",
        "report": "none",
    }
    Path("policy.toml").write_text(policy_text({**choices, "out": "by policy"}), encoding="utf-8")
    run("publish policy.toml")
    run(str(command_line({**choices, "out": "by command"})))
    exec(python_call({**choices, "out": "by call"}), {})
    by_policy, by_command, by_call = (content(Path(f"by {way}", "release")) for way in ("policy", "command", "call"))

    assert by_policy == by_command == by_call
    assert {"gt.csv", "bt.csv"} < by_policy.keys()
    assert any(b"**" in text for text in by_policy.values())  # nodes of the taxonomy by name


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- lists that must agree --------------------------------------------------------------------------------------------


def test_options_and_defaults_are_those_of_the_command() -> None:
    options = {parameter.name: parameter for parameter in PUBLISH.params if isinstance(parameter, click.Option)}
    of_the_call = {"force", "as_json", "verbose", "log_json", "no_report", "why"}

    for name, parameter in options.items():
        if name not in of_the_call:
            assert option(str(name)) in parameter.opts
    given = {name: parameter.get_default(click.Context(PUBLISH)) for name, parameter in options.items()}
    told = {name: value for name, value in given.items() if name not in of_the_call and name in DEFAULTS}
    assert chosen(told) == DEFAULTS
    others = {name: value for name, value in given.items() if name not in told.keys() | of_the_call}
    assert {str(value) for value in others.values()} <= {"None", "()", "Sentinel.UNSET"}


# --- what is decided --------------------------------------------------------------------------------------------------

BASE: dict[str, Any] = {"file": "t.csv", "quasi": ["age"], "k": 2}


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"order": {"age": [1, 2]}}, "--order"),
        ({"domain": ["@etc", "b"], "rho1": "1/5", "k": 3}, "--domain"),
        ({"method": "refined", "parameters": {"coarse": {"name": "snug"}}}, "--with"),
        ({"file": "table.yaml"}, "ends like that of a policy"),
        ({"title": "two\nlines"}, "invisible character"),
        ({"title": "turned \u202e"}, "invisible character"),
        ({"identifier": "a\0"}, "invisible character"),
    ],
)
def test_what_options_cannot_say_a_policy_says(
    more: dict[str, Any], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("etc,b").write_text("@etc\nb\n")  # which holds the very values that were chosen
    made = command_line({**BASE, **more}, policy="my policy.toml")

    assert str(made) == "glasshouse publish 'my policy.toml'"
    assert reason in str(made.reason)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"title": "-x"}, ["t.csv", "--quasi", "age", "--k", "2", "--title=-x"]),
        ({"quasi": ["--k", "b"]}, ["t.csv", "--quasi=--k,b", "--k", "2"]),
        ({"quasi": ["a,b", " a", "c"]}, ["t.csv", "--quasi", '"a,b"," a",c', "--k", "2"]),
        (
            {"taxonomy": {"a=b": "prefix:5"}},
            ["t.csv", "--quasi", "age", "--taxonomy", '"a=b"=prefix:5', "--k", "2"],
        ),
        ({"file": "-t.csv"}, ["--quasi", "age", "--k", "2", "--", "-t.csv"]),
        ({"bottom": {"age": -5}}, ["t.csv", "--quasi", "age", "--bottom", "age=-5", "--k", "2"]),
        ({"partition": False, "flat": False}, ["t.csv", "--quasi", "age", "--k", "2", "--no-flat", "--no-partition"]),
        ({"suppress": 0.0, "decimal": ".", "lambda_": 1}, ["t.csv", "--quasi", "age", "--k", "2"]),
    ],
)
def test_words_of_a_command(more: dict[str, Any], words: list[str]) -> None:
    made = command_line({**BASE, **more})

    assert (made.arguments[2:], made.reason) == (tuple(words), None)
    assert meaning(understood(made.arguments)) == meaning({**BASE, **more})


def test_paths_are_those_of_the_current_folder_wherever_the_policy_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "team").mkdir()
    monkeypatch.chdir(tmp_path)
    choices = {**BASE, "file": "team/t.csv", "out": "out", "taxonomy": {"age": "tree.csv"}, "bins": {"age": "prefix:2"}}
    text = policy_text(choices, folder="team")
    Path("team/policy.toml").write_text(text, encoding="utf-8")
    found = gh.load_policy("team/policy.toml").choices

    assert 'file = "t.csv"' in text
    assert found["file"] == "team/t.csv"
    assert found["out"] == str(tmp_path / "out")
    assert found["taxonomy"] == {"age": str(tmp_path / "tree.csv")}
    assert found["bins"] == {"age": "prefix:2"}


@pytest.mark.parametrize("write", [policy_text, command_line, python_call])
@pytest.mark.parametrize("name", ["file", "to", "title"])
def test_a_password_is_never_shown(name: str, write: Any) -> None:
    with pytest.raises(gh.InputError, match="password") as caught:
        write({**BASE, name: "postgresql://anna:opensesame@host/clinic"})

    assert "opensesame" not in str(caught.value)


@pytest.mark.parametrize(
    "more",
    [{"k": "two"}, {"k": True}, {"nosuch": 1}, {"title": ""}, {"title": "\ud800"}, {"title": 3}, {"missing": "ignore"}],
)
def test_what_is_no_choice_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(gh.GlasshouseError):
        policy_text({**BASE, **more})


def test_a_report_and_a_database_are_part_of_the_program() -> None:
    code = python_call({**BASE, "out": "out", "report": "full", "to": "postgresql://host/db", "flat": True})

    assert 'gh.to_postgres(release, "postgresql://host/db", schema="released")' in code
    assert 'gh.make_report(release, table, report="full").write("out/audit")' in code
    assert "# The command also draws a flat table" in code
    assert "flat" not in python_call({**BASE, "out": "out", "flat": False})
    assert "# If the release has several tables, the command also draws a flat table" in python_call(
        {**BASE, "out": "out"}
    )
    assert "flat" not in python_call({**BASE, "file": "t.parquet", "out": "out"})
    assert "make_report" not in python_call({**BASE, "out": "out", "report": "none"})
    assert 'make_report(release, table).write("out/audit")' in python_call({**BASE, "out": "out"})


def test_every_sample_of_the_catalogue_is_written_as_the_code_that_makes_it() -> None:
    from glasshouse.policy.python_call import _code
    from tests.laws import samples

    things = [*samples.METHOD_VARIANTS, *samples.EVERY_RECODING]
    things += [sample.principle for sample in samples.PRINCIPLES] + [*samples.TARGETS]
    for thing in things:
        assert repr(eval(_code(thing), {"gh": gh})) == repr(thing)


def test_a_taxonomy_by_name_is_a_rule_and_one_that_ends_as_a_file_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pa_csv.write_csv(gh.synthetic.hospital_table(n=50, seed=1), "t.csv")
    Path("prefix:5.csv").write_text("a;*\n")
    by_name = gh.read("t.csv", quasi=["zipcode"], taxonomies={"zipcode": "prefix:5"})

    assert by_name.column("zipcode").domain.tree == gh.Taxonomy.prefix(length=5)
    with pytest.raises(gh.DomainError, match="lacks"):
        gh.read("t.csv", quasi=["zipcode"], taxonomies={"zipcode": "prefix:5.csv"})
