"""Ctrl-C while there is nothing to lose: before a command is at work, and after it.

This is loaded first of all, and loads nothing that takes a while: until then, an interrupt is a
traceback.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False  # as in typing
if TYPE_CHECKING:
    from types import FrameType

EXIT_CODE = 130


def end_at_once() -> None:
    """From now on, an interrupt ends the process with a word.

    While modules are loaded, an exception would come out of half an import: as a traceback, or as
    an error of somebody else. Where interrupts are ignored, as in the background of a script, they
    stay so.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _end)


class AsExceptions:
    """In here, an interrupt is a KeyboardInterrupt again, so that a command can clean up."""

    def __enter__(self) -> None:
        self._ended_at_once = signal.getsignal(signal.SIGINT) is _end
        if self._ended_at_once:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(self, *error: object) -> None:
        if self._ended_at_once:
            signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    os.write(2, b"Interrupted.\n")
    os._exit(EXIT_CODE)
