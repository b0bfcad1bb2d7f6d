# SPDX-License-Identifier: Apache-2.0
"""A classifier of the population: predicts the sensitive value from quasi-identifiers, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from glasshouse.errors import InputError, MissingExtra, ParameterError, SchemaError

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtra("a classifier of the population", extra="trees") from None

from glasshouse.cells import key_of
from glasshouse.plural import counted
from glasshouse.population.combinations import with_combinations
from glasshouse.population.features import Attribute, Features
from glasshouse.population.fit import fitted
from glasshouse.population.observations import Shown
from glasshouse.population.regression import Regression
from glasshouse.population.scales import Scale, arrow_of, distinct, has_other_kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.population.population import Population

    ClassOf = Mapping[Any, Any] | Callable[[Any], Any]

__all__ = ["PopulationClassifier"]

_OWNER = "PopulationClassifier"
_SEED = 1
_ORDER = 3  # attributes that a feature combines
_KEPT = 1 - 1e-9  # how likely a label is the true one: not 1, so that no row is ever impossible


class PopulationClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The model of `learn` as a classifier: chances of sensitive values by quasi-identifiers.

    `glasshouse.Population.classifier` makes one that a release has taught. `fit` teaches the same model by rows whose
    labels are known, which is the yardstick: what could be learned if nothing were hidden.

    Parameters
    ----------
    categorical_features
        Columns, by name or number, whose numbers are categories; for `fit`. Texts and truth values always are.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn. The features of a classifier that a release has taught are its quasi-identifiers.

    Notes
    -----
    The chances are those of somebody who is not in the release: no group and no cell is looked up. New values: the
    nearest known one on a scale of numbers, dates and times; a category that is not known says nothing, and the row is
    judged by its other attributes.

    Examples
    --------
    >>> import glasshouse as gh
    >>> release = gh.publish(gh.synthetic.hospital(2_000, seed=1), principle=gh.LDiversity(ell=3))
    >>> likely = gh.learn(release).classifier()
    >>> chances = likely.predict_proba({"age": [8], "sex": ["F"], "zipcode": ["02139"]})
    >>> round(float(chances.sum()), 6)
    1.0
    """

    def __init__(self, *, categorical_features: Sequence[Any] | None = None) -> None:
        self.categorical_features = categorical_features

    @classmethod
    def of(cls, population: Population, class_of: ClassOf | None = None) -> Self:
        """The classifier of a population; ``class_of`` is as in `glasshouse.Population.classifier`."""
        points = population.points
        made = cls()
        made._scales = [
            Scale.of(name, values, ordered=ordered)
            for name, values, ordered in zip(points.names, points.values, points.ordered, strict=True)
        ]
        made._by_name = True
        made.feature_names_in_ = np.array(points.names, object)
        made.n_features_in_ = len(points.names)
        made.classes_, made._class_of_code = _classes(population.values, class_of)
        made._keep(population.regression.features, population.regression.base, population.fitted.weights)
        return made

    # --- learning -----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Learn from rows with known labels.

        Parameters
        ----------
        X
            A matrix of numbers, or a frame (pandas, polars, Arrow) with columns of any kind.
        y
            The labels.
        """
        names, columns, y = self._read(X, y)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self._class_of_code = np.arange(len(self.classes_))
        categorical = self._categorical(names)
        self._scales = [
            _scale(name, own, i in categorical) for i, (name, own) in enumerate(zip(names, columns, strict=True))
        ]
        codes = self._codes(columns)
        points, number = np.unique(codes, axis=1, return_inverse=True)
        place = np.asarray(number.reshape(-1), np.int32)
        people = np.bincount(place).astype(np.float64)
        attributes = [
            Attribute(scale.name, own, scale.is_ordered) for scale, own in zip(self._scales, points, strict=True)
        ]
        seen = Shown(place, labels.reshape(-1).astype(np.int32), np.ones(len(place), np.int64), _KEPT)
        base = np.log(np.bincount(labels.reshape(-1)) / len(place))
        plain = Regression(Features.of(attributes, people), None, base, seen)
        regression = with_combinations(plain, plain, attributes, people, _ORDER)
        found = fitted(regression, np.random.Generator(np.random.PCG64(_SEED)))
        # With labels there is no switch: what few rows say is held back by the ridges alone.
        self._keep(regression.features, base, found.weights if found.is_used else regression.fit(found.ridges))
        return self

    def _keep(self, features: Features, base: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        self._features = Features(features.blocks, features.codes[:, :0])  # no data in the model
        self._base, self._weights = base, weights

    # --- telling ------------------------------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The chances of every class, for every row."""
        check_is_fitted(self, "classes_")
        rows = self._features.rows(self._codes(self._columns(X)))
        chances = np.asarray(rows @ self._weights) + self._base
        chances = np.exp(chances - chances.max(axis=1, keepdims=True))
        classes = np.zeros((len(chances), len(self.classes_)))
        np.add.at(classes.T, self._class_of_code, chances.T)
        return np.asarray(classes / classes.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The most likely class of every row."""
        likely = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[likely])

    # --- reading tables -----------------------------------------------------------------------------------------------

    def _codes(self, columns: Sequence[Any]) -> NDArray[np.int32]:
        return np.stack([scale.places(own) for scale, own in zip(self._scales, columns, strict=True)])

    def _read(self, X: Any, y: Any) -> tuple[list[str], list[Any], NDArray[Any]]:  # noqa: N803
        """Read a table for learning: numbers as in scikit-learn, other frames by columns."""
        self._by_name = has_other_kinds(X)
        if not self._by_name:
            matrix, y = validate_data(self, X, y, dtype=np.float64)
            names = [str(name) for name in getattr(self, "feature_names_in_", range(matrix.shape[1]))]
            return names, list(matrix.T), y
        table = arrow_of(X)
        if y is None:
            raise InputError(f"{_OWNER} requires y to be passed, but the target y is None")
        y = np.asarray(y.to_pylist() if isinstance(y, pa.Array | pa.ChunkedArray) else y)
        if y.shape != (table.num_rows,) or not table.num_rows:
            raise InputError(
                f"{counted(table.num_rows, 'row needs', 'rows need')} as many labels, got an array of shape {y.shape}"
            )
        self.feature_names_in_ = np.array(table.column_names, object)
        self.n_features_in_ = table.num_columns
        return table.column_names, list(table.columns), y

    def _categorical(self, names: Sequence[str]) -> set[int]:
        found = set()
        for one in self.categorical_features or ():
            if isinstance(one, str):
                if one not in names:
                    raise SchemaError.unknown(one, list(names), role="categorical_features")
                found.add(list(names).index(one))
            elif isinstance(one, Integral) and 0 <= int(one) < len(names):
                found.add(int(one))
            else:
                raise ParameterError(_OWNER, "categorical_features", "names or numbers of columns", one)
        return found

    def _columns(self, X: Any) -> list[Any]:  # noqa: N803
        """The columns of rows to be classified, in the order of the features."""
        if not self._by_name:
            return list(validate_data(self, X, dtype=np.float64, reset=False).T)
        if isinstance(X, pa.Table | Mapping) or hasattr(X, "__arrow_c_stream__"):
            table = arrow_of(X)
            for name in self.feature_names_in_:
                if name not in table.column_names:
                    raise SchemaError.unknown(name, table.column_names, role="a quasi-identifier of the model")
            return [table[name] for name in self.feature_names_in_]
        rows = np.asarray(X, object)
        if rows.ndim != 2 or rows.shape[1] != self.n_features_in_:
            raise InputError(
                f"rows must have {counted(self.n_features_in_, 'column')}, got an array of shape {rows.shape}"
            )
        return list(rows.T)


def _scale(name: str, column: Any, categorical: bool) -> Scale:  # noqa: FBT001
    """The scale of a column's own values."""
    values, number = distinct(column)
    used = [values[i] for i in np.unique(number).tolist()]
    known = [value for value in used if value is not None]
    missing = [None] if len(known) < len(used) else []
    numeric = Scale.of(name, known, ordered=not categorical)
    if numeric.numbers is None:
        return Scale.of(name, [*sorted(known, key=key_of), *missing], ordered=False)
    order = np.argsort(numeric.numbers, kind="stable").tolist()
    return Scale.of(name, [*(known[i] for i in order), *missing], ordered=True)


def _classes(values: Sequence[Any], class_of: ClassOf | None) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes in their order, and the class of every value."""
    if class_of is None:
        if None in values:
            raise InputError("the sensitive column has missing values: say with class_of which class they belong to")
        own = list(values)
    elif isinstance(class_of, Mapping):
        by_key = {None if value is None else key_of(value): chosen for value, chosen in class_of.items()}
        keys = [None if value is None else key_of(value) for value in values]
        lacking = sum(key not in by_key for key in keys)
        if lacking:
            raise InputError(
                f"class_of does not name a class for {lacking:,} of the {counted(len(values), 'value')} of "
                "the sensitive column: add them"
            )
        own = [by_key[key] for key in keys]
    else:
        own = [class_of(value) for value in values]
    classes, number = np.unique(np.array(own), return_inverse=True)
    return classes, number.reshape(-1).astype(np.int64)
