"""How many random tables a test tries, and how many examples hypothesis draws: some in `make test`, many if asked.

`make mutants` shows that the numbers of `make test` are large enough to notice faults; `make prove` takes larger ones,
and sets GLASSHOUSE_LOOK, so that hypothesis and the damaged files are new ones every time.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from zlib import crc32

FACTOR = Fraction(os.environ.get("GLASSHOUSE_TABLES", "1/10"))
SHARE = Fraction(os.environ.get("GLASSHOUSE_EXAMPLES", "1/4"))
LOOK = bool(os.environ.get("GLASSHOUSE_LOOK"))


# Tests with many cases, of which `make test` runs one in so many, and `make prove` all. Where a test has several
# parameters, every value of each of them stays in some case that runs.
THINNED = {
    "benchmarks/test_growth.py": {"test_twice_as_much_is_about_twice_the_work": 13},
    "golden/test_corruption.py": {"test_no_corruption_predicate_or_belief_breaks_what_is_achieved": 2},
    "laws/test_bytes.py": {
        "test_every_file_is_the_same_byte_by_byte_for_the_same_people_in_other_words": 3,
        "test_every_file_is_the_same_byte_by_byte_whoever_of_a_group_has_which_value": 3,
    },
    "laws/test_carrying.py": {
        "test_tables_with_the_same_cells_are_the_same_bytes_whichever_leaves_are_occupied": 2,
    },
    "laws/test_degenerate.py": {
        "test_tables_at_the_edge_are_published_lawfully": 8,
        "test_tables_at_the_edge_are_published_lawfully_by_every_recoding": 3,
        "test_huge_domains_are_published_lawfully": 3,
        "test_one_tuple_can_be_published_under_no_principle_that_hides_it": 3,
        "test_exact_quasi_identifiers_of_any_kind_are_loaded_as_they_were_published": 3,
        "test_sensitive_values_of_any_kind_are_published_as_they_are": 3,
    },
    "laws/test_engines.py": {"test_every_engine_publishes_the_same_bytes": 3},
    "laws/test_groups.py": {
        "test_what_does_not_go_together_is_refused_by_name_and_nothing_else_is": 3,
        "test_a_feasible_table_is_published_safely_and_an_infeasible_one_refused_with_a_true_witness": 3,
        "test_each_sensitive_column_has_a_principle_of_its_own": 3,
    },
    "laws/test_invariance.py": {
        "test_a_table_in_other_clothes_is_published_byte_by_byte_alike": 3,
        "test_files_and_frames_of_the_same_table_are_published_byte_by_byte_alike": 3,
        "test_threads_change_no_byte_of_a_table_with_many_pieces": 2,
    },
    "laws/test_kernels.py": {"test_interpreted_kernels_publish_the_same_bytes": 8},
    "laws/test_leaks.py": {"test_no_byte_of_a_release_tells_what_was_not_published": 3},
    "laws/test_suppression.py": {
        "test_who_is_dropped_does_not_hang_on_the_order_of_rows_with_equal_values": 2,
    },
    "rooms/adversary/test_chain.py": {
        "test_sampled_beliefs_are_within_their_error_of_exact_ones_as_often_as_stated": 2,
    },
    "rooms/adversary/test_corruption.py": {
        "test_no_prior_corruption_or_predicate_breaks_table_3": 4,
        "test_beliefs_after_groups_are_those_of_all_worlds": 2,
    },
    "rooms/adversary/test_decisions.py": {
        "test_beliefs_are_those_of_the_whole_algorithm_run_on_every_world": 2,
    },
    "rooms/adversary/test_exact.py": {
        "test_beliefs_after_other_recodings_are_those_of_the_slow_twin": 3,
        "test_beliefs_are_those_of_the_slow_twin": 2,
        "test_beliefs_are_those_of_the_slow_twin_where_people_are_outside_the_table": 2,
    },
    "rooms/adversary/test_foreign.py": {
        "test_our_own_table_written_as_another_tool_would_is_believed_alike": 3,
    },
    "rooms/adversary/test_hint.py": {
        "test_one_bit_tells_all_of_sliced_buckets_and_next_to_nothing_of_others": 2,
    },
    "rooms/adversary/test_intersection.py": {
        "test_sampled_shares_are_within_their_errors_of_counted_ones": 2,
        "test_beliefs_of_several_releases_are_those_of_every_world": 2,
    },
    "rooms/adversary/test_mirrored.py": {"test_what_she_believes_is_what_every_world_and_every_coin_give": 2},
    "rooms/adversary/test_recomputed.py": {"test_beliefs_are_those_of_every_world": 2},
    "rooms/adversary/test_untied.py": {"test_every_attack_says_that_nothing_ties_people_to_values": 3},
    "rooms/analyst/test_answering.py": {
        "test_answers_and_errors_are_those_of_every_pair_of_tuples": 3,
        "test_a_workload_is_answered_as_its_questions_are_in_sql": 3,
    },
    "rooms/analyst/test_duckdb.py": {"test_counts_in_plain_sql_are_those_of_query": 2},
    "rooms/analyst/test_query.py": {
        "test_a_count_and_its_error_are_those_of_every_place_and_order": 3,
        "test_a_sum_and_its_error_are_those_of_every_place_and_order": 2,
    },
    "rooms/cli/test_border.py": {
        "test_a_poor_terminal_gets_what_it_can_show": 3,
        "test_json_holds_the_values_as_they_are_and_shows_all_of_them": 2,
        "test_nothing_hidden_and_no_forged_line_is_printed": 2,
    },
    "rooms/grouping/test_against_twins.py": {
        "test_groups_are_those_of_the_slow_twin_on_tables_of_every_kind": 2,
    },
    "rooms/grouping/test_division.py": {
        "test_groups_are_as_likely_as_those_of_rows_whatever_a_piece_is": 2,
        "test_a_division_of_thousands_satisfies_the_principle_and_forgets_the_order_of_rows": 2,
    },
    "rooms/grouping/test_robust_transparency.py": {
        "test_told_worlds_are_a_product_and_nothing_is_believed_above_the_bound": 2,
    },
    "rooms/grouping/test_sift.py": {
        "test_every_partition_of_people_in_a_row_has_the_chance_that_it_has_for_the_twin": 2,
    },
    "rooms/grouping/test_tailor.py": {"test_a_census_is_divided_alike_by_both_implementations": 3},
    "rooms/streaming/test_count.py": {
        "test_a_file_is_counted_as_it_is_read": 4,
        "test_identifiers_are_checked_as_they_are_in_memory": 4,
        "test_witnesses_decide_as_all_texts_would": 4,
    },
    "rooms/verification/test_parts.py": {
        "test_parts_are_counted_as_a_stream": 2,
        "test_rows_that_were_changed_are_noticed_as_by_a_stream": 2,
    },
    "rooms/verification/test_stream.py": {"test_a_stream_is_counted_as_in_memory": 2},
    "rooms/verification/test_stream_principles.py": {
        "test_tampering_is_judged_alike": 2,
        "test_a_good_release_holds_in_the_same_words": 2,
    },
}


LONG = {
    "tests/benchmarks/test_growth.py::test_twice_as_much_is_about_twice_the_work[values-group by, anatomy]",
    "tests/rooms/adversary/test_exact.py::test_beliefs_after_other_recodings_are_those_of_the_slow_twin[Ace-angel]",
    "tests/rooms/adversary/test_intersection.py::test_sampled_shares_are_within_their_errors_of_counted_ones[False]",
    "tests/rooms/adversary/test_sequences.py"
    "::test_corrupted_people_with_one_value_may_stand_anywhere_among_those_like_them",
}
"""Tests that take long, beside others of the same thing that `make test` runs; `make prove` runs them too."""


def kept(cases: Sequence[tuple[str, tuple[str, ...]]], one_in: int) -> set[str]:
    """Which cases of a test run, by their names: one in so many, and at least one with every value of a parameter.

    A case is its name, and the names of the values of its parameters.

    >>> cases = [(f"{a}-{b}", (a, b)) for a in "abc" for b in "xyz"]
    >>> some = kept(cases, 3)
    >>> sorted({name[0] for name in some}), sorted({name[2] for name in some}), len(some) < 9
    (['a', 'b', 'c'], ['x', 'y', 'z'], True)
    """
    order = sorted(cases, key=lambda case: (crc32(case[0].encode()), case[0]))
    chosen: set[str] = set()
    seen: set[tuple[int, str]] = set()
    for name, values in order:
        new = set(enumerate(values)) - seen
        if len(values) > 1 and new:
            chosen.add(name)
            seen |= new
    for name, _ in order:
        if len(chosen) * one_in >= len(cases):
            break
        chosen.add(name)
    return chosen


def tables(n: int) -> int:
    """So many tables, times what GLASSHOUSE_TABLES says; a tenth without."""
    return max(1, int(n * FACTOR))


def examples(n: int) -> int:
    """So many examples, times what GLASSHOUSE_EXAMPLES says; a quarter without, and ten at least."""
    return max(10, int(n * SHARE))
