"""The page beside a campaign that runs here: a process of its own, which ends with it.

The campaign's process shares nothing with it but a pipe, whose end tells the page that the
campaign is over, however it ended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from fuzzwise.errors import BadInput, need_extra
from fuzzwise.serve.addresses import HERE
from fuzzwise.serve.server import NEEDED, Server, listen
from fuzzwise.store.address import Address
from fuzzwise.store.places import Place

PATIENCE = 60.0
"""Seconds that the page has to start, on a busy machine as well."""
FAREWELL = 5.0


class Beside:
    """The page of the campaign in a folder, while in here; ``link`` is where it is."""

    def __init__(self, place: Place) -> None:
        for module in NEEDED:
            if find_spec(module) is None:
                raise need_extra("The live page", module, "serve")
        self._place = place.absolute() if isinstance(place, Path) else place
        self.link = ""

    def __enter__(self) -> Self:
        """Start it."""
        words = [sys.executable, "-P", "-m", "fuzzwise.serve.beside"]
        self._process = subprocess.Popen(  # noqa: S603  # ourselves
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # Ctrl-C is for the campaign, which then ends the page
        )
        assert self._process.stdin is not None
        # Not among its words, which everybody on this machine can read.
        self._process.stdin.write(f"{_line(self._place)}\n")
        self._process.stdin.flush()
        reading = threading.Thread(target=self._read_link, daemon=True)
        reading.start()
        reading.join(PATIENCE)
        if not self.link:
            self.__exit__()
            raise BadInput(
                "The live page could not be started. Run the campaign without --serve, and try: "
                f"fuzzwise serve {self._place}"
            )
        return self

    def _read_link(self) -> None:
        assert self._process.stdout is not None
        self.link = self._process.stdout.readline().strip()

    def __exit__(self, *error: object) -> None:
        """End it; its readers are told first."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def _line(place: Place) -> str:
    """A place in one line, whatever names are in it."""
    if isinstance(place, Path):
        return json.dumps([os.fspath(place)])
    return json.dumps([place.url, place.campaign, os.fspath(place.folder or "")])


def _place_in(line: str) -> Place:
    first, *more = json.loads(line)
    if not more:
        return Path(first)
    campaign, folder = more
    return Address(first, campaign, Path(folder) if folder else None)


def main() -> None:
    """Serve the page of one campaign, named in the first line, until standard input ends."""
    campaign = _place_in(sys.stdin.readline())
    place = listen(HERE, None, "")
    server = Server([campaign], place)

    def wait() -> None:
        sys.stdin.read()
        server.end()

    threading.Thread(target=wait, daemon=True).start()
    sys.stdout.write(f"{place.link}\n")
    sys.stdout.flush()
    server.run()


if __name__ == "__main__":
    main()
