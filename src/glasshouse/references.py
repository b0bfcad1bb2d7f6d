# SPDX-License-Identifier: Apache-2.0
"""References: the explanations of the papers and theorems that texts name, in one place.

The reasons of guarantees name a paper by a word in capitals, and a theorem of this project by a letter and a number.
Wherever such a reason is shown to a person, a sentence for each of these names is shown with it.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["PAPERS", "PROOFS", "explained"]

PAPERS: Final = {
    "TRANSPARENT": (
        "X. Xiao, Y. Tao, N. Koudas: Transparent anonymization: thwarting adversaries who know the algorithm, 2010"
    ),
    "ANATOMY": "X. Xiao, Y. Tao: Anatomy: simple and effective privacy preservation, 2006",
    "ANGEL": (
        "Y. Tao, H. Chen, X. Xiao, S. Zhou, D. Zhang: ANGEL: enhancing the utility of generalization for privacy "
        "preserving publication, 2009"
    ),
    "CORRUPTION": "Y. Tao, X. Xiao, J. Li, D. Zhang: On anti-corruption privacy preserving publication, 2008",
    "MINIMALITY": (
        "G. Cormode, N. Li, T. Li, D. Srivastava: Minimizing minimality and maximizing utility: analyzing "
        "method-based attacks on anonymized data, 2010"
    ),
}
"""The papers by the word that names them: authors, title and year."""

PROOFS: Final = {
    "M1": "Mirror",
    "M2": "Mirror",
    "M3": "Mirror",
    "S1": "Sift",
    "J1": "Several sensitive columns",
    "E1": "Editions",
    "H1": "People with several rows",
}
"""The theorems of this project, and the title of the page of its documentation that proves each of them."""

_PAPER = re.compile(rf"\b({'|'.join(PAPERS)})\b")
_THEOREM = re.compile(rf"\bTheorem ({'|'.join(PROOFS)})\b")


def explained(*texts: str) -> tuple[str, ...]:
    """Say in a sentence what each paper and each theorem stands for that the texts name.

    >>> print(*explained("Theorem M1 of the method Mirror: ...; (ANATOMY Theorem 1)"), sep="\\n")
    ANATOMY is a paper: X. Xiao, Y. Tao: Anatomy: simple and effective privacy preservation, 2006
    Theorem M1 is proved in the documentation of Glasshouse, on the page "Mirror"
    >>> explained("every group has at least 5 records")
    ()
    """
    named = {name for text in texts for name in _PAPER.findall(text)}
    proved = {name for text in texts for name in _THEOREM.findall(text)}
    return (
        *(f"{name} is a paper: {told}" for name, told in PAPERS.items() if name in named),
        *(
            f'Theorem {name} is proved in the documentation of Glasshouse, on the page "{page}"'
            for name, page in PROOFS.items()
            if name in proved
        ),
    )
