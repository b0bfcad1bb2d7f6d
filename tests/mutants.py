"""Deliberate faults, each of which the tests must notice: ``make mutants``.

A fault is a text of the package that occurs exactly once there, what it becomes, and the tests that should fail. Each
is made in a copy of the package, a kernel is compiled again, and its tests run until the first fails. At the end the
same tests run in the mended copies, where all must pass: nothing of a fault is left behind.

A fault that survives is tried once more with all cases and with larger numbers of random tables and examples (as
``make prove`` has them): then the gate has too few of them; or it survives these as well, and a test is missing.

``python -m tests.mutants`` tries all, ``python -m tests.mutants WORD`` those whose text or tests contain the word. It
takes about as long as the suite itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
MORE = {"GLASSHOUSE_TABLES": "1/5", "GLASSHOUSE_EXAMPLES": "1/2", "GLASSHOUSE_LOOK": "1"}
LONGEST = 1_800  # seconds
DIRECTIVES = ("infer_types=True", "boundscheck=False", "wraparound=False", "cdivision=True", "initializedcheck=False")


class Mutant(NamedTuple):
    """One fault."""

    old: str
    new: str
    tests: str  # folders and files below tests/, wherever they lie there


MUTANTS = [
    # --- principles: what safe means
    Mutant(
        "at_most(counts.largest, self.ell, counts.sizes, 1)",
        "at_most(counts.largest, self.ell, counts.sizes + 1, 1)",
        "principles",
    ),
    Mutant("return counts.distinct >= self.ell", "return counts.distinct > self.ell", "principles"),
    Mutant("return counts.sizes >= self.k\n", "return counts.sizes + 1 >= self.k\n", "principles"),
    Mutant("return modest & (counts.sizes >= self.k)", "return modest", "principles"),
    Mutant("return modest & (counts.distinct >= self.ell)", "return modest", "principles"),
    Mutant("ranks = min(self.ell - 1, max(", "ranks = min(self.ell, max(", "principles"),
    Mutant(
        "holds[large] = [a * left_factor <= b", "holds[large] = [a * left_factor < b", "rooms/principles/test_exact.py"
    ),
    Mutant(
        "(np.abs(surplus) <= doubt) & ~uniform", "(np.abs(surplus) < 0) & ~uniform", "rooms/principles/test_entropy.py"
    ),
    Mutant(
        'cls("line_work", (cumulated, sums), m, max(m - 1, 1)',
        'cls("line_work", (cumulated, sums), m, max(m, 1)',
        "rooms/principles/test_closeness.py",
    ),
    Mutant(
        "if gap < 0:\n                        gap = -gap\n                    total",
        "if gap < 0:\n                        gap = 0\n                    total",
        "rooms/principles/test_closeness.py",
    ),
    Mutant(
        "if (p * lambda_ + u) ** 2 <= squared:",
        "if (p * lambda_ + u) ** 2 > squared:",
        "rooms/principles/test_perturbation.py",
    ),
    # --- grouping: how a table is divided
    Mutant(
        'return "groups" if Fraction(self.slack) >= 2 else "half-groups"',
        'return "groups" if Fraction(self.slack) >= 1 else "half-groups"',
        "rooms/grouping/test_robust_transparency.py",
    ),
    Mutant(
        "return held * times / (1 - held + held * times)",
        "return held * times / (1 + held * times)",
        "rooms/grouping/test_robust_transparency.py",
    ),
    Mutant(
        '{"groups": 1, "half-groups": 2}',
        '{"groups": 1, "half-groups": 1}',
        "rooms/grouping/test_robust_transparency.py",
    ),
    Mutant(
        "safe[safe] = holds[0::2] & holds[1::2]",
        "safe[safe] = holds[0::2] | holds[1::2]",
        "rooms/grouping/test_mondrian.py rooms/grouping/test_even_split.py",
    ),
    Mutant(
        'order: NDArray[np.intp] = np.argsort(-widths, axis=1, kind="stable")',
        'order: NDArray[np.intp] = np.argsort(-widths[:, ::-1], axis=1, kind="stable")',
        "rooms/grouping/test_mondrian.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "middles = nodes.starts + (nodes.sizes + 1) // 2\n",
        "middles = nodes.starts + nodes.sizes // 2\n",
        "rooms/grouping/test_against_twins.py rooms/grouping/test_orderings.py",
    ),
    Mutant(
        "again = ~both & (2 * nodes.faces < 1 << min(mirrors, 40))",
        "again = ~both & (nodes.faces < 1 << min(mirrors, 40))",
        "rooms/grouping/test_mirror.py rooms/grouping/test_against_twins.py rooms/grouping/test_mirror_transparency.py",
    ),
    Mutant(
        "both = holds[0::2] & holds[1::2]\n        again",
        "both = holds[0::2] | holds[1::2]\n        again",
        "rooms/grouping/test_mirror.py rooms/grouping/test_mirror_transparency.py",
    ),
    Mutant(
        "(n + 4 * over[allowed])",
        "(n + 3 * over[allowed])",
        "rooms/grouping/test_mirror.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "return ell if ell % 2 == 0 else 2 * ell",
        "return ell",
        "rooms/grouping/test_mirror.py rooms/grouping/test_mirror_transparency.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "able = nodes.sizes >= 2 * ell * largest",
        "able = nodes.sizes > 2 * ell * largest",
        "rooms/grouping/test_tailor.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "if len(members) < 2 * least:",
        "if len(members) <= 2 * least:",
        "rooms/grouping/test_tailor.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "belows(p.denominator, borders) < p.numerator",
        "belows(p.denominator, borders) <= p.numerator",
        "rooms/grouping/test_greedy.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "least = requirement.smallest_group or 1",
        "least = unit",
        "rooms/grouping/test_snug.py rooms/grouping/test_against_twins.py",
    ),
    # --- grouping: kernels
    Mutant(
        "if left * ell <= half and right * ell <= half:",
        "if left * ell <= half or right * ell <= half:",
        "rooms/grouping/test_mirror.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "if a <= half and b <= half:\n                                only_first = a",
        "if a <= half + 1 and b <= half:\n                                only_first = a",
        "rooms/grouping/test_mirror.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "return j < self.best_dim or (j == self.best_dim and k < self.best_k)",
        "return j < self.best_dim or (j == self.best_dim and k > self.best_k)",
        "rooms/grouping/test_tailor.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "                if self.best_cost < 0 or cost < self.best_cost:",
        "                if self.best_cost < 0 or cost <= self.best_cost:",
        "rooms/grouping/test_tailor.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "bound = (left - ell * after) // beta",
        "bound = (left - ell * after + 1) // beta",
        "rooms/grouping/test_ace.py rooms/grouping/test_against_twins.py rooms/grouping/test_theorems.py",
    ),
    Mutant(
        "complete = top * ell <= at - start",
        "complete = top * ell <= at - start + 1",
        "rooms/grouping/test_greedy.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "stop = at + (excess + step - 1) // step",
        "stop = at + (excess + step - 1) // step + 1",
        "rooms/grouping/test_greedy.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "residues[2, found] = rounds - (sizes[a + i] - 1)",
        "residues[2, found] = rounds - sizes[a + i]",
        "rooms/grouping/test_anatomize.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "if slots[k] > group:\n                    break",
        "if slots[k] >= group:\n                    break",
        "rooms/grouping/test_anatomize.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "if most <= n // 2 // ell:  # every half", "if most <= n // ell:  # every half", "rooms/grouping/test_sift.py"
    ),
    Mutant("        high = n // ell - most\n", "        high = n // ell - most + 1\n", "rooms/grouping/test_sift.py"),
    Mutant("share_of(before, need, room)\n", "share_of(before, need, room + 1)\n", "rooms/grouping/test_sift.py"),
    Mutant(
        "marks[at if marks[at] == 0 else starts[i] + j] = 1",
        "marks[starts[i] + j] = 1",
        "rooms/grouping/test_sift.py rooms/grouping/test_robust_transparency.py",
    ),
    Mutant(
        "inside = (groups - b + many - 1) // many",
        "inside = groups // many",
        "rooms/grouping/test_sift.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "    shuffle_runs(slots, starts, source, engine)\n    compiled(",
        "    compiled(",
        "rooms/grouping/test_anatomize.py rooms/grouping/test_sift.py",
    ),
    Mutant(
        'source.child("orders of values").shuffle_runs(orders, runs)',
        'source.child("orders of values")',
        "rooms/grouping/test_sift.py",
    ),
    Mutant(
        "if before > total - least:  # and so",
        "if before >= total - least:  # and so",
        "rooms/grouping/test_snug.py rooms/grouping/test_against_twins.py",
    ),
    Mutant(
        "if gap < least_gap[0] and x != last",
        "if gap <= least_gap[0] and x != last",
        "rooms/grouping/test_snug.py rooms/grouping/test_against_twins.py",
    ),
    # --- recoding: how groups are published
    Mutant(
        "return Ranges(low, high - 1, distinct % 2, of_group)",
        "return Ranges(low, high - 1, np.zeros_like(distinct), of_group)",
        "rooms/recoding/test_boxes.py rooms/recoding/test_bounding.py rooms/recoding/test_angel.py "
        "rooms/recoding/test_covering.py",
    ),
    Mutant(
        "belows(p.denominator, len(codes)) >= p.numerator",
        "belows(p.denominator, len(codes)) > p.numerator",
        "rooms/recoding/test_perturbed.py",
    ),
    Mutant(
        "source.belows(n_values, int(replaced.sum()))",
        "source.belows(n_values - 1, int(replaced.sum()))",
        "rooms/recoding/test_perturbed.py",
    ),
    Mutant(
        "k = max([requirement.anonymity, *(one.one_in or 0 for one in terms if not one.named)])",
        "k = max([requirement.anonymity, 2])",
        "rooms/recoding/test_angel.py golden",
    ),
    # --- adversary: what is believed
    Mutant(
        "share = tuples[places] / rivals[places]",
        "share = tuples[places] / np.maximum(rivals[places] - 1, 1)",
        "rooms/adversary/test_linking.py golden",
    ),
    Mutant(
        "mixed = share / total[kinds] * np.minimum(1.0, total)[kinds]",
        "mixed = share * np.minimum(1.0, total)[kinds]",
        "rooms/adversary/test_linking.py",
    ),
    Mutant(
        "tally.add(world, weight * likelihood)",
        "tally.add(world, weight)",
        "rooms/adversary/test_exact.py rooms/adversary/test_worlds.py",
    ),
    Mutant(
        "high = min(high, room)\n        if not later_options:",
        "high = min(high, room + 1)\n        if not later_options:",
        "rooms/adversary/test_permanents.py",
    ),
    Mutant(
        "low = max(low, room - later_people)",
        "low = max(low, room - later_people - 1)",
        "rooms/adversary/test_permanents.py",
    ),
    Mutant(
        "size < self.least or int((size * self.numerators // self.denominators).sum()) < size",
        "size < self.least",
        "rooms/adversary/test_decisions.py",
    ),
    Mutant(
        "if sum(map(min, kind.counts, inside[part])) > room[part]:",
        "if sum(map(min, kind.counts, inside[part])) > room[part] + 1:",
        "rooms/adversary/test_decisions.py",
    ),
    Mutant(
        "smallest_group=self.k, capped=(Caps(least=self.k),))",
        "smallest_group=self.k, capped=(Caps(least=self.k - 1),))",
        "rooms/adversary/test_decisions.py",
    ),
    Mutant(
        "complete = max(held[:-1], default=0) * ell <= at",
        "complete = max(held[:-1], default=0) * ell < at",
        "rooms/adversary/test_sequences.py",
    ),
    Mutant(
        "stay[since] = np.where(complete, goes_on, 1.0)",
        "stay[since] = np.where(complete, 1.0 - goes_on, 1.0)",
        "rooms/adversary/test_sequences.py",
    ),
    Mutant("ways *= perm(room, sum(part[i] for part in parts))", "ways *= 1", "rooms/adversary/test_sequences.py"),
    Mutant(
        "return np.asarray(self.rivals[place] == self.capacity[place])",
        "return np.asarray(self.rivals[place] <= self.capacity[place] + 1)",
        "rooms/adversary/test_mirrored.py rooms/adversary/test_mirrored_boxes.py",
    ),
    Mutant(
        "np.minimum(1.0, tuples / self.fit.n_alike)",
        "np.minimum(1.0, tuples / (self.fit.n_alike + 1))",
        "rooms/adversary/test_mirrored.py rooms/adversary/test_mirrored_boxes.py",
    ),
    Mutant(
        "orders = factorial(present) // prod(map(factorial, free))",
        "orders = factorial(present)",
        "rooms/adversary/test_minimality_attack.py golden",
    ),
    Mutant("chosen = comb(point.free, present)", "chosen = 1", "rooms/adversary/test_minimality_attack.py golden"),
    Mutant(
        "tight = (supply == of.capacity)[thing_of_pair] & possible",
        "tight = (supply <= of.capacity + 1)[thing_of_pair] & possible",
        "rooms/adversary/test_intersection.py",
    ),
    # --- what is asked and looked at: ranges of numbers, row numbers
    Mutant("if not (inside & ~wanted).is_empty:", "if False:", "rooms/analyst/test_range_measures.py"),
    Mutant(
        "least, most = min(low.low, high.low), max(low.high, high.high)",
        "least, most = min(low.low, high.low), max(low.high, low.high)",
        "rooms/analyst/test_range_measures.py",
    ),
    Mutant(
        "pc.subtract(values[1:], values[:-1]), 1)",
        "pc.subtract(values[1:], values[:-1]), 2)",
        "rooms/microdata/test_inspection.py",
    ),
    # --- analyst: flat tables, and what a release teaches
    Mutant(
        "    source.shuffle(chosen)\n    return chosen\n", "    return chosen\n", "rooms/analyst/test_flat_tables.py"
    ),
    Mutant("    if n > people:\n", "    if n >= people:\n", "rooms/analyst/test_flat_tables.py"),
    Mutant(
        'population.drawn(_generator(source.child("people")), population.fitted.weights + deviation)',
        'population.drawn(_generator(source.child("people")), population.fitted.weights)',
        "rooms/analyst/test_flat_tables.py",
    ),
    Mutant(
        '[source, *(source.child("table", number) for number in',
        "[source, *(source for _ in",
        "rooms/analyst/test_flat_tables.py",
    ),
    Mutant(
        "codes = population.points.codes[place][drawn.point[rows]]",
        "codes = population.points.codes[place][drawn.point]",
        "rooms/analyst/test_flat_tables.py",
    ),
    Mutant("pa.array(expected.amount)", "pa.array(np.round(expected.amount))", "rooms/analyst/test_duckdb.py"),
    Mutant("elif force and release_named_by(place) is not None:", "elif False:", "rooms/release/test_copies.py"),
    Mutant(
        "if name == wanted:\n            refuse_existing(place, force=force)",
        "if name == wanted:\n            pass",
        "rooms/release/test_copies.py",
    ),
    Mutant(
        "numbers[at] - wanted < wanted - numbers[at - 1]",
        "numbers[at] - wanted > wanted - numbers[at - 1]",
        "rooms/population/test_classifier.py",
    ),
    Mutant(
        "population.regression.base, population.fitted.weights)",
        "population.regression.base, 0.9 * population.fitted.weights)",
        "rooms/population/test_classifier.py",
    ),
    Mutant(
        "            return self.missing\n        if self.is_ordered",
        "            return 0\n        if self.is_ordered",
        "rooms/population/test_classifier.py",
    ),
    Mutant(
        "return -1 if code is None else code\n",
        "return 0 if code is None else code\n",
        "rooms/population/test_classifier.py",
    ),
    # --- verify: the second implementation
    Mutant(
        "own = p * lambda_ + u\n    return own / (own + (k - 1) * u)",
        "own = p * lambda_ + u\n    return own / (own + k * u)",
        "rooms/release/test_verify_release.py",
    ),
    Mutant(
        "cut = np.minimum(self.offsets[:-1] + (ell - 1), self.offsets[1:])",
        "cut = np.minimum(self.offsets[:-1] + ell, self.offsets[1:])",
        "rooms/verification/test_verify.py",
    ),
    Mutant(
        "answer[near] = above * limit.denominator > limit.numerator * below",
        "answer[near] = above * limit.denominator >= limit.numerator * below",
        "rooms/verification/test_verify.py",
    ),
    Mutant(
        "return self.seen.distinct < ell, -self.seen.distinct",
        "return self.seen.distinct <= ell, -self.seen.distinct",
        "rooms/verification/test_verify.py",
    ),
    Mutant(
        "return counts * enough > self.seen.sizes, counts",
        "return counts * enough >= self.seen.sizes, counts",
        "rooms/verification/test_verify.py",
    ),
    Mutant(
        'turn = np.clip(np.searchsorted(q, p * n // size, side="right"), start, end)',
        'turn = np.clip(np.searchsorted(q, p * n // size, side="right") + 1, start, end)',
        "rooms/verification/test_verify.py",
    ),
    Mutant(
        "ends[seen.offsets[1:] - 1] = n_ranks",
        "ends[seen.offsets[1:] - 1] = n_ranks - 2",
        "rooms/verification/test_verify.py",
    ),
    Mutant(
        'check(division, f"k = {k:,}", None, division.sizes < k,',
        'check(division, f"k = {k:,}", None, division.sizes <= k,',
        "rooms/verification/test_verify.py",
    ),
    Mutant(
        "return order_checks(release.tables, quasi=quasi, sensitive=sensitive, natural=_in_natural_order(release))",
        "return []",
        "rooms/release/test_verify_release.py",
    ),
    # --- what attackers and analysts are told
    Mutant(
        "(probabilities <= limit * (1 + _NOISE))",
        "(probabilities <= limit * 1.01)",
        "rooms/adversary/test_linking.py rooms/adversary/test_corruption.py",
    ),
    Mutant("if posterior.n_unknown and not (", "if False and not (", "rooms/comparing/test_compare.py"),
    Mutant(
        "if any(least < most for least, most in shares):",
        "if False and any(least < most for least, most in shares):",
        "rooms/analyst/test_asked_values.py",
    ),
    Mutant("    if disorder is not None:", "    if False:", "rooms/analyst/test_compared_texts.py"),
]


def home_of(mutant: Mutant, package: Path) -> Path:
    """The one file in which the text of a mutant lies."""
    found = [path for path in sorted(package.rglob("*.py")) if mutant.old in path.read_text(encoding="utf-8")]
    if len(found) != 1 or found[0].read_text(encoding="utf-8").count(mutant.old) != 1:
        raise LookupError(f"occurs in {len(found)} files, or not once: {mutant.old!r}")
    return found[0]


def tests_of(mutant: Mutant) -> list[str]:
    """Its tests as paths, wherever they lie below ``tests/``."""
    found = []
    for name in mutant.tests.split():
        places = [path for path in (ROOT / "tests" / name, *(ROOT / "tests").glob(f"*/{name}")) if path.exists()]
        if not places:
            raise LookupError(f"there are no tests {name}")
        found.append(str(places[0]))
    return found


def fails(tests: list[str], source: Path, more: dict[str, str]) -> bool:
    """Whether one of these tests fails on the package below ``source``."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(source), **more}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return True  # a fault after which nothing ends is noticed by anybody who waits
    if done.returncode > 2:  # pytest itself could not run; a negative code is a crash, which is noticed
        raise RuntimeError(done.stdout + done.stderr)
    return done.returncode != 0


