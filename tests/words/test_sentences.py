# SPDX-License-Identifier: Apache-2.0
"""The list of sentences is up to date, and has none of the words that stopped readers."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator

import glasshouse as gh
from tests.words.readability import ease
from tests.words.sentences import LIST, SOURCE, _of_source, _of_template, listed, sentences

RIDDLES = re.compile(r"\b(whoever|whatever|thereof|she|her|hers|nought)\b|equally likely beforehand", re.IGNORECASE)


def test_the_list_is_up_to_date():
    assert LIST.read_text(encoding="utf-8") == listed(), "run `make fix`, and read what has changed in the list"


def test_every_kind_of_sentence_is_taken():
    source = ast.parse(
        "raise InputError(f'column {name!r} has no value')\n"
        "@click.command(help='A short help of a command')\n"
        "def f():\n    'Publish a table of people.'\n"
        "def g():\n    'A docstring that nobody is shown.'\n    return 'SELECT a FROM b WHERE c'\n"
        "LIMIT = 3\n'A text that explains an attribute.'\n"
    )
    assert set(_of_source(source)) == {
        "column {name} has no value",
        "A short help of a command",
        "Publish a table of people.",
    }
    page = '<p title="What a reader hears">The release has <b>{{ n }}</b> records.</p><script>let a of b</script>'
    assert list(_of_template(page)) == ["The release has {n} records.", "What a reader hears"]


def test_known_sentences_are_in_the_list():
    told = sentences()
    assert any("Publish a table" in text for text in told["cli/publish.py"])
    assert told["pages/templates/report.html"]
    assert told["principles/principle.py"]


def test_no_riddles():
    found = [f"{name}: {text}" for name, told in sentences().items() for text in told if RIDDLES.search(text)]
    assert not found, "\n".join(found)


def texts() -> Iterator[str]:
    """Every text in the source but docstrings, however short, and the words of the pages."""
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        explained = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in explained:
                yield f"{path.relative_to(SOURCE)}: {node.value}"
    for page in SOURCE.rglob("*.html"):
        yield f"{page.relative_to(SOURCE)}: {page.read_text(encoding='utf-8')}"


def public_docstrings() -> Iterator[str]:
    """What `help` shows of the public names, and of what they have."""
    for name in gh.__all__:
        thing = getattr(gh, name)
        members = inspect.getmembers(thing) if inspect.isclass(thing) else []
        for one, what in [(name, thing), *((f"{name}.{own}", it) for own, it in members if not own.startswith("_"))]:
            yield f"{one}: {inspect.getdoc(what) or ''}"


def test_nobody_is_sent_to_a_page_that_an_installed_package_does_not_have():
    found = [text[:200] for text in (*texts(), *public_docstrings()) if "docs/" in text]
    assert not found, "name a command, or say it in the sentence itself:\n" + "\n".join(found)


def test_readability_orders_texts():
    plain, _, _ = ease(["The cat sat on the mat. It was warm."])
    hard, _, long = ease(["Notwithstanding considerable methodological heterogeneity, " + "generalisation " * 25])
    assert plain > 90
    assert hard < 0
    assert long == 1
