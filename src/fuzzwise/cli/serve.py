"""``fuzzwise serve``: the live page and the metrics of campaigns."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fuzzwise.cli import campaign_output, options, output
from fuzzwise.errors import BadInput
from fuzzwise.report import lines
from fuzzwise.units import parse_duration

if TYPE_CHECKING:
    from fuzzwise.serve.server import Place

TOKEN = "FUZZWISE_TOKEN"  # noqa: S105  # the name of a variable


@click.command()
@click.argument(
    "campaigns", metavar="CAMPAIGN...", nargs=-1, required=True, type=campaign_output.Named()
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen at; beyond this machine, the page needs a token.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Port to listen at; 0 for any that is free.  [default: 8765, or the next free one]",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File with the token; else $FUZZWISE_TOKEN, or a new one, which is printed.",
)
@click.option("--time", "seconds", metavar="TIME", help="End after so long: 90s, 15m, 4h.")
@options.as_json
def command(
    campaigns: tuple[str | Path, ...],
    host: str,
    port: int | None,
    token_file: Path | None,
    seconds: str | None,
    as_json: bool,
) -> None:
    """Show campaigns live in a browser, and serve metrics for Prometheus at /metrics.

    CAMPAIGN is the folder of `fuzzwise fuzz` or of `fuzzwise run`, the file of a campaign, or the
    address of its store (postgresql://HOST/DATABASE?campaign=NAME). Campaigns may be running, ended
    or killed, and the page can be started and stopped at will. It is read-only. Beyond this machine everything goes unencrypted: prefer a tunnel, such as
    ssh -L 8765:localhost:8765 MACHINE.
    """
    from fuzzwise.campaign.lookup import campaign_place
    from fuzzwise.cli.telling import say, unexpected
    from fuzzwise.serve.server import Server, check_installed, listen

    check_installed()
    allowed = parse_duration(seconds) if seconds else None
    places = [campaign_place(campaign) for campaign in campaigns]
    secret = _secret(host, token_file)
    place = listen(host, port, secret)
    server = Server(places, place, lambda error: say(f"fuzzwise serve: {unexpected(error)}"))
    with _ended_by_signals(server.end):
        _tell(place, as_json=as_json)
        if allowed is not None:
            timer = threading.Timer(allowed, server.end)
            timer.daemon = True
            timer.start()
        server.run()


def _tell(place: Place, *, as_json: bool) -> None:
    if as_json:
        output.print_json({"link": place.link, "host": place.host, "port": place.port})
        sys.stdout.flush()
        return
    lines.say(f"The page is at {place.link}")
    lines.say("Ctrl-C ends it; the campaigns do not notice.", err=True)


@contextmanager
def _ended_by_signals(end: Callable[[], None]) -> Iterator[None]:
    """While in here, a signal ends the page, but for those that are ignored, as by nohup."""
    before = {number: signal.getsignal(number) for number in _ENDING}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, lambda *_: end())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _secret(host: str, file: Path | None) -> str:
    """The token, "" where none is needed."""
    from fuzzwise.received import cannot_read, read_limited
    from fuzzwise.serve.addresses import SHORTEST_TOKEN, is_loopback
    from fuzzwise.serve.server import new_secret

    given = os.environ.get(TOKEN, "")
    if file is not None:
        try:
            given = read_limited(file, 4096).decode().strip()
        except OSError as error:
            raise cannot_read(file, error) from error
        except UnicodeDecodeError as error:
            raise BadInput(f"{file}: is no text. Put the token there, in plain letters.") from error
    elif not given:
        return "" if is_loopback(host) else new_secret()
    if (
        len(given) < SHORTEST_TOKEN
        or not given.isascii()
        or not given.isprintable()
        or " " in given
    ):
        where = str(file) if file else f"${TOKEN}"
        raise BadInput(
            f"{where}: a token has at least {SHORTEST_TOKEN} plain characters without spaces. Make one "
            "with: openssl rand -hex 32"
        )
    return given
