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
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from glasshouse.errors import (
    CautionError,
    DisclosureWarning,
    DomainError,
    GlasshouseError,
    GuaranteeBroken,
    Infeasible,
    InputError,
    InterpretedKernelsWarning,
    MissingExtra,
    NotSupported,
    OutputError,
    ParameterError,
    PolicyError,
    SchemaError,
    SourceError,
)
from glasshouse.version import VERSION

if TYPE_CHECKING:
    from glasshouse.adversary import (
        ABSENT,
        Corruption,
        Intersection,
        Knowledge,
        Linking,
        Minimality,
        Posterior,
        ReverseEngineering,
    )
    from glasshouse.analyst.answering import answer
    from glasshouse.analyst.drawing import sample
    from glasshouse.analyst.duckdb_views import to_duckdb
    from glasshouse.analyst.losses import losses
    from glasshouse.analyst.query import query
    from glasshouse.analyst.workloads import Workload
    from glasshouse.attack import attack
    from glasshouse.comparing import Comparison
    from glasshouse.comparing.compare import compare
    from glasshouse.evaluate import evaluate
    from glasshouse.foreign import foreign_release
    from glasshouse.grouping import (
        Ace,
        Anatomize,
        EvenSplit,
        Greedy,
        Hybrid,
        Mirror,
        Mondrian,
        OptGen,
        RandomisedGreedy,
        Refined,
        Separate,
        Snug,
        Symmetric,
        Tailor,
    )
    from glasshouse.loading import load
    from glasshouse.microdata import Groups, Microdata, Taxonomy, examples, read, synthetic
    from glasshouse.microdata.cautions import Caution
    from glasshouse.microdata.inspection import inspect
    from glasshouse.pages.report import Report, make_report
    from glasshouse.papers import reproduce
    from glasshouse.policy import Policy, load_policy, policy_from
    from glasshouse.principles import (
        AllOf,
        AlphaKAnonymity,
        DeltaGrowth,
        DesignatedLDiversity,
        DistinctLDiversity,
        EntropyLDiversity,
        KAnonymity,
        LDiversity,
        RecursiveLDiversity,
        RhoBreach,
        TCloseness,
    )
    from glasshouse.publish import publish
    from glasshouse.randomness import Source
    from glasshouse.recheck import verify_release
    from glasshouse.recoding import Anatomy, Angel, Boxes, Permutation, Perturbed, Taxonomies
    from glasshouse.release import Guarantee, Recipe, Release
    from glasshouse.release.postgres import to_postgres
    from glasshouse.verify import Verification, verify

__version__ = VERSION
__all__ = [
    "ABSENT",
    "Ace",
    "AllOf",
    "AlphaKAnonymity",
    "Anatomize",
    "Anatomy",
    "Angel",
    "Boxes",
    "Caution",
    "CautionError",
    "Comparison",
    "Corruption",
    "DeltaGrowth",
    "DesignatedLDiversity",
    "DisclosureWarning",
    "DistinctLDiversity",
    "DomainError",
    "EntropyLDiversity",
    "EvenSplit",
    "GlasshouseError",
    "Greedy",
    "Groups",
    "Guarantee",
    "GuaranteeBroken",
    "Hybrid",
    "Infeasible",
    "InputError",
    "InterpretedKernelsWarning",
    "Intersection",
    "KAnonymity",
    "Knowledge",
    "LDiversity",
    "Linking",
    "Microdata",
    "Minimality",
    "Mirror",
    "MissingExtra",
    "Mondrian",
    "NotSupported",
    "OptGen",
    "OutputError",
    "ParameterError",
    "Permutation",
    "Perturbed",
    "Policy",
    "PolicyError",
    "Posterior",
    "RandomisedGreedy",
    "Recipe",
    "RecursiveLDiversity",
    "Refined",
    "Release",
    "Report",
    "ReverseEngineering",
    "RhoBreach",
    "SchemaError",
    "Separate",
    "Snug",
    "Source",
    "SourceError",
    "Symmetric",
    "TCloseness",
    "Tailor",
    "Taxonomies",
    "Taxonomy",
    "Verification",
    "Workload",
    "answer",
    "attack",
    "compare",
    "evaluate",
    "examples",
    "foreign_release",
    "inspect",
    "load",
    "load_policy",
    "losses",
    "make_report",
    "policy_from",
    "publish",
    "query",
    "read",
    "reproduce",
    "sample",
    "synthetic",
    "to_duckdb",
    "to_postgres",
    "verify",
    "verify_release",
]

# Names are loaded when they are first used, so that `import glasshouse` and `glasshouse --help` stay instant.
_HOMES = {
    "glasshouse.grouping": [
        "Ace",
        "Anatomize",
        "EvenSplit",
        "Greedy",
        "Hybrid",
        "Mirror",
        "Mondrian",
        "OptGen",
        "RandomisedGreedy",
        "Refined",
        "Separate",
        "Snug",
        "Symmetric",
        "Tailor",
    ],
    "glasshouse.loading": ["load"],
    "glasshouse.microdata": ["Groups", "Microdata", "Taxonomy", "read"],
    "glasshouse.microdata.cautions": ["Caution"],
    "glasshouse.microdata.inspection": ["inspect"],
    "glasshouse.principles": [
        "AllOf",
        "AlphaKAnonymity",
        "DeltaGrowth",
        "DesignatedLDiversity",
        "DistinctLDiversity",
        "EntropyLDiversity",
        "KAnonymity",
        "LDiversity",
        "RecursiveLDiversity",
        "RhoBreach",
        "TCloseness",
    ],
    "glasshouse.adversary": [
        "ABSENT",
        "Corruption",
        "Intersection",
        "Knowledge",
        "Linking",
        "Minimality",
        "Posterior",
        "ReverseEngineering",
    ],
    "glasshouse.analyst.answering": ["answer"],
    "glasshouse.analyst.drawing": ["sample"],
    "glasshouse.analyst.duckdb_views": ["to_duckdb"],
    "glasshouse.analyst.losses": ["losses"],
    "glasshouse.analyst.query": ["query"],
    "glasshouse.analyst.workloads": ["Workload"],
    "glasshouse.attack": ["attack"],
    "glasshouse.comparing": ["Comparison", "compare"],
    "glasshouse.evaluate": ["evaluate"],
    "glasshouse.foreign": ["foreign_release"],
    "glasshouse.policy": ["Policy", "load_policy", "policy_from"],
    "glasshouse.publish": ["publish"],
    "glasshouse.randomness": ["Source"],
    "glasshouse.recheck": ["verify_release"],
    "glasshouse.recoding": ["Anatomy", "Angel", "Boxes", "Permutation", "Perturbed", "Taxonomies"],
    "glasshouse.release": ["Guarantee", "Recipe", "Release"],
    "glasshouse.release.postgres": ["to_postgres"],
    "glasshouse.pages.report": ["Report", "make_report"],
    "glasshouse.papers": ["reproduce"],
    "glasshouse.verify": ["Verification", "verify"],
}
_MODULES = {"examples": "glasshouse.microdata.examples", "synthetic": "glasshouse.microdata.synthetic"}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


class _Package(ModuleType):
    """The package itself, whose functions `attack`, `publish` and `verify` live in files of the same name.

    Importing such a file must not put the module in the place of the function.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _HOME_OF and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


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


sys.modules[__name__].__class__ = _Package
