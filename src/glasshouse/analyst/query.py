# SPDX-License-Identifier: Apache-2.0
"""Query: a question in SQL about the population, answered from a release, with error bars."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.analyst.estimates import Estimate, ratio, totals
from glasshouse.analyst.evidence import Evidence
from glasshouse.analyst.inverting import inverted_totals
from glasshouse.analyst.questions import And, Question, Test, disjoint_terms
from glasshouse.analyst.reading import seats_of
from glasshouse.analyst.sql import question_of
from glasshouse.analyst.value_sets import ValueSet
from glasshouse.errors import InputError
from glasshouse.microdata.domains import text_of
from glasshouse.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from glasshouse.analyst.estimates import Totals
    from glasshouse.analyst.questions import Measure
    from glasshouse.microdata.taxonomy import Taxonomy
    from glasshouse.published import Published, Seats
    from glasshouse.release import Release

__all__ = ["Answer", "query"]

_MOST_ROWS = 10_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """What a release says to a question: a row for every combination of the grouping columns, or one row alone.

    Attributes
    ----------
    question
        What was asked.
    keys
        For every row the values of the grouping columns.
    estimates
        For every row an `Estimate` for each measure.
    """

    question: Question
    keys: tuple[tuple[Any, ...], ...]
    estimates: tuple[tuple[Estimate, ...], ...]

    def __float__(self) -> float:
        return self.only.value

    @property
    def only(self) -> Estimate:
        """The estimate, where a single one was asked for."""
        if len(self.estimates) != 1 or len(self.estimates[0]) != 1:
            raise InputError("the answer has several estimates: take them from to_table() or estimates")
        return self.estimates[0][0]

    def to_table(self) -> pa.Table:
        """The grouping columns; for every measure its estimate, standard error and 95 % interval."""
        columns: dict[str, Any] = {name: [key[i] for key in self.keys] for i, name in enumerate(self.question.headings)}
        for i, measure in enumerate(self.question.measures):
            found = [row[i] for row in self.estimates]
            columns[measure.name] = [estimate.value for estimate in found]
            columns[f"{measure.name} error"] = [estimate.error for estimate in found]
            columns[f"{measure.name} low"] = [estimate.low for estimate in found]
            columns[f"{measure.name} high"] = [estimate.high for estimate in found]
        return pa.table(columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        rows = [{k: _plain(v) for k, v in row.items()} for row in self.to_table().to_pylist()]
        return {"group_by": list(self.question.headings), "rows": rows}

    def __str__(self) -> str:
        heads = [visible(name) for name in (*self.question.headings, *(m.name for m in self.question.measures))]
        body = [
            [*("missing" if key is None else visible(text_of(key)) for key in keys), *map(str, row)]
            for keys, row in zip(self.keys, self.estimates, strict=True)
        ]
        widths = [max(map(len, column)) for column in zip(heads, *body, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (heads, *body)
        ]
        return "\n".join(line.rstrip() for line in lines)


def query(
    release: Release,
    sql: str,
    *,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    ordered: Mapping[str, Sequence[Any]] | None = None,
) -> Answer:
    """Ask a release a question, and get an estimate with an error bar.

    Parameters
    ----------
    release
        What was published, from `publish` or `load`.
    sql
        ``SELECT COUNT(*) [, SUM(x), AVG(x)] [, columns] WHERE ... [GROUP BY columns]`` over the release's columns.
    taxonomies, ordered
        The taxonomies whose nodes are published, and the order of categories published as intervals, by column.

    Returns
    -------
    Answer
        Estimates with standard errors and 95 % intervals, derived in `glasshouse.analyst.estimates`.

    Examples
    --------
    ANATOMY 1.2, query A: how many pneumonia patients are at most 30 and live in zip codes 10001 to 20000? One does.

    >>> import glasshouse as gh
    >>> patients = gh.examples.anatomy_table1()
    >>> release = gh.publish(patients, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Anatomy())
    >>> sql = "SELECT COUNT(*) WHERE Disease = 'pneumonia' AND Age <= 30 AND Zipcode BETWEEN 10001 AND 20000"
    >>> print(query(release, sql).only)
    1 ± 0
    """
    evidence = Evidence(release=release, taxonomies=taxonomies or {}, ordered=ordered or {})
    return answer_question(evidence, question_of(sql, evidence.kinds))


def answer_question(evidence: Evidence, question: Question) -> Answer:
    """Answer one question, or one for every combination of the grouping columns."""
    if not question.group_by:
        return Answer(question=question, keys=((),), estimates=(_estimates(evidence, question),))
    domains = [_domain(evidence, question, name) for name in question.group_by]
    n_rows = int(np.prod([len(domain) for domain in domains]))
    if n_rows > _MOST_ROWS:
        raise InputError(f"GROUP BY would give {n_rows:,} rows, where {_MOST_ROWS:,} are allowed")
    keys, rows = [], []
    for key in product(*domains):
        tests = [Test(name, ValueSet.of([value])) for name, value in zip(question.group_by, key, strict=True)]
        found = _estimates(evidence, replace(question, where=And((question.where, *tests))))
        if any(estimate.value or estimate.error for estimate in found):  # a combination that nobody can have
            keys.append(key)
            rows.append(found)
    return Answer(question=question, keys=tuple(keys), estimates=tuple(rows))


def _domain(evidence: Evidence, question: Question, name: str) -> list[Any]:
    """The values that a grouping column may have, by what is published."""
    attributes = _attributes(question)
    published, seats = seats_of(evidence, attributes)
    if name == published.column:
        return list(evidence.domain_of(published))
    found: dict[Any, None] = {}
    for support in evidence.supports(seats, name):
        values = support.listed()
        if values is None or len(values) > _MOST_ROWS:
            raise InputError(f"GROUP BY {name}: its cells hold too many values to list; ask with BETWEEN")
        found.update(dict.fromkeys(values))
    return sorted((v for v in found if v is not None), key=lambda v: (str(type(v)), v)) + [None] * (None in found)


def _attributes(question: Question) -> list[str]:
    """All columns that a question touches."""
    terms = disjoint_terms(question.where)
    named = [name for term in terms for name in term]
    named += [measure.column for measure in question.measures if measure.column is not None]
    return list(dict.fromkeys([*named, *question.group_by]))


def _estimates(evidence: Evidence, question: Question) -> tuple[Estimate, ...]:
    """One estimate for every measure."""
    attributes = _attributes(question)
    published, seats = seats_of(evidence, attributes)
    terms = disjoint_terms(question.where)
    asked = list(dict.fromkeys([None, *(measure.column for measure in question.measures)]))  # a count comes first
    found = _totals(evidence, published, seats, terms, asked)
    return tuple(_estimate(evidence, published, measure, found, asked) for measure in question.measures)


def _estimate(
    evidence: Evidence, published: Published, measure: Measure, found: Totals, asked: list[str | None]
) -> Estimate:
    place = asked.index(measure.column)
    if measure.kind == "avg":
        return Estimate.normal(*ratio(found, place, 0))
    most = float(evidence.release.n_tuples) if measure.kind == "count" and published.kind != "sample" else np.inf
    least = 0.0 if measure.kind == "count" else -np.inf
    return Estimate.normal(found.means[place], found.covariances[place, place], least=least, most=most)


def _totals(
    evidence: Evidence,
    published: Published,
    seats: Seats,
    terms: list[dict[str, ValueSet]],
    asked: list[str | None],
) -> Totals:
    """Counts (None) and sums (a column) over the tuples that one of the disjoint terms covers."""
    values = evidence.domain_of(published)
    weights = [
        np.array([0.0 if v is None else float(v) for v in values]) if name == published.column else None
        for name in asked
    ]
    treated = np.array([[published.column not in t or v in t[published.column] for t in terms] for v in values])
    treated = treated.reshape(len(values), len(terms))
    keyed = [tuple(row) + tuple(w[i] for w in weights if w is not None) for i, row in enumerate(treated.tolist())]
    distinct = list(dict.fromkeys(key for i, key in enumerate(keyed) if treated[i].any()))
    class_of = np.array([distinct.index(key) if treated[i].any() else -1 for i, key in enumerate(keyed)])

    n_totals, n_seats = len(asked), len(seats)
    amounts = np.zeros((n_totals, len(distinct), n_seats))
    products = np.zeros((n_totals, n_totals, len(distinct), n_seats))
    for t, term in enumerate(terms):
        first, second = _amounts(evidence, published, seats, term, asked)
        for a in range(len(distinct)):
            member = int(np.flatnonzero(class_of == a)[0])
            if treated[member, t]:
                scale = np.array([1.0 if w is None else w[member] for w in weights])
                amounts[:, a] += scale[:, np.newaxis] * first
                products[:, :, a] += np.multiply.outer(scale, scale)[:, :, np.newaxis] * second
    if published.kind == "sample":
        return inverted_totals(evidence.release, published, seats, values, class_of, amounts, products)
    classes = np.zeros((published.n_groups, len(distinct)))
    of_group = np.repeat(np.arange(published.n_groups), np.diff(published.offsets))
    inside = class_of[published.codes] >= 0
    np.add.at(classes, (of_group[inside], class_of[published.codes][inside]), published.counts[inside])
    return totals(seats.group, seats.count, published.sizes, classes, amounts, products)


def _amounts(
    evidence: Evidence, published: Published, seats: Seats, term: dict[str, ValueSet], asked: list[str | None]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean amounts of one term, and of their products, by seat; sums over the sensitive column are weighted later."""
    everything = ValueSet.everything()
    quasi = [name for name in seats.quasi if name in term or name in asked]
    shares = {name: evidence.shares(seats, name, term.get(name, everything)) for name in quasi}
    means, squares = {}, {}
    for name in quasi:
        if name in asked:
            means[name], squares[name] = evidence.moments(seats, name, term.get(name, everything))

    def mixed(*names: str | None) -> NDArray[np.float64]:
        """The mean of the product of these columns (None: 1) where the term holds."""
        found = np.ones(len(seats))
        for name in quasi:
            power = names.count(name)
            found = found * (shares[name] if power == 0 else means[name] if power == 1 else squares[name])
        return found

    first = np.stack([mixed(name) for name in asked])
    second = np.stack([np.stack([mixed(one, other) for other in asked]) for one in asked])
    return first, second


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | str | bool) else text_of(value)
