"""How files and folders are called: for the noun that is in them, or for the verb of ``gh`` that they hold.

A past participle or a gerund says that something happened, not what is there. The lists at the top name what breaks a
rule today; they only shrink.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePosixPath

from tests.architecture.house import PLAIN, SOURCES, compare, place

# Words of the field, or names of public classes.
FIELD = {"linking", "matching", "sampling", "counting", "recoding", "grouping", "sorting", "scoring", "engineering"}
FIELD |= {"reading", "writing", "packing", "unpacking", "streaming", "comparing", "perturbed", "refined", "delimited"}
FIELD |= {"designated", "parsing", "covering", "masking", "spelling"}
IRREGULAR = {
    "left",
    "taken",
    "drawn",
    "chosen",
    "given",
    "known",
    "made",
    "kept",
    "shown",
    "written",
    "told",
    "plainly",
}
CATCH_ALL = {"utils", "core", "common", "helpers", "misc", "base", "manager", "handler"}
# The same concept from its second side: a check that shares no code, a paper's experiments, a command, a larger table.
SECOND_SIDES = {"verify", "reproducing", "papers", "cli", "streaming"}

HAPPENINGS = [
    "adversary/intersection/_kernels.py",
    "adversary/reverse_engineering/cuts/_counting_kernels.py",
    "adversary/external_table.py",
    "adversary/absent_people.py",
    "adversary/reverse_engineering/worlds/draws.py",
    "adversary/intersection/exchanges.py",
    "adversary/reverse_engineering/cuts/cut_failures.py",
    "adversary/fitting.py",
    "adversary/left_over.py",
    "adversary/reverse_engineering/theorems/mirror_theorem.py",
    "adversary/overlapping.py",
    "adversary/reverse_engineering/theorems/quasi_only.py",
    "adversary/foreign_groups.py",
    "adversary/taken_out.py",
    "analyst/answers/_kernels.py",
    "analyst/answers/workload_answers.py",
    "analyst/deperturbing.py",
    "analyst/answers/sample.py",
    "analyst/answers/perturbed_answers.py",
    "analyst/usefulness/reconstruction_error.py",
    "analyst/trees/growth.py",
    "cli/attacking.py",
    "cli/completing.py",
    "cli/inspecting.py",
    "cli/measuring.py",
    "cli/plainly.py",
    "cli/publishing.py",
    "cli/querying.py",
    "cli/reproducing.py",
    "cli/showing.py",
    "cli/stopping.py",
    "cli/verifying.py",
    "comparing/keeping.py",
    "comparing/recommending.py",
    "comparing/running.py",
    "database/connection.py",
    "database/names.py",
    "declared.py",
    "engines/_kernels.py",
    "streaming/_kernels.py",
    "grouping/mirror/halves.py",
    "grouping/transparent/packed_rows.py",
    "loading.py",
    "packed",
    "published.py",
    "recoding/_bounding_kernels.py",
    "recoding/_generalizing_kernels.py",
    "recoding/_grouped_kernels.py",
    "recoding/_separating_kernels.py",
    "recoding/bounding.py",
    "recoding/carrying.py",
    "recoding/generalization.py",
    "release/package/description.py",
    "release/package/folders.py",
    "release/uninterrupted.py",
    "report/achieving.py",
    "report/believing.py",
    "reproducing",
    "reproducing/asking.py",
    "reproducing/paging.py",
    "republishing.py",
    "verify/naming.py",
    "verification/recount.py",
]
REPEATED = [
    "adversary/reverse_engineering/worlds/enumeration.py, principles/exact.py",
    "analyst/reading.py, release/package/read.py",
    "cells/values.py, report/values.py",
    "cells/writing.py, policy/first_policy.py",
    "comparing/memory.py, engines/memory.py",
    "comparing/page.py, report/page.py",
    "microdata/cautions.py, report/cautions.py",
    "microdata/reading/postgres.py, release/postgres_schema.py",
    "policy/document.py, report/document.py",
]


def happens(name: str) -> bool:
    """Whether a name has a past participle or a gerund in it that the field does not use.

    >>> happens("left_over"), happens("exchanging"), happens("linking"), happens("seed"), happens("strings")
    (True, True, False, False, False)
    """
    words = set(name.split("_")) - FIELD
    return any(word in IRREGULAR or (len(word) > 5 and word.endswith(("ed", "ing"))) for word in words)


def test_no_file_is_a_catch_all_by_name() -> None:
    compare("a catch-all", [place(path) for path in SOURCES if path.stem in CATCH_ALL])


def test_files_are_named_for_what_they_hold_and_not_for_what_happened() -> None:
    names = {PurePosixPath(place(path)) for path in SOURCES}
    folders = {name.parent for name in names} - {PurePosixPath(".")}
    compare("a participle", [str(name) for name in names | folders if happens(name.stem)], HAPPENINGS)


def test_a_name_occurs_once_in_the_house() -> None:
    homes = defaultdict(list)
    for path in PLAIN:
        name = PurePosixPath(place(path))
        if name.parts[0] not in SECOND_SIDES and not name.stem.startswith("__"):
            homes[name.stem].append(str(name))
    compare("a second home", [", ".join(found) for found in homes.values() if len(found) > 1], REPEATED)
