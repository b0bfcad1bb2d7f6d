"""The doors through which what strangers wrote comes in, and how a damaged thing is carried to each of them.

A case is made from a number alone, so that a number is all that must be kept of what was found. Every case must get a
`GlasshouseError` or an answer; anything else is a finding.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import os
import random
import shutil
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.analyst.questions.sql import question_of
from glasshouse.cli.printing import show_release
from glasshouse.journeys.recheck import verify_release, verify_stream
from glasshouse.microdata.cautions import CAUTIONS
from glasshouse.visible import is_shown
from tests.doors.fuzz import corpora
from tests.doors.fuzz.mutating import ODD_VALUES, changed_bytes, changed_data, changed_text
from tests.doors.fuzz.toml_text import toml_of

__all__ = ["DOORS", "TRAPS", "Case", "Door", "enter"]

MANIFEST = "datapackage.json"


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is carried in: files by their names, or a text; odd things in place of files."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    text: str = ""
    release: str = ""
    odd: Mapping[str, str] = field(default_factory=dict)

    def put(self, folder: Path) -> None:
        """Lay the files out in an empty folder."""
        for name, content in self.files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)
        for name, what in self.odd.items():
            if (folder / name).is_dir():
                shutil.rmtree(folder / name)
            (folder / name).unlink(missing_ok=True)
            _put_odd(folder / name, what)


def _put_odd(path: Path, what: str) -> None:
    match what:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "endless":
            path.symlink_to("/dev/zero")
        case "loop":
            path.symlink_to(path.name)
        case "huge":
            with path.open("wb") as file:
                file.truncate(1 << 42)
        case _:
            path.symlink_to(what)


@dataclass(frozen=True, kw_only=True)
class Door:
    """How a case is made of chance, and how it goes in."""

    make: Callable[[random.Random], Case]
    knock: Callable[[Case, Path], None]


def enter(door: str, case: Case, folder: Path) -> bool:
    """Carry a case in; True if it was taken and False if it was refused. Whatever else is raised is a finding."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    case.put(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            {**DOORS, **TRAPS}[door].knock(case, folder)
        except gh.GlasshouseError as refusal:
            told = str(refusal)
            assert told, "a refusal says why"
            assert len(told) < 100_000, "a refusal is no copy of what was given"
            return False
    return True


# ------------------------------------------------------------------------------------------------------------- reader


def _some_table(chance: random.Random) -> Case:
    files = corpora.table_files()
    name = chance.choice(sorted(files))
    content = files[name]
    if name.endswith((".gz", ".zst")) and chance.random() < 0.3:  # damage inside the packing
        return Case(files={name: _packed(changed_bytes(files["people.csv"], chance), name)})
    return Case(files={name: changed_bytes(content, chance, list(files.values()))})


def _packed(content: bytes, name: str) -> bytes:
    import gzip

    import pyarrow as pa

    return gzip.compress(content, mtime=0) if name.endswith(".gz") else pa.compress(content, codec="zstd", asbytes=True)


def _read(case: Case, folder: Path) -> None:
    (name,) = case.files
    path = folder / name
    found = gh.inspect(path)
    str(found), repr(found), json.dumps(found.to_dict())
    *quasi, sensitive = [column.name for column in found.columns]
    for name in (*quasi, sensitive):
        with suppress(gh.GlasshouseError):
            gh.read(path, quasi=[name], missing="category")
    roles = {"quasi": quasi, "sensitive": sensitive, "categorical": [sensitive]}
    table = gh.read(path, missing="category", accept=CAUTIONS, **roles)
    try:
        gh.publish(table, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Boxes(), threads=1)
    except gh.Infeasible:
        gh.publish(table, principle=gh.KAnonymity(k=1), recoding=gh.Boxes(), threads=1)


# ------------------------------------------------------------------------------------------------------------- policy


def _some_policy(chance: random.Random) -> Case:
    import tomllib

    text = chance.choice(corpora.POLICIES)
    suffix = ".yaml" if chance.random() < 0.05 else ".toml"
    if chance.random() < 0.4:
        data = changed_data(tomllib.loads(text), chance)
        text = toml_of(data) if chance.random() < 0.9 else json.dumps(data, default=str)
    elif chance.random() < 0.3:
        text = toml_of(tomllib.loads(text))
    content = text.encode("utf-8", "surrogatepass")
    if chance.random() < 0.7:
        text = changed_text(text, chance, corpora.POLICY_WORDS)
        content = text.encode("utf-8", "surrogatepass")
    elif chance.random() < 0.6:
        content = changed_bytes(content, chance)
    return Case(files={f"policy{suffix}": content})


