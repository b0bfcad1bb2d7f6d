# SPDX-License-Identifier: Apache-2.0
"""Cautions: what a steward should know before a release goes out, in plain words, the gravest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshouse.pages.report.words import HOW, WHO
from glasshouse.plural import counted
from glasshouse.release.release import ONE_ROW_PER_PERSON

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["LEVELS", "cautions_in"]

_COSTLY = 0.1  # of people, in the table rather than outside, about whom a learned model guesses right
_COVERED = 0.8  # intervals that hold fewer of the true counts mislead
LEVELS = ("stop", "attention", "note")
"""Do not publish; check before you publish; good to know."""


def cautions_in(facts: Mapping[str, Any]) -> list[dict[str, str]]:
    """List the cautions that follow from the facts."""
    found = [
        *_promise(facts),
        *_beliefs(facts),
        *_learned(facts),
        *_identities(facts),
        *_utility(facts),
        *_known(facts),
    ]
    ordered = sorted(found, key=lambda caution: LEVELS.index(caution[0]))
    return [{"level": level, "text": text} for level, text in ordered]


def _promise(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    guarantee = facts["guarantee"]
    if facts["kept"] is False:
        yield "stop", f"The guarantee is broken: {facts['broken']}. Do not publish this release."
    if facts["recipe"]["seeded"]:
        yield (
            "stop",
            "The random choices came from a fixed seed: an attacker who learns the seed can repeat them. This "
            "release is only for tests. Make it again without a seed.",
        )
    if guarantee["theorem"] == "none":
        yield "attention", f"The release promises {guarantee['promise']}."
    elif guarantee["adversary"] == "linking":
        yield (
            "attention",
            "The guarantee is given against an attacker who links people to the release, and not against an attacker "
            "who also knows the algorithm. Anybody can know the algorithm: the release names the method. Publish again "
            "without choosing a method: the default one protects against this attacker too.",
        )


def _beliefs(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for found in facts["beliefs"]:
        if not found["ran"] or not found["people_above"]:
            continue
        own = found.get("unless_known") or found
        above = own if own["people_above"] else found  # if nobody is, then only once it is known what was too frequent
        n, of, limit = above["people_above"], found["people"], found["limit"]
        verb = "may have" if above["how"] == "bound" else "has" if n == 1 else "have"
        how = "" if above["how"] in ("exact", "bound") else f" ({HOW[above['how']]})"
        what = (
            f"For {WHO[found['adversary']]}, {n:,} of {counted(of, 'person')} {verb} a "
            f"{'protected ' if 'unprotected' in found else ''}value of {found['column']} with a "
            f"probability of more than {limit}, up to {above['largest']:.4f}{how}"
        )
        knows = "if the attacker also knows which value was so frequent that some people with it had to be left out"
        if own is found:
            what = f"{what}."
        elif above is found:
            what = (
                f"{what}, {knows}. The people counted here may themselves have been left out, and the guarantee is "
                "only for people who are known to be in the release."
            )
        else:
            more = f"it is up to {found['largest']:.4f}, and {found['people_above']:,} may be above {limit}"
            what = f"{what}; {knows}, {more}."
        if not found["promised"]:
            yield "attention", f"{what} Nothing is guaranteed against this attacker."
        elif own is not found and above is found:
            yield "attention", what
        else:
            yield ("stop" if above["how"] == "exact" else "attention"), f"{what} That is more than is guaranteed."


def _learned(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for found in facts["learner"]:
        if not found["ran"]:
            continue
        cost = found["cost"]
        if cost["more_right"] - cost["more_right_error"] > _COSTLY:
            yield (
                "attention",
                f"An attacker who learns a model from the release guesses the value of {found['column']} right for "
                f"{cost['in_table']['right']:.1%} of the people in the table, and for "
                f"{cost['outsider']['right']:.1%} of other people, whose groups were not used for the model. The "
                "guarantee does not limit such guesses. The recoding 'angel' allows fewer such right guesses than "
                "'anatomy' and 'permutation'.",
            )


def _identities(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for shown in facts["published"]["tables"]:
        if shown["exact"]:
            yield (
                "attention",
                f"The table {shown['name']} shows exact quasi-identifiers: an attacker who knows those of a person "
                "can see whether the person is in it. If being in the table is itself a secret, choose another "
                "recoding.",
            )
    for found in facts["findable"]:
        if not found["exact"] and found["k"] == 1:
            yield (
                "attention",
                (
                    f"In the table {found['table']}, at least one person has a combination of cells that nobody else "
                    "has, and can be found. If nobody may be found, make its columns coarser, or leave this table out."
                ),
            )


def _utility(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for found in facts["utility"]:
        mean, alone = found["release"]["mean"], found["no_link"]["mean"]
        if mean >= alone * (1 - 1e-9):
            yield (
                "attention",
                f"Answers about {found['column']} ({found['workload']}) have a mean error of {mean:.1%}. If the "
                f"sensitive column were published in a separate table without a link, it would be {alone:.1%}: for "
                "these questions the release is no more useful than that. Use fewer or coarser quasi-identifiers, or a "
                "weaker principle.",
            )
        if found["coverage"] is not None and found["coverage"] < _COVERED:
            yield (
                "note",
                f"Only {found['coverage']:.1%} of the true counts about {found['column']} ({found['workload']}) lie "
                "in the 95 % intervals that analysts get: the intervals are too narrow, because people are not "
                "spread as evenly within a cell as is assumed.",
            )


def _known(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    published = facts["published"]
    dropped, whole = published["dropped"], published["tuples"] + published["dropped"]
    if dropped:
        share = f"{dropped / whole:.2%}"
        yield (
            "attention",
            f"{dropped:,} of {counted(whole, 'person')} ({share}) {'was' if dropped == 1 else 'were'} left out. "
            "Nothing is guaranteed for them: the guarantee is for people who are known to be in the release.",
        )
    if ONE_ROW_PER_PERSON in facts["guarantee"]["assumptions"]:
        yield "note", "No identifier was named: people are protected only if nobody has two rows."
    for limit in facts["guarantee"]["limits"]:
        yield "note", f"Not guaranteed: {limit}."
    yield (
        "note",
        (
            "A second, independent release of the same people can break the guarantees of both. Two things can be "
            "added safely: next year's table, as an edition of this release; and, if the recoding is 'angel' and there "
            "are no editions, more tables over the same groups (marginals)."
        ),
    )
