"""A table that fits a width: what matters least is left out, and no line is ever too long.

Rich's own tables squeeze every column until nothing can be read, and take four times as long, which
a view that is drawn twice a second beside the fuzzing cannot afford.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from fuzzwise.report.short import fitted

HEAD, RULE = "bold", "dim"


@dataclass(frozen=True, eq=False)
class Column:
    """One column: title, one cell a row, styles of the cells ("" for all if there are none).

    ``rank`` 0 is the last to be left out. With ``least``, cells may be shortened to that width.
    """

    title: str
    cells: Sequence[str]
    rank: int = 0
    right: bool = False
    least: int | None = None
    middle: bool = False
    styles: Sequence[str] = ()

    @property
    def natural(self) -> int:
        """The width at which nothing is cut."""
        return max(map(cell_len, (self.title, *self.cells)))


def lines(columns: Sequence[Column], width: int | None, keep: int = 0) -> list[Text]:
    """Head, rule and rows; without a width, everything is shown whole.

    Columns stand two cells apart, but one where a column of rank ``keep`` or better needs the room.
    """
    for gap in (2, 1):
        shown, widths = _layout(columns, width, gap)
        if all(column in shown for column in columns if column.rank <= keep):
            break
    made = [
        _line(shown, widths, gap, [column.title for column in shown], [HEAD] * len(shown)),
        Text("─" * (sum(widths) + gap * (len(widths) - 1)), RULE, no_wrap=True),
    ]
    for row in range(len(shown[0].cells) if shown else 0):
        cells = [column.cells[row] for column in shown]
        styles = [column.styles[row] if column.styles else "" for column in shown]
        made.append(_line(shown, widths, gap, cells, styles))
    return made


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
        cut = fitted(cell, width, middle=column.middle)
        pad = " " * (width - cell_len(cut))
        line.append((" " * gap if i else "") + (pad if column.right else ""))
        line.append(cut, style)
        line.append("" if column.right else pad)
    line.rstrip()
    return line
