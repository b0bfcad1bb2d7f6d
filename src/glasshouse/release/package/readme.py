# SPDX-License-Identifier: Apache-2.0
"""The README of a release: what its tables mean, how to ask them, what is promised and what is not.

It says what the manifest says, for people, and nothing else: no place, no time, no name of anybody. Names of columns
and values come from the table: they are words to read, never a link, a picture, markup or the end of a table cell, so
that nobody who reads the README in a browser is led anywhere by them.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from glasshouse.plural import counted
from glasshouse.release.layout import BOXES, COUNT, LAYOUTS, LEFT, TAXONOMIES, Layout
from glasshouse.release.package.tables import guarded_name
from glasshouse.sql_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from glasshouse.release.release import Recipe, Release

__all__ = ["FLAT_USE", "code", "description", "flat_rows", "prose", "readme"]

FLAT_USE: Final = (
    "It is good for charts, pivot tables and models, which look at many rows together. It must not be used to count "
    "people in small cells or to look for a person: use `glasshouse query`, which gives counts with intervals."
)
"""What a flat table is good for, and what it must not be used for."""


def flat_rows(recipe: Recipe) -> str:
    """What the rows of a flat table have to do with real people, before one is drawn."""
    if recipe.is_exact:
        return (
            "each row has the quasi-identifiers of a real person, as the release publishes them, and its other values "
            "are drawn at random"
        )
    return (
        "a row is drawn at random and is no fact about a person: it has the quasi-identifiers of a real person where "
        "all cells of that person are exact, and by chance elsewhere"
    )


_DECLARED = {
    "tree": (
        "a cell is a value, or a label of a taxonomy, which stands for any of the values below it. `declared` has "
        "the whole taxonomy as nested lists: each list has its label first and then everything below it, and a text "
        "is a value."
    ),
    "rule": "a cell is a value, or a label that says what it covers; `declared` has the rule for the labels.",
    "nodes": (
        "a cell is a value, or a label of a taxonomy, which stands for any of the values below it. `declared` has "
        "the labels that occur in the tables, and which label lies within which; the taxonomy itself is not "
        "published."
    ),
    "quantiles": "a cell is a value, or a label that says what it covers.",
    "unknown nodes": (
        "a cell is a value, or a label of a taxonomy that is not published: ask the publisher what the labels cover."
    ),
    "order": "an interval covers all values between its two ends; `declared` has the order of the values.",
    "order untold": "an interval covers all values between its two ends, in an order that is not published.",
}


def description(release: Release) -> str:
    """Tell about a release in one sentence, for the manifest."""
    return f"A table about people. Guaranteed: {release.guarantee.promise}. How to read it: README.md"


def readme(
    release: Release,
    format: str,
    version: str,
    missing: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    parts: Mapping[str, int] | None = None,
) -> str:
    """Tell about a release in Markdown.

    ``missing`` says of CSV files which words stand for missing values, by table and column; ``parts`` of how many files
    a table is, unless it is one.
    """
    missing = missing or {}
    several = {name for name, n_parts in (parts or {}).items() if n_parts > 1}
    sections = [
        f"# {prose(release.title) or 'A table about people, released'}",
        _about(release, version),
        "## Tables",
        release.layout.meaning,
        *(_table(name, release, format, (parts or {}).get(name, 1)) for name in release.packaged),
        *_editions(release),
        *_declared(release),
        "## Questions",
        _questions(release, format, missing, several),
        "## Missing values and unusual texts",
        _missing(missing),
        "## What is guaranteed",
        _promise(release),
        "## What is not guaranteed",
        _limits(release),
        "## How it was made",
        _recipe(release),
    ]
    if release.licence:
        sections += ["## Licence", _licence(release.licence)]
    return "\n\n".join(_wrapped(part) for part in sections) + "\n"


def _about(release: Release, version: str) -> str:
    dropped = (
        f" {counted(release.n_dropped, 'more person was', 'more people were')} left out." if release.n_dropped else ""
    )
    return (
        f"This folder describes {counted(release.n_tuples, 'person')}.{dropped} Glasshouse {version} made the "
        "tables so that "
        "they can be analysed while the sensitive values of each person stay protected, as the guarantee below says. "
        "`datapackage.json` has the same description for programs (a Data Package, datapackage.org), with the checksum "
        "of every file."
    )


def _table(name: str, release: Release, format: str, n_parts: int) -> str:
    columns = {column.name: column for column in release.columns}
    rows = [
        f"| {code(_named(field.name, format)).replace('|', chr(92) + '|')} | {columns[field.name].role} | "
        f"{columns[field.name].kind} | {prose(columns[field.name].meaning)} |"
        for field in release.packaged[name].schema
    ]
    several = f"`{name}/`: {n_parts:,} files, which form one table in the order of their names"
    title = f"`{name}.{format}`" if n_parts == 1 else several
    head = [f"### {title}\n", "| column | role | values | what a cell means |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *rows])


def _editions(release: Release) -> list[str]:
    """The list of editions, and how people who left are shown."""
    if not release.editions:
        return []
    lines = [
        f"* {prose(str(edition.label))}: {counted(edition.n_tuples, 'person')}"
        + (f", {edition.n_dropped:,} left out" if edition.n_dropped else "")
        + ("; this edition could not be published" if edition.is_closed else "")
        for edition in release.editions
    ]
    told = (
        "The table was published again when people had been added. Each person belongs to the edition in which they "
        "were first published. A published edition never changes: its values are those of that time."
    )
    gone = (
        f"The table `{LEFT}` lists the people who have left, with their published quasi-identifiers and the first "
        "edition without them. They are still counted in their groups: `glasshouse query . --as-of EDITION` takes "
        "this into account."
    )
    return ["### Editions", told, "\n".join(lines), *([] if release.left is None else [gone])]


def _declared(release: Release) -> list[str]:
    """What a node covers, or the order of categories, and where to find the rest of it."""
    lines = [
        f"* {code(column.name)}: {_DECLARED.get(kind, _DECLARED['rule'])}"
        for column in release.columns
        if column.declared is not None
        and (kind := _kind_of(column.declared)) is not None
        and (kind.startswith("order") or _shows_nodes(release))
    ]
    if not lines:
        return []
    told = (
        "The publisher declared taxonomies or orders for these columns before publishing the table. They are in "
        "`datapackage.json`, under `glasshouse.columns`, as `declared`."
    )
    return ["### Taxonomies and orders", told, "\n".join(lines)]


def _kind_of(declared: Mapping[str, Any]) -> str | None:
    kind = str(declared["kind"])
    if kind == "nodes" and not declared["nodes"]:
        return None  # cells are no nodes
    return f"{kind} untold" if kind == "order" and "order" not in declared else kind


def _shows_nodes(release: Release) -> bool:
    return TAXONOMIES.name in (release.recipe.recoding.get("name"), release.recipe.recoding.get("cells"))


# ----------------------------------------------------------------------------------------------------- how to ask


def _questions(
    release: Release, format: str, missing: Mapping[str, Mapping[str, Sequence[str]]], several: Collection[str]
) -> str:
    value = release.recipe.sensitive[0] if release.recipe.sensitive else None
    asked = f"SELECT {quoted_name(value)}, COUNT(*) GROUP BY {quoted_name(value)}" if value else "SELECT COUNT(*)"
    sentences = [
        "Glasshouse answers questions about the people from these tables, with an interval for each estimate. Run "
        "this in the folder of this file:",
        _fenced("sh", f"glasshouse query . {_shell(asked)}"),
        "You can also read the tables with any other tool. In SQL (DuckDB):",
        _fenced("sql", _in_sql(release, format, several)),
        "The same with pandas:",
        _fenced("python", _in_pandas(release, format, missing, several)),
        "Other tools do not know that a coarse cell stands for one of several values: treat each cell as a category, "
        "or use Glasshouse.",
        *(_in_spreadsheets(release) if _can_be_flat(release) else ()),
    ]
    return "\n\n".join(sentences)


def _can_be_flat(release: Release) -> bool:
    """Whether there are several tables from which a flat one can be drawn: not if a column has timestamps."""
    return len(release.packaged) > 1 and not any(column.kind == "timestamp" for column in release.columns)


def _in_spreadsheets(release: Release) -> tuple[str, str, str]:
    """What a flat table is, what it is good for and what not, and how to get one where there are several tables."""
    return (
        "A *flat table* is one table for a spreadsheet, drawn at random from the tables of this folder: it has as many "
        f"rows as people were published; {flat_rows(release.recipe)}. {FLAT_USE}",
        "The publisher may have added one in a folder `flat` beside this folder. To draw one yourself, run this in the "
        "folder of this file:",
        _fenced("sh", "glasshouse sample . --out ../flat"),
    )


def _in_sql(release: Release, format: str, several: Collection[str]) -> str:
    """A query that counts each sensitive value; if values are separate from people, the people are estimated."""
    asked = _apart(release)
    if asked is None:
        (name,) = release.tables
        size = _layout(release).size
        weight = "COUNT(*) AS people" if size is None else f"SUM({quoted_name(size)}) AS weight"
        shown = quoted_name(_named(_shown(release), format))
        return f"SELECT {shown}, {weight}\nFROM {_file_in_sql(name, format, several)}\nGROUP BY ALL ORDER BY ALL"
    number, values, column, people, shown = asked
    column, shown, file = _named(column, format), _named(shown, format), _file_in_sql(values, format, several)
    if people is None:
        return (
            f"SELECT {quoted_name(column)}, SUM({quoted_name(COUNT)}) AS people\nFROM {file}\nGROUP BY ALL ORDER BY ALL"
        )
    return (
        f"WITH sizes AS (SELECT {quoted_name(number)}, SUM({quoted_name(COUNT)}) AS size FROM {file} GROUP BY ALL)\n"
        f"SELECT {quoted_name(shown)}, {quoted_name(column)}, SUM({quoted_name(COUNT)} / size) AS expected\n"
        f"FROM {_file_in_sql(people, format, several)} AS people\n"
        f"JOIN {file} AS counts USING ({quoted_name(number)}) JOIN sizes USING ({quoted_name(number)})\n"
        "GROUP BY ALL ORDER BY ALL"
    )


def _file_in_sql(name: str, format: str, several: Collection[str]) -> str:
    """A table as DuckDB reads it, with missing values and texts as they are."""
    files = f"'{name}/*.{format}'" if name in several else f"'{name}.{format}'"
    return files if format == "parquet" else f"read_csv({files}, nullstr='', allow_quoted_nulls=false)"


def _in_pandas(
    release: Release, format: str, missing: Mapping[str, Mapping[str, Sequence[str]]], several: Collection[str]
) -> str:
    head = ["import pandas as pd\n"]
    if format == "csv" and several:
        head.insert(0, "from pathlib import Path\n")
    asked = _apart(release)
    if asked is None:
        (name,) = release.tables
        size = _layout(release).size
        counted = ".size()" if size is None else f"[{size!r}].sum()"
        grouped = f"data.groupby({_named(_shown(release), format)!r}, observed=True, dropna=False){counted}"
        return "\n".join([*head, f"data = {_read_by_pandas(name, format, missing, several)}", f"print({grouped})"])
    number, values, column, people, shown = asked
    column, shown = _named(column, format), _named(shown, format)
    lines = [*head, f"values = {_read_by_pandas(values, format, missing, several)}"]
    if people is None:
        return "\n".join([*lines, f"print(values.groupby({column!r}, observed=True, dropna=False)[{COUNT!r}].sum())"])
    keys = [shown, column]
    return "\n".join(
        [
            *lines,
            f"people = {_read_by_pandas(people, format, missing, several)}",
            f"values['expected'] = values[{COUNT!r}] / values.groupby({number!r})[{COUNT!r}].transform('sum')",
            f"both = people.merge(values, on={number!r})",
            f"print(both.groupby({keys!r}, observed=True, dropna=False)['expected'].sum())",
        ]
    )


def _read_by_pandas(
    name: str, format: str, missing: Mapping[str, Mapping[str, Sequence[str]]], several: Collection[str]
) -> str:
    if format == "parquet":
        return f"pd.read_parquet('{name}')" if name in several else f"pd.read_parquet('{name}.parquet')"
    words = {column: list(found) for column, found in missing[name].items() if found}
    if name in several:
        each = f"pd.read_csv(file, keep_default_na=False, na_values={words!r})"
        return f"pd.concat({each} for file in sorted(Path('{name}').iterdir()))"
    return f"pd.read_csv('{name}.csv', keep_default_na=False, na_values={words!r})"


def _missing(missing: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """How missing values, empty texts and the text NA are distinguished; and the meaning of an apostrophe."""
    if not missing:
        return (
            "In these Parquet files a missing value is a null. The empty text and a text such as `NA` are ordinary "
            "texts. Every program that reads Parquet tells them apart."
        )
    marked = {
        (name, column): words[0] for name, found in missing.items() for column, words in found.items() if any(words)
    }
    told = [
        f"* In {code(column)} of `{name}.csv`, which also has empty texts, a missing value is the word {code(word)}."
        for (name, column), word in marked.items()
    ]
    calls = (f"NULLIF({quoted_name(column)}, {_text_in_sql(word)})" for (_, column), word in marked.items())
    nulls = "".join(f", then {code(call)}" for call in calls)
    but = {0: "", 1: " This column is an exception:"}.get(len(told), " These columns are exceptions:")
    return "\n".join(
        [
            "In these CSV files a missing value is an empty cell without quotes. Every cell in quotes is a text, "
            'including the empty text (`""`) and texts such as `NA` and `null`. `datapackage.json` says the same '
            f"(`missingValues`).{but}",
            *(["", *told] if told else []),
            "",
            "Many programs treat such texts as missing values unless you tell them not to:",
            "",
            "* pandas: use the options of the example above. Without them it treats the empty text, `NA`, `null` and "
            "others as missing values.",
            f"* DuckDB: `read_csv('FILE', nullstr='', allow_quoted_nulls=false)`{nulls}. Without these options it "
            "treats the empty text as a missing value.",
            "* polars: `pl.read_csv('FILE')` tells them apart"
            + (
                "; then replace, in each column that is an exception, the word for a missing value by null."
                if marked
                else "."
            ),
            "* R: `readr::read_csv('FILE', na = '')` keeps the text `NA`, but treats the empty text as missing.",
            "* Excel shows an empty text and a missing value in the same way.",
            "",
            "A spreadsheet would run some texts as a formula: those that begin with `=`, `+`, `-`, `@`, a tab or a "
            "line break and are not numbers. In these files such a text, or such a name of a column, has an apostrophe "
            "before it. To get the original text, remove one apostrophe where one of these characters follows it; "
            "Glasshouse does this for you.",
        ]
    )


def _shown(release: Release) -> str:
    """The column of a single table that an example counts."""
    return release.recipe.sensitive[0] if release.recipe.sensitive else release.recipe.quasi[0]


def _apart(release: Release) -> tuple[str, str, str, str | None, str] | None:
    """Where values are apart from people: number, table and column of values, table and column of people."""
    layout = _layout(release)
    number = layout.number
    if number is None or layout.counted is None or not release.recipe.sensitive:
        return None
    column = release.recipe.sensitive[0]
    values = next(name for name, table in release.tables.items() if column in table.column_names)
    for name, table in release.tables.items():
        if number in table.column_names and COUNT not in table.column_names:
            return number, values, column, name, next(c for c in table.column_names if c != number)
    return number, values, column, None, ""


# -------------------------------------------------------------------------------------------------- what is promised


def _promise(release: Release) -> str:
    guarantee = release.guarantee
    lines = [
        _sentence(guarantee.promise),
        f"This is guaranteed against {prose(guarantee.adversary_knows)} (the *{prose(guarantee.adversary)}* attacker).",
        f"Reason: {prose(guarantee.theorem)}.",
    ]
    if guarantee.references:
        lines.append(" ".join(_sentence(text) for text in guarantee.references))
    if guarantee.assumptions:
        lines.append("This assumes:\n\n" + "\n".join(f"* {_sentence(text)}" for text in guarantee.assumptions))
    lines.append("To check the tables against this guarantee, run `glasshouse verify .` in the folder of this file.")
    return "\n\n".join(lines)


def _limits(release: Release) -> str:
    seeded = [
        "the random choices were made with a fixed seed, so that an attacker may repeat them: this release is only "
        "for tests"
    ]
    limits = [
        *(seeded if release.recipe.seeded else []),
        *release.guarantee.limits,
        "if there is another release about the same people, an attacker can combine the two and learn more",
        "everybody can learn statistics about many people, which are the purpose of a release; they may also suggest "
        "something about a single person",
    ]
    return "\n".join(f"* {_sentence(text)}" for text in limits)


def _recipe(release: Release) -> str:
    recipe = release.recipe
    known = " The guarantee holds even if an attacker knows all of them."
    return (
        f"Principle {code(str(recipe.principle.get('name')))}, method {code(str(recipe.method.get('name')))}, recoding "
        f"{code(_recoding(release))}; all parameters are in `datapackage.json` under `glasshouse.recipe`."
        f"{known if release.guarantee.adversary in ('algorithm-aware', 'corrupting') else ''}"
    )


# ---------------------------------------------------------------------------------------------------------- words


def _sentence(text: str) -> str:
    """A part of a guarantee as a whole sentence."""
    return f"{prose(text[:1].upper() + text[1:])}."


def _layout(release: Release) -> Layout:
    return LAYOUTS.get(_recoding(release), BOXES)


def _recoding(release: Release) -> str:
    return str(release.recipe.recoding.get("name"))


def _shell(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fenced(language: str, code: str) -> str:
    """A block of code; the fence is longer than any row of backticks in it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code}\n{fence}"


