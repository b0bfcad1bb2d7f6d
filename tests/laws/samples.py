"""One line for everything in the catalogue: objects to try, each with the slow twin that knows what it should do.

Add here the samples of a principle, a method or a recoding that is new in the catalogue: every law is then tried with
them, and a test fails until that is done. What does not go together is declared here too, under `goes_together`, and
nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
import pyarrow as pa

import glasshouse as gh
from glasshouse.principles.principle import Requirement
from tests.laws.people import SENSITIVE, SENSITIVE_ORDER, SENSITIVE_TREE, People, leaves
from tests.twins import principles as naive
from tests.twins import recoding as naive_recoding
from tests.twins import verification as twin

Values = Sequence[str | None]
Rows = Sequence[dict[str, Any]]

# --- principles ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PrincipleSample:
    """A principle and what must be true of it, by definition.

    Parameters
    ----------
    judge
        Group, whole table -> whether the group obeys; both are lists of sensitive values.
    kept
        Published rows, quasi-identifiers, sensitive column -> whether the release keeps the promise, by the other twin.
    witness
        Sensitive values of the whole table, error -> whether its value, count and total prove that nothing can be done.
    declared
        What the sensitive column must come with: ``order``, ``tree`` or nothing.
    occurring
        Values that the sensitive column must have.
    """

    principle: Any
    judge: Callable[[Values, Values], bool]
    kept: Callable[[Rows, Sequence[str], str], bool]
    witness: Callable[[Values, gh.Infeasible], bool]
    declared: str = ""
    occurring: tuple[str, ...] = ("s0",)

    def __repr__(self) -> str:
        return repr(self.principle)


def histogram(group: Values, table: Values) -> list[int]:
    """How often each value of the table occurs in the group."""
    return [list(group).count(value) for value in sorted(set(table), key=lambda value: (value is None, value))]


def frequencies(values: Values) -> list[int]:
    """Counts of the values that occur, largest first."""
    return sorted(Counter(values).values(), reverse=True)


def _by_histogram(judge: Callable[[list[int]], bool]) -> Callable[[Values, Values], bool]:
    return lambda group, table: judge(histogram(group, table))


def _is_most_frequent(values: Values, error: gh.Infeasible) -> bool:
    counted = list(values).count(error.value)  # type: ignore[arg-type]
    return error.count == counted == max(frequencies(values)) and error.of == len(values)


def _too_frequent(share: Fraction) -> Callable[[Values, gh.Infeasible], bool]:
    return lambda values, error: _is_most_frequent(values, error) and error.count > share * error.of


def _too_few_tuples(k: int) -> Callable[[Values, gh.Infeasible], bool]:
    return lambda values, error: error.count == error.of == len(values) < k


def _k_anonymity(k: int) -> PrincipleSample:
    return PrincipleSample(
        gh.KAnonymity(k=k),
        _by_histogram(lambda h: naive.k_anonymity(h, k)),
        lambda rows, quasi, column: twin.k(rows, quasi) >= k,
        _too_few_tuples(k),
    )


def _l_diversity(ell: int) -> PrincipleSample:
    return PrincipleSample(
        gh.LDiversity(ell=ell),
        _by_histogram(lambda h: naive.l_diversity(h, ell)),
        lambda rows, quasi, column: twin.ell(rows, quasi, column) >= ell,
        _too_frequent(Fraction(1, ell)),
    )


def _distinct(ell: int) -> PrincipleSample:
    def witness(values: Values, error: gh.Infeasible) -> bool:
        return error.count == len(set(values)) < ell and error.of == len(values)

    return PrincipleSample(
        gh.DistinctLDiversity(ell=ell),
        _by_histogram(lambda h: naive.distinct_l_diversity(h, ell)),
        lambda rows, quasi, column: twin.distinct_ell(rows, quasi, column) >= ell,
        witness,
    )


def _entropy(ell: Fraction) -> PrincipleSample:
    return PrincipleSample(
        gh.EntropyLDiversity(ell=ell),
        _by_histogram(lambda h: naive.entropy_l_diversity(h, ell)),
        lambda rows, quasi, column: all(
            twin.entropy_at_least(list(twin.histogram(group, column).values()), ell)
            for group in twin.groups(rows, quasi).values()
        ),
        _is_most_frequent,
    )


def _recursive(c: Fraction, ell: int) -> PrincipleSample:
    def kept(rows: Rows, quasi: Sequence[str], column: str) -> bool:
        smallest = twin.recursive_c(rows, quasi, column, ell)
        return smallest is not None and smallest <= c

    def witness(values: Values, error: gh.Infeasible) -> bool:
        counts = frequencies(values)
        if len(counts) < ell:
            return error.count == len(counts) and error.of == len(values)
        return _is_most_frequent(values, error) and error.count > c * sum(counts[ell - 1 :])

    return PrincipleSample(
        gh.RecursiveLDiversity(c=c, ell=ell),
        _by_histogram(lambda h: naive.recursive_l_diversity(h, c, ell)),
        kept,
        witness,
    )


def _designated(ell: int, *designated: str) -> PrincipleSample:
    def judge(group: Values, table: Values) -> bool:
        order = sorted(set(table), key=lambda value: (value is None, value))
        codes = [order.index(value) for value in designated]
        return naive.designated_l_diversity(histogram(group, table), ell, codes)

    def witness(values: Values, error: gh.Infeasible) -> bool:
        counted = list(values).count(error.value)  # type: ignore[arg-type]
        return error.value in designated and error.count == counted and ell * counted > error.of == len(values)

    return PrincipleSample(
        gh.DesignatedLDiversity(ell=ell, values=designated),
        judge,
        lambda rows, quasi, column: twin.designated_alpha(rows, quasi, column, designated) <= Fraction(1, ell),
        witness,
        occurring=designated,
    )


def _alpha_k(alpha: Fraction, k: int) -> PrincipleSample:
    def witness(values: Values, error: gh.Infeasible) -> bool:
        return (_too_few_tuples(k) if len(values) < k else _too_frequent(alpha))(values, error)

    return PrincipleSample(
        gh.AlphaKAnonymity(alpha=alpha, k=k),
        _by_histogram(lambda h: naive.alpha_k_anonymity(h, alpha, k)),
        lambda rows, quasi, column: twin.k(rows, quasi) >= k and twin.alpha(rows, quasi, column) <= alpha,
        witness,
    )


def _t_closeness(t: Fraction, distance: str) -> PrincipleSample:
    def judge(group: Values, table: Values) -> bool:
        if distance == "equal":
            order: list[str | None] = sorted(set(table), key=lambda value: (value is None, value))
            ground = naive.equal_distance
        elif distance == "ordered":
            order = [value for value in SENSITIVE_ORDER if value in table]
            ground = naive.ordered_distance(len(order))
        else:
            order = [*leaves(SENSITIVE_TREE), *([None] if None in table else [])]
            tree = _numbered(SENSITIVE_TREE["any"], order)
            ground = naive.hierarchical_distance([*tree, order.index(None)] if None in table else tree)
        group_counts, table_counts = ([list(v).count(value) for value in order] for v in (group, table))
        return naive.t_closeness(group_counts, table_counts, t, ground)

    def kept(rows: Rows, quasi: Sequence[str], column: str) -> bool:
        if distance == "equal":
            ground = twin.equal_distance
        elif distance == "ordered":
            present = {row[column] for row in rows}
            ground = twin.ordered_distance([value for value in SENSITIVE_ORDER if value in present])
        else:
            ground = twin.hierarchical_distance(_climbs(SENSITIVE_TREE, 3), 3)
        return twin.t(rows, quasi, column, ground) <= t

    return PrincipleSample(
        gh.TCloseness(t=t, distance=distance),  # type: ignore[arg-type]
        judge,
        kept,
        lambda values, error: False,  # a table is at distance 0 from itself: it is always feasible
        {"equal": "", "ordered": "order", "hierarchical": "tree"}[distance],
    )


def _numbered(tree: Any, order: Sequence[Any]) -> Any:
    """The tree as nested lists of places in ``order``."""
    if isinstance(tree, dict):
        return [_numbered(below, order) for below in tree.values()]
    return [order.index(leaf) for leaf in tree]


def _climbs(tree: Any, height: int, above: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """By value, what stands for it at every height: itself at 0, then each ancestor from its own height on."""
    found: dict[str, list[str]] = {}
    for label, below in tree.items() if isinstance(tree, dict) else [(None, tree)]:
        path = above if label is None else (*above, label)
        if isinstance(below, dict):
            found |= _climbs(below, height, path)
        else:
            for leaf in below:
                heights = {name: _height(SENSITIVE_TREE, name) for name in path}
                found[leaf] = [
                    leaf
                    if h == 0
                    else max((n for n in path if heights[n] <= h), key=lambda n: heights[n], default=leaf)
                    for h in range(height + 1)
                ]
    return found


def _height(tree: Any, label: str) -> int | None:
    """Longest way down from the node with this label."""

    def longest(below: Any) -> int:
        return 1 + max(longest(part) for part in below.values()) if isinstance(below, dict) else 1

    for name, below in tree.items():
        if name == label:
            return longest(below)
        if isinstance(below, dict) and (found := _height(below, label)) is not None:
            return found
    return None


def _all_of(*samples: PrincipleSample) -> PrincipleSample:
    def witness(values: Values, error: gh.Infeasible) -> bool:
        broken = [sample for sample in samples if not sample.judge(values, values)]
        return broken[0].witness(values, error)

    return PrincipleSample(
        gh.AllOf(principles=tuple(sample.principle for sample in samples)),
        lambda group, table: all(sample.judge(group, table) for sample in samples),
        lambda rows, quasi, column: all(sample.kept(rows, quasi, column) for sample in samples),
        witness,
        "".join({sample.declared for sample in samples}),
    )


PRINCIPLES = [
    _k_anonymity(2),
    _k_anonymity(5),
    _l_diversity(2),
    _l_diversity(3),
    _distinct(2),
    _distinct(3),
    _entropy(Fraction(3, 2)),
    _entropy(Fraction(2)),
    _recursive(Fraction(2), 2),
    _recursive(Fraction(3, 2), 3),
    _designated(2, "s0"),
    _designated(3, "s0", "s1"),
    _alpha_k(Fraction(1, 2), 3),
    _alpha_k(Fraction(3, 5), 1),
    _t_closeness(Fraction(3, 10), "equal"),
    _t_closeness(Fraction(1, 5), "ordered"),
    _t_closeness(Fraction(2, 5), "hierarchical"),
    _all_of(_k_anonymity(3), _l_diversity(2)),
    _all_of(_t_closeness(Fraction(1, 3), "ordered"), _distinct(2)),
]
# those that ask nothing of the table but a sensitive column
PLAIN_PRINCIPLES = [sample for sample in PRINCIPLES if not sample.declared and sample.occurring == ("s0",)]

# --- methods ---------------------------------------------------------------------------------------------------------

METHODS = [
    gh.Mondrian(partitioning="strict"),
    gh.Mondrian(partitioning="relaxed"),
    gh.Snug(),
    gh.Tailor(),
    gh.Ace(),
    gh.Hybrid(),
    gh.Anatomize(),
    gh.Mirror(),
    gh.Sift(),
    gh.EvenSplit(extra=0),
    gh.Greedy(ordering="hilbert"),
    gh.RandomisedGreedy(p="1/3"),
    gh.Symmetric(extra=0),
    gh.Separate(),
    gh.Refined(coarse=gh.Symmetric(extra=0), inner="anatomize"),
    gh.OptGen(),
]

# beside them, so that every parameter is tried: some ask for more than the principle does, or drop tuples
METHOD_VARIANTS = [
    *METHODS,
    gh.Tailor(penalty="discernibility"),
    gh.Ace(penalty="discernibility"),
    gh.Hybrid(penalty="discernibility"),
    gh.Anatomize(varied=True),
    gh.Sift(priority=("age",), weights={"age": "1.5"}),
    gh.Mirror(floor=5, inner="anatomize", priority=("age",), slack=1, start=1),
    gh.Mirror(inner="none", mirrors=1, leave_out="0.2"),
    gh.Mirror(inner="ace", slack="1.1", start="1.2", weights={"age": "1.5"}),
    gh.EvenSplit(extra=1),
    gh.Greedy(ordering="lexicographic", priority=("age",), last="drop", safe=True),
    gh.RandomisedGreedy(p=0, ordering="hilbert", priority=("age",), last="drop"),
    gh.Symmetric(extra=1, ordering="hilbert", priority=("age",)),
    gh.Refined(coarse=gh.Tailor(), inner="ace"),
]

# --- recodings -------------------------------------------------------------------------------------------------------

Partition = Sequence[Sequence[int]]  # groups as row numbers; the first has the number 1
Expected = dict[str, Counter[tuple[Any, ...]]]
Tables = Mapping[str, pa.Table]


def rows_of(table: pa.Table) -> Counter[tuple[Any, ...]]:
    """The rows of a published table, in no order."""
    return Counter(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))


def _as_published(tables: Tables) -> Expected:
    return {name: rows_of(table) for name, table in tables.items()}


@dataclass(frozen=True)
class RecodingSample:
    """A recoding, its twin, and how a reader of the release reads it.

    Parameters
    ----------
    recoding
        Marginals are of ``q0`` and ``sensitive``: `on` puts the names of a table for them.
    twin
        Table and groups -> by name, the rows of every published table.
    linked
        Published tables, table, sensitive column -> every multiset of values to which somebody can be linked: an
        attacker who has the quasi-identifiers of a person knows that one of these has the person's value.
    read
        Published tables -> what they say, in the twin's words. Of random rows, only what can be known beforehand.
    tree
        Whether a quasi-identifier must have a tree.
    k
        How many people show the same cells in every table, if they show cells at all.
    """

    recoding: Any
    twin: Callable[[People, Partition], Expected]
    linked: Callable[[Tables, People, str], list[list[Any]]]
    read: Callable[[Tables], Expected] = _as_published
    tree: bool = False
    k: int = 1

    def __repr__(self) -> str:
        return repr(self.recoding)

    def on(self, table: People) -> Any:
        """The recoding, for this table."""
        return _named(self.recoding, table)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns in which groups are numbered."""
        return tuple(name for name in self.recoding.added() if name.endswith("-ID"))


