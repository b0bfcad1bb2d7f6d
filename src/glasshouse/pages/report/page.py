# SPDX-License-Identifier: Apache-2.0
"""Page: the facts as one self-contained HTML file, without scripts, fonts or pictures from outside.

Here numbers are written, as rows of tables, and figures are drawn; ``report.html`` says what stands where.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from glasshouse.pages.charts.report_figures import belief_figure, error_figure, width_figure
from glasshouse.pages.html import render
from glasshouse.pages.numbers import percent
from glasshouse.pages.report.words import HOW, WHO
from glasshouse.plural import counted, ordinal
from glasshouse.verification.verification import words_for
from glasshouse.visible import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["page"]

_SECTIONS = {
    "short": "In short",
    "published": "What was published, and how",
    "promise": "What is guaranteed",
    "achieved": "What the groups achieve",
    "beliefs": "What an attacker can learn about a person",
    "learner": "The cost of being in the table",
    "risks": "The risks that regulators name",
    "utility": "What an analyst can learn",
    "losses": "What is lost",
    "values": "What happened to values",
    "files": "Files, versions, checksums",
}
_MOST_RECURSIVE = 8


def page(facts: Mapping[str, Any]) -> str:
    """Write the page."""
    losses, beliefs = facts["losses"], facts["beliefs"]
    widths = losses and losses["by_attribute"]
    return render(
        "report.html",
        facts=facts,
        sections=_SECTIONS,
        who=WHO,
        how=HOW,
        several=len({found["column"] for found in beliefs}) > 1,
        recipe=json_text(facts["recipe"]).splitlines(),
        tables=_tables(facts),
        figures={
            "beliefs": [belief_figure(f, f"belief-{i}") if f["ran"] else None for i, f in enumerate(beliefs)],
            "errors": [error_figure(found, f"errors-{i}") for i, found in enumerate(facts["utility"])],
            "widths": width_figure(widths, "widths") if widths else None,
        },
    )


def _tables(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The rows of every table, by its name."""
    achieved, published = facts["achieved"], facts["published"]
    sensitive = achieved.get("sensitive", {})
    return {
        "published": [[t["name"], f"{t['rows']:,}", t["columns"]] for t in published["tables"]],
        "columns": [[c["name"], c["role"], c["kind"], c["meaning"]] for c in published["columns"]],
        "recounted": [[key.replace("_", " "), f"{v:,}" if isinstance(v, int) else v] for key, v in achieved.items()],
        "checks": [[words_for(c["asked"]), c["column"] or "", c["holds"]] for c in achieved.get("checks", ())],
        "measures": {column: list(_measures(found, achieved, column)) for column, found in sensitive.items()},
        "findable": [
            [f["table"], f"{f['k']:,}", f"{f['groups']:,}", *(percent(f[k]) for k in ("highest", "average", "at_risk"))]
            for f in facts["findable"]
        ],
        "beliefs": [list(_believed(found)) if found["ran"] else [] for found in facts["beliefs"]],
        "learner": [list(_learned(found["cost"])) if found["ran"] else [] for found in facts["learner"]],
        "risks": [
            [found["risk"], found["question"], *(_rate(found["measured"][which]) for which in ("success", "baseline"))]
            for found in facts["risks"]
            if found["ran"]
        ],
        "utility": [
            [
                f"{found['questions']:,}: {found['workload']}",
                found["column"],
                *(percent(found["release"][which]) for which in ("mean", "median", "ninetieth")),
                percent(found["no_link"]["mean"]),
                percent(found["coverage"]),
            ]
            for found in facts["utility"]
        ],
        "losses": list(_lost(facts["losses"])) if facts["losses"] else [],
        "mapping": [
            [
                *(m["column"], m["role"], m["kind"], f"{m['values']:,}"),
                f"{m['missing']:,}" if m["missing"] else "none",
                m["order"],
                counted(m["taxonomy"]["levels"], "level") if m["taxonomy"] else "none",
                f"{m['cells']:,}",
            ]
            for m in facts["mapping"]
        ],
        "files": [[f["name"], f"{f['bytes']:,}", f["sha256"]] for f in facts["files"]],
    }


