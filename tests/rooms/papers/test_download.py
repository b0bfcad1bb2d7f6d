"""Fetching from UCI, from a server on this machine: the known table is taken, and everything else refused."""

from __future__ import annotations

import gzip
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from glasshouse.cli.commands import glasshouse
from glasshouse.errors import GlasshouseError, SourceError
from glasshouse.papers import data

LINES = [
    f"{20 + i % 50}, Private, 1, Masters, 13, Divorced, Sales, Unmarried, White, Female, 0, 0, 40, United-States, <=50K"
    for i in range(300)
]
FIRST, SECOND = ("\n".join(part).encode() for part in (LINES[:200], LINES[200:]))
Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Server:
    """What it answers, by path; and the form of Adult whose addresses are here and whose digest is that of LINES."""

    address: str
    answers: dict[str, Answer] = field(default_factory=dict)

    @property
    def form(self) -> data.Form:
        known = data.digest(data.parsed(b"\n".join((FIRST, SECOND)), data.ADULT))
        return replace(data.ADULT, addresses=(f"{self.address}/data", f"{self.address}/test"), sha256=known)


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 5

        def do_GET(self) -> None:
            answers[self.path](self)

        def log_message(self, *_given: object) -> None:
            pass

    listening = HTTPServer(("127.0.0.1", 0), Handler)
    found = Server(f"http://127.0.0.1:{listening.server_port}", {"/data": whole(FIRST), "/test": whole(SECOND)})
    answers = found.answers
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield found
    listening.shutdown()
    thread.join(10)
    listening.server_close()


def whole(content: bytes, promised: int | None = None, status: int = 200) -> Answer:
    """Answer with some bytes; ``promised`` is how many are said to come."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Length", str(len(content) if promised is None else promised))
        request.end_headers()
        request.wfile.write(content)

    return answer


def drop(request: BaseHTTPRequestHandler) -> None:
    """Say nothing at all."""
    request.close_connection = True


def chatter(request: BaseHTTPRequestHandler) -> None:
    """Speak something else."""
    request.wfile.write(b"220 this is no page\r\n")


def trickle(request: BaseHTTPRequestHandler) -> None:
    """Send a byte now and then, each of them soon enough, until the other side has had enough."""
    request.send_response(200)
    request.end_headers()
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            request.wfile.write(b"9")
        except OSError:
            return
        time.sleep(0.02)


def silence(request: BaseHTTPRequestHandler) -> None:
    """Wait until the other side goes."""
    request.connection.settimeout(5)
    request.rfile.read(1)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
def test_the_table_that_is_known_is_taken_plain_or_packed(server: Server, pack: Callable[[bytes], bytes]) -> None:
    server.answers |= {"/data": whole(pack(FIRST)), "/test": whole(pack(SECOND))}

    assert data.download(server.form).num_rows == 300


def test_a_table_with_one_other_value_is_refused(server: Server) -> None:
    server.answers["/test"] = whole(SECOND.replace(b"Divorced", b"Widowed", 1))

    with pytest.raises(SourceError, match="is not the expected table: give a file of your own with --data PATH"):
        data.download(server.form)


WRONG: dict[str, tuple[Answer, str]] = {
    "nothing there": (whole(b"", status=404), "Not Found"),
    "an error of the server": (whole(b"", status=500), "Internal Server Error"),
    "no answer": (drop, "Remote end closed connection"),
    "no page": (chatter, "220 this is no page"),
    "cut off": (whole(SECOND[:1000], promised=len(SECOND)), "it ended after 1,000 of"),
    "a packed file that is cut off": (whole(gzip.compress(SECOND)[:-30]), "ended before"),
    "a packed file that is damaged": (whole(gzip.compress(SECOND)[:10] + b"\xff" * 99), "invalid block type"),
    "too much": (whole(b"9" * 90_000), "more than 80,000 bytes"),
    "too much when it is unpacked": (whole(gzip.compress(b"9" * 90_000)), "more than 80,000 bytes when it is unpacked"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_goes_wrong_on_the_way_is_told_with_the_way_out_and_leaves_nothing(
    server: Server, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers["/test"], reason = WRONG[case]
    for place in ("here", "temporary"):
        (tmp_path / place).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))

    with pytest.raises(SourceError) as refused:
        data.download(server.form, most=80_000)
    assert reason in str(refused.value)
    assert f"{server.address}/test cannot be downloaded (" in str(refused.value)
    assert "give the file with --data PATH, or use --data synthetic" in str(refused.value)
    assert [path.name for path in tmp_path.rglob("*")] == ["here", "temporary"]


@pytest.mark.parametrize("answer", [trickle, silence], ids=["slow", "silent"])
def test_a_server_that_takes_too_long_is_left(server: Server, answer: Answer) -> None:
    server.answers["/test"] = answer

    before = time.monotonic()
    with pytest.raises(SourceError, match=r"not finished after 0\.2 s|timed out"):
        data.download(server.form, seconds=0.2)
    assert time.monotonic() - before < 4


def test_without_a_server_the_error_says_what_else_to_give(server: Server) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # and nobody listens
        nobody = replace(server.form, addresses=(f"http://127.0.0.1:{deaf.getsockname()[1]}/data",))

        with pytest.raises(GlasshouseError, match=r"cannot be downloaded \(.+\): give the file with --data PATH"):
            data.download(nobody, seconds=2)


def test_the_command_writes_no_folder_if_the_table_is_refused(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers["/test"] = whole(SECOND[:-1] + b"M")
    monkeypatch.setattr(data, "ADULT", server.form)
    monkeypatch.chdir(tmp_path)

    result = CliRunner().invoke(glasshouse, ["reproduce", "minimality", "--data", "adult", "--out", "out"])
    assert result.exit_code != 0
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert list(tmp_path.iterdir()) == []
