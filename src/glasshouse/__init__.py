# SPDX-License-Identifier: Apache-2.0
"""Publish microdata that stays private even when everyone knows how it was done.

::

                under a principle
                       |
    microdata ---> grouping ---> recoding ---> release ---+---> adversary   what can be learned about a person
                                                          |
                                                          +---> analyst     what can be learned about the population

>>> import glasshouse as gh
>>> patients = gh.synthetic.hospital(n=500, seed=1)
>>> release = gh.publish(patients, principle=gh.LDiversity(ell=3))
>>> release.guarantee.adversary
'algorithm-aware'
"""

from __future__ import annotations

import importlib
from typing import Any

from glasshouse.catalog import ROOMS
from glasshouse.version import VERSION

__version__ = VERSION

# Every public name, by the module that it lives in; principles, methods, recodings and attacks are those of the
# catalogue. A name is loaded when it is first used, so that `import glasshouse` and `glasshouse --help` stay instant.
# `make fix` writes these names into __init__.pyi, where type checkers look for them.
_HOMES = {
    "glasshouse.adversary.hint.hint_posterior": "HintPosterior",
    "glasshouse.adversary.knowledge": "ABSENT Knowledge",
    "glasshouse.adversary.learning.learned_posterior": "LearnedPosterior",
    "glasshouse.adversary.posterior": "Posterior",
    "glasshouse.adversary.risks.risk": "MeasuredRisk",
    "glasshouse.analyst.answers.workload_answers": "answer",
    "glasshouse.analyst.answers.sample": "sample",
    "glasshouse.analyst.answers.duckdb_views": "to_duckdb",
    "glasshouse.analyst.usefulness.losses": "losses",
    "glasshouse.analyst.answers.query": "query",
    "glasshouse.analyst.usefulness.workloads": "Workload",
    "glasshouse.population.learn": "learn",
    "glasshouse.population.population": "Population",
    "glasshouse.journeys.attack": "attack",
    "glasshouse.comparing": "Comparison",
    "glasshouse.comparing.compare": "compare",
    "glasshouse.errors": "CautionError DisclosureWarning DomainError GlasshouseError GuaranteeBroken Infeasible "
    "InputError InterpretedKernelsWarning MissingExtra NotSupported OutputError ParameterError PolicyError SchemaError "
    "SourceError",
    "glasshouse.journeys.evaluate": "evaluate",
    "glasshouse.journeys.foreign": "foreign_release",
    "glasshouse.journeys.verify": "verify verify_release",
    "glasshouse.journeys.load": "load",
    "glasshouse.journeys.edition_tables": "edition_of",
    "glasshouse.microdata": "Groups Microdata Taxonomy read",
    "glasshouse.microdata.cautions": "Caution",
    "glasshouse.microdata.inspection.inspection": "inspect",
    "glasshouse.pages.report": "Report make_report",
    "glasshouse.papers": "reproduce",
    "glasshouse.policy": "Policy load_policy policy_from",
    "glasshouse.journeys.publish": "publish",
    "glasshouse.randomness": "Source",
    "glasshouse.release": "Guarantee Recipe Release",
    "glasshouse.release.edition": "Edition",
    "glasshouse.release.package.signature": "Signature new_key sign",
    "glasshouse.release.postgres_schema": "to_postgres",
    "glasshouse.verification": "Verification",
}
_MODULES = {
    "examples": "glasshouse.microdata.examples",
    "spark": "glasshouse.spark",
    "synthetic": "glasshouse.microdata.synthetic",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_HOME_OF |= {name: home for room in ROOMS for name, home in room.homes.items()}
__all__ = sorted([*_HOME_OF, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in _HOME_OF:
        raise AttributeError(f"module 'glasshouse' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
