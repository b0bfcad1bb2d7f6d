# SPDX-License-Identifier: Apache-2.0
"""SQL: a question about a release, as an analyst writes it.

::

    SELECT COUNT(*) [AS name] [, SUM(column), AVG(column), MEDIAN(column)] [, column ...]
    [FROM release] [WHERE condition] [GROUP BY column, ...] [HAVING bound] [ORDER BY ...] [LIMIT n [OFFSET n]]

A condition compares columns with values (``=  <>  <  <=  >  >=  BETWEEN  IN  LIKE  IS NULL``) under ``AND``, ``OR``,
``NOT`` and parentheses. What is selected is read by `glasshouse.analyst.questions.select_item`. sqlglot parses, and is
imported when the first question is read; here its tree is turned into a `Question`, by the keys of its nodes (``and``,
``between``, ...), and everything else is refused by name.

SQL knows three answers. A missing value compared with anything is neither true nor false but *unknown*, the negation of
unknown is unknown, and only what is true is counted: both ``sex = 'F'`` and ``NOT sex = 'F'`` pass over people whose
sex is missing, and ``IS NULL`` alone finds them. Negations are therefore carried down to the tests, where it is known
what makes a test true and what makes it false.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from math import isinf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from glasshouse.analyst.questions.column_to_quote import column_to_quote
from glasshouse.analyst.questions.question import EVERYBODY, And, Condition, Like, Or, Question, Test
from glasshouse.analyst.questions.select_item import QUESTION, WRITTEN, Selection, arrangement, unsupported
from glasshouse.errors import DomainError, InputError, SchemaError
from glasshouse.sql_names import quoted_name
from glasshouse.supports.range_conditions import ranges_within
from glasshouse.supports.value_sets import Clock, ValueSet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from glasshouse.cells.ranges import Range

__all__ = ["question_of"]

_MOST_CHARACTERS = 200_000
_MOST_PATTERN = 1_000
_MOST_NESTED = 24  # the parser takes some 25 Python frames for each level, of the thousand that there are

_CONDITION = (
    "a condition compares a column with values, by =, <>, <, <=, >, >=, BETWEEN, IN, LIKE or IS NULL, with AND, OR, "
    "NOT and parentheses"
)

# Parts of a statement and of a condition that are not supported, by the parser's names, in the words of SQL.
_CLAUSES = {
    "cluster": "CLUSTER BY",
    "connect": "CONNECT BY",
    "db": "the name of a database",
    "distribute": "DISTRIBUTE BY",
    "joins": "a JOIN, or a second table,",
    "laterals": "LATERAL",
    "locks": "FOR UPDATE",
    "match": "MATCH_RECOGNIZE",
    "pivots": "PIVOT",
    "sort": "SORT BY",
    "windows": "WINDOW",
}
_CONSTRUCTS = {
    **dict.fromkeys(("add", "sub", "mul", "div", "intdiv", "mod", "neg", "dpipe", "pow"), "arithmetic"),
    **dict.fromkeys(("bitwiseand", "bitwiseor", "bitwisexor", "bitwisenot"), "arithmetic on bits"),
    **dict.fromkeys(("select", "subquery", "exists", "union", "intersect", "except"), "a subquery"),
    **dict.fromkeys(("like", "ilike"), "LIKE with anything but a column and a text"),
    **dict.fromkeys(("regexplike", "regexpilike"), "a regular expression"),
    "similarto": "SIMILAR TO",
    "glob": "GLOB",
    "escape": "ESCAPE",
    **dict.fromkeys(("eq", "neq", "lt", "lte", "gt", "gte", "between", "in", "is"), "a comparison of a comparison"),
    **dict.fromkeys(("and", "or", "not"), "a comparison of a condition"),
    **dict.fromkeys(("nullsafeeq", "nullsafeneq"), "IS DISTINCT FROM"),
    **dict.fromkeys(("placeholder", "parameter"), "a parameter"),
    **dict.fromkeys(("tuple", "array", "struct", "bracket"), "a list of columns or values outside IN"),
    **dict.fromkeys(("case", "if"), "CASE"),
    **dict.fromkeys(("cast", "trycast"), "CAST"),
    **dict.fromkeys(("any", "all"), "ANY or ALL"),
    "window": "OVER",
    "star": "*",
    "dot": "a dot in a name",
}
_LARGEST_EXPONENT = 400  # beyond every float, and small enough to be written out

_FLIPPED = {"eq": "eq", "neq": "neq", "lt": "gt", "lte": "gte", "gt": "lt", "gte": "lte"}
_NEGATED = {"eq": "neq", "neq": "eq", "lt": "gte", "lte": "gt", "gt": "lte", "gte": "lt"}
_MISSING = ValueSet.of([None])
_PRESENT = ~_MISSING


def question_of(
    sql: str,
    columns: Mapping[str, str],
    clock: Callable[[str], Clock] | None = None,
    ranges: Callable[[str], Mapping[str, Range]] = lambda _: {},
    order: Callable[[str], Sequence[str] | None] = lambda _: None,
) -> Question:
    """Read a question in SQL about columns of these kinds.

    ``clock`` tells by which clock a column's times are shown, ``ranges`` which ranges the categories of a column are,
    if they are ranges, and ``order`` in which order its categories are compared, if that is not the alphabet.

    The condition has no `Not` in it, and grouping columns come in the order in which they were selected. What is no
    such question is an `InputError`: a `SchemaError` if there is no such column, a `DomainError` if a column is
    compared with a value of another kind.

    >>> question = question_of("SELECT COUNT(*) WHERE age BETWEEN 30 AND 40", {"age": "integer"})
    >>> question.where
    Test(column='age', values=<ValueSet [30, 40]>)
    >>> question.measures
    (Measure(kind='count', column=None, name='count'),)
    """
    clock = clock or (lambda column: Clock(column, frozenset()))
    try:
        return _Reader(columns, clock, ranges, order).question(_parsed(sql))
    except InputError as error:
        meant = column_to_quote(
            sql, columns, _parsed, lambda tree: _Reader(columns, clock, ranges, order).question(tree)
        )
        if meant is None:
            raise
        raise SchemaError(
            f"the name of column {meant!r} is also a word of SQL, so it needs double quotes: write "
            f"{quoted_name(meant)}",
            column=meant,
            suggestion=meant,
        ) from error


def _edition(version: Any) -> int | str:
    """The edition that a question names: ``FROM release FOR VERSION AS OF 2027``."""
    named = version.args.get("expression")
    if str(version.args.get("kind")).upper() != "AS OF" or named is None or named.key != "literal":
        raise unsupported("a version other than AS OF an edition", "write FROM release FOR VERSION AS OF 2027")
    return str(named.this) if named.is_string or not str(named.this).isdecimal() else int(named.this)


@dataclass(eq=False)
class _Reader:
    """Turns the parser's tree into a question about some columns."""

    columns: Mapping[str, str]
    clock: Callable[[str], Clock]
    ranges: Callable[[str], Mapping[str, Range]]
    order: Callable[[str], Sequence[str] | None]
    places: Mapping[str, int] | None = None  # of the texts of the column that is compared, in its order
    tables: set[str] = field(default_factory=lambda: {"release"})
    as_of: int | str | None = None

    def question(self, select: Any) -> Question:
        for name, value in select.args.items():
            name = name.rstrip("_")  # older parsers say "from", newer ones "from_"
            if value and name not in ("expressions", "from", "where", "group", "having", "order", "limit", "offset"):
                raise unsupported(_CLAUSES.get(name, name.upper()), QUESTION)
        args = {name.rstrip("_"): value for name, value in select.args.items()}
        if args.get("from"):
            self._read_table(args["from"].this)
        selection = Selection(self)
        for item in args["expressions"]:
            selection.add(item)
        grouped = self._grouped(args.get("group"), selection)
        self._check_selection(selection, grouped)
        where = self.condition(args["where"].this) if args.get("where") else EVERYBODY
        arranged = arrangement(selection, args)
        return Question(
            tuple(selection.measures),
            where,
            tuple(selection.columns),
            tuple(selection.columns.values()),
            self.as_of,
            cases=tuple(selection.cases),
            **arranged,
        )

    def _read_table(self, table: Any) -> None:
        if table.key != "table" or table.this.key != "identifier":
            raise unsupported("FROM with a subquery or a function", QUESTION)
        extra = [name for name, value in table.args.items() if value and name not in ("this", "alias", "version")]
        if extra:
            raise unsupported(_CLAUSES.get(extra[0], extra[0].upper()) + " in FROM", QUESTION)
        if table.name.casefold() != "release":
            raise InputError(f"there is no table {_shown(table.name)}: the only table is called release")
        if table.alias:
            self.tables = {table.alias.casefold()}
        if table.args.get("version"):
            self.as_of = _edition(table.args["version"])

    def _grouped(self, group: Any, selection: Selection) -> list[str]:
        """The columns of GROUP BY, by their names or by their headings."""
        if group is None:
            return []
        if any(value for name, value in group.args.items() if name != "expressions"):
            raise unsupported("GROUP BY with ALL, ROLLUP, CUBE or GROUPING SETS", "write GROUP BY column, ...")
        by_heading = {heading.casefold(): name for name, heading in selection.columns.items()}
        found = []
        for node in map(_bare, group.expressions):
            if node.key == "literal":
                raise unsupported("GROUP BY with the number of a column", "write GROUP BY column, ...")
            if node.key == "case":
                found.append(selection.same_case(node))
                continue
            if node.key != "column":
                raise self.refused(node, place=" in GROUP BY", supported="write GROUP BY column, ...")
            named = by_heading.get(node.name.casefold())
            known = {name.casefold() for name in self.columns}
            if named is not None and node.name.casefold() not in known and not node.table:
                found.append(named)
            else:
                found.append(self.column(node, "a column of GROUP BY"))
        return found

    def _check_selection(self, selection: Selection, grouped: list[str]) -> None:
        measures, selected = selection.measures, selection.columns
        for name in selected:
            if name not in grouped:
                raise InputError(f"column {name!r} is selected but not in GROUP BY: add it to GROUP BY")
        for name in grouped:
            if name not in selected:
                raise InputError(f"column {name!r} is in GROUP BY but not selected: add it to SELECT")
        if not measures:
            raise InputError("the question asks for no number: add COUNT(*), SUM(column) or AVG(column) to SELECT")
        headings = [*selected.values(), *(measure.name for measure in measures)]
        for heading in headings:
            if headings.count(heading) > 1:
                raise InputError(f"two columns of the answer are called {heading!r}: rename one, as in COUNT(*) AS n")

    def condition(self, node: Any, *, negated: bool = False) -> Condition:
        """A condition, or the condition under which it is false: with missing values these are not opposites."""
        while node.key in ("paren", "not"):
            negated ^= node.key == "not"
            node = node.this
        if node.key in ("and", "or"):
            parts = tuple(self.condition(part, negated=negated) for part in _flattened(node))
            return And(parts) if (node.key == "and") != negated else Or(parts)
        if node.key == "boolean":
            return And(()) if node.this != negated else Or(())
        if node.key == "null":
            return Or(())
        if node.key == "column":
            return self._flag(node, negated=negated)
        if node.key in _FLIPPED:
            return self._comparison(node, negated=negated)
        if node.key in ("like", "ilike", "escape"):
            return self._like(node, negated=negated)
        if node.key == "is":
            subject = self._subject(node)
            return Test(subject, self._is(node, subject, negated=negated))
        if node.key in ("between", "in"):
            subject = self._subject(node)
            values = node.expressions if node.key == "in" else [node.args["low"], node.args["high"]]

            def tested(reader: _Reader) -> ValueSet:
                make = reader._in if node.key == "in" else reader._between
                return make(node, subject, negated=negated)

            return self._tested(subject, values, tested, in_order=node.key == "between")
        if node.key == "literal":
            raise InputError(f"{_shown(node.name)} alone is not a condition: {_CONDITION}")
        raise self.refused(node)

    def _flag(self, node: Any, *, negated: bool) -> Test:
        """A boolean column as a condition."""
        name = self.column(node, "a column of the condition")
        if self.columns[name] != "boolean":
            raise InputError(f"column {name!r} alone is not a condition: {_CONDITION}")
        return Test(name, ValueSet.of([not negated]))

    def _comparison(self, node: Any, *, negated: bool) -> Test:
        left, right, how = _bare(node.this), _bare(node.expression), node.key
        if self._unquoted_name(left) or self._unquoted_name(right):
            raise self.refused(left, right)
        if left.key != "column" and right.key == "column":
            left, right, how = right, left, _FLIPPED[how]
        if left.key != "column":
            raise self.refused(left, right)
        if right.key == "column":
            raise self._two_columns(left, right)
        name = self.column(left, "a column of the condition")
        own = _NEGATED[how] if negated else how
        return self._tested(
            name,
            [right],
            lambda reader: reader._compared(own, reader._value(right, name), name),
            in_order=how not in ("eq", "neq"),
        )

    def _tested(self, name: str, values: Sequence[Any], make: Callable[[_Reader], ValueSet], *, in_order: bool) -> Test:
        """A test of a column.

        Of one with ranges, numbers or dates are compared with those in the ranges; of one with an order, the places in
        the order are compared.
        """
        written = {found.written for value in values if (found := _literal(_bare(value))) is not None}
        no_text = in_order or written & {"number", "date"}
        ranges = self.ranges(name) if self.columns[name] == "category" and no_text else {}
        if not ranges:
            order = self.order(name) if in_order and self.columns[name] == "category" else None
            if order is None:
                return Test(name, make(self))
            places = {text: place for place, text in enumerate(order)}
            asked = make(replace(self, columns={**self.columns, name: "integer"}, places=places))
            return Test(name, ValueSet.of([text for text, place in places.items() if place in asked]))
        one = next(iter(ranges.values()))
        if "text" in written and one.kind == "float":
            raise DomainError(
                f"column {name!r} contains ranges of numbers: compare it with a number, as in {one.told_apart(name)}",
                column=name,
            )
        return Test(name, ranges_within(name, ranges, make(replace(self, columns={**self.columns, name: one.kind}))))

    def _compared(self, how: str, value: Any, name: str) -> ValueSet:
        """The values for which a comparison is true; with NULL it never is."""
        if value is None:
            return ValueSet.nothing()
        whole = self.columns[name] in ("integer", "date")
        if how in ("eq", "neq"):
            equal = ValueSet.of([value], whole=whole)
            return equal if how == "eq" else ~equal & _PRESENT
        side = ValueSet.below if how in ("lt", "lte") else ValueSet.above
        return side(value, closed=how in ("lte", "gte"), whole=whole)

    def _subject(self, node: Any) -> str:
        """The column that BETWEEN, IN or IS is about."""
        subject = _bare(node.this)
        if subject.key != "column":
            raise self.refused(subject)
        return self.column(subject, "a column of the condition")

    def _between(self, node: Any, name: str, *, negated: bool) -> ValueSet:
        if node.args.get("symmetric"):
            raise unsupported("BETWEEN SYMMETRIC", _CONDITION)
        low, high = (self._value(node.args[end], name) for end in ("low", "high"))
        if negated:
            return self._compared("lt", low, name) | self._compared("gt", high, name)
        return self._compared("gte", low, name) & self._compared("lte", high, name)

    def _in(self, node: Any, name: str, *, negated: bool) -> ValueSet:
        if node.args.get("query"):
            raise unsupported("a subquery", _CONDITION)
        if not node.expressions or any(value for key, value in node.args.items() if key not in ("this", "expressions")):
            raise unsupported("IN without a list of values", _CONDITION)
        values = [self._value(value, name) for value in node.expressions]
        if negated and None in values:  # it might be the missing one
            return ValueSet.nothing()
        whole = self.columns[name] in ("integer", "date")
        present = [value for value in values if value is not None]
        if fractions := _fractions(present) if whole else []:  # kept, so that a note can say that nobody has them
            present, whole = [*(int(value) for value in present if value == int(value)), *fractions], False
        listed = ValueSet.of(present, whole=whole)
        return ~listed & _PRESENT if negated else listed

    def _is(self, node: Any, name: str, *, negated: bool) -> ValueSet:
        if _bare(node.expression).key != "null":
            raise unsupported("IS with anything but NULL", _CONDITION)
        return _PRESENT if negated else _MISSING

    def _like(self, node: Any, *, negated: bool) -> Like:
        escape = ""
        if node.key == "escape":
            escape, node = _text_in(node.expression), node.this
            if len(escape) != 1:
                raise unsupported("ESCAPE with anything but one character", "write ESCAPE '!'")
        pattern = _bare(node.expression)
        if node.key not in ("like", "ilike") or pattern.key != "literal" or not pattern.is_string:
            raise unsupported(_name_of(node), "write column LIKE 'pattern', with % and _")
        name = self._subject(node)
        kind = self.columns[name]
        if kind != "category":
            raise DomainError(f"LIKE needs a column of texts, and {name!r} contains {WRITTEN[kind][0]}", column=name)
        if len(str(pattern.name)) > _MOST_PATTERN:
            raise InputError(f"the pattern of LIKE has more than {_MOST_PATTERN:,} characters")
        negated ^= bool(node.args.get("negate"))
        return Like(name, str(pattern.name), escape, node.key == "ilike", negated)

    def refused(self, *nodes: Any, place: str = "", supported: str = _CONDITION) -> InputError:
        """The error for something that stands where a column should: it names the construct, or the column meant."""
        for node in nodes:
            meant = self._unquoted_name(node)
            if meant is not None:
                return SchemaError(
                    f"the name of column {meant!r} needs double quotes: write {quoted_name(meant)}",
                    column=meant,
                    suggestion=meant,
                )
        for node in nodes:
            if node.key not in ("literal", "boolean", "null", "column"):
                return unsupported(_name_of(node) + place, supported)
        return unsupported("a value without a column" + place, supported)

    def _unquoted_name(self, node: Any) -> str | None:
        """The column whose name has signs in it and was written without quotes, as in marital-status."""
        if node.key != "sub":
            return None
        words, left = [], [node]
        while left:
            part = left.pop()
            if part.key == "sub":
                left += [part.expression, part.this]
            elif part.key in ("column", "literal"):
                words.append(part.name)
            else:
                return None
        written = "-".join(words).casefold()
        return next((name for name in self.columns if name.casefold() == written), None)

    def _two_columns(self, *nodes: Any) -> InputError:
        """Refuse to compare two columns; a text that lacks single quotes looks like one."""
        unknown = [node for node in nodes if not self._is_known(node)]
        if len(unknown) == 1:
            name = ".".join(part.name for part in unknown[0].parts)  # a text with points in it looks like a table's
            quoted = name.replace("'", "''")
            return SchemaError(
                f"there is no column {name!r}: if it is a text, write it in single quotes, '{quoted}'", column=name
            )
        for node in nodes:
            self.column(node, "a column of the condition")
        return unsupported("a comparison of two columns", _CONDITION)

    def _is_known(self, node: Any) -> bool:
        try:
            self.column(node, "")
        except InputError:
            return False
        return True

    def column(self, node: Any, role: str) -> str:
        """The column that a name stands for; unquoted names match in any case."""
        if node.this.key != "identifier":
            raise unsupported(_name_of(node.this), QUESTION)
        name, table = str(node.name), str(node.table)
        if table and (node.args.get("db") or table.casefold() not in self.tables):
            dotted = ".".join(part.name for part in node.parts)
            if dotted in self.columns:
                raise SchemaError(
                    f"the name of column {dotted!r} needs double quotes: write {quoted_name(dotted)}", column=dotted
                )
            raise SchemaError.unknown(dotted, list(self.columns), role=role)
        if name in self.columns:
            return name
        matches = [own for own in self.columns if own.casefold() == name.casefold()]
        if node.this.args.get("quoted") or not matches:
            raise SchemaError.unknown(name, list(self.columns), role=role)
        if len(matches) > 1:
            listed = " or ".join(map(quoted_name, matches))
            raise SchemaError(f"{name!r} may be one of several columns: write {listed}", column=name)
        return matches[0]

    def _value(self, node: Any, name: str) -> Any:
        """The value that a literal stands for in a column; None for NULL."""
        node = _bare(node)
        if node.key == "column":
            raise self._two_columns(node)
        value = _literal(node)
        if value is None:
            raise self.refused(node)
        if value.written == "null":
            return None
        if self.places is None:
            return _fitting(value, name, self.columns[name], self.clock)
        text = _fitting(value, name, "category", self.clock)
        if text not in self.places:
            raise DomainError.unknown(text, list(self.places), column=name)
        return self.places[text]


