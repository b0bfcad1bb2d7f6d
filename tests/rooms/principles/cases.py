"""What the tests of principles are made of: histograms, domains, trees, and each principle with its slow twin."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import glasshouse as p
from glasshouse.microdata import Counts, Domain, Taxonomy
from glasshouse.principles.principle import Principle
from tests.twins import principles as naive


def slow(max_examples: int = 60) -> settings:
    """Settings for a test that asks a slow twin: on a busy machine it may take its time."""
    return settings(max_examples=max_examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def counts_of(histograms: list[list[int]]) -> Counts:
    """Counts of groups far larger than could be listed tuple by tuple."""
    table = np.array(histograms, np.int64).reshape(len(histograms), -1)
    counts = Counts(np.empty(0, np.int32), np.concatenate([[0], np.cumsum(table.sum(axis=1))]), table.shape[1])
    groups, values = np.nonzero(table)
    starts = np.concatenate([[0], np.cumsum((table > 0).sum(axis=1))]).astype(np.int64)
    counts.__dict__["histogram"] = (starts, values.astype(np.int32), table[groups, values])
    counts.__dict__["largest"] = table.max(axis=1)
    return counts


def domain_of(n_values: int, *, tree: Any = None, ordered: bool = False, missing: bool = False) -> Domain:
    """A column "disease" with values v0, v1, ...; the last code is missing where asked for."""
    values = pa.array([f"v{i}" for i in range(n_values - missing)])
    taxonomy = None if tree is None else Taxonomy.from_nested({"root": _nested(tree)}).bind("disease", values)
    return Domain(name="disease", kind="category", values=values, ordered=ordered, taxonomy=taxonomy, missing=missing)


def _nested(tree: list[Any], path: str = "n") -> list[Any]:
    return [
        {f"{path}{i}": _nested(child, f"{path}{i}_")} if isinstance(child, list) else f"v{child}"
        for i, child in enumerate(tree)
    ]


@st.composite
def trees(draw: st.DrawFn, n_values: int) -> list[Any]:
    """A taxonomy over the values in their order, as nested lists; of any shape, chains and bare leaves included."""

    def grow(low: int, high: int, depth: int) -> list[Any]:
        if depth == 3:
            return list(range(low, high))
        borders = sorted(draw(st.sets(st.integers(low + 1, high - 1)))) if high - low > 1 else []
        spans = list(zip([low, *borders], [*borders, high], strict=True))
        return [a if b - a == 1 and draw(st.booleans()) else grow(a, b, depth + 1) for a, b in spans]

    return grow(0, n_values, 0)


def small(n_values: int, most: int = 6) -> st.SearchStrategy[list[int]]:
    """A histogram with zeros, ties, and now and then nothing at all."""
    return st.lists(st.integers(0, most), min_size=n_values, max_size=n_values)


def filled(n_values: int) -> st.SearchStrategy[list[int]]:
    """A small histogram with at least one tuple."""
    return st.builds(
        lambda histogram, value: [n + (i == value) for i, n in enumerate(histogram)],
        small(n_values),
        st.integers(0, n_values - 1),
    )


def large(n_values: int) -> st.SearchStrategy[list[int]]:
    """A histogram of up to 10^9 tuples a value, often within one or two of a round number."""
    around = st.builds(lambda a, b: a + b, st.sampled_from([10**9, 5 * 10**8, 10**6]), st.integers(-2, 2))
    return st.lists(st.one_of(st.just(0), around, st.integers(0, 10**9)), min_size=n_values, max_size=n_values)


rationals = st.one_of(
    st.builds(Fraction, st.integers(1, 12), st.integers(1, 12)),
    st.builds(Fraction, st.integers(1, 10**12), st.integers(1, 10**12)),
)
shares = rationals.map(lambda q: q / (q + 1))  # above 0, below 1


@dataclass(frozen=True)
class Case:
    """A principle, what it is bound with, and its twin: histogram, whole table -> whether it holds."""

    principle: Principle
    twin: Any
    domain: Domain | None = None
    stricter: Principle | None = None


def _bigger(draw: st.DrawFn) -> int:
    return draw(st.integers(0, 3))


@st.composite
def k_anonymity(draw, n_values):
    k = draw(st.integers(2, 12))
    return Case(p.KAnonymity(k=k), lambda h, w: naive.k_anonymity(h, k), None, p.KAnonymity(k=k + _bigger(draw)))


@st.composite
def l_diversity(draw, n_values):
    ell = draw(st.integers(2, 5))
    return Case(
        p.LDiversity(ell=ell), lambda h, w: naive.l_diversity(h, ell), None, p.LDiversity(ell=ell + _bigger(draw))
    )


@st.composite
def distinct_l_diversity(draw, n_values):
    ell = draw(st.integers(2, 5))
    stricter = p.DistinctLDiversity(ell=ell + _bigger(draw))
    return Case(p.DistinctLDiversity(ell=ell), lambda h, w: naive.distinct_l_diversity(h, ell), None, stricter)


@st.composite
def entropy_l_diversity(draw, n_values):
    ell = 1 + draw(
        st.one_of(st.integers(1, 4).map(Fraction), st.builds(Fraction, st.integers(1, 9), st.integers(1, 4)))
    )
    stricter = p.EntropyLDiversity(ell=ell + Fraction(_bigger(draw), 3))
    return Case(p.EntropyLDiversity(ell=ell), lambda h, w: naive.entropy_l_diversity(h, ell), None, stricter)


@st.composite
def recursive_l_diversity(draw, n_values):
    c, ell = draw(rationals), draw(st.integers(2, 4))
    stricter = p.RecursiveLDiversity(c=c * draw(shares), ell=ell + _bigger(draw))
    principle = p.RecursiveLDiversity(c=c, ell=ell)
    return Case(principle, lambda h, w: naive.recursive_l_diversity(h, c, ell), None, stricter)


@st.composite
def designated_l_diversity(draw, n_values):
    ell = draw(st.integers(2, 5))
    codes = draw(st.lists(st.integers(0, n_values - 1), min_size=1, unique=True))
    values = tuple(f"v{code}" for code in codes)
    principle = p.DesignatedLDiversity(ell=ell, values=values)
    stricter = p.DesignatedLDiversity(ell=ell + _bigger(draw), values=(*values, "v0"))
    return Case(principle, lambda h, w: naive.designated_l_diversity(h, ell, codes), domain_of(n_values), stricter)


@st.composite
def alpha_k_anonymity(draw, n_values):
    alpha, k = draw(shares), draw(st.integers(1, 12))
    stricter = p.AlphaKAnonymity(alpha=alpha * draw(shares), k=k + _bigger(draw))
    return Case(p.AlphaKAnonymity(alpha=alpha, k=k), lambda h, w: naive.alpha_k_anonymity(h, alpha, k), None, stricter)


@st.composite
def t_closeness(draw, n_values, distance):
    t = draw(st.one_of(st.builds(Fraction, st.integers(0, 11), st.just(12)), shares))
    principle, stricter = (p.TCloseness(t=u, distance=distance) for u in (t, t * draw(shares)))
    if distance == "equal":
        domain, ground = None, naive.equal_distance
    elif distance == "ordered":
        domain, ground = domain_of(n_values, ordered=True), naive.ordered_distance(n_values)
    else:
        missing = n_values > 1 and draw(st.booleans())
        tree = draw(trees(n_values - missing))
        domain = domain_of(n_values, tree=tree, missing=missing)
        ground = naive.hierarchical_distance([*tree, n_values - 1] if missing else tree)
    return Case(principle, lambda h, w: naive.t_closeness(h, w, t, ground), domain, stricter)


@st.composite
def all_of(draw, n_values):
    one, two = draw(l_diversity(n_values)), draw(t_closeness(n_values, "hierarchical"))
    principle = p.AllOf(principles=(one.principle, two.principle))
    stricter = p.AllOf(principles=(one.stricter, two.stricter))
    return Case(principle, lambda h, w: one.twin(h, w) and two.twin(h, w), two.domain, stricter)


KINDS: dict[str, Any] = {
    "k-anonymity": k_anonymity,
    "l-diversity": l_diversity,
    "distinct-l-diversity": distinct_l_diversity,
    "entropy-l-diversity": entropy_l_diversity,
    "recursive-l-diversity": recursive_l_diversity,
    "designated-l-diversity": designated_l_diversity,
    "alpha-k-anonymity": alpha_k_anonymity,
    "t-closeness, equal": lambda n_values: t_closeness(n_values, "equal"),
    "t-closeness, ordered": lambda n_values: t_closeness(n_values, "ordered"),
    "t-closeness, hierarchical": lambda n_values: t_closeness(n_values, "hierarchical"),
    "all-of": all_of,
}
