"""SQL: questions mean what a database takes them to mean, missing values included; the rest is refused by name."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.analyst.questions.question import (
    EVERYBODY,
    And,
    Condition,
    Measure,
    Not,
    Or,
    Question,
    Test,
    disjoint_terms,
)
from glasshouse.analyst.questions.sql import question_of
from glasshouse.errors import DomainError, InputError, SchemaError
from glasshouse.supports.value_sets import ValueSet
from tests.tiers import examples

COLUMNS = {
    "age": "integer",
    "fare": "float",
    "Sex": "category",
    "marital-status": "category",
    "day": "date",
    "moment": "timestamp",
    "smoker": "boolean",
}
NOON = dt.datetime(2024, 5, 1, 12)
POOLS: dict[str, list[Any]] = {
    "age": [-3, 0, 29, 30, 31, 2**40],
    "fare": [-0.5, 0.0, 0.1, 0.25, 7.0, 1e20],
    "Sex": ["F", "M", "f", "é", "it's", ""],
    "marital-status": ["never", "once", "twice"],
    "day": [dt.date(2024, 2, 28), dt.date(2024, 2, 29), dt.date(2024, 3, 1), dt.date(1969, 12, 31)],
    "moment": [NOON, NOON + dt.timedelta(microseconds=1), dt.datetime(2024, 5, 1), dt.datetime(2024, 5, 2)],
    "smoker": [True, False],
}
TYPES = {
    "age": pa.int64(),
    "fare": pa.float64(),
    "Sex": pa.string(),
    "marital-status": pa.string(),
    "day": pa.date32(),
    "moment": pa.timestamp("us"),
    "smoker": pa.bool_(),
}


def _people(n: int) -> list[dict[str, Any]]:
    random = Random(5)
    return [{name: random.choice([None, *pool]) for name, pool in POOLS.items()} for _ in range(n)]


PEOPLE = _people(150)


@pytest.fixture(scope="module")
def database() -> Any:
    table = pa.table(
        {name: pa.array([person[name] for person in PEOPLE], TYPES[name]) for name in POOLS}
        | {"number": list(range(len(PEOPLE)))}
    )
    connection = duckdb.connect()
    connection.register("arrow", table)
    connection.execute("CREATE TABLE release AS SELECT * FROM arrow")
    return connection


# Conditions: a text, and by three-valued logic whether it is true (True), false (False) or unknown (None) of a person.

Truth = bool | None
Said = tuple[str, Callable[[dict[str, Any]], Truth]]

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def compared(operator: str, a: Any, b: Any) -> Truth:
    return None if a is None or b is None else OPERATORS[operator](a, b)


def negation(a: Truth) -> Truth:
    return None if a is None else not a


def conjunction(truths: list[Truth]) -> Truth:
    return False if False in truths else None if None in truths else True


def disjunction(truths: list[Truth]) -> Truth:
    return negation(conjunction([negation(truth) for truth in truths]))


@st.composite
def literals(draw: Any, column: str) -> tuple[str, Any]:
    """A value as SQL writes it, and what it is."""
    kind = COLUMNS[column]
    extra = {"age": [29.5, -2.25, 10**15], "fare": [1, -3, 0.3]}.get(column, [])
    value = draw(st.sampled_from([*POOLS[column], *extra]) if draw(st.integers(0, 9)) else st.none())
    if value is None:
        return "NULL", None
    if kind == "category":
        return "'" + value.replace("'", "''") + "'", value
    if kind == "boolean":
        return str(value).upper(), value
    if kind == "date":
        return draw(st.sampled_from(["DATE '{}'", "'{}'"])).format(value), value
    if kind == "timestamp":
        written = draw(st.sampled_from(["TIMESTAMP '{}'", "'{}'"])).format(value.isoformat(sep=" "))
        if value.time() == dt.time() and draw(st.booleans()):
            written = f"DATE '{value.date()}'"
        return written, value
    return draw(st.sampled_from(["{}", "({})"])).format(repr(value)), value


@st.composite
def one_test(draw: Any) -> Said:
    column = draw(st.sampled_from(list(COLUMNS)))
    plain = column.replace("-", "").isalnum() and "-" not in column
    name = draw(st.sampled_from([f'"{column}"', *([column, column.upper(), f"release.{column}"] if plain else [])]))
    how = draw(st.sampled_from(["compare", "compare", "flip", "between", "in", "null", "flag"]))
    negated = draw(st.booleans())
    no = "NOT " if negated else ""

    def settled(truth: Truth) -> Truth:
        return negation(truth) if negated else truth

    if how == "flag" and COLUMNS[column] == "boolean":
        return f"{no}{name}", lambda person: settled(person[column])
    if how == "null":
        return f"{name} IS {no}NULL", lambda person: settled(person[column] is None)
    if how == "between":
        (low, a), (high, b) = draw(literals(column)), draw(literals(column))
        return f"{name} {no}BETWEEN {low} AND {high}", lambda person: settled(
            conjunction([compared(">=", person[column], a), compared("<=", person[column], b)])
        )
    if how == "in":
        listed = draw(st.lists(literals(column), min_size=1, max_size=4))
        return f"{name} {no}IN ({', '.join(text for text, _ in listed)})", lambda person: settled(
            disjunction([compared("=", person[column], value) for _, value in listed])
        )
    operator = draw(st.sampled_from(list(OPERATORS)))
    text, value = draw(literals(column))
    if how == "flip":
        return f"{text} {operator} {name}", lambda person: compared(operator, value, person[column])
    return f"{name} {operator} {text}", lambda person: compared(operator, person[column], value)


def _negated(inner: Said) -> Said:
    text, truth = inner
    return f"NOT ({text})", lambda person: negation(truth(person))


def _joined(parts: list[Said], word: str) -> Said:
    combine = conjunction if word == "AND" else disjunction
    text = f" {word} ".join(f"({text})" if " OR " in text or " AND " in text else text for text, _ in parts)
    return text, lambda person: combine([truth(person) for _, truth in parts])


said: st.SearchStrategy[Said] = st.recursive(
    one_test(),
    lambda inner: st.one_of(
        inner.map(_negated),
        st.lists(inner, min_size=2, max_size=4).map(lambda parts: _joined(parts, "AND")),
        st.lists(inner, min_size=2, max_size=4).map(lambda parts: _joined(parts, "OR")),
    ),
    max_leaves=8,
)


def found(question: Question) -> list[int]:
    """Whom the question's disjoint terms take, once for every term that does."""
    terms = disjoint_terms(question.where)
    return [i for i, person in enumerate(PEOPLE) for term in terms if all(person[c] in v for c, v in term.items())]