def _load_policy(case: Case, folder: Path) -> None:
    (name,) = case.files
    policy = gh.load_policy(folder / name)
    repr(policy)
    policy.read_arguments()
    policy.publish_arguments()
    _ = policy.source, policy.out


# ---------------------------------------------------------------------------------------------------------- questions


def _some_question(chance: random.Random) -> Case:
    text = chance.choice(corpora.QUESTIONS)
    if chance.random() < 0.4:
        text = f"SELECT COUNT(*), SUM(age) WHERE {_condition(chance, 3)}"
    elif chance.random() < 0.1:
        text = " ".join(chance.choices(corpora.SQL_WORDS, k=chance.randint(1, 30)))
    if chance.random() < 0.7:
        text = changed_text(text, chance, corpora.SQL_WORDS)
    return Case(text=text, release=chance.choice(sorted(corpora.releases())))


def _condition(chance: random.Random, depth: int) -> str:
    """A condition, right or nearly."""
    if depth and chance.random() < 0.6:
        parts = [_condition(chance, depth - 1) for _ in range(chance.choice([1, 2, 2, 3]))]
        return chance.choice(["", "NOT ", "NOT NOT "]) + "(" + chance.choice([" AND ", " OR "]).join(parts) + ")"
    column = chance.choice([*corpora.VALUES])
    values = corpora.VALUES[column] if chance.random() < 0.95 else chance.choice([*corpora.VALUES.values()])
    one, two, three = chance.choices(values, k=3)
    forms = ["= {}", "<> {}", "< {}", ">= {}", "BETWEEN {} AND {}", "NOT BETWEEN {} AND {}", "IN ({}, {}, {})"]
    forms += ["NOT IN ({})", "IS NULL", "IS NOT NULL"]
    return f'"{column}" ' + chance.choice(forms).format(one, two, three)


def _ask(case: Case, folder: Path) -> None:
    refused = None
    try:
        question_of(case.text, corpora.KINDS)
    except gh.GlasshouseError as refusal:
        refused = refusal
    answer = gh.query(corpora.releases()[case.release], case.text)
    str(answer), json.dumps(answer.to_dict()), answer.to_table()
    if refused is not None:
        raise refused


# ----------------------------------------------------------------------------------------------------------- packages


def _some_package(chance: random.Random) -> Case:
    """A package that is damaged; mostly of another version, whose words and entries are not compared."""
    name = chance.choice(sorted(corpora.folders()))
    files = dict(corpora.folders()[name])
    if chance.random() < 0.7:
        manifest = json.loads(files[MANIFEST])
        manifest["glasshouse"]["software"] = "glasshouse 0.0.9"
        files[MANIFEST] = _json(manifest)
    tables = sorted(file for file in files if file.endswith((".parquet", ".csv")))
    odd: dict[str, str] = {}
    what = chance.random()
    if any("/" in table for table in tables) and chance.random() < 0.3:
        _mix_parts(files, chance)
        return Case(files=files)
    if what < 0.35:  # the description is other data
        files[MANIFEST] = _json(changed_data(json.loads(files[MANIFEST]), chance))
    elif what < 0.45:  # the description is damaged
        files[MANIFEST] = changed_bytes(files[MANIFEST], chance)
    elif what < 0.85:  # a table is damaged, and the description says so
        table = chance.choice(tables)
        files[table] = changed_bytes(files[table], chance, list(corpora.table_files().values()))
        if chance.random() < 0.1:
            files[table] = chance.choice(list(corpora.table_files().values()))
        files[MANIFEST] = _told(files, table)
        if chance.random() < 0.2:
            files[MANIFEST] = _json(changed_data(json.loads(files[MANIFEST]), chance))
    else:  # something else lies there
        places = ["pipe", "folder", "endless", "loop", "huge", "/etc/passwd", "../elsewhere", "."]
        inner = sorted({table.partition("/")[0] for table in tables if "/" in table})  # of tables of several files
        odd[chance.choice([*tables, *inner, MANIFEST, "README.md", "more.csv"])] = chance.choice(places)
    return Case(files=files, odd=odd)


