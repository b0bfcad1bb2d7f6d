"""A studio in this process, whose desk a test sets as the steps before would have left it, and can look at."""

from __future__ import annotations

import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import httpx
import uvicorn

from glasshouse.studio.application import application
from glasshouse.studio.desk import Desk
from glasshouse.studio.guard import ENTRANCE, Guard
from glasshouse.studio.workspace import Workspace


class Tab(httpx.Client):
    """A client whose forms were made for the choices that are decided now, unless a test says otherwise."""

    def __init__(self, desk: Desk, **given: Any) -> None:
        super().__init__(**given)
        self._desk = desk

    def post(self, url: Any, *, data: Any = None, **given: Any) -> httpx.Response:
        if isinstance(data, dict):
            data = {"mark": self._desk.mark, **data}
        return super().post(url, data=data, **given)


@dataclass
class Sitting:
    """A studio that is served, its desk, and the address that opens it once."""

    desk: Desk
    address: str
    cookies: httpx.Cookies = field(default_factory=httpx.Cookies)

    @property
    def base(self) -> str:
        return self.address.partition(ENTRANCE)[0]

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        """A client that has entered; the address opens the studio once, and its cookie stays."""
        headers = {"Origin": self.base}
        with Tab(self.desk, base_url=self.base, headers=headers, cookies=self.cookies, timeout=60) as client:
            if not self.cookies:
                assert client.get(self.address).status_code == 303
                self.cookies = client.cookies
            yield client

    @cached_property
    def entered(self) -> httpx.Client:
        """A client that has entered and stays until the sitting ends."""
        client = Tab(self.desk, base_url=self.base, headers={"Origin": self.base}, timeout=60)
        assert client.get(self.address).status_code == 303
        return client

    def settle(self, name: str) -> None:
        """Wait until the work of a name has ended, as somebody who looks at its page does."""
        job = self.desk.job(name)
        assert job is not None, name
        for _ in range(60):
            job.attend()
            if job.wait(1):
                return
        raise AssertionError(f"{name} has not ended")

    def wait(self, name: str) -> Any:
        """Wait for the work of a name, and give what came of it."""
        self.settle(name)
        job = self.desk.job(name)
        assert job is not None
        assert job.state == "done", (job.state, job.message)
        return job.result


@contextmanager
def sitting(prepare: Callable[[Desk], None] = lambda _: None, *, seed: int | None = 1) -> Iterator[Sitting]:
    """Serve a studio at a desk that was prepared."""
    with Workspace() as workspace, socket.create_server(("127.0.0.1", 0)) as listener:
        port, token = listener.getsockname()[1], secrets.token_urlsafe(16)
        desk = Desk(workspace, seed=seed)
        prepare(desk)
        guarded = Guard(application(desk), port=port, token=token)
        config = uvicorn.Config(
            guarded, log_config=None, log_level="critical", access_log=False, ws="none", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        made = Sitting(desk, f"http://127.0.0.1:{port}{ENTRANCE}?token={token}")
        try:
            yield made
        finally:
            if "entered" in vars(made):
                made.entered.close()
            server.should_exit = True
            thread.join(20)
            desk.end()
