# SPDX-License-Identifier: Apache-2.0
"""What a question in SQL selects: columns, columns made by CASE, and measures; and how its rows are arranged.

A measure may be over some of the people alone: ``COUNT(*) FILTER (WHERE ...)``, or what amounts to it,
``SUM(CASE WHEN ... THEN 1 ELSE 0 END)``. HAVING and ORDER BY may name measures that are not selected; these are asked
for too, and not shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Literal, Protocol

from glasshouse.analyst.questions.question import Bound, Case, Having, Measure, Order
from glasshouse.errors import DomainError, InputError, SchemaError
from glasshouse.plural import counted
from glasshouse.sql_names import sql_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.analyst.questions.question import Condition
    from glasshouse.cells.ranges import Range

__all__ = ["QUESTION", "WRITTEN", "Selection", "arrangement", "unsupported"]

Sign = Literal["=", "<>", "<", "<=", ">", ">="]

QUESTION = (
    "write a question as SELECT COUNT(*), SUM(column), AVG(column), MEDIAN(column) or columns, with FROM release, "
    "WHERE, GROUP BY, HAVING, ORDER BY and LIMIT if wanted"
)
_IN_CASE = "write SUM(CASE WHEN condition THEN column ELSE 0 END), or COUNT(*) FILTER (WHERE condition)"

# What a column of each kind holds, and how its values are written.
WRITTEN = {
    "integer": ("whole numbers", "write a number, as in 30"),
    "float": ("numbers", "write a number, as in 2.5"),
    "category": ("texts", "write a text in single quotes, as in 'flu'"),
    "boolean": ("true or false", "write TRUE or FALSE"),
    "date": ("dates", "write a date, as in DATE '2024-05-01'"),
    "timestamp": ("times", "write a time, as in TIMESTAMP '2024-05-01 12:30:00'"),
}
_ROWS = "write HAVING COUNT(*) >= 10, or another measure compared with a number"
_QUANTILES = {"median": True, "percentilecont": True, "percentiledisc": False, "quantile": False}
_SIGNS: dict[str, Sign] = {
    "eq": "=",
    "neq": "<>",
    "lt": "<",
    "lte": "<=",
    "gt": ">",
    "gte": ">=",
}
_FLIPPED: dict[Sign, Sign] = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_MOST_ROWS = 1_000_000_000
_MOST_CASES = 100


def unsupported(construct: str, supported: str) -> InputError:
    """The exception for a construct that is not supported, with a supported alternative."""
    return InputError(f"{construct} is not supported: {supported}")


class _Reader(Protocol):
    """The interface to the reader of the rest of the question: see `glasshouse.analyst.questions.sql`."""

    columns: Mapping[str, str]

    def ranges(self, name: str, /) -> Mapping[str, Range]: ...
    def column(self, node: Any, role: str) -> str: ...
    def condition(self, node: Any, *, negated: bool = False) -> Condition: ...
    def refused(self, *nodes: Any, place: str = "", supported: str = "") -> InputError: ...


@dataclass(eq=False)
class Selection:
    """The selected items, in the order in which they were written."""

    reader: _Reader
    measures: list[Measure] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)  # headings of grouping columns, by their names
    cases: list[Case] = field(default_factory=list)
    listed: list[Order] = field(default_factory=list)  # what stands at each place of SELECT
    _texts: dict[str, str] = field(default_factory=dict)  # the names of cases by what they say
    _made: dict[str, int] = field(default_factory=dict)  # the places of measures by what they say

    def add(self, item: Any) -> None:
        """Add one item of SELECT."""
        node, heading = (item.this, item.alias) if item.key == "alias" else (item, None)
        node = _bare(node)
        if node.key == "column":
            name = self.reader.column(node, "a selected column")
            if name in self.columns:
                raise SchemaError(f"column {name!r} is selected twice", column=name)
            self.listed.append(Order("key", len(self.columns)))
            self.columns[name] = heading or name
        elif node.key == "case":
            self._add_case(node, heading or "case")
        else:
            self.listed.append(Order("measure", len(self.measures)))
            self._made.setdefault(node.sql(), len(self.measures))
            self.measures.append(self._measure(node, heading))

    def same_case(self, node: Any) -> str:
        """The name of the selected CASE that GROUP BY repeats."""
        name = self._texts.get(node.sql())
        if name is None:
            raise InputError("a CASE is in GROUP BY, and not selected: add it to SELECT, as in CASE ... END AS band")
        return name

    def place_of(self, node: Any) -> Order | None:
        """The index of something named by its heading, its column or its expression; measures are added if needed."""
        node = _bare(node)
        if node.key == "column" and not node.table:
            wanted = str(node.name).casefold()
            for i, measure in enumerate(self.measures):
                if measure.name.casefold() == wanted:
                    return Order("measure", i)
            for i, (name, heading) in enumerate(self.columns.items()):
                if wanted in (name.casefold(), heading.casefold()):
                    return Order("key", i)
            return None
        if node.key == "case":
            return Order("key", list(self.columns).index(self.same_case(node)))
        if node.sql() not in self._made:
            measure = self._measure(node, None)
            self._made[node.sql()] = len(self.measures)
            self.measures.append(measure)
        return Order("measure", self._made[node.sql()])

    # --- CASE as a column ---------------------------------------------------------------------------------------------

    def _add_case(self, node: Any, heading: str) -> None:
        if heading in self.reader.columns or heading in self.columns:
            raise InputError(
                f"the CASE has the same name as the column {heading!r}: give it another name, CASE ... END AS band"
            )
        branches = tuple((self._when(node, one), _constant(one.args["true"])) for one in node.args["ifs"])
        if len(branches) > _MOST_CASES:
            raise InputError(f"the CASE has more than {_MOST_CASES} conditions: ask several smaller questions")
        default = node.args.get("default")
        case = Case(heading, branches, None if default is None else _constant(default))
        kinds = {_kind(value) for value in (*(v for _, v in branches), case.otherwise) if value is not None}
        if len(kinds) > 1:
            raise InputError(
                f"the CASE {heading!r} gives values of different kinds: let it give only texts, only numbers, or "
                "only TRUE and FALSE"
            )
        self.listed.append(Order("key", len(self.columns)))
        self.columns[heading] = heading
        self.cases.append(case)
        self._texts.setdefault(node.sql(), heading)

    def _when(self, node: Any, branch: Any) -> Condition:
        """The condition of a branch; CASE column WHEN value stands for column = value."""
        if node.this is None:
            return self.reader.condition(branch.this)
        from sqlglot import exp

        return self.reader.condition(exp.EQ(this=node.this.copy(), expression=branch.this.copy()))

    # --- measures -----------------------------------------------------------------------------------------------------

    def _measure(self, node: Any, heading: str | None) -> Measure:
        if node.key == "filter":
            inner = self._measure(_bare(node.this), heading)
            if inner.among is not None:
                raise unsupported("FILTER of a measure that has a CASE", _IN_CASE)
            return replace(inner, among=self.reader.condition(node.expression.this))
        if node.key == "count":
            return self._count(node, heading)
        if node.key in ("sum", "avg"):
            return self._summed(node, heading)
        if node.key in _QUANTILES or node.key == "withingroup":
            return self._quantile(node, heading)
        raise self.reader.refused(node, place=" in SELECT", supported=QUESTION)

    def _count(self, node: Any, heading: str | None) -> Measure:
        inner = None if node.this is None else _bare(node.this)
        if inner is not None and inner.key == "case" and not node.expressions:
            condition, value, otherwise = self._only_branch(inner, "COUNT")
            if value.key == "null" or otherwise is not None:
                raise unsupported("COUNT of a CASE with ELSE, or of NULL,", _IN_CASE)
            return Measure("count", None, heading or "count", among=condition)
        if inner is None or inner.key != "star" or node.expressions:
            inside = "DISTINCT" if inner is not None and inner.key == "distinct" else "anything but *"
            raise InputError(f"COUNT of {inside} is not supported: COUNT(*) counts people, and WHERE says which people")
        return Measure("count", None, heading or "count")

    def _summed(self, node: Any, heading: str | None) -> Measure:
        of = node.key.upper()
        if node.this is None:
            raise unsupported(f"{of} of nothing", f"write {of}(column)")
        inner = _bare(node.this)
        if inner.key == "case":
            return self._summed_case(node.key, inner, heading)
        name = self._numbers(inner, of)
        return Measure(node.key, name, heading or f"{node.key}({name})", of_ranges=self._has_ranges(name))

    def _summed_case(self, kind: str, case: Any, heading: str | None) -> Measure:
        """A sum or an average over the people who satisfy a condition."""
        of = kind.upper()
        condition, value, otherwise = self._only_branch(case, of)
        zero = otherwise is not None and otherwise.key == "literal" and _number(otherwise) == 0
        if otherwise is not None and not zero:
            raise unsupported(f"a CASE in {of} with another ELSE than 0", _IN_CASE)
        if value.key == "literal" and _number(value) == 1:
            if kind == "sum":
                return Measure("count", None, heading or "sum(case)", among=condition)
            if zero:
                return Measure("share", None, heading or "avg(case)", among=condition)
            raise unsupported("an average of a CASE without ELSE 0", "write AVG(CASE WHEN condition THEN 1 ELSE 0 END)")
        if kind == "avg" and zero:
            raise unsupported(
                "AVG of a CASE with a column and ELSE 0",
                ("leave ELSE out to average only the people for whom the condition is true"),
            )
        name = self._numbers(value, of)
        own: Literal["sum", "avg"] = "sum" if kind == "sum" else "avg"
        ranges = self._has_ranges(name)
        return Measure(own, name, heading or f"{kind}({name})", among=condition, of_ranges=ranges)

    def _only_branch(self, case: Any, of: str) -> tuple[Condition, Any, Any]:
        """The only condition of a CASE, its value, and its ELSE value, None for NULL."""
        if len(case.args["ifs"]) != 1:
            raise unsupported(f"a CASE in {of} with several WHEN", _IN_CASE)
        (branch,) = case.args["ifs"]
        default = case.args.get("default")
        default = None if default is None or _bare(default).key == "null" else _bare(default)
        return self._when(case, branch), _bare(branch.args["true"]), default

    def _quantile(self, node: Any, heading: str | None) -> Measure:
        """MEDIAN(column), QUANTILE(column, share) or PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY column)."""
        if node.key == "withingroup":
            made, order = _bare(node.this), node.expression
            if (
                made.key not in ("percentilecont", "percentiledisc")
                or order.key != "order"
                or len(order.expressions) != 1
            ):
                raise self.reader.refused(made, place=" WITHIN GROUP", supported=QUESTION)
            (by,) = order.expressions
            subject, share, flipped = _bare(by.this), made.this, bool(by.args.get("desc"))
        else:
            made, subject, flipped = node, _bare(node.this), False
            share = node.args.get("expression") or node.args.get("quantile")
        of = {"median": "MEDIAN", "percentilecont": "QUANTILE_CONT", "percentiledisc": "QUANTILE_DISC"}.get(
            made.key, "QUANTILE"
        )
        name = self._numbers(subject, of)
        if made.key == "median":
            ranges = self._has_ranges(name)
            return Measure("quantile", name, heading or f"median({name})", at=0.5, between=True, of_ranges=ranges)
        at = _number(_bare(share)) if share is not None and _bare(share).key == "literal" else None
        if at is None or not 0 <= at <= 1:
            raise InputError(f"{of} needs a share between 0 and 1, as in {of}({sql_name(name)}, 0.9)")
        own = float(1 - at if flipped else at)
        if flipped and not _QUANTILES[made.key]:
            raise unsupported(
                "PERCENTILE_DISC in descending order",
                ("write ORDER BY column without DESC, and replace the share by 1 minus the share"),
            )
        heading, between = heading or f"quantile({name}, {own:g})", _QUANTILES[made.key]
        return Measure("quantile", name, heading, at=own, between=between, of_ranges=self._has_ranges(name))

    def _has_ranges(self, name: str) -> bool:
        return self.reader.columns[name] == "category"  # else `_numbers` has refused it

    def _has_numbers(self, name: str) -> bool:
        return any(one.kind == "float" for one in self.reader.ranges(name).values())

    def _numbers(self, node: Any, of: str) -> str:
        """The column of a measure, which has numbers or ranges of numbers."""
        if node.key != "column":
            raise self.reader.refused(node, place=f" in {of}", supported=f"write {of}(column)")
        name = self.reader.column(node, f"a column of {of}")
        kind = self.reader.columns[name]
        if kind not in ("integer", "float") and not (kind == "category" and self._has_numbers(name)):
            raise DomainError(
                f"{of} needs a column of numbers, and {name!r} contains {WRITTEN[kind][0]}: ask how many people have "
                f"each of them, as in SELECT {node.sql()}, COUNT(*) GROUP BY {node.sql()}",
                column=name,
            )
        return name


# --- HAVING, ORDER BY, LIMIT ------------------------------------------------------------------------------------------


def arrangement(selection: Selection, args: Mapping[str, Any]) -> dict[str, Any]:
    """What a question says of the rows of its answer, by the names of `Question`."""
    n_shown = len(selection.measures)
    having = None if args.get("having") is None else _having(selection, args["having"].this)
    order = tuple(_order(selection, one) for one in args["order"].expressions) if args.get("order") else ()
    return {
        "having": having,
        "order": order,
        "limit": _whole(args.get("limit"), "LIMIT"),
        "offset": _whole(args.get("offset"), "OFFSET") or 0,
        "n_hidden": len(selection.measures) - n_shown,
    }


def _having(selection: Selection, node: Any) -> Having | Bound:
    node = _bare(node)
    if node.key in ("and", "or"):
        return Having(node.key, tuple(_having(selection, part) for part in _chain(node)))
    if node.key == "not":
        return Having("not", (_having(selection, node.this),))
    if node.key == "between":
        low, high = (_limit(node.args[end]) for end in ("low", "high"))
        place = _measured(selection, node.this)
        return Having("and", (Bound(place, ">=", low), Bound(place, "<=", high)))
    if node.key not in _SIGNS:
        raise unsupported(f"{node.key.upper()} in HAVING", _ROWS)
    left, right, how = _bare(node.this), _bare(node.expression), _SIGNS[node.key]
    if left.key in ("literal", "neg"):
        left, right, how = right, left, _FLIPPED[how]
    return Bound(_measured(selection, left), how, _limit(right))


def _chain(node: Any) -> list[Any]:
    """The parts of a chain of ANDs, or of ORs."""
    parts, left = [], [node]
    while left:
        part = _bare(left.pop())
        if part.key == node.key:
            left += [part.expression, part.this]
        else:
            parts.append(part)
    return parts


def _measured(selection: Selection, node: Any) -> int:
    found = selection.place_of(node)
    if found is None or found.of == "key":
        raise InputError(f"HAVING compares measures: put a condition on the column {node.name!r} into WHERE")
    return found.place


def _limit(node: Any) -> float:
    node = _bare(node)
    sign = -1 if node.key == "neg" else 1
    node = _bare(node.this) if sign < 0 else node
    value = _number(node) if node.key == "literal" else None
    if value is None:
        raise unsupported("a comparison in HAVING with anything but a number", _ROWS)
    return float(sign * value)


def _order(selection: Selection, node: Any) -> Order:
    subject = _bare(node.this)
    if subject.key == "literal":
        number = _number(subject)
        if number is None or number != int(number) or not 1 <= number <= len(selection.listed):
            raise InputError(
                f"ORDER BY {subject.name}: this is not the number of an entry of SELECT, which has "
                f"{counted(len(selection.listed), 'entry')}"
            )
        found: Order | None = selection.listed[int(number) - 1]
    elif subject.key == "var":
        raise unsupported("ORDER BY ALL", "name what to order by")
    else:
        found = selection.place_of(subject)
    if found is None:
        raise InputError(
            f"ORDER BY {subject.name}: order by something that is selected, or by a measure such as COUNT(*)"
        )
    return replace(found, descending=bool(node.args.get("desc")), missing_first=bool(node.args.get("nulls_first")))


def _whole(node: Any, clause: str) -> int | None:
    if node is None:
        return None
    if node.key == "fetch":
        raise unsupported("FETCH", "write LIMIT n")
    inner = _bare(node.expression)
    number = _number(inner) if inner.key == "literal" else None
    if number is None or number != int(number) or not 0 <= number <= _MOST_ROWS:
        raise InputError(f"{clause} takes a whole number of rows, as in {clause} 10")
    return int(number)


# --- constants --------------------------------------------------------------------------------------------------------


def _constant(node: Any) -> Any:
    """The value that a branch of a CASE gives; None for NULL."""
    node = _bare(node)
    sign = -1 if node.key == "neg" else 1
    node = _bare(node.this) if sign < 0 else node
    if node.key == "null" and sign > 0:
        return None
    if node.key == "boolean" and sign > 0:
        return bool(node.this)
    if node.key == "literal" and node.is_string and sign > 0:
        return str(node.name)
    number = _number(node) if node.key == "literal" else None
    if number is None:
        raise unsupported("a CASE that gives anything but a text, a number, TRUE, FALSE or NULL", QUESTION)
    return sign * (int(number) if number == int(number) else float(number))


def _kind(value: Any) -> type:
    return bool if isinstance(value, bool) else str if isinstance(value, str) else float


def _number(node: Any) -> Decimal | None:
    if node.is_string:
        return None
    try:
        number = Decimal(str(node.name))
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= 18 else None


def _bare(node: Any) -> Any:
    while node.key == "paren":
        node = node.this
    return node
