"""The process: ``python -m fuzzwise`` and the script ``fuzzwise``."""

from __future__ import annotations

import sys
from typing import NoReturn

from fuzzwise import interrupts


def start() -> NoReturn:
    """Run the command that the process was started with, and exit."""
    interrupts.end_at_once()
    from fuzzwise import caches, streams
    from fuzzwise.cli import main, telling

    streams.prepare()
    telling.install()
    caches.for_numba()
    sys.exit(main())


if __name__ == "__main__":
    start()
