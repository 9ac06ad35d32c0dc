"""The terminal while a view has it: a picture on standard error that is redrawn."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live


class Screen:
    """A terminal that was taken over, until ``give_back``."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._size: tuple[int, int] | None = None

    @classmethod
    def take_over(cls) -> Self | None:
        """The terminal; None where there is none, or one that cannot redraw."""
        if not sys.stderr.isatty():
            return None
        from rich.console import Console
        from rich.live import Live

        console = Console(stderr=True, highlight=False)
        if console.is_dumb_terminal:
            return None
        live = Live(
            console=console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=sys.stdout.isatty(),  # a pipe keeps what is meant for it
        )
        live.start()
        return cls(live)

    def draw(self, picture: Callable[[int, int], RenderableType]) -> None:
        """Show the picture of the given width and height in place of the last one."""
        size = self._live.console.size
        if self._size not in (None, size):
            # The lines of the last picture may now be more lines, or elsewhere: begin with nothing.
            self._live.console.clear()
        self._size = size
        self._live.update(picture(size.width, size.height - 1), refresh=True)

    def give_back(self) -> None:
        """Leave the terminal as it was."""
        self._live.stop()
