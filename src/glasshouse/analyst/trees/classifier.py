# SPDX-License-Identifier: Apache-2.0
"""Trees: a classifier that learns from a perturbed sample, and the two yardsticks that it is held against.

Tao, Xiao, Li, Zhang, "On Anti-Corruption Privacy Preserving Publication", ICDE 2008 (CORRUPTION), II-C and VII.
The paper refers to an extended version for its algorithm, which is not at hand: what is derived in its place stands in
`glasshouse.analyst.trees.reconstruction` (true classes from perturbed ones) and `glasshouse.analyst.trees.growth`
(cuts).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from glasshouse.errors import InputError, MissingExtra, NotSupported, ParameterError, SchemaError
from glasshouse.plural import counted
from glasshouse.population.scales import arrow_of, has_other_kinds

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError:
    raise MissingExtra("a classifier of perturbed samples", extra="trees") from None

from glasshouse.analyst.answers.perturbed_answers import retention as retention_of
from glasshouse.analyst.trees.growth import Growth, Pieces, grow
from glasshouse.analyst.trees.tree_axes import Line, axes_of_columns, axes_of_seats, axes_of_values
from glasshouse.declarations import Declared
from glasshouse.microdata.domains import text_of
from glasshouse.release.contents import Published
from glasshouse.release.layout import PERTURBED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from glasshouse.analyst.trees.growth import Cut, Node
    from glasshouse.analyst.trees.tree_axes import Axis
    from glasshouse.microdata import Microdata
    from glasshouse.randomness import Draws
    from glasshouse.release import Release

    ClassOf = Mapping[Any, Any] | Callable[[Any], Any]

__all__ = ["PerturbedTreeClassifier", "optimistic", "people", "pessimistic"]

_OWNER = "PerturbedTreeClassifier"


class PerturbedTreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision tree whose classes are reconstructed from perturbed ones.

    Learns from a release of perturbed generalization by `fit_release`, and from any table whose labels were perturbed
    in the same way (kept with a known probability, else drawn at random) by `fit`. With ``retention=1`` and
    ``significance=1`` it is an ordinary tree of binary cuts, by entropy.

    Parameters
    ----------
    retention
        The probability with which a label was kept, above 0 and at most 1; for `fit`. A release says its own.
    domain
        What a label that was not kept was drawn from, uniformly; for `fit`. The class of every value of the sensitive
        domain, as a list, or how many values every class has, as a mapping. Left out, every class is one value.
    criterion
        ``entropy`` or ``gini``.
    significance
        How likely a node whose cells say nothing of its classes may be cut; 1 for a tree that cuts as long as it can.
    min_information_leaf
        How much a leaf must know, in unperturbed records: ``retention ** 2`` times its number of records, or less where
        they weigh unequally.
    max_depth
        Largest depth; none by default.
    categorical_features
        Columns, by name or number, whose numbers are categories. Texts and truth values always are.
    size_weight
        How far the record of a group counts by the group's size; for `fit_release`. 1 counts people: then the weights
        of true classes are estimated without bias. 0 counts records. By default ``retention ** 2``: see the notes.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    retention_, class_shares_
        The retention, and the share of the sensitive domain that each class has.
    nodes_
        The nodes in preorder: what a node shows, what it knows, its distribution of true classes, its cut.

    Notes
    -----
    ``sample_weight`` counts repetitions, as in scikit-learn: a record of weight 2 is two records, with two
    perturbations. A record of a release stands for G people and is one record still, with one perturbation: see
    ``Pieces.each``.

    *What a record weighs.* Counting people, a few large groups may outweigh all others, and their perturbations with
    them: of 148,318 people in 8,959 groups one learns no more than from 1,984 groups of one size. Let the share of a
    class differ between groups with variance a, and let the one inverted record of a group vary around it with variance
    b. Weights w estimate the share among people with the error ``a sum (w - G)^2 + b sum w^2`` (first what the wrong
    weights do, then what chance does), which is least, for a given sum, at ``w = r G + (1 - r) mean(G)`` with
    ``r = a / (a + b)``. If groups differ as much as they can (everybody in a group is of one class), a is ``t (1 - t)``
    and a + b is ``q (1 - q) / p^2``; for a class of half the people and half the domain, r is p^2. If groups differ
    less, still more equal weights would do.

    Unknown values: a category that no record of a node may have goes where more of its records go. On an ordered
    attribute, missing comes last.

    Cost: O(records x attributes x classes) a level, with a sort of a node's edges where they are many.

    Examples
    --------
    >>> import glasshouse as gh
    >>> census = gh.synthetic.census(20_000, seed=1, sensitive="income")
    >>> release = gh.publish(census, principle=gh.DeltaGrowth(k=4, lambda_="0.1"), source=gh.Source.seeded(1),
    ...                      recoding=gh.Perturbed(p="0.5", domain=range(50)))
    >>> tree = PerturbedTreeClassifier().fit_release(release, class_of=lambda income: income >= 25)
    >>> X, y = people(census, class_of=lambda income: income >= 25)
    >>> tree.score(X, y) > 0.8
    True
    """

    def __init__(
        self,
        *,
        retention: float = 1,
        domain: Mapping[Any, int] | Iterable[Any] | None = None,
        criterion: str = "entropy",
        significance: float = 0.05,
        min_information_leaf: float = 1,
        max_depth: int | None = None,
        categorical_features: Sequence[Any] | None = None,
        size_weight: float | None = None,
    ) -> None:
        self.retention = retention
        self.domain = domain
        self.criterion = criterion
        self.significance = significance
        self.min_information_leaf = min_information_leaf
        self.max_depth = max_depth
        self.categorical_features = categorical_features
        self.size_weight = size_weight

    # --- learning -----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Learn from exact attributes and perturbed labels.

        Parameters
        ----------
        X
            A matrix of numbers, or a frame (pandas, polars, Arrow) with columns of any kind.
        y
            The labels.
        sample_weight
            How often each record is there.
        """
        axes, y, n = self._read(X, y)
        check_classification_targets(y)
        weight = _check_sample_weight(sample_weight, np.empty((n, 1)), dtype=np.float64, ensure_non_negative=True)
        if not weight.sum() > 0:
            raise InputError("the weights of all records are 0, so nothing can be learned")
        seen = np.unique(np.asarray(y)[weight > 0]) if self.domain is None else np.unique(y)
        self.classes_, shares = _shares(seen, self.domain)
        shown = np.searchsorted(self.classes_, y)
        outside = self.classes_[np.minimum(shown, len(self.classes_) - 1)] != y
        if (outside & (weight > 0)).any():
            raise InputError(
                f"{counted(int(outside.sum()), 'label names a class that is', 'labels name classes that are')} not in "
                "the domain: check the labels, or give a domain that contains them"
            )
        kept = np.flatnonzero(weight > 0)
        pieces = Pieces([a.take(kept) for a in axes], shown[kept].astype(np.int64), weight[kept], np.ones(len(kept)))
        return self._grow(pieces, _number("retention", self.retention), shares)

    def fit_release(
        self,
        release: Release,
        class_of: ClassOf | None = None,
        *,
        domain: Iterable[Any] | None = None,
        ordered: Mapping[str, Sequence[Any]] | None = None,
    ) -> Self:
        """Learn from a release of perturbed generalization.

        Parameters
        ----------
        release
            The release. Its recipe says the retention and the sensitive domain.
        class_of
            The class of a sensitive value: a mapping or a function. Left out, every value is a class of its own.
        domain
            The sensitive domain, where the publisher did not declare it; else the values that were published.
        ordered
            The order of categories, for attributes whose cells are intervals of them, where the release tells none.
        """
        if release.layout is not PERTURBED:
            raise NotSupported(
                f"a tree cannot be fitted to a release with the recoding {release.recipe.recoding.get('name')!r}",
                instead="its sensitive values are not perturbed; draw a sample of the release, and fit a tree to that",
            )
        published = Published.of(release)
        (seats,) = published.seats
        values = _domain(release, published, domain)
        classes = _classes(values, class_of)
        self.classes_, shares = _shares(np.unique(np.array(classes)), classes)
        place = {_key(value): int(np.searchsorted(self.classes_, c)) for value, c in zip(values, classes, strict=True)}
        outside = [value for value in published.values if _key(value) not in place]
        if outside:
            raise InputError(
                f"{len(outside):,} of the published sensitive values are not in the domain: give a domain that "
                "contains all of them"
            )
        of_code = np.array([place[_key(value)] for value in published.values], np.int64)

        kinds = {column.name: column.kind for column in release.columns}
        known = Declared.carried_by(release).completed(release, ordered=ordered)
        axes, tuples, parts = axes_of_seats(seats, kinds, known.ordered)
        p = retention_of(release)
        each = self._weights(seats.count.astype(np.float64), p)[tuples]
        shown = of_code[published.codes[seats.group[tuples]]]
        self.feature_names_in_ = np.array(seats.quasi, object)
        self.n_features_in_ = len(seats.quasi)
        self._by_name = True
        return self._grow(Pieces(axes, shown, each * parts, each), p, shares)

    def _weights(self, sizes: NDArray[np.float64], p: float) -> NDArray[np.float64]:
        """The weight of each group's record; they sum to the number of people."""
        by_size = p**2 if self.size_weight is None else _number("size_weight", self.size_weight)
        if not 0 <= by_size <= 1:
            raise ParameterError(_OWNER, "size_weight", "from 0 to 1, or None", self.size_weight)
        return np.asarray(by_size * sizes + (1 - by_size) * sizes.mean())

    def _grow(self, pieces: Pieces, p: float, shares: NDArray[np.float64]) -> Self:
        if not 0 < p <= 1:
            raise ParameterError(
                _OWNER, "retention", "above 0 and at most 1 (with a retention of 0 nothing can be learned)", p
            )
        if self.criterion not in ("entropy", "gini"):
            raise ParameterError(_OWNER, "criterion", "'entropy' or 'gini'", self.criterion)
        level = _number("significance", self.significance)
        least = _number("min_information_leaf", self.min_information_leaf)
        if not 0 < level <= 1:
            raise ParameterError(_OWNER, "significance", "above 0 and at most 1", self.significance)
        if not least >= 0:
            raise ParameterError(_OWNER, "min_information_leaf", "at least 0", self.min_information_leaf)
        depth: Any = self.max_depth
        if depth is not None and not (isinstance(depth, Integral) and int(depth) >= 0):
            raise ParameterError(_OWNER, "max_depth", "an integer >= 0, or None", depth)
        growth = Growth(
            retention=p,
            shares=shares,
            criterion=self.criterion,
            significance=level,
            min_information_leaf=least,
            max_depth=None if depth is None else int(depth),
        )
        self.retention_ = p
        self.class_shares_ = shares
        self.nodes_: list[Node] = grow(pieces, growth)
        self._axes: list[Axis] = [axis.take(np.empty(0, np.int64)) for axis in pieces.axes]  # no data in the model
        return self

    # --- telling ------------------------------------------------------------------------------------------------------

    def apply(self, X: Any) -> NDArray[np.int64]:  # noqa: N803
        """The leaf of every row, as a place in ``nodes_``."""
        check_is_fitted(self, "nodes_")
        columns, n = self._columns(X)
        places = [axis.places(column) for axis, column in zip(self._axes, columns, strict=True)]
        leaves = np.zeros(n, np.int64)
        waiting = [(0, np.arange(n))]
        while waiting:
            number, rows = waiting.pop()
            node = self.nodes_[number]
            if node.cut is None or node.children is None:
                leaves[rows] = number
                continue
            left = _goes_left(node, self._axes[node.cut.axis], places[node.cut.axis][rows])
            waiting += [(node.children[0], rows[left]), (node.children[1], rows[~left])]
        return leaves

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The distribution of the true classes in the leaf of every row."""
        leaves = self.apply(X)
        return np.stack([node.distribution for node in self.nodes_])[leaves]

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The most likely class of every row."""
        likely = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[likely])

    def rules(self) -> str:
        """The tree as text, one line per node."""
        check_is_fitted(self, "nodes_")
        lines: list[str] = []
        waiting = [(0, "")]
        while waiting:
            number, how = waiting.pop()
            node = self.nodes_[number]
            found = "" if node.cut else f" -> {text_of(self.classes_[int(node.distribution.argmax())])}"
            shares = ", ".join(f"{share:.2f}" for share in node.distribution)
            lines.append(f"{'  ' * node.depth}{how or 'everybody'}: {node.weight:,.0f} ({shares}){found}")
            if node.cut is not None and node.children is not None:
                left, right = _written(node.cut, self._axes[node.cut.axis])
                waiting += [(node.children[1], right), (node.children[0], left)]
        return "\n".join(lines)

    # --- reading tables -----------------------------------------------------------------------------------------------

    def _read(self, X: Any, y: Any) -> tuple[list[Axis], NDArray[Any], int]:  # noqa: N803
        """Convert a table to axes; numbers as in scikit-learn, other frames by columns."""
        self._by_name = has_other_kinds(X)
        if not self._by_name:
            matrix, y = validate_data(self, X, y, dtype=np.float64)
            names = [str(name) for name in getattr(self, "feature_names_in_", range(matrix.shape[1]))]
            return axes_of_values(matrix, names, self._categorical(names)), y, len(matrix)
        table = arrow_of(X)
        if y is None:
            raise InputError(f"{_OWNER} requires y to be passed, but the target y is None")
        y = np.asarray(y if not isinstance(y, pa.Array | pa.ChunkedArray) else y.to_pylist())
        if y.shape != (table.num_rows,) or not table.num_rows:
            raise InputError(
                f"{counted(table.num_rows, 'record needs', 'records need')} as many labels, got an array of shape "
                f"{y.shape}"
            )
        self.feature_names_in_ = np.array(table.column_names, object)
        self.n_features_in_ = table.num_columns
        return axes_of_columns(table, self._categorical(table.column_names)), y, table.num_rows

    def _categorical(self, names: Sequence[str]) -> list[int]:
        chosen = [] if self.categorical_features is None else list(self.categorical_features)
        found = []
        for one in chosen:
            if isinstance(one, str):
                if one not in names:
                    raise SchemaError.unknown(one, list(names), role="categorical_features")
                found.append(list(names).index(one))
            elif isinstance(one, Integral) and 0 <= int(one) < len(names):
                found.append(int(one))
            else:
                raise ParameterError(_OWNER, "categorical_features", "names or numbers of columns", one)
        return found

    def _columns(self, X: Any) -> tuple[list[Any], int]:  # noqa: N803
        """The columns of a table to be classified, in the order of the axes."""
        if not self._by_name:
            matrix = validate_data(self, X, dtype=np.float64, reset=False)
            return list(matrix.T), len(matrix)
        if isinstance(X, pa.Table | Mapping) or hasattr(X, "__arrow_c_stream__"):
            table = arrow_of(X)
            for name in self.feature_names_in_:
                if name not in table.column_names:
                    raise SchemaError.unknown(name, table.column_names, role="an attribute of the tree")
            return [table[name] for name in self.feature_names_in_], table.num_rows
        rows = np.asarray(X, object)
        if rows.ndim != 2 or rows.shape[1] != self.n_features_in_:
            raise InputError(
                f"rows must have {counted(self.n_features_in_, 'column')}, got an array of shape {rows.shape}"
            )
        return [rows[:, i] for i in range(rows.shape[1])], len(rows)