# ------------------------------------------------------------------------------------------------------- literals


class _Literal(NamedTuple):
    """A literal: what it was written as, and its text; SQL's NULL is a value too."""

    written: Literal["number", "text", "date", "timestamp", "boolean", "null"]
    text: str

    def __str__(self) -> str:
        article = {"text": "the text ", "number": "the number "}.get(self.written, "")
        return article + (_shown(self.text) if self.written != "boolean" else self.text)


def _literal(node: Any) -> _Literal | None:
    """The literal that an expression is; None if it is not a literal."""
    sign = ""
    while node.key == "neg":
        sign = "" if sign else "-"
        node = _bare(node.this)
    if node.key == "literal":
        if not node.is_string:
            return _Literal("number", sign + node.name)
        return None if sign else _Literal("text", node.name)
    if sign:
        return None
    if node.key == "boolean":
        return _Literal("boolean", "TRUE" if node.this else "FALSE")
    if node.key == "null":
        return _Literal("null", "NULL")
    if node.key == "cast" and node.this.key == "literal" and node.this.is_string:
        to = str(node.args["to"].this.name)
        if to == "DATE":
            return _Literal("date", node.this.name)
        if to.startswith(("TIMESTAMP", "DATETIME")):
            return _Literal("timestamp", node.this.name)
    return None


