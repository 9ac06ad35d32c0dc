"""The live page for tests: the real server, in a thread, and a client that sends anything."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from fuzzwise.serve.server import Server, listen
from waiting import PATIENCE


class Answer:
    """What the server has said."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.code = answer.status
        self.headers = {name.lower(): value for name, value in answer.getheaders()}
        self.body = answer.read()
        self.text = self.body.decode(errors="replace")


class Serving:
    """The page of campaigns while in here; ``unexpected`` are the mistakes it has made."""

    def __init__(self, folders: Sequence[Path], secret: str = "", port: int = 0) -> None:
        self.place = listen("127.0.0.1", port, secret)
        self.port = self.place.port
        self.address = f"http://127.0.0.1:{self.port}"
        self.unexpected: list[Exception] = []
        self._server = Server(folders, self.place, self.unexpected.append)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def __enter__(self) -> Serving:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.end()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the server did not end"
        assert not self.unexpected, self.unexpected

    def get(
        self,
        path: str,
        headers: Mapping[str, str] | None = None,
        method: str = "GET",
        body: str | None = None,
    ) -> Answer:
        """The answer to a request, sent as it is: no path is tidied up."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            client.request(method, path, body, dict(headers or {}))
            return Answer(client.getresponse())
        finally:
            client.close()

    def raw(self, data: bytes) -> bytes:
        """All that is said to bytes; they need not be a request."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            said = b""
            while part := client.recv(1 << 16):
                said += part
            return said


def wait_for(what, patience: float = PATIENCE):
    """The first true value of a function; it must come."""
    end = time.monotonic() + patience
    while not (found := what()):
        assert time.monotonic() < end, "what must happen did not"
        time.sleep(0.05)
    return found