def _json(data: Any) -> bytes:
    return json.dumps(data).encode()


def _mix_parts(files: dict[str, bytes], chance: random.Random) -> None:
    """Parts of tables change places, go missing, come twice, or go over to another table, mostly with right sums."""
    parts = sorted(file for file in files if "/" in file)
    one, two = chance.choice(parts), chance.choice(parts)
    match chance.randrange(4):
        case 0:
            files[one], files[two] = files[two], files[one]
        case 1:
            files[one] = files[two]
        case 2:
            files.pop(one)
        case 3:
            files[f"{one.partition('/')[0]}/part-{chance.randrange(9):05}.{one.rpartition('.')[2]}"] = files[two]
    if chance.random() < 0.8:
        for name in parts:
            if name in files:
                files[MANIFEST] = _told(files, name)


def _told(files: Mapping[str, bytes], name: str) -> bytes:
    """A description that tells the true size and sum of a file, as the sender of a hostile package would write it."""
    manifest = json.loads(files[MANIFEST])
    for entry in (*manifest["resources"], *manifest["glasshouse"]["files"]):
        if entry["path"] == name:
            entry["hash"] = "sha256:" + hashlib.sha256(files[name]).hexdigest()
            if "bytes" in entry:
                entry["bytes"] = len(files[name])
            with suppress(pa.ArrowException, OSError):
                if "rows" in entry:
                    entry["rows"] = pq.read_metadata(pa.BufferReader(files[name])).num_rows
    return _json(manifest)


def _load(case: Case, folder: Path) -> None:
    with suppress(gh.GlasshouseError):
        str(verify_stream(folder, most_bytes=1 << 26))
    release = gh.load(folder)
    repr(release), str(release.guarantee), release.recipe.to_data()
    refused = None
    for use in (verify_release, _count, _sum, _attack, _reason, *_MEASURED, _show, gh.sample, gh.losses):
        try:
            str(use(release))
        except gh.GlasshouseError as refusal:
            refused = refusal
    if refused is not None:
        raise refused


def _count(release: gh.Release) -> Any:
    return gh.query(release, "SELECT COUNT(*) WHERE age BETWEEN 21 AND 23 AND disease = 'flu'")


def _sum(release: gh.Release) -> Any:
    return gh.query(release, "SELECT AVG(height), disease WHERE city <> 'Oslo' GROUP BY disease")


def _attack(release: gh.Release) -> Any:
    people = gh.read(corpora.RELEASED, quasi=list(corpora.QUASI), missing="category")
    return gh.attack(release, gh.Linking(), knowledge=gh.Knowledge(external=people)).worst()


def _reason(release: gh.Release) -> Any:
    people = gh.read(corpora.RELEASED, quasi=list(corpora.QUASI), missing="category")
    return gh.attack(release, gh.Minimality(), knowledge=gh.Knowledge(external=people)).worst()


def _measured(attack: type[Any]) -> Callable[[gh.Release], Any]:
    """Measure a risk, with a part of the people as control."""

    def measure(release: gh.Release) -> Any:
        roles: Any = {"quasi": list(corpora.QUASI), "sensitive": "disease", "missing": "category"}
        people, others = (gh.read(rows, **roles) for rows in (corpora.RELEASED, corpora.RELEASED.slice(0, 10)))
        return gh.attack(release, attack(control=others), knowledge=gh.Knowledge(external=people))

    return measure


_MEASURED = tuple(map(_measured, (gh.SinglingOut, gh.Linkability, gh.Inference)))


def _show(release: gh.Release) -> str:
    from click.testing import CliRunner

    with CliRunner().isolation() as (out, *_):
        show_release(release, 3)
        return out.getvalue().decode("utf-8", "replace")


# ------------------------------------------------------------------------------------------------------------ recipes


