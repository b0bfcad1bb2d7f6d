# SPDX-License-Identifier: Apache-2.0
"""Foreign groups: another tool's groups in our own boxes, so that an imagined table can be compared with them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from glasshouse.errors import NotSupported
from glasshouse.microdata.domains import code
from glasshouse.microdata.groups import Groups
from glasshouse.plural import counted
from glasshouse.recoding.generalization import Boxes

if TYPE_CHECKING:
    from glasshouse.adversary.task import Task
    from glasshouse.release import Release

__all__ = ["restated"]


def restated(task: Task) -> Release:
    """Rewrite a foreign release as Glasshouse would publish it: the same groups, as minimum bounding boxes.

    How a tool writes its groups tells nothing that the groups do not tell, provided that its cells are a function of
    them. For that it must be known who is in which group: everybody on the attacker's list fits one group, and all
    groups are full.
    """
    release, published, people = task.release, task.contents, task.knowledge.external
    (seats,) = published.seats
    matches = task.fits(seats)
    fits = np.diff(matches.offsets)
    if not (fits == 1).all():
        where = "of quasi-identifiers in the external table"
        odd = counted(int((fits != 1).sum()), f"combination {where} fits", f"combinations {where} fit")
        raise NotSupported(
            "reverse engineering of another tool's table needs to know the group of every person, and "
            f"{odd} no group or several groups",
            instead="give an external table with all people of the published table and no others; the cells of "
            "different groups must not overlap",
        )
    labels = seats.group[matches.seats][task.kinds.of_person]
    sizes = np.bincount(labels, minlength=published.n_groups)
    if not np.array_equal(sizes, published.sizes):
        raise NotSupported(
            "reverse engineering of another tool's table needs exactly the people of that table, and the "
            "groups of the external table do not have the published sizes",
            instead="give an external table with all people of the published table and no others",
        )
    of_seat = np.repeat(published.codes, published.counts)  # by group; any order inside: boxes do not tell
    codes = np.empty(people.n_tuples, np.int32)
    codes[np.argsort(labels, kind="stable")] = of_seat
    values = pa.array(list(published.values)).take(pa.array(codes))
    table = replace(
        people,
        quasi=tuple(people.column(name) for name in release.recipe.quasi),
        sensitive=(code(values, name=published.column, missing=None in published.values),),
    )
    tables = Boxes().recode(table, Groups(labels.astype(np.int32), published.n_groups))
    recipe = replace(release.recipe, recoding={"name": Boxes.name})
    return replace(release, tables=tables, recipe=recipe)
