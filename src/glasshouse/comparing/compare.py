# SPDX-License-Identifier: Apache-2.0
"""Compare: every method and recoding that fits a table, side by side, and the one that an expert would take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse import catalog
from glasshouse.analyst.answers.population_answers import MODELS
from glasshouse.analyst.usefulness.workloads import Workload
from glasshouse.comparing.cache import Kept, key_of
from glasshouse.comparing.comparison import Comparison, label_of
from glasshouse.comparing.processes import n_processes, run
from glasshouse.comparing.recommendation import recommend
from glasshouse.comparing.scoring import Setting
from glasshouse.comparing.twin import twin_of
from glasshouse.errors import InputError, NotSupported, ParameterError
from glasshouse.journeys.plan import default_method, default_recoding
from glasshouse.log import step
from glasshouse.pages.report.effort import Effort
from glasshouse.plural import counted
from glasshouse.principles.principle import Requirement
from glasshouse.randomness import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from glasshouse.comparing.comparison import Row
    from glasshouse.grouping.method import Method
    from glasshouse.microdata import Microdata
    from glasshouse.principles.principle import Principle
    from glasshouse.recoding.recoding import Recoding

__all__ = ["compare", "methods_of", "recodings_of"]

PRESENCE = ("secret", "public")
_NOT_PERTURBED = (
    "this recoding is only for the principles RhoBreach (--rho1) and DeltaGrowth (--delta), not for a principle "
    "about groups"
)


def compare(
    table: Microdata,
    *,
    principle: Principle | str | Mapping[str, Any],
    methods: Iterable[Any] | None = None,
    recodings: Iterable[Any] | None = None,
    use_truth: bool = False,
    presence: str = "secret",
    workload: Workload | None = None,
    runs: int = 3,
    seed: int = 0,
    effort: Effort | None = None,
    model: str = "uniform",
    learner: bool = True,
    processes: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    finished: Callable[[Row], None] | None = None,
    resume: str | Path | None = None,
) -> Comparison:
    """Try every way to publish a table that fits it, and recommend one.

    Each is published, asked the questions of a workload, and attacked, with knowledge of the algorithm and by learning
    from the release; releases are thrown away. All of it is done on twins of the table, with the same quasi-identifiers
    and made-up sensitive values (`twin_of` tells what of the table they use): a method that is chosen because it did
    better on the true sensitive values is a choice that depends on them, and so a leak. A method that fails is a row
    that says why.

    Parameters
    ----------
    table
        Microdata, from `read`, with a sensitive column.
    principle
        The privacy requirement, as for `publish`.
    methods, recodings
        What to compare, by name or as objects; by default all of the catalogue, and all recodings that fit.
    use_truth
        Measure on the true sensitive values instead. A choice that is made by the result then reveals something about
        them.
    presence
        ``secret``: no way is recommended that shows who is in the table, if there is another; or ``public``.
    workload
        Questions to ask; by default a thousand of TRANSPARENT 4.1, with as many attributes as there are, up to five.
    runs
        How many twins are made; errors, divergences, sizes and times are means over them, and the first is attacked.
        With ``use_truth`` every way is run so many times.
    seed
        The seed of the twins, of random choices and of the workload. It is no secret: an attacker who knows it can
        repeat the comparison from what attackers know anyway, and learns nothing. The releases of a comparison are not
        for publication.
    effort
        How long an attack may take, and how much work it may be (`glasshouse.pages.report.Effort`).
    model
        What answers the questions: ``uniform``, the papers' estimator, or ``learned``, what each release teaches. To
        learn takes some seconds for every way and run.
    learner
        Whether the cost to a learner is measured: the learning attack (`DeFinetti`) on the first run of every way. It
        takes about 10 seconds for a table of 50,000 people, and is given up after ``effort.seconds``.
    processes
        How many work side by side; by default one for each core, up to 8. With 0 all is done in this process.
    progress
        Is called with what is being done, how many ways are done, and of how many.
    finished
        Is called with the row of each way once it is known, in the order in which ways are finished; first with those
        that were kept.
    resume
        A folder, which must stay inside: finished rows are kept there, and not run again if table, principle, way,
        workload, model, seed, effort and version are the same.

    Examples
    --------
    >>> import glasshouse as gh
    >>> table = gh.synthetic.hospital(600, seed=1)
    >>> found = gh.compare(table, principle=gh.LDiversity(ell=3), methods=["mirror", "separate"], processes=0)
    >>> found.recommended.method, len(found.rows)
    ('mirror', 8)
    """
    principle = catalog.chosen_principle(principle)
    if not table.sensitive:
        raise InputError("a comparison needs a sensitive column, about which it asks questions: name one")
    table.refuse_unanswered()
    if presence not in PRESENCE:
        raise ParameterError("compare", "presence", "'secret' or 'public'", presence)
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < 1:
        raise ParameterError("compare", "runs", "a whole number of at least 1", runs)
    if model not in MODELS:
        raise ParameterError("compare", "model", " or ".join(map(repr, MODELS)), model)
    with step("twin", rows=table.n_tuples):
        source = Source.seeded(seed).child("compare")
        tried = tuple(table if use_truth else twin_of(table, source.child("run", run)) for run in range(runs))
    requirement = Requirement.in_groups(principle, tried[0])
    requirement.check_eligible()  # else every row would say the same
    kinds, left_out = recodings_of(recodings, requirement, tried[0])
    ways = [(method, recoding) for method in methods_of(methods, requirement) for recoding in kinds]
    setting = Setting(
        tables=tried,
        principle=principle,
        workload=workload or Workload.transparent(tried[0], qd=min(5, len(table.quasi) + 1), seed=seed),
        seed=seed,
        effort=effort or Effort(),
        model=model,
        learner=learner,
    )
    kept = Kept(None if resume is None else Path(resume))
    rows = _rows(setting, ways, processes, kept, progress=progress, finished=finished)
    found = recommend(rows, preferred=_usual(requirement), presence=presence)
    return Comparison(
        rows=tuple(sorted(rows, key=_place)),
        recommended=found.row,
        reason=found.reason,
        notes=found.notes,
        used_truth=use_truth,
        principle=repr(principle) if requirement.target or not requirement.parts else requirement.describe(),
        workload=f"{setting.workload.name}, {counted(len(setting.workload), 'question')}",
        n_tuples=table.n_tuples,
        runs=runs,
        seed=seed,
        left_out=left_out,
        model=model,
    )


# --- which ways there are ---------------------------------------------------------------------------------------------


def methods_of(given: Iterable[Method | str] | None, requirement: Requirement) -> list[Method]:
    """The methods to compare: those that are given, by name or as objects, or all of the catalogue."""
    if given is None and requirement.target is not None:
        recoding = default_recoding(requirement)  # perturbed generalization, which may take the groups of one method
        return [default_method(requirement, recoding)]
    found: list[Method] = []
    for method in catalog.METHODS if given is None else given:
        if isinstance(method, str) and method in catalog.METHODS:
            found += catalog.METHODS[method].usual()
        else:
            found.append(catalog.chosen(catalog.METHODS, method))
    return found


def recodings_of(
    given: Iterable[Recoding | str] | None, requirement: Requirement, table: Microdata
) -> tuple[list[Recoding], dict[str, str]]:
    """The recodings to compare, and the reasons why some of the catalogue do not fit."""
    if given is not None:
        return [catalog.chosen(catalog.RECODINGS, recoding) for recoding in given], {}
    if requirement.target is not None:
        return [default_recoding(requirement)], {}
    found, left_out = [], {}
    for name, recoding in catalog.RECODINGS.items():
        if recoding.layout.size is not None:
            left_out[name] = _NOT_PERTURBED
            continue
        made = recoding()
        try:
            made.resolved(requirement).check(table, requirement)
        except (NotSupported, InputError) as refusal:  # also a parameter, or a name, that it would need
            left_out[name] = str(refusal)
        else:
            found.append(made)
    return found, left_out


# --- trying them ------------------------------------------------------------------------------------------------------


def _rows(
    setting: Setting,
    ways: list[tuple[Method, Recoding]],
    processes: int | None,
    kept: Kept,
    *,
    progress: Callable[[str, int, int], None] | None,
    finished: Callable[[Row], None] | None,
) -> list[Row]:
    """A row for each way, in the order of the ways: those that were kept, and the others as they are finished."""
    tell = progress or (lambda _what, _done, _total: None)
    show = finished or (lambda _row: None)
    keys = [key_of(setting, *way) for way in ways]

    def named(number: int, row: Row) -> Row:  # a row that was kept may have been made under an older name
        return replace(row, method=label_of(ways[number][0]), recoding=label_of(ways[number][1]))

    rows = {number: named(number, row) for number, key in enumerate(keys) if (row := kept.get(key)) is not None}
    todo = [number for number in range(len(ways)) if number not in rows]
    tell("comparing", len(rows), len(ways))
    for row in rows.values():
        show(row)
    if todo:
        with step("compare", rows=setting.tables[0].n_tuples):
            for place, row, whole in run(setting, [ways[i] for i in todo], n_processes(processes, len(todo))):
                rows[todo[place]] = named(todo[place], row)
                if whole:
                    kept.add(keys[todo[place]], row)
                show(rows[todo[place]])
                tell("comparing", len(rows), len(ways))
    return [rows[i] for i in range(len(ways))]


def _usual(requirement: Requirement) -> tuple[str, str]:
    """The method and the recoding that `publish` uses by default."""
    recoding = default_recoding(requirement)
    return default_method(requirement, recoding).name, recoding.name


def _place(row: Row) -> tuple[bool, bool, float]:
    return bool(row.failed), row.adversary == "linking", float("inf") if row.error is None else row.error