@settings(max_examples=examples(400))
@given(said)
def test_terms_take_everybody_once_of_whom_the_condition_is_true_and_so_does_a_database(
    database: Any, condition: Said
) -> None:
    text, truth = condition
    expected = [i for i, person in enumerate(PEOPLE) if truth(person) is True]

    actual = found(question_of(f"SELECT COUNT(*) FROM release WHERE {text}", COLUMNS))

    assert expected == actual
    rows = database.execute(f"SELECT number FROM release WHERE {text} ORDER BY number").fetchall()
    assert [number for (number,) in rows] == actual


@settings(max_examples=examples(100))
@given(said, said, said)
def test_and_binds_closer_than_or_and_not_closer_than_both(database: Any, a: Said, b: Said, c: Said) -> None:
    a, b, c = ((text if " AND " not in text and " OR " not in text else f"({text})", t) for text, t in (a, b, c))
    for text in (f"{a[0]} OR {b[0]} AND {c[0]}", f"NOT {a[0]} AND {b[0]} OR NOT {c[0]}"):
        rows = database.execute(f"SELECT number FROM release WHERE {text} ORDER BY number").fetchall()

        assert [number for (number,) in rows] == found(question_of(f"SELECT COUNT(*) WHERE {text}", COLUMNS))


@given(said)
def test_a_condition_read_from_sql_has_no_not_in_it(condition: Said) -> None:
    def has_not(where: Condition) -> bool:
        return isinstance(where, Not) or (isinstance(where, And | Or) and any(map(has_not, where.parts)))

    assert not has_not(question_of(f"SELECT COUNT(*) WHERE {condition[0]}", COLUMNS).where)


def where(text: str) -> Condition:
    return question_of(f"SELECT COUNT(*) WHERE {text}", COLUMNS).where


