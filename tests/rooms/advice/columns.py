# SPDX-License-Identifier: Apache-2.0
"""Small tables with sensitive columns of the kinds that people have, and the commands that an answer offers."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

from click.testing import Result

import glasshouse as gh
from tests.rooms.cli.world import run

QUASI = "--quasi age,sex,zip"
N = 120

_ILL = ("flu", "gout", "asthma", "ulcer", "migraine", "anaemia")
_SOUNDS = ("a cough", "a headache", "pain in the back", "nothing in particular")

_CODES = random.Random(11).sample(range(100, 1_000), 30)


def _skewed(draw: random.Random) -> str:
    return "healthy" if draw.random() < 0.7 else draw.choice(_ILL)


def _sentence(draw: random.Random, i: int) -> str:
    return f"person number {i} came because of {draw.choice(_SOUNDS)} that began {i + 3} days before"


KINDS: dict[str, tuple[str, Callable[[random.Random, int], tuple[object, ...]]]] = {
    "many values": ("disease", lambda draw, _: (draw.choice(_ILL),)),
    "skewed": ("condition", lambda draw, _: (_skewed(draw),)),
    "yes and no": ("smoker", lambda draw, _: ("yes" if draw.random() < 0.1 else "no",)),
    "ordered": ("severity", lambda draw, _: (draw.choices(["1 low", "2 middle", "3 high"], [7, 2, 1])[0],)),
    "amounts": ("income", lambda draw, _: (int(draw.lognormvariate(10, 0.5)),)),
    "amounts, mostly none": ("debt", lambda draw, _: (0 if draw.random() < 0.85 else draw.randint(1, 9_999),)),
    "dates": ("tested", lambda draw, _: (date(2024, 1, 1) + timedelta(draw.randint(0, 700)),)),
    "free text": ("remarks", lambda draw, i: (_sentence(draw, i),)),
    "two columns": ("disease,smoker", lambda draw, _: (draw.choice(_ILL), "yes" if draw.random() < 0.1 else "no")),
    "codes": ("hiv", lambda draw, _: (1 if draw.random() < 0.15 else 0,)),
    "many codes": ("diagnosis", lambda draw, _: (_CODES[int(len(_CODES) * draw.random() ** 2)],)),
    "codes with gaps": ("hiv", lambda draw, i: (f"{draw.random() < 0.15:.1f}" if i % 9 else "",)),
    "small numbers": ("priors", lambda draw, _: (int(40 * draw.random() ** 4),)),
    "case numbers": ("case", lambda _, i: (f"17-{i * 37:06}",)),
    "missing": ("diagnosis", lambda draw, i: (draw.choice(_ILL) if i % 9 else "",)),
    "one value": ("offence", lambda _, __: ("theft",)),
}
"""By kind: the sensitive columns, and how the values of a person are drawn."""


def write_table(folder: Path, kind: str, name: str = "my people.csv") -> str:
    """Write a table with a sensitive column of this kind; give the names of its sensitive columns."""
    draw = random.Random(7)
    columns, make = KINDS[kind]
    lines = [f"age,sex,zip,{columns}"]
    for i in range(N):
        values = ",".join(map(str, make(draw, i)))
        lines.append(f"{draw.randint(18, 80)},{draw.choice('FM')},{draw.randint(10_000, 10_009)},{values}")
    (folder / name).write_text("\n".join(lines) + "\n")
    return columns


def offered(result: Result) -> list[str]:
    """The commands that an answer offers, on either stream."""
    lines = (result.stdout + "\n" + result.stderr).splitlines()
    return [line.strip() for line in lines if line.startswith("    glasshouse publish ")]


def released(command: str) -> Iterator[gh.Release]:
    """Run a command, which must publish; give the release, and clean up after it."""
    shutil.rmtree("out", ignore_errors=True)
    run(command if "--report" in command else f"{command} --no-report")
    assert run("verify out/release").exit_code == 0
    yield gh.load("out/release")
    shutil.rmtree("out")