def _measures(found: Mapping[str, Any], achieved: Mapping[str, Any], column: str) -> Iterator[tuple[str, str, str]]:
    asked = [check["asked"] for check in achieved.get("checks", ()) if check["column"] == column]
    yield (
        "frequency l-diversity",
        f"{found['ell']['value']:,}",
        ("in every group, no value has more than 1/l of the records"),
    )
    yield (
        "largest share, alpha",
        f"{found['alpha']['value']:.6f}",
        (
            f"in the group where this share is largest, exactly {found['alpha']['exact']} of the records have the "
            "same value"
        ),
    )
    yield "distinct l-diversity", f"{found['distinct_ell']['value']:,}", "different values in every group"
    if found["entropy_ell"]:
        yield (
            "entropy l-diversity",
            f"{found['entropy_ell']['value']:.6f}",
            ("effective number of values in the least diverse group (exponential of its entropy)"),
        )
    if found["designated_ell"]:
        yield (
            "designated l-diversity",
            f"{found['designated_ell']['value']:.6f}",
            ("only for the values that were chosen to be protected"),
        )
    pairs = [pair for pair in found["recursive"] if pair["ell"] > 1]
    for pair in pairs[:_MOST_RECURSIVE]:
        words = (
            f"how often the most frequent value occurs, divided by how often the {ordinal(pair['ell'])} most frequent "
            "value and all rarer ones occur together"
        )
        yield f"recursive (c, {pair['ell']})-diversity", f"c = {pair['c']:.6f}", words
    if len(pairs) > _MOST_RECURSIVE:
        yield f"… up to l = {pairs[-1]['ell']}", "", "report.json has all of them"
    for distance in ("equal", "ordered", "hierarchical"):
        if distance in (found["t"] or ()):
            is_asked = any(words.startswith("t = ") and f"({distance} distance)" in words for words in asked)
            meant = ", the one that was asked for" if is_asked else ""
            words = "largest distance between the distribution of values in a group and that in the whole table"
            yield f"t-closeness, {distance} distance", f"{found['t'][distance]['value']:.6f}", f"{words}{meant}"


def _believed(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    limit = found["limit"]
    yield "people", f"{found['people']:,}"
    if limit is not None:
        named = (
            "guaranteed: at most"
            if found["promised"]
            else "for comparison, guaranteed against other attackers: at most"
        )
        yield named, f"{limit} = {float(Fraction(limit)):.4f}"
    yield "largest probability", f"{found['largest']:.4f}"
    if "unprotected" in found:
        yield "largest probability of a value that is not protected", f"{found['unprotected']:.4f}"
    own, not_known = (
        found.get("unless_known"),
        "if the attacker does not know which value was so frequent that some people with it had to be left out",
    )
    if own:
        yield f"largest probability {not_known}", f"{own['largest']:.4f}"
    yield "median", f"{found['median']:.4f}"
    yield "largest probability that a person is in the table", f"{found['presence']:.4f}"
    if limit is not None:
        yield f"people above {limit}", f"{found['people_above']:,} ({percent(found['share_above'])})"
        if own:
            yield f"people above {limit} {not_known}", f"{own['people_above']:,} ({percent(own['share_above'])})"
        what = "the guarantee" if found["promised"] else "this limit"
        yield f"largest probability, compared with {what}", f"{found['multiple']:.2f} times"
    if found["people_unknown"]:
        yield "people for whom no probability could be calculated", f"{found['people_unknown']:,}"
    if found["error"]:
        yield "largest error of a sampled probability", f"{found['error']:.4f}"


def _learned(cost: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    outsiders = (
        "other people, whose groups were not used for the model"
        if cost["outsiders_are"] == "halves"
        else ("control people")
    )
    names = {
        "people in the table": "in_table",
        "people in the table, by linking only": "linked",
        outsiders: "outsider",
        "people outside the table, with the best possible model": "best_outsider",
        "guessing by the overall shares": "base_rate",
    }
    for name, key in names.items():
        own = cost[key]
        sure = own["above"][-1]
        believed = f"{percent(sure['share'])} ({percent(sure['right'])} of them rightly)" if sure["share"] else "nobody"
        yield name, f"{own['in_truth']:.4f}", percent(own["right"]), believed


def _rate(found: Mapping[str, Any]) -> str:
    if found["low"] == found["high"]:
        return percent(found["rate"])
    return f"{percent(found['rate'])} ({percent(found['low'])} to {percent(found['high'])})"


def _lost(losses: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    size = "not defined" if losses["normalised_size"] is None else f"{losses['normalised_size']:,.2f}"
    yield "groups", f"{losses['n_groups']:,}", "records that look the same"
    yield "average size", f"{losses['average_size']:,.2f}", "records in a group"
    yield "normalised size", size, "average size, divided by the smallest size that was asked for"
    yield "discernibility", f"{losses['discernibility']:,}", "sum of squared group sizes"
    yield "NCP", f"{losses['ncp']:.4f}", "average width of a cell, from 0 (exact value) to 1 (the whole range)"
