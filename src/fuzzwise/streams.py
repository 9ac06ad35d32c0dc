"""Standard output and error, whatever they are connected to: closed, full, or without Unicode."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from typing_extensions import Buffer

_PLAIN = {
    **dict.fromkeys("–—−─━", "-"),
    **dict.fromkeys("│┃", "|"),
    **dict(zip("⁰¹³⁴⁵⁶⁷⁸⁹", "013456789", strict=True)),
    "⁻": "^-",
    "…": "...",
    "·": "|",
    "×": "x",
    "±": "+/-",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "→": "->",
    "←": "<-",
    "↓": "v",
    "↑": "^",
    "▶": ">",
    "✓": "+",
    "✗": "x",
    "Δ": "D",
    "²": "^2",
}
"""What is printed where a terminal knows ASCII only; other characters become a code."""

_ASCII = "fuzzwise_ascii"


def prepare() -> None:
    """Make the standard streams of this process safe to use.

    A closed one is opened again, so that no file of ours takes its number and gets the output of a
    child. To write to an output that was closed stays an error. Characters that cannot be encoded
    are written in another way.
    """
    if sys.stdin is None:
        sys.stdin = _opened(os.O_RDONLY, "r")
    if sys.stdout is None:
        sys.stdout = _opened(os.O_RDONLY, "w")  # what is written to it fails
    if sys.stderr is None:
        sys.stderr = _opened(os.O_WRONLY, "w")
    codecs.register_error("fuzzwise", _plain)
    codecs.register(_ascii_by_another_name)
    sys.stdout, sys.stderr = _watched(sys.stdout), _watched(sys.stderr)


def knows_all(stream: TextIO | None) -> bool:
    """Whether every character can be written to it as it is."""
    return (getattr(stream, "encoding", None) or "").lower().startswith("utf")


def problem_of(stream: TextIO | None) -> OSError | None:
    """What keeps the stream from being written to, if anything."""
    try:
        if stream is not None:
            stream.flush()
    except OSError as error:
        return error
    except ValueError:  # closed by somebody on purpose
        return None
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw.problem if isinstance(raw, _Watched) else None


def is_gone(problem: OSError) -> bool:
    """Whether nobody reads any more, as behind ``| head``, which is no mistake."""
    return problem.errno == errno.EPIPE


def give_up(stream: TextIO | None) -> None:
    """Send what is still to be written, and what comes after it, nowhere."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
        os.close(nowhere)


class _Watched(io.FileIO):
    """Remembers why it could not be written to: whoever wrote may not say whose error it was."""

    problem: OSError | None = None

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.problem = error
            raise


def _watched(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Watched(stream.fileno(), "w", closefd=False)),
        encoding=_ASCII if codecs.lookup(stream.encoding).name == "ascii" else stream.encoding,
        errors="fuzzwise",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _opened(flags: int, mode: Literal["r", "w"]) -> TextIO:
    return os.fdopen(os.open(os.devnull, flags), mode, closefd=False)


def _ascii_by_another_name(name: str) -> codecs.CodecInfo | None:
    """ASCII, but not by its name, at which click writes UTF-8 to whoever asked for ASCII."""
    if name != _ASCII:
        return None
    info = codecs.lookup("ascii")
    return codecs.CodecInfo(
        info.encode, info.decode, incrementalencoder=info.incrementalencoder, name=_ASCII
    )


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or _code(c) for c in wrong), error.end


def _code(character: str) -> str:
    return character.encode("ascii", errors="backslashreplace").decode()
