# SPDX-License-Identifier: Apache-2.0
"""Every sentence that Glasshouse can print: `python -m tests.words.sentences` writes them into sentences.txt.

Taken are the texts in the source that have three words or more (messages, help, labels), the help of commands, which
stands in their docstrings, and the words of the page templates. What is filled in later stands in braces. Not taken
are docstrings and comments, what is meant for machines (SQL, style sheets, patterns), and the code of pages.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

import glasshouse

SOURCE = Path(glasshouse.__file__).parent
LIST = Path(__file__).with_name("sentences.txt")
HEAD = """\
Every sentence that Glasshouse can print, by the file that it stands in. `make fix` writes this list: edit the files.
A reader who is no engineer should understand each of them when they know what the braces stand for.
"""
_WORDS = re.compile(r"[A-Za-z][a-z']*(?:[ -]|$)")
_MACHINE = re.compile(r"^\s*(SELECT|CREATE|INSERT|COPY|DROP|SET|BEGIN|<\w)|;\s*$|^[\w.,:#-]+$|\(\?|\\[wdsb]|^\w+=")
_FEWEST_WORDS = 3


@cache
def sentences() -> dict[str, list[str]]:
    """The sentences of each file that has any, in the order in which they stand there."""
    found = {}
    for path in sorted(SOURCE.rglob("*")):
        if path.suffix == ".py" and "kernels" not in path.name:
            told = list(_of_source(ast.parse(path.read_text(encoding="utf-8"))))
        elif path.suffix == ".html":
            told = list(_of_template(path.read_text(encoding="utf-8")))
        else:
            continue
        if told := list(dict.fromkeys(told)):
            found[path.relative_to(SOURCE).as_posix()] = told
    return found


def listed() -> str:
    """The whole list, as it stands in the file."""
    parts = [f"\n{name}\n" + "".join(f"  {text}\n" for text in told) for name, told in sentences().items()]
    return HEAD + "".join(parts)


def _of_source(tree: ast.Module) -> Iterator[str]:
    """The texts of a module that a person may read."""
    passed_over = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text is not None and any("command" in ast.unparse(d) for d in getattr(node, "decorator_list", ())):
                yield from _paragraphs(text)
        elif isinstance(node, ast.Expr):  # a text that explains an attribute
            passed_over.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            passed_over.update(part for part in ast.walk(node) if part is not node)
    for node in ast.walk(tree):
        if node in passed_over:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(
                part.value if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        yield from _readable(text)


def _of_template(text: str) -> Iterator[str]:
    """The words of a page: what stands between its tags, and in the attributes that are read out."""
    text = re.sub(r"<(script|style)\b.*?</\1>|<!--.*?-->|\{#.*?#\}", " ", text, flags=re.DOTALL)
    text = re.sub(r"\{%.*?%\}", "\n", text, flags=re.DOTALL)
    read_out = re.findall(r"\b(?:title|placeholder|alt|aria-label|data-confirm)=\"([^\"]*)\"", text)
    inline = re.sub(r"</?(a|b|i|em|strong|code|span|small|kbd|abbr)\b[^>]*>", "", text)
    for block in [*re.split(r"<[^>]*>", inline), *read_out]:
        yield from _readable(re.sub(r"\{\{\s*(.*?)\s*\}\}", r"{\1}", block, flags=re.DOTALL))


def _paragraphs(text: str) -> Iterator[str]:
    for block in re.split(r"\n\s*\n", text):
        if "\b" not in block:  # examples, which are commands
            yield from _readable(block)


def _readable(text: str) -> Iterator[str]:
    """The text on one line, if it is one for people."""
    line = " ".join(text.split())
    bare = re.sub(r"\{[^{}]*\}", " ", line)
    if len(_WORDS.findall(bare)) >= _FEWEST_WORDS and not _MACHINE.search(line):
        yield line


if __name__ == "__main__":
    LIST.write_text(listed(), encoding="utf-8")
