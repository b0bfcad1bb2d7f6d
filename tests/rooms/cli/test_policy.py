# SPDX-License-Identifier: Apache-2.0
"""Policies: what they say is what is published; what is wrong is told with its line; no data, no secret."""

from __future__ import annotations

import json
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import glasshouse as gh
import glasshouse.pages.report as report_module
from glasshouse.policy import choices
from glasshouse.policy.document import read_document
from glasshouse.policy.keys import COLUMN, TABLES
from tests.conftest import ROOT
from tests.doors.fuzz.toml_text import toml_of
from tests.rooms.cli.world import QUICK, ROLES, run
from tests.tiers import examples

WHOLE = """\
# how we publish
[source]
file = "patients.csv"
missing = "category"

[roles]
identifier = "patient"
quasi = ["age", "sex", "zipcode"]
sensitive = "disease"

[columns.age]
top = 80
bottom = 20

[columns.zipcode]
taxonomy = "tree.csv"

[columns."sex"]
order = ["F", "M"]

[principle]
ell = 3

[method]
name = "symmetric"
extra = 1

[recoding]
name = "angel"
k = 4
marginals = [["age", "disease"], ["sex", "zipcode"]]

[release]
out = "out"
format = "csv"
suppress = 0.01
report = false

[run]
threads = 1
"""


def write(folder: Path, text: str, name: str = "policy.toml") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def refusal(folder: Path, text: str, name: str = "policy.toml") -> gh.PolicyError:
    with pytest.raises(gh.PolicyError) as caught:
        gh.load_policy(write(folder, text, name))
    return caught.value


# --- what they say is what is published -------------------------------------------------------------------------------


def test_a_policy_says_everything_that_publishing_needs(world: Path) -> None:
    zips = sorted(set(pa_csv.read_csv(world / "patients.csv", convert_options=as_text())["zipcode"].to_pylist()))
    (world / "tree.csv").write_text("".join(f"{code};{code[:2]};*\n" for code in zips))
    policy = gh.load_policy(write(world, WHOLE))
    arguments = policy.publish_arguments()

    assert arguments["principle"] == gh.LDiversity(ell=3)
    assert arguments["method"] == gh.Symmetric(extra=1)
    assert arguments["recoding"] == gh.Angel(k=4, marginals=(("age", "disease"), ("sex", "zipcode")))
    assert policy.read().column("age").domain.values.to_pylist()[-1] == 80
    release = gh.publish(policy.read(), out="library", **arguments)
    run("publish policy.toml")

    assert gh.load("out/release").recipe == release.recipe
    assert sorted(path.name for path in Path("out/release").glob("*.csv")) == ["bt.csv", "gt.csv", "gt_2.csv"]


def as_text() -> Any:
    return pa_csv.ConvertOptions(column_types={"zipcode": pa.string()})


def test_every_option_of_publish_that_says_what_to_publish_is_in_a_policy() -> None:
    from glasshouse.cli.commands import glasshouse

    options = {parameter.name for parameter in glasshouse.commands["publish"].params}
    keys = {key.choice for table in (*TABLES.values(), COLUMN) for key in table.values()} | {"parameters"}
    of_the_call = {"force", "as_json", "verbose", "log_json", "recoding_with", "to", "no_report", "why"}

    assert options - of_the_call - keys == set()
    assert keys - options == set()


def test_tables_inside_lines_say_the_same(tmp_path: Path) -> None:
    one = gh.load_policy(write(tmp_path, WHOLE))
    other = gh.load_policy(write(tmp_path, toml_of(tomllib.loads(WHOLE))))

    assert one.choices == other.choices


