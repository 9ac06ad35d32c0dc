"""The process: ``python -m fuzzwise`` and the script ``fuzzwise``."""

from __future__ import annotations

import sys
from typing import NoReturn

from fuzzwise import interrupts


def start() -> NoReturn:
    """Run the command that the process was started with, and exit."""
    interrupts.end_at_once()
    import threading
    import warnings

    from fuzzwise import streams
    from fuzzwise.cli import endings, main

    streams.prepare()
    threading.excepthook = endings.in_thread
    sys.unraisablehook = endings.unraisable
    warnings.showwarning = endings.warned
    sys.exit(main())


if __name__ == "__main__":
    start()
