"""A PostgreSQL server of our own: made in a temporary folder, started, and stopped by its own process id.

No server that is already there is touched. Run as root, the server runs as an unprivileged user, as it must.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

OWNER = "steward"
PASSWORD = "CANARY-correct-horse"  # of the owner; must never be seen anywhere
_SECONDS = 60


@dataclass(frozen=True)
class Server:
    """A running server: on a socket in a folder that only its user can enter, and on loopback with a password."""

    folder: Path
    port: int

    def address(self, database: str = "postgres", **options: str) -> str:
        """Through the socket, which needs no password."""
        more = "".join(f"&{key}={value}" for key, value in options.items())
        return f"postgresql://{OWNER}@/{database}?host={self.folder}&port={self.port}{more}"

    def loopback(self, database: str = "postgres", user: str = OWNER) -> str:
        """Over the network, which needs one."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"


def programs() -> Path | None:
    """The folder with ``initdb`` and ``postgres``; None where PostgreSQL is not installed."""
    candidates = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True)]
    if shutil.which("pg_config"):
        told = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=False)
        candidates.append(Path(told.stdout.strip()))
    if (found := shutil.which("initdb")) is not None:
        candidates.append(Path(found).resolve().parent)
    return next((folder for folder in candidates if all((folder / p).is_file() for p in ("initdb", "postgres"))), None)


def _version(folder: Path) -> int:
    return int(folder.parent.name) if folder.parent.name.isdigit() else 0


@contextmanager
def running(*settings: str) -> Iterator[Server]:
    """Make a server, start it, and stop it at the end."""
    binaries = programs()
    assert binaries is not None, "PostgreSQL is not installed"
    user = _unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="glasshouse-pg-"))
    try:
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        password = folder / "password"
        password.write_text(PASSWORD, encoding="utf-8")
        password.chmod(0o644)  # in a folder that is closed to others
        trust = ["--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={password}", "--no-sync"]
        made = ["-D", str(folder / "data"), "-U", OWNER, "-E", "UTF8", "--locale=C", *trust]
        _run_as(user, [str(binaries / "initdb"), *made])
        password.unlink()
        server, process = _started(binaries, folder, user, settings)
        try:
            yield server
        finally:
            _stopped(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> pwd.struct_passwd | None:
    """Who the server runs as, where we are root; None for ourselves."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise AssertionError("there is no unprivileged user to run PostgreSQL as")


def _as(user: pwd.struct_passwd | None) -> dict[str, object]:
    plain = {"env": {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}, "cwd": "/", "stdin": subprocess.DEVNULL}
    return plain if user is None else {**plain, "user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _run_as(user: pwd.struct_passwd | None, command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False, **_as(user))  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr


def _started(
    binaries: Path, folder: Path, user: pwd.struct_passwd | None, settings: tuple[str, ...]
) -> tuple[Server, subprocess.Popen[bytes]]:
    """Start it on a free port; another process may take the port in between, so try again."""
    log = folder / "log"
    for _ in range(5):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        quick = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=64MB", *settings]
        options = [f"unix_socket_directories={folder}", f"port={port}", "listen_addresses=127.0.0.1", *quick]
        command = [str(binaries / "postgres"), "-D", str(folder / "data")]
        for option in options:
            command += ["-c", option]
        with log.open("wb") as file:
            process = subprocess.Popen(command, stdout=file, stderr=file, **_as(user))  # type: ignore[call-overload]
        if _is_ready(process, folder / "data" / "postmaster.pid"):
            return Server(folder, port), process
        _stopped(process)
    raise AssertionError(log.read_text(encoding="utf-8", errors="replace"))


def _is_ready(process: subprocess.Popen[bytes], sign: Path) -> bool:
    """Whether it came up, as it writes into its own file, within a bounded time."""
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end and process.poll() is None:
        if sign.exists() and sign.read_text(encoding="utf-8").rstrip().endswith("ready"):
            return True
        time.sleep(0.05)
    return False


def _stopped(process: subprocess.Popen[bytes]) -> None:
    """Ask it to stop at once, then make it."""
    for sign in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(sign)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                continue
    process.wait()
