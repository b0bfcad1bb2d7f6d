# SPDX-License-Identifier: Apache-2.0
"""After one comes the singular: in what the commands print, in the report, in the README of a release."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from glasshouse.cli.commands import glasshouse
from glasshouse.plural import counted
from tests.words.sentences import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

NOUNS = (
    "records|groups|people|rows|values|columns|tables|ways|questions|cells|persons|codes|labels|editions|files|tuples"
    "|releases|patients|seconds|minutes|hours|days|runs"
)
BETWEEN = "more|other|different|further|new|possible|published|rejected|sensitive|control|generalized|perturbed|rarer"
WRONG = re.compile(rf"(?<![\d,.=/-])\b1 (?:(?:{BETWEEN}) )?({NOUNS})\b")
AFTER = re.compile(rf"\s(?:(?:{BETWEEN}) )?({NOUNS})\b")
CONSTANT = re.compile(r"(\w+\.)?_?[A-Z][A-Z_]*( - 1)?")
FILLED = re.compile(r"\{\{\s*((?:(?!\}\}).)*?)\s*\}\}" + AFTER.pattern)
EXCEPTIONS = {
    "several, or nothing is said": """
        adversary/hint/hint.py: n
        adversary/intersection/intersection.py: n_releases
        adversary/learning/definetti.py: n
        adversary/reverse_engineering/theorems/largest_shares.py: len(groups)
        adversary/task.py: n
        comparing/recommendation.py: n_runs
        pages/templates/comparison.html: found.runs
        cli/printing.py: len(files)
        cli/query.py: len(files)
        journeys/advice/ways.py: least
        microdata/reading/sources.py: twice[1]
        pages/people_without_promise.py: self.n
        release/astray.py: n
        release/package/flat.py: len(tables)
        release/package/flat.py: n_tables
        release/package/readme.py: n_parts
        verification/verify_table.py: times
    """,
    "none or several": """
        microdata/reading/database_file.py: len(names)
        microdata/reading/packed_file.py: len(members)
    """,
    "values that are alike, so two at least": """
        microdata/cautions.py: count
        studio/templates/data_column.html: column.alike|written(",")
    """,
    "two parts of a group, with somebody in each": """
        adversary/reverse_engineering/cuts/decisions.py: len(left) + len(right)
    """,
    "more than a limit": """
        adversary/intersection/exchanges.py: sum(one.n_alike)
        adversary/other_columns.py: prod(map(len, ways))
        adversary/reverse_engineering/greedy/crowds.py: placings
        adversary/reverse_engineering/worlds/every_world.py: unknown
        adversary/reverse_engineering/worlds/worlds.py: found
        adversary/reverse_engineering/worlds/worlds.py: self.n_people
        adversary/risks/risk_attack.py: control.n_tuples
        analyst/answers/query.py: n_rows
        analyst/statistics/composite.py: len(counts)
        journeys/advice/ways.py: sketch.n_people
        pages/report/publication.py: made.n_tuples
        population/learn.py: evidence.release.n_tuples
        release/contents.py: release.n_tuples
        streaming/journey.py: plan.kinds.n_people
        studio/tasks/attack.py: everybody.n_tuples
    """,
    "a limit, which is large": "supports/proportions.py: most",
    "a parameter of a principle, which is two at least, or one is told apart": """
        principles/entropy_l_diversity.py: plain(self.ell)
        principles/k_anonymity.py: self.k
        principles/k_anonymity.py: self.k - 1
        principles/l_diversity.py: self.ell
    """,
    "a size of the tables of a paper": "papers/transparent.py: number(place)",
    "no number": "verification/sensitive.py: ' and '.join(odd)",
    "a table of which some rows or people are shown": """
        studio/templates/analyst.html: "{:,}".format(answer.n_rows)
        studio/templates/data.html: found.rows|length
        studio/templates/method.html: sketch.n_people|written(",")
        studio/templates/release.html: "{:,}".format(found.n_people)
    """,
    "a mean, or a measured time": """
        papers/reproduction.py: number(self.seconds)
        pages/templates/report.html: facts.achieved.average_size|written(",.2f")
        studio/templates/method_rows.html: row.average_size|round(1)
    """,
}
"""Numbers that stand before a plural noun and are never one, by the reason: the file, and what is filled in."""
ROLES = ["--quasi", "age", "--sensitive", "ill"]


@pytest.mark.parametrize(
    ("n", "noun", "told"),
    [
        (0, "record", "0 records"),
        (1, "record", "1 record"),
        (2, "person", "2 people"),
        (1, "new person", "1 new person"),
        (2, "new person", "2 new people"),
        (3, "possible entry", "3 possible entries"),
        (1_000, "row", "1,000 rows"),
        (1.0, "second", "1 second"),
        (20.0, "second", "20 seconds"),
        (0.5, "second", "0.5 seconds"),
    ],
)
def test_a_noun_follows_its_number(n: int, noun: str, told: str) -> None:
    assert counted(n, noun) == told


def test_the_pattern_finds_what_is_wrong() -> None:
    assert WRONG.search("there are 1 records")
    assert WRONG.search("for 1 other people, 1 more columns")
    for right in ("1 record", "21 records", "1,001 records", "0.1 records", "1 of 3 records", "1/1 records"):
        assert not WRONG.search(right)


def bare_numbers() -> Iterator[str]:
    """Where a number is filled in directly before a plural noun, and not by `counted`: the file, and what is filled in.

    Names in capitals are constants, and a number with digits after the point is no number of things.
    """
    for path in sorted(SOURCE.rglob("*")):
        name = path.relative_to(SOURCE).as_posix()
        if path.suffix == ".py" and "kernels" not in path.name:
            yield from (f"{name}: {filled}" for filled in _bare_in_source(path.read_text(encoding="utf-8")))
        elif path.suffix == ".html":
            yield from (f"{name}: {filled}" for filled in _bare_in_template(path.read_text(encoding="utf-8")))


def _bare_in_source(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for filled, after in zip(node.values, node.values[1:], strict=False):
            if isinstance(filled, ast.FormattedValue) and isinstance(after, ast.Constant) and AFTER.match(after.value):
                shown = ast.unparse(filled.value)
                form = "" if filled.format_spec is None else ast.unparse(filled.format_spec)
                if not re.match(r"(plural\.)?counted\(", shown) and not CONSTANT.fullmatch(shown) and "." not in form:
                    yield shown


def _bare_in_template(text: str) -> Iterator[str]:
    yield from (found[1] for found in FILLED.finditer(text) if "|counted(" not in found[1])


def test_a_number_before_a_plural_noun_is_never_one() -> None:
    known = {line.strip() for lines in EXCEPTIONS.values() for line in lines.split("\n") if line.strip()}
    found = set(bare_numbers())
    wrong = sorted(found - known)
    assert not wrong, "use glasshouse.plural.counted, or say why the number is never one:\n" + "\n".join(wrong)
    assert not known - found, "these are no exceptions any more:\n" + "\n".join(sorted(known - found))


def test_numbers_before_plural_nouns_are_found() -> None:
    source = (
        "f'{n:,} records', f'{len(a)} more values', f'{counted(n, \"row\")} rows', f'{_MOST:,} rows', f'{x:.1f} rows', "
        "f'{n:,} of them', f'{a}' f' people were {b} groups'"
    )
    assert sorted(_bare_in_source(source)) == ["a", "b", "len(a)", "n"]
    page = '<p>{{ n|written(",") }} other people, {{ n|counted("row") }} rows, {{ found.n }}\nrows</p>'
    assert list(_bare_in_template(page)) == ['n|written(",")', "found.n"]


def test_tables_of_one_are_told_in_the_singular(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.csv").write_text("age,ill\n30,flu\n")
    Path("two.csv").write_text("who,age,ill\na,30,flu\nb,30,gout\nc,31,\n")
    Path("same.csv").write_text("age\n30\n30\n")
    Path("foreign.csv").write_text("age,ill\n[30\u2013,flu\n*,flu\n")
    Path("people.csv").write_text("who,age\na,30\nz,99\n")

    def run(*words: str) -> str:
        made = CliRunner().invoke(glasshouse, list(words))
        assert made.exit_code in (0, 1, 2), made.output
        return made.output

    told = {
        "inspect": run("inspect", "one.csv"),
        "init": run("init", "one.csv", "--out", "-"),
        "verify": run("verify", "one.csv", *ROLES, "--k", "2", "--ell", "2"),
        "suppressed": run("verify", "foreign.csv", *ROLES, "--missing", "drop"),
        "publish": run("publish", "same.csv", "--quasi", "age", "--k", "2", "--out", "p1"),
        "dropped": run("publish", "two.csv", *ROLES, "--missing", "drop", "--ell", "2", "--out", "p2"),
        "show": run("show", "p1/release", "--rows", "1", "--why"),
        "verify release": run("verify", "p1/release"),
        "attack": run("attack", "p2/release", "--external", "people.csv", "--identifier", "who"),
        "attack a file": run("attack", "foreign.csv", *ROLES, "--external", "people.csv", "--identifier", "who"),
        "query": run("query", "p2/release", "SELECT COUNT(*) WHERE age = 30"),
        "sample": run("sample", "p2/release", "--rows", "1", "--out", "drawn"),
        "taxonomy": run("taxonomy", "one.csv", "age=prefix:1"),
        "README": Path("p1/release/README.md").read_text(),
        "README of two": Path("p2/release/README.md").read_text(),
        "report": re.sub("<[^>]*>", " ", next(Path("p1/audit").glob("*.html")).read_text()),
    }
    assert "1 record" in told["verify"]
    assert "1 row, 2 columns" in told["inspect"]
    assert "1 person fits no published record" in told["attack"]
    wrong = {name: found[0] for name, text in told.items() if (found := WRONG.search(text))}
    assert not wrong