def _named(recoding: Any, table: People) -> Any:
    if not getattr(recoding, "marginals", ()):
        return recoding
    names = {"q0": table.quasi[0], "sensitive": table.sensitive[0]}
    return replace(recoding, marginals=tuple(tuple(names[n] for n in listed) for listed in recoding.marginals))


def cell(table: People, name: str, group: Sequence[int], *, by_tree: bool) -> str:
    """What one group publishes for one quasi-identifier."""
    values = [table.columns[name][row] for row in group]
    present = [value for value in table.natural_order(name) if value in values]
    if None in values:
        present.append(None)
    if by_tree and name in table.trees:
        return naive_recoding.taxonomy_cell(present, table.paths(name))
    return naive_recoding.box_cell(present, "ordered" if table.is_ordered(name) else "unordered")


def _generalized(table: People, partition: Partition, *, by_tree: bool) -> Expected:
    rows: Counter[tuple[Any, ...]] = Counter()
    for group in partition:
        cells = [cell(table, name, group, by_tree=by_tree) for name in table.quasi]
        for row in group:
            rows[(*cells, *(table.columns[name][row] for name in table.sensitive))] += 1
    return {"data": rows}


def _linked_by_cells(tables: Tables, table: People, column: str) -> list[list[Any]]:
    return list(_by_key(tables["data"], table.quasi, column).values())


