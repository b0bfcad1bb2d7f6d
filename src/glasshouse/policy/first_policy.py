# SPDX-License-Identifier: Apache-2.0
"""A first policy, written from an inspection: roles as guessed, risks as comments, no value of the data."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING

from glasshouse.policy.policy_text import bare, quoted
from glasshouse.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from glasshouse.microdata.inspection.inspection import ColumnReport, Inspection

__all__ = ["policy_from"]

_ELL = 5  # what is proposed where the table allows it
_K = 5
_BINS = 10
_WIDTH = 100
# Of an address: what stands between a colon and the last at sign, and a parameter that is called so.
_PASSWORD = re.compile(r"(?<=://)(?P<user>[^/@:\s]*):.*@|(?<=[?&])(ssl)?password=[^&]*&?", re.IGNORECASE)


def policy_from(inspection: Inspection, *, file: str | None = None, out: str = "out", **source: str) -> str:
    """Write a commented policy, in TOML, for a table that was inspected.

    It holds the names of columns, guessed roles, and counts in comments. It holds no value of the table.

    Parameters
    ----------
    inspection
        What `glasshouse.inspect` found.
    file
        The table's file, relative to where the policy will lie.
    out
        The folder to publish into, relative to where the policy will lie.
    source
        What else is to stand in the table ``[source]``, such as ``delimiter``.

    Examples
    --------
    >>> import glasshouse as gh
    >>> patients = {"age": [30, 30, 41, 52], "sex": ["F", "M", "F", "F"], "disease": ["flu", "flu", "ulcer", "HIV"]}
    >>> print(policy_from(gh.inspect(patients), file="patients.csv").partition("[principle]")[2])
    <BLANKLINE>
    # disease: ell can be at most 2
    ell = 2
    <BLANKLINE>
    [release]
    out = "out"
    format = "parquet"           # or "csv"
    <BLANKLINE>
    """
    return "\n".join(_lines(inspection, file, out, source)) + "\n"


def _lines(inspection: Inspection, file: str | None, out: str, source: Mapping[str, str]) -> Iterator[str]:
    roles = inspection.suggested
    named = {*roles["quasi"], roles["sensitive"], roles["identifier"]}
    yield f"# How a table of {inspection.n_tuples:,} rows and {len(inspection.columns):,} columns is published."
    yield "# Roles are guesses, from names and from how often values repeat: decide on each of them."
    yield from _comment("Publish by it with: glasshouse publish FILE, where FILE is this policy.")
    yield ""
    yield "[source]"
    if file is None:
        yield '# file = "table.csv"        # relative to this policy'
    else:
        yield f"file = {quoted(_without_password(file))}"
    yield from (f"{name} = {quoted(value)}" for name, value in source.items())
    gaps = any(column.missing for column in inspection.columns if column.name in named)
    yield 'missing = "category"         # or "drop"' if gaps else 'missing = "error"            # or "category", "drop"'
    for notice in inspection.notices:
        yield from _comment(notice)
    for caution in inspection.cautions:
        yield from _comment(f"caution: {caution}: {caution.answer}")
    if inspection.cautions:
        listed = ", ".join(quoted(name) for name in dict.fromkeys(caution.name for caution in inspection.cautions))
        yield f"# accept = [{listed}]"

    yield from ("", "[roles]")
    if roles["identifier"]:
        yield f"identifier = {quoted(roles['identifier'])}".ljust(28) + " # names the person; never published"
    yield from _quasi(inspection, roles["quasi"])
    if roles["sensitive"]:
        yield f"sensitive = {quoted(roles['sensitive'])}"
    else:
        yield '# sensitive = "..."         # what must not be learned about a person'
    for column in inspection.columns:
        if column.name not in named:
            yield from _comment(f"not published: {column.name} ({column.reason})")

    if inspection.sensitive and inspection.sensitive.must_be_binned:
        yield from ("", f"[columns.{bare(inspection.sensitive.column)}]")
        yield from _comment("borders of quantiles come from the table, and are published: intervals:WIDTH is safer")
        yield f'bins = "quantiles:{_BINS}"        # or "intervals:WIDTH"; or categorical = true'
    yield from ("", "[principle]", *_principle(inspection))
    yield from ("", "[release]", f"out = {quoted(out)}", 'format = "parquet"           # or "csv"')


def _quasi(inspection: Inspection, quasi: list[str]) -> Iterator[str]:
    if not quasi:
        yield '# quasi = ["..."]           # what others may know about everyone'
        return
    yield "quasi = ["
    reports: dict[str, ColumnReport] = {column.name: column for column in inspection.columns}
    for name in quasi:
        yield f"    {quoted(name)},".ljust(28) + f" # {visible(reports[name].reason)}"
    yield "]"
    for sentence in inspection.risk:
        yield from _comment(sentence)


def _principle(inspection: Inspection) -> Iterator[str]:
    sensitive = inspection.sensitive
    if sensitive is None:
        yield from _comment("every group has at least so many people; nothing is promised of any other column")
        yield f"k = {max(2, min(_K, inspection.n_tuples))}"
        return
    yield from _comment(str(sensitive))
    if sensitive.must_be_binned:
        yield "ell = 2"
    elif sensitive.largest_ell >= 2:
        yield f"ell = {min(_ELL, sensitive.largest_ell)}"
    else:
        yield from _comment("so no l-diversity is possible without dropping rows: see [release] suppress")
        yield "ell = 2"


def _without_password(file: str) -> str:
    return _PASSWORD.sub(lambda found: f"{found['user']}@" if found["user"] is not None else "", file)


def _comment(sentence: str) -> list[str]:
    return wrap(
        visible(sentence), _WIDTH, initial_indent="# ", subsequent_indent="#   ", break_on_hyphens=False
    )  # fmt: skip
