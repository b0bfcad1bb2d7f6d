"""The first page, in a real browser."""

from __future__ import annotations

from typing import Any

from tests.doors.studio.conftest import Studio
from tests.doors.studio.sitting import sitting


def test_the_address_opens_the_first_step(studio: Studio, page: Any) -> None:
    page.goto(studio.address)

    assert page.title() == "Data - Glasshouse studio"
    assert page.url == f"{studio.base}/data"


class Ending:
    """Work that ends while a page is made: it runs when a request comes, and not when the page is written."""

    def __init__(self) -> None:
        self._looks = iter([True])

    @property
    def runs(self) -> bool:
        return next(self._looks, False)

    def attend(self) -> None:
        """Nobody minds."""

    def cancel(self) -> None:
        """It has ended."""

    def wait(self, _seconds: float) -> bool:
        return True


def test_a_page_during_which_work_ended_is_asked_again() -> None:
    with sitting() as made, made.client() as client:
        made.desk._jobs["work"] = Ending()  # type: ignore[assignment]
        assert client.get("/data").headers["refresh"] == "0"
        assert "refresh" not in client.get("/data").headers