def _by_key(published: pa.Table, key: Sequence[str], column: str) -> dict[tuple[Any, ...], list[Any]]:
    found: dict[tuple[Any, ...], list[Any]] = {}
    for row in published.to_pylist():
        found.setdefault(tuple(row[name] for name in key), []).append(row[column])
    return found


# ANATOMY Definition 3, MINIMALITY 2.1


def _people_side(table: People, partition: Partition) -> Counter[tuple[Any, ...]]:
    """Everybody's exact quasi-identifiers, and the number of their group."""
    return Counter(
        (*(_exact(table.columns[name][row]) for name in table.quasi), j)
        for j, group in enumerate(partition, 1)
        for row in group
    )


def _exact(value: Any) -> Any:
    return 0.0 if isinstance(value, float) and value == 0.0 else value  # -0.0 is not another number


def _counted(table: People, partition: Partition, name: str) -> Counter[tuple[Any, ...]]:
    """For every group and every value in it, how often it occurs there."""
    return Counter(
        (j, value, count)
        for j, group in enumerate(partition, 1)
        for value, count in Counter(_exact(table.columns[name][row]) for row in group).items()
    )


def _one_each(table: People, name: str) -> dict[str, str]:
    """One table for every sensitive column: numbered, if there are several."""
    if len(table.sensitive) == 1:
        return {name: table.sensitive[0]}
    return {f"{name}_{i}": column for i, column in enumerate(table.sensitive, 1)}


