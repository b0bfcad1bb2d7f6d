# SPDX-License-Identifier: Apache-2.0
"""The guard: lets in only what comes from the page that was opened on this machine, and says what a browser may do.

Other pages in the same browser can send requests to this machine, and other users of the machine can connect to it. So
every request must have the name of this server in ``Host`` (or a page elsewhere has let its own name point here), and
the cookie that was given in exchange for the token of the opening address; and one that changes something must come
from one of our own pages, by its ``Origin`` or, where the browser hides that, by ``Sec-Fetch-Site``.
Bodies are bounded in size and in time. What is answered may be shown and nothing else: no script but our own file, no
frame, nothing from elsewhere, no copy in a cache.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "Guard"]

ENTRANCE = "/enter"
UPLOADS = frozenset({"/data/upload", "/look/auditor/upload"})  # the paths that take a large body
MOST_UPLOADED = 8 << 30  # bytes
MOST_SENT = 1 << 20  # bytes of any other body
_SLOWEST = 15.0  # seconds between two pieces of a body
_LONGEST = 30.0  # seconds for a whole body that is no upload

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Checks all requests before the application gets them.

    Parameters
    ----------
    application
        What is guarded.
    port
        Of this server.
    token
        What the opening address has in it; it is good for one entrance.
    """

    def __init__(self, application: ASGIApp, *, port: int, token: str) -> None:
        self._application = application
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"} | ({"127.0.0.1", "localhost"} if port == 80 else set())
        self._token: str | None = token
        self._secret = secrets.token_urlsafe(32)
        self._cookie = f"glasshouse-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or refuse it."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        send = _with_headers(send)
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get(b"host") not in self._hosts or _several(scope, b"host"):
            await _refuse(
                send,
                421,
                "this server can only be reached as 127.0.0.1 or localhost: use the address that the terminal shows",
            )
            return
        if scope["path"] == ENTRANCE:
            await self._enter(scope, send)
            return
        if not self._has_cookie(headers.get(b"cookie", "")):
            await _refuse(
                send,
                403,
                "open the address that the terminal shows, which contains a secret: only the person who started the "
                "studio can use this page",
            )
            return
        if scope["method"] not in ("GET", "HEAD") and not self._is_own(headers):
            await _refuse(send, 403, "this request comes from another website, and is refused: load the page again")
            return
        await self._bounded(scope, headers, receive, send)

    async def _enter(self, scope: Scope, send: Send) -> None:
        """Exchange the token for a cookie."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        known, right = self._token, False
        if known is not None and scope["method"] == "GET":
            right = hmac.compare_digest(given.encode(), known.encode())
        if not right:
            await _refuse(
                send, 403, "this address was used before, or is incomplete: start the studio again to get a new one"
            )
            return
        self._token = None
        cookie = f"{self._cookie}={self._secret}; HttpOnly; SameSite=Strict; Path=/"
        await _answer(send, 303, "", [(b"location", b"/"), (b"set-cookie", cookie.encode())])

    def _has_cookie(self, header: str) -> bool:
        given = [value for name, _, value in (part.strip().partition("=") for part in header.split(";"))
                 if name == self._cookie]  # fmt: skip
        return len(given) == 1 and hmac.compare_digest(given[0].encode(), self._secret.encode())

    def _is_own(self, headers: dict[bytes, str]) -> bool:
        """Whether one of our pages sent a request: a browser writes these headers itself, and lets no page do so."""
        origin = headers.get(b"origin", "null")
        if origin != "null":
            return origin.removeprefix("http://") in self._hosts
        return headers.get(b"sec-fetch-site") == "same-origin"  # our pages hide where they are, from ours too

    async def _bounded(self, scope: Scope, headers: dict[bytes, str], receive: Receive, send: Send) -> None:
        """Pass on a request body as long as it is neither too long nor too slow."""
        most = MOST_UPLOADED if scope["path"] in UPLOADS else MOST_SENT
        length = headers.get(b"content-length", "0")
        if not length.isdecimal() or int(length) > most:
            await _refuse(send, 413, f"at most {most:,} bytes can be sent here")
            return
        until = asyncio.get_running_loop().time() + (float("inf") if most == MOST_UPLOADED else _LONGEST)
        n_bytes, whole, begun = 0, False, False
        refused: tuple[int, str] | None = None

        async def bounded() -> Message:
            nonlocal n_bytes, whole, refused
            if whole or refused:  # what follows the body is that the connection ends
                return await receive() if whole else {"type": "http.disconnect"}
            left = min(_SLOWEST, until - asyncio.get_running_loop().time())
            try:
                message = await asyncio.wait_for(receive(), max(left, 0.0))
            except TimeoutError:
                refused = (408, "the request took too long: send it again")
                return {"type": "http.disconnect"}
            n_bytes += len(message.get("body", b""))
            if n_bytes > most:
                refused = (413, f"at most {most:,} bytes can be sent here")
                return {"type": "http.disconnect"}
            whole = not message.get("more_body", False)
            return message

        async def noted(message: Message) -> None:
            nonlocal begun
            if refused is None or begun:
                begun = True
                await send(message)

        try:
            await self._application(scope, bounded, noted)
        except Exception:
            if refused is None:
                raise
        if refused is not None and not begun:
            await _refuse(send, *refused)


def _several(scope: Scope, name: bytes) -> bool:
    return len([each for each, _ in scope["headers"] if each.lower() == name]) > 1


def _with_headers(send: Send) -> Send:
    """Add the headers to every answer that restrict the browser."""
    own = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
    names = {name for name, _ in own}

    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            others = [(name, value) for name, value in message.get("headers", []) if name.lower() not in names]
            message = {**message, "headers": [*others, *own]}
        await send(message)

    return answer


async def _refuse(send: Send, status: int, words: str) -> None:
    """Refuse in plain words; nothing more is read from this connection."""
    await _answer(send, status, words, [(b"connection", b"close")])


async def _answer(send: Send, status: int, words: str, more: Iterable[tuple[bytes, bytes]] = ()) -> None:
    body = f"{words}\n".encode() if words else b""
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