def _goes_left(node: Node, axis: Axis, places: NDArray[Any]) -> NDArray[np.bool_]:
    cut = node.cut
    assert cut is not None
    if isinstance(axis, Line):
        return np.asarray(places <= cut.threshold)  # a missing value, NaN, is not
    assert cut.left is not None
    assert cut.present is not None
    sides = np.where(cut.present, cut.left, node.heavier == 0)
    return np.asarray(np.append(sides, node.heavier == 0)[places])


def _written(cut: Cut, axis: Axis) -> tuple[str, str]:
    """The two sides of a cut, as text."""
    if isinstance(axis, Line):
        text = axis.written(cut.threshold)
        return f"{axis.name} <= {text}", f"{axis.name} > {text}" if np.isfinite(
            cut.threshold
        ) else f"{axis.name} missing"
    assert cut.left is not None
    assert cut.present is not None
    names = ["missing" if key is None else text_of(key) for key in axis.keys]
    sides = (cut.left, cut.present & ~cut.left)
    left, right = ("{" + ", ".join(names[i] for i in np.flatnonzero(side)) + "}" for side in sides)
    return f"{axis.name} in {left}", f"{axis.name} in {right}"


# --- classes and domains ----------------------------------------------------------------------------------------------


def _number(name: str, value: Any) -> float:
    if not isinstance(value, Real):
        raise ParameterError(_OWNER, name, "a number", value)
    return float(value)


