# SPDX-License-Identifier: Apache-2.0
"""Spelling: texts that look like one value to a reader but differ for a program; and one spelling for all of them.

Two texts are *look-alikes* if they have the same `key`: they are equal once each is `cleaned` and case is folded.
Cleaning is, in this order,

1. Unicode NFC: a letter and its accent are one character;
2. invisible characters go: format characters (zero-width spaces and joiners, soft hyphens, byte-order marks, marks of
   direction), control characters and variation selectors;
3. full-width and half-width forms become the ordinary ones, dashes of all kinds and the minus sign become ``-``,
   curly quotation marks become straight;
4. white space of every kind (no-break spaces, tabs, line breaks) becomes one blank where it separates, and goes where
   it begins or ends the text.

Where a column is normalised, every text is replaced by the spelling of its kind that was declared (in an order or a
taxonomy), else by the cleaned spelling that most rows have; on a tie by the first of these by code points. So neither
the order of rows nor how the file is cut into batches matters. A text of which nothing is left is missing.

Numbers are left alone: ``1``, ``1.0`` and ``01`` may be one number or three codes, and only who made them knows.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import DomainError
from glasshouse.unpacking.budget import is_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = [
    "MISSING_WORDS",
    "alike",
    "cleaned",
    "decimal_commas",
    "declared_spellings",
    "holds_texts",
    "key",
    "keys_of",
    "respelled",
    "same_numbers",
    "spellings",
    "without_look_alikes",
]

MISSING_WORDS = frozenset(
    (
        *("", "-", "--", "---", ".", "..", "...", "?", "??", "/", "*", "#n/a", "<na>", "(null)", "(blank)", "blank"),
        *("na", "n/a", "n.a.", "n. a.", "nan", "nil", "null", "none", "missing", "undefined", "unknown", "unk"),
        *("not known", "not available", "not applicable", "not specified", "not stated", "not recorded", "no answer"),
        *("no data", "unspecified", "undisclosed", "prefer not to say", "refused", "tbd"),
        *("unbekannt", "k.a.", "k. a.", "keine angabe", "inconnu", "non renseigné", "desconocido", "sconosciuto"),
        *("onbekend", "desconhecido"),
    )
)
"""Words that stand for a missing value, by their keys."""

_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and signs that show nothing
_SINGLE = frozenset("\u2018\u2019\u201b\u2032\u02bc\u00b4")
_DOUBLE = frozenset("\u201c\u201d\u201e\u201f\u2033")
_SEEN_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
_SELECTORS = re.compile("[\u034f\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,4})?")
_LIKE_NUMBERS = r"^\s*[+-]?\.?[0-9][0-9.eE+-]*\s*$"
_LONGEST_NUMBER = 100
_UNSEEN = r"[\x00-\x1f\x7f]"  # characters of ASCII


def cleaned(text: str) -> str:
    r"""The text without what cannot be seen; the rule is at the top of this file.

    >>> cleaned("  heart\u00a0 disease\u200b "), cleaned("self\u2013harm"), cleaned("\uff11\uff12")
    ('heart disease', 'self-harm', '12')
    """
    if not (text.isascii() and text.isprintable()):
        plain = map(_plain, unicodedata.normalize("NFC", text))
        text = unicodedata.normalize("NFC", "".join(plain))
    return " ".join(text.split())


def key(text: str) -> str:
    """The key that look-alikes share: the cleaned text, case-folded.

    >>> key("FLU ") == key("flu"), key("Straße") == key("STRASSE")
    (True, True)
    """
    return unicodedata.normalize("NFC", cleaned(text).casefold())


def keys_of(texts: pa.Array) -> pa.Array:
    """The `key` of every text, none of which is missing.

    >>> keys_of(pa.array(["FLU ", "flu", "Straße"])).to_pylist()
    ['flu', 'flu', 'strasse']
    """
    plain = pc.and_(pc.string_is_ascii(texts), pc.invert(pc.match_substring_regex(texts, _UNSEEN)))
    if pc.all(plain).as_py():
        return _folded(texts)
    strange = pc.invert(plain)
    keys = pa.array([key(text) for text in texts.filter(strange).to_pylist()], texts.type)
    return pc.replace_with_mask(_folded(pc.if_else(plain, texts, "")), strange, keys)


def _folded(texts: pa.Array) -> pa.Array:
    """The keys of texts of visible ASCII alone."""
    return pc.ascii_lower(pc.ascii_trim_whitespace(pc.replace_substring_regex(texts, " +", " ")))


@lru_cache(maxsize=1 << 16)
def _plain(character: str) -> str:
    """One character as it is seen; a blank for white space."""
    if character.isspace() or character in _BLANKS:
        return " "
    kind = unicodedata.category(character)
    if (kind == "Cf" and character not in _SEEN_FORMATS) or kind == "Cc" or _SELECTORS.match(character):
        return ""
    if kind == "Pd" or character == "\u2212":
        return "-"
    if character in _SINGLE:
        return "'"
    if character in _DOUBLE:
        return '"'
    if unicodedata.decomposition(character).startswith(("<wide>", "<narrow>")):
        return unicodedata.normalize("NFKC", character)
    return character


def alike(texts: pa.Array) -> list[list[int]]:
    """The indices of distinct texts that are look-alikes, set by set; sorted by code points within and among sets.

    >>> alike(pa.array(["ulcer", "flu", "FLU ", "asthma"]))
    [[2, 1]]
    """
    if _plainly_different(texts):
        return []
    listed = texts.to_pylist()
    return _together(listed, [key(text) for text in listed])


def _plainly_different(texts: pa.Array) -> bool:
    """Whether texts of visible ASCII characters all have different keys; computed by arrays, as most columns are so."""
    if not len(texts):
        return True
    if not pc.all(pc.string_is_ascii(texts)).as_py() or pc.any(pc.match_substring_regex(texts, _UNSEEN)).as_py():
        return False
    return bool(pc.count_distinct(_folded(texts)).as_py() == len(texts))


def same_numbers(texts: pa.Array) -> list[list[int]]:
    """Places of distinct texts that are one number, number by number; look-alikes count as one text.

    >>> same_numbers(pa.array(["1", "flu", "01", "1.0", "2"]))
    [[2, 0, 3]]
    """
    places = np.flatnonzero(np.asarray(pc.match_substring_regex(texts, _LIKE_NUMBERS)))
    if not pc.all(pc.string_is_ascii(texts)).as_py():  # digits may be full-width ones
        places = np.arange(len(texts))
    first: dict[str, int] = {}
    for place in places.tolist():
        first.setdefault(key(texts[place].as_py()), place)
    numbers = {
        text: Decimal(text) for text in first if len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text) is not None
    }
    found = _together(list(numbers), list(numbers.values()))
    shown = list(numbers)
    return [[first[shown[place]] for place in places] for places in found]


def decimal_commas(texts: pa.Array | pa.ChunkedArray) -> bool:
    """Whether texts look like numbers with a decimal comma: all of them are numbers, and some have a comma.

    A comma before three digits may separate thousands, and is not enough.

    >>> decimal_commas(pa.array(["72,5", "80", None])), decimal_commas(pa.array(["72", "80"]))
    (True, False)
    >>> decimal_commas(pa.array(["1,234", "80"]))
    False
    """
    known = texts.drop_null()
    commas = known.filter(pc.match_substring(known, ","))
    return bool(
        len(commas)
        and not pc.all(pc.match_substring_regex(commas, r"^[+-]?[1-9][0-9]{0,2},[0-9]{3}$")).as_py()
        and pc.all(pc.match_substring_regex(known, r"^[+-]?[0-9]+(,[0-9]+)?$")).as_py()
    )


def _together(texts: Sequence[str], keys: Sequence[object]) -> list[list[int]]:
    kinds: dict[object, list[int]] = defaultdict(list)
    for place, one in enumerate(keys):
        kinds[one].append(place)
    several = [sorted(places, key=lambda place: texts[place]) for places in kinds.values() if len(places) > 1]
    return sorted(several, key=lambda places: texts[places[0]])


def holds_texts(kind: pa.DataType) -> bool:
    """Whether a column of this type holds texts, in a dictionary or not."""
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


def without_look_alikes(texts: Iterable[str]) -> list[str]:
    """The first of each kind of look-alikes, in the order in which they come.

    >>> without_look_alikes(["low", "Low", "high"])
    ['low', 'high']
    """
    firsts: dict[str, str] = {}
    for text in texts:
        firsts.setdefault(key(text), text)
    return list(firsts.values())


def declared_spellings(texts: Iterable[str], *, name: str) -> dict[str, str]:
    """The declared texts of a column by their keys; `DomainError` where two of them are look-alikes."""
    found: dict[str, str] = {}
    for text in texts:
        if found.setdefault(key(text), text) != text:
            raise DomainError(
                f"column {name!r} is normalised, and two of the values declared for it differ only in spelling: "
                f"{found[key(text)]!a} and {text!a}. Declare one of them",
                column=name,
                values=[found[key(text)], text],
            )
    return found


def spellings(counts: Mapping[str, int], declared: Mapping[str, str] | None = None) -> dict[str, str | None]:
    """The replacement of each text, where it has another spelling; None where nothing is left of it.

    ``counts`` says how many rows have each text; spellings that were ``declared`` win with any counts.

    >>> spellings({"Flu": 3, "flu ": 2, "flu": 2, "ulcer": 1, " ": 4})
    {'Flu': 'flu', 'flu ': 'flu', ' ': None}
    """
    of_kind: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for text, count in counts.items():
        of_kind[key(text)][cleaned(text)] += count
    kept: dict[str, str | None] = {
        one: min(found, key=lambda text: (-found[text], text)) for one, found in of_kind.items()
    }
    kept |= {one: text for one, text in (declared or {}).items() if one in kept}
    if "" in kept:
        kept[""] = None
    return {text: kept[key(text)] for text in counts if kept[key(text)] != text}


def respelled(
    values: pa.Array, declared: Mapping[str, str] | None = None, weights: NDArray[np.int64] | None = None
) -> tuple[pa.Array, int]:
    """A column of texts in one spelling each, and how many of its different texts were replaced.

    ``weights`` says how many rows each text stands for; one unless given.

    >>> values, n_replaced = respelled(pa.array(["flu", "FLU", "flu", None]))
    >>> values.to_pylist(), n_replaced
    (['flu', 'flu', 'flu', None], 1)
    """
    encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    texts = encoded.dictionary
    if weights is not None:
        weights = weights[np.asarray(encoded.indices.is_valid())]
    rows = np.bincount(encoded.indices.drop_null().to_numpy(), weights, minlength=len(texts))
    counts = {text: int(n) for text, n in zip(texts.to_pylist(), rows, strict=True) if n}
    replaced = spellings(counts, declared)
    if not replaced:
        return values, 0
    kept = pa.array([replaced.get(text, text) for text in texts.to_pylist()], texts.type)
    return kept.take(encoded.indices), len(replaced)
