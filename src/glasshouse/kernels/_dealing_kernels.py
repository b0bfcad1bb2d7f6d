# SPDX-License-Identifier: Apache-2.0
"""Groups of one tuple of every one of the l largest buckets (ANATOMY Figure 3, lines 3 to 6), again and again.

A *bucket* is the tuples of one sensitive value. Which groups there are is a function of the buckets' sizes alone.
"""

import cython


@cython.final
@cython.cclass
class Dealer:
    """Finds the l largest buckets without a search.

    ``level`` is the size of the smallest bucket that is taken. Buckets above it (``n_above``, fewer than l) are all
    taken; the others come from ``current`` (places ``head`` to ``tail``), the buckets of that very size in the order of
    values. What is taken from there waits in ``taken`` (``n_taken`` of them) until the level sinks by one and both
    lists, with the buckets that were smaller all along (``order`` from ``smaller`` on), are one again. Both lists are
    consumed in order, so a step costs O(l) and a level O(1) per bucket that it concerns.

    ``order`` lists the buckets from the largest to the smallest, equal ones in the order of values; ``left`` is how
    many tuples each bucket still has. The other arrays have a place per bucket, ``above`` one more.
    """

    order: cython.int[::1]
    left: cython.longlong[::1]
    current: cython.int[::1]
    taken: cython.int[::1]
    above: cython.int[::1]
    n_buckets: cython.Py_ssize_t
    ell: cython.Py_ssize_t
    level: cython.longlong
    smaller: cython.Py_ssize_t
    n_above: cython.Py_ssize_t
    head: cython.Py_ssize_t
    tail: cython.Py_ssize_t
    n_taken: cython.Py_ssize_t

    def __init__(self, *state):
        self.order, self.left, self.current, self.taken, self.above, self.ell = state

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(self, n_buckets: cython.Py_ssize_t) -> cython.void:
        """Begin with the first buckets of ``order``, at least l of them."""
        self.n_buckets = n_buckets
        self.level = self.left[self.order[self.ell - 1]]
        self.smaller = 0
        self.n_above = 0
        self.head = 0
        self.tail = 0
        self.n_taken = 0
        while self.left[self.order[self.smaller]] > self.level:
            self.above[self.n_above] = self.order[self.smaller]
            self.n_above += 1
            self.smaller += 1
        self.sink()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sink(self) -> cython.void:
        """List the buckets of this level by value: those that sank to it, and those that had it all along."""
        i: cython.Py_ssize_t = 0
        q: cython.Py_ssize_t = self.smaller
        same: cython.bint
        self.head = 0
        self.tail = 0
        while True:
            same = q < self.n_buckets and self.left[self.order[q]] == self.level
            if i < self.n_taken and not (same and self.order[q] < self.taken[i]):
                self.current[self.tail] = self.taken[i]
                i += 1
            elif same:
                self.current[self.tail] = self.order[q]
                q += 1
            else:
                break
            self.tail += 1
        self.smaller = q
        self.n_taken = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def deal(self, n_groups: cython.Py_ssize_t, groups: cython.int[::1]) -> cython.void:
        """Form groups of one tuple of every one of the l largest buckets; their buckets go to ``groups``."""
        left = self.left  # names of its own for what every step of the loop needs
        current = self.current
        taken = self.taken
        above = self.above
        ell: cython.Py_ssize_t = self.ell
        level: cython.longlong = self.level
        n_above: cython.Py_ssize_t = self.n_above
        head: cython.Py_ssize_t = self.head
        tail: cython.Py_ssize_t = self.tail
        n_taken: cython.Py_ssize_t = self.n_taken
        at: cython.Py_ssize_t = 0
        kept: cython.Py_ssize_t
        i: cython.Py_ssize_t
        x: cython.int
        for _ in range(n_groups):
            while tail - head < ell - n_above:  # too few of this size: all of them, and some of the next size
                for i in range(head, tail):
                    above[n_above] = current[i]
                    n_above += 1
                level -= 1
                self.level = level
                self.n_taken = n_taken
                self.sink()
                head = 0
                tail = self.tail
                n_taken = 0
            for i in range(head, head + ell - n_above):
                x = current[i]
                groups[at] = x
                at += 1
                left[x] -= 1
                insert(taken, 0, n_taken, x)
                n_taken += 1
            head += ell - n_above
            kept = 0
            for i in range(n_above):
                x = above[i]
                groups[at] = x
                at += 1
                left[x] -= 1
                if left[x] > level:
                    above[kept] = x
                    kept += 1
                else:
                    insert(current, head, tail, x)
                    tail += 1
            n_above = kept
        self.n_above = n_above
        self.head = head
        self.tail = tail
        self.n_taken = n_taken


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def insert(buckets: cython.int[::1], start: cython.Py_ssize_t, stop: cython.Py_ssize_t, x: cython.int) -> cython.void:
    """Put a bucket into an ascending list that lies at ``start .. stop - 1``."""
    while stop > start and buckets[stop - 1] > x:
        buckets[stop] = buckets[stop - 1]
        stop -= 1
    buckets[stop] = x


def begin(dealer: Dealer, n_buckets: cython.Py_ssize_t) -> None:
    """Begin with the first buckets of the order."""
    dealer.begin(n_buckets)


def deal(dealer: Dealer, small: cython.longlong, groups: cython.int[::1]) -> None:
    """Form as many groups as ``groups`` has room for; values of a group ascend if it has at most ``small``."""
    ell: cython.Py_ssize_t = dealer.ell
    n_groups: cython.Py_ssize_t = groups.shape[0] // ell
    with cython.nogil:
        dealer.deal(n_groups, groups)
        if ell <= small:
            for g in range(n_groups):
                for i in range(1, ell):
                    insert(groups, g * ell, g * ell + i, groups[g * ell + i])
