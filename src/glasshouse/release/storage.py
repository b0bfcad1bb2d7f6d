# SPDX-License-Identifier: Apache-2.0
"""Saving and loading: a release is a folder with a ``datapackage.json`` and its tables (Frictionless Data Package).

Files appear whole or not at all: everything is written to a temporary sibling, flushed to disk, and renamed. Published
files hold published content only: no index, no source path, no time stamp, no user name, no unused dictionary entry.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from glasshouse.errors import OutputError, ParameterError, SourceError
from glasshouse.release.guarantee import Guarantee
from glasshouse.release.recipe import Recipe
from glasshouse.release.release import PublishedColumn, Release
from glasshouse.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["load", "new_folder", "refuse_existing", "save", "write_manifest", "write_table"]

FORMAT_VERSION = 1
MANIFEST = "datapackage.json"
AUDIT_FILES = {"report.json", "partition.parquet"}
_PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
_MANY = 1 << 16
_MEDIA_TYPES = {"parquet": "application/vnd.apache.parquet", "csv": "text/csv"}


def save(
    release: Release, path: str | Path, *, format: str = "parquet", force: bool = False, allow_seed: bool = False
) -> None:
    """Write a release to the folder ``path``.

    Parameters
    ----------
    format
        ``parquet`` or ``csv``.
    force
        Replace an existing release; any other existing folder is refused.
    allow_seed
        Write a release whose random choices came from a fixed seed: for tests and experiments, marked as such.
    """
    if format not in _MEDIA_TYPES:
        raise ParameterError("save", "format", "'parquet' or 'csv'", format)
    if release.recipe.seeded and not allow_seed:
        raise OutputError(
            "this release was made with a fixed seed, so its random choices can be repeated by anyone: make it again "
            "without a seed, or pass allow_seed=True if it is for a test"
        )
    with new_folder(path, force=force) as folder:
        for name, table in release.tables.items():
            write_table(table, folder / f"{name}.{format}", format)
        write_manifest(release, folder, format)


def write_manifest(release: Release, folder: Path, format: str) -> None:
    """Describe the tables that were written to ``folder``; of the release's own tables only the schemas matter."""
    manifest = _manifest(release, folder, format)
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def load(path: str | Path) -> Release:
    """Read a release back from its folder, after checking the sums of its files."""
    folder = Path(path)
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        ours = manifest["glasshouse"]
        resources = manifest["resources"]
    except FileNotFoundError:
        raise SourceError(f"{folder} holds no release: there is no {MANIFEST}", source=folder) from None
    except (OSError, ValueError, KeyError, TypeError):
        raise SourceError(f"{folder / MANIFEST} is not the description of a release", source=folder) from None
    if ours.get("format_version") != FORMAT_VERSION:
        raise SourceError(f"{folder} has format {ours.get('format_version')}, this version reads {FORMAT_VERSION}")
    return Release(
        tables={resource["name"]: _read_table(folder, resource) for resource in resources},
        columns=tuple(PublishedColumn(**column) for column in ours["columns"]),
        recipe=Recipe.from_data(ours["recipe"]),
        guarantee=Guarantee.from_data(ours["guarantee"]),
        n_tuples=ours["n_tuples"],
        n_dropped=ours["n_dropped"],
    )


