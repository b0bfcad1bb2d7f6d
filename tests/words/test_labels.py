# SPDX-License-Identifier: Apache-2.0
"""Labels and headings that the documents quote are ones that the package prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.words.sentences import SOURCE

ROOT = Path(__file__).parents[2]
PRINTED = "\n".join(
    path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*")) if path.suffix in (".py", ".html")
)
QUOTED = {
    "SECURITY.md": r'a guarantee lists under "([^"]+)"',
    "docs/limits.md": r"lists the limits that concern it \(`([\w\s]+) \.\.\.`\)",
    "docs/get-started.md": r"(?<=\n)\| ([A-Z][\w ]+) \| [^\n]+ \|(?=\n)",
    "docs/report.md": r"(?<=\n)\| ([A-Z][\w ,]+) \| [^\n]+ \|(?=\n)",
}


@pytest.mark.parametrize("page", QUOTED)
def test_labels_that_a_document_quotes_are_printed(page: str) -> None:
    labels = [" ".join(found.split()) for found in re.findall(QUOTED[page], (ROOT / page).read_text(encoding="utf-8"))]
    assert labels
    assert [label for label in labels if not re.search(rf"[\">]{label}[\"<:]", PRINTED)] == []
