# SPDX-License-Identifier: Apache-2.0
"""Cache: finished rows are kept in a folder, and not computed again if all their inputs are the same."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from glasshouse import catalog
from glasshouse.comparing.comparison import Row, cannot_write, own_folder
from glasshouse.errors import OutputError
from glasshouse.version import VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from glasshouse.comparing.scoring import Setting
    from glasshouse.grouping.method import Method
    from glasshouse.microdata import Microdata
    from glasshouse.recoding.recoding import Recoding

__all__ = ["Kept", "key_of"]

ROWS = "rows.jsonl"
_BEGINS = '{"key": '  # how every line begins


class Kept:
    """The rows kept in a folder; none without a folder. A row that a killed run left half written is ignored."""

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else own_folder(folder) / ROWS
        self._rows: dict[str, Row] = {}
        if self._file is None or not self._file.exists():
            return
        lines = _text_of(self._file).splitlines()
        first = next(filter(None, lines), _BEGINS)
        if not first.startswith(_BEGINS[: len(first)]):
            raise OutputError(
                f"{self._file} was not written by a comparison, so nothing is added to it: choose another folder",
                path=self._file,
            )
        for line in lines:
            try:
                entry = json.loads(line)
                self._rows[entry["key"]] = Row.from_dict(entry["row"])
            except (ValueError, KeyError, TypeError):
                continue

    def get(self, key: str) -> Row | None:
        """The row of this key, if it was finished before."""
        return self._rows.get(key)

    def add(self, key: str, row: Row) -> None:
        """Write a row to the folder at once."""
        if self._file is None:
            return
        text = json.dumps({"key": key, "row": row.to_dict()}, ensure_ascii=False)
        try:
            # a line of its own, also after one that was not finished
            with os.fdopen(os.open(self._file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "ab") as file:
                file.write(f"\n{text}\n".encode())
        except OSError as error:
            raise cannot_write(self._file, error) from None


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise OutputError(f"{file} cannot be read: choose another folder", path=file) from None


# --- what a row depends on --------------------------------------------------------------------------------------------


def key_of(setting: Setting, method: Method, recoding: Recoding) -> str:
    """A digest of all that a row depends on, but for the machine."""
    effort = setting.effort
    columns = [column.name for column in setting.tables[0].sensitive]
    depends = {
        "version": VERSION,
        "tables": [_table(table) for table in setting.tables],
        "principle": catalog.principle_to_data(setting.principle, columns),
        "method": _plain(method),
        "recoding": _plain(recoding),
        "workload": _workload(setting),
        "seed": setting.seed,
        "answered": [setting.model, setting.learner],
        "effort": [effort.most_rows, effort.most_fits, effort.seconds, effort.most_worlds, effort.most_runs],
    }
    return sha256(json.dumps(depends, sort_keys=True, default=repr).encode()).hexdigest()


def _plain(thing: Any) -> Any:
    """A method or recoding as plain data; one that is not of the catalogue by its own words."""
    try:
        return catalog.to_data(thing)
    except (AttributeError, TypeError):
        return repr(thing)


def _table(table: Microdata) -> str:
    digest = sha256()
    for column in (*table.quasi, *table.sensitive):
        domain = column.domain
        known = (domain.name, domain.kind, domain.values.to_pylist(), domain.ordered, domain.missing, repr(domain.tree))
        digest.update(repr(known).encode())
        digest.update(column.codes.astype("<i8").tobytes())
    if table.identifier is not None:
        digest.update(repr(table.identifier.to_pylist()).encode())
    return digest.hexdigest()


def _workload(setting: Setting) -> str:
    digest = sha256(repr(dict(setting.workload.domains)).encode())
    for wanted in setting.workload.wanted:
        digest.update(wanted.tobytes())
    return digest.hexdigest()
