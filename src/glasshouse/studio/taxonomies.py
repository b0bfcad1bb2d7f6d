# SPDX-License-Identifier: Apache-2.0
"""Taxonomies in the studio: a rule as text, a file, or a typed outline; and their result for a column.

An outline has a label on each line, and what a label stands for is indented below it:

    all diseases
      lungs
        influenza
        asthma
      migraine

A label that begins or ends with a blank, begins with a quotation mark, or holds something that cannot be seen, is
written as JSON writes a text. Nothing here is imported before somebody looks at a taxonomy, for it needs Arrow.
"""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.errors import InputError
from glasshouse.pages.svg import short
from glasshouse.studio.tasks.text import texts
from glasshouse.visible import is_shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from glasshouse.microdata import Taxonomy

__all__ = ["from_outline", "levels_of", "outline_of", "outline_of_values", "rows_of", "values_of"]

MOST_LINES = 20_000
MOST_EXAMPLES = 6
MOST_LEVELS = 40
MOST_SHOWN = 60  # characters of a label in the preview
_FILES = (".csv", ".json", ".yaml", ".yml")
_STEP = "  "
_DELIMITERS = (";", ",", "\t", "|")


def values_of(stream: bytes) -> pa.Array:
    """The values of a column, as a task sent them."""
    return pa.ipc.open_stream(stream).read_all().column(0).combine_chunks()


def levels_of(taxonomy: Taxonomy, name: str, values: pa.Array) -> list[dict[str, Any]]:
    """Every level of a taxonomy over some values, the finest first: how many groups there are, and the first of them.

    >>> from glasshouse.microdata import Taxonomy
    >>> [level["n"] for level in levels_of(Taxonomy.prefix(length=2), "code", pa.array(["11", "12", "23"]))]
    [3, 2, 1]
    """
    bound = taxonomy.bind(name, values)
    is_leaf = np.zeros(len(bound), bool)
    is_leaf[bound.leaves] = True
    first, last = bound.ranges[:, 0], bound.ranges[:, 1]
    levels = []
    depths = list(range(int(bound.depth.max()), -1, -1))
    for number, depth in enumerate(depths):
        if MOST_LEVELS - 1 <= number < len(depths) - 1:  # of a very deep tree, the finest levels and the root
            continue
        here = np.flatnonzero((bound.depth == depth) | (is_leaf & (bound.depth < depth)))
        here = here[np.argsort(first[here])]
        n_values = last[here] - first[here] + 1
        shown = zip(here[:MOST_EXAMPLES].tolist(), n_values[:MOST_EXAMPLES].tolist(), strict=True)
        levels.append(
            {
                "number": number,
                "n": len(here),
                "largest": int(n_values.max()),
                "examples": [{"label": short(bound.labels[node], MOST_SHOWN), "n": n} for node, n in shown],
            }
        )
    return levels


# --- outlines ---------------------------------------------------------------------------------------------------------


def from_outline(text: str) -> dict[str, Any]:
    r"""Read an outline as nested labels, or say in which line something is wrong.

    >>> from_outline("any\n  lungs\n    flu\n  migraine")
    {'any': {'lungs': {'flu': {}}, 'migraine': {}}}
    """
    top: dict[str, Any] = {}
    above: list[tuple[int, dict[str, Any]]] = []  # the labels above the present line: how far each is indented
    below = top  # what belongs below the line before
    for number, line in _lines(text):
        depth = len(line) - len(line.lstrip(" "))
        if above and depth <= above[-1][0]:
            while above and above[-1][0] > depth:
                above.pop()
            if not above or above[-1][0] != depth:
                raise InputError(
                    f"line {number} is indented by {depth} spaces, which does not fit the lines above it: use two "
                    "spaces for each level"
                )
            siblings = above.pop()[1]
        elif depth and not above:
            raise InputError(f"line {number}: the first label must not be indented, because nothing is above it")
        else:
            siblings = below
        label = _label(line.strip(" "), number)
        if label in siblings:
            raise InputError(f"line {number}: the label {short(label, 60)!r} occurs twice in the same place")
        below = siblings[label] = {}
        above.append((depth, siblings))
    if not top:
        raise InputError("the outline is empty: write a label on each line, and indent what belongs below it")
    return top


def _lines(text: str) -> Iterator[tuple[int, str]]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if len(lines) > MOST_LINES:
        raise InputError(f"an outline has at most {MOST_LINES:,} lines: write the taxonomy into a file, and send that")
    for number, line in enumerate(lines, start=1):
        if line.strip(" \t"):
            yield number, line.expandtabs(2)


def _label(text: str, number: int) -> str:
    if not text.startswith('"'):
        return text
    try:
        label = json.loads(text)
    except ValueError:
        label = None
    if not isinstance(label, str):
        raise InputError(
            f"line {number} begins with a quotation mark, but is not a text that is written as in JSON, such as "
            '"a b ": close the quotation mark, or remove it'
        )
    return label


def outline_of(taxonomy: Taxonomy) -> list[str]:
    """The lines of a taxonomy that is listed value by value.

    >>> from glasshouse.microdata import Taxonomy
    >>> outline_of(Taxonomy.from_nested({"any": {"lungs": ["flu"]}}))
    ['any', '  lungs', '    flu']
    """
    return _outline(taxonomy.to_data()["tree"])


def _outline(nested: Any) -> list[str]:
    lines = []
    waiting: list[tuple[int, Any]] = [(0, nested)]
    while waiting:
        depth, tree = waiting.pop()
        label, *inner = tree if isinstance(tree, list) else [tree]
        lines.append(_STEP * depth + _typed(label))
        waiting += [(depth + 1, child) for child in reversed(inner)]
    return lines


def outline_of_values(values: pa.Array, rule: Taxonomy | None = None) -> list[str]:
    """The lines of an initial tree: the groups that a rule makes of the values, or all values below the root.

    >>> from glasshouse.microdata import Taxonomy
    >>> outline_of_values(pa.array(["11", "12"]), Taxonomy.prefix(length=2))
    ['*', '  1*', '    11', '    12']
    """
    if rule is None:
        return ["*", *(f"{_STEP}{_typed(text)}" for text in texts(values) if text is not None)]
    bound = rule.bind("", values)
    forms: list[list[Any]] = [[label] for label in bound.labels]
    for node, parent in enumerate(bound.parents.tolist()):
        if parent >= 0:
            forms[parent].append(forms[node])
    return _outline(forms[0])


def _typed(label: str) -> str:
    plain = label == label.strip() and label and not label.startswith('"') and all(map(is_shown, label))
    return label if plain else json.dumps(label)


# --- hierarchies of other tools ---------------------------------------------------------------------------------------


def rows_of(content: bytes) -> str:
    """A hierarchy in ARX's form as `Taxonomy.from_file` reads it: separated by semicolons, in UTF-8.

    What separates its fields is found by what makes all rows equally long; `InputError` if nothing does.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("the file with the taxonomy is not text in UTF-8: save it as CSV in UTF-8") from None
    if "\0" in text:
        raise InputError("the file with the taxonomy is not text: save it as CSV in UTF-8")
    for delimiter in _DELIMITERS:
        try:
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
        except csv.Error:
            continue
        if rows and len(rows[0]) > 1 and len(set(map(len, rows))) == 1:
            made = io.StringIO(newline="")
            csv.writer(made, delimiter=";", lineterminator="\n").writerows(rows)
            return made.getvalue()
    raise InputError(
        "the file with the taxonomy has rows of different lengths, or only one field in each row. It must have no "
        "header and a row for each value: the value first, then labels that become coarser, the coarsest last, "
        "separated by semicolons"
    )
