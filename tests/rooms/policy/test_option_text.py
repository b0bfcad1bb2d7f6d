# SPDX-License-Identifier: Apache-2.0
"""Messages of the library, which name arguments of Python, name options on the command line."""

from __future__ import annotations

import pytest

from glasshouse.policy.option_text import with_options

OFFERED = {
    "--accept": None,
    "--bin": None,
    "--keep-published": None,
    "--missing": ("error", "category", "drop"),
    "--model": ("learned", "uniform"),
    "--order": None,
    "--retention": None,
    "--taxonomy": None,
    "--unweighted": None,
}


@pytest.mark.parametrize(
    ("python", "options"),
    [
        ("use missing='category' or missing='drop'", "use --missing category or --missing drop"),
        ("accept=['look-alikes', 'line-breaks']", "--accept look-alikes,line-breaks"),
        ("give one (ordered={'shirt size': [...]})", "give one (--order 'shirt size=A,B,C')"),
        ("taxonomies={'zip': ...}", "--taxonomy zip=FILE"),
        ("bins={'pay': 'intervals:10'}, or not", "--bin pay=intervals:10, or not"),
        ("put them into ranges (bins=), or ordered=", "put them into ranges (--bin), or --order"),
        ("with keep_published=True", "with --keep-published"),
        ("ask with weighted=False", "ask with --unweighted"),
        ("give it (p=), or Perturbed(p=0.3)", "give it (--retention), or Perturbed(p=0.3)"),
    ],
)
def test_an_argument_becomes_the_option_that_says_the_same(python: str, options: str) -> None:
    assert with_options(python, OFFERED) == options


@pytest.mark.parametrize(
    "message",
    [
        "read it with normalise=['town']",  # the command has no such option
        "SELECT COUNT(*) WHERE model='T' AND missing='yes'",  # columns of a question, with other values
        "gh.read(file, missing='drop', ordered={'a': [1]})",  # an example of Python
        "column 'accept='",
        "taxonomies={broken}",
        "weighted=True",
    ],
)
def test_what_no_option_says_stays_as_it_is(message: str) -> None:
    assert with_options(message, OFFERED) == message