def _anatomized(table: People, partition: Partition) -> Expected:
    counted = {name: _counted(table, partition, column) for name, column in _one_each(table, "st").items()}
    return {"qit": _people_side(table, partition), **counted}


def batches_of(tables: Tables, column: str) -> dict[int, list[Any]]:
    """By group, every sensitive value as often as it is counted."""
    (counts,) = [table for table in tables.values() if {"Count", column} <= set(table.column_names)]
    found: dict[int, list[Any]] = {}
    for number, value, count in zip(*(counts[name].to_pylist() for name in counts.column_names), strict=True):
        found.setdefault(number, []).extend([value] * count)
    return found


def _linked_by_counts(tables: Tables, table: People, column: str) -> list[list[Any]]:
    found = batches_of(tables, column)
    assert {number: len(values) for number, values in found.items()} == Counter(tables["qit"]["Group-ID"].to_pylist())
    return list(found.values())


def _permuted(table: People, partition: Partition) -> Expected:
    values = {
        name: Counter((j, _exact(table.columns[name][row])) for j, group in enumerate(partition, 1) for row in group)
        for name in table.sensitive
    }
    return {"people": _people_side(table, partition), **values}


def _sides(tables: Tables) -> Expected:
    """What a permutation tells: who is in a group, and which values are. What stands beside what is a coin's choice."""
    (data,) = tables.values()
    quasi = data.column_names[: data.column_names.index("Group-ID")]
    others = data.column_names[len(quasi) + 1 :]
    values = {name: rows_of(data.select(["Group-ID", name])) for name in others}
    return {"people": rows_of(data.select([*quasi, "Group-ID"])), **values}