def values_of(text: str) -> ValueSet:
    test = where(text)
    assert isinstance(test, Test)
    return test.values


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("age > 30", "[31, inf)"),
        ("age > 29.5", "[30, inf)"),
        ("age = 29.5", "nothing"),
        ("30 < age", "[31, inf)"),
        ("NOT age <= 30", "[31, inf)"),
        ("fare > 30", "(30.0, inf)"),
        ("age <> 30", "all but {30}"),
        ("NOT age IN (1, 2, 3)", "(-inf, 0] or [4, inf)"),
        ("age = - 3", "{-3}"),
        ("age = - -3", "{3}"),
        ("age <= 29.99999999999999999999999999999999999999", "(-inf, 29]"),
        ("age = 9007199254740993", "{9007199254740993}"),
        ("sex <> 'F'", "all but {F}"),
        ("NOT (sex = 'F')", "all but {F}"),
        ("sex IS NULL", "missing"),
        ("NOT sex IS NULL", "anything"),
        ("sex IS NOT NULL", "anything"),
        ("sex = NULL", "nothing"),
        ("NOT sex = NULL", "nothing"),
        ("sex NOT IN ('F', NULL)", "nothing"),
        ("NOT age BETWEEN NULL AND 30", "[31, inf)"),
        ("day > '2024-02-28'", "[2024-02-29, inf)"),
        ("day BETWEEN DATE '2024-02-28' AND CAST('2024-03-01' AS DATE)", "[2024-02-28, 2024-03-01]"),
        ("moment < '2024-05-01 12:30'", "(-inf, 2024-05-01T12:30:00)"),
        ("smoker", "{true}"),
        ("NOT smoker", "{false}"),
        ("smoker <> TRUE", "all but {true}"),
    ],
)
def test_a_test_is_true_of_these_values(text: str, words: str) -> None:
    assert words == str(values_of(text))


def test_truth_values_stand_for_everybody_and_nobody() -> None:
    assert where("TRUE") == EVERYBODY
    assert disjoint_terms(where("NOT TRUE OR NULL")) == []
    assert disjoint_terms(where("NOT (NULL AND FALSE)")) == [{}]


def test_measures_columns_and_their_headings_are_read() -> None:
    sql = """
        -- everybody by sex
        select "marital-status" as status, SEX, count(*), Sum(AGE) total, avg(r.fare) /* mean */
        from Release as r where r.age >= 18 group by sex, status;
    """
    expected = Question(
        (Measure("count", None, "count"), Measure("sum", "age", "total"), Measure("avg", "fare", "avg(fare)")),
        Test("age", ValueSet.above(18, closed=True)),
        ("marital-status", "Sex"),
        ("status", "Sex"),
    )

    assert expected == question_of(sql, COLUMNS)
    assert question_of("SELECT COUNT(*)", COLUMNS) == Question((Measure("count", None, "count"),))
    assert question_of("SELECT COUNT(*) AS n", COLUMNS).measures[0].name == "n"


def test_names_match_in_any_case_unless_quoted_or_ambiguous() -> None:
    columns = {"Age": "integer", "AGE": "integer", "Sex": "category"}

    def tested(text: str) -> str:
        test = question_of(f"SELECT COUNT(*) WHERE {text}", columns).where
        assert isinstance(test, Test)
        return test.column

    assert [tested(f"{name} = 1") for name in ("Age", "AGE", '"AGE"')] == ["Age", "AGE", "AGE"]
    assert tested("sEX = 'F'") == "Sex"
    with pytest.raises(SchemaError, match=r"""'age' may be one of several columns: write "Age" or "AGE\""""):
        tested("age = 1")
    with pytest.raises(SchemaError, match=r"no column 'sex'.*did you mean 'Sex'"):
        tested("\"sex\" = 'F'")


def test_an_unknown_column_is_named_with_the_near_one() -> None:
    with pytest.raises(
        SchemaError, match=r"no column 'agee' \(given as a column of the condition\): did you mean 'age'"
    ):
        where("agee = 3")
    with pytest.raises(SchemaError, match=r"no column 'smokr' .given as a selected column.*did you mean 'smoker'"):
        question_of("SELECT smokr, COUNT(*) GROUP BY smokr", COLUMNS)
    with pytest.raises(SchemaError, match="given as a column of GROUP BY"):
        question_of("SELECT sex, COUNT(*) GROUP BY sexx", COLUMNS)
    with pytest.raises(SchemaError, match="given as a column of SUM"):
        question_of("SELECT SUM(agge)", COLUMNS)
    with pytest.raises(SchemaError, match=r"no column 'other\.age'"):
        where("other.age = 3")