def _some_recipe(chance: random.Random) -> Case:
    """A package that is right but for its recipe; mostly of another version, whose words are not compared."""
    name = chance.choice(sorted(corpora.folders()))
    files = dict(corpora.folders()[name])
    manifest = json.loads(files[MANIFEST])
    ours = manifest["glasshouse"]
    if chance.random() < 0.9:
        ours["software"] = "glasshouse 0.0.9"
    recipe = ours["recipe"]
    part = chance.choice(["principle", "principle", "method", "method", "recoding", "all"])
    if part != "all" and chance.random() < 0.6:
        recipe[part] = copy.deepcopy(chance.choice(corpora.RECIPES[part]))
    if part == "all":
        ours["recipe"] = changed_data(recipe, chance, corpora.ODD_NUMBERS)
    elif chance.random() < 0.8:
        recipe[part] = changed_data(recipe[part], chance, corpora.ODD_NUMBERS)
    if chance.random() < 0.1:
        for column in ours["columns"]:
            if column["role"] == "sensitive":
                column["axis"] = changed_data(corpora.AXIS, chance, corpora.ODD_NUMBERS)
    if chance.random() < 0.1:
        ours[chance.choice(["n_tuples", "n_dropped", "n_suppressed", "identified"])] = chance.choice(
            corpora.ODD_NUMBERS
        )
    files[MANIFEST] = _json(manifest)
    return Case(files=files)


def _attack_thoroughly(case: Case, folder: Path) -> None:
    """Load a package, and let every attack that runs the recipe run it."""
    release = gh.load(folder)
    people = gh.read(corpora.RELEASED, quasi=list(corpora.QUASI), missing="category")
    ten = gh.read(corpora.RELEASED.slice(0, 10), quasi=list(corpora.QUASI), missing="category")
    few: Any = {"most_worlds": 500, "most_runs": 1_000}  # the attacker sets how long it runs; by default, minutes
    refusals = []
    attacks: list[Any] = [
        (gh.ReverseEngineering(source=gh.Source.seeded(1), error=0.2, **few), people),
        (gh.ReverseEngineering(how="exact", **few), ten),
        (gh.ReverseEngineering(how="bound"), people),
        (gh.Minimality(), people),
        (gh.Corruption(most_corrupted=2), people),
        (gh.Corruption(), people),
        (gh.Intersection(others=(release,), source=gh.Source.seeded(1), error=0.2), people),
    ]
    for attack, external in attacks:
        try:
            str(gh.attack(release, attack, knowledge=gh.Knowledge(external=external)))
        except gh.GlasshouseError as refusal:
            refusals.append(refusal)
    if len(refusals) == len(attacks):  # most attacks are made for some recodings alone
        raise refusals[-1]


# ----------------------------------------------------------------------------------------------------------- commands


def _some_folder(chance: random.Random) -> Case:
    case = _some_package(chance) if chance.random() < 0.5 else _some_recipe(chance)
    lines = ["show", "show --json", "verify", "verify --json", "query", "linking", "reverse-engineering", "minimality"]
    return replace(case, text=chance.choice([*lines, "corruption", "intersection", "marginals"]))


def _command(case: Case, folder: Path) -> None:
    """Let a command read a package: it ends with 0, 1 or 2, and prints nothing that a terminal would obey."""
    from click.testing import CliRunner

    from glasshouse.cli.commands import glasshouse

    people = folder.parent / "people.parquet"
    if not people.exists():
        pq.write_table(corpora.RELEASED.drop_columns("disease"), people)
    word, *options = case.text.split()
    quasi = ["--quasi", ",".join(corpora.QUASI), "--missing", "category"]
    if word in ("show", "verify"):
        line = [word, str(folder), *options]
    elif word == "query":
        line = [word, str(folder), "SELECT COUNT(*), AVG(age), disease GROUP BY disease"]
    elif word == "marginals":
        line = [word, str(people), *quasi, "--sensitive", "price", "--marginal", "age,city", "--out", str(folder)]
    else:
        line = ["attack", str(folder), "--external", str(people), "--attack", word, "--error", "0.2", "--seed", "1"]
        line += ["--other", str(folder)] if word == "intersection" else []
        line += ["--most-runs", "1000"] if word == "reverse-engineering" else []
    result = CliRunner().invoke(glasshouse, line)
    if result.exit_code not in (0, 1, 2):
        raise AssertionError(f"{word} ended with {result.exit_code}: {result.output[-500:]}") from result.exception
    hidden = {c for c in result.output if c != "\n" and not is_shown(c)}
    assert not hidden, f"{word} printed {hidden!r}"
    if result.exit_code == 2:
        raise gh.InputError(result.stderr[:1000])