def _fitting(value: _Literal, name: str, kind: str, clock: Callable[[str], Clock]) -> Any:
    """A literal as a value of a column; ``clock`` tells by which clock the column's times are shown."""
    found: Any = None
    if value.written == "number" and kind in ("integer", "float"):
        found = _number(value.text, name, kind)
    elif value.written == "text" and kind == "category":
        found = value.text
    elif value.written == "boolean" and kind == "boolean":
        found = value.text == "TRUE"
    elif value.written in ("text", "date") and kind == "date":
        found = _date(value.text)
    elif value.written in ("text", "date", "timestamp") and kind == "timestamp":
        found = _time(value.text)
        found = None if found is None else clock(name).moment(found)
    if found is None:
        holds, write = WRITTEN[kind]
        raise DomainError(
            f"column {name!r} contains {holds} and cannot be compared with {value}: {write}",
            column=name,
            values=[value.text],
        )
    return found


def _number(text: str, name: str, kind: str) -> Decimal | float:
    """A number, exactly where whole numbers are compared with it."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise DomainError(f"column {name!r}: {_shown(text)} is not a number", column=name, values=[text]) from None
    if (number and abs(number.adjusted()) > _LARGEST_EXPONENT) or (kind == "float" and isinf(float(number))):
        raise DomainError(
            f"column {name!r} is compared with a number that is too large, {_shown(text)}", column=name, values=[text]
        )
    return number if kind == "integer" else float(number)


def _fractions(values: Sequence[Any]) -> list[float]:
    """The numbers that are not whole, as far as floats tell them from whole numbers."""
    found = [float(value) for value in values if isinstance(value, Decimal) and value != int(value)]
    return [value for value in found if 0 < value % 1 < 1]


def _date(text: str) -> dt.date | None:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
        return None
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return None


def _time(text: str) -> dt.datetime | None:
    """A time by the clock that the release shows, or with an offset."""
    if not re.fullmatch(
        r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?", text, re.ASCII
    ):
        return None
    try:
        found = dt.datetime.fromisoformat(text)
        return found if found.tzinfo is None else found.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None


# ------------------------------------------------------------------------------------------------------- parsing


def _parsed(sql: str) -> Any:
    """The parser's tree of the one SELECT in a text."""
    from sqlglot import Dialect
    from sqlglot.errors import SqlglotError

    if not isinstance(sql, str):
        raise InputError(f"the question is not a text but a value of the type {type(sql).__name__}: {QUESTION}")
    if len(sql) > _MOST_CHARACTERS:
        raise InputError(
            f"the question has {len(sql):,} characters, and {_MOST_CHARACTERS:,} are allowed: ask a shorter question"
        )
    dialect = Dialect.get_or_raise("duckdb")
    try:
        tokens = dialect.tokenize(sql)
    except SqlglotError:
        raise InputError("the question cannot be read: a quotation mark is opened and never closed") from None
    _check_tokens(tokens)
    try:
        trees = [tree for tree in dialect.parser().parse(tokens, sql) if tree is not None and tree.key != "semicolon"]
    except SqlglotError as error:
        raise InputError(_where_it_fails(error)) from None
    except Exception:  # whatever else a parser stumbles over in an arbitrary text
        raise InputError(f"the question cannot be read: {QUESTION}") from None
    if trees[0].key != "select":
        raise unsupported(trees[0].key.upper(), QUESTION)
    return trees[0]


