# SPDX-License-Identifier: Apache-2.0
"""The slow twin of `glasshouse.verify`: what a table of a few rows achieves, by the definitions and nothing else.

A table is a list of dicts, a group a list of rows. Everything is counted in loops and compared in exact fractions; the
earth mover's distance is a cheapest shipment, found by sending mass along cheapest paths, for any distance at all.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

MISSING = "<missing>"


def cell(value):
    """A missing value is one value, whether it is None or not a number."""
    return MISSING if value is None or value != value else value


def groups(rows, quasi):
    """Rows with equal values in all quasi-identifiers."""
    found = {}
    for row in rows:
        found.setdefault(tuple(cell(row[name]) for name in quasi), []).append(row)
    return found


def histogram(rows, sensitive):
    return Counter(cell(row[sensitive]) for row in rows)


def k(rows, quasi):
    return min(len(group) for group in groups(rows, quasi).values())


def alpha(rows, quasi, sensitive):
    """The largest share of one value in a group."""
    return max(
        Fraction(max(histogram(group, sensitive).values()), len(group)) for group in groups(rows, quasi).values()
    )


def ell(rows, quasi, sensitive):
    """The largest whole number with ``max_count * ell <= size`` in every group."""
    candidate = 1
    while all(
        max(histogram(group, sensitive).values()) * (candidate + 1) <= len(group)
        for group in groups(rows, quasi).values()
    ):
        candidate += 1
    return candidate


def designated_alpha(rows, quasi, sensitive, designated):
    """The largest share of one designated value in a group."""
    return max(
        Fraction(histogram(group, sensitive)[value], len(group))
        for group in groups(rows, quasi).values()
        for value in designated
    )


def distinct_ell(rows, quasi, sensitive):
    return min(len(histogram(group, sensitive)) for group in groups(rows, quasi).values())


def entropy_at_least(counts, limit):
    """Entropy >= log(limit), exactly: ``n^n >= limit^n * prod(c^c)``."""
    size = sum(counts)
    product = Fraction(1)
    for count in counts:
        product *= count**count
    return size**size >= limit**size * product


def entropy_ell(rows, quasi, sensitive):
    """The largest number of six digits that no group's entropy undercuts, in millionths."""
    histograms = [list(histogram(group, sensitive).values()) for group in groups(rows, quasi).values()]
    low, high = 0, len(rows) * 10**6 + 1
    while high - low > 1:
        middle = (low + high) // 2
        if all(entropy_at_least(counts, Fraction(middle, 10**6)) for counts in histograms):
            low = middle
        else:
            high = middle
    return low


def recursive_c(rows, quasi, sensitive, ell):
    """The smallest c with ``n1 <= c * (n_ell + ... + n_m)`` in every group; None where a group has fewer values."""
    smallest = Fraction(0)
    for group in groups(rows, quasi).values():
        counts = sorted(histogram(group, sensitive).values(), reverse=True)
        if len(counts) < ell:
            return None
        smallest = max(smallest, Fraction(counts[0], sum(counts[ell - 1 :])))
    return smallest


def t(rows, quasi, sensitive, distance):
    """The largest earth mover's distance between a group's distribution and the table's."""
    whole = histogram(rows, sensitive)
    worst = Fraction(0)
    for group in groups(rows, quasi).values():
        part = histogram(group, sensitive)
        supply = {value: Fraction(part[value], len(group)) for value in whole}
        demand = {value: Fraction(whole[value], len(rows)) for value in whole}
        worst = max(worst, earth_movers(supply, demand, distance))
    return worst


def equal_distance(one, other):
    return Fraction(int(one != other))


def ordered_distance(order):
    """Ranks between the two, over the longest way; ``order`` lists the values that occur, missing last."""

    def distance(one, other):
        return Fraction(abs(order.index(one) - order.index(other)), max(len(order) - 1, 1))

    return distance


def hierarchical_distance(paths, height):
    """Height of the lowest common ancestor over the height of the tree.

    ``paths`` gives each value's ancestors from itself (height 0) up to the root (``height``); a value with no path
    hangs from the root directly.
    """

    def distance(one, other):
        if one == other:
            return Fraction(0)
        if one not in paths or other not in paths:
            return Fraction(1)
        return Fraction(min(h for h in range(height + 1) if paths[one][h] == paths[other][h]), height)

    return distance


def earth_movers(supply, demand, distance):
    """The cheapest way to turn one distribution into another: ship along the cheapest path while mass is left."""
    left = {value: supply[value] for value in supply if supply[value]}
    wanted = {value: demand[value] for value in demand if demand[value]}
    shipped = {(a, b): Fraction(0) for a in left for b in wanted}
    cost = Fraction(0)
    while any(left.values()):
        # Bellman-Ford over sources "s" and sinks "d"; a shipment made earlier may be taken back at its price
        best = {("s", a): (Fraction(0), None) for a in left if left[a]}
        changed = True
        while changed:
            changed = False
            for a, b in shipped:
                price = distance(a, b)
                for start, end, step, usable in (
                    (("s", a), ("d", b), price, True),
                    (("d", b), ("s", a), -price, shipped[a, b] > 0),
                ):
                    if usable and start in best and (end not in best or best[start][0] + step < best[end][0]):
                        best[end] = (best[start][0] + step, start)
                        changed = True
        end = min((node for node in best if node[0] == "d" and wanted[node[1]]), key=lambda node: best[node][0])
        path = [end]
        while best[path[-1]][1] is not None:
            path.append(best[path[-1]][1])
        path.reverse()
        amount = min(left[path[0][1]], wanted[end[1]])
        for here, there in pairwise(path):
            if here[0] == "d":
                amount = min(amount, shipped[there[1], here[1]])
        for here, there in pairwise(path):
            if here[0] == "s":
                shipped[here[1], there[1]] += amount
            else:
                shipped[there[1], here[1]] -= amount
        left[path[0][1]] -= amount
        wanted[end[1]] -= amount
        cost += amount * best[end][0]
    return cost


def expected_reciprocal(size, fraction, terms=4000):
    """E[1/F] for F people in the population behind ``size`` sampled ones: F - size is negative binomial."""
    weight = float(fraction) ** size
    answer = 0.0
    for people in range(size, size + terms):
        answer += weight / people
        weight *= (1 - float(fraction)) * people / (people - size + 1)
    return answer
