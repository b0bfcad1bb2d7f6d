# SPDX-License-Identifier: Apache-2.0
"""Recipe: how a release was made, as plain data. Everybody may know it; it never holds a seed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Recipe"]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Principle, method, recoding and their parameters. The catalogue turns it back into objects.

    Parameters
    ----------
    principle
        A principle as data, or one per sensitive column (``by-column``).
    method, recoding
        Name and parameters of the grouping method and of the recoding.
    quasi, sensitive
        Names of the published columns, in their order.
    suppress
        Largest share of tuples that could be dropped, as exact text; ``"0"`` if none.
    seeded
        Whether the random choices came from a fixed seed: such a release is for tests, its choices can be repeated.

    Examples
    --------
    >>> import json
    >>> recipe = Recipe(principle={"name": "k-anonymity", "k": 5}, method={"name": "mondrian"},
    ...                 recoding={"name": "boxes"}, quasi=("age",))
    >>> Recipe.from_data(json.loads(json.dumps(recipe.to_data()))) == recipe
    True
    """

    principle: Mapping[str, Any]
    method: Mapping[str, Any]
    recoding: Mapping[str, Any]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    suppress: str = "0"
    seeded: bool = field(default=False)

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        data = asdict(self)
        return {**data, "quasi": list(self.quasi), "sensitive": list(self.sensitive)}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Recipe:
        """Make a recipe from plain data."""
        return cls(**{**data, "quasi": tuple(data["quasi"]), "sensitive": tuple(data["sensitive"])})