def test_the_policy_that_the_documentation_shows_is_one(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
    policy = gh.load_policy(write(tmp_path, page.partition("```toml\n")[2].partition("```")[0]))

    assert policy.publish_arguments()["recoding"].k == 5
    for table, keys in TABLES.items():
        line = next(line for line in page.splitlines() if line.startswith((f"| `[{table}]`", f"| `[{table}.NAME]`")))
        assert [] == [key for key in (keys or COLUMN) if f"`{key}`" not in line]


def test_options_override_the_policy(world: Path) -> None:
    write(
        world,
        """\
        [source]
        file = "patients.csv"
        [roles]
        quasi = ["age", "sex"]
        sensitive = "disease"
        [columns.age]
        top = 80
        bottom = 20
        [principle]
        ell = 3
        [method]
        name = "symmetric"
        extra = 1
        [recoding]
        name = "boxes"
        [release]
        out = "out"
        report = false
        """,
    )
    found = {
        line: json.loads(run(f"publish policy.toml {line} --json").stdout)["recipe"]
        for line in ("", "--ell 4 --out a", "--method anatomize --out b", "--quasi zipcode,age --top age=60 --out c")
    }

    assert found[""]["principle"]["ell"] == 3
    assert found["--ell 4 --out a"]["principle"]["ell"] == 4
    assert found["--ell 4 --out a"]["method"]["name"] == "symmetric"
    assert found["--method anatomize --out b"]["method"] == {"name": "anatomize", "varied": False}
    assert found["--quasi zipcode,age --top age=60 --out c"]["quasi"] == ["zipcode", "age"]
    shown = gh.load("c/release").data["age"].to_pylist()
    assert not any("80" in cell for cell in shown)
    assert any("20" in cell for cell in shown)  # the bottom code of the policy stands


def test_an_option_for_a_column_leaves_the_other_columns_of_the_policy(world: Path) -> None:
    write(
        world,
        """\
        [source]
        file = "patients.csv"
        [roles]
        quasi = ["age", "admitted"]
        [columns.age]
        top = 80
        [columns.admitted]
        top = 2024-03-01
        [principle]
        k = 5
        """,
    )
    run(f"publish policy.toml --top age=60 --out out {QUICK}")
    shown = gh.load("out/release").data

    assert not any("2024-04" in cell for cell in shown["admitted"].to_pylist())
    assert not any("70" in cell for cell in shown["age"].to_pylist())


def test_paths_are_relative_to_the_policy(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        world, '[source]\nfile = "patients.csv"\n[roles]\nquasi = ["age"]\n[principle]\nk = 5\n[release]\nout = "o"\n'
    )
    (world / "elsewhere").mkdir()
    monkeypatch.chdir(world / "elsewhere")
    run(f"publish ../policy.toml {QUICK}")

    assert (world / "o" / "release").is_dir()


@pytest.mark.parametrize(
    ("missing", "says"),
    [
        ("file", "names no table"),
        ("out", "say where to write"),
        ("quasi", "at least one quasi-identifier"),
        ("k", "say what to guarantee"),
    ],
)
def test_what_a_policy_leaves_open_must_be_given(missing: str, says: str, world: Path) -> None:
    lines = ["[source]", 'file = "patients.csv"', "[roles]", 'quasi = ["age"]', "[principle]", "k = 5"]
    lines += ["[release]", 'out = "o"']
    kept = [line for line in lines if not line.startswith(f"{missing} =") and not (missing == "k" and "princ" in line)]
    write(world, "\n".join(kept))
    assert says in run(f"publish policy.toml {QUICK}", code=2).stderr
    if missing != "file":
        given = {"out": "--out x", "quasi": "--quasi age", "k": "--k 5"}[missing]
        run(f"publish policy.toml {given} {QUICK}")


def test_a_perturbed_sample_by_policy(world: Path) -> None:
    write(
        world,
        """\
        [source]
        file = "patients.csv"
        [roles]
        quasi = ["age", "sex"]
        sensitive = "disease"
        [principle]
        rho1 = "1/5"
        rho2 = 0.5
        lambda = 0.1
        k = 6
        [recoding]
        domain = "@diseases.txt"
        [release]
        out = "out"
        """,
    )
    run(f"publish policy.toml {QUICK}")

    assert gh.load("out/release").guarantee.adversary == "corrupting"


def test_a_method_inside_a_method_by_policy(tmp_path: Path) -> None:
    text = """\
        [method]
        name = "refined"
        coarse = {name = "symmetric", extra = 1}
        inner = "anatomize"
        """
    policy = gh.load_policy(write(tmp_path, text + "[principle]\nell = 2\n"))

    assert policy.publish_arguments()["method"] == gh.Refined(coarse=gh.Symmetric(extra=1), inner="anatomize")


def test_weights_and_priority_by_policy_and_by_option(tmp_path: Path) -> None:
    text = """\
        [method]
        name = "mirror"
        weights = {age = 3, sex = 1}
        priority = ["age", "sex"]
        """
    policy = gh.load_policy(write(tmp_path, text + "[principle]\nell = 2\n"))
    wanted = gh.Mirror(weights={"age": 3, "sex": 1}, priority=("age", "sex"))

    assert policy.publish_arguments()["method"] == wanted
    assert (
        choices.method({"method": "mirror", "parameters": {"weights": "age:3,sex:1", "priority": "age,sex"}}) == wanted
    )


def test_the_disk_engine_by_policy(world: Path) -> None:
    text = '[source]\nfile="patients.csv"\n[roles]\nquasi=["age"]\nsensitive="disease"\n[principle]\nell=3\n'
    write(world, text + '[release]\nout="out"\n[run]\nengine="disk"\nmemory=64\npartition=false\n')
    run("publish policy.toml")

    assert not (world / "out" / "audit" / "partition.parquet").exists()


# --- what is wrong is told with its line ------------------------------------------------------------------------------

WRONG = {
    "a table that is not known": ("[role]\n", 1, 1, "did you mean 'roles'"),
    "a key that is not known": ('[roles]\n\nquazi = ["age"]\n', 3, 1, "did you mean 'quasi'"),
    "a key of a column": ("[columns.age]\n  tip = 3\n", 2, 3, "did you mean 'top'"),
    "a key at the top": ("ell = 3\n", 1, 1, "no section [ell]"),
    "a number as text": ('[principle]\nell = "three"\n', 2, 1, "ell must be a whole number"),
    "a truth as number": ("[principle]\nk = true\n", 2, 1, "k must be a whole number"),
    "a number out of range": ("# x\n[principle]\nell = 1\n", 3, 1, "ell must be an integer >= 2"),
    "a choice": ('[source]\nmissing = "ignore"\n', 2, 1, "one of error, category, drop"),
    "a list": ('[roles]\nquasi = "age"\n', 2, 1, "quasi must be a list of names"),
    "a list of numbers": ("[roles]\nquasi = [\n  1,\n]\n", 2, 1, "a list of names"),
    "a method": ('[method]\nname = "hybird"\n', 2, 1, "did you mean 'hybrid'"),
    "a parameter": ('[method]\nname = "symmetric"\nextre = 1\n', 3, 1, "did you mean 'extra'"),
    "a parameter's value": ('[method]\nname = "mondrian"\npartitioning = "lax"\n', 3, 1, "'strict' or 'relaxed'"),
    "a parameter without a method": ("[method]\nextra = 1\n", 2, 1, "and no name"),
    "bins": ('[columns.age]\nbins = "halves:2"\n', 2, 1, "one of intervals:WIDTH, quantiles:N"),
    "a rule of a taxonomy": ('[columns.age]\ntaxonomy = "prefix:x"\n', 2, 1, "write prefix:LENGTH, got 'prefix:x'"),
    "a share": ("[release]\nsuppress = 2\n", 2, 1, "suppress"),
    "a promise and its condition": (
        "[principle]\nalpha = 0.5\n",
        1,
        1,
        "principle.alpha can only be given with principle.k",
    ),
    "two different guarantees": ("[principle]\nrho1 = 0.1\ndelta = 0.2\nk = 3\n", 1, 1, "ask for one"),
    "a table in place of a value": ("[principle.k]\nx = 1\n", 1, 1, "k must be a whole number"),
    "a number for one column": ("[principle.ell]\nx = 1\n", 1, 1, "ell must be an integer >= 2"),
    "a value in place of a table": ("roles = 3\n", 1, 1, "roles must be a section"),
    "a column without a table": ("[columns]\nage = 3\n", 2, 1, "[columns.age]"),
    "syntax": ("[roles]\nquasi = [\n", 3, 1, "invalid value"),
    "a key twice": ("[roles]\nidentifier = 'a'\nidentifier = 'b'\n", 3, 1, "roles.identifier is set twice"),
    "after a long string": ('[source]\nfile = """\na = 1\n[x]\n"""\nfoo = 1\n', 6, 1, "no setting 'foo'"),
    "after an array": ("[roles]\nquasi = [ # ]\n  \"a]\",\n  'b'\n]\nfoo = 1\n", 6, 1, "no setting 'foo'"),
    "after quotes": ('[columns."a.b \\"c\\""]\ntop = "x"\n', 2, 1, "top must be a number or a date"),
    "a dotted key": ("roles.foo = 1\n", 1, 1, "no setting 'foo' in [roles]"),
    "a section": ("[princple]\nk = 3\n", 1, 1, "there is no section [princple]: did you mean 'principle'?"),
    "an array of tables": ("[[roles]]\nquasi = ['a']\n", 1, 1, "roles must be a section"),
    "a domain in a file": ('[recoding]\nname = "perturbed"\ndomain = "@nowhere"\n', 3, 1, "there is no file nowhere"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_with_its_line_and_column(name: str, tmp_path: Path) -> None:
    text, line, column, says = WRONG[name]
    error = refusal(tmp_path, text)

    assert says.lower() in str(error).lower(), str(error)
    assert (error.line, error.column) == (line, column), str(error)
    assert str(error).startswith(f"{tmp_path / 'policy.toml'}, line {line}, column {column}: ")


def test_a_suggestion_and_the_key_are_at_hand(tmp_path: Path) -> None:
    error = refusal(tmp_path, '[roles]\nquazi = ["age"]\n')

    assert (error.key, error.suggestion) == ("roles.quazi", "quasi")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[principle]\nt = nan\n", "line 2, column 1: principle.t is not a finite number (nan): give a number"),
        ("[columns.age]\nbottom = 1\ntop = 1e400\n", "line 3, column 1: columns.age.top is not a finite number (inf)"),
        ("[principle]\nell = 2\n\n  ell = 3 # more\n", "line 4, column 3: principle.ell is set twice: keep one"),
        ("[roles]\nquasi = []\nquasi = [\n 'a\u2028']\n", "line 3, column 1: roles.quasi is set twice: keep one"),
        (
            "[principle]\nell = 2\n[roles]\n[principle]\n",
            "line 4, column 1: the section [principle] is there twice: put",
        ),
        ("ell = 2\n[ell.x]\n", "ell.x is set twice, or a key in it is: keep one"),
    ],
)
def test_the_key_is_named_that_is_set_twice_or_to_no_number(content: str, says: str, tmp_path: Path) -> None:
    assert says in str(refusal(tmp_path, content))


@pytest.mark.parametrize("name", ["policy.yaml", "policy.yml"])
def test_a_policy_in_yaml_is_told_how_to_be_written(name: str, tmp_path: Path) -> None:
    error = refusal(tmp_path, "roles:\n  quasi: [age]\n", name)

    assert "a policy must be written in TOML: call it policy.toml" in str(error)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("policy.toml", None, "no such file"),
        ("policy.json", b"{}", "must end in .toml"),
        ("policy.toml", b"# \xff\n", "line 1: this is not UTF-8"),
        ("policy.toml", b"#" * ((1 << 20) + 1), "1 MiB"),
        ("policy.toml", b"x = " + b"[" * 5000 + b"]" * 5000, "nested too deeply"),
        ("policy.toml", b"x = " + b"9" * 5000, "does not follow the rules of TOML"),
        ("policy.yaml", b"x: \x01", "written in TOML"),
        ("policy.yml", None, "written in TOML"),
    ],
)
def test_files_that_are_no_policies_are_refused(name: str, content: bytes | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(gh.PolicyError, match=says):
        gh.load_policy(path)


def test_the_command_line_shows_where_it_is_wrong(world: Path) -> None:
    write(world, '[roles]\nquazi = ["age"]\n')
    told = run("publish policy.toml", code=2).stderr
    says = "there is no setting 'quazi' in [roles]: did you mean 'quasi'?"

    assert told == f"error: policy.toml, line 2, column 1: {says}\n"


# --- no secret --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "secret",
    [
        "postgresql://me:hunter2@host/db",
        "postgresql://:hunter2@host/db",
        "postgresql://me:hun/t@er2@host/db",
        "postgresql://host/db?user=me&password=hunter2",
        "host=db password = hunter2",
        "https://host/?token=hunter2",
    ],
)
@pytest.mark.parametrize("where", ['[source]\nfile = "{}"\n', '[columns."{}"]\ntop = 3\n', '[source]\nx = ["{}"]\n'])
def test_a_password_is_refused_and_not_repeated(secret: str, where: str, tmp_path: Path) -> None:
    error = refusal(tmp_path, where.format(secret))

    assert "password" in str(error)
    assert "hunter2" not in str(error)
    assert "er2" not in str(error)