def _check_tokens(tokens: Sequence[Any]) -> None:
    """Check that there is one statement, which begins with SELECT, and that brackets match and are not too deep."""
    kinds = [token.token_type.name for token in tokens]
    while kinds and kinds[-1] == "SEMICOLON":
        kinds.pop()
    if not kinds:
        raise InputError(f"the question is empty: {QUESTION}")
    if kinds[0] == "WITH":
        raise unsupported("WITH", QUESTION)
    if kinds[0] != "SELECT":
        raise InputError(f"the question begins with {_shown(tokens[0].text)}: {QUESTION}")
    if "SEMICOLON" in kinds:
        raise unsupported("a second statement", QUESTION)
    depths, nested = [0], 0
    for token, kind in zip(tokens, kinds, strict=False):
        nested = nested + 1 if kind == "NOT" else 0 if kind != "L_PAREN" else nested
        if kind == "L_PAREN":
            depths.append(depths[-1] + nested + 1)
            nested = 0
        elif kind == "R_PAREN" and len(depths) == 1:
            raise InputError(f"the question closes a parenthesis that it never opened, {_place(token)}")
        elif kind == "R_PAREN":
            depths.pop()
        if depths[-1] + nested > _MOST_NESTED:
            raise InputError(f"the question is nested more than {_MOST_NESTED} levels deep, {_place(token)}")
    if len(depths) > 1:
        raise InputError("the question opens a parenthesis that it never closes")


