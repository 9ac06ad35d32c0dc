"""A campaign as it is told elsewhere: paths from its folder or its sources."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from fuzzwise.report.machine import Machine
from fuzzwise.report.reproducing import portable_command
from fuzzwise.report.source_paths import SourcePaths
from fuzzwise.store.states import BugState, CampaignState, TargetHistory, TargetState
from fuzzwise.triage.surroundings import apart

_Known = TypeVar("_Known")


class Elsewhere:
    """Says what a campaign has to say in words for another machine.

    Paths become relative where that is possible. With ``share``, all that is left of others is the
    name of the file, and users, hosts, process numbers and the environment are left out too.
    ``files`` are sources that reports name; those of bugs are known.
    """

    def __init__(
        self, state: CampaignState, files: Iterable[str] = (), *, share: bool = False
    ) -> None:
        self._kept = state
        self._share = share
        known = [*(bug.file for bug in state.bugs), *files]
        if share:
            known += [word for bug in state.bugs for word in _words(bug.command)]
        self.path = SourcePaths(state.folder, known, share=share)
        names = (state.name, *(target.name for target in state.targets))
        self._machine = Machine(state.folder, names) if share else None

    def __call__(self, text: str) -> str:
        """A text with its paths made relative, and without what is left out."""
        near = self.path.in_text(text)
        return self._machine(near) if self._machine else near

    def place(self, path: str) -> str:
        """The path of a file."""
        near = self.path(path)
        return self._machine(near) if self._machine else near

    def command(self, bug: BugState) -> str:
        """A line for the shell beside the program and the input; "" where there is none."""
        line = portable_command(self._kept, bug)
        return self(line) if self._share else line

    def folder(self) -> str:
        """The campaign's folder: from the present one if it is in that; if shared, none."""
        if self._share:
            return "."
        given = str(self._kept.folder)
        near = os.path.relpath(given)
        return given if near.startswith("..") else near

    def state(self) -> CampaignState:
        """The whole campaign; its folder is the one that can be read."""
        state = self._kept
        stopped = state.stopped
        return replace(
            state,
            name=self(state.name),
            targets=tuple(map(self._target, state.targets)),
            bugs=tuple(map(self._bug, state.bugs)),
            events=tuple(
                replace(event, target=self(event.target), detail=self(event.detail))
                for event in state.events
            ),
            stopped=stopped and replace(stopped, detail=self(stopped.detail)),
        )

    def history(self, history: Sequence[TargetHistory]) -> list[TargetHistory]:
        """What happened, under the names that the targets have in the state."""
        return [replace(past, name=self(past.name)) for past in history]

    def by_target(self, known: Mapping[str, _Known]) -> dict[str, _Known]:
        """What is known of targets, by the names that they have in the state."""
        return {self(name): value for name, value in known.items()}

    def _target(self, target: TargetState) -> TargetState:
        return replace(
            target,
            name=self(target.name),
            detail=self(target.detail),
            warnings=tuple(map(self, target.warnings)),
        )

    def _bug(self, bug: BugState) -> BugState:
        return replace(
            bug,
            kind=self(bug.kind),
            severity=self(bug.severity),
            frames=tuple(map(self, bug.frames)),
            summary=self(bug.summary),
            file=self.place(bug.file),
            target=self(bug.target),
            targets=tuple(map(self, bug.targets)),
            inputs=tuple(map(self.place, bug.inputs)),
            report=self.place(bug.report),
            command=self.command(bug) if self._share else command_from(self._kept.folder, bug),
        )


def command_from(folder: Path, bug: BugState) -> str:
    """The command of a bug, for a shell in the campaign's folder."""
    words = _words(bug.command)
    if not words:
        return bug.command
    around, command = apart(words)
    given = command.index("<") if "<" in command else len(command)
    there = around.folder or folder  # where it runs, and its words are read; not those of the shell
    near = [_from(there, word) for word in command[:given]]
    if "/" in command[0] and "/" not in near[0]:
        near[0] = f"./{near[0]}"
    near += [_from(folder, word) for word in command[given:]]
    place = around.folder and Path(_from(folder, str(around.folder)))
    whole = replace(around, folder=place).before(near)
    return " ".join(word if word == "<" else shlex.quote(word) for word in whole)


def _from(folder: Path, word: str) -> str:
    """A word of a command with its absolute path made relative; what the system has stays."""
    name, equals, value = word.partition("=")
    if equals and name.startswith("-") and value.startswith("/"):
        return f"{name}={_from(folder, value)}"
    if not word.startswith("/") or word.startswith(("/usr/", "/bin/", "/dev/", "/proc/")):
        return word
    if word.startswith(own := f"{folder.absolute()}/"):
        return word.removeprefix(own)
    # Through links, `..` leads elsewhere: from where the folder really is, it does not.
    return os.path.relpath(word, os.path.realpath(folder))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []
