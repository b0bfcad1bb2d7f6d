# SPDX-License-Identifier: Apache-2.0
"""The README of a release: what its tables mean, how to ask them, what is promised and what is not.

It says what the manifest says, for people, and nothing else: no place, no time, no name of anybody.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glasshouse.release.release import Release

__all__ = ["description", "readme"]

_MEANINGS = {
    "boxes": (
        "Every row is one person. Sensitive values are as they were. Quasi-identifiers are as coarse as those of the "
        "person's group: all rows with the same cells are one group, and nothing tells its members apart."
    ),
    "anatomy": (
        "Quasi-identifiers are exact, one row for each person, and every person has the number of a group. Sensitive "
        "values are in a table of their own, counted by group. Who of a group has which of its values is not told: a "
        "person of a group of ten in which a value occurs twice has it with probability 2/10."
    ),
    "permutation": (
        "A row is not a person. All quasi-identifiers and all sensitive values are exact, but inside every group (the "
        "rows with the same Group-ID) sensitive values have changed places at random. Counts by group mean something; "
        "what stands side by side in a row does not."
    ),
    "angel": (
        "Sensitive values are counted by batch in the table `bt`. Each table `gt`, `gt_2`, ... has one row for each "
        "person, with coarse quasi-identifiers and, where the table was made for sensitive values, the number of the "
        "person's batch. Who of a batch has which of its values is not published."
    ),
    "perturbed": (
        "Every row stands for a group of G people, of whom it is one at random. Its sensitive value is that person's "
        "with the probability that the column's meaning tells, and otherwise a random one: no row is true of anybody, "
        "and a sensitive value may be absurd beside its quasi-identifiers."
    ),
}
_MEANINGS["taxonomies"] = _MEANINGS["boxes"]


def description(release: Release) -> str:
    """Tell about a release in one sentence, for the manifest."""
    return f"A table about people, so published that {release.guarantee.promise}. How to read it: README.md"


def readme(release: Release, format: str, version: str) -> str:
    """Tell about a release in Markdown."""
    parts = [
        f"# {_line(release.title) or 'A table about people, released'}",
        _about(release, version),
        "## Tables",
        _MEANINGS.get(_recoding(release), "What a column means is told below."),
        *(_table(name, release, format) for name in release.tables),
        "## Questions",
        _questions(release, format),
        "## What is promised",
        _promise(release),
        "## What is not promised",
        _limits(release),
        "## How it was made",
        _recipe(release),
    ]
    if release.licence:
        parts += ["## Licence", _line(release.licence)]
    return "\n\n".join(_wrapped(part) for part in parts) + "\n"


def _about(release: Release, version: str) -> str:
    dropped = f" {release.n_dropped:,} more were left out." if release.n_dropped else ""
    return (
        f"This folder holds {release.n_tuples:,} tuples, one for each person.{dropped} They were made by Glasshouse "
        f"{version} so that the tables can be used and no person's sensitive value can be told from them, as far as is "
        "promised below. `datapackage.json` describes the same for machines (a Data Package, datapackage.org), with "
        "the checksum of every file."
    )


def _table(name: str, release: Release, format: str) -> str:
    columns = {column.name: column for column in release.columns}
    rows = [
        f"| {_cell(field.name)} | {columns[field.name].role} | {columns[field.name].kind} | "
        f"{_cell(columns[field.name].meaning)} |"
        for field in release.tables[name].schema
    ]
    head = [f"### `{name}.{format}`\n", "| column | role | values | what a cell means |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *rows])


# ----------------------------------------------------------------------------------------------------- how to ask


def _questions(release: Release, format: str) -> str:
    value = release.recipe.sensitive[0] if release.recipe.sensitive else None
    asked = f"SELECT {_sql(value)}, COUNT(*) GROUP BY {_sql(value)}" if value else "SELECT COUNT(*)"
    sentences = [
        "Glasshouse answers questions about the people with an error bar, and takes account of all that is said above "
        "(run it in this folder):",
        _fenced("sh", f"glasshouse query . {_shell(asked)}"),
        "Any other tool reads the tables as well. In SQL (DuckDB):",
        _fenced("sql", _in_sql(release, format)),
        "The same with pandas:",
        _fenced("python", _in_pandas(release, format)),
        "Other tools do not know that a coarse cell is no exact value: count cells as they are, or ask Glasshouse.",
    ]
    return "\n\n".join(sentences)


def _in_sql(release: Release, format: str) -> str:
    """How often each sensitive value occurs; where values are apart from people, for whom they are expected."""
    asked = _apart(release)
    if asked is None:
        (name,) = release.tables
        weight = 'SUM("G") AS weight' if _recoding(release) == "perturbed" else "COUNT(*) AS people"
        return f"SELECT {_sql(_shown(release))}, {weight}\nFROM '{name}.{format}'\nGROUP BY ALL ORDER BY ALL"
    number, values, column, people, shown = asked
    if people is None:
        return f"SELECT {_sql(column)}, SUM(\"Count\") AS people\nFROM '{values}.{format}'\nGROUP BY ALL ORDER BY ALL"
    return (
        f"WITH sizes AS (SELECT {_sql(number)}, SUM(\"Count\") AS size FROM '{values}.{format}' GROUP BY ALL)\n"
        f'SELECT {_sql(shown)}, {_sql(column)}, SUM("Count" / size) AS expected\n'
        f"FROM '{people}.{format}'\n"
        f"JOIN '{values}.{format}' USING ({_sql(number)}) JOIN sizes USING ({_sql(number)})\n"
        "GROUP BY ALL ORDER BY ALL"
    )


def _in_pandas(release: Release, format: str) -> str:
    asked = _apart(release)
    read = f"pd.read_{format}"
    if asked is None:
        (name,) = release.tables
        counted = "['G'].sum()" if _recoding(release) == "perturbed" else ".size()"
        grouped = f"data.groupby({_shown(release)!r}, observed=True, dropna=False){counted}"
        return f"import pandas as pd\n\ndata = {read}('{name}.{format}')\nprint({grouped})"
    number, values, column, people, shown = asked
    lines = ["import pandas as pd\n", f"values = {read}('{values}.{format}')"]
    if people is None:
        return "\n".join([*lines, f"print(values.groupby({column!r}, observed=True, dropna=False)['Count'].sum())"])
    keys = [shown, column]
    return "\n".join(
        [
            *lines,
            f"people = {read}('{people}.{format}')",
            f"values['expected'] = values['Count'] / values.groupby({number!r})['Count'].transform('sum')",
            f"both = people.merge(values, on={number!r})",
            f"print(both.groupby({keys!r}, observed=True, dropna=False)['expected'].sum())",
        ]
    )


def _shown(release: Release) -> str:
    """The column of a single table that an example counts."""
    return release.recipe.sensitive[0] if release.recipe.sensitive else release.recipe.quasi[0]


def _apart(release: Release) -> tuple[str, str, str, str | None, str] | None:
    """Where values are apart from people: number, table and column of values, table and column of people."""
    number = {"anatomy": "Group-ID", "angel": "Batch-ID"}.get(_recoding(release))
    if number is None or not release.recipe.sensitive:
        return None
    column = release.recipe.sensitive[0]
    values = next(name for name, table in release.tables.items() if column in table.column_names)
    for name, table in release.tables.items():
        if number in table.column_names and "Count" not in table.column_names:
            return number, values, column, name, next(c for c in table.column_names if c != number)
    return number, values, column, None, ""


# -------------------------------------------------------------------------------------------------- what is promised


def _promise(release: Release) -> str:
    guarantee = release.guarantee
    lines = [
        f"{guarantee.promise[:1].upper()}{guarantee.promise[1:]}.",
        f"Against {guarantee.adversary_knows} (the *{guarantee.adversary}* adversary). Why: {guarantee.theorem}.",
    ]
    if guarantee.assumptions:
        lines.append("Provided:\n\n" + "\n".join(f"* {text}" for text in guarantee.assumptions))
    lines.append("Count it again, from these tables alone, with `glasshouse verify .`")
    return "\n\n".join(lines)


def _limits(release: Release) -> str:
    seeded = ["that the random choices are secret: they came from a fixed seed, and this release is for tests"]
    limits = [
        *(seeded if release.recipe.seeded else []),
        *release.guarantee.limits,
        "anything about another release of the same people, beside this one",
        "that nothing can be learned about groups of people: what holds for many is what a release is for",
    ]
    return "\n".join(f"* {text}" for text in limits)


def _recipe(release: Release) -> str:
    recipe = release.recipe
    return (
        f"Principle `{recipe.principle.get('name')}`, method `{recipe.method.get('name')}`, recoding "
        f"`{recipe.recoding.get('name')}`; all parameters are in `datapackage.json` under `glasshouse.recipe`. Knowing "
        "them is part of what the promise takes into account where the adversary is algorithm-aware or corrupting."
    )


# ---------------------------------------------------------------------------------------------------------- words


def _recoding(release: Release) -> str:
    return str(release.recipe.recoding.get("name"))


def _sql(name: str) -> str:
    """A name as SQL writes it, whatever characters it has."""
    quoted = name.replace('"', '""')
    return f'"{quoted}"'


def _shell(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fenced(language: str, code: str) -> str:
    """A block of code; the fence is longer than any row of backticks in it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code}\n{fence}"


def _line(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def _cell(text: str) -> str:
    """A text as a cell of a Markdown table."""
    return _line(text).replace("\\", "\\\\").replace("|", "\\|")


def _wrapped(part: str) -> str:
    """Lines of prose at a readable width; headings, tables, lists and code as they are."""
    lines: list[str] = []
    code = False
    for line in part.split("\n"):
        if line.startswith("```"):
            code = not code
        if code or not line or line[0] in "#|`*" or len(line) <= 100:
            lines.append(line)
        else:
            lines += textwrap.wrap(line, 100, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)
