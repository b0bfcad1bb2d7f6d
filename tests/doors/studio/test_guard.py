"""What the guard lets in: the person who opened the address, in the browser in which it was opened, and nobody else."""

from __future__ import annotations

import os
import socket
import stat
import time
from pathlib import Path

import httpx
import pytest

from glasshouse.studio import guard
from tests.doors.studio.conftest import Studio, start


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> object:
    """One studio for all tests that only ask, and a client that has entered."""
    made = start()
    with made.client() as client:
        yield made, client
    made.stop()


def asked(opened: tuple[Studio, httpx.Client], method: str, path: str, **headers: str) -> httpx.Response:
    """A request with other headers; an empty one is left out."""
    studio, client = opened
    own = {**client.cookies} if headers.pop("cookie", "yes") == "yes" else {}
    with httpx.Client(base_url=studio.base, cookies=own) as plain:
        return plain.request(method, path, headers={name.replace("_", "-"): words for name, words in headers.items()})


def test_without_the_cookie_nothing_is_shown(opened: tuple[Studio, httpx.Client]) -> None:
    for path in ("/", "/data", "/assets/studio.js", "/jobs/look/events", "/nowhere"):
        assert asked(opened, "GET", path, cookie="no").status_code == 403
    assert asked(opened, "GET", "/data").status_code == 200


def test_a_guessed_cookie_is_none(opened: tuple[Studio, httpx.Client]) -> None:
    studio, client = opened
    (name,) = client.cookies
    for value in ("", "x", client.cookies[name][:-1]):
        with httpx.Client(base_url=studio.base, cookies={name: value}) as plain:
            assert plain.get("/data").status_code == 403


def test_the_token_is_good_for_one_entrance(opened: tuple[Studio, httpx.Client]) -> None:
    studio, _ = opened
    assert httpx.get(studio.address).status_code == 403
    assert httpx.get(f"{studio.base}/enter").status_code == 403
    assert httpx.get(f"{studio.base}/enter?token=").status_code == 403


def test_the_cookie_is_hidden_from_scripts_and_other_sites() -> None:
    made = start()
    try:
        answer = httpx.get(made.address)
    finally:
        made.stop()
    said = answer.headers["set-cookie"]
    assert "HttpOnly" in said
    assert "SameSite=Strict" in said
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", "[::1]:80", "127.0.0.2"]
)
def test_another_host_is_refused(opened: tuple[Studio, httpx.Client], host: str) -> None:
    """A page elsewhere may have let its own name point to this machine."""
    assert asked(opened, "GET", "/data", host=host).status_code == 421


def test_localhost_is_this_machine_too(opened: tuple[Studio, httpx.Client]) -> None:
    port = opened[0].base.rpartition(":")[2]
    assert asked(opened, "GET", "/data", host=f"localhost:{port}").status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "https://127.0.0.1"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"origin": "null"}, 403),
        ({}, 403),
        ({"origin": "null", "sec_fetch_site": "cross-site"}, 403),
        ({"origin": "null", "sec_fetch_site": "same-site"}, 403),
        ({"sec_fetch_site": "none"}, 403),
        ({"origin": "null", "sec_fetch_site": "same-origin"}, 303),
        ({"origin": "{base}"}, 303),
    ],
)
def test_a_form_of_another_page_is_refused(
    opened: tuple[Studio, httpx.Client], headers: dict[str, str], status: int
) -> None:
    filled = {name: value.format(base=opened[0].base) for name, value in headers.items()}
    filled["content_type"] = "application/x-www-form-urlencoded"
    assert asked(opened, "POST", "/jobs/none/cancel", **filled).status_code == status


def test_every_answer_says_what_a_browser_may_do(opened: tuple[Studio, httpx.Client]) -> None:
    for path, cookie in (("/data", "yes"), ("/assets/studio.css", "yes"), ("/nowhere", "yes"), ("/data", "no")):
        answer = asked(opened, "GET", path, cookie=cookie)
        assert {name: answer.headers[name] for name in guard.HEADERS} == guard.HEADERS
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; ")
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert "server" not in answer.headers


@pytest.mark.parametrize(
    "path",
    ["/assets/../desk.py", "/assets/..%2fdesk.py", "/assets/%2e%2e/desk.py", "/assets//etc/passwd", "/../etc/passwd"],
)
def test_no_path_climbs_out(opened: tuple[Studio, httpx.Client], path: str) -> None:
    """Sent as it stands: a client would tidy it up."""
    studio, client = opened
    (name,) = client.cookies
    answer = _raw(studio, f"GET {path} HTTP/1.1\r\n", f"Cookie: {name}={client.cookies[name]}\r\n")
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert b"class Desk" not in answer
    assert b"root:" not in answer


def test_a_body_of_ten_gigabytes_is_refused_before_it_comes(opened: tuple[Studio, httpx.Client]) -> None:
    studio, client = opened
    (name,) = client.cookies
    own = f"Cookie: {name}={client.cookies[name]}\r\nOrigin: {studio.base}\r\nContent-Length: {10 << 30}\r\n"
    for path in ("/data/open", "/data/upload"):
        started = time.monotonic()
        assert _raw(studio, f"POST {path} HTTP/1.1\r\n", own).startswith(b"HTTP/1.1 413 ")
        assert time.monotonic() - started < 2


def test_a_body_longer_than_allowed_is_refused_while_it_comes(opened: tuple[Studio, httpx.Client]) -> None:
    _, client = opened

    def endless() -> object:
        for _ in range(40):
            yield b"path=" + b"x" * (1 << 16)

    answer = client.post("/data/open", content=endless(), headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert answer.status_code == 413


def test_a_slow_body_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = start(patience=0.3)
    try:
        with made.client() as client:
            (name,) = client.cookies
            own = f"Cookie: {name}={client.cookies[name]}\r\nOrigin: {made.base}\r\nContent-Length: 100\r\n"
            own += "Content-Type: application/x-www-form-urlencoded\r\n"
            assert _raw(made, "POST /data/open HTTP/1.1\r\n", own).startswith(b"HTTP/1.1 408 ")
            assert client.get("/data").status_code == 200  # and others are served
    finally:
        made.stop()


def _raw(studio: Studio, line: str, more: str) -> bytes:
    host, port = studio.base.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(f"{line}Host: {host}:{port}\r\n{more}\r\n".encode())
        found = b""
        while b"\r\n\r\n" not in found and (more := connection.recv(1 << 16)):
            found += more
        return found


def test_the_workspace_is_the_owners_alone_and_vanishes(tmp_path: Path) -> None:
    os.environ["TMPDIR"] = str(tmp_path)
    try:
        made = start()
    finally:
        del os.environ["TMPDIR"]
    (folder,) = tmp_path.glob("glasshouse-studio-*")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert made.stop() == 0
    assert not folder.exists()


def test_it_listens_on_this_machine_alone() -> None:
    from glasshouse.errors import NotSupported
    from glasshouse.studio import serve

    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(NotSupported, match="gateway"):
            serve(host=host, browser=False)
