"""A table that fits a width: what matters least is left out, and no line is ever too long.

Rich's own tables squeeze every column until nothing can be read, and take four times as long, which
a view that is drawn twice a second beside the fuzzing cannot afford.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from fuzzwise.report.lines import wrapped
from fuzzwise.report.short import fitted

HEAD, RULE = "bold", "dim"
BELOW = 4
"""The indent of sentences that stand below their row."""


@dataclass(frozen=True, eq=False)
class Column:
    """One column: title, one cell a row, styles of the cells ("" for all if there are none).

    ``rank`` 0 is the last to be left out. With ``least``, cells may be shortened to that width.
    A column that ``folds`` holds sentences and is never left out: it must be the last. Its lines
    end between words; where it would have less than ``least`` cells, it stands below the rows.
    """

    title: str
    cells: Sequence[str]
    rank: int = 0
    right: bool = False
    least: int | None = None
    middle: bool = False
    styles: Sequence[str] = ()
    folds: bool = False

    @property
    def natural(self) -> int:
        """The width at which nothing is cut."""
        return max(map(cell_len, (self.title, *self.cells)))


def of_rows(
    titles: Sequence[str], rows: Iterable[Sequence[str]], ranks: Sequence[int] = ()
) -> list[Column]:
    """The columns of rows of cells: the first of names, the others of numbers, to the right.

    ``ranks`` are those of the columns; if they are not given, the last is left out first.
    """
    cells = list(zip(*rows, strict=True)) or [()] * len(titles)
    return [
        Column(title, column, rank=rank, right=i > 0)
        for i, (title, column, rank) in enumerate(
            zip(titles, cells, ranks or range(len(titles)), strict=True)
        )
    ]


def lines(columns: Sequence[Column], width: int | None, keep: int = 0) -> list[Text]:
    """Head, rule and rows; without a width, everything is shown whole.

    Columns stand two cells apart, but one where a column of rank ``keep`` or better needs the room.
    """
    plain, sentences = _split(columns)
    shown, widths, gap = _fit(plain, width, keep)
    used = sum(widths) + gap * (len(widths) - 1)
    beside = sentences if _has_room(sentences, used + 2, width) else None
    head = _line(shown, widths, gap, [c.title for c in shown], [HEAD] * len(shown))
    if beside:
        head = _padded(head, used).append(f"  {beside.title}", HEAD)
        used = min(used + 2 + beside.natural, width or used + 2 + beside.natural)
    made = [head, Text("─" * used, RULE, no_wrap=True)]
    for row in range(len(shown[0].cells) if shown else 0):
        cells = [column.cells[row] for column in shown]
        styles = [column.styles[row] if column.styles else "" for column in shown]
        line = _line(shown, widths, gap, cells, styles)
        if sentences is None:
            made.append(line)
        elif beside:
            start = sum(widths) + gap * (len(widths) - 1) + 2
            made += _with_sentence(line, beside.cells[row], start, width)
        else:
            made += [line, *_below(sentences.cells[row], width)]
    return made


def left_out(columns: Sequence[Column], width: int | None, keep: int = 0) -> list[str]:
    """The titles of the columns that ``lines`` leaves out."""
    plain, _ = _split(columns)
    shown, _, _ = _fit(plain, width, keep)
    return [column.title for column in plain if column not in shown and column.title]


def _split(columns: Sequence[Column]) -> tuple[Sequence[Column], Column | None]:
    """The columns of cells, and that of sentences, if any is said."""
    if not columns or not columns[-1].folds:
        return columns, None
    return columns[:-1], columns[-1] if any(columns[-1].cells) else None


def _has_room(sentences: Column | None, start: int, width: int | None) -> bool:
    if sentences is None:
        return False
    return width is None or width - start >= min(sentences.natural, sentences.least or 24)


def _padded(line: Text, width: int) -> Text:
    return line.append(" " * (width - cell_len(line.plain)))


def _with_sentence(line: Text, sentence: str, start: int, width: int | None) -> list[Text]:
    if not sentence:
        return [line]
    parts = wrapped(Text(sentence), None if width is None else width - start, cut=True)
    first = _padded(line, start).append(parts[0].plain)
    return [first, *(Text(" " * start + part.plain, no_wrap=True, end="") for part in parts[1:])]


def _below(sentence: str, width: int | None) -> list[Text]:
    line = Text(" " * BELOW + sentence, "dim", end="")
    return wrapped(line, width, cut=True) if sentence else []


def _fit(
    columns: Sequence[Column], width: int | None, keep: int
) -> tuple[list[Column], list[int], int]:
    for gap in (2, 1):
        shown, widths = _layout(columns, width, gap)
        if all(column in shown for column in columns if column.rank <= keep):
            break
    return shown, widths, gap


def _layout(
    columns: Sequence[Column], width: int | None, gap: int
) -> tuple[list[Column], list[int]]:
    """The columns that fit, in their order, and their widths."""
    shown = list(columns)
    natural = {column: column.natural for column in columns}
    if width is None:
        return shown, [natural[column] for column in shown]
    while True:
        least = [
            natural[column]
            if column.least is None
            else min(natural[column], max(column.least, cell_len(column.title)))
            for column in shown
        ]
        spare = width - sum(least) - gap * (len(shown) - 1)
        if spare >= 0 or len(shown) <= 1:
            break
        last = max(column.rank for column in shown)
        shown.remove(next(column for column in reversed(shown) if column.rank == last))
    widths = []
    for column, small in zip(shown, least, strict=True):
        more = min(natural[column] - small, spare)
        widths.append(small + more)  # less than the least, where one column alone is too wide
        spare -= more
    return shown, widths


def _line(
    columns: Sequence[Column],
    widths: Sequence[int],
    gap: int,
    cells: Sequence[str],
    styles: Sequence[str],
) -> Text:
    line = Text(no_wrap=True, end="")
    for i, (column, width, cell, style) in enumerate(
        zip(columns, widths, cells, styles, strict=True)
    ):
        cut = fitted(cell, width, middle=column.middle, words=not column.middle)
        pad = " " * (width - cell_len(cut))
        line.append((" " * gap if i else "") + (pad if column.right else ""))
        line.append(cut, style)
        line.append("" if column.right else pad)
    line.rstrip()
    return line