@pytest.mark.parametrize("address", ["postgresql://me@host:5432/db", "postgresql:///db?service=clinic", "a b/c.csv"])
def test_an_address_without_a_password_is_kept_as_it_is(address: str, tmp_path: Path) -> None:
    policy = gh.load_policy(write(tmp_path, f'[source]\nfile = "{address}"\ntable = "people"\n'))

    assert policy.source == (address if "://" in address else str(tmp_path / address))


# --- the first policy, from an inspection -----------------------------------------------------------------------------


def test_init_writes_a_policy_that_publishes(world: Path) -> None:
    told = run("init patients.csv").stdout
    run(f"publish policy.toml {QUICK}")

    assert "glasshouse publish policy.toml" in told
    assert gh.load("out/release").recipe.sensitive == ("disease",)
    assert "exists already" in run("init patients.csv", code=2).stderr
    run("init patients.csv --force")


def test_init_names_the_file_as_seen_from_the_policy(world: Path) -> None:
    (world / "policies").mkdir()
    run("init patients.csv --out policies/p.toml")

    assert 'file = "../patients.csv"' in (world / "policies" / "p.toml").read_text()
    run(f"publish policies/p.toml {QUICK}")
    assert (world / "policies" / "out" / "release").is_dir()


def test_init_prints_where_it_is_asked_to(world: Path) -> None:
    printed = run("init patients.csv --out -").stdout

    assert tomllib.loads(printed)["roles"]["sensitive"] == "disease"
    assert not (world / "policy.toml").exists()
    assert json.loads(run("init patients.csv --out - --json").stdout)["text"] == printed