def _linked_by_number(tables: Tables, table: People, column: str) -> list[list[Any]]:
    return list(_by_key(tables["data"], ["Group-ID"], column).values())


# ANGEL Definition 8 and Section 4.1


def _angelized(sample: Any) -> Callable[[People, Partition], Expected]:
    by_tree = sample.cells == "taxonomies"

    def twin(table: People, partition: Partition) -> Expected:
        number = {row: i for i, batch in enumerate(partition, 1) for row in batch}
        expected = {name: _counted(table, partition, column) for name, column in _one_each(table, "bt").items()}
        lists = _named(sample, table).marginals or ((*table.quasi, *table.sensitive),)
        for i, names in enumerate(lists, 1):
            quasi = [name for name in table.quasi if name in names]
            batched = any(name in names for name in table.sensitive)
            gt: Counter[tuple[Any, ...]] = Counter()
            for bucket in _buckets(table, sorted(number), quasi, sample.k):
                cells = [cell(table, name, bucket, by_tree=by_tree) for name in quasi]
                for row in bucket:
                    gt[(*cells, number[row]) if batched else tuple(cells)] += 1
            expected["gt" if i == 1 else f"gt_{i}"] = gt
        return expected

    return twin


def _buckets(table: People, kept: Sequence[int], quasi: Sequence[str], k: int) -> list[list[int]]:
    """The leaves of Mondrian on a table that has these quasi-identifiers and nothing else; equal people for k = 1."""
    if k == 1:
        equal: dict[tuple[Any, ...], list[int]] = {}
        for row in kept:
            equal.setdefault(tuple(table.columns[name][row] for name in quasi), []).append(row)
        return list(equal.values())
    view = replace(
        table,
        columns={name: table.columns[name] for name in quasi},
        quasi=tuple(quasi),
        sensitive=(),
        identifier=None,
        orders={name: order for name, order in table.orders.items() if name in quasi},
        trees={name: tree for name, tree in table.trees.items() if name in quasi},
        categorical=(),
    )
    microdata = view.read().take(np.array(kept))
    groups = gh.Mondrian().divide(microdata, Requirement.of(gh.KAnonymity(k=k), microdata))
    return [[kept[i] for i in np.flatnonzero(groups.labels == g).tolist()] for g in range(groups.n_groups)]


