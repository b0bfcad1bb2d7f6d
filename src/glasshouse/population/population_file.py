# SPDX-License-Identifier: Apache-2.0
"""The file of a population: what was learned from a release, as plain JSON, so that it need not be learned again.

It holds what takes long to find: the weights of the model, the ridge of every block, and how well groups were fitted
that were held out. Everything else is read from the release again, and the draws are made again by the same random
numbers, which takes a small part of the time and keeps the file small. So a file is of no use without its release, and
it is refused with any other: it names the release by a digest of its tables. A checksum shows whether a file was
changed. Anybody who can change files can write a new checksum too; a file of weights deserves as much trust as the
place that it lies in.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np
import pyarrow as pa

from glasshouse.cells import text_of
from glasshouse.errors import SourceError
from glasshouse.population.fit import Fitted
from glasshouse.release.package.listing import write_whole
from glasshouse.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from glasshouse.population.points import Points
    from glasshouse.population.population import Population
    from glasshouse.population.regression import Regression
    from glasshouse.release import Release

__all__ = ["FORMAT_VERSION", "PopulationFile", "digest_of"]

FORMAT_VERSION: Final = 1
_FORMAT: Final = "glasshouse population"
_MOST_BYTES: Final = 1 << 27  # several million weights
_LARGEST: Final = 1e6  # of a weight: no model has larger ones


def digest_of(release: Release) -> str:
    """A digest of what a release publishes: the same for every way in which its tables may be stored."""
    digest = sha256(json.dumps(release.recipe.recoding, sort_keys=True, default=str).encode())
    for name, table in sorted(release.tables.items()):
        digest.update(repr((name, table.num_rows, table.column_names)).encode())
        for column in table.column_names:
            texts, codes = _coded(table[column])
            digest.update(repr(texts).encode())
            digest.update(codes.astype("<i8").tobytes())
    return f"sha256:{digest.hexdigest()}"


def _coded(column: pa.ChunkedArray) -> tuple[list[str | None], NDArray[np.int64]]:
    """The different cells of a column as texts, in their order, and which of them every row has."""
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # a column without rows
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    if pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_decode()
    coded = whole.dictionary_encode(null_encoding="encode")
    texts = [None if value is None else text_of(value) for value in coded.dictionary.to_pylist()]
    order = sorted(set(texts), key=lambda text: (text is None, text or ""))
    place = {text: i for i, text in enumerate(order)}
    places = np.array([place[text] for text in texts], np.int64)
    return order, places[np.asarray(coded.indices).astype(np.int64)] if len(places) else np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class PopulationFile:
    """The content of a file, checked as far as possible without the release."""

    path: Path
    data: dict[str, Any]

    @classmethod
    def of(cls, population: Population, path: str | Path) -> PopulationFile:
        """Collect what was learned."""
        fitted, points = population.fitted, population.points
        data = {
            "format": _FORMAT,
            "format_version": FORMAT_VERSION,
            "software": f"glasshouse {VERSION}",
            "release": population.release,
            "column": population.column,
            "values": _texts(population.values),
            "attributes": _attributes(points),
            "model": population.model,
            "gain": fitted.gain,
            "z": fitted.z,
            "blocks": [block.to_data() for block in population.regression.features.blocks],
            "ridges": fitted.ridges.tolist(),
            "weights": fitted.weights.tolist() if fitted.is_used else [],
        }
        return cls(Path(path), data)

    def write(self) -> None:
        """Write the file; if that fails, no part of it is left."""
        text = json.dumps({**self.data, "checksum": _checksum(self.data)}, ensure_ascii=False, allow_nan=False)
        write_whole(self.path, text + "\n", private=False)

    @classmethod
    def read(cls, path: str | Path) -> PopulationFile:
        """Read a file; `SourceError` says what is wrong with it."""
        path = Path(path)
        content = _content(path)
        try:
            data = json.loads(content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            raise SourceError(f"{path} is damaged: it is not JSON. Delete it, and learn again", source=path) from None
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            raise SourceError(
                f"{path} is not a file with what was learned from a release: name another file", source=path
            )
        version = data.get("format_version")
        if version != FORMAT_VERSION:
            shown = version if isinstance(version, int) and not isinstance(version, bool) else "of an unknown kind"
            raise SourceError(
                f"{path} has the format {shown}, and this version of Glasshouse reads the format "
                f"{FORMAT_VERSION}: learn again",
                source=path,
            )
        checksum = data.pop("checksum", None)
        found = cls(path, data)
        try:
            same = checksum == _checksum(data)
        except RecursionError:
            found.refuse("its lists are nested too deeply")
        if not same:
            found.refuse("its checksum is wrong")
        found._check_kinds()
        return found

    def refuse(self, reason: str) -> NoReturn:
        """The error for a damaged file."""
        raise SourceError(f"{self.path} is damaged: {reason}. Delete it, and learn again", source=self.path)

    def _check_kinds(self) -> None:
        kinds: dict[str, type | tuple[type, ...]] = {
            "release": str, "column": str, "values": list, "attributes": list, "model": str, "gain": (int, float),
            "z": (int, float), "blocks": list, "ridges": list, "weights": list,
        }  # fmt: skip
        for name, kind in kinds.items():
            if not isinstance(self.data.get(name), kind) or isinstance(self.data[name], bool):
                self.refuse(f"the entry {name!r} is missing or of the wrong kind")
        if not all(isinstance(own, dict) and isinstance(own.get("name"), str) for own in self.data["attributes"]):
            self.refuse("it has an attribute without a name")

    @property
    def column(self) -> str:
        """The sensitive column that was learned."""
        return str(self.data["column"])

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers that the model uses."""
        return tuple(own["name"] for own in self.data["attributes"])

    def check_release(self, digest: str) -> None:
        """Refuse the file unless it was learned from the release with this digest."""
        if self.data["release"] != digest:
            raise SourceError(
                f"{self.path} was learned from another release: name another file, or delete this one", source=self.path
            )

    def fitted(self, values: Sequence[Any], points: Points, regression: Regression) -> Fitted:
        """The weights, for a model that was made from the release again; refused if they are of another model."""
        blocks = [block.to_data() for block in regression.features.blocks]
        same = (
            self.data["values"] == _texts(values)
            and self.data["attributes"] == _attributes(points)
            and self.data["blocks"] == blocks
        )
        if not same:
            raise SourceError(
                f"{self.path} was learned with other taxonomies or orders, or by another version of "
                "Glasshouse: give the same taxonomies and orders, or learn again into another file",
                source=self.path,
            )
        ridges = self._numbers("ridges", (len(blocks),))
        if (ridges <= 0).any():
            self.refuse("a ridge, which is a parameter of the model, is not above 0")
        gain, z = (self._numbers(name, ()).item() for name in ("gain", "z"))
        weights = np.zeros(regression.shape)
        found = Fitted(weights, ridges, gain, z)
        if found.is_used:
            found = Fitted(self._numbers("weights", regression.shape), ridges, gain, z)
        elif self.data["weights"]:
            self.refuse("it says that nothing was learned, but it contains weights")
        return found

    def _numbers(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        try:
            found = np.array(self.data[name], np.float64)
        except (ValueError, TypeError, OverflowError):
            self.refuse(f"the entry {name!r} contains something other than numbers")
        if found.shape != shape:
            self.refuse(f"the entry {name!r} does not have as many rows and columns as the model")
        if not (np.abs(found) <= _LARGEST).all():
            self.refuse(f"the entry {name!r} contains a number that is too large for a model")
        return found


def _content(path: Path) -> bytes:
    """The bytes of a plain file; a pipe would never end, and a device would have no size."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            told = os.fstat(descriptor)
            if not stat.S_ISREG(told.st_mode):
                raise SourceError(
                    f"cannot read {path}: it is a folder or a device, not a file: give the path of a file", source=path
                )
            if told.st_size > _MOST_BYTES:
                raise SourceError(
                    f"{path} is too large to be a file with what was learned from a release: name another file",
                    source=path,
                )
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read(told.st_size)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}", source=path) from None


def _texts(values: Sequence[Any]) -> list[str | None]:
    return [None if value is None else text_of(value) for value in values]


def _attributes(points: Points) -> list[dict[str, Any]]:
    return [{"name": name, "values": _texts(own)} for name, own in zip(points.names, points.values, strict=True)]


def _checksum(data: dict[str, Any]) -> str:
    content = json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return f"sha256:{sha256(content.encode()).hexdigest()}"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("the same key twice")
    return found


def _no_constant(word: str) -> NoReturn:
    raise ValueError(word)