def compile_kernel(path: Path) -> None:
    """Compile one kernel again, beside its source."""
    options = [word for directive in DIRECTIVES for word in ("-X", directive)]
    command = [sys.executable, "-m", "Cython.Build.Cythonize", "-i", "-3", "-f", "-q", *options, str(path)]
    subprocess.run(command, env={**os.environ, "CFLAGS": "-O1"}, capture_output=True, check=True)


def compiled(path: Path) -> dict[Path, bytes]:
    """The compiled forms of one file, under whatever names they have."""
    return {found: found.read_bytes() for found in path.parent.glob(f"{path.stem}.*.so")}


def attempt(mutant: Mutant, source: Path) -> str:
    """Make one fault, see who notices, and mend it."""
    path = home_of(mutant, source / "glasshouse")
    text, built = path.read_text(encoding="utf-8"), compiled(path)
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        if built:
            for old in built:
                old.unlink()
            compile_kernel(path)
        if fails(tests_of(mutant), source, {}):
            return "caught"
        return "caught by more tables alone" if fails(tests_of(mutant), source, MORE) else "survives"
    finally:
        path.write_text(text, encoding="utf-8")
        for faulty in compiled(path):
            faulty.unlink()
        for old, content in built.items():
            old.write_bytes(content)


def told(mutant: Mutant, copies: Queue[Path]) -> bool:
    """Try one mutant in a copy of the package that nobody else is using, and print what became of it."""
    source, start = copies.get(), time.monotonic()
    try:
        verdict = attempt(mutant, source)
    except LookupError as error:
        verdict = str(error)
    finally:
        copies.put(source)
    sys.stdout.write(f"{verdict:8s} {time.monotonic() - start:5.0f} s  {mutant.new!r} ({mutant.tests})\n")
    sys.stdout.flush()
    return verdict == "caught"


def main(word: str) -> int:
    """Try all mutants with this word, and tell which were not caught; without a fault, their tests must pass."""
    chosen = [mutant for mutant in MUTANTS if word in "\n".join(mutant)]
    workers = os.cpu_count() or 1
    copies: Queue[Path] = Queue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        for worker in range(workers):
            source = Path(folder) / str(worker) / "src"
            shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__", "*.c"))
            copies.put(source)
        caught = sum(pool.map(lambda mutant: told(mutant, copies), chosen))
        named = sorted({path for mutant in chosen for path in tests_of(mutant)})
        unharmed = [pool.submit(fails, [path], copies.queue[i % workers], {}) for i, path in enumerate(named)]
        wrong = [path for path, failed in zip(named, unharmed, strict=True) if failed.result()]
    for path in wrong:
        sys.stdout.write(f"{Path(path).relative_to(ROOT)} fails without any fault, so it notices none\n")
    sys.stdout.write(f"{caught} of {len(chosen)} caught\n")
    return int(caught < len(chosen) or bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
