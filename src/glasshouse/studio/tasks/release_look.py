# SPDX-License-Identifier: Apache-2.0
"""Examination of a release folder: its guarantee, its columns, and example questions.

Nothing but the release is read. One that was tampered with is refused here, before anything is made of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse.sql_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from glasshouse.release import Release
    from glasshouse.studio.job import Tell
    from glasshouse.supports.evidence import Evidence

__all__ = ["look"]

_MOST_EXAMPLES = 6


def look(*, tell: Tell, release: str) -> dict[str, Any]:
    """Load a release, and describe its content."""
    tell.progress("checking the release", 0, 0)
    from glasshouse.adversary.task import promised_limit
    from glasshouse.journeys.load import load
    from glasshouse.pages.report.words import in_words
    from glasshouse.supports.evidence import Evidence

    loaded = load(release)
    limits = {column: promised_limit(loaded, column) for column in loaded.recipe.sensitive}
    evidence = Evidence(release=loaded)
    return {
        "title": loaded.title,
        "n_tuples": loaded.n_tuples,
        "n_dropped": loaded.n_dropped,
        "promise": loaded.guarantee.promise,
        "adversary": loaded.guarantee.adversary,
        "words": in_words(loaded.recipe),
        "quasi": list(loaded.recipe.quasi),
        "sensitive": list(loaded.recipe.sensitive),
        "limits": [None if limit is None else str(limit) for limit in limits.values()],
        "columns": [(name, kind, _written(name, evidence.kinds)) for name, kind in evidence.kinds.items()],
        "kinds": [evidence.kinds.get(name, "category") for name in loaded.recipe.quasi],
        "examples": list(dict.fromkeys(_examples(loaded, evidence)))[:_MOST_EXAMPLES],
    }


# --- questions --------------------------------------------------------------------------------------------------------


def _examples(release: Release, evidence: Evidence) -> Iterator[str]:
    """Example questions about the columns of a release, all of them valid."""
    quasi, sensitive = release.recipe.quasi, release.recipe.sensitive
    kinds = evidence.kinds
    counted = next((name for name in quasi if kinds[name] in ("integer", "float")), None)
    category = next((name for name in quasi if kinds[name] in ("category", "boolean")), None)
    written = {name: _written(name, kinds) for name in kinds}
    asked: list[str] = ["SELECT COUNT(*)"]
    for name in sensitive[:1]:
        own = written[name]
        asked = [f"SELECT {own}, COUNT(*) GROUP BY {own}"]
        value = _literal(evidence, name)
        if value is not None:
            asked.append(f"SELECT COUNT(*) WHERE {own} = {value}")
            if category is not None:
                asked.append(f"SELECT {written[category]}, COUNT(*) WHERE {own} = {value} GROUP BY {written[category]}")
        if counted is not None:
            asked.append(f"SELECT {own}, COUNT(*), AVG({written[counted]}) GROUP BY {own}")
    if category is not None:
        asked.append(f"SELECT {written[category]}, COUNT(*) GROUP BY {written[category]}")
    yield from (sql for sql in asked if _is_read(sql, kinds))


def _literal(evidence: Evidence, name: str) -> str | None:
    """The first value of a sensitive column, as SQL writes it."""
    from glasshouse.microdata.domains import text_of

    value = next((value for value in evidence.published(name).values if value is not None), None)
    if value is None:
        return None
    kind, text = evidence.kinds[name], text_of(value)
    if kind in ("integer", "float"):
        return text
    if kind == "boolean":
        return text.upper()
    quoted = "'" + text.replace("'", "''") + "'"
    return {"date": f"DATE {quoted}", "timestamp": f"TIMESTAMP {quoted}"}.get(kind, quoted)


def _written(name: str, kinds: dict[str, str]) -> str:
    """A column name in SQL: in quotes if necessary."""
    plain = name.isascii() and name.isidentifier() and name == name.strip()
    if plain and _is_read(f"SELECT {name}, COUNT(*) GROUP BY {name}", kinds):
        return name
    return quoted_name(name)


def _is_read(sql: str, kinds: dict[str, str]) -> bool:
    from glasshouse.analyst.questions.sql import question_of
    from glasshouse.errors import GlasshouseError

    try:
        question_of(sql, kinds)
    except GlasshouseError:
        return False
    return True