def _named(name: str, format: str) -> str:
    """The name of a column in its file."""
    return guarded_name(name) if format == "csv" else name


def _text_in_sql(text: str) -> str:
    quoted = text.replace("'", "''")
    return f"'{quoted}'"


def _licence(licence: str) -> str:
    """A link, if the licence is nothing but an address; otherwise the identifier."""
    return f"<{licence}>" if re.fullmatch(r"https?://[-\w.~:/?#@!$&'*+,;=%]+", licence, re.ASCII) else prose(licence)


def _wrapped(part: str) -> str:
    """Prose wrapped to a readable width; headings, tables, lists and code unchanged."""
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


_MARKUP = re.compile(r"[\\`*_\[\]<>|~&#!@]|(?<=:)/(?=/)|(?<=www)\.|(?<!\S)[-+](?!\w)")


def prose(text: str) -> str:
    """A text on one line, with characters escaped that have a meaning in Markdown.

    >>> print(prose("see [here](https://example.org) <b>R&D</b>"))
    see \\[here\\](https:\\//example.org) \\<b\\>R\\&D\\</b\\>
    """
    return _MARKUP.sub(lambda found: f"\\{found[0]}", _line(text))


def code(text: str) -> str:
    """A text on one line in code style, unchanged.

    >>> print(code("a`b"), code("age"))
    `` a`b `` `age`
    """
    line = _line(text)
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    if not longest and line.strip():
        return f"`{line}`"
    fence = "`" * (longest + 1)
    return f"{fence} {line} {fence}"


def _line(text: str) -> str:
    """A text on one line, without invisible characters and without those that reverse the direction of writing."""
    shown = "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Cs") and not c.isspace() else c for c in text)
    return " ".join(shown.split())