@contextlib.contextmanager
def new_folder(path: str | Path, *, force: bool = False, private: bool = False) -> Iterator[Path]:
    """Give a temporary sibling folder to fill; it becomes ``path`` at the end, or vanishes if anything fails."""
    target = Path(path)
    refuse_existing(target, force=force)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    made = [folder for folder in target.parents if not folder.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir(mode=0o700)
        yield temporary
        for file in temporary.iterdir():
            file.chmod(0o600 if private else 0o644)
            _flush(file)
        temporary.chmod(0o700 if private else 0o755)
        _flush(temporary)
        _put_in_place(temporary, target)
        _flush(target.parent)
    except (OSError, pa.ArrowException) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "writing failed"
        raise OutputError(f"cannot write {target}: {reason}; nothing was written", path=target) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if not target.exists():
            for folder in made:
                with contextlib.suppress(OSError):  # somebody else put something there
                    folder.rmdir()


def refuse_existing(target: Path, *, force: bool) -> None:
    """Refuse a place that is taken, before any work is done: any without ``force``, a foreign one always."""
    if target.exists() and not force:
        raise OutputError(f"{target} exists already: choose another folder, or pass force to replace it", path=target)
    if target.exists() and not _may_replace(target):
        raise OutputError(f"{target} exists and is not a folder that Glasshouse wrote: it is not replaced", path=target)


def _may_replace(target: Path) -> bool:
    """Only what we wrote, and nothing that somebody put beside it, may be replaced."""
    if not target.is_dir():
        return False
    files = {path.name for path in target.iterdir()}
    return files <= AUDIT_FILES or files == _files_of_release(target)


def _files_of_release(folder: Path) -> set[str]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return {MANIFEST, *(str(r["path"]) for r in manifest["resources"])} if "glasshouse" in manifest else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _put_in_place(temporary: Path, target: Path) -> None:
    if not target.exists():
        temporary.rename(target)
        return
    old = target.with_name(f".{target.name}.{secrets.token_hex(4)}.old")
    target.rename(old)
    temporary.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_table(table: pa.Table, path: Path, format: str) -> None:
    """Write a table as ``parquet`` or ``csv``, without any metadata."""
    plain = table.replace_schema_metadata(None)
    if format == "parquet":
        numbers = [name for name in plain.column_names if _is_number_of_many(plain[name])]
        pq.write_table(
            plain,
            path,
            compression="zstd",
            write_statistics=False,
            use_dictionary=[name for name in plain.column_names if name not in numbers],
            column_encoding=dict.fromkeys(numbers, "DELTA_BINARY_PACKED") or None,
        )
    else:
        pa_csv.write_csv(pa.table({n: _undictionary(plain[n]) for n in plain.column_names}), path)


def _is_number_of_many(column: pa.ChunkedArray) -> bool:
    """Whether integers spread so widely, as the numbers of groups do, that a dictionary of them would not pay."""
    if not pa.types.is_integer(column.type):
        return False
    ends = pc.min_max(column).as_py()
    return ends["max"] is not None and ends["max"] - ends["min"] >= _MANY


def _undictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _read_table(folder: Path, resource: Mapping[str, Any]) -> pa.Table:
    name = str(resource["path"])
    if Path(name).name != name:
        raise SourceError("a table of the release lies outside its folder: refused", source=folder)
    try:
        content = (folder / name).read_bytes()
    except OSError:
        raise SourceError(f"{folder}: the table {name} cannot be read", source=folder) from None
    if f"sha256:{hashlib.sha256(content).hexdigest()}" != resource["hash"]:
        raise SourceError(f"{folder}: {name} is not the file that was published (its checksum differs)", source=folder)
    if resource["format"] == "parquet":
        return pq.read_table(pa.BufferReader(content))
    kinds = {"string": pa.string(), "time": pa.time64("us")}  # what the reader would not guess
    types = {f["name"]: kinds[f["type"]] for f in resource["schema"]["fields"] if f["type"] in kinds}
    options = pa_csv.ConvertOptions(column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False)
    return pa_csv.read_csv(pa.BufferReader(content), convert_options=options)


def _manifest(release: Release, folder: Path, format: str) -> dict[str, Any]:
    columns = {column.name: column for column in release.columns}
    resources = []
    for name, table in release.tables.items():
        file = folder / f"{name}.{format}"
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256")
        resources.append(
            {
                "name": name,
                "path": file.name,
                "format": format,
                "mediatype": _MEDIA_TYPES[format],
                "bytes": file.stat().st_size,
                "hash": f"sha256:{digest.hexdigest()}",
                "schema": {"fields": [_field(columns[f.name], f.type) for f in table.schema]},
            }
        )
    return {
        "$schema": _PROFILE,
        "name": "glasshouse-release",
        "resources": resources,
        "glasshouse": {
            "format_version": FORMAT_VERSION,
            "software": f"glasshouse {VERSION}",
            "n_tuples": release.n_tuples,
            "n_dropped": release.n_dropped,
            "guarantee": release.guarantee.to_data(),
            "recipe": release.recipe.to_data(),
            "columns": [vars(column) for column in release.columns],
        },
    }


def _field(column: PublishedColumn, kind: pa.DataType) -> dict[str, str]:
    return {"name": column.name, "type": _field_type(kind), "description": column.meaning}


def _field_type(kind: pa.DataType) -> str:
    """Name the type of a published column in the words of a data package; cells are text."""
    types = pa.types
    if types.is_boolean(kind):
        return "boolean"
    if types.is_integer(kind):
        return "integer"
    if types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_date(kind):
        return "date"
    if types.is_timestamp(kind):
        return "datetime"
    return "time" if types.is_time(kind) else "string"
