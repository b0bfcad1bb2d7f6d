# SPDX-License-Identifier: Apache-2.0
"""A row of a comparison: one way to publish, what it promises, and what was measured of it."""

from __future__ import annotations

from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Row", "label_of"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One way to publish a table: a method and a recoding, with what they promise and how they did.

    Attributes
    ----------
    method, recoding
        What they are called, with parameters that are not the usual ones.
    recipe
        Both as plain data.
    promise, adversary, theorem
        The guarantee, against whom it holds, and why.
    shows_presence
        Whether exact quasi-identifiers are published, so that anybody can see who is in the table.
    belief
        The most that whoever knows the algorithm believes of anybody; None where that is not known.
    how
        ``exact`` or ``sampled``, measured by an attack; ``bound``, she believes at most this, by the theorem; or
        ``not known``.
    belief_error, above, limit, told
        Error of a sampled belief; the share of people of whom more is believed than the limit; the limit, 1/l; and what
        else there is to say of the attack.
    error, spread, baseline, coverage
        Mean relative error of the answers to the workload, and its standard error over runs; the same without any link
        between quasi-identifiers and sensitive values; how many true counts the 95 % intervals have in them.
    kl, average_size, ncp
        KL divergence from the table's distribution to the reconstructed one, in nats; tuples a group (a bucket, for
        ANGEL); average width of the cells.
    seconds, memory
        To publish; memory is in bytes, beyond what the process had before, and None where the system does not tell.
    failed
        Why there is nothing else to tell, if there is not.
    """

    method: str
    recoding: str
    recipe: Mapping[str, Any] = field(default_factory=dict)
    promise: str = ""
    adversary: str = ""
    theorem: str = ""
    shows_presence: bool = False
    belief: float | None = None
    how: str = "not known"
    belief_error: float = 0.0
    above: float | None = None
    limit: str | None = None
    told: str = ""
    error: float | None = None
    spread: float | None = None
    baseline: float | None = None
    coverage: float | None = None
    kl: float | None = None
    average_size: float | None = None
    ncp: float | None = None
    seconds: float | None = None
    memory: int | None = None
    failed: str = ""

    @property
    def way(self) -> str:
        """The method and the recoding, in words."""
        return f"{self.method} as {self.recoding}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Row:
        """The row that was plain data; what it does not know is left out."""
        known = {f.name for f in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})


def label_of(thing: Any) -> str:
    """A method or recoding by its name, with parameters that are not the usual ones.

    >>> from glasshouse.grouping import EvenSplit, Mondrian, Refined, Tailor
    >>> [label_of(method) for method in (Mondrian(), Mondrian(partitioning="relaxed"), EvenSplit(extra=2))]
    ['mondrian', 'mondrian (relaxed)', 'even-split (extra=2)']
    >>> label_of(Refined(coarse=Tailor()))
    'refined (tailor)'
    """
    name, unusual = str(thing.name), []
    for f in fields(thing) if is_dataclass(thing) else ():
        value, usual = getattr(thing, f.name), f.default_factory() if f.default_factory is not MISSING else f.default
        if value != usual:
            word = label_of(value) if hasattr(value, "divide") else value
            unusual.append(word if isinstance(word, str) else f"{f.name}={word}")
    return f"{name} ({', '.join(unusual)})" if unusual else name
