# SPDX-License-Identifier: Apache-2.0
"""SQL: a question about a release, as an analyst writes it.

::

    SELECT COUNT(*) [AS name] [, SUM(column), AVG(column)] [, column ...]
    [FROM release] [WHERE condition] [GROUP BY column, ...]

A condition compares columns with values (``=  <>  <  <=  >  >=  BETWEEN  IN  IS NULL``) under ``AND``, ``OR``, ``NOT``
and parentheses. sqlglot parses; here its tree is turned into a `Question`, and everything else is refused by name.

SQL knows three answers. A missing value compared with anything is neither true nor false but *unknown*, the negation of
unknown is unknown, and only what is true is counted: both ``sex = 'F'`` and ``NOT sex = 'F'`` pass over people whose
sex is missing, and ``IS NULL`` alone finds them. Negations are therefore carried down to the tests, where it is known
what makes a test true and what makes it false.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from glasshouse.analyst.clocks import Clock
from glasshouse.analyst.questions import EVERYBODY, And, Condition, Measure, Or, Question, Test
from glasshouse.analyst.sql_literals import WRITTEN, fitting, literal
from glasshouse.analyst.sql_parsing import (
    CLAUSES,
    CONDITION,
    QUESTION,
    bare,
    flattened,
    name_of,
    parsed,
    shown,
    unsupported,
)
from glasshouse.analyst.value_sets import ValueSet
from glasshouse.errors import DomainError, InputError, SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["question_of"]

_FLIPPED = {"eq": "eq", "neq": "neq", "lt": "gt", "lte": "gte", "gt": "lt", "gte": "lte"}
_NEGATED = {"eq": "neq", "neq": "eq", "lt": "gte", "lte": "gt", "gt": "lte", "gte": "lt"}
_MISSING = ValueSet.of([None])
_PRESENT = ~_MISSING


def question_of(sql: str, columns: Mapping[str, str], clock: Callable[[str], Clock] | None = None) -> Question:
    """Read a question in SQL.

    Parameters
    ----------
    sql
        The question.
    columns
        The release's columns, and the kind of each: ``integer``, ``float``, ``date``, ``timestamp``, ``boolean`` or
        ``category``.
    clock
        By which clock the times of a column are shown; by default times have no offsets.

    Returns
    -------
    Question
        Its condition has no `Not` in it. Grouping columns come in the order in which they were selected.

    Raises
    ------
    InputError
        If it is not SQL, or asks for something that is not supported.
    SchemaError
        If there is no such column.
    DomainError
        If a column is compared with a value of another kind.
    MissingExtra
        If sqlglot is not installed.

    Examples
    --------
    >>> question = question_of("SELECT COUNT(*) WHERE age BETWEEN 30 AND 40", {"age": "integer"})
    >>> question.where
    Test(column='age', values=<ValueSet [30, 40]>)
    >>> question.measures
    (Measure(kind='count', column=None, name='count'),)
    """
    return _Reader(columns, clock or _without_offsets).question(parsed(sql))


def _without_offsets(column: str) -> Clock:
    return Clock(column, frozenset())


@dataclass(eq=False)
class _Reader:
    """Turns the parser's tree into a question about some columns."""

    columns: Mapping[str, str]
    clock: Callable[[str], Clock]
    tables: set[str] = field(default_factory=lambda: {"release"})

    def question(self, select: Any) -> Question:
        for name, value in select.args.items():
            name = name.rstrip("_")  # older parsers say "from", newer ones "from_"
            if value and name not in ("expressions", "from", "where", "group"):
                raise unsupported(CLAUSES.get(name, name.upper()), QUESTION)
        args = {name.rstrip("_"): value for name, value in select.args.items()}
        if args.get("from"):
            self._read_table(args["from"].this)
        measures: list[Measure] = []
        selected: dict[str, str] = {}  # headings by column
        for item in args["expressions"]:
            self._read_item(item, measures, selected)
        grouped = self._grouped(args.get("group"), selected)
        self._check_selection(measures, selected, grouped)
        where = self.condition(args["where"].this) if args.get("where") else EVERYBODY
        return Question(tuple(measures), where, tuple(selected), tuple(selected.values()))

    def _read_table(self, table: Any) -> None:
        if table.key != "table" or table.this.key != "identifier":
            raise unsupported("FROM with a subquery or a function", QUESTION)
        extra = [name for name, value in table.args.items() if value and name not in ("this", "alias")]
        if extra:
            raise unsupported(CLAUSES.get(extra[0], extra[0].upper()) + " in FROM", QUESTION)
        if table.name.casefold() != "release":
            raise InputError(f"there is no table {shown(table.name)}: the only one is called release")
        if table.alias:
            self.tables = {table.alias.casefold()}

    def _read_item(self, item: Any, measures: list[Measure], selected: dict[str, str]) -> None:
        """One entry of SELECT: a measure or a column."""
        node, heading = (item.this, item.alias) if item.key == "alias" else (item, None)
        node = bare(node)
        if node.key == "column":
            name = self._column(node, "a selected column")
            if name in selected:
                raise SchemaError(f"column {name!r} is selected twice", column=name)
            selected[name] = heading or name
        elif node.key == "count":
            if node.this is None or node.this.key != "star" or node.expressions:
                inside = "DISTINCT" if node.this is not None and node.this.key == "distinct" else "anything but *"
                raise InputError(f"COUNT of {inside} is not supported: COUNT(*) counts people, WHERE says which ones")
            measures.append(Measure("count", None, heading or "count"))
        elif node.key in ("sum", "avg"):
            name = self._summed(node)
            measures.append(Measure(node.key, name, heading or f"{node.key}({name})"))
        else:
            raise self._refused(node, place=" in SELECT", supported=QUESTION)

    def _summed(self, node: Any) -> str:
        of = node.key.upper()
        if node.this is None:
            raise unsupported(f"{of} of nothing", f"write {of}(column)")
        inner = bare(node.this)
        if inner.key != "column":
            raise self._refused(inner, place=f" in {of}", supported=f"write {of}(column)")
        name = self._column(inner, f"a column of {of}")
        kind = self.columns[name]
        if kind not in ("integer", "float"):
            raise DomainError(f"{of} needs a column of numbers, and {name!r} holds {WRITTEN[kind][0]}", column=name)
        return name

    def _grouped(self, group: Any, selected: Mapping[str, str]) -> list[str]:
        """The columns of GROUP BY, by their names or by their headings."""
        if group is None:
            return []
        if any(value for name, value in group.args.items() if name != "expressions"):
            raise unsupported("GROUP BY with ALL, ROLLUP, CUBE or GROUPING SETS", "write GROUP BY column, ...")
        by_heading = {heading.casefold(): name for name, heading in selected.items()}
        found = []
        for node in map(bare, group.expressions):
            if node.key == "literal":
                raise unsupported("GROUP BY with the number of a column", "write GROUP BY column, ...")
            if node.key != "column":
                raise self._refused(node, place=" in GROUP BY", supported="write GROUP BY column, ...")
            named = by_heading.get(node.name.casefold())
            known = {name.casefold() for name in self.columns}
            if named is not None and node.name.casefold() not in known and not node.table:
                found.append(named)
            else:
                found.append(self._column(node, "a column of GROUP BY"))
        return found

    def _check_selection(self, measures: list[Measure], selected: Mapping[str, str], grouped: list[str]) -> None:
        for name in selected:
            if name not in grouped:
                raise InputError(f"column {name!r} is selected, and not in GROUP BY: add it there")
        for name in grouped:
            if name not in selected:
                raise InputError(f"column {name!r} is in GROUP BY, and not selected: add it to SELECT")
        if not measures:
            raise InputError("the question asks for no number: add COUNT(*), SUM(column) or AVG(column) to SELECT")
        headings = [*selected.values(), *(measure.name for measure in measures)]
        for heading in headings:
            if headings.count(heading) > 1:
                raise InputError(f"two columns of the answer are called {heading!r}: rename one, as in COUNT(*) AS n")

    def condition(self, node: Any, *, negated: bool = False) -> Condition:
        """A condition, or what makes it false: for missing values these are not each other's opposites."""
        while node.key in ("paren", "not"):
            negated ^= node.key == "not"
            node = node.this
        if node.key in ("and", "or"):
            parts = tuple(self.condition(part, negated=negated) for part in flattened(node))
            return And(parts) if (node.key == "and") != negated else Or(parts)
        if node.key == "boolean":
            return And(()) if node.this != negated else Or(())
        if node.key == "null":
            return Or(())
        if node.key == "column":
            return self._flag(node, negated=negated)
        if node.key in _FLIPPED:
            return self._comparison(node, negated=negated)
        if node.key in ("between", "in", "is"):
            subject = self._subject(node)
            return Test(subject, getattr(self, f"_{node.key}")(node, subject, negated=negated))
        if node.key == "literal":
            raise InputError(f"{shown(node.name)} alone is no condition: {CONDITION}")
        raise self._refused(node)

    def _flag(self, node: Any, *, negated: bool) -> Test:
        """A column of truth values is a condition by itself."""
        name = self._column(node, "a column of the condition")
        if self.columns[name] != "boolean":
            raise InputError(f"column {name!r} alone is no condition: {CONDITION}")
        return Test(name, ValueSet.of([not negated]))

    def _comparison(self, node: Any, *, negated: bool) -> Test:
        left, right, how = bare(node.this), bare(node.expression), node.key
        if self._unquoted_name(left) or self._unquoted_name(right):
            raise self._refused(left, right)
        if left.key != "column" and right.key == "column":
            left, right, how = right, left, _FLIPPED[how]
        if left.key != "column":
            raise self._refused(left, right)
        if right.key == "column":
            raise self._two_columns(left, right)
        name = self._column(left, "a column of the condition")
        value = self._value(right, name)
        return Test(name, self._compared(_NEGATED[how] if negated else how, value, name))

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
        subject = bare(node.this)
        if subject.key != "column":
            raise self._refused(subject)
        return self._column(subject, "a column of the condition")

    def _between(self, node: Any, name: str, *, negated: bool) -> ValueSet:
        if node.args.get("symmetric"):
            raise unsupported("BETWEEN SYMMETRIC", CONDITION)
        low, high = (self._value(node.args[end], name) for end in ("low", "high"))
        if negated:
            return self._compared("lt", low, name) | self._compared("gt", high, name)
        return self._compared("gte", low, name) & self._compared("lte", high, name)

    def _in(self, node: Any, name: str, *, negated: bool) -> ValueSet:
        if node.args.get("query"):
            raise unsupported("a subquery", CONDITION)
        if not node.expressions or any(value for key, value in node.args.items() if key not in ("this", "expressions")):
            raise unsupported("IN without a list of values", CONDITION)
        values = [self._value(value, name) for value in node.expressions]
        if negated and None in values:  # it might be the missing one
            return ValueSet.nothing()
        whole = self.columns[name] in ("integer", "date")
        listed = ValueSet.of([value for value in values if value is not None], whole=whole)
        return ~listed & _PRESENT if negated else listed

    def _is(self, node: Any, name: str, *, negated: bool) -> ValueSet:
        if bare(node.expression).key != "null":
            raise unsupported("IS with anything but NULL", CONDITION)
        return _PRESENT if negated else _MISSING

    def _refused(self, *nodes: Any, place: str = "", supported: str = CONDITION) -> InputError:
        """What stands where a column should: name the construct, or the column that was meant."""
        for node in nodes:
            meant = self._unquoted_name(node)
            if meant is not None:
                return SchemaError(
                    f'the name of column {meant!r} needs double quotes: write "{meant}"', column=meant, suggestion=meant
                )
        for node in nodes:
            if node.key not in ("literal", "boolean", "null", "column"):
                return unsupported(name_of(node) + place, supported)
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
        """Refuse to compare columns; a text without single quotes is taken for one."""
        unknown = [node for node in nodes if not self._is_known(node)]
        if len(unknown) == 1:
            name = unknown[0].name
            return SchemaError(
                f"there is no column {name!r}: if it is a text, write it in single quotes, '{name}'", column=name
            )
        for node in nodes:
            self._column(node, "a column of the condition")
        return unsupported("a comparison of two columns", CONDITION)

    def _is_known(self, node: Any) -> bool:
        try:
            self._column(node, "")
        except InputError:
            return False
        return True

    def _column(self, node: Any, role: str) -> str:
        """The column that a name stands for; unquoted names match in any case."""
        if node.this.key != "identifier":
            raise unsupported(name_of(node.this), QUESTION)
        name, table = str(node.name), str(node.table)
        if table and (node.args.get("db") or table.casefold() not in self.tables):
            dotted = ".".join(part.name for part in node.parts)
            if dotted in self.columns:
                raise SchemaError(f'the name of column {dotted!r} needs double quotes: write "{dotted}"', column=dotted)
            raise SchemaError.unknown(dotted, list(self.columns), role=role)
        if name in self.columns:
            return name
        matches = [own for own in self.columns if own.casefold() == name.casefold()]
        if node.this.args.get("quoted") or not matches:
            raise SchemaError.unknown(name, list(self.columns), role=role)
        if len(matches) > 1:
            listed = " or ".join(f'"{own}"' for own in matches)
            raise SchemaError(f"{name!r} may be one of several columns: write {listed}", column=name)
        return matches[0]

    def _value(self, node: Any, name: str) -> Any:
        """What a literal means for a column; None for NULL."""
        node = bare(node)
        if node.key == "column":
            raise self._two_columns(node)
        value = literal(node)
        if value is None:
            raise self._refused(node)
        return None if value.written == "null" else fitting(value, name, self.columns[name], self.clock)