def _linked_by_batches(tables: Tables, table: People, column: str) -> list[list[Any]]:
    """The values of every batch, and Equation 2: what is synthesized for every bucket of every generalized table."""
    batches = batches_of(tables, column)
    sizes = Counter({number: len(values) for number, values in batches.items()})
    found = list(batches.values())
    for published in tables.values():
        if "Count" in published.column_names or "Batch-ID" not in published.column_names:
            continue
        assert sizes == Counter(published["Batch-ID"].to_pylist())
        quasi = [name for name in table.quasi if name in published.column_names]
        found += [list(_synthesized(ids, batches)) for ids in _by_key(published, quasi, "Batch-ID").values()]
    return found


def _synthesized(ids: Sequence[int], batches: Mapping[int, Sequence[Any]]) -> Iterator[Any]:
    """Equation 2 as a multiset of values with just these shares, at least as many as the bucket has tuples."""
    unit = lcm(*(len(batches[i]) for i in ids))
    counts: Counter[Any] = Counter()
    for i in ids:
        for value in batches[i]:
            counts[value] += unit // len(batches[i])
    shared = gcd(*counts.values())
    total = sum(counts.values()) // shared
    for value, count in counts.items():
        yield from [value] * (count // shared * -(-len(ids) // total))


def _angel(**parameters: Any) -> RecodingSample:
    sample = gh.Angel(**parameters)
    by_tree = sample.cells == "taxonomies"
    return RecodingSample(sample, _angelized(sample), _linked_by_batches, tree=by_tree, k=parameters["k"])


RECODINGS = [
    RecodingSample(gh.Boxes(), lambda table, groups: _generalized(table, groups, by_tree=False), _linked_by_cells),
    RecodingSample(
        gh.Taxonomies(), lambda table, groups: _generalized(table, groups, by_tree=True), _linked_by_cells, tree=True
    ),
    RecodingSample(gh.Anatomy(), _anatomized, _linked_by_counts),
    RecodingSample(gh.Permutation(), _permuted, _linked_by_number, _sides),
    _angel(k=2),
    _angel(k=1, marginals=(("q0",), ("sensitive", "q0"))),
    _angel(k=3, marginals=(("q0", "sensitive"), ("q0",)), cells="taxonomies"),
]
BOXES = RECODINGS[0]

# CORRUPTION IV: its promises are about beliefs, so that it goes with none of the principles above, and these with it


def _sampled(table: People, partition: Partition) -> Expected:
    cells = [tuple(cell(table, name, group, by_tree=False) for name in table.quasi) for group in partition]
    return {"data": Counter((*shown, len(group)) for shown, group in zip(cells, partition, strict=True))}


def _without_values(tables: Tables) -> Expected:
    """What a perturbed sample tells for certain: boxes, and how many people each has. Values are a coin's choice."""
    (data,) = tables.values()
    *quasi, _, size = data.column_names
    return {"data": rows_of(data.select([*quasi, size]))}


PERTURBED = [
    RecodingSample(gh.Perturbed(p="1/20", domain=(*SENSITIVE, None)), _sampled, lambda *_: [], _without_values),
    RecodingSample(gh.Perturbed(), _sampled, lambda *_: [], _without_values),
]
TARGETS = [
    gh.RhoBreach(rho1="0.2", rho2="0.6", lambda_="0.3", k=2),
    gh.RhoBreach(rho1="0.1", rho2="0.5", lambda_="0.5", k=3),
    gh.DeltaGrowth(delta="0.4", lambda_="0.3", k=2),
    gh.DeltaGrowth(delta="0.5", lambda_="0.5", k=4),
]
EVERY_RECODING = [*RECODINGS, *PERTURBED]

# --- what goes together ----------------------------------------------------------------------------------------------
# Everything that is not refused by these few lines must be published, and what is must be refused by `NotSupported`.


def _frequency(principle: Any) -> bool:
    """Frequency l-diversity: what TRANSPARENT and ANATOMY are about."""
    return isinstance(principle, gh.LDiversity)


def _one_cap_or_distance(principle: Any) -> bool:
    """MINIMALITY's: simple and binary l-diversity, and t-closeness."""
    return isinstance(principle, gh.LDiversity | gh.DesignatedLDiversity | gh.TCloseness)


# by method, the principles that it serves; those that are not listed serve any
SERVED: dict[str, Callable[[Any], bool]] = {
    "tailor": _frequency,
    "ace": _frequency,
    "hybrid": _frequency,
    "anatomize": _frequency,
    "sift": _frequency,
    "refined": _frequency,
    "opt-gen": _frequency,
    "greedy": _one_cap_or_distance,
    "randomised-greedy": _one_cap_or_distance,
}
ONE_COLUMN = set(SERVED)  # methods that divide by a single sensitive column
SMALL_TABLES = {"opt-gen"}  # methods that refuse a table for its size


def _asked_k(principle: Any) -> int:
    """The largest k of k-anonymity that a principle asks for; 0 if it asks for none."""
    if isinstance(principle, gh.AllOf):
        return max(map(_asked_k, principle.principles))
    return principle.k if isinstance(principle, gh.KAnonymity | gh.AlphaKAnonymity) else 0


# by recoding, whether it can keep a principle; those that are not listed keep any
KEPT: dict[str, Callable[[Any, Any], bool]] = {
    "anatomy": lambda recoding, principle: not _asked_k(principle),  # exact quasi-identifiers
    "permutation": lambda recoding, principle: not _asked_k(principle),
    "angel": lambda recoding, principle: _asked_k(principle) <= recoding.k,
    "perturbed": lambda recoding, principle: False,  # its groups look at quasi-identifiers alone
}
NEEDS_SENSITIVE = set(KEPT)  # recodings of two sides


def needs_tree(recoding: Any) -> bool:
    """Whether a recoding shows nodes of taxonomies, and so nothing of a table without any."""
    return recoding.name == "taxonomies" or getattr(recoding, "cells", "boxes") == "taxonomies"


def served(method: Any, principle: Any) -> bool:
    """Whether a method divides under a principle."""
    return method.name not in SERVED or SERVED[method.name](principle)


def kept(recoding: Any, principle: Any) -> bool:
    """Whether a recoding keeps what a principle asks for."""
    return recoding.name not in KEPT or KEPT[recoding.name](recoding, principle)


def goes_together(method: Any, principle: Any, recoding: Any = None) -> bool:
    """Whether a table with one sensitive column is published so; with any recoding that keeps it, if none is given."""
    return served(method, principle) and (recoding is None or kept(recoding, principle))


def meets(method: Any, recoding: Any) -> bool:
    """Whether a promise about beliefs, one of `TARGETS`, is published so: perturbed, in strict boxes."""
    return recoding.name == "perturbed" and method == gh.Mondrian()


def samples_for(method: Any, among: Sequence[PrincipleSample] = PRINCIPLES) -> list[PrincipleSample]:
    """The principles that a method serves."""
    return [sample for sample in among if served(method, sample.principle)]


def methods_for(principle: Any) -> list[Any]:
    """The methods that serve a principle."""
    return [method for method in METHODS if served(method, principle)]


def recodings_for(principle: Any) -> list[RecodingSample]:
    """The recodings that keep a principle."""
    return [sample for sample in RECODINGS if kept(sample.recoding, principle)]


PAIRS = [(method, sample) for method in METHODS for sample in samples_for(method)]
