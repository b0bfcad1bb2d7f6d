# SPDX-License-Identifier: Apache-2.0
"""Canonical l-cuts (TRANSPARENT Definitions 9 and 10): bare loops over packed tuples, called through `PackedRows`.

How tuples and boxes are packed, and what the arrays are that say so: see `glasshouse.kernels._packed_kernels`.
"""

import cython

if cython.compiled:
    from cython.cimports.glasshouse.kernels._packed_kernels import (
        contains,
        extend,
        largest_count,
        part,
        part_from_behind,
        width,
    )
    from cython.cimports.glasshouse.kernels._sorting_kernels import sort_codes
else:
    from glasshouse.kernels._packed_kernels import contains, extend, largest_count, part, part_from_behind, width
    from glasshouse.kernels._sorting_kernels import sort_codes


@cython.final
@cython.cclass
class Cutting:
    """What one thread cuts nodes with; the tuples are everybody's.

    ``spare`` is as long as ``rows``, ``close`` half as long as a small node; `Thresholds` says what ``dense`` and the
    others are. The tuples of a node with one code are a block. By slot: ``sizes`` of blocks. For the t-th code that
    occurs in the node, where those of an attribute begin with its first slot: its slot (``present``), the tuples
    ``before`` its block, the widths of what lies before it and of what lies from it on. By attribute: ``n_codes`` that
    occur, and the odometer of the cells of the frame: ``low`` and ``high`` code, ``step``, ``current`` code.

    ``boxes`` holds a box per slot, that of its block; then for the t-th code what lies before its block, and what lies
    from it on; then single boxes: the ``frame`` of a node, which is any box that contains it, that of the ``node``
    itself, those of both sides of a cut, and that of a ``cell``. Sizes and boxes of blocks, histograms, the tally and
    the counts of cells are zeros before and after every node.
    """

    rows: cython.ulonglong[::1]
    spare: cython.ulonglong[::1]
    close: cython.ulonglong[::1]
    word: cython.longlong[::1]
    shift: cython.longlong[::1]
    top: cython.longlong[::1]
    slot: cython.longlong[::1]
    bits: cython.ulonglong[::1]
    guards: cython.ulonglong[::1]
    places: cython.longlong[::1]
    histogram: cython.longlong[::1]
    tally: cython.longlong[::1]
    cells: cython.int[::1]
    codes: cython.int[::1]
    sizes: cython.longlong[::1]
    present: cython.longlong[::1]
    before: cython.longlong[::1]
    width_before: cython.longlong[::1]
    width_after: cython.longlong[::1]
    n_codes: cython.longlong[::1]
    low: cython.longlong[::1]
    high: cython.longlong[::1]
    step: cython.longlong[::1]
    current: cython.longlong[::1]
    boxes: cython.ulonglong[::1]
    change_at: cython.longlong[::1]
    change_width: cython.longlong[::1]
    leaves: cython.longlong[:, ::1]
    parts: cython.longlong[:, ::1]
    part_frames: cython.ulonglong[::1]
    n_leaves: cython.longlong
    n_parts: cython.longlong
    ell: cython.longlong
    n_values: cython.longlong
    dense: cython.longlong
    crowd: cython.longlong
    far: cython.longlong
    near: cython.longlong
    small: cython.longlong
    words: cython.Py_ssize_t
    d: cython.Py_ssize_t
    frame: cython.Py_ssize_t
    node: cython.Py_ssize_t
    left: cython.Py_ssize_t
    right: cython.Py_ssize_t
    cell: cython.Py_ssize_t
    best_cost: cython.longlong
    best_dim: cython.Py_ssize_t
    best_k: cython.longlong  # tuples on the left
    best_t: cython.Py_ssize_t
    best_ties: cython.longlong

    def __init__(self, *state):
        (
            self.rows, self.spare, self.close, self.word, self.shift, self.top, self.slot, self.bits, self.guards,
            self.places, self.histogram, self.tally, self.cells, self.codes, self.sizes, self.present, self.before,
            self.width_before, self.width_after, self.n_codes, self.low, self.high, self.step, self.current, self.boxes,
            self.change_at, self.change_width, self.leaves, self.parts, self.part_frames, self.ell, self.n_values,
            self.dense, self.crowd, self.far, self.near, self.small,
        ) = state  # fmt: skip
        self.n_leaves = 0
        self.n_parts = 0
        self.words = len(self.bits)
        self.d = len(self.word) - 1
        self.frame = 3 * self.slot[self.d] * self.words
        self.node = self.frame + self.words
        self.left = self.node + self.words
        self.right = self.left + self.words
        self.cell = self.right + self.words

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def cut(self, start: cython.longlong, stop: cython.longlong, least: cython.longlong) -> cython.longlong:
        """Make the canonical cut of a node; return where it lies, or -1 if the node is divided to the end.

        Afterwards ``left`` and ``right`` are frames of both sides.
        """
        m: cython.longlong = stop - start
        self.collect_blocks(start, stop)
        self.sweep_blocks(0, m, least)
        if self.width(self.node) == 0:
            if self.n_codes[0] == 1:  # all cuts cost nothing: tie order decides, again and again
                self.peel(start, stop)
                self.forget_blocks()
                return -1
            self.first_cut(least)
        else:
            self.best_cost = -1
            self.try_borders(0, m, least)
            for j in range(1, self.d):
                self.sweep_blocks(j, m, least)
                self.try_borders(j, m, least)
            for j in range(self.d):
                if self.n_codes[j] > 1 or self.is_first_single(j):
                    self.try_insides(start, stop, least, j)
        self.frame_sides()
        if m <= self.small:
            self.split(start, stop, self.close, 0)
        else:
            self.split(start, stop, self.spare, start * (self.words + 1))
        self.forget_blocks()
        return start + self.best_k

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def collect_blocks(self, start: cython.longlong, stop: cython.longlong) -> cython.void:
        """Size and box of the block of every code of every attribute, in one pass; then list the codes that occur.

        Where the frame has few cells for the node's size, the pass counts cells, and the cells are added to the blocks.
        """
        words: cython.Py_ssize_t = self.words
        d: cython.Py_ssize_t = self.d
        m: cython.longlong = stop - start
        low: cython.longlong
        high: cython.longlong
        volume: cython.longlong = 1
        for j in range(d):
            box = self.boxes[self.frame + self.word[j]] >> self.shift[j]
            high = box & self.top[j]
            low = self.top[j] - ((box >> 32) & self.top[j])
            self.low[j] = low
            self.high[j] = high
            self.step[j] = volume
            if volume > 0:
                volume *= high - low + 1
                if volume > self.cells.shape[0] or volume * self.crowd > m:
                    volume = 0
        if volume > 0:
            self.count_cells(start, stop, volume)
        else:
            add_to_blocks(
                self.rows, start, stop, words, d, self.word, self.shift, self.top, self.slot, self.bits, self.guards,
                self.sizes, self.boxes,
            )  # fmt: skip
        for j in range(d):
            n = self.slot[j]
            if self.high[j] - self.low[j] <= self.dense * m:
                for x in range(self.slot[j] + self.low[j], self.slot[j] + self.high[j] + 1):
                    if self.sizes[x] > 0:
                        self.present[n] = x
                        n += 1
            else:
                for i in range(m):
                    self.codes[i] = (self.rows[(start + i) * (words + 1) + self.word[j]] >> self.shift[j]) & self.top[j]
                sort_codes(self.codes, m, self.high[j])
                for i in range(m):
                    if i == 0 or self.codes[i] != self.codes[i - 1]:
                        self.present[n] = self.slot[j] + self.codes[i]
                        n += 1
            self.n_codes[j] = n - self.slot[j]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def count_cells(self, start: cython.longlong, stop: cython.longlong, volume: cython.longlong) -> cython.void:
        """Count the tuples of every cell of the frame, and add the cells to the blocks; the odometer is set up."""
        words: cython.Py_ssize_t = self.words
        d: cython.Py_ssize_t = self.d
        cell: cython.Py_ssize_t = self.cell
        one: cython.ulonglong = 1
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        offset: cython.longlong = 0
        spread: cython.ulonglong
        x: cython.ulonglong
        y: cython.ulonglong
        total: cython.longlong
        last: cython.longlong = 0
        length: cython.Py_ssize_t = self.high[0] - self.low[0] + 1
        low: cython.Py_ssize_t = self.slot[0] + self.low[0]
        word: cython.Py_ssize_t = cell + self.word[0]
        shift: cython.longlong = self.shift[0]
        for j in range(d):
            offset += self.low[j] * self.step[j]
        if words == 1 and d <= 4:
            count_in_cells(self.rows, start, stop, d, self.shift, self.top[0], self.step, offset, self.cells)
        else:
            for i in range(start, stop):
                at = -offset
                for j in range(d):
                    at += ((self.rows[i * (words + 1) + self.word[j]] >> self.shift[j]) & self.top[j]) * self.step[j]
                self.cells[at] += 1
        for q in range(words):
            self.boxes[cell + q] = 0
        for j in range(d):  # the first cell: all codes smallest
            spread = self.low[j]
            self.boxes[cell + self.word[j]] |= spread << self.shift[j]
            spread = self.top[j] - self.low[j]
            self.boxes[cell + self.word[j]] |= spread << (self.shift[j] + 32)
            self.current[j] = self.low[j]
        at = 0
        while at < volume:  # line after line: cells that differ in the first code
            total = 0
            first = -1
            for i in range(at, at + length):
                if self.cells[i] > 0:
                    total += self.cells[i]
                    last = i - at
                    if first < 0:
                        first = last
            if total > 0:
                for i in range(first, last + 1):
                    if self.cells[at + i] > 0:
                        x = i
                        self.boxes[word] = self.boxes[word] + (x << shift) - (x << (shift + 32))
                        self.sizes[low + i] += self.cells[at + i]
                        self.extend((low + i) * words, cell)
                        self.boxes[word] = self.boxes[word] + (x << (shift + 32)) - (x << shift)
                        self.cells[at + i] = 0
                x = last  # the box of the line: the largest first code, and the complement of the smallest
                y = first
                self.boxes[word] = self.boxes[word] + (x << shift) - (y << (shift + 32))
                for j in range(1, d):
                    q = self.slot[j] + self.current[j]
                    self.sizes[q] += total
                    self.extend(q * words, cell)
                self.boxes[word] = self.boxes[word] + (y << (shift + 32)) - (x << shift)
            j = 1
            while j < d and self.current[j] == self.high[j]:
                spread = self.high[j] - self.low[j]
                q = cell + self.word[j]
                self.boxes[q] = self.boxes[q] + (spread << (self.shift[j] + 32)) - (spread << self.shift[j])
                self.current[j] = self.low[j]
                j += 1
            if j < d:
                q = cell + self.word[j]
                self.boxes[q] = self.boxes[q] + (one << self.shift[j]) - (one << (self.shift[j] + 32))
                self.current[j] += 1
            at += length

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sweep_blocks(self, j: cython.Py_ssize_t, m: cython.longlong, least: cython.longlong) -> cython.void:
        """What lies before each block of an attribute, and from it on: tuples, boxes, widths where a cut may need them.

        The box of the whole node is left in ``node``.
        """
        words: cython.Py_ssize_t = self.words
        d: cython.Py_ssize_t = self.d
        slots: cython.Py_ssize_t = self.slot[d]
        first: cython.Py_ssize_t = self.slot[j]
        last: cython.Py_ssize_t = first + self.n_codes[j] - 1
        node: cython.Py_ssize_t = self.node
        total: cython.longlong = 0
        for q in range(words):
            self.boxes[node + q] = 0
        for t in range(first, last + 1):
            self.before[t] = total
            for q in range(words):
                self.boxes[(slots + t) * words + q] = self.boxes[node + q]
            if t > first and total <= m - least and total + self.sizes[self.present[t]] >= least:
                self.width_before[t] = self.width(node)
            total += self.sizes[self.present[t]]
            self.extend(node, self.present[t] * words)
        for q in range(words):
            self.boxes[node + q] = 0
        for t in range(last, first - 1, -1):
            self.extend(node, self.present[t] * words)
            for q in range(words):
                self.boxes[(2 * slots + t) * words + q] = self.boxes[node + q]
            if t > first and self.before[t] >= least and self.before[t - 1] <= m - least:
                self.width_after[t] = self.width(node)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def try_borders(self, j: cython.Py_ssize_t, m: cython.longlong, least: cython.longlong) -> cython.void:
        """Cuts between two blocks of an attribute."""
        for t in range(self.slot[j] + 1, self.slot[j] + self.n_codes[j]):
            k = self.before[t]
            if least <= k and k <= m - least:
                cost = k * self.width_before[t] + (m - k) * self.width_after[t]
                if self.best_cost < 0 or cost < self.best_cost:
                    self.keep(cost, j, k, t, 0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def try_insides(
        self, start: cython.longlong, stop: cython.longlong, least: cython.longlong, j: cython.Py_ssize_t
    ) -> cython.void:
        """Cuts inside the blocks of an attribute, from ``lo`` to ``hi`` tuples on the left.

        The width before such a cut never falls as it moves right, and the width after it never grows. The width before
        lies between that of the earlier blocks with this block's code, and that of the earlier blocks with this block.
        While both widths stay the same the cost is linear in k, so the cheaper end bounds it. Where that does not
        decide, a few tuples from both ends of the block, which lie on their side in all of these cuts, improve the
        bound; where that does not decide, the block is read.
        """
        words: cython.Py_ssize_t = self.words
        first: cython.Py_ssize_t = self.slot[j]
        last: cython.Py_ssize_t = first + self.n_codes[j] - 1
        m: cython.longlong = stop - start
        for t in range(first, last + 1):
            at = self.present[t]
            begin = self.before[t]
            end = begin + self.sizes[at]
            lo = begin + 1 if begin + 1 > least else least
            hi = end - 1 if end - 1 < m - least else m - least
            if lo > hi:
                continue
            before = 0
            after = 0
            if t > first:
                before = self.width_before[t] + self.places[at] - self.places[self.present[t - 1]]
            if t < last:
                after = self.width_after[t + 1] + self.places[self.present[t + 1]] - self.places[at]
            if not self.is_better(lower_end(before, after, m, lo, hi), j, lo):
                continue
            self.copy_sides(t, t < last)
            self.extend(self.left, at * words)
            self.extend(self.right, at * words)
            full_before = self.width(self.left)
            full_after = self.width(self.right)
            if (before < full_before or after < full_after) and m > self.far:
                self.copy_sides(t, t < last)
                self.extend_by_ends(start, stop, j, at, lo - begin, end - hi)
                before = self.width(self.left)
                after = self.width(self.right)
                if not self.is_better(lower_end(before, after, m, lo, hi), j, lo):
                    continue
            if before == full_before and after == full_after:  # the cost is linear in k
                bound = lower_end(before, after, m, lo, hi)
                if bound < lo * before + (m - lo) * after:
                    lo = hi
                if self.is_better(bound, j, lo):
                    self.keep(bound, j, lo, t, lo - begin)
                continue
            self.copy_sides(t, t < last)
            self.read_block(start, stop, j, t, lo, hi)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def copy_sides(self, t: cython.Py_ssize_t, has_later: cython.bint) -> cython.void:
        """Set ``left`` and ``right`` to the boxes of the blocks before and after the t-th."""
        slots: cython.Py_ssize_t = self.slot[self.d]
        for q in range(self.words):
            self.boxes[self.left + q] = self.boxes[(slots + t) * self.words + q]
            self.boxes[self.right + q] = 0
            if has_later:
                self.boxes[self.right + q] = self.boxes[(2 * slots + t + 1) * self.words + q]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def extend_by_ends(
        self,
        start: cython.longlong,
        stop: cython.longlong,
        j: cython.Py_ssize_t,
        at: cython.Py_ssize_t,
        heads: cython.longlong,
        tails: cython.longlong,
    ) -> cython.void:
        """Extend ``left`` by a block's first ``heads`` tuples and ``right`` by its last ``tails``, both by few."""
        words: cython.Py_ssize_t = self.words
        word: cython.Py_ssize_t = self.word[j]
        shift: cython.longlong = self.shift[j]
        code: cython.ulonglong = at - self.slot[j]
        top: cython.ulonglong = self.top[j]
        i: cython.Py_ssize_t = start
        if heads > self.near:
            heads = self.near
        if tails > self.near:
            tails = self.near
        while heads > 0:
            if ((self.rows[i * (words + 1) + word] >> shift) & top) == code:
                extend(self.boxes, self.left, self.rows, i * (words + 1), words, self.bits, self.guards)
                heads -= 1
            i += 1
        i = stop - 1
        while tails > 0:
            if ((self.rows[i * (words + 1) + word] >> shift) & top) == code:
                extend(self.boxes, self.right, self.rows, i * (words + 1), words, self.bits, self.guards)
                tails -= 1
            i -= 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_block(
        self,
        start: cython.longlong,
        stop: cython.longlong,
        j: cython.Py_ssize_t,
        t: cython.Py_ssize_t,
        lo: cython.longlong,
        hi: cython.longlong,
    ) -> cython.void:
        """Try every cut inside a block; ``left`` and ``right`` are the boxes of the other blocks.

        From the back: after how many of the block's tuples does the width of the rest change (it does so at most once a
        code)? From the front: the cost of each cut.
        """
        words: cython.Py_ssize_t = self.words
        word: cython.Py_ssize_t = self.word[j]
        shift: cython.longlong = self.shift[j]
        m: cython.longlong = stop - start
        code: cython.ulonglong = self.present[t] - self.slot[j]
        top: cython.ulonglong = self.top[j]
        begin: cython.longlong = self.before[t]
        n: cython.Py_ssize_t = 0
        k: cython.longlong = begin + self.sizes[self.present[t]]
        for i in range(stop - 1, start - 1, -1):
            if ((self.rows[i * (words + 1) + word] >> shift) & top) == code:
                k -= 1
                if k < lo:
                    break
                if n == 0 or not contains(self.boxes, self.right, self.rows, i * (words + 1), words, self.guards):
                    extend(self.boxes, self.right, self.rows, i * (words + 1), words, self.bits, self.guards)
                    self.change_at[n] = k
                    self.change_width[n] = self.width(self.right)
                    n += 1
        k = begin
        before = -1
        for i in range(start, stop):
            if ((self.rows[i * (words + 1) + word] >> shift) & top) == code:
                k += 1
                if k > hi:
                    break
                if before < 0 or not contains(self.boxes, self.left, self.rows, i * (words + 1), words, self.guards):
                    extend(self.boxes, self.left, self.rows, i * (words + 1), words, self.bits, self.guards)
                    before = self.width(self.left)
                if k < lo:
                    continue
                while self.change_at[n - 1] < k:
                    n -= 1
                after = self.change_width[n - 1]
                cost = k * before + (m - k) * after
                if self.is_better(cost, j, k):
                    self.keep(cost, j, k, t, k - begin)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_better(self, cost: cython.longlong, j: cython.Py_ssize_t, k: cython.longlong) -> cython.bint:
        """Whether (cost, attribute, k) comes before the best cut so far."""
        if self.best_cost < 0 or cost != self.best_cost:
            return self.best_cost < 0 or cost < self.best_cost
        return j < self.best_dim or (j == self.best_dim and k < self.best_k)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def keep(
        self,
        cost: cython.longlong,
        j: cython.Py_ssize_t,
        k: cython.longlong,
        t: cython.Py_ssize_t,
        ties: cython.longlong,
    ) -> cython.void:
        """Keep a cut as the best so far."""
        self.best_cost = cost
        self.best_dim = j
        self.best_k = k
        self.best_t = t
        self.best_ties = ties

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_first_single(self, j: cython.Py_ssize_t) -> cython.bint:
        """Whether an attribute is the first with a single code: all such attributes have the same cuts, and it wins."""
        for i in range(j):
            if self.n_codes[i] == 1:
                return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def first_cut(self, least: cython.longlong) -> cython.void:
        """The cut with the smallest left part on the first attribute, where all cuts cost the same."""
        t: cython.Py_ssize_t = self.slot[0]
        while self.before[t] + self.sizes[self.present[t]] <= least:
            t += 1
        self.best_dim = 0
        self.best_k = least
        self.best_t = t
        self.best_ties = least - self.before[t]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def frame_sides(self) -> cython.void:
        """Set ``left`` and ``right`` to boxes that contain both sides of the best cut."""
        slots: cython.Py_ssize_t = self.slot[self.d]
        for q in range(self.words):
            self.boxes[self.left + q] = self.boxes[(slots + self.best_t) * self.words + q]
            self.boxes[self.right + q] = self.boxes[(2 * slots + self.best_t) * self.words + q]
        if self.best_ties > 0:
            self.extend(self.left, self.present[self.best_t] * self.words)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forget_blocks(self) -> cython.void:
        """Set sizes and boxes of a node's blocks to zeros again."""
        words: cython.Py_ssize_t = self.words
        for j in range(self.d):
            for t in range(self.slot[j], self.slot[j] + self.n_codes[j]):
                self.sizes[self.present[t]] = 0
                for q in range(words):
                    self.boxes[self.present[t] * words + q] = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def peel(self, start: cython.longlong, stop: cython.longlong) -> cython.void:
        """Divide a node whose cuts take the first tuples in tie order, as long as the rest is 2l-diverse; linear time.

        ``tally[x]`` is how many sensitive values have ``x`` tuples left; a second histogram is that of the part taken
        off.
        """
        stride: cython.Py_ssize_t = self.words + 1
        ell: cython.longlong = self.ell
        own: cython.Py_ssize_t = self.n_values
        x: cython.Py_ssize_t
        largest: cython.longlong = 0
        for i in range(start, stop):
            x = self.rows[(i + 1) * stride - 1] >> 32
            if self.histogram[x] > 0:
                self.tally[self.histogram[x]] -= 1
            self.histogram[x] += 1
            self.tally[self.histogram[x]] += 1
            largest = self.histogram[x] if self.histogram[x] > largest else largest
        while start < stop:
            middle = stop
            if stop - start >= 2 * ell * largest:
                middle = start + ell * largest
            most = 0
            for i in range(start, middle):
                x = self.rows[(i + 1) * stride - 1] >> 32
                self.tally[self.histogram[x]] -= 1
                self.histogram[x] -= 1
                if self.histogram[x] > 0:
                    self.tally[self.histogram[x]] += 1
                self.histogram[own + x] += 1
                most = self.histogram[own + x] if self.histogram[own + x] > most else most
            for i in range(start, middle):
                self.histogram[own + (self.rows[(i + 1) * stride - 1] >> 32)] = 0
            while largest > 0 and self.tally[largest] == 0:
                largest -= 1
            if middle - start < 2 * ell * most:
                self.add_leaf(start, middle)
            else:
                self.add_part(start, middle, self.node)
            start = middle

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def split(
        self, start: cython.longlong, stop: cython.longlong, spare: cython.ulonglong[::1], at: cython.Py_ssize_t
    ) -> cython.void:
        """Move the tuples of the left part to the front, keeping the order inside both parts.

        The smaller part goes through ``spare``, from place ``at`` on; the larger one closes up in place.
        """
        stride: cython.Py_ssize_t = self.words + 1
        j: cython.Py_ssize_t = self.best_dim
        k: cython.longlong = self.best_k
        code: cython.longlong = self.present[self.best_t] - self.slot[j]
        ties: cython.longlong = self.best_ties  # tuples with this very code that still go to the side met first
        a: cython.Py_ssize_t = start * stride
        if stop - start - k <= k:
            b = part(self.rows, start, stop, stride, self.word[j], self.shift[j], self.top[j], code, ties, a, spare, at)
            a += k * stride
            for i in range(b - at):
                self.rows[a + i] = spare[at + i]
            return
        ties = self.sizes[self.present[self.best_t]] - ties
        b = part_from_behind(
            self.rows, start, stop, stride, self.word[j], self.shift[j], self.top[j], code, ties, spare, at
        )
        for _ in range(k):  # they lie in spare from the last to the first
            b -= stride
            for q in range(stride):
                self.rows[a + q] = spare[b + q]
            a += stride

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_leaf(self, start: cython.longlong, stop: cython.longlong) -> cython.void:
        """Write down a node that is not cut any more."""
        self.leaves[self.n_leaves, 0] = start
        self.leaves[self.n_leaves, 1] = stop
        self.n_leaves += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_part(self, start: cython.longlong, stop: cython.longlong, frame: cython.Py_ssize_t) -> cython.void:
        """Write down a node that may be cut further, with its frame."""
        self.parts[self.n_parts, 0] = start
        self.parts[self.n_parts, 1] = stop
        for q in range(self.words):
            self.part_frames[self.n_parts * self.words + q] = self.boxes[frame + q]
        self.n_parts += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def extend(self, a: cython.Py_ssize_t, b: cython.Py_ssize_t) -> cython.void:
        """Extend box ``a`` by box ``b``."""
        extend(self.boxes, a, self.boxes, b, self.words, self.bits, self.guards)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def width(self, a: cython.Py_ssize_t) -> cython.longlong:
        """The sum of the widths of box ``a``."""
        return width(self.boxes, a, self.d, self.word, self.shift, self.top, self.slot, self.places)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def lower_end(
    before: cython.longlong, after: cython.longlong, m: cython.longlong, lo: cython.longlong, hi: cython.longlong
) -> cython.longlong:
    """The smaller cost of the cuts ``lo`` and ``hi`` if the widths of both sides were ``before`` and ``after``."""
    a: cython.longlong = lo * before + (m - lo) * after
    b: cython.longlong = hi * before + (m - hi) * after
    return a if a <= b else b


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add_to_blocks(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    words: cython.Py_ssize_t,
    d: cython.Py_ssize_t,
    word: cython.longlong[::1],
    shift: cython.longlong[::1],
    top: cython.longlong[::1],
    slot: cython.longlong[::1],
    bits: cython.ulonglong[::1],
    guards: cython.ulonglong[::1],
    sizes: cython.longlong[::1],
    boxes: cython.ulonglong[::1],
) -> cython.void:
    """Count tuples in the block of each of their codes."""
    at: cython.Py_ssize_t
    for i in range(start, stop):
        a = i * (words + 1)
        for j in range(d):
            at = slot[j] + ((rows[a + word[j]] >> shift[j]) & top[j])
            sizes[at] += 1
            extend(boxes, at * words, rows, a, words, bits, guards)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def count_in_cells(
    rows: cython.ulonglong[::1],
    start: cython.longlong,
    stop: cython.longlong,
    d: cython.Py_ssize_t,
    shift: cython.longlong[::1],
    top: cython.ulonglong,
    step: cython.longlong[::1],
    offset: cython.longlong,
    cells: cython.int[::1],
) -> cython.void:
    """Count tuples of one word and at most four attributes in their cells, without an inner loop."""
    at: cython.Py_ssize_t
    shift_1: cython.longlong = shift[1] if d > 1 else 0
    shift_2: cython.longlong = shift[2] if d > 2 else 0
    shift_3: cython.longlong = shift[3] if d > 3 else 0
    step_1: cython.longlong = step[1] if d > 1 else 0
    step_2: cython.longlong = step[2] if d > 2 else 0
    step_3: cython.longlong = step[3] if d > 3 else 0
    for i in range(start, stop):
        row = rows[2 * i]
        at = (
            (row & top)
            + ((row >> shift_1) & top) * step_1
            + ((row >> shift_2) & top) * step_2
            + ((row >> shift_3) & top) * step_3
            - offset
        )
        cells[at] += 1


def divide_nodes(
    cutting: Cutting,
    starts: cython.longlong[::1],
    stops: cython.longlong[::1],
    frames: cython.ulonglong[::1],
    stack: cython.longlong[:, ::1],
    waiting: cython.ulonglong[::1],
) -> tuple[int, int]:
    """Make the canonical l-cut of every node; nodes of at most ``small`` tuples are divided until only leaves are left.

    A node's frame is any box that contains it. ``leaves`` and ``parts`` (start, stop) receive what becomes of the
    nodes, a row for each; return how many of each. ``parts`` may be cut further. ``stack`` and ``waiting`` hold a few
    dozen nodes and their frames.
    """
    words: cython.Py_ssize_t = cutting.words
    ell: cython.longlong = cutting.ell
    depth: cython.Py_ssize_t
    frame: cython.Py_ssize_t
    is_left: cython.bint
    with cython.nogil:
        for g in range(starts.shape[0]):
            stack[0, 0] = starts[g]
            stack[0, 1] = stops[g]
            for q in range(words):
                waiting[q] = frames[g * words + q]
            depth = 1
            while depth > 0:
                depth -= 1
                start = stack[depth, 0]
                stop = stack[depth, 1]
                least = stop - start
                if stop - start >= 2 * ell:
                    least = ell * largest_count(
                        cutting.rows, start, stop, words + 1, cutting.n_values, cutting.histogram
                    )
                if stop - start < 2 * least:
                    cutting.add_leaf(start, stop)
                    continue
                for q in range(words):
                    cutting.boxes[cutting.frame + q] = waiting[depth * words + q]
                middle = cutting.cut(start, stop, least)
                if middle < 0:
                    continue
                for j in range(2):  # the larger part waits: so the stack stays low
                    is_left = (j == 0) == (middle - start > stop - middle)
                    first = start if is_left else middle
                    last = middle if is_left else stop
                    frame = cutting.left if is_left else cutting.right
                    if last - first > cutting.small:
                        cutting.add_part(first, last, frame)
                    else:
                        stack[depth, 0] = first
                        stack[depth, 1] = last
                        for q in range(words):
                            waiting[depth * words + q] = cutting.boxes[frame + q]
                        depth += 1
    return cutting.n_leaves, cutting.n_parts
