"""How files and folders are called: for the noun that is in them, or for the verb of ``gh`` that they hold.

A past participle or a gerund says that something happened, not what is there.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePosixPath

from tests.architecture.house import PLAIN, SOURCES, compare, place

# Words of the field, or names of public classes.
FIELD = {"linking", "matching", "sampling", "counting", "recoding", "grouping", "sorting", "scoring", "engineering"}
FIELD |= {"singling"}  # singling out, a risk that regulators name
FIELD |= {"learning", "learned"}  # the learning adversary, and a model that is learned
FIELD |= {"reading", "writing", "packing", "unpacking", "streaming", "comparing", "perturbed", "refined", "delimited"}
FIELD |= {
    "dropped",
    "designated",
    "parsing",
    "covering",
    "spelling",
    "seating",
    "printing",
    "listing",
    "dealing",
    "packed",
    "balanced",
}
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
# The same concept from its second side: a check that shares no code, a paper's experiments, a command, a larger table,
# a cluster.
SECOND_SIDES = {"verification", "papers", "cli", "streaming", "spark", "studio"}


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
    compare("a participle", [str(name) for name in names | folders if happens(name.stem)])


def test_a_name_occurs_once_in_the_house() -> None:
    homes = defaultdict(list)
    for path in PLAIN:
        name = PurePosixPath(place(path))
        if name.parts[0] not in SECOND_SIDES and not name.stem.startswith("__"):
            homes[name.stem].append(str(name))
    compare("a second home", [", ".join(found) for found in homes.values() if len(found) > 1])
