# SPDX-License-Identifier: Apache-2.0
"""Principles, straight from their definitions: one group at a time, exact fractions, no numpy. Slow on purpose.

A group is its histogram: a list with the number of tuples of each sensitive value, zeros allowed. A group without
tuples is no group, and satisfies nothing.
"""

from __future__ import annotations

from fractions import Fraction

# --- what a group must look like -------------------------------------------------------------------------------------


def k_anonymity(histogram, k):
    """Each group has at least k members (MINIMALITY 2.2)."""
    return sum(histogram) > 0 and sum(histogram) >= k


def l_diversity(histogram, ell):
    """No value occurs more than a 1/l fraction of the time (MINIMALITY 2.2; ANATOMY Definition 2)."""
    return sum(histogram) > 0 and all(share <= Fraction(1, ell) for share in shares(histogram))


def distinct_l_diversity(histogram, ell):
    """At least l different values (CORRUPTION III.A, "the simplest version")."""
    return sum(histogram) > 0 and len([n for n in histogram if n > 0]) >= ell


def entropy_l_diversity(histogram, ell):
    """-sum p log p >= log l, raised to the power of the group's size so that no logarithm is left."""
    if sum(histogram) == 0:
        return False
    product = Fraction(1)
    for n in histogram:
        if n > 0:
            product *= Fraction(sum(histogram), n) ** n
    return product >= Fraction(ell) ** sum(histogram)


def recursive_l_diversity(histogram, c, ell):
    """n_1 <= c (n_l + ... + n_l'), where l' >= l values occur (CORRUPTION Inequality 1)."""
    frequencies = sorted((n for n in histogram if n > 0), reverse=True)
    if len(frequencies) < ell:
        return False
    return frequencies[0] <= c * sum(frequencies[ell - 1 :])


def designated_l_diversity(histogram, ell, designated):
    """Only certain values must obey the 1/l fraction (MINIMALITY 2.2)."""
    return sum(histogram) > 0 and all(shares(histogram)[value] <= Fraction(1, ell) for value in designated)


def alpha_k_anonymity(histogram, alpha, k):
    """At least k members, and no value more than an alpha fraction of the time (MINIMALITY 2.2 on Wong et al.)."""
    return sum(histogram) > 0 and sum(histogram) >= k and all(share <= alpha for share in shares(histogram))


def t_closeness(histogram, whole, t, distance):
    """EMD(group, whole table) <= t (ANGEL 2.2 on Li et al.); distance is a function of two values."""
    return sum(histogram) > 0 and earth_movers_distance(histogram, whole, distance) <= t


def shares(histogram):
    """The fraction of the group that each value has."""
    return [Fraction(n, sum(histogram)) for n in histogram]


# --- ground distances (Li, Li, Venkatasubramanian 2007) --------------------------------------------------------------


def equal_distance(first, second):
    """Two different values are at distance 1."""
    return Fraction(int(first != second))


def ordered_distance(n_values):
    """The number of values between them, over what there is from the first to the last."""
    return lambda first, second: Fraction(abs(first - second), max(n_values - 1, 1))


def hierarchical_distance(tree):
    """The height of the lowest common ancestor, over the height of the tree; a tree is a value or a list of trees."""
    return lambda first, second: Fraction(height(lowest_common_ancestor(tree, first, second)), max(height(tree), 1))


def leaves(tree):
    """All values under a node."""
    return [leaf for child in tree for leaf in leaves(child)] if isinstance(tree, list) else [tree]


def height(tree):
    """The longest way down."""
    return 1 + max(height(child) for child in tree) if isinstance(tree, list) else 0


def lowest_common_ancestor(tree, first, second):
    """The smallest subtree that holds both values."""
    for child in tree if isinstance(tree, list) else []:
        if {first, second} <= set(leaves(child)):
            return lowest_common_ancestor(child, first, second)
    return tree


# --- moving earth ----------------------------------------------------------------------------------------------------


def earth_movers_distance(histogram, whole, distance):
    """The least work that turns one distribution into the other, by the transportation problem itself.

    Earth is moved along cheapest ways, each way found among all that undo or add to what was moved so far, until
    nothing is left to move.
    """
    values = range(len(whole))
    left = shares(histogram)  # earth still lying where the group has it
    wanted = shares(whole)  # holes still to be filled
    moved = {(i, j): Fraction(0) for i in values for j in values}
    while sum(left) > 0:
        way = cheapest_way(left, wanted, moved, distance)
        amount = min(left[way[0]], wanted[way[-1]])
        for source, hole in zip(way[2::2], way[1::2], strict=False):  # earth that is taken back on the way
            amount = min(amount, moved[source, hole])
        left[way[0]] -= amount
        wanted[way[-1]] -= amount
        for source, hole in zip(way[0::2], way[1::2], strict=True):
            moved[source, hole] += amount
        for source, hole in zip(way[2::2], way[1::2], strict=False):
            moved[source, hole] -= amount
    return sum(moved[i, j] * distance(i, j) for i in values for j in values)


def cheapest_way(left, wanted, moved, distance):
    """Source, hole, source, hole, ...: the cheapest way from earth that is left to a hole that is wanted."""
    values = range(len(left))
    to_source = {i: (Fraction(0), [i]) for i in values if left[i] > 0}
    to_hole = {}
    changed = True
    while changed:
        changed = False
        for i, (cost, way) in list(to_source.items()):
            for j in values:
                if j not in to_hole or cost + distance(i, j) < to_hole[j][0]:
                    to_hole[j] = (cost + distance(i, j), [*way, j])
                    changed = True
        for j, (cost, way) in list(to_hole.items()):
            for i in values:
                if moved[i, j] > 0 and (i not in to_source or cost - distance(i, j) < to_source[i][0]):
                    to_source[i] = (cost - distance(i, j), [*way, i])
                    changed = True
    return min((to_hole[j] for j in values if wanted[j] > 0), key=lambda found: found[0])[1]
