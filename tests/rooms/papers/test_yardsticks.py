"""What methods are compared with: Mask, and pages counted by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.errors import Infeasible, NotSupported
from glasshouse.papers import transparent
from glasshouse.papers.anatomy import Disk, pages_of_anatomize, pages_of_mondrian
from glasshouse.papers.data import open_data
from glasshouse.papers.minimality import beliefs
from glasshouse.papers.transparent import correlation_ratio, mask
from glasshouse.principles.principle import Requirement


def groups_of(table: gh.Microdata, groups: gh.Groups) -> list[Counter[int]]:
    codes, labels = table.sensitive[0].codes, groups.labels
    return [Counter(codes[labels == group].tolist()) for group in range(groups.n_groups)]


def test_mask_leaves_diverse_groups_alone_and_gives_others_the_shares_of_a_diverse_one() -> None:
    table = gh.synthetic.census(600, seed=3)
    masked, groups = mask(table, 3, source=gh.Source.seeded(1))

    before, after = groups_of(table, groups), groups_of(masked, groups)
    diverse = [counts for counts in before if 3 * max(counts.values()) <= counts.total()]
    assert 0 < len(diverse) < len(before)
    for old, new in zip(before, after, strict=True):
        assert new.total() == old.total()
        if old in diverse:
            assert new == old
        else:
            assert any(near(new, model) for model in diverse)


def near(counts: Counter[int], model: Counter[int]) -> bool:
    """Whether a group has the shares of another, as nearly as its size allows: less than a tuple off."""
    n, m = counts.total(), model.total()
    return set(counts) <= set(model) and all(abs(counts[v] * m - model[v] * n) < m for v in model)


def test_the_groups_of_mask_do_not_depend_on_sensitive_values() -> None:
    table = gh.synthetic.census(600, seed=3)
    (column,) = table.sensitive
    shuffled = gh.Microdata(
        quasi=table.quasi,
        sensitive=(type(column)(column.domain, column.codes[::-1].copy()),),
        identifier=None,
        n_tuples=table.n_tuples,
    )

    one, other = (mask(each, 3, source=gh.Source.seeded(1))[1] for each in (table, shuffled))
    assert np.array_equal(one.labels, other.labels)


def test_mask_needs_a_diverse_group_to_imitate() -> None:
    table = gh.read({"age": [1, 1, 2, 2], "ill": ["a", "a", "b", "b"]}, quasi=["age"], sensitive="ill")

    with pytest.raises(Infeasible, match="no group whose distribution it could copy"):
        mask(table, 2, source=gh.Source.seeded(1))


def test_sorting_on_disk_reads_and_writes_everything_once_a_pass() -> None:
    for n_pages, passes in ((1, 1), (50, 1), (51, 2), (50 * 49, 2), (50 * 49 + 1, 3)):
        disk = Disk()
        disk.sort(n_pages * 1024, width=1)
        assert disk.total == 2 * n_pages * passes


def test_no_tuple_straddles_two_pages() -> None:
    assert Disk(page=100).pages(9, width=3) == 2  # eight tuples of twelve bytes a page, and four bytes to spare


def test_anatomizing_takes_the_passes_of_theorem_3() -> None:
    """By hand: pages of 8 tuples of (d = 1) 2 values, or 5 rows of the sensitive table; 20 tuples in two buckets."""
    disk = Disk(page=64, memory=2)

    assert pages_of_anatomize([12, 8], 1, disk) == 3 + (2 + 1) + (2 + 1) + 3 + 3 + 3 + 3 + 3 + 4
    with pytest.raises(NotSupported, match="3 buckets do not fit into 2 pages"):
        pages_of_anatomize([4, 4, 4], 1, Disk(page=64, memory=2))


def test_a_table_that_fits_into_memory_is_read_once_and_its_boxes_are_written() -> None:
    table = gh.synthetic.census(1000, seed=1, quasi=("age", "gender", "education"))
    requirement = Requirement.of(gh.LDiversity(ell=2), table)

    expected = Disk().pages(1000, 4) + Disk().pages(1000, 7)
    assert pages_of_mondrian(table, requirement) == (expected, expected)


def test_a_table_larger_than_memory_is_divided_on_disk_until_its_nodes_fit() -> None:
    """By hand: 32 people in pages of 4, a memory of 3 pages. 8 pages, halves of 4, and quarters of 2, which fit."""
    ages = [i // 2 for i in range(32)]  # people count, not the values that they share
    table = gh.read({"age": ages, "ill": list("ab" * 16)}, quasi=["age"], sensitive="ill")
    requirement = Requirement.of(gh.LDiversity(ell=2), table)

    by_histograms, by_sorting = pages_of_mondrian(table, requirement, page=32, memory=3)
    boxes = 16  # of three values: two a page
    assert by_histograms == 8 + (8 + 8) + (8 + 8) + 8 + boxes  # count; divide twice; read what fits
    assert by_sorting == 3 * (8 + 8) + 2 * (8 + 8) + 8 + boxes  # three runs take two merges, two runs one


def test_beliefs_are_counted_of_people_who_are_published() -> None:
    """The last two share the designated value and make no group: theorems about groups say nothing of them."""
    table = gh.read(
        {"age": list(range(8)), "ill": [0, 0, 1, 0, 0, 1, 1, 1]}, quasi=["age"], sensitive="ill", categorical=["ill"]
    )
    principle = gh.DesignatedLDiversity(ell=2, values=(1,))

    found = beliefs(table, principle, gh.Greedy(last="drop"), 1)
    assert found is not None
    assert found.tolist() == [0.0, 0.0, 0.5, 0.5, 0.5, 0.5]


def test_a_correlation_ratio_is_nothing_for_what_is_unrelated() -> None:
    assert correlation_ratio(np.array([1.0, 2.0, 1.0, 2.0]), np.array([0, 0, 1, 1])) == 0.0


def test_groups_that_mask_made_are_published_as_those_of_any_method() -> None:
    table = open_data("synthetic", 2000).read(transparent.TRANSPARENT_QUASI, "occupation")

    releases = transparent._releases(table, 6)

    assert {name: release and release.n_tuples for name, release in releases.items()} == dict.fromkeys(releases, 2000)
    assert transparent.MASK in releases
