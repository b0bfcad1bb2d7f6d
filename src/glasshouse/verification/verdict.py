# SPDX-License-Identifier: Apache-2.0
"""The verdict of a check, in one sentence: whether a release keeps its guarantee, or what a table achieves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from glasshouse.plural import counted
from glasshouse.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.verification.verification import Check, Verification

__all__ = ["Subject", "verdict_of"]

_MOST_TOLD = 3  # faults of a release that the sentence names


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """The release that was checked: what it says that it is, and what was looked at besides its tables.

    Attributes
    ----------
    principle
        What it promises, by name, such as ``5-diversity for disease``; None if it promises nothing.
    other_writer
        The version of Glasshouse that wrote it, if its words could not be compared for that reason.
    place
        Where its files are, if each was compared with the manifest; else empty.
    signature
        What was found of its signature, in words; empty if nobody looked.
    """

    principle: str | None
    other_writer: str = ""
    place: str = ""
    signature: str = ""


def verdict_of(found: Verification) -> str:
    """State the result in one sentence."""
    words = _on_table(found) if found.subject is None else _on_release(found.subject, found.checks)
    asked = {check.column for check in found.checks if check.holds}
    alike = [name for name in found.alike if name in asked]
    if alike:
        words += (
            f"; but some values of {_all(alike)} are written almost alike and were counted as different values, so "
            "groups are less diverse than counted if these mean the same"
        )
    return visible(f"{words}.")


def _on_release(subject: Subject, checks: Sequence[Check]) -> str:
    faults = [check.fault for check in checks if not check.holds]
    if faults:
        more = [f"and {counted(len(faults) - _MOST_TOLD, 'more check fails', 'more checks fail')}"]
        told = "; ".join([*faults[:_MOST_TOLD], *(more if len(faults) > _MOST_TOLD else [])])
        it = f"Do not use {subject.place or 'the release'}: it"
        return f"{it} does not agree with its description or its guarantee: {told}"
    kept = f"its guarantee ({subject.principle}) was checked again by counting in the published tables and is kept"
    seen = ["it says that it guarantees nothing" if subject.principle is None else kept]
    is_so = ["guarantees nothing" if subject.principle is None else "keeps its guarantee"]
    if subject.place:
        seen.insert(0, "every file has the size and the checksum that datapackage.json lists")
        is_so.append("was not changed")
    if subject.signature:
        seen.append(subject.signature)
    source = "files" if subject.place else "tables"
    told = f"{subject.place or 'The release'} {_all(is_so)}, as far as its {source} can show: {_all(seen)}"
    if subject.other_writer:
        told += f"; another version ({subject.other_writer}) wrote it, so the words of its guarantee were not compared"
    return told if subject.place else f"{told}; this says nothing about its files or a signature"


def _on_table(found: Verification) -> str:
    achieved = [f"k = {found.smallest.size:,}"]
    for name, column in found.columns.items():
        achieved.append(f"l = {column.ell:,} for {name}")
        if column.t is not None:
            achieved.append(f"t = {column.t:g} for {name} ({column.distance} distance)")
    size = f"{counted(found.n_tuples, 'record')} in {counted(found.n_groups, 'group')}"
    have = f"has {size}, with {_all(achieved)}"
    if not found.checks:
        return (
            f"The table {have}. It was not compared with any requirement: name one, such as --k 5 (k=5), if you need "
            "an answer of yes or no"
        )
    faults = [check.fault for check in found.checks if not check.holds]
    if faults:
        return f"The table does not satisfy what was asked for: {'; '.join(faults)}; it {have}"
    return f"The table satisfies {_all([check.what for check in found.checks])}: it {have}"


def _all(parts: Sequence[str]) -> str:
    """Parts of a sentence as a list: with commas if there are three or more, and "and" before the last."""
    *others, last = parts
    return last if not others else f"{', '.join(others)}{',' * (len(others) > 1)} and {last}"
