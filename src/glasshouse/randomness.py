# SPDX-License-Identifier: Apache-2.0
"""The one source of randomness: unbiased choices that nobody outside can foresee or repeat.

An attacker who could guess the random choices of a release could undo it, so all of them come from here: a 256-bit key
from the operating system, expanded by AES-256 in counter mode (NIST SP 800-38A; measured half as fast again as
ChaCha20), turned into integers without bias by Lemire's multiply-shift with rejection ("Fast Random Integer Generation
in an Interval", ACM TOMACS 29(1), 2019, doi:10.1145/3230636). Keys of children come from their parent's by HKDF-Expand
(RFC 5869).

The stream is a sequence of 32-bit words, read front to back. A draw below n takes

* n < 2^32: one word w, giving floor(w * n / 2^32); w is rejected, and the next one taken, if (w * n) mod 2^32 is less
  than 2^32 mod n. This leaves exactly floor(2^32 / n) words for each value, and rejects less than every second word;
* n >= 2^32: two words as one 64-bit number, low half first, cut to the bits of n - 1, and rejected from n on.

Every other draw is made of draws below n in a documented order, so that a method gives the same result on a `Source`
and on anything else that offers `Draws` and makes the same choices.
"""

from __future__ import annotations

import os
from hashlib import sha256
from operator import index
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self, SupportsIndex

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from glasshouse.errors import NotSupported, ParameterError
from glasshouse.kernels import compiled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["Draws", "HandedOver", "Numbering", "Source"]

LARGEST_BOUND = 2**62
_WORD = 2**32  # how many values a word can have

# Blocks of the stream, in words: small at first, for most children draw little, then as large as stays in cache.
_FIRST_BLOCK = 64
_LARGEST_BLOCK = 2**16
_BLOCK_GROWTH = 4

# Beyond so many candidates for each chosen one, a sorted array of the chosen is smaller than a bit for each candidate.
_SPARSE = 64
_CHOICES = 2**20  # so many are drawn, or read off their marks, at once

# Numbers of up to so many items are kept as an array; of more, they are computed.
_LISTED = 2**20
_MOST_NUMBERED = 2**40
_ROUNDS = 10
_AT_ONCE = 2**15  # places that are numbered at once: they stay in the processor's cache from one round to the next


class Draws(Protocol):
    """The random choices that methods use; a source that goes through all outcomes can replace `Source`.

    Each draw is uniform, independent of all others, and made of `below` alone, as `Source` documents.
    """

    def below(self, n: int, /) -> int:
        """Return one of ``0 .. n - 1``."""
        ...

    def belows(self, bounds: int | NDArray[np.integer[Any]], size: int | None = None) -> NDArray[np.int64]:
        """Return an array of draws, one below each of ``bounds``, or ``size`` below the one bound."""
        ...

    def permutation(self, n: int) -> NDArray[np.int32] | NDArray[np.int64]:
        """Return ``0 .. n - 1`` in random order."""
        ...

    def shuffle(self, array: NDArray[np.int32] | NDArray[np.int64]) -> None:
        """Put ``array`` in random order, in place."""
        ...

    def shuffle_runs(self, array: NDArray[np.int32] | NDArray[np.int64], offsets: NDArray[np.int64]) -> None:
        """Put each ``array[offsets[r] : offsets[r + 1]]`` in random order by itself, in place."""
        ...

    def choose(self, n: int, k: int) -> NDArray[np.int64]:
        """Return ``k`` different ones of ``0 .. n - 1``, ascending."""
        ...

    def coin(self) -> bool:
        """Return true or false."""
        ...

    def bernoulli(self, numerator: int, denominator: int) -> bool:
        """Return true with probability ``numerator / denominator``."""
        ...

    def child(self, *labels: str | int) -> Draws:
        """Return the stream that belongs to ``labels``."""
        ...