def test_signs_in_names_and_texts_in_the_wrong_quotes_are_explained() -> None:
    dotted = {"a.b": "integer", "hours-per-week": "integer"}
    for sql in ('COUNT(*) WHERE marital-status = "x"', "marital-status, COUNT(*) GROUP BY marital-status"):
        with pytest.raises(SchemaError, match='write "marital-status"'):
            question_of(f"SELECT {sql}", COLUMNS)
    with pytest.raises(SchemaError, match='write "hours-per-week"'):
        question_of("SELECT AVG(hours-per-week)", dotted)
    with pytest.raises(SchemaError, match=r'write "a\.b"'):
        question_of("SELECT COUNT(*) WHERE a.b = 3", dotted)
    for text in ('sex = "F"', "sex = F", "sex IN (F)", '"F" = sex'):
        with pytest.raises(SchemaError, match="write it in single quotes, 'F'"):
            where(text)
    for code in ("C34.1", "C34.01", "d.x"):
        with pytest.raises(SchemaError, match=f"there is no column '{code}': if it is a text, .* quotes, '{code}'"):
            where(f"sex = {code}")
    with pytest.raises(SchemaError, match="write it in single quotes, 'it''s F'"):
        where('sex = "it\'s F"')
    assert where("sex = 'it''s F'")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age = '30'", "'age' contains whole numbers and cannot be compared with the text '30': write a number"),
        ("fare > TRUE", "'fare' contains numbers and cannot be compared with TRUE"),
        ("sex = 3", "'Sex' contains texts and cannot be compared with the number '3': write a text in single quotes"),
        ("sex = DATE '2024-01-01'", "contains texts"),
        ("smoker = 'true'", "'smoker' contains true or false.*write TRUE or FALSE"),
        ("day < '2024-02-30'", "'day' contains dates.*'2024-02-30': write a date, as in DATE"),
        ("day < 'yesterday'", "'yesterday': write a date"),
        ("day < 20240101", "'day' contains dates"),
        ("day IN ('2024-01-01', '1')", "the text '1'"),
        ("day < TIMESTAMP '2024-01-01 10:00'", "'day' contains dates"),
        ("moment < '10:00'", "'moment' contains times.*write a time, as in TIMESTAMP"),
        ("moment < '2024-05-01 10:00+02:00'", "'moment' contains times without an offset"),
        ("moment < '2024-05-01 25:00'", "'moment' contains times"),
        ("age < 1e999999999", "that is too large"),
        ("fare < -1e400", "that is too large"),
    ],
)
def test_a_value_of_another_kind_is_refused(text: str, message: str) -> None:
    with pytest.raises(DomainError, match=message) as caught:
        where(text)

    assert caught.value.column is not None
    assert len(caught.value.values) == 1


