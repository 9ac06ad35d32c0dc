"""Lines for people: on a terminal they end between words, in its width; in a pipe they are whole.

Every command prints its sentences and tables through this file, so that no word is broken, no line
is wider than the terminal, and no name in them is more than text. A single word that is wider (a
path, mostly) stays whole on a line of its own, and a command is continued as a shell understands
it, so that both can be copied.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from rich.cells import cell_len
from rich.text import Text

from fuzzwise.text import printable, shown

if TYPE_CHECKING:
    from fuzzwise.report.grid import Column

LEAST = 20
"""A terminal that says it is narrower is written to as if it had so many columns."""
OTHERWISE = 80
_WORD = re.compile(r"\S+")


def width_of(stream: TextIO) -> int | None:
    """The columns of the terminal that a stream goes to; None where it goes elsewhere."""
    if not stream.isatty():
        return None
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said) > 0:
        return max(LEAST, int(said))
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        columns = 0
    return max(LEAST, columns or OTHERWISE)


def wrapped(
    line: Text, width: int | None, hang: int | None = None, *, cut: bool = False
) -> list[Text]:
    """One line as lines that fit; all but the first are indented by ``hang``.

    If that is not given, they stand below the first word; spaces between words of a line stay. A
    word that is wider than a line is whole, or with ``cut``, for pictures, not.
    """
    plain = line.plain.rstrip()
    if width is None or cell_len(plain) <= width:
        return [line if width is None else line[: len(plain)]]
    indent = len(plain) - len(plain.lstrip()) if hang is None else hang
    made = [
        Text(" " * (indent if at else 0), end="", no_wrap=True).append_text(line[start:end])
        for at, (start, end) in enumerate(_parts(plain, width, indent))
    ]
    for part in made if cut else ():
        part.truncate(width, overflow="ellipsis")
    return made


def fitted(text: str, width: int | None, hang: int | None = None) -> list[str]:
    """The same for plain text, which may have several lines already."""
    return [
        made.plain for line in text.split("\n") for made in wrapped(Text(line), width, hang=hang)
    ]


def command(text: str, width: int | None, indent: int = 2) -> list[str]:
    """A line for the shell, in lines that it reads as one; whole where it is no such line."""
    room = None if width is None else width - indent
    try:
        words = [shlex.quote(word) if _needs_quotes(word) else word for word in shlex.split(text)]
    except ValueError:
        words = [text]
    if room is None or cell_len(text) <= room:
        return [" " * indent + text]
    made = [words[0]]
    for word in words[1:]:
        if cell_len(made[-1]) + 1 + cell_len(word) + 2 <= room:
            made[-1] += f" {word}"
        else:
            made.append(f"  {word}")
    ends = [" \\"] * (len(made) - 1) + [""]
    return [f"{' ' * indent}{line}{end}" for line, end in zip(made, ends, strict=True)]


def say(text: str = "", *, hang: int | None = None, err: bool = False) -> None:
    """Print a sentence, or several lines of them; to standard error with ``err``."""
    stream = sys.stderr if err else sys.stdout
    _write(stream, fitted(shown(text), width_of(stream), hang))


def show(lines: Iterable[Text]) -> None:
    """Print lines that fit already, or may be broken between words, with their colours."""
    width = width_of(sys.stdout)
    made = [part for line in lines for part in wrapped(_safe(line), width)]
    if width is None:
        _write(sys.stdout, [line.plain for line in made])
        return
    from rich.console import Console

    console = Console(highlight=False, width=width)
    for line in made:
        console.print(line, end="\n", soft_wrap=True)


def _safe(line: Text) -> Text:
    """The line, without what a terminal would take for more than text."""
    plain = printable(line.plain)
    return line if plain == line.plain else Text(plain, end=line.end)


def pairs(
    rows: Sequence[tuple[str, str]],
    width: int | None,
    styles: Mapping[str, str] | None = None,
    *,
    cut: bool = False,
) -> list[Text]:
    """Names and values, the values below each other; ``styles`` of rows by their names."""
    most = max((cell_len(name) for name, _ in rows), default=0)
    made = []
    for name, value in rows:
        style = (styles or {}).get(name, "")
        line = Text(" " * (most - cell_len(name)), end="", no_wrap=True)
        line.append(name, style or "dim").append("  ").append(value, style)
        made += wrapped(line, width, hang=most + 2, cut=cut)
    return made


def table(title: str, columns: Sequence[Column]) -> None:
    """Print a table under its title; where columns do not fit, which ones is said below it."""
    from fuzzwise.report import grid

    width = width_of(sys.stdout)
    say()
    show([Text(title, "bold")])
    show(grid.lines(columns, width))
    missing = grid.left_out(columns, width)
    if missing:
        say(f"Not shown, for want of width: {', '.join(missing)}.")


def _parts(plain: str, width: int, indent: int) -> Iterable[tuple[int, int]]:
    """The beginnings and ends of lines that fit, the later ones with their indent."""
    start, end, room = 0, 0, width
    for word in _WORD.finditer(plain):
        if end and cell_len(plain[start : word.end()]) > room:
            yield start, end
            start, room = word.start(), width - indent
        end = word.end()
    yield start, end


def _needs_quotes(word: str) -> bool:
    """Whether a shell would take a word for more than itself; its own signs for files stay."""
    return word not in ("<", ">", "|", "&&") and shlex.quote(word) != word


def _write(stream: TextIO, lines: Iterable[str]) -> None:
    stream.write("".join(f"{line.rstrip()}\n" for line in lines))
    stream.flush()
