# SPDX-License-Identifier: Apache-2.0
"""How hard texts are to read: `python -m tests.words.readability` measures the list of sentences, and files named.

Flesch's reading ease is 206.835 - 1.015 * words per sentence - 84.6 * syllables per word: 60 and above is plain
English, below 30 is for graduates. Syllables are counted as runs of vowels, without a silent e at the end. Short
riddles are easy by this measure, so words that stopped readers are counted too.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.words.sentences import sentences

STOPS = re.compile(
    r"\b(whoever|whatever|she|hers?|adversar(?:y|ies)|tuples?|beliefs?|believe[sd]?|beforehand|anew|nought|thereof"
    r"|holds|stands|room|door)\b",
    re.IGNORECASE,
)


def stops(texts: list[str]) -> float:
    """How many words in a thousand are ones that stopped readers."""
    bare = [re.sub(r"\{[^{}]*\}", "value", text) for text in texts]
    return 1000 * sum(len(STOPS.findall(text)) for text in bare) / sum(len(text.split()) for text in bare)


def ease(texts: list[str]) -> tuple[float, float, float]:
    """Reading ease, words per sentence, and the share of sentences with more than 25 words."""
    parts = [part for text in texts for part in _sentences(text)]
    counts = [len(part) for part in parts]
    syllables = sum(_syllables(word) for part in parts for word in part)
    length = sum(counts) / len(counts)
    return 206.835 - 1.015 * length - 84.6 * syllables / sum(counts), length, sum(n > 25 for n in counts) / len(counts)


def _sentences(text: str) -> list[list[str]]:
    bare = re.sub(r"\{[^{}]*\}|`[^`]*`|https?:\S+", " value ", text)
    found = [re.findall(r"[A-Za-z]+(?:'[a-z]+)?", part) for part in re.split(r"[.!?](?:\s|$)", bare)]
    return [words for words in found if words]


def _syllables(word: str) -> int:
    runs = len(re.findall(r"[aeiouy]+", word.lower()))
    silent = word.lower().endswith("e") and not word.lower().endswith("le")
    return max(1, runs - silent)


def _prose(page: str) -> list[str]:
    """The paragraphs of a page of documentation, without its code, tables and headings."""
    page = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    page = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", page)
    return [block for block in re.split(r"\n\s*\n", page) if block.strip() and block.strip()[0] not in "#|:$<"]


if __name__ == "__main__":
    named = {name: _prose(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:]}
    everything = [text for told in sentences().values() for text in told]
    for name, texts in {"what is printed": everything, **named}.items():
        if texts:
            flesch, length, long = ease(texts)
            measured = f"ease {flesch:5.1f}, {length:4.1f} words a sentence, {long:4.0%} over 25 words"
            print(f"{name:32} {measured}, {stops(texts):4.1f} stops in 1,000 words")  # noqa: T201
