"""The server: a socket, the application behind it, and its end."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from fuzzwise.errors import BadInput, need_extra
from fuzzwise.store import places as campaign_places
from fuzzwise.text import printable

if TYPE_CHECKING:
    from fuzzwise.serve.app import Site

NEEDED = ("starlette", "uvicorn", "prometheus_client")
PORT = 8765
TRIED = 20
"""Ports behind the usual one that are tried where nobody has chosen one."""
MOST_CONNECTIONS = 256
VANISHED = 60
"""Seconds after which a reader who takes nothing is let go."""


@dataclass(frozen=True)
class Place:
    """Where the page is; ``secret`` is "" for a page on this machine only."""

    sockets: tuple[socket.socket, ...]
    host: str
    port: int
    secret: str

    @property
    def link(self) -> str:
        """For a browser. The token is behind a #, which a browser keeps to itself."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        address = f"http://{host}:{self.port}/"
        return f"{address}#token={self.secret}" if self.secret else address


def listen(host: str, port: int | None, secret: str) -> Place:
    """Take a port of an address; one that is free near the usual one, if none is chosen."""
    wanted = [port] if port is not None else [*range(PORT, PORT + TRIED), 0]
    problem: OSError | None = None
    for number in wanted:
        try:
            taken = _bound(host, number)
        except OSError as error:
            problem = error
            continue
        name = socket.gethostname() if host in ("0.0.0.0", "::") else host  # noqa: S104
        return Place((taken,), name, taken.getsockname()[1], secret)
    why = (problem.strerror if problem else "") or problem
    raise BadInput(
        f"{printable(host)}, port {wanted[0]}: nobody can listen there ({why}). Choose another "
        "with --port, or an address of this machine with --host."
    )


def _bound(host: str, port: int) -> socket.socket:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, address = found[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Those who connect get these from the socket that listens.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, VANISHED * 1000)
        made.bind(address)
        made.listen(64)
    except OSError:
        made.close()
        raise
    return made


def new_secret() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(32)


def check_installed() -> None:
    """MissingExtra where what serves pages is not there."""
    for module in NEEDED:
        try:
            import_module(module)
        except ImportError as error:
            raise need_extra("The live page", module, "serve") from error


class Server:
    """The page of some campaigns at a place."""

    def __init__(
        self,
        places: Sequence[campaign_places.Place],
        place: Place,
        unexpected: Callable[[Exception], None] = lambda error: None,  # noqa: ARG005
    ) -> None:
        check_installed()
        import uvicorn

        from fuzzwise.serve.app import Site as Made
        from fuzzwise.serve.campaigns import campaigns_of
        from fuzzwise.serve.guard import Token

        cookie = f"fuzzwise-{place.port}"
        self._site_of: Callable[[], Site] = lambda: Made(campaigns_of(places), cookie)
        self._token = Token(place.secret) if place.secret else None
        self._place = place
        self._unexpected = unexpected
        self._uvicorn = uvicorn
        self._end: Callable[[], object] | None = None
        self._ended = False

    def end(self) -> None:
        """Say goodbye to the readers, then end; from the server's own thread or another."""
        self._ended = True
        if self._end is not None:
            self._end()

    def run(self) -> None:
        """Answer until ``end`` is called."""
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        site = self._site_of()
        site.unexpected = site.live.unexpected = self._unexpected
        config = self._uvicorn.Config(
            site.application(self._token),
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="on",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=20,
            timeout_graceful_shutdown=3,
            h11_max_incomplete_event_size=16 << 10,
        )
        server = self._uvicorn.Server(config)
        loop = asyncio.get_running_loop()

        async def finish() -> None:
            for campaign in site.campaigns.values():
                await asyncio.to_thread(campaign.look, at_once=True)
            site.live.close()
            server.should_exit = True

        self._end = lambda: asyncio.run_coroutine_threadsafe(finish(), loop)
        if self._ended:
            await finish()
        # Not serve(): signals are the command's, not the server's.
        await server._serve(list(self._place.sockets))
