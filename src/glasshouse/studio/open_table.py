# SPDX-License-Identifier: Apache-2.0
"""The open table: examined when it is opened, and checked whenever a decision about it changes."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.database import Address, is_address
from glasshouse.pages.svg import short

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.studio.desk import Desk
    from glasshouse.studio.job import Job

__all__ = ["adopt", "begin", "check", "check_job", "found", "look", "look_job"]

READ = ("file", "delimiter", "encoding", "decimal", "table", "query")
"""What the look at a table depends on."""
DECIDED = (
    *("quasi", "sensitive", "identifier", "missing", "taxonomy", "order"),
    *("bins", "categorical", "normalise", "bottom", "top"),
)
"""What the check of a table depends on besides."""
UPLOADS = "uploads"
"""The folder of the workspace in which tables lie."""
_MOST_SHOWN = 80  # characters of a table's name
_UNATTENDED = 10.0  # seconds after which work was not ended by the person who looks at it now
_PASSWORD = "PGPASSWORD"


def begin(
    desk: Desk,
    file: str,
    shown_name: str | None = None,
    *,
    hospital: int | None = None,
    password: str | None = None,
    **how: Any,
) -> None:
    """Open a table and start to examine it; decisions about an earlier table are forgotten.

    ``hospital`` is how many patients are to be made up and written into the file first. A password of a database stays
    in the environment of the studio, where libpq looks for it, until another table is opened; one in an address is
    refused with `InputError`.
    """
    if is_address(file):
        shown_name = shown_name or name_of(Address.of(file), how.get("table"))
    before, old = desk.shown_name if desk.has_table else "", desk.choices.get("file")
    if "password" in desk.notes:
        _restore(desk.notes["password"])
    desk.open(file, short(shown_name or Path(file).name, _MOST_SHOWN), **how)
    desk.notes |= {"of": secrets.token_hex(8), "before": before, "hospital": hospital}
    if password:
        desk.notes["password"] = os.environ.get(_PASSWORD)
        os.environ[_PASSWORD] = password
    _remove_upload(desk, old)
    look(desk)


def name_of(address: Address, table: str | None = None) -> str:
    """The name of a table of a database."""
    what = table or address.table or "a query"
    return f"{what} in {address.database or 'the database'} at {address.host or 'this machine'}"


def _restore(password: str | None) -> None:
    """Restore the environment variable that was there before a password was typed."""
    if password is None:
        os.environ.pop(_PASSWORD, None)
    else:
        os.environ[_PASSWORD] = password


def _remove_upload(desk: Desk, old: str | None) -> None:
    """Remove the file of the table before, if it was ours, unless the workspace is to be kept."""
    folder = desk.workspace.folder / UPLOADS
    if old and old != desk.choices["file"] and not desk.workspace.is_kept and Path(old).parent == folder:
        desk.workspace.remove(Path(old))


def look(desk: Desk) -> None:
    """Start to look at the table."""
    given = {name: desk.choices.get(name) for name in READ}
    task = "table_look.look"
    if desk.notes.get("hospital"):
        task, given = "table_look.hospital", {"file": desk.choices["file"], "rows": desk.notes["hospital"], "seed": 7}
    desk.start("look", task, given, about=desk.about(READ))


def look_job(desk: Desk) -> Job | None:
    """The job that examines the table; it is restarted if it was stopped because nobody was watching."""
    job = desk.job("look", about=desk.about(READ)) if desk.has_table else None
    if job is not None and job.state == "cancelled" and job.unattended > _UNATTENDED:
        look(desk)
        job = desk.job("look")
    if job is not None:
        job.attend()
    return job


def found(desk: Desk) -> dict[str, Any] | None:
    """The result of examining the table, or None; its suggestions become decisions, if there were none."""
    seen: dict[str, Any] | None = desk.found("look", about=desk.about(READ)) if desk.has_table else None
    if seen is not None and "adopted" not in desk.notes:
        desk.notes["adopted"] = True
        _adopt_decimal(desk, seen)
        adopt(desk, seen)
        check(desk)
    return seen


def _adopt_decimal(desk: Desk, seen: dict[str, Any]) -> None:
    """Decide on the decimal comma that was found; the look was made with it, so it stays the look at this table."""
    job = desk.job("look")
    if job is not None and seen["dialect"] and seen["dialect"]["decimal"] == ",":
        desk.choose(decimal=",")
        job.about = desk.about(READ)


def adopt(desk: Desk, seen: dict[str, Any]) -> None:
    """Adopt the suggestions where nothing is decided."""
    suggested = seen["suggested"]
    if not any(desk.choices.get(name) for name in ("quasi", "sensitive", "identifier")):
        sensitive = [suggested["sensitive"]] if suggested["sensitive"] else []
        desk.choose(quasi=suggested["quasi"], sensitive=sensitive, identifier=suggested["identifier"])
    columns = {column["name"]: column for column in seen["columns"]}
    published = [*desk.choices.get("quasi", []), *desk.choices.get("sensitive", [])]
    if "missing" not in desk.choices and any(columns[name]["missing"] for name in published if name in columns):
        desk.choose(missing="category")
    bins, names = desk.choices.get("bins", {}), desk.choices.get("categorical", [])
    for name in desk.choices.get("sensitive", []):
        if name in columns and columns[name]["is_amount"] and name not in bins and name not in names:
            bins = {**bins, name: preset_bins(columns[name])}
    desk.choose(bins=bins)
    desk.notes["trees"] = dict(desk.choices.get("taxonomy", {}))


def preset_bins(column: Mapping[str, Any]) -> str:
    """Ranges for a sensitive column of amounts, until something else is chosen."""
    if column["kind"] in ("date", "timestamp"):
        return "dates:year"
    return f"intervals:{column['width']}" if column["width"] else "quantiles:10"


def check(desk: Desk) -> None:
    """Start to check what is decided, unless that is done or running."""
    if desk.choices.get("quasi") and desk.job("check", about=desk.about((*READ, *DECIDED))) is None:
        choices = {name: desk.choices[name] for name in (*READ, *DECIDED) if name in desk.choices}
        desk.start("check", "table_check.check", {"choices": choices}, about=desk.about((*READ, *DECIDED)))


def check_job(desk: Desk) -> Job | None:
    """The check of the current decisions."""
    job = desk.job("check", about=desk.about((*READ, *DECIDED))) if desk.choices.get("quasi") else None
    if job is not None and job.state == "cancelled" and job.unattended > _UNATTENDED:
        desk.forget("check")
        check(desk)
        job = desk.job("check")
    if job is not None:
        job.attend()
    return job
