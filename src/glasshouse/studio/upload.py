# SPDX-License-Identifier: Apache-2.0
"""An upload: one file of a form, written piece by piece into the workspace while it comes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from glasshouse.errors import InputError, OutputError

if TYPE_CHECKING:
    from pathlib import Path

    from python_multipart.multipart import MultipartCallbacks
    from starlette.requests import Request

    from glasshouse.studio.workspace import Workspace

__all__ = ["Upload", "upload_of"]

_FIELD = b"file"
_MOST_HEADER = 8192  # bytes of all headers of a part
_NO_FORM = "the form could not be read: choose a file, and send it again"


class Upload:
    """An uploaded file: the name that its sender gave it, and its path."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path


async def upload_of(request: Request, workspace: Workspace, room: str, *, most: int | None = None) -> Upload:
    """Write the file of a form into a folder of the workspace; of its name, only what is harmless is used.

    How much may be sent is for the guard to say, and may be less here. What is incomplete is removed.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise InputError(_NO_FORM)
    parts = _Parts(workspace, room)
    try:
        parser = MultipartParser(boundary, parts.callbacks())
        n_bytes = 0
        async for piece in request.stream():
            n_bytes += len(piece)
            if most is not None and n_bytes > most:
                raise InputError(
                    f"this file is too large: at most {most:,} bytes can be sent here. Write its path instead"
                )
            parser.write(piece)
        parser.finalize()
        return parts.finished()
    except FormParserError:
        parts.remove()
        raise InputError(_NO_FORM) from None
    except OSError as error:
        parts.remove()
        raise OutputError(f"the file cannot be kept in the studio's own folder: {error.strerror}") from None
    except BaseException:  # what was sent is not complete, or the one who sent it is gone
        parts.remove()
        raise


class _Parts:
    """Takes the parts of a form as they are parsed; the file is written, everything else is passed over."""

    def __init__(self, workspace: Workspace, room: str) -> None:
        self._workspace, self._room = workspace, room
        self._header, self._value = bytearray(), bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._file: Any = None
        self._name, self._path = "", None  # type: tuple[str, Path | None]
        self._whole = False

    def callbacks(self) -> MultipartCallbacks:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._on_field,
            "on_header_value": self._on_value,
            "on_header_end": self._on_header_end,
            "on_headers_finished": self._on_headers,
            "on_part_data": self._on_data,
            "on_part_end": self._on_end,
        }

    def finished(self) -> Upload:
        if self._path is None or not self._whole:
            self.remove()
            raise InputError("no file was chosen")
        return Upload(self._name, self._path)

    def remove(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            self._path = None

    def _begin(self) -> None:
        self._headers = {}
        self._header, self._value = bytearray(), bytearray()

    def _on_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]
        self._bound()

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]
        self._bound()

    def _bound(self) -> None:
        if len(self._header) + len(self._value) > _MOST_HEADER:
            raise InputError(_NO_FORM)

    def _on_header_end(self) -> None:
        if len(self._headers) > 16:
            raise InputError(_NO_FORM)
        self._headers[bytes(self._header).lower()] = bytes(self._value)
        self._header, self._value = bytearray(), bytearray()

    def _on_headers(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        name = options.get(b"filename", b"").decode("utf-8", "replace")
        if options.get(b"name") != _FIELD or not name:
            return
        if self._path is not None:
            raise InputError("several files were sent: choose one")
        self._name = name
        self._path = self._workspace.new(self._room, name)
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        self._file = os.fdopen(handle, "wb")

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.write(data[start:end])

    def _on_end(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
            self._whole = True