def _place(token: Any) -> str:
    return f"at line {token.line}, column {token.col - len(token.text) + 1}"


def _where_it_fails(error: Any) -> str:
    """The position of a syntax error, in our own words."""
    details = getattr(error, "errors", None) or [{}]
    word, line, end = (details[0].get(key) for key in ("highlight", "line", "col"))
    if not word or line is None or end is None:
        return f"the question cannot be read: {QUESTION}"
    place = f"line {line}, column {max(end - len(word) + 1, 1)}"
    return f"the question cannot be read at {_shown(word)} ({place}): {QUESTION}"


def _shown(text: str, most: int = 40) -> str:
    """A text in quotes, cut off where it is long."""
    return repr(text if len(text) <= most else text[:most] + "...")


def _name_of(node: Any) -> str:
    """A construct in the words of SQL."""
    if node.key in _CONSTRUCTS:
        return _CONSTRUCTS[node.key]
    if node.key == "anonymous":
        return f"the function {node.name.upper()}"
    return f"the function {node.sql_name()}" if hasattr(node, "sql_name") else str(node.key).upper()


def _text_in(node: Any) -> str:
    """The text of a node; empty if it has none."""
    return str(node.name) if node.key == "literal" and node.is_string else ""


def _bare(node: Any) -> Any:
    """A node without enclosing parentheses."""
    while node.key == "paren":
        node = node.this
    return node


def _flattened(node: Any) -> list[Any]:
    """The parts of a chain of ANDs, or of ORs, in order; a chain of thousands is a tree as deep."""
    parts, left = [], [node]
    while left:
        part = left.pop()
        if _bare(part).key == node.key:
            part = _bare(part)
            left += [part.expression, part.this]
        else:
            parts.append(part)
    return parts
