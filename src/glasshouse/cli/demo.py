# SPDX-License-Identifier: Apache-2.0
"""The demonstration: publish a synthetic hospital table, show what is promised and what goes out, and attack it."""

from __future__ import annotations

import textwrap
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glasshouse.cli import options
from glasshouse.cli.exits import having_written, plainly
from glasshouse.cli.printing import protection, say, say_json, say_points, say_text, show_release, summary
from glasshouse.cli.progress import progress_of_steps
from glasshouse.errors import DisclosureWarning
from glasshouse.plural import counted

if TYPE_CHECKING:
    from glasshouse.adversary.posterior import Posterior
    from glasshouse.microdata import Microdata
    from glasshouse.release import Release

__all__ = ["demo"]

ELL = 5
TITLE = "A demonstration: patients who were made up"
ATTACKED = 1_000


def _reverse_engineered(table: Microdata, ell: int) -> dict[str, Posterior]:
    """What an attacker who knows the algorithm infers from a table published by strict Mondrian, and by Mirror."""
    import glasshouse as gh

    found = {}
    for name, method in (("strict Mondrian", "mondrian"), ("Mirror", "mirror")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisclosureWarning)
            release = gh.publish(table, principle=gh.LDiversity(ell), method=method, recoding="boxes")
        found[name] = gh.attack(release, "reverse-engineering", knowledge=gh.Knowledge(external=table))
    return found


def _five_people() -> dict[str, str]:
    """What the attacker infers about five people, two of whom have the same disease."""
    import glasshouse as gh

    people = {"age": [21, 22, 23, 24, 25], "zipcode": [5, 4, 3, 2, 1]}
    diseases = ["asthma", "migraine", "HIV", "HIV", "gout"]
    table = gh.read({**people, "disease": diseases}, quasi=["age", "zipcode"], sensitive="disease")
    found = {}
    for name, beliefs in _reverse_engineered(table, 2).items():
        person, disease, belief = beliefs.worst()
        age = people["age"][person]
        found[name] = f"the attacker's probability that the {age}-year-old person has {disease} is {belief:.2f}"
    return found


def _both_ways(patients: Microdata) -> dict[str, str]:
    """What the attacker infers about the same patients, published by both methods."""
    found = {}
    for name, beliefs in _reverse_engineered(patients, ELL).items():
        if beliefs.how == "bound":
            found[name] = f"no probability is above {beliefs.worst().belief:.2f} (a theorem proves this)"
        else:
            above = f"for {beliefs.share_above():.0%} of the patients, the probability is above 1/{ELL}"
            found[name] = f"{beliefs.explain(beliefs.worst().person)}; {above}"
    return found


def _is_demonstration(out: Path) -> bool:
    """Whether a path holds an earlier demonstration, which may be replaced; a release about real people may not."""
    from glasshouse.errors import SourceError
    from glasshouse.release import load

    try:
        return load(out / "release").title == TITLE
    except SourceError:
        return False


def _publish(out: Path, rows: int) -> tuple[Release, dict[str, Any]]:
    """Publish a synthetic hospital table of so many patients into ``out``, and attack it; give what was found."""
    import numpy as np

    import glasshouse as gh

    raw = gh.synthetic.hospital_table(n=rows, seed=7)
    patients = gh.read(
        raw,
        identifier="patient",
        quasi=["age", "sex", "zipcode"],
        sensitive="disease",
        taxonomies={"zipcode": gh.Taxonomy.prefix(length=5)},
    )
    quasi = ["age", "sex", "zipcode"]
    before = gh.verify(raw, quasi=quasi, sensitive="disease")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisclosureWarning)  # nobody is in this table, so it may be published twice
        force = _is_demonstration(out)
        release = gh.publish(
            patients, principle=gh.LDiversity(ELL), recoding="taxonomies", out=out, force=force, title=TITLE
        )
    with having_written(out):
        after = gh.verify(release.data, quasi=quasi, sensitive="disease")
        beliefs = gh.attack(release, "linking", knowledge=gh.Knowledge(external=patients))
        few = patients.take(np.arange(min(rows, ATTACKED)))
        return release, {
            "alone": before.smallest.n_others + 1,
            "achieved": {"n_groups": after.n_groups, "k": after.k, "ell": after.ell},
            "linking": {"belief": float(beliefs.worst().belief), "how": beliefs.how},
            "attacked": few.n_tuples,
            "reverse_engineering": _both_ways(few),
            "five_people": _five_people(),
        }


@click.command(short_help="Publish a made-up hospital table, and attack it.")
@options.rows_option("How many patients.", 20_000)
@options.out_option("Folder to write release/ and audit/ into.", default=Path("demo"), show_default=True)
@options.printing_options
@plainly
def demo(out: Path, rows: int, *, as_json: bool) -> None:
    """Publish a made-up hospital table, and attack it.

    OUT/release may be published, OUT/audit must stay inside your organization.

    \b
    Examples:
      glasshouse demo
      glasshouse demo --out shown --rows 3000 --json
    """
    with progress_of_steps():
        release, found = _publish(out, rows)
    if as_json:
        say_json({**summary(release, out), **found})
        return
    say(f"A hospital wants to publish the diseases of {counted(rows, 'patient')} by age, sex and zip code.", "")
    say("Without protection", bold=True)
    alone = counted(found["alone"], "patient has", "patients have")
    say(f"  {alone} a combination of age, sex and zip code that nobody else has.", "")
    say("  A neighbour who knows the age, sex and zip code of such a patient can look up the patient's disease.", "")
    say(f"Published with Glasshouse, {ELL}-diverse", bold=True)
    after = found["achieved"]
    say(
        f"  {counted(after['n_groups'], 'group')} of {counted(after['k'], 'patient')} or more. In no group do more "
        f"than 1/{after['ell']} of the patients have the same disease.",
        "",
    )
    show_release(release, rows=8)
    say_points(protection(release))
    say()
    say("Attack 1: the attacker knows the release and everybody's age, sex and zip code", bold=True)
    say(
        f"  The attacker's highest probability for the disease of any patient is {found['linking']['belief']:.4f}. "
        f"It is guaranteed to be at most 1/{ELL}.",
        "",
    )
    say(
        f"Attack 2: the attacker also knows the algorithm (tried on {found['attacked']:,} of the patients, "
        f"{ELL}-diverse)",
        bold=True,
    )
    for name, line in found["reverse_engineering"].items():
        say_text(textwrap.fill(line, 110, initial_indent=f"  {name:<16} ", subsequent_indent=" " * 19))
    say("The same attack on five people, two of whom have the same disease (2-diverse)", bold=True)
    for name, line in found["five_people"].items():
        say(f"  {name:<16} {line}")
    say()
    say(
        f"{out}/release may be published. {out}/audit must stay inside your organization. Check the release with "
        "any tool, or with:"
    )
    say(f"  glasshouse verify {out}/release", bold=True)
    say("Read the exact guarantee, its reason and its limits:")
    say(f"  glasshouse show {out}/release --why", bold=True)
    say("Publish a table of your own from a web page on this machine:")
    say("  glasshouse studio", bold=True)
