"""What goes wrong, told on stderr in sentences; nothing here loads much."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from pathlib import Path
from typing import TextIO

from fuzzwise import interrupts, streams
from fuzzwise.text import shown

WHOLE_STORY = "FUZZWISE_TRACEBACK"
"""The variable that asks for tracebacks."""


def install() -> None:
    """Have everything told here that Python would print as it likes."""
    threading.excepthook = _in_thread
    sys.unraisablehook = _unraisable
    warnings.showwarning = _warned


def asks_for_whole_story() -> bool:
    """Whether the user wants tracebacks."""
    return bool(os.environ.get(WHOLE_STORY))


def say(sentence: str) -> None:
    """Print to stderr, where that is possible; names in it may hold anything."""
    try:
        print(_fitted(shown(sentence)), file=sys.stderr, flush=True)  # noqa: T201
    except (OSError, ValueError):
        streams.give_up(sys.stderr)


def _fitted(text: str) -> str:
    """On a terminal, in lines that end between words."""
    if not sys.stderr.isatty():
        return text
    from fuzzwise.report import lines

    return "\n".join(lines.fitted(text, lines.width_of(sys.stderr)))


def unexpected(error: BaseException) -> str:
    """The sentence about an exception that nobody expected."""
    import traceback

    if asks_for_whole_story():
        story = "".join(traceback.format_exception(error)).rstrip()
        return f"unexpected, please report this whole story:\n{story}"
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return (
        f"unexpected: {' '.join(what.split())} ({_place(error)}). Please report this; with "
        f"{WHOLE_STORY}=1 set, the same command tells the whole story."
    )


def _in_thread(failed: threading.ExceptHookArgs) -> None:
    """Tell of an exception that ended a thread."""
    if failed.exc_value is not None and not isinstance(failed.exc_value, SystemExit):
        say(f"fuzzwise: {unexpected(failed.exc_value)}")


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> None:
    """Tell of a warning: ours are sentences, those of libraries are for whoever looks for them."""
    if category.__module__.startswith("fuzzwise."):
        say(f"fuzzwise: {message}")
    elif asks_for_whole_story():
        say(f"{filename}, line {lineno}: {category.__name__}: {message}")


def _unraisable(failed: sys.UnraisableHookArgs) -> None:
    """Tell of an exception that Python has nobody to give to; an interrupt still ends all."""
    if isinstance(failed.exc_value, KeyboardInterrupt):
        say("Interrupted.")
        os._exit(interrupts.EXIT_CODE)
    if asks_for_whole_story():
        sys.__unraisablehook__(failed)


def _place(error: BaseException) -> str:
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "fuzzwise" in Path(frame.filename).parts] or frames
    return f"{Path(ours[-1].filename).name}, line {ours[-1].lineno}" if ours else "nowhere"