def test_a_first_policy_holds_no_value_of_the_table(world: Path) -> None:
    columns = ["patient", "age", "sex", "zipcode", "admitted", "disease"]
    canaries = {name: f"CANARY{i}" for i, name in enumerate(columns)}
    table = pa_csv.read_csv(world / "patients.csv", convert_options=as_text())
    everything = {name: [*map(str, table[name].to_pylist())] for name in columns}
    for name, canary in canaries.items():
        everything[name][:100] = [canary] * 100  # the most frequent value of every column
    everything["patient"] = [f"CANARY{i}" for i in range(300)]
    pa_csv.write_csv(pa.table(everything), world / "patients.csv")
    text = run("init patients.csv --out -").stdout

    assert "CANARY" in run("inspect patients.csv").stdout
    assert "CANARY" not in text


@pytest.mark.parametrize(
    ("file", "written"),
    [
        ("postgresql://me:hun/t@er2@host:5432/db", "postgresql://me@host:5432/db"),
        ("postgresql://host/db?password=hunter2&user=me", "postgresql://host/db?user=me"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("a\x7f\n\\ \"b'.csv", "a\x7f\n\\ \"b'.csv"),
    ],
)
def test_a_first_policy_names_the_source_without_a_password(file: str, written: str) -> None:
    text = gh.policy_from(gh.inspect({"age": [1, 2]}), file=file)

    assert tomllib.loads(text)["source"]["file"] == written


names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12).filter(str.strip)


