"""Crashing inputs grouped into bugs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fuzzwise.errors import BadInput
from fuzzwise.triage.crash import BugIdentity
from fuzzwise.triage.examine import Verdict, absolute
from fuzzwise.triage.inputs import CrashingInput
from fuzzwise.triage.kinds import SEVERITIES
from fuzzwise.triage.workers import Task, Workers

_MOST_CANDIDATES = 5
"""Inputs of a bug that are tried as its reproducer before it is called flaky."""

Progress = Callable[[int, int], None]
"""Called with the number of runs done and to do."""


@dataclass(frozen=True)
class TriagedBug:
    """The inputs with one stack hash.

    ``reproducer`` is the smallest input that shows the bug in every run of a check, and
    ``verdict`` what it shows; with ``flaky``, no input that was tried does so every time, and it is
    just the smallest.
    """

    identity: BugIdentity
    inputs: tuple[CrashingInput, ...]
    reproducer: CrashingInput
    verdict: Verdict
    flaky: bool

    @property
    def id(self) -> str:
        """The stack hash."""
        return self.identity.id


@dataclass(frozen=True)
class Triage:
    """Every input is in one place: in a bug, or among those that hang or do nothing.

    ``runs`` is how many inputs were run; others have the content or the trace of one of these.
    """

    bugs: tuple[TriagedBug, ...]
    timeouts: tuple[CrashingInput, ...]
    silent: tuple[CrashingInput, ...]
    runs: int


@dataclass(frozen=True)
class _Case:
    """Inputs of one command with the same content or trace, the smallest of them first."""

    size: int
    inputs: tuple[CrashingInput, ...]

    @property
    def first(self) -> CrashingInput:
        return self.inputs[0]

    @property
    def order(self) -> tuple[int, str]:
        return self.size, self.first.name


def group(
    crashes: Iterable[CrashingInput],
    *,
    depth: int = 5,
    jobs: int = 1,
    checks: int = 3,
    progress: Progress | None = None,
) -> Triage:
    """Run crashing inputs and group them into bugs by the top ``depth`` frames of their stacks.

    Inputs of one command with the same content, or the same trace, are run once. The smallest input
    of each bug (by bytes, then by name) is run ``checks`` times more; if it does not show the same
    bug every time, the next smallest ones are tried. The result does not depend on the order of
    the inputs, nor on the number of jobs; the worst bugs come first.
    """
    if depth < 1:
        raise BadInput(f"The number of frames must be at least 1, not {depth}.")
    if checks < 0:
        raise BadInput(f"The number of checks cannot be negative, as {checks} is.")
    task = _tasks(depth)
    cases = _cases(crashes)
    tasks = [task(case.first) for case in cases]
    with Workers(max(1, min(jobs, len(tasks)))) as workers:
        verdicts = []
        for verdict in workers.examine(tasks):
            verdicts.append(verdict)
            if progress is not None:
                progress(len(verdicts), len(tasks))
        groups, others = _sorted_out(cases, verdicts)
        bugs = [_bug(same, workers, task, checks) for same in groups]
    return Triage(
        bugs=tuple(sorted(bugs, key=_order)),
        timeouts=_by_name(others["timeout"]),
        silent=_by_name(others["none"]),
        runs=len(tasks),
    )


def _tasks(depth: int) -> Callable[[CrashingInput], Task]:
    """What makes the task of an input; a command is looked up once."""
    commands: dict[tuple[str, ...], tuple[str, ...]] = {}

    def task(crash: CrashingInput) -> Task:
        if crash.command not in commands:
            commands[crash.command] = absolute(crash.command)
        return Task(commands[crash.command], crash.load, crash.name, crash.limits, depth)

    return task


def _sorted_out(
    cases: Sequence[_Case], verdicts: Sequence[Verdict]
) -> tuple[list[list[tuple[_Case, Verdict]]], dict[str, list[CrashingInput]]]:
    """The cases of each bug, and the inputs that show none by how they end."""
    groups: dict[str, list[tuple[_Case, Verdict]]] = {}
    others: dict[str, list[CrashingInput]] = {"timeout": [], "none": []}
    for case, verdict in zip(cases, verdicts, strict=True):
        if verdict.bug is None:
            others[verdict.ending] += case.inputs
        else:
            groups.setdefault(verdict.bug.id, []).append((case, verdict))
    return list(groups.values()), others


def _cases(crashes: Iterable[CrashingInput]) -> list[_Case]:
    """The different inputs, the smallest first."""
    found: dict[tuple[object, ...], list[tuple[int, CrashingInput]]] = {}
    for crash in crashes:
        data = crash.load()
        same = ("trace", crash.trace) if crash.trace else ("data", hashlib.sha256(data).digest())
        found.setdefault((crash.command, crash.limits, *same), []).append((len(data), crash))
    cases = []
    for sized in found.values():
        sized.sort(key=lambda pair: (pair[0], pair[1].name))
        cases.append(_Case(sized[0][0], tuple(crash for _, crash in sized)))
    return sorted(cases, key=lambda case: (*case.order, case.first.command))


def _bug(
    cases: Sequence[tuple[_Case, Verdict]],
    workers: Workers,
    task: Callable[[CrashingInput], Task],
    checks: int,
) -> TriagedBug:
    (smallest, seen), flaky = cases[0], True
    assert seen.bug is not None
    for case, verdict in cases[:_MOST_CANDIDATES]:
        again = workers.examine([task(case.first)] * checks)
        if all(other.bug is not None and other.bug.id == seen.bug.id for other in again):
            smallest, seen, flaky = case, verdict, False
            break
    assert seen.bug is not None
    inputs = _by_name(crash for case, _ in cases for crash in case.inputs)
    return TriagedBug(seen.bug, inputs, smallest.first, seen, flaky)


def _by_name(crashes: Iterable[CrashingInput]) -> tuple[CrashingInput, ...]:
    return tuple(sorted(crashes, key=lambda crash: (crash.name, crash.command)))


def _order(bug: TriagedBug) -> tuple[int, int, str]:
    return SEVERITIES.index(bug.identity.severity), -len(bug.inputs), bug.id