UNSUPPORTED = {
    "SELECT COUNT(*) FROM release JOIN b USING (x)": "a JOIN, or a second table, is not supported",
    "SELECT COUNT(*) FROM release, b": "a JOIN, or a second table, is not supported",
    "SELECT COUNT(*) FROM (SELECT 1)": "FROM with a subquery",
    "SELECT COUNT(*) FROM x.release": "the name of a database in FROM",
    "SELECT COUNT(*) FROM patients": "no table 'patients': the only table is called release",
    "SELECT Sex, COUNT(*) GROUP BY Sex HAVING Sex = 'F'": "put a condition on the column 'Sex' into WHERE",
    "SELECT Sex, COUNT(*) GROUP BY Sex HAVING COUNT(*) > age": "a comparison in HAVING with anything but a number",
    "SELECT Sex, COUNT(*) GROUP BY Sex HAVING COUNT(*) IN (1, 2)": "IN in HAVING is not supported",
    "SELECT Sex, COUNT(*) GROUP BY Sex ORDER BY age": "ORDER BY age: order by something that is selected",
    "SELECT Sex, COUNT(*) GROUP BY Sex ORDER BY 3": "not the number of an entry of SELECT, which has 2 entries",
    "SELECT Sex, COUNT(*) GROUP BY ALL ORDER BY ALL": "GROUP BY with ALL",
    "SELECT Sex, COUNT(*) GROUP BY Sex ORDER BY ALL": "ORDER BY ALL is not supported",
    "SELECT COUNT(*) LIMIT 1.5": "LIMIT takes a whole number of rows",
    "SELECT COUNT(*) LIMIT ALL": "LIMIT",
    "SELECT COUNT(*) FETCH FIRST 3 ROWS ONLY": "FETCH is not supported: write LIMIT n",
    "SELECT MEDIAN(Sex)": "MEDIAN needs a column of numbers, and 'Sex' contains texts: ask how many people",
    "SELECT MEDIAN(age + 1)": "arithmetic in MEDIAN is not supported",
    "SELECT QUANTILE(age, 2)": "QUANTILE needs a share between 0 and 1",
    "SELECT QUANTILE_CONT(age, [0.1, 0.9])": "QUANTILE_CONT needs a share between 0 and 1",
    "SELECT PERCENTILE_DISC(0.1) WITHIN GROUP (ORDER BY age DESC)": "PERCENTILE_DISC in descending order",
    "SELECT MODE() WITHIN GROUP (ORDER BY age)": "WITHIN GROUP",
    "SELECT SUM(CASE WHEN age = 1 THEN 1 WHEN age = 2 THEN 2 END)": "a CASE in SUM with several WHEN",
    "SELECT SUM(CASE WHEN age = 1 THEN 1 ELSE 5 END)": "a CASE in SUM with another ELSE than 0",
    "SELECT AVG(CASE WHEN age = 1 THEN fare ELSE 0 END)": "AVG of a CASE with a column and ELSE 0",
    "SELECT COUNT(CASE WHEN age = 1 THEN 1 ELSE 0 END)": "COUNT of a CASE with ELSE",
    "SELECT CASE WHEN age = 1 THEN 'a' ELSE 2 END AS b, COUNT(*) GROUP BY b": "gives values of different kinds",
    "SELECT CASE WHEN age = 1 THEN fare END AS b, COUNT(*) GROUP BY b": "a CASE that gives anything but a text",
    "SELECT CASE WHEN age = 1 THEN 1 END AS fare, COUNT(*) GROUP BY fare": "has the same name as the column 'fare'",
    "SELECT COUNT(*) GROUP BY CASE WHEN age = 1 THEN 1 END": "a CASE is in GROUP BY",
    "SELECT CASE WHEN age = 1 THEN 1 END AS b, COUNT(*)": "'b' is selected but not in GROUP BY",
    "SELECT DISTINCT COUNT(*)": "DISTINCT is not supported",
    "SELECT COUNT(DISTINCT age)": "COUNT of DISTINCT is not supported",
    "SELECT COUNT(age)": "COUNT of anything but",
    "SELECT COUNT(1)": "COUNT of anything but",
    "SELECT SUM(DISTINCT age)": "DISTINCT in SUM is not supported",
    "SELECT SUM(age + 1)": "arithmetic in SUM is not supported: write SUM",
    "SELECT SUM(Sex)": r"as in SELECT Sex, COUNT\(\*\) GROUP BY Sex",
    "SELECT SUM()": "SUM",
    "SELECT MAX(age)": "the function MAX in SELECT is not supported: write a question as SELECT COUNT",
    "SELECT foo(age)": "the function FOO in SELECT",
    "SELECT COUNT(*) OVER ()": "OVER in SELECT",
    "SELECT *": r"\* in SELECT",
    "SELECT age + 1, COUNT(*) GROUP BY age": "arithmetic in SELECT",
    "SELECT COUNT(*) UNION SELECT COUNT(*)": "UNION is not supported",
    "SELECT COUNT(*); SELECT COUNT(*)": "a second statement is not supported",
    "SELECT COUNT(*); SHOW TABLES": "a second statement is not supported",
    "WITH a AS (SELECT 1) SELECT COUNT(*)": "WITH is not supported",
    "DROP TABLE release": "the question begins with 'DROP'",
    "FROM release": "the question begins with 'FROM'",
    "": "the question is empty",
    " ; -- nothing": "the question is empty",
    "SELECT Sex, COUNT(*)": "'Sex' is selected but not in GROUP BY",
    "SELECT COUNT(*) GROUP BY Sex": "'Sex' is in GROUP BY but not selected",
    "SELECT Sex GROUP BY Sex": "asks for no number",
    "SELECT": "asks for no number",
    "SELECT Sex, SEX, COUNT(*) GROUP BY Sex": "'Sex' is selected twice",
    "SELECT COUNT(*), COUNT(*)": "called 'count': rename one",
    "SELECT Sex, COUNT(*) AS Sex GROUP BY Sex": "called 'Sex': rename one",
    "SELECT Sex, COUNT(*) GROUP BY 1": "GROUP BY with the number of a column",
    "SELECT Sex, COUNT(*) GROUP BY ALL": "GROUP BY with ALL",
    "SELECT Sex, COUNT(*) GROUP BY ROLLUP(Sex)": "ROLLUP",
}
UNSUPPORTED_CONDITIONS = {
    "age LIKE '1%'": "LIKE needs a column of texts, and 'age' contains whole numbers",
    "sex LIKE sex": "LIKE with anything but a column and a text is not supported",
    "sex SIMILAR TO 'F'": "SIMILAR TO is not supported",
    "sex LIKE 'F!%' ESCAPE '!!'": "ESCAPE with anything but one character",
    "lower(sex) = 'f'": "the function LOWER is not supported",
    "age + 1 = 3": "arithmetic is not supported",
    "age = 3 + 1": "arithmetic is not supported",
    "-age = 3": "arithmetic is not supported",
    "day > DATE '2024-01-01' + 3": "arithmetic is not supported",
    "CASE WHEN age = 1 THEN TRUE END": "CASE is not supported",
    "CAST(age AS TEXT) = '1'": "CAST is not supported",
    "age = CAST('1' AS INTEGER)": "CAST is not supported",
    "age IS DISTINCT FROM 3": "IS DISTINCT FROM is not supported",
    "smoker IS TRUE": "IS with anything but NULL",
    "age = ?": "a parameter is not supported",
    "(age, fare) = (1, 2)": "a list of columns or values outside IN",
    "age IN (SELECT 1)": "a subquery is not supported",
    "age = (SELECT 1)": "a subquery is not supported",
    "EXISTS (SELECT 1)": "a subquery is not supported",
    "age IN ()": "IN without a list",
    "age = ANY(1)": "ANY or ALL",
    "age BETWEEN SYMMETRIC 3 AND 1": "BETWEEN SYMMETRIC",
    "age = fare": "a comparison of two columns",
    "1 = 1": "a value without a column",
    "age": "'age' alone is not a condition",
    "3": "'3' alone is not a condition",
    "(age = 3) = TRUE": "a comparison of a comparison",
    "smoker = NOT smoker": "a comparison of a condition",
}