@settings(max_examples=examples(120), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(columns=st.lists(names, min_size=1, max_size=5, unique=True), n=st.integers(1, 12), data=st.data())
def test_a_first_policy_of_any_table_is_a_policy(
    columns: list[str], n: int, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    values = st.one_of(
        st.lists(st.integers(0, 3), min_size=n, max_size=n),
        st.lists(st.sampled_from(["a", "b", None]), min_size=n, max_size=n),
        st.lists(st.floats(0, 1), min_size=n, max_size=n),
    )
    roles = st.sampled_from(["age", "disease", "salary", "name", "zip code"])
    table = {f"{data.draw(roles)} {name}" if data.draw(st.booleans()) else name: data.draw(values) for name in columns}
    path = tmp_path_factory.mktemp("first") / "policy.toml"
    path.write_text(gh.policy_from(gh.inspect(table), file="t.csv"), encoding="utf-8")
    policy = gh.load_policy(path)

    assert policy.publish_arguments()["principle"] is not None
    assert set(policy.choices.get("quasi", [])) <= set(table)


def test_salaries_are_binned_in_a_first_policy(tmp_path: Path) -> None:
    table = {"age": list(range(40)), "monthly salary": [1000 + 13 * i for i in range(40)]}
    text = gh.policy_from(gh.inspect(table, sensitive="monthly salary"))
    policy = gh.load_policy(write(tmp_path, text))
    salaries = gh.read(table, **policy.read_arguments())
    release = gh.publish(salaries, principle=policy.publish_arguments()["principle"])

    assert release.n_tuples == 40


# --- nothing but our own exceptions -----------------------------------------------------------------------------------

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 10**40), st.floats(), st.text(max_size=8), st.dates(),
    st.sampled_from(["1/3", "0", "1e99999999", "intervals:0", "prefix:x", "2,3", "@x", "ace", "angel", "perturbed"]),
)  # fmt: skip
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3))
key_names = [*{name for table in TABLES.values() for name in table}, *COLUMN]
tables = st.dictionaries(st.sampled_from(key_names) | names, anything, max_size=5)
policies = st.dictionaries(st.sampled_from([*TABLES]) | names, tables | anything, max_size=4)


