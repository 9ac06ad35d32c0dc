"""The progress of a recording, for people."""

from __future__ import annotations

import threading
from typing import Self

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from fuzzwise.lab.recording.config import RecordingPlan
from fuzzwise.lab.recording.recorder import Recorded
from fuzzwise.text import many

WIDE = 80
"""Columns of a terminal that has room for a long bar beside the words."""


class RecordingView:
    """Progress on the terminal: a bar for each configuration at work; in a pipe, a line each."""

    def __init__(self, plan: RecordingPlan) -> None:
        self._console = Console(stderr=True)
        self._plan = plan
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24 if self._console.width >= WIDE else 8),
            TextColumn("{task.fields[said]}", markup=False),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {}
        self._finished: set[str] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._bars.start()
        total = self._plan.seconds * len(self._plan.targets)
        self._all = self._bars.add_task("all", total=total, said="")
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def update(self, done: Recorded) -> None:
        """Show how far a configuration is."""
        with self._lock:
            if done.name not in self._tasks:
                bar = self._bars.add_task(done.name, total=self._plan.seconds, said="")
                self._tasks[done.name] = bar
            task = self._tasks[done.name]
            said = f"{many(done.runs, 'run')}, {many(done.crashes, 'crash')}"
            self._bars.update(task, completed=done.seconds, said=said, visible=not done.finished)
            finished = sum(t.finished for t in self._bars.tasks if t.id != self._all)
            self._bars.update(
                self._all,
                completed=sum(t.completed for t in self._bars.tasks if t.id != self._all),
                said=f"{finished} of {many(len(self._plan.targets), 'configuration')}",
            )
            if done.finished and done.name not in self._finished:
                self._finished.add(done.name)
                if not self._console.is_terminal:
                    click.echo(f"{done.name}: {said} in {done.seconds:.0f} s", err=True)
