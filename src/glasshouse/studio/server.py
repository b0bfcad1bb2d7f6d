# SPDX-License-Identifier: Apache-2.0
"""The server: it listens on this machine only, prints its address, and removes its files when it ends."""

from __future__ import annotations

import contextlib
import ipaddress
import secrets
import socket
import tempfile
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from glasshouse.errors import InputError, MissingExtra, NotSupported, OutputError
from glasshouse.studio.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from glasshouse.studio.desk import Desk

__all__ = ["serve"]

_HOST = "127.0.0.1"


def serve(
    file: str | Path | None = None,
    *,
    port: int = 0,
    host: str = _HOST,
    browser: bool = True,
    workspace: str | Path | None = None,
    told: Callable[[str], None] = lambda _address: None,
    seed: int | None = None,
) -> None:
    """Start the studio, and stay until it is stopped.

    Parameters
    ----------
    file
        A table to begin with, or the folder of a release, which is then opened alone.
    port
        To listen on; 0 takes one that is free.
    host
        This machine; anything else is refused.
    browser
        Whether to open the address in a browser.
    workspace
        A folder for files of the studio, which is kept; by default one that is removed at the end.
    told
        Is called with the address once the studio listens.
    seed
        For tests alone.
    """
    _check_host(host)
    try:
        import python_multipart  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn
    except ImportError:
        raise MissingExtra("the studio", extra="studio") from None
    from glasshouse.studio.application import application
    from glasshouse.studio.desk import Desk
    from glasshouse.studio.guard import ENTRANCE, Guard

    with _listening(port) as listener, Workspace(workspace) as own:
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(32)
        desk = Desk(own, seed=seed)
        _begin_with(desk, file)
        tempfile.tempdir = str(own.folder)  # what is spooled during an upload
        server = uvicorn.Server(
            uvicorn.Config(
                Guard(application(desk), port=port, token=token),
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                ws="none",
                limit_concurrency=64,
                timeout_graceful_shutdown=1,
            )
        )
        address = f"http://{_HOST}:{port}{ENTRANCE}?token={token}"
        try:
            with contextlib.suppress(KeyboardInterrupt):  # it may be stopped at any moment
                told(address)
                if browser:
                    webbrowser.open(address)
                server.run(sockets=[listener])
        finally:
            desk.end()
            tempfile.tempdir = None


def _check_host(host: str) -> None:
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise NotSupported(
            f"the studio does not listen on {host}, where it would show a table about people to anybody who can "
            "connect",
            instead="start it on the machine of the person who uses it. To reach it from another machine, use a "
            "tunnel, ssh -L 8765:127.0.0.1:8765 MACHINE, or a gateway that checks who the person is and encrypts",
        )
    if host not in (_HOST, "localhost"):
        raise NotSupported(f"the studio does not listen on {host}", instead=f"use {_HOST}")


def _listening(port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise InputError(f"--port must be a number from 0 to 65535, and it is {port}")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_HOST, port))
    except OSError as error:
        listener.close()
        raise OutputError(
            f"port {port} cannot be used ({error.strerror}): leave --port out, and a free one is taken"
        ) from None
    listener.listen(64)
    return listener


def _begin_with(desk: Desk, file: str | Path | None) -> None:
    """Open what was named when the studio was started."""
    if file is None:
        return
    path = Path(file)
    if path.is_dir():
        if not (path / "datapackage.json").is_file() and (path / "release" / "datapackage.json").is_file():
            path = path / "release"
        if not (path / "datapackage.json").is_file():
            raise InputError(
                f"{file} is a folder without datapackage.json, so it is not a release: name the folder of a release, "
                "or the file of a table"
            )
        desk.release = path.resolve()
        return
    if "://" not in str(file) and not path.is_file():
        raise InputError(f"there is no file {file}: check its name, and give the whole path")
    from glasshouse.studio.steps.data import begin

    begin(desk, str(file) if "://" in str(file) else str(path.resolve()))
