# SPDX-License-Identifier: Apache-2.0
"""HTML: templates are rendered so that all given data is escaped.

Escaping is done by the template engine, and is not for a template to remember: every value that is output is escaped,
and what cannot be seen, or would turn the words around it, is written out (`glasshouse.visible`). Only what brings its
own markup passes: the output of templates themselves, and drawings of the kit in `glasshouse.pages.svg`.
The page that all others extend, ``page.html``, forbids scripts and outside resources, so that even a text that slipped
through could do nothing.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from glasshouse.pages.numbers import percent
from glasshouse.plural import counted
from glasshouse.references import explained
from glasshouse.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment

__all__ = ["environment", "environment_of", "render"]

_LONG, _PIECE = 28, 14  # letters of a name from which it may be broken, and where


def render(template: str, **given: Any) -> str:
    """Fill a template in; what is None comes out as ``missing``, and a name that the template misspells is an error."""
    return environment().get_template(template).render(given)


@cache
def environment() -> Environment:
    """The engine, with the templates of the package.

    >>> environment().from_string("{{ a }}, {{ b }}").render(a="<script>{{ 7 * 7 }}\\u202e", b=None)
    '&lt;script&gt;{{ 7 * 7 }}\\\\u202e, missing'
    """
    return environment_of("glasshouse.pages")


def environment_of(*packages: str) -> Environment:
    """An engine with the templates of some packages; of two with the same name it takes the first."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        optimized=False,  # a page is rendered once: what folding constants saves, it costs
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {
        "counted": counted,
        "names": _names,
        "percent": percent,
        "pieces": _pieces,
        "sentence": _sentence,
        "written": format,
    }
    return found


def _shown(value: Any) -> Any:
    """What is output for a value, before it is escaped."""
    return value if hasattr(value, "__html__") else visible("missing" if value is None else value)


def _pieces(value: Any) -> list[str]:
    """A name in pieces between which lines may break, so that a long name does not push a table off the page."""
    words = "missing" if value is None else str(value)
    return [words[i : i + _PIECE] for i in range(0, len(words), _PIECE)] if len(words) > _LONG else [words]


def _names(guarantee: Mapping[str, Any], *others: str) -> tuple[str, ...]:
    """The papers and theorems that a guarantee, or another text on the page, names, each with its explanation."""
    return explained(guarantee["theorem"], *guarantee["assumptions"], *guarantee["limits"], *others)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] + ("" if words.endswith(".") else ".")