@pytest.mark.parametrize("sql", UNSUPPORTED)
def test_what_is_not_supported_is_named(sql: str) -> None:
    with pytest.raises(InputError, match=UNSUPPORTED[sql]):
        question_of(sql, COLUMNS)


@pytest.mark.parametrize("text", UNSUPPORTED_CONDITIONS)
def test_conditions_that_are_not_supported_are_named(text: str) -> None:
    with pytest.raises(InputError, match=UNSUPPORTED_CONDITIONS[text]):
        where(text)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT COUNT(*) WHERE age XOR fare", r"cannot be read at 'XOR' \(line 1, column 27\)"),
        ("SELECT COUNT(*) WHERE age = 3 AND\n AND fare = 3", r"cannot be read at 'AND' \(line 2, column 2\)"),
        ("SELECT COUNT(*) WHERE", "cannot be read at 'WHERE'"),
        ("SELECT COUNT(*) WHERE (age = 3", "opens a parenthesis that it never closes"),
        ("SELECT COUNT(*) WHERE age = 3)", "closes a parenthesis that it never opened, at line 1, column 30"),
        ("SELECT COUNT(*) WHERE sex = 'F", "a quotation mark is opened and never closed"),
    ],
)
def test_a_syntax_error_says_where_in_plain_words(sql: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        question_of(sql, COLUMNS)

    assert len(str(caught.value)) < 250
    assert not any(word in str(caught.value) for word in ("sqlglot", "token", "Expecting", "expression", "\x1b"))
    assert caught.value.__cause__ is None


def test_long_and_deep_questions_are_bounded_and_ordinary_long_ones_are_answered() -> None:
    many = " OR ".join(f"age = {i}" for i in range(0, 8000, 2))
    listed = ", ".join(f"'{i:05}'" for i in range(15_000))

    assert len(disjoint_terms(where(many))) == 1
    assert "14999" in values_of(f"sex IN ({listed})")
    assert "F" in values_of(f"{'(' * 24}sex = 'F'{')' * 24}")
    assert "F" in values_of("NOT " * 24 + "sex = 'F'")
    for text in ("(" * 25 + "age = 1" + ")" * 25, "NOT " * 25 + "age = 1", "NOT (" * 13 + "age = 1" + ")" * 13):
        with pytest.raises(InputError, match="nested more than 24 levels deep"):
            where(text)
    with pytest.raises(InputError, match="characters, and 200,000 are allowed"):
        where("age = 1 OR " * 20_000 + "age = 1")
    for text in ("age = " + "- " * 5000 + "1", "CASE WHEN " * 3000, "(" * 50_000, "age = 1 = " * 5000 + "1"):
        with pytest.raises(InputError):
            where(text)


WORDS = """
    SELECT COUNT ( * ) , SUM AVG age fare Sex smoker day FROM release WHERE AND OR NOT IN BETWEEN IS NULL = <> < >=
    1 -2.5 1e 'F' 'x " ; . + - / DATE '2024-01-01' TIMESTAMP GROUP BY AS n TRUE CASE WHEN END LIKE JOIN ON LIMIT
    HAVING DISTINCT OVER :: [ ] { } ? $ @ % || -- /* */ INTERVAL CAST EXISTS UNION ALL FILTER PIVOT LATERAL ORDER
"""
STARTS = st.sampled_from(["", "SELECT ", "SELECT COUNT(*) WHERE ", "SELECT COUNT(*) WHERE sex = "])


@settings(max_examples=examples(300))
@given(st.lists(st.sampled_from(WORDS.split()), max_size=14), STARTS)
def test_no_jumble_of_words_raises_anything_but_an_input_error(words: list[str], start: str) -> None:
    with suppress(InputError):
        disjoint_terms(question_of(start + " ".join(words), COLUMNS).where)


@settings(max_examples=examples(100))
@given(st.text(max_size=60), STARTS)
def test_no_text_raises_anything_but_an_input_error(text: str, start: str) -> None:
    with suppress(InputError):
        question_of(start + text, COLUMNS)


def test_the_parser_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for sql in UNSUPPORTED:
            with pytest.raises(InputError):
                question_of(sql, COLUMNS)

    assert caplog.records == []


WORDS = """
    Alter all and any as between by case count current_date current_user date desc distinct end false from full group
    having in index interval into is join left like limit natural not null offset on or order rank right row select
    table then time timestamp true union user using values when where window with year
"""
FORMS = (
    "SELECT AVG({})",
    "SELECT COUNT(*) WHERE {} > 40",
    "SELECT COUNT(*) WHERE Sex = 'F' AND {} BETWEEN 1 AND 4",
    "SELECT {}, SUM(age) GROUP BY {}",
    "SELECT Sex, AVG({}), COUNT(*) FROM release WHERE {} > 40 AND age < 60 GROUP BY Sex ORDER BY Sex",
)


@pytest.mark.parametrize("word", WORDS.split())
def test_a_column_that_is_called_like_a_word_of_sql_is_read_or_the_refusal_says_that_it_needs_quotes(word: str) -> None:
    columns = {"age": "integer", "Sex": "category", word: "integer"}
    for form in FORMS:
        quoted = question_of(form.replace("{}", f'"{word}"'), columns)
        for written in (word, word.upper()):
            assert read_or_refused(form.replace("{}", written), columns) in (
                quoted,
                f"the name of column '{word}' is also a word of SQL, so it needs double quotes: write \"{word}\"",
            )


def read_or_refused(sql: str, columns: dict[str, str]) -> Question | str:
    try:
        return question_of(sql, columns)
    except SchemaError as error:
        return str(error)


def test_a_question_with_another_fault_is_not_said_to_lack_quotes() -> None:
    columns = {"age": "integer", "date": "date", "Alter": "integer"}
    for sql, told in {
        "SELECT COUNT(*) WHERE date > 'x'": "cannot be compared",
        "SELECT AVG(Alter": "opens a parenthesis",
        "SELECT AVG(age) WHERE": "cannot be read",
        "SELECT AVG(pay) WHERE date = '2020-01-01'": "'pay'",
    }.items():
        with pytest.raises(InputError, match=told) as refused:
            question_of(sql, columns)
        assert "double quotes" not in str(refused.value)
    with pytest.raises(SchemaError, match="'Alter' is also a word of SQL"):
        question_of("SELECT AVG(Alter), SUM(pay)", columns)  # the fault that comes first
