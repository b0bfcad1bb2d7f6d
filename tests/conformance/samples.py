"""One line for everything in the catalogue: objects to try, each with the slow twin that knows what it should do.

Whoever adds a principle, a method or a recoding to the catalogue adds its samples here and gets every law for them; a
test fails until that is done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import glasshouse as gh
from tests.conformance.people import SENSITIVE_ORDER, SENSITIVE_TREE, People, leaves
from tests.naive import principles as naive
from tests.naive import recoding as naive_recoding
from tests.naive import verification as twin

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
    gh.Tailor(),
    gh.Ace(),
    gh.Hybrid(),
    gh.Anatomize(),
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
    gh.EvenSplit(extra=1),
    gh.Greedy(ordering="lexicographic", priority=("age",), last="drop", safe=True),
    gh.RandomisedGreedy(p=0, ordering="hilbert", priority=("age",), last="drop"),
    gh.Symmetric(extra=1, ordering="hilbert", priority=("age",)),
    gh.Refined(coarse=gh.Tailor(), inner="ace"),
]

_SIX = {"age": list(range(6)), "sensitive": [f"s{i}" for i in range(6)]}


@cache
def goes_together(method: Any, principle: Any) -> bool:
    """Whether a method serves a principle at all: seen on six people whom every principle here allows to publish."""
    declared = next((sample.declared for sample in PRINCIPLES if sample.principle == principle), "")
    options: dict[str, Any] = {
        "ordered": {"sensitive": SENSITIVE_ORDER} if declared == "order" else {},
        "taxonomies": {"sensitive": gh.Taxonomy.from_nested(SENSITIVE_TREE)} if declared == "tree" else {},
    }
    try:
        gh.publish(gh.read(_SIX, quasi=["age"], sensitive="sensitive", **options), principle=principle, method=method)
    except gh.NotSupported:
        return False
    return True


def samples_for(method: Any, among: Sequence[PrincipleSample] = PRINCIPLES) -> list[PrincipleSample]:
    """The principles that a method serves."""
    return [sample for sample in among if goes_together(method, sample.principle)]


def methods_for(principle: Any) -> list[Any]:
    """The methods that serve a principle."""
    return [method for method in METHODS if goes_together(method, principle)]


# --- recodings -------------------------------------------------------------------------------------------------------

Partition = Sequence[Sequence[int]]
Expected = dict[str, Counter[tuple[Any, ...]]]


@dataclass(frozen=True)
class RecodingSample:
    """A recoding, and its twin: table and groups (as row numbers) -> by name, the rows of every published table."""

    recoding: Any
    twin: Callable[[People, Partition], Expected]
    tree: bool = False

    def __repr__(self) -> str:
        return repr(self.recoding)


def _generalized(table: People, partition: Partition, *, by_tree: bool) -> Expected:
    rows: Counter[tuple[Any, ...]] = Counter()
    for group in partition:
        cells = [cell(table, name, group, by_tree=by_tree) for name in table.quasi]
        for row in group:
            rows[(*cells, *(table.columns[name][row] for name in table.sensitive))] += 1
    return {"data": rows}


def cell(table: People, name: str, group: Sequence[int], *, by_tree: bool) -> str:
    """What one group publishes for one quasi-identifier."""
    values = [table.columns[name][row] for row in group]
    present = [value for value in table.natural_order(name) if value in values]
    if None in values:
        present.append(None)
    if by_tree and name in table.trees:
        return naive_recoding.taxonomy_cell(present, table.paths(name))
    return naive_recoding.box_cell(present, "ordered" if table.is_ordered(name) else "unordered")


RECODINGS = [
    RecodingSample(gh.Boxes(), lambda table, partition: _generalized(table, partition, by_tree=False)),
    RecodingSample(gh.Taxonomies(), lambda table, partition: _generalized(table, partition, by_tree=True), tree=True),
]