class Source:
    """A stream of unbiased secret choices, made by `Source.secure` or `Source.seeded`.

    Guarantee
    ---------
    Given uniform words, every draw is exactly uniform; the words cannot be told from uniform ones by anybody who
    cannot break AES-256, as long as the key stays secret. The key of a seeded source is known to everybody who
    knows the seed: such a source is for tests and experiments, and says so in `is_seeded`.

    The key is never printed, and a source can be neither pickled nor copied, for two copies would make the same
    choices. Where several machines work on one release, `handed_over` gives the key to them, on purpose and by name.
    Threads may share a source (they then get different choices, in an order that depends on timing), but a child each
    is faster and repeatable.

    *One source, one release.* Two releases made with the same choices can be laid side by side, and what one of them
    hid can then be told from the other. So every function that publishes asks for the choices of one release
    (`for_one_release`): of a secure source these are new every time. A seeded source gives the choices of its seed to
    the first release and others to each later one. Those who call a method's ``divide`` or a recoding's ``recode``
    themselves hand over a new source each time.

    *Forks.* A process that was forked from its owner may not draw from a source. A child that it takes from a secure
    one is new, for the parent may take a child of the same labels; a child of a seeded one is what its labels say.

    Cost
    ----
    A call of `below` takes under a microsecond, an item of `belows` a few nanoseconds, a permutation of ten million
    a tenth to a third of a second, which is what its random memory accesses cost.

    Examples
    --------
    >>> source = Source.seeded(7)
    >>> source.permutation(5).tolist(), source.below(6), source.choose(10, 3).tolist()
    ([3, 0, 1, 2, 4], 0, [0, 2, 4])
    >>> source
    Source(seeded)
    >>> Source.secure().is_seeded
    False
    """

    __slots__ = (
        "_at",
        "_block",
        "_encryptor",
        "_is_seeded",
        "_kernels",
        "_key",
        "_lock",
        "_n_releases",
        "_process",
        "_view",
        "_words",
    )

    def __init__(self, key: bytes, *, is_seeded: bool) -> None:
        self._key = key
        self._is_seeded = is_seeded
        self._kernels = compiled("glasshouse.kernels._random_kernels")
        self._lock = Lock()
        self._process = _process()
        self._n_releases = 0  # that were made with this source
        self._encryptor: Any = None  # made on the first draw: some sources only have children
        self._block = _FIRST_BLOCK
        self._words: NDArray[np.uint32] = np.empty(0, np.uint32)
        self._view = self._words.data  # the same words as Python integers
        self._at = 0  # the next unused word

    @classmethod
    def secure(cls) -> Self:
        """Return a source keyed by the operating system; no two are alike."""
        return cls(os.urandom(32), is_seeded=False)

    @classmethod
    def seeded(cls, seed: int) -> Self:
        """Return the source that belongs to ``seed``, any integer: the same choices on every run and machine."""
        if not _is_integer(seed):
            raise ParameterError("Source.seeded", "seed", "an integer", seed)
        return cls(sha256(b"glasshouse randomness, seeded\0" + _encoded(index(seed))).digest(), is_seeded=True)

    @property
    def is_seeded(self) -> bool:
        """Whether somebody who knows a seed can repeat these choices; true of all descendants too."""
        return self._is_seeded

    def child(self, *labels: str | int) -> Source:
        """Return the independent stream that belongs to ``labels``; the same labels always give the same stream.

        It depends on the key and the labels alone: not on what was drawn or derived before, nor on thread or order,
        and this stream does not advance. ``child("a", "b")`` and ``child("a").child("b")`` are two different streams.

        >>> parent = Source.seeded(7)
        >>> leaf = parent.child("leaf", 12)
        >>> _ = parent.permutation(100), parent.child("leaf", 13).coin()
        >>> leaf.below(1000) == parent.child("leaf", 12).below(1000)
        True
        """
        if not labels or not all(isinstance(label, str) or _is_integer(label) for label in labels):
            raise ParameterError("Source.child", "labels", "one or more strings and integers", labels)
        if not self._is_seeded and _process() != self._process:
            return Source.secure()
        path = b"".join(_encoded(label if isinstance(label, str) else index(label)) for label in labels)
        return Source(_derived(self._key, b"child\0" + path), is_seeded=self._is_seeded)

    def for_one_release(self) -> Source:
        """Return the source for the choices of one release, which no other release made with this source repeats.

        Of a secure source it is a new one. Of a seeded source it is the source itself for the first release, so that
        the same seed gives the same release, and a stream of its own for each later one.

        >>> source = Source.seeded(7)
        >>> first, second = source.for_one_release(), source.for_one_release()
        >>> first.child("recoding").below(1000) == second.child("recoding").below(1000)
        False
        >>> Source.seeded(7).for_one_release().below(1000) == Source.seeded(7).below(1000)
        True
        """
        if not self._is_seeded:
            return Source.secure()
        if _process() != self._process:
            _refuse_fork()
        with self._lock:
            self._n_releases += 1
            number = self._n_releases
        return self if number == 1 else self.child("release", number)

    def handed_over(self) -> HandedOver:
        """Return the key in a wrapper that can be pickled, for the processes that work on one release together.

        Each of them has the choices of this source from the start, so two that draw from it make the same ones: they
        take a `child`, labelled by the part of the work that is theirs. The wrapper shows nothing of the key, but
        anybody who can read its pickle has it: keep it in memory and encrypted connections, never in a file.

        >>> handed = Source.seeded(7).handed_over()
        >>> handed, handed.source().child("piece", 3).below(1000) == Source.seeded(7).child("piece", 3).below(1000)
        (HandedOver(hidden), True)
        """
        return HandedOver(self._key, is_seeded=self._is_seeded)

    def below(self, n: int, /) -> int:
        """Return one of ``0 .. n - 1``, for n up to 2^62."""
        if type(n) is not int or not 0 < n < _WORD:
            n = _checked("Source.below", "n", n, 1, LARGEST_BOUND)
            if n >= _WORD:
                return int(self.belows(n, 1)[0])
        if _process() != self._process:  # before the lock, which another thread may have held when it was forked
            _refuse_fork()
        with self._lock:
            while True:
                if self._at == len(self._view):
                    self._refill()
                product = self._view[self._at] * n
                self._at += 1
                low = product % _WORD
                if low >= n or low >= _WORD % n:
                    return product // _WORD

    def belows(self, bounds: int | NDArray[np.integer[Any]], size: int | None = None) -> NDArray[np.int64]:
        """Return an array of draws, one below each of ``bounds``, or ``size`` below the one bound.

        The same as so many calls of `below`: ten draws and then ten are the same twenty as twenty at once.

        >>> Source.seeded(7).belows(6, 5).tolist()
        [4, 4, 2, 1, 0]
        >>> Source.seeded(7).belows(np.array([6, 52])).tolist()
        [4, 38]
        """
        if _is_integer(bounds):
            limits = np.array([_checked("Source.belows", "bounds", bounds, 1, LARGEST_BOUND)])
            values = np.empty(_checked("Source.belows", "size", size, 0, LARGEST_BOUND), np.int64)
        else:
            limits = _checked_bounds(bounds)
            if size is not None and size != len(limits):
                raise ParameterError("Source.belows", "size", "left out, or equal to the number of bounds", size)
            values = np.empty(len(limits), np.int64)
        self._run(self._kernels.fill, len(values), limits, values)
        return values

    def permutation(self, n: int) -> NDArray[np.int32] | NDArray[np.int64]:
        """Return ``0 .. n - 1`` in uniformly random order: `shuffle` of the ascending order.

        32-bit integers, or 64-bit ones where n - 1 does not fit.
        """
        n = _checked("Source.permutation", "n", n, 0, _WORD - 1)
        order = np.arange(n, dtype=np.int32) if n <= 2**31 else np.arange(n, dtype=np.int64)
        self.shuffle(order)
        return order

    def shuffle(self, array: NDArray[np.int32] | NDArray[np.int64]) -> None:
        """Put a contiguous array of 32- or 64-bit integers in uniformly random order, in place.

        Fisher-Yates: for i = len - 1 down to 1, places i and ``below(i + 1)`` are exchanged. Fewer than 2^32 items.
        """
        _check_shuffled("Source.shuffle", array)
        self._run(self._kernels.shuffle, max(0, len(array) - 1), array)

    def shuffle_runs(self, array: NDArray[np.int32] | NDArray[np.int64], offsets: NDArray[np.int64]) -> None:
        """Shuffle every run ``array[offsets[r] : offsets[r + 1]]`` by itself: `shuffle` of one run after another.

        The runs cover the array: ``offsets`` ascends from 0 to its length.

        >>> array = np.array([1, 2, 3, 10, 20, 30, 7], np.int32)
        >>> Source.seeded(7).shuffle_runs(array, np.array([0, 3, 3, 6, 7]))
        >>> array.tolist()
        [1, 2, 3, 30, 10, 20, 7]
        """
        _check_shuffled("Source.shuffle_runs", array)
        if not (
            isinstance(offsets, np.ndarray)
            and offsets.ndim == 1
            and offsets.dtype == np.int64
            and len(offsets) > 0
            and offsets[0] == 0
            and offsets[-1] == len(array)
            and bool((offsets[:-1] <= offsets[1:]).all())
        ):
            allowed = "an int64 array that ascends from 0 to the length of the array"
            raise ParameterError("Source.shuffle_runs", "offsets", allowed, offsets)
        self._run(self._kernels.shuffle_runs, len(array), array, np.ascontiguousarray(offsets))

    def choose(self, n: int, k: int) -> NDArray[np.int64]:
        """Return a uniformly random set of ``k`` different ones of ``0 .. n - 1``, in ascending order.

        Floyd's algorithm: for j = n - k up to n - 1, ``below(j + 1)`` joins the set, or j if that one is in it already.
        The order of joining is not uniform, which is why it is not given; for k in random order take
        ``permutation(n)[:k]``, or `shuffle` the result.
        """
        n = _checked("Source.choose", "n", n, 0, LARGEST_BOUND)
        k = _checked("Source.choose", "k", k, 0, n)
        return self._choose_by_marks(n, k) if n <= _SPARSE * k else self._choose_by_order(n, k)

    def _choose_by_marks(self, n: int, k: int) -> NDArray[np.int64]:
        """Floyd's algorithm with a bit for each candidate: n / 8 bytes and the result."""
        marks = np.zeros(-(-n // 8), np.uint8)
        for first in range(n - k, n, _CHOICES):
            draws = self.belows(np.arange(first + 1, min(first + _CHOICES, n) + 1))
            self._kernels.mark_subset(draws, first, marks)
        chosen, found = np.empty(k, np.int64), 0
        for start in range(0, len(marks), _CHOICES // 8):
            some = np.flatnonzero(np.unpackbits(marks[start : start + _CHOICES // 8], bitorder="little"))
            np.add(some, 8 * start, out=chosen[found : found + len(some)])
            found += len(some)
        return chosen

    def _choose_by_order(self, n: int, k: int) -> NDArray[np.int64]:
        """Floyd's algorithm by a sort of the draws: a few numbers for each chosen one, none for other candidates.

        Everything drawn is in the set. So j joins in place of a draw if the same was drawn before, or if the draw is
        an earlier j that joined in such a way.
        """
        first = n - k
        draws = self.belows(np.arange(first + 1, n + 1))
        order = np.argsort(draws, kind="stable")
        in_order = draws[order]
        replaced = np.zeros(k, bool)
        replaced[order[1:][in_order[1:] == in_order[:-1]]] = True
        later = np.flatnonzero(draws >= first)  # these drew some j: mostly few
        while True:
            again = later[replaced[draws[later] - first] & ~replaced[later] & (draws[later] - first < later)]
            if not len(again):
                break
            replaced[again] = True
        draws[replaced] = first + np.flatnonzero(replaced)
        draws.sort()
        return draws

    def numbering(self, n: int, *, listed: int = _LISTED) -> Numbering:
        """Return a random one-to-one numbering of ``0 .. n - 1``, of which any part can be asked for.

        Of up to ``listed`` items it is `permutation`. Of more it is a permutation that nobody can tell from a uniformly
        random one without breaking AES: it belongs to the key alone, and this stream does not advance. n is at most
        2^40.

        >>> numbering = Source.seeded(7).numbering(10**9)
        >>> numbering.of(np.array([0, 1, 10**9 - 1])).tolist()
        [499329143, 554161532, 114021819]
        """
        n = _checked("Source.numbering", "n", n, 0, _MOST_NUMBERED)
        if n <= listed:
            return Numbering(n, self.permutation(n), ())
        if _process() != self._process:
            _refuse_fork()
        own = Source(_derived(self._key, b"numbering\0"), is_seeded=self._is_seeded)
        bits, left = _halves(n)
        sizes = [(left, 1 << bits) if turn % 2 == 0 else (1 << bits, left) for turn in range(_ROUNDS)]
        rounds = tuple(own.belows(below, size).astype(np.int32) for below, size in sizes)
        return Numbering(n, None, rounds)

    def coin(self) -> bool:
        """Return true or false, each with probability one half: ``below(2)``."""
        return self.below(2) == 1

    def bernoulli(self, numerator: int, denominator: int) -> bool:
        """Return true with probability exactly ``numerator / denominator``: ``below(denominator) < numerator``."""
        denominator = _checked("Source.bernoulli", "denominator", denominator, 1, LARGEST_BOUND)
        numerator = _checked("Source.bernoulli", "numerator", numerator, 0, denominator)
        return self.below(denominator) < numerator

    def __repr__(self) -> str:
        return f"Source({'seeded' if self._is_seeded else 'secure'})"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise NotSupported(
            "a Source cannot be pickled or copied, because the copy would repeat its choices",
            instead="pass Source.child(...) within a process, and make a new Source in each other process",
        )

    def _run(self, kernel: Callable[..., None], n_items: int, *arrays: NDArray[Any]) -> None:
        """Let ``kernel`` draw its items, adding words whenever they run out."""
        if _process() != self._process:
            _refuse_fork()
        with self._lock:
            progress = np.array([self._at, 0])
            while True:
                kernel(self._words, progress, *arrays)
                self._at = int(progress[0])
                if progress[1] >= n_items:
                    return
                self._refill()
                progress[0] = self._at

    def _refill(self) -> None:
        """Put the next block of the stream behind the words that are left (one at most, of a draw that takes two)."""
        if self._encryptor is None:
            self._encryptor = Cipher(AES(_derived(self._key, b"stream\0")), CTR(bytes(16))).encryptor()
        left = self._words[self._at :]
        # The cipher wants up to a block of 16 bytes to spare.
        room = np.empty(len(left) + self._block + 4, np.uint32)
        room[: len(left)] = left
        self._encryptor.update_into(bytes(4 * self._block), room[len(left) :].view(np.uint8))
        words = room[: len(left) + self._block]
        if not np.little_endian:
            words[len(left) :].byteswap(inplace=True)
        self._words, self._view, self._at = words, words.data, 0
        self._block = min(_LARGEST_BLOCK, _BLOCK_GROWTH * self._block)


class HandedOver:
    """The key of a `Source` on its way to other processes of the same release: see `Source.handed_over`."""

    __slots__ = ("_is_seeded", "_key")

    def __init__(self, key: bytes, *, is_seeded: bool) -> None:
        self._key = key
        self._is_seeded = is_seeded

    def source(self) -> Source:
        """The source in this process, with none of its choices made yet."""
        return Source(self._key, is_seeded=self._is_seeded)

    def __repr__(self) -> str:
        return "HandedOver(hidden)"

    def __reduce__(self) -> tuple[Callable[..., HandedOver], tuple[bytes, bool]]:
        return _taken_over, (self._key, self._is_seeded)


def _taken_over(key: bytes, is_seeded: bool) -> HandedOver:  # noqa: FBT001
    return HandedOver(key, is_seeded=is_seeded)


class Numbering:
    """A uniformly random permutation of ``0 .. n - 1`` that can be asked for any places; made by `Source.numbering`.

    A large one is a Feistel network of ten rounds, as FF1 is (NIST SP 800-38G): an item is written as two digits, and
    in turn a random function of one digit is added to the other, modulo the number of its values. The random functions
    are drawn from the source, by AES in counter mode, value after value; each has about the square root of n values,
    so that all of them are small tables. A result from n on, of which there are few, is put through the rounds again.

    It is as secret as the source that it came from, and can be neither pickled nor copied: make it again from the
    source where it is needed.

    Cost
    ----
    A hundred nanoseconds or less for each place, and memory for the places; ten tables of about the square root of n.

    Examples
    --------
    >>> numbering = Source.seeded(7).numbering(5)
    >>> numbering.of(np.arange(5)).tolist() == Source.seeded(7).permutation(5).tolist()
    True
    """

    __slots__ = ("_bits", "_left", "_listed", "_rounds", "n")

    def __init__(
        self, n: int, listed: NDArray[np.int32] | NDArray[np.int64] | None, rounds: tuple[NDArray[np.int32], ...]
    ) -> None:
        self.n = n
        self._listed = listed
        self._rounds = rounds
        self._bits, self._left = _halves(n)

    def of(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of each of ``places``."""
        places = np.asarray(places)
        if places.ndim != 1 or (places.dtype.kind not in "iu" and places.size):
            what = f"{places.dtype} of shape {places.shape}"
            raise ParameterError("Numbering.of", "places", "an array of integers of one dimension", what)
        if places.size and not 0 <= places.min() <= places.max() < self.n:
            wrong = places.min() if places.min() < 0 else places.max()
            raise ParameterError("Numbering.of", "places", f"from 0 to {self.n - 1}", int(wrong))
        if self._listed is not None:
            return self._listed[places].astype(np.int64)
        numbers = np.empty(len(places), np.int64)
        for start in range(0, len(places), _AT_ONCE):
            some = numbers[start : start + _AT_ONCE]
            self._encipher(places[start : start + _AT_ONCE].astype(np.int64), some)
            while len(beyond := np.flatnonzero(some >= self.n)):
                again = np.empty(len(beyond), np.int64)
                self._encipher(some[beyond], again)
                some[beyond] = again
        return numbers

    def _encipher(self, items: NDArray[np.int64], found: NDArray[np.int64]) -> None:
        """Put items through all rounds of the cipher; inputs and results are below ``left << bits``."""
        mask = np.int32((1 << self._bits) - 1)
        left, right = (items >> self._bits).astype(np.int32), items.astype(np.int32) & mask
        for turn, values in enumerate(self._rounds):
            if turn % 2 == 0:
                left += values[right]
                left -= np.int32(self._left) * (left >= self._left)
            else:
                right += values[left]
                right &= mask
        np.left_shift(left, self._bits, out=found, dtype=np.int64)
        found |= right

    def __repr__(self) -> str:
        return f"Numbering({self.n:,})"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise NotSupported(
            "a Numbering cannot be pickled or copied, because it is as secret as its source",
            instead="make it again, from the same source, where it is needed",
        )


def _halves(n: int) -> tuple[int, int]:
    """Write ``0 .. n - 1`` as two digits: how many bits the right one has, and how many values the left one.

    >>> _halves(10**9), _halves(2), _halves(1)
    ((15, 30518), (0, 2), (0, 1))
    """
    bits = max(n - 1, 0).bit_length() // 2
    return bits, -(-n >> bits)


_n_forks = 0  # between this process and the first: the system may give a process the number of an earlier one


def _count_fork() -> None:
    global _n_forks
    _n_forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def _process() -> tuple[int, int]:
    """An identification of the current process."""
    return os.getpid(), _n_forks


def _derived(key: bytes, purpose: bytes) -> bytes:
    """Return a key derived from ``key`` and ``purpose``; neither ``key`` nor another key can be computed from it."""
    return HKDFExpand(algorithm=SHA256(), length=32, info=b"glasshouse randomness, " + purpose).derive(key)


def _encoded(label: str | int) -> bytes:
    """Encode a label so that different lists of labels have different encodings: kind, length, content."""
    if isinstance(label, str):
        kind, content = b"s", label.encode("utf-8", "surrogatepass")
    else:
        kind, content = b"i", label.to_bytes((label.bit_length() + 8) // 8, "big", signed=True)
    return kind + len(content).to_bytes(8, "big") + content


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _checked(owner: str, name: str, value: Any, low: int, high: int) -> int:
    if not _is_integer(value) or not low <= value <= high:
        raise ParameterError(owner, name, f"an integer from {low} to {_written(high)}", value)
    return index(value)


def _check_shuffled(owner: str, array: Any) -> None:
    if not (
        isinstance(array, np.ndarray)
        and array.ndim == 1
        and array.dtype in (np.int32, np.int64)
        and array.flags.c_contiguous
        and array.flags.writeable
        and len(array) < _WORD
    ):
        what = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        allowed = "a contiguous, writeable array of one dimension, int32 or int64, of fewer than 2**32 items"
        raise ParameterError(owner, "array", allowed, what)


def _checked_bounds(bounds: Any) -> NDArray[np.int64]:
    array = np.asarray(bounds)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        allowed = "an integer or an array of integers of one dimension"
        raise ParameterError("Source.belows", "bounds", allowed, f"{array.dtype} of shape {array.shape}")
    if array.size and not 1 <= array.min() <= array.max() <= LARGEST_BOUND:
        wrong = array.min() if array.min() < 1 else array.max()
        raise ParameterError("Source.belows", "bounds", f"from 1 to {_written(LARGEST_BOUND)}", int(wrong))
    return np.ascontiguousarray(array, dtype=np.int64)


def _written(number: int) -> str:
    return {LARGEST_BOUND: "2**62", _WORD - 1: "2**32 - 1"}.get(number, str(number))


def _refuse_fork() -> NoReturn:
    raise NotSupported(
        "a forked process cannot draw from its parent's Source, because both would make the same choices",
        instead="make a Source in each process",
    )
