# SPDX-License-Identifier: Apache-2.0
"""Anatomize: bare loops, called through `anatomize_segments`.

A segment is a run of consecutive tuples that is divided by itself; its tuples with one sensitive value are a bucket.
Buckets are numbered segment after segment, in the order of values. Each tuple of a bucket will stand in one *slot* of
the bucket, and a slot holds the number of a group: which slots there are is a function of the buckets' sizes alone, and
which tuple gets which slot is random.
"""

import cython

if cython.compiled:
    from cython.cimports.glasshouse.kernels._dealing_kernels import Dealer
else:
    from glasshouse.kernels._dealing_kernels import Dealer


def deal(
    dealer: Dealer,
    first: cython.longlong[::1],
    sizes: cython.longlong[::1],
    starts: cython.longlong[::1],
    dealt: cython.int[::1],
    fill: cython.longlong[::1],
    of_size: cython.longlong[::1],
    slots: cython.int[::1],
    residues: cython.longlong[:, ::1],
) -> tuple[int, int]:
    """Form groups: fill the slots, and list the residues; return how many of each there are.

    Segment ``g`` has the buckets ``first[g] .. first[g + 1] - 1``; each has ``sizes`` tuples and its first slot at
    ``starts``. A residue's slot, the last of its bucket, is left as it is. ``residues`` gets, for each residue, its
    bucket, the first group of its segment, and how many groups of it lack the value. ``dealt`` has room for some
    groups; ``fill`` has a place per bucket of the largest segment; ``of_size`` is zeros, a place per size from 0 to the
    largest of a bucket and one more, and stays zeros.
    """
    ell: cython.longlong = dealer.ell
    room: cython.longlong = dealt.shape[0] // ell
    n: cython.longlong
    m: cython.longlong
    top: cython.longlong
    place: cython.longlong
    label: cython.longlong = 0
    found: cython.longlong = 0
    with cython.nogil:
        for g in range(first.shape[0] - 1):
            a = first[g]
            w = first[g + 1] - a
            if w == 0:
                continue
            base = label
            m = 0
            top = 0
            for i in range(w):
                dealer.left[i] = sizes[a + i]
                fill[i] = starts[a + i]
                m += sizes[a + i]
                top = sizes[a + i] if sizes[a + i] > top else top
            if top * ell > m:  # not eligible: it stays whole
                for place in range(starts[a], starts[a] + m):
                    slots[place] = label
                label += 1
                continue

            # buckets from the largest to the smallest, equal ones in the order of values
            for i in range(w):
                of_size[sizes[a + i]] += 1
            place = 0
            for i in range(top, 0, -1):
                count = of_size[i]
                of_size[i] = place
                place += count
            for i in range(w):
                dealer.order[of_size[sizes[a + i]]] = i
                of_size[sizes[a + i]] += 1
            for i in range(1, top + 1):
                of_size[i] = 0

            dealer.begin(w)
            rounds = m // ell
            while label < base + rounds:
                n = base + rounds - label
                n = room if room < n else n
                dealer.deal(n, dealt)
                for k in range(n):
                    for i in range(k * ell, (k + 1) * ell):
                        x = dealt[i]
                        slots[fill[x]] = label
                        fill[x] += 1
                    label += 1

            for i in range(w):
                if dealer.left[i] > 0:  # one tuple (ANATOMY Property 1)
                    residues[0, found] = a + i
                    residues[1, found] = base
                    residues[2, found] = rounds - (sizes[a + i] - 1)
                    found += 1
    return label, found


def deal_around(
    first: cython.longlong[::1],
    sizes: cython.longlong[::1],
    starts: cython.longlong[::1],
    ell: cython.longlong,
    blocks: cython.longlong[::1],
    orders: cython.int[::1],
    cells: cython.longlong[::1],
    fill: cython.longlong[::1],
    slots: cython.int[::1],
) -> cython.longlong:
    """Deal the tuples of every segment to its groups in turn, block by block; fill the slots, return how many groups.

    Tuples are laid out bucket after bucket, in the first of the segment's ``orders``, and dealt to ``n // l`` groups in
    turn; of these every ``blocks``-th one belongs to the same block, so that a block has its share of every bucket and
    no more of one than it has groups. The tuples of a block are then laid out in an order of its own, and dealt to its
    groups in turn. No bucket is larger than the number of groups, so no group takes a value twice. ``cells`` is zeros,
    a place per block and bucket of a segment, and stays zeros; ``fill`` has a place per bucket of a segment.
    """
    n: cython.longlong
    top: cython.longlong
    groups: cython.longlong
    many: cython.longlong
    inside: cython.longlong
    p: cython.longlong
    place: cython.longlong
    label: cython.longlong = 0
    at: cython.longlong = 0
    with cython.nogil:
        for g in range(first.shape[0] - 1):
            a = first[g]
            w = first[g + 1] - a
            many = blocks[g]
            n = 0
            top = 0
            for i in range(w):
                fill[i] = starts[a + i]
                n += sizes[a + i]
                top = sizes[a + i] if sizes[a + i] > top else top
            groups = n // ell
            if top > groups or groups == 0:  # not eligible: it stays whole
                for place in range(starts[a], starts[a] + n):
                    slots[place] = label
                label += 1 if n > 0 else 0
                at += (many + 1) * w
                continue
            p = 0
            for k in range(w):
                i = orders[at + k]
                for _ in range(sizes[a + i]):
                    cells[p % many * w + i] += 1
                    p = p + 1 if p + 1 < groups else 0
            at += w
            for b in range(many):
                inside = (groups - b + many - 1) // many
                p = 0
                for k in range(w):
                    i = orders[at + k]
                    for _ in range(cells[b * w + i]):
                        slots[fill[i]] = label + p
                        fill[i] += 1
                        p = p + 1 if p + 1 < inside else 0
                    cells[b * w + i] = 0
                at += w
                label += inside
    return label


def settle(
    residues: cython.longlong[::1],
    bases: cython.longlong[::1],
    draws: cython.longlong[::1],
    sizes: cython.longlong[::1],
    starts: cython.longlong[::1],
    slots: cython.int[::1],
) -> None:
    """Give each residue the group that comes at place ``draw`` among those of its segment that lack its value.

    Those that have it are the other slots of its bucket, still in ascending order.
    """
    with cython.nogil:
        for i in range(residues.shape[0]):
            group = bases[i] + draws[i]
            last = starts[residues[i]] + sizes[residues[i]] - 1
            for k in range(starts[residues[i]], last):
                if slots[k] > group:
                    break
                group += 1
            slots[last] = group


def hand_out(
    codes: cython.int[::1],
    offsets: cython.longlong[::1],
    first: cython.longlong[::1],
    values: cython.int[::1],
    starts: cython.longlong[::1],
    places: cython.longlong[::1],
    slots: cython.int[::1],
    labels: cython.int[::1],
) -> None:
    """Let the tuples of every bucket take its slots one after another; ``places`` is scratch, one per value."""
    with cython.nogil:
        for g in range(first.shape[0] - 1):
            for b in range(first[g], first[g + 1]):
                places[values[b]] = starts[b]
            for i in range(offsets[g], offsets[g + 1]):
                c = codes[i]
                labels[i] = slots[places[c]]
                places[c] += 1
