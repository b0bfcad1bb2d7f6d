# SPDX-License-Identifier: Apache-2.0
"""The demonstration: publish a synthetic hospital table, show what is promised and what goes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["run"]

ELL = 5


def run(out: Path, rows: int) -> None:
    """Publish a synthetic hospital table of so many patients into ``out``."""
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
    click.echo(f"{out}/release may be published; {out}/audit must stay inside. Recount it with any tool, or:")
    click.secho(
        f"  glasshouse verify {out}/release/data.parquet --quasi age,sex,zipcode --sensitive disease", bold=True
    )
