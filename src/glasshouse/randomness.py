# SPDX-License-Identifier: Apache-2.0
"""The one source of randomness: unbiased choices that nobody outside can foresee or repeat.

Whoever could guess the random choices of a release could undo it, so all of them come from here: a 256-bit key from
the operating system, expanded by AES-256 in counter mode (NIST SP 800-38A; measured half as fast again as ChaCha20),
turned into integers without bias by Lemire's multiply-shift with rejection ("Fast Random Integer Generation in an
Interval", ACM TOMACS 29(1), 2019, doi:10.1145/3230636). Keys of children come from their parent's by HKDF-Expand
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

__all__ = ["Draws", "Source"]

LARGEST_BOUND = 2**62
_WORD = 2**32  # how many values a word can have

# Blocks of the stream, in words: small at first, for most children draw little, then as large as stays in cache.
_FIRST_BLOCK = 64
_LARGEST_BLOCK = 2**16
_BLOCK_GROWTH = 4

# Beyond so many candidates for each chosen one, a set of the chosen is smaller than a mark for each candidate.
_SPARSE = 64


class Draws(Protocol):
    """The random choices that methods use; a source that tries every outcome in turn can stand in for `Source`.

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
    cannot break AES-256, as long as the key stays secret. Of a seeded source the key is known to whoever knows the
    seed: such a source is for tests and experiments, and says so in `is_seeded`.

    The key is never printed, and a source can be neither pickled nor copied, for two copies would make the same
    choices. Threads may share one (they then get different choices, in an order that depends on timing), but a child
    each is faster and repeatable.

    *One source, one release.* Two releases made with the same choices can be laid side by side, and what one of them
    hid can then be told from the other. So whatever publishes asks for the choices of one release
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
        """Whether whoever knows a seed can repeat these choices; true of all descendants too."""
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
                raise ParameterError("Source.belows", "size", "left out, or the number of bounds", size)
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
        draws = self.belows(np.arange(n - k + 1, n + 1))
        if n <= _SPARSE * k:
            marks = np.zeros(n, np.uint8)
            self._kernels.mark_subset(draws, marks)
            return np.flatnonzero(marks).astype(np.int64, copy=False)
        chosen: set[int] = set()
        for j, draw in enumerate(draws.tolist(), start=n - k):
            chosen.add(j if draw in chosen else draw)
        return np.array(sorted(chosen), np.int64)

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
            "a Source cannot be pickled or copied, for the copy would repeat its choices",
            instead="hand over Source.child(...) within a process, and let each process make a Source of its own",
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


_n_forks = 0  # between this process and the first: the system may give a process the number of an earlier one


def _count_fork() -> None:
    global _n_forks
    _n_forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def _process() -> tuple[int, int]:
    """Which process this is."""
    return os.getpid(), _n_forks


def _derived(key: bytes, purpose: bytes) -> bytes:
    """Return the key that belongs to ``key`` and ``purpose``, from which neither ``key`` nor any other can be told."""
    return HKDFExpand(algorithm=SHA256(), length=32, info=b"glasshouse randomness, " + purpose).derive(key)


def _encoded(label: str | int) -> bytes:
    """Write a label so that no two lists of labels are written alike: kind, length, content."""
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
        "a forked process cannot draw from its parent's Source, for both would make the same choices",
        instead="make a source in each process, or take a child of it, labelled by what the process does",
    )
