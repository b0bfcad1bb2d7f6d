# SPDX-License-Identifier: Apache-2.0
"""The frame of every page that is written: one HTML file that needs nothing else, and forbids what it does not need.

A browser that opens it runs no script and fetches nothing, whatever text slipped through; search engines are told to
leave it alone, for such pages stay inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasshouse.report.style import STYLE

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["document"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def document(title: str, body: Iterable[str], style: str = "") -> str:
    """Frame a body; the title is markup already, and ``style`` is added to that of all pages."""
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="robots" content="noindex">',
            f"<title>{title}</title>",
            f"<style>{STYLE}{style}</style>",
            "</head>",
            "<body>",
            *body,
            "</body>",
            "</html>",
            "",
        ]
    )
