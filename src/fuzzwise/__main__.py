"""The process: ``python -m fuzzwise`` and the script ``fuzzwise``."""

from __future__ import annotations

import gc
import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # Python puts the current folder first, and whatever lies there would be imported. What Python
    # itself has imported by now, this package included, only `fuzzwise` or `python -P` can keep.
    del sys.path[0]

from fuzzwise import interrupts

TYPE_CHECKING = False  # as in typing, which loads so long that interrupts would hit it
if TYPE_CHECKING:
    from typing import NoReturn


def start() -> NoReturn:
    """Run the command that the process was started with, and exit."""
    interrupts.end_at_once()
    from fuzzwise import caches, streams
    from fuzzwise.cli import main, telling

    streams.prepare()
    telling.install()
    caches.for_numba()
    code = main()
    gc.freeze()  # to search all that was imported for cycles would take a sixth of a short command
    sys.exit(code)


if __name__ == "__main__":
    start()