def _shares(
    seen: NDArray[Any], domain: Mapping[Any, int] | Iterable[Any] | None
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The classes in order, and the share of the sensitive domain that each has."""
    if domain is None:
        return seen, np.full(len(seen), 1 / len(seen))
    if isinstance(domain, Mapping):
        classes, order = np.unique(np.array(list(domain)), return_index=True)
        counts = np.array(list(domain.values()), np.float64)[order]
    else:
        classes, found = np.unique(np.array(list(domain)), return_counts=True)
        counts = found.astype(np.float64)
    if not len(classes) or not (np.asarray(counts) > 0).all():
        raise ParameterError(_OWNER, "domain", "classes with one value or more each", domain)
    return classes, np.asarray(counts / counts.sum(), np.float64)


def _key(value: Any) -> str | None:
    return None if value is None else text_of(value)


def _domain(release: Release, published: Published, given: Iterable[Any] | None) -> list[Any]:
    """The values of the sensitive domain: as declared, as given, or as published."""
    declared = release.recipe.recoding.get("domain")
    values = list(given) if given is not None else published.values if declared is None else list(declared)
    if given is not None and declared is not None and {_key(v) for v in values} != {_key(v) for v in declared}:
        raise InputError(
            "the release declares the domain of its sensitive column, and another domain was given: leave out domain="
        )
    kind = release.data[published.column].type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    known = {_key(value): value for value in published.values}
    return [known[_key(value)] if _key(value) in known else _typed(value, kind) for value in values]


def _typed(value: Any, kind: pa.DataType) -> Any:
    """A declared value, which is a text, with the type of its column."""
    if not isinstance(value, str):
        return value
    try:
        return pa.scalar(value).cast(kind).as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return value


def _classes(values: Sequence[Any], class_of: ClassOf | None) -> list[Any]:
    """The class of every value."""
    if class_of is None:
        if None in values:
            raise InputError(
                "the domain of the sensitive column contains a missing value: say with class_of which class "
                "it belongs to"
            )
        return list(values)
    if not isinstance(class_of, Mapping):
        return [class_of(value) for value in values]
    by_text = {_key(value): c for value, c in class_of.items()}
    lacking = [value for value in values if _key(value) not in by_text]
    if lacking:
        raise InputError(
            f"class_of does not name a class for {len(lacking):,} of the {counted(len(values), 'value')} of "
            "the sensitive domain: add them"
        )
    return [by_text[_key(value)] for value in values]


# --- yardsticks -------------------------------------------------------------------------------------------------------


def people(table: Microdata, class_of: ClassOf | None = None) -> tuple[pa.Table, NDArray[Any]]:
    """The true data by which a tree is scored: everybody's quasi-identifiers and class.

    >>> import glasshouse as gh
    >>> X, y = people(gh.examples.transparent_t1(), class_of=lambda disease: disease == "flu")
    >>> X.column_names, int(y.sum())
    (['Age', 'Zipcode'], 2)
    """
    (sensitive,) = table.sensitive
    columns = {column.name: column.domain.decode(column.codes) for column in table.quasi}
    return pa.table(columns), np.array(_classes(sensitive.domain.listed(), class_of))[sensitive.codes]


def optimistic(
    table: Microdata,
    n_tuples: int,
    *,
    source: Draws,
    class_of: ClassOf | None = None,
    tree: PerturbedTreeClassifier | None = None,
) -> PerturbedTreeClassifier:
    """The tree that could be learned if nothing were hidden (CORRUPTION VII-B): of a plain random sample.

    The sample has ``n_tuples``: as many as a release, to be compared with it. ``class_of`` is that of
    `PerturbedTreeClassifier.fit_release`, and ``tree`` says how to learn; by default as from a release.
    """
    X, y = people(table, class_of)  # noqa: N806
    rows = np.sort(source.choose(table.n_tuples, n_tuples))
    learned = PerturbedTreeClassifier() if tree is None else tree
    return learned.fit(X.take(pa.array(rows)), y[rows])


def pessimistic(
    table: Microdata,
    n_tuples: int,
    *,
    source: Draws,
    class_of: ClassOf | None = None,
    domain: Iterable[Any] | None = None,
    tree: PerturbedTreeClassifier | None = None,
) -> PerturbedTreeClassifier:
    """The tree that is learned if everything is hidden (CORRUPTION VII-B): every sensitive value is a random one.

    By default the tree is grown without a test, to leaves of 25 records: one with a test finds nothing to cut, and says
    of everybody what the largest class of the domain is, which may by luck be what most people are. The sensitive
    ``domain`` is by default the values that occur; all else is as for `optimistic`.
    """
    X, _ = people(table)  # noqa: N806
    values = table.sensitive[0].domain.values.to_pylist() if domain is None else list(domain)
    classes = np.array(_classes(values, class_of))
    rows = np.sort(source.choose(table.n_tuples, n_tuples))
    learned = PerturbedTreeClassifier(significance=1, min_information_leaf=25) if tree is None else tree
    return learned.fit(X.take(pa.array(rows)), classes[source.belows(len(classes), n_tuples)])
