# SPDX-License-Identifier: Apache-2.0
"""Page: the facts as one HTML file that needs nothing else: no script, no font, no picture from anywhere.

Every text that comes from outside, column names and published values above all, goes through `text` or `name`. The
page itself forbids scripts and outside resources, so that even a text that slipped through could do nothing.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from glasshouse.report.document import document
from glasshouse.report.figures import belief_figure, error_figure, width_figure
from glasshouse.report.words import HOW
from glasshouse.visible import in_markup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["name", "page", "text"]

_TITLE = "Steward's report"
_LEVELS = {"stop": "Stop.", "attention": "Attention.", "note": "Note."}
_ADVERSARIES = {
    "linking": "Whoever links people to the release",
    "algorithm-aware": "Whoever also knows how it was made",
    "corrupting": "Whoever has found out one other person's value",
}
_MOST_RECURSIVE = 8
_LONG, _PIECE = 28, 14  # letters of a name from which it may be broken, and where


def page(facts: Mapping[str, Any]) -> str:
    """Write the page."""
    sections = [
        ("published", "What was published, and how", _published(facts)),
        ("promise", "What is promised", _promise(facts)),
        ("achieved", "What the groups achieve", _achieved(facts)),
        ("beliefs", "What an adversary would believe", _beliefs(facts)),
        ("utility", "What an analyst can learn", _utility(facts)),
        ("losses", "What is lost", _losses(facts)),
        ("values", "What happened to values", _values(facts)),
        ("files", "Files, versions, checksums", _files(facts)),
    ]
    body = [
        "<header>",
        '<p class="inside">Inside: do not publish this page</p>',
        f"<h1>{_TITLE}</h1>",
        f'<p class="lead">{text(_sentence(facts["guarantee"]["promise"]))}</p>',
        f'<p class="soft">Made {text(facts["made"][:16].replace("T", " "))} UTC. It compares the release with the '
        "microdata, so it belongs beside them. It names nobody, and shows no value but published ones.</p>",
        '<nav aria-label="Contents"><ul>',
        *(f'<li><a href="#{anchor}">{heading}</a></li>' for anchor, heading, _ in [_FIRST, *sections]),
        "</ul></nav>",
        "</header>",
        "<main>",
        f'<section id="{_FIRST[0]}"><h2>{_FIRST[1]}</h2>',
        *_in_short(facts),
        *_cautions(facts),
        "</section>",
    ]
    for anchor, heading, parts in sections:
        body += [f'<section id="{anchor}"><h2>{heading}</h2>', *parts, "</section>"]
    body += ["</main>"]
    return document(f"{_TITLE}: {text(facts['guarantee']['promise'])}", body)


_FIRST = ("short", "In short", "")


# --- small pieces -----------------------------------------------------------------------------------------------------


def text(value: Any) -> str:
    """Escape a text for HTML; what cannot be seen, or would turn the words around it, is written out.

    >>> text("<script>\\x00"), text(None)
    ('&lt;script&gt;\\\\x00', 'missing')
    """
    return in_markup("missing" if value is None else value)


def name(value: Any) -> str:
    """A column, a table or a cell by its name, set apart so that its letters cannot reorder the words around it.

    A long one may be broken, lest it push a table off the page.
    """
    words = "missing" if value is None else str(value)
    pieces = [words[i : i + _PIECE] for i in range(0, len(words), _PIECE)] if len(words) > _LONG else [words]
    return f'<bdi class="name">{"<wbr>".join(map(text, pieces))}</bdi>'


def _names(values: Iterable[Any]) -> str:
    return ", ".join(map(name, values))


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] + ("" if words.endswith(".") else ".")


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _paragraph(words: str, kind: str = "") -> str:
    return f"<p{_class(kind)}>{words}</p>"


def _table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Sequence[int] = (),
    *,
    kind: str = "",
) -> str:
    """A table of ready-made cells; the first of each row is its heading."""

    def number(i: int) -> str:
        return ' class="number"' if i in numbers else ""

    parts = [f'<div class="wide"><table{_class(kind)}>', f"<caption>{caption}</caption>", "<thead><tr>"]
    parts += [f'<th scope="col"{number(i)}>{head}</th>' for i, head in enumerate(heads)]
    parts += ["</tr></thead>", "<tbody>"]
    for row in rows:
        cells = [f'<th scope="row"{number(0)}>{row[0]}</th>']
        cells += [f"<td{number(i)}>{cell}</td>" for i, cell in enumerate(row) if i]
        parts.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*parts, "</tbody></table></div>"])


def _said(pairs: Iterable[tuple[str, str]]) -> str:
    rows = "\n".join(f"<dt>{head}</dt><dd>{words}</dd>" for head, words in pairs)
    return f'<dl class="said">{rows}</dl>'


def _figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"


def _percent(share: float | None) -> str:
    if share is None:
        return "not defined"
    return f"{share:.2%}" if share < 0.1 else f"{share:.1%}"


def _tile(head: str, big: str, small: str, kind: str = "") -> str:
    said = f'<dt>{head}</dt><dd class="big">{big}</dd><dd class="small">{small}</dd>'
    return f"<dl{_class(f'tile {kind}'.strip())}>{said}</dl>"


# --- in short ---------------------------------------------------------------------------------------------------------


def _in_short(facts: Mapping[str, Any]) -> Iterator[str]:
    published = facts["published"]
    whole = published["tuples"] + published["dropped"]
    yield '<div class="tiles">'
    if facts["kept"]:
        yield _tile("The promise", "kept", "counted again from the published tables by a second implementation", "good")
    else:
        yield _tile("The promise", "broken", f"not so: {text(facts['broken'])}", "stop")
    dropped = f"{published['dropped']:,} dropped" if published["dropped"] else "none dropped"
    yield _tile("People published", f"{published['tuples']:,}", f"of {whole:,}; {dropped}")
    for found in facts["findable"]:
        kind = "attention" if found["k"] == 1 else ""
        words = f"share their cells in the table {name(found['table'])}"
        yield _tile("At least", f"{found['k']:,} {'people' if found['k'] != 1 else 'person'}", words, kind)
    for found in facts["beliefs"]:
        if found["ran"] or found["bound"]:
            yield _belief_tile(found)
    for found in facts["utility"]:
        mean, alone = found["release"]["mean"], found["no_link"]["mean"]
        words = f"mean; {_percent(alone)} without a link ({text(found['workload'].partition(',')[0])})"
        yield _tile("Error of an answer", _percent(mean), words, "" if mean < alone else "attention")
    yield "</div>"


def _belief_tile(found: Mapping[str, Any]) -> str:
    head = f"Largest belief: {_ADVERSARIES[found['adversary']][:1].lower()}{_ADVERSARIES[found['adversary']][1:]}"
    if not found["ran"]:
        return _tile(head, f"≤ {text(found['bound'])}", "a bound", "good" if found["promised"] else "")
    if found["limit"] is None:
        return _tile(head, f"{found['largest']:.3f}", f"of {name(found['column'])}; nothing is promised of it")
    limit, n = text(found["limit"]), found["people_above"]
    if not n:
        return _tile(head, f"{found['largest']:.3f}", f"nobody above {limit}", "good" if found["promised"] else "")
    n_people = f"{'up to ' if found['how'] == 'bound' else ''}{n:,} {'person' if n == 1 else 'people'}"
    words = f"{n_people} above {limit}{'' if found['promised'] else '; not promised against her'}"
    kind = "stop" if found["promised"] and found["how"] == "exact" else "attention"
    return _tile(head, f"{found['largest']:.3f}", words, kind)


def _cautions(facts: Mapping[str, Any]) -> Iterator[str]:
    yield "<h3>Before you publish</h3>"
    yield '<ul class="cautions">'
    for caution in facts["cautions"]:
        level = caution["level"]
        yield f'<li class="{level}"><b>{_LEVELS[level]}</b>{text(caution["text"])}</li>'
    yield "</ul>"
    if facts["bounded"]:
        yield "<h3>What this report leaves out</h3>"
        yield "<ul>"
        yield from (f"<li>{text(said)}</li>" for said in facts["bounded"])
        yield "</ul>"


# --- what was published -----------------------------------------------------------------------------------------------


def _published(facts: Mapping[str, Any]) -> Iterator[str]:
    recipe, words, published = facts["recipe"], facts["words"], facts["published"]
    titles = {"principle": "Principle", "method": "Method", "recoding": "Recoding"}
    yield _said((head, f"{name(recipe[key].get('name', ''))}. {text(words[key])}") for key, head in titles.items())
    if recipe["suppress"] != "0":
        yield _paragraph(f"Up to {text(recipe['suppress'])} of the people might be dropped to reach the principle.")
    if published["tables"]:
        yield _table(
            "The published tables",
            ["table", "rows", "columns"],
            ([name(t["name"]), f"{t['rows']:,}", _names(t["columns"])] for t in published["tables"]),
            [1],
        )
    yield _table(
        "The published columns",
        ["column", "role", "kind", "what a cell means"],
        ([name(c["name"]), text(c["role"]), text(c["kind"]), text(c["meaning"])] for c in published["columns"]),
    )


def _promise(facts: Mapping[str, Any]) -> Iterator[str]:
    guarantee = facts["guarantee"]
    yield _said(
        [
            ("Promised", text(_sentence(guarantee["promise"]))),
            ("Against", text(_sentence(f"{guarantee['adversary']}: {guarantee['adversary_knows']}"))),
            ("Because", text(guarantee["theorem"])),
            *(("Provided", text(_sentence(words))) for words in guarantee["assumptions"]),
            *(("Not promised", text(_sentence(words))) for words in guarantee["limits"]),
        ]
    )


# --- what the groups achieve ------------------------------------------------------------------------------------------


def _achieved(facts: Mapping[str, Any]) -> Iterator[str]:
    achieved = facts["achieved"]
    if "sensitive" not in achieved:  # a file that was published in batches
        yield from _recounted(achieved)
        return
    yield _paragraph(
        f"{achieved['tuples']:,} tuples in {achieved['groups']:,} groups that agree in {_names(achieved['quasi'])}, "
        f"{achieved['average_size']:,.2f} each on average, at least {achieved['k']['value']:,}. Counted from the "
        "published tables alone; every number is rounded against the release, never for it."
    )
    if achieved["checks"]:
        yield _table(
            "What was asked for",
            ["asked", "column", "holds"],
            (
                [text(c["asked"]), name(c["column"]) if c["column"] else "", "yes" if c["holds"] else "<b>no</b>"]
                for c in achieved["checks"]
            ),
        )
    for column, found in achieved["sensitive"].items():
        yield _table(
            f"What is achieved for {name(column)} ({found['values']:,} values)",
            ["measure", "achieved", "what it says"],
            _measures(found),
            [1],
        )
    if facts["findable"]:
        yield _table(
            "How many people share the same quasi-identifiers",
            ["table", "at least (k)", "different cells", "found at best", "on average", "at risk above 1/5"],
            (
                [
                    name(f["table"]),
                    f"{f['k']:,}",
                    f"{f['groups']:,}",
                    _percent(f["highest"]),
                    _percent(f["average"]),
                    _percent(f["at_risk"]),
                ]
                for f in facts["findable"]
            ),
            [1, 2, 3, 4, 5],
        )
        yield _paragraph(
            "<em>Found</em> is the probability that somebody who is known to be in the table is picked out among "
            "those with the same cells (the prosecutor's risk).",
            "soft",
        )


def _measures(found: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    yield "frequency l-diversity", f"{found['ell']['value']:,}", "no value has more than 1/l of a group"
    yield (
        "largest share, alpha",
        f"{found['alpha']['value']:.6f}",
        f"exactly {text(found['alpha']['exact'])} of a group",
    )
    yield "distinct l-diversity", f"{found['distinct_ell']['value']:,}", "different values in every group"
    yield "entropy l-diversity", f"{found['entropy_ell']['value']:.6f}", "the exponential of the smallest entropy"
    if found["designated_ell"]:
        yield "designated l-diversity", f"{found['designated_ell']['value']:.6f}", "of the designated values alone"
    pairs = [pair for pair in found["recursive"] if pair["ell"] > 1]
    for pair in pairs[:_MOST_RECURSIVE]:
        yield (
            f"recursive (c, {pair['ell']})-diversity",
            f"c = {pair['c']:.6f}",
            f"the most frequent value against those from the {_ordinal(pair['ell'])} on",
        )
    if len(pairs) > _MOST_RECURSIVE:
        yield f"… up to l = {pairs[-1]['ell']}", "", "all of them are in report.json"
    for distance in ("equal", "ordered", "hierarchical"):
        if distance in found["t"]:
            meant = ", the one that t means" if distance == found["t"]["distance"] else ""
            words = "largest distance of a group's values from the whole table's"
            yield f"t-closeness, {distance} distance", f"{found['t'][distance]['value']:.6f}", f"{words}{meant}"


def _ordinal(number: int) -> str:
    last = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{last}"


def _recounted(achieved: Mapping[str, Any]) -> Iterator[str]:
    yield _table(
        "Counted from the published files",
        ["measure", "achieved"],
        (
            [text(head), text(f"{v:,}" if isinstance(v, int) else v)]
            for head, v in ((key.replace("_", " "), value) for key, value in achieved.items())
        ),
        [1],
    )


# --- beliefs ----------------------------------------------------------------------------------------------------------


def _beliefs(facts: Mapping[str, Any]) -> Iterator[str]:
    if not facts["beliefs"]:
        why = (
            facts["bounded"][0] if facts["bounded"] else "There is no sensitive column, so there is no value to learn."
        )
        yield _paragraph(text(why))
        return
    yield _paragraph(
        "Each adversary was run against this release, with your own table as her list of people. Of everybody the "
        "value that she believes most firmly counts. She is given the release and the quasi-identifiers, never the "
        "sensitive column. In the figures very small bars are drawn a little taller, so that one person can be seen."
    )
    several = len({found["column"] for found in facts["beliefs"]}) > 1
    for i, found in enumerate(facts["beliefs"]):
        of = f", {name(found['column'])}" if several else ""
        yield f"<h3>{_ADVERSARIES[found['adversary']]}{of}</h3>"
        yield from _belief(found, f"belief-{i}")


def _belief(found: Mapping[str, Any], anchor: str) -> Iterator[str]:
    promised = "The promise is made against her." if found["promised"] else "The promise is not made against her."
    yield _paragraph(f"{text(found['knows'])} {promised}", "knows")
    if not found["ran"]:
        bound = (
            f" But she believes no value of anybody with more than {text(found['bound'])}: {text(found['because'])}."
            if found["bound"]
            else ""
        )
        yield _paragraph(f"Not run: {text(found['why_not'])}.{bound}", "soft")
        return
    limit = found["limit"]
    rows = [
        ["people", f"{found['people']:,}"],
        ["largest belief", f"{found['largest']:.4f}"],
        ["median", f"{found['median']:.4f}"],
        ["surest that somebody is in the table", f"{found['presence']:.4f}"],
    ]
    if limit is not None:
        share = _percent(found["share_above"])
        rows.insert(1, ["promised: at most", f"{text(limit)} = {float(Fraction(limit)):.4f}"])
        rows.append([f"people above {text(limit)}", f"{found['people_above']:,} ({share})"])
        rows.append(["largest belief, by the promise", f"{found['multiple']:.2f} times"])
    if found["people_unknown"]:
        rows.append(["people of whom nothing can be said", f"{found['people_unknown']:,}"])
    if found["error"]:
        rows.append(["error of a sampled belief, at most", f"{found['error']:.4f}"])
    yield _figure(
        belief_figure(found, anchor),
        f"{found['people'] - found['people_unknown']:,} people by the value of {name(found['column'])} that is "
        f"believed most firmly ({HOW[found['how']]}).",
    )
    caption = f"Beliefs about {name(found['column'])}: {HOW[found['how']]}"
    yield _table(caption, ["measure", "found"], rows, [1], kind="slim")
    if found["notes"]:
        yield "<ul>"
        yield from (f"<li>{text(_sentence(note))}</li>" for note in found["notes"])
        yield "</ul>"


# --- utility ----------------------------------------------------------------------------------------------------------


def _utility(facts: Mapping[str, Any]) -> Iterator[str]:
    if facts["utility"]:
        yield _paragraph(
            "Random counting questions, asked of the release and of the microdata. An error is the difference as a "
            "share of the true count, or of 0.5&#8239;% of the table where the count is smaller. <em>Without a "
            "link</em> is what two tables would say that have nothing in common: exact quasi-identifiers, and the "
            "sensitive column by itself. A release that is no better tells nothing of how the two go together."
        )
        yield _table(
            "Errors of answers",
            ["questions", "column", "mean", "median", "90 % below", "mean without a link", "intervals cover"],
            (
                [
                    f"{found['questions']:,} of {text(found['workload'])}",
                    name(found["column"]),
                    _percent(found["release"]["mean"]),
                    _percent(found["release"]["median"]),
                    _percent(found["release"]["ninetieth"]),
                    _percent(found["no_link"]["mean"]),
                    _percent(found["coverage"]),
                ]
                for found in facts["utility"]
            ),
            [2, 3, 4, 5, 6],
        )
        yield _paragraph(
            "<em>Intervals cover</em>: how many of the true counts of at least 20 lie in the 95&#8239;% interval that "
            "the analyst is given.",
            "soft",
        )
        for i, found in enumerate(facts["utility"]):
            yield _figure(
                error_figure(found, f"errors-{i}"),
                f"How many questions are answered with at most so large an error: {text(found['workload'])}, "
                f"{name(found['column'])}. Further left is better.",
            )
    if facts["no_utility"]:
        yield _paragraph(f"Not measured: {text(facts['no_utility'])}.", "soft")
    if facts["kl"] is not None:
        yield _paragraph(
            f"The distribution that the release tells diverges from the true one by {facts['kl']:.4f} nats "
            "(Kullback-Leibler)."
        )


def _losses(facts: Mapping[str, Any]) -> Iterator[str]:
    losses = facts["losses"]
    if losses is None:
        yield _paragraph(f"Not measured: {text(facts['no_losses'])}.", "soft")
        return
    size = "not defined" if losses["normalised_size"] is None else f"{losses['normalised_size']:,.2f}"
    yield _table(
        "Losses, from the published tables alone",
        ["measure", "value", "what it says"],
        [
            ["groups", f"{losses['n_groups']:,}", "tuples that show the same"],
            ["average size", f"{losses['average_size']:,.2f}", "tuples a group"],
            ["normalised size", size, "the same, by the least size asked for"],
            ["discernibility", f"{losses['discernibility']:,}", "sum of squared group sizes"],
            ["NCP", f"{losses['ncp']:.4f}", "average width of a cell, from 0 (exact) to 1 (says nothing)"],
        ],
        [1],
    )
    if losses["by_attribute"]:
        yield _figure(
            width_figure(losses["by_attribute"], "widths"),
            "Average width of the cells of each attribute, as a share of its range: 0&#8239;% is exact.",
        )


def _values(facts: Mapping[str, Any]) -> Iterator[str]:
    if facts["mapping"]:
        yield _table(
            "From values to cells",
            ["column", "role", "kind", "values in", "missing", "order", "taxonomy", "cells out"],
            (
                [
                    name(m["column"]),
                    text(m["role"]),
                    text(m["kind"]),
                    f"{m['values']:,}",
                    f"{m['missing']:,}" if m["missing"] else "none",
                    text(m["order"]),
                    f"{m['taxonomy']['levels']} levels" if m["taxonomy"] else "none",
                    f"{m['cells']:,}",
                ]
                for m in facts["mapping"]
            ),
            [3, 4, 7],
        )
        yield _paragraph("A missing value that was kept is a value of its own.", "soft")
    if facts["notices"]:
        yield "<h3>Noted while reading</h3>"
        yield "<ul>"
        yield from (f"<li>{text(_sentence(notice))}</li>" for notice in facts["notices"])
        yield "</ul>"


def _files(facts: Mapping[str, Any]) -> Iterator[str]:
    if facts["files"]:
        rows = "\n".join(
            f'<tr><th scope="row">{name(f["name"])}</th><td class="number">{f["bytes"]:,}</td>'
            f'<td class="hash">{text(f["sha256"])}</td></tr>'
            for f in facts["files"]
        )
        yield (
            '<div class="wide"><table><caption>The release folder</caption><thead><tr><th scope="col">file</th>'
            '<th scope="col" class="number">bytes</th><th scope="col">SHA-256</th></tr></thead>'
            f"<tbody>{rows}</tbody></table></div>"
        )
    else:
        yield _paragraph("The release is not saved yet.", "soft")
    yield _table(
        "Made with",
        ["software", "version"],
        ([text(what), text(version)] for what, version in facts["software"].items()),
    )
    yield "<h3>The recipe, as the release states it</h3>"
    yield f"<pre>{text(json.dumps(facts['recipe'], indent=2, ensure_ascii=False))}</pre>"
