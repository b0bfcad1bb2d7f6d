# SPDX-License-Identifier: Apache-2.0
"""The demonstration: publish a synthetic hospital table, show what is promised and what goes out, and attack it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

    from glasshouse.microdata import Microdata

__all__ = ["run"]

ELL = 5
ATTACKED = 2_000


def _five_people() -> dict[str, str]:
    """Publish five people by strict Mondrian and by Hybrid, and reverse-engineer both."""
    import warnings

    import glasshouse as gh

    people = {"age": [21, 22, 23, 24, 25], "zipcode": [5, 4, 3, 2, 1]}
    diseases = ["asthma", "migraine", "HIV", "HIV", "gout"]
    table = gh.read({**people, "disease": diseases}, quasi=["age", "zipcode"], sensitive="disease")
    knowledge = gh.Knowledge(external=gh.read(people, quasi=["age", "zipcode"]))
    found = {}
    for name, method in (("strict Mondrian", gh.Mondrian()), ("Hybrid", gh.Hybrid())):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gh.DisclosureWarning)
            release = gh.publish(table, principle=gh.LDiversity(ell=2), method=method, recoding=gh.Boxes())
        person, disease, belief = gh.attack(release, gh.ReverseEngineering(), knowledge=knowledge).worst()
        age = people["age"][person]
        found[name] = f"she believes that the person of {age} has {disease} with probability {belief:.2f}"
    return found


def _both_ways(patients: Microdata) -> dict[str, str]:
    """Publish the same patients by strict Mondrian and by Hybrid, and reverse-engineer both."""
    import warnings

    import glasshouse as gh

    knowledge = gh.Knowledge(external=patients)
    found = {}
    for name, method in (("strict Mondrian", gh.Mondrian()), ("Hybrid", gh.Hybrid())):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gh.DisclosureWarning)
            release = gh.publish(patients, principle=gh.LDiversity(ell=ELL), method=method, recoding=gh.Boxes())
        beliefs = gh.attack(release, gh.ReverseEngineering(), knowledge=knowledge)
        if beliefs.how == "bound":
            found[name] = f"at most {beliefs.worst().belief:.2f} of anybody, by TRANSPARENT Theorem 3"
        else:
            found[name] = f"{beliefs.explain(beliefs.worst().person)}; {beliefs.share_above():.0%} are above 1/{ELL}"
    return found


def run(out: Path, rows: int) -> None:
    """Publish a synthetic hospital table of so many patients into ``out``."""
    import numpy as np

    import glasshouse as gh
    from glasshouse.cli.commands import show_release
    from glasshouse.publish import publish_to

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
    release = publish_to(out, patients, force=True, principle=gh.LDiversity(ell=ELL), recoding=gh.Taxonomies())
    after = gh.verify(release.data, quasi=quasi, sensitive="disease")

    alone = before.smallest.n_others + 1
    click.echo(f"A hospital wants to publish the diseases of {rows:,} patients by age, sex and zip code.\n")
    click.secho("As the table is", bold=True)
    click.echo(
        f"  {alone:,} patients are the only ones of their age, sex and zip code: a neighbour knows what they have.\n"
    )
    click.secho(f"As Glasshouse publishes it, {ELL}-diverse", bold=True)
    click.echo(
        f"  {after.n_groups:,} groups of {after.k} patients or more; no disease has over 1/{after.ell} of any group.\n"
    )
    show_release(release, rows=8)
    click.secho("What an adversary believes who knows the release and everybody's age, sex and zip code", bold=True)
    beliefs = gh.attack(release, gh.Linking(), knowledge=gh.Knowledge(external=patients))
    worst = beliefs.worst()
    click.echo(f"  {worst.belief:.4f} of any disease of anybody ({beliefs.how}); promised is 1/{ELL}\n")
    few = patients.take(np.arange(min(rows, ATTACKED)))
    click.secho(f"And if she also knows the algorithm? {few.n_tuples:,} of the patients, {ELL}-diverse, by", bold=True)
    for name, line in _both_ways(few).items():
        click.echo(textwrap.fill(line, 110, initial_indent=f"  {name:<16} ", subsequent_indent=" " * 19))
    click.secho("Five people, two of whom share a disease, 2-diverse, by", bold=True)
    for name, line in _five_people().items():
        click.echo(f"  {name:<16} {line}")
    click.echo()
    click.echo(f"{out}/release may be published; {out}/audit must stay inside. Recount it with any tool, or:")
    click.secho(
        f"  glasshouse verify {out}/release/data.parquet --quasi age,sex,zipcode --sensitive disease", bold=True
    )