signs = st.text("[]{}\"'=#.\n\\ ax1", max_size=3)
suffixes = st.sampled_from([".toml", ".yaml"])


def no_surprise(path: Path) -> None:
    try:
        policy = gh.load_policy(path)
        policy.publish_arguments()
        policy.read_arguments()
    except gh.GlasshouseError as error:
        told = str(error)
    else:
        told = ""
    assert len(told) < 2000


@settings(max_examples=examples(600), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=policies)
@example(content={"principle": {"t": "1e99999999"}})
@example(content={"method": {"name": "refined", "coarse": {"name": "refined"}}})
@example(content={"recoding": {"name": "perturbed"}, "principle": {"k": 2}})
@example(content={"recoding": {"name": "angel", "marginals": [["a"]], "k": {"name": "x"}}})
def test_any_content_is_a_policy_or_refused_by_our_own_exceptions(
    content: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "policy.toml"
    path.write_text(toml_of(content), encoding="utf-8")
    no_surprise(path)


@settings(max_examples=examples(600), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.tuples(st.integers(0, len(WHOLE)), st.integers(0, 30), signs), max_size=4), lines=st.booleans())
def test_a_policy_that_was_cut_about_is_read_or_refused(
    cuts: list[tuple[int, int, str]], lines: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = WHOLE if lines else toml_of(tomllib.loads(WHOLE))
    for at, length, put in cuts:
        text = text[:at] + put + text[at + length :]
    path = tmp_path_factory.mktemp("fuzz") / "policy.toml"
    path.write_text(text, encoding="utf-8")
    no_surprise(path)


@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200), suffix=suffixes)
def test_any_bytes_are_read_or_refused(content: bytes, suffix: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("fuzz") / f"policy{suffix}"
    path.write_bytes(content)
    no_surprise(path)


def paths_of(data: Any, keys: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = []
    for name, value in data.items():
        found += [(*keys, name), *(paths_of(value, (*keys, name)) if isinstance(value, dict) else [])]
    return found


def test_every_key_of_a_policy_has_its_place(tmp_path: Path) -> None:
    document = read_document(write(tmp_path, WHOLE))
    lines = WHOLE.splitlines()
    for keys in paths_of(document.data):
        if keys == ("columns",):
            continue  # no line of its own: its columns have
        line, column = document.places[keys]
        assert (
            lines[line - 1][column - 1 :]
            .lstrip("[")
            .startswith((keys[-1], f"columns.{keys[-1]}", f'columns."{keys[-1]}'))
        )


def test_a_policy_prints_without_its_values(tmp_path: Path) -> None:
    assert "disease" not in repr(gh.load_policy(write(tmp_path, WHOLE)))


def test_roles_on_the_command_line_and_in_a_policy_read_the_same_table(world: Path) -> None:
    write(world, '[source]\nfile="patients.csv"\n[roles]\nquasi=["age","sex","zipcode"]\nsensitive="disease"\n')
    by_policy = json.loads(run(f"publish policy.toml --ell 3 --out a --json {QUICK}").stdout)
    by_options = json.loads(run(f"publish patients.csv {ROLES} --ell 3 --out b --json {QUICK}").stdout)

    assert by_policy["recipe"] == by_options["recipe"]
    assert by_policy["guarantee"] == by_options["guarantee"]


@pytest.mark.parametrize(
    ("said", "line", "expected"),
    [
        ('"none"', "", None),
        ("false", "", None),
        ("true", "", "brief"),
        ('"full"', "", "full"),
        ('"full"', "--report brief", "brief"),
        ('"full"', "--no-report", None),
    ],
)
def test_how_much_is_reported_is_said_by_the_same_words(
    world: Path, monkeypatch: pytest.MonkeyPatch, said: str, line: str, expected: str | None
) -> None:
    asked: list[str] = []
    make = report_module.make_report

    def noted(*given: Any, report: str, publishing: float, **more: Any) -> Any:
        assert publishing > 0
        asked.append(report)
        return make(*given, effort=report_module.Effort(cpu=0.0), **more)

    monkeypatch.setattr("glasshouse.pages.report.make_report", noted)
    write(
        world,
        f"""
        [source]
        file = "patients.csv"
        [roles]
        quasi = ["age", "sex"]
        sensitive = "disease"
        [principle]
        ell = 3
        [release]
        out = "out"
        report = {said}
        """,
    )
    found = json.loads(run(f"publish policy.toml {line} --json").stdout)

    assert asked == ([] if expected is None else [expected])
    assert (found["report"] is None) == (expected is None)


def test_a_report_that_is_called_otherwise_is_refused(world: Path, tmp_path: Path) -> None:
    assert "one of brief, full, none" in str(refusal(tmp_path, '[release]\nreport = "long"\n'))
    assert "full" in run("publish patients.csv --quasi age --k 2 --out out --report long", code=2).output