# --------------------------------------------------------------------------------------------------- what was learned


def _some_population(chance: random.Random) -> Case:
    """A file of what was learned: other data under a right checksum, damaged bytes, or something else in its place."""
    name = chance.choice(sorted(corpora.populations()))
    content = corpora.populations()[name][1]
    what = chance.random()
    if what < 0.55:
        data = json.loads(content)
        data.pop("checksum")
        if chance.random() < 0.5:  # where it matters most: the many weights would draw most of the accidents
            for part in chance.sample(sorted(data), k=chance.choice([1, 1, 2])):
                data[part] = changed_data([data[part]], chance, [*ODD_VALUES, *corpora.ODD_NUMBERS])
                if isinstance(data[part], list) and len(data[part]) == 1 and chance.random() < 0.8:
                    (data[part],) = data[part]
        elif chance.random() < 0.3:
            data[chance.choice(sorted(data))] = _nested(chance.choice([30, 70, 400, 900, 5_000]))
        else:
            data = changed_data(data, chance, corpora.ODD_NUMBERS)
        content = _summed(data)
    elif what < 0.8:
        content = changed_bytes(content, chance, [own for _, own in corpora.populations().values()])
    elif what < 0.9:
        odd = chance.choice(["pipe", "folder", "endless", "loop", "huge", "/etc/passwd", "."])
        return Case(release=name, odd={"learned.json": odd})
    return Case(files={"learned.json": content}, release=name)


def _nested(depth: int) -> Any:
    found: Any = 1.0
    for _ in range(depth):
        found = [found]
    return found


def _summed(data: Any) -> bytes:
    """A file with a right checksum, as the sender of a hostile one would write it."""
    try:
        if not isinstance(data, dict):
            return json.dumps(data).encode()
        plain = json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        told = json.dumps({**data, "checksum": f"sha256:{hashlib.sha256(plain.encode()).hexdigest()}"})
        return told.encode("utf-8", "surrogatepass")
    except RecursionError:
        return b'{"format": "glasshouse population", "format_version": 1, "z": ' + b"[" * 5_000 + b"]" * 5_000 + b"}"


def _load_population(case: Case, folder: Path) -> None:
    """Load what was learned for its release, and use all of it."""
    release = replace(corpora.populations()[case.release][0])  # a new one, of which nothing is kept in memory
    found = gh.Population.load(folder / "learned.json", release)
    repr(found), found.influences(), found.notes
    found.save(folder / "again.json")
    answer = gh.query(release, "SELECT ill, COUNT(*), AVG(age) WHERE sex = 'F' GROUP BY ill")
    str(answer), json.dumps(answer.to_dict())
    assert all(math.isfinite(number) for row in answer.estimates for own in row for number in (own.value, own.error))


DOORS: Mapping[str, Door] = {
    "reader": Door(make=_some_table, knock=_read),
    "policy": Door(make=_some_policy, knock=_load_policy),
    "sql": Door(make=_some_question, knock=_ask),
    "package": Door(make=_some_package, knock=_load),
    "recipe": Door(make=_some_recipe, knock=_load),
    "attacks": Door(make=lambda chance: chance.choice([_some_recipe, _some_package])(chance), knock=_attack_thoroughly),
    "commands": Door(make=_some_folder, knock=_command),
    "population": Door(make=_some_population, knock=_load_population),
}


# -------------------------------------------------------------------------------------------- what the watch must see


def _hang(case: Case, folder: Path) -> None:
    while True:
        time.sleep(1)


def _take_memory(case: Case, folder: Path) -> None:
    bytearray(os.urandom(1) * (500 << 20))


TRAPS: Mapping[str, Door] = {
    "surprise": Door(make=lambda _: Case(), knock=lambda case, folder: bytes(1 // len(case.text))),
    "memory": Door(make=lambda _: Case(), knock=_take_memory),
    "end": Door(make=lambda _: Case(), knock=lambda case, folder: os.abort()),
    "hang": Door(make=lambda _: Case(), knock=_hang),
}
