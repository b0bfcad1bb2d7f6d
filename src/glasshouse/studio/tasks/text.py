# SPDX-License-Identifier: Apache-2.0
"""Text: values of a column as they are shown, cut where they are long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

__all__ = ["shortened", "texts"]

_LONG = 60  # characters of a name in a sentence


def texts(values: pa.Array | pa.ChunkedArray, most: int | None = None) -> list[str | None]:
    """The texts of values, at most so many letters each; None where one is missing.

    >>> import pyarrow as pa
    >>> texts(pa.array(["a very long value", None]), 6)
    ['a ver…', None]
    """
    from glasshouse.microdata.domains import text_of
    from glasshouse.pages.svg import short

    whole = [None if value is None else text_of(value) for value in _plain(values).to_pylist()]
    return whole if most is None else [None if text is None else short(text, most) for text in whole]


def shortened(sentence: str, names: Iterable[str]) -> str:
    """A sentence with long column names truncated.

    >>> shortened("column 'a' has gaps", ["a"]), len(shortened(f"column {'b' * 999!r} has gaps", ["b" * 999]))
    ("column 'a' has gaps", 78)
    """
    from glasshouse.pages.svg import short

    for name in names:
        if len(name) > _LONG:
            for written in (name, repr(name)[1:-1]):
                sentence = sentence.replace(written, short(written, _LONG))
    return sentence


def _plain(values: Any) -> Any:
    """Values that Python can hold: it counts microseconds, where Arrow counts nanoseconds."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_dictionary(kind):
        return _plain(values.cast(kind.value_type))
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return values.cast(pa.timestamp("us", kind.tz), safe=False)
    if pa.types.is_time64(kind) and kind.unit == "ns":
        return values.cast(pa.time64("us"), safe=False)
    return values
