"""Calls that may take long, or for ever: in a thread of their own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self


class Aside:
    """One thread for all calls, as an executor has one for each core.

    It lives until the end: the kernel ends what a thread has started with that thread. A call that
    never returns does not hold up the end of the process.
    """

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None]
        self._calls = queue.SimpleQueue()
        threading.Thread(target=self._work, name="aside", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._calls.put(None)

    def start(self, call: Callable[[], Any]) -> Future[Any]:
        """What will come of a call; those before it come first."""
        future: Future[Any] = Future()
        self._calls.put((call, future))
        return future

    def _work(self) -> None:
        while (todo := self._calls.get()) is not None:
            call, future = todo
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)
