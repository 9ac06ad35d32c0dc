"""An exception that a harness let through, told so that triage finds the bug in it."""

from __future__ import annotations

import sys
from types import TracebackType

from fuzzwise.engines.python.instrument import own_imports

HEADER = " === Uncaught Python exception: ==="
MOST_FRAMES = 256
LONGEST_LINE = 200
MOST_LINES = 1000
LONGEST_MESSAGE = 20
"""Lines of a message; the traceback must not be pushed out of what is kept of the output."""


def told(error: BaseException, own: str) -> str:
    """A report with the traceback, without the frames of the file ``own`` at its start."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == own:
        trace = trace.tb_next
    try:
        text = _formatted(error, trace)
    except BaseException:  # an exception that cannot even be printed
        text = f"Traceback (most recent call last):\n{type(error).__name__}: …\n"
    return f"\n{HEADER}\n{text}\n"


def tell(error: BaseException, own: str) -> None:
    """Write the report to standard error."""
    stream = sys.__stderr__ or sys.stderr
    stream.write(told(error, own))
    stream.flush()


def _formatted(error: BaseException, trace: TracebackType | None) -> str:
    with own_imports():
        import traceback

    parts = traceback.format_exception(type(error), error, trace, limit=-MOST_FRAMES)
    lines = [line[:LONGEST_LINE] for part in parts[:-1] for line in part.splitlines()]
    message = [line[:LONGEST_LINE] for line in parts[-1].splitlines()][:LONGEST_MESSAGE]
    text = "\n".join([*lines[-MOST_LINES:], *message])
    return text.encode(errors="replace").decode() + "\n"
