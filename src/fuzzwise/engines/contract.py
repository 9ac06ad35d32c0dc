"""What an engine is to the rest, in one file: read this first to write one.

An ``Engine`` says how to recognise, describe, build and open its targets. Opening one gives a
``Session``: a single target at work in a folder of its own. A session is given turns and tells
``Totals``. What it may rely on, and what others rely on:

- *Absolute.* Everything in totals is a sum since the counts began, never a difference. Who is told
  twice, late or not at all counts nothing twice and loses nothing.
- *Generations.* Counts that cannot be gone on with (another build, damage) are put aside, and
  others begin under another name. Totals of two generations do not add up.
- *Durable.* What totals told is in the folder when ``turn`` returns, and survives the end of every
  process. A session of the same folder, opened later, goes on from there.
- *On time.* ``turn`` returns when its time is over, whatever the target does, and soon after
  ``interrupt``. An input that is under way then may be waited for, as long as one input may take:
  in short turns, nothing else tells that it does not end. ``seconds`` of the totals is the time on
  cores that turns have taken, all of it.
- *Threads.* One turn at a time. ``totals`` and ``interrupt`` may be called from any thread at any
  time; during a turn, ``totals`` tells how far it was a moment ago.
- *Errors.* What keeps a target from being fuzzed is a ``BadInput`` of ``turn``, in a sentence for
  the user; making a session has no side effects and does not fail.

``fuzzwise.testing.check_session`` holds a session to all of this.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from fuzzwise.config.table import Table
from fuzzwise.engines.starting import STARTUP
from fuzzwise.errors import BadInput
from fuzzwise.model import NO_INTS, Observation
from fuzzwise.triage.bug_book import Bug
from fuzzwise.triage.examine import Verdict
from fuzzwise.triage.surroundings import ANYWHERE, Surroundings
from fuzzwise.triage.workers import Workers

SHARES = {"low": 0.5, "medium": 1.0, "high": 2.0}
"""How long a turn of a target is, beside that of others."""

SCHEDULES = ("uniform", "later", "fresh", "observe")
SPECIES = ("feature", "edge", "path")


@dataclass(frozen=True)
class Build:
    """How the program of a target is made from its sources."""

    sources: tuple[Path, ...]
    flags: tuple[str, ...]
    program: Path


@dataclass(frozen=True)
class TargetPlan:
    """One thing to fuzz: a harness with its corpus, or a program with one seed file.

    ``engine`` is a name in ``engines.registry``. ``command`` starts with the absolute path of the
    program; what its other words are is the engine's to say. ``corpus`` are folders or files to
    start from, ``seed_zips`` archives of such files: the campaign unpacks them and adds the folders
    to the corpus. ``settings`` are the engine's own: an object of a class that it defines, None for
    its defaults. ``surroundings`` are for engines that have the keys of them.

    ``builds`` are the ways in which one and the same target was built, each for an engine, with a
    plan of its own; they share what they find. ``engine`` then has the names of all of their
    engines, and ``command`` and ``corpus`` are those of the first.
    """

    name: str
    engine: str
    command: tuple[str, ...]
    corpus: tuple[Path, ...] = ()
    dictionary: Path | None = None
    settings: Any = None
    share: str = "medium"
    jobs: int = 1
    accepted_risk: float | None = None
    build: Build | None = None
    surroundings: Surroundings = ANYWHERE
    seed_zips: tuple[Path, ...] = ()
    builds: tuple[TargetPlan, ...] = ()

    @property
    def parts(self) -> tuple[TargetPlan, ...]:
        """What has an engine of its own: each build of it, or where there are none, itself."""
        return self.builds or (self,)

    @property
    def program(self) -> Path:
        """The file that is run."""
        return Path(self.command[0])

    @property
    def weight(self) -> float:
        """How long its turns are, beside those of a target with a medium share."""
        return SHARES[self.share]


@dataclass(frozen=True)
class Totals:
    """What is known of a target after a turn, or in the midst of one.

    ``observation`` is what estimators see; its clock is that of the wall, while turns were under
    way. ``seconds`` is the time on cores that turns have taken, ``bugs`` are all bugs of the
    target, of whatever generation, ``crashes`` how often it crashed.

    ``unsettled``: why a low risk is not to be accepted yet; the same words as long as it is so.
    ``doing``: what the target is at besides being fuzzed, for people who look on.
    ``stability``: the share of its coverage that is the same when an input runs again; None where
    nobody has compared, or there is no coverage.

    ``builds``: of a target with several, what is known of each. The other numbers are then sums,
    but for species and corpus, which are the most that one build has: each sees what the others
    found. Of the sum of discoveries it is not known after which inputs they came.
    """

    generation: str
    observation: Observation
    seconds: float
    corpus: int
    bugs: tuple[Bug, ...]
    crashes: int
    warnings: tuple[str, ...] = ()
    unsettled: str = ""
    doing: str = ""
    stability: float | None = None
    builds: tuple[BuildTotals, ...] = ()

    @classmethod
    def nothing(cls) -> Totals:
        """Those of a target that has not run."""
        return cls("", Observation(0, discoveries=NO_INTS), 0.0, 0, (), 0)


@dataclass(frozen=True)
class BuildTotals:
    """What is known of one build of a target that has several.

    ``imported``: files that it was given because the other builds had found them.
    """

    name: str
    engine: str
    totals: Totals
    imported: int = 0


class NothingYet(BadInput):
    """The target was interrupted before its first input."""


class Session(Protocol):
    """One target at work: see the module's text for what holds."""

    def turn(self, seconds: float, jobs: int) -> Totals:
        """Fuzz for so long, on so many cores; BadInput where the target cannot be fuzzed."""
        ...

    def totals(self) -> Totals | None:
        """What is known, without running anything; None where there is nothing yet."""
        ...

    def interrupt(self) -> None:
        """End the present turn at once and keep everything; where there is none, the next one."""
        ...

    def close(self) -> None:
        """Finish what is under way and leave no process behind; ``interrupt`` makes it hurry.

        A later turn starts again what it needs.
        """
        ...

    def reproduce(self, data: bytes) -> Verdict:
        """Run the target once on an input and say which bug it shows, if any; it is not counted."""
        ...


@dataclass(frozen=True)
class CommonKeys:
    """What a [[target]] says whichever its engine is; ``name`` is "" where the file gives none.

    ``home`` is where the campaign file is, ``out`` the campaign's folder.
    """

    home: Path
    out: Path
    engine: str
    name: str
    share: str
    jobs: int
    accepted_risk: float | None
    sources: tuple[Path, ...]
    flags: tuple[str, ...]

    def build(self, name: str, *kind: str) -> Build | None:
        """How the program is made, with the flags ``kind`` before others; None without sources."""
        if not self.sources:
            return None
        return Build(self.sources, (*kind, *self.flags), self.out / "programs" / name)


@dataclass(frozen=True)
class FuzzRequest:
    """What the user of ``fuzzwise fuzz`` asked for, whichever engine does it.

    ``arguments`` are words for the target, ``options`` words for the fuzzer. ``inputs`` is after
    how many the fuzzing itself is to end, ``startup`` how many seconds it may be until the first.
    """

    target: Path
    corpus: tuple[Path, ...] = ()
    inputs: int | None = None
    measure: bool = False
    per_seed: bool = False
    jobs: int = 1
    schedule: str = "fresh"
    species: str = "feature"
    libfuzzer_options: tuple[str, ...] = ()
    afl_options: tuple[str, ...] = ()
    arguments: tuple[str, ...] | None = None
    python: str | None = None
    startup: float = STARTUP

    def check_corpus(self) -> None:
        """BadInput where a folder or file to start from is not there."""
        for place in self.corpus:
            if not place.exists():
                raise BadInput(f"{place}: there is no such corpus folder.")


def _nothing(program: Path, in_command: bool) -> bool:  # noqa: ARG001
    return False


def _program_alone(plan: TargetPlan) -> tuple[Path, ...]:
    return (plan.program,)


@dataclass(frozen=True)
class Engine:
    """One engine; its functions import what they need when they are called."""

    finds_coverage: bool
    """Whether its species are coverage; those of others are bugs."""

    keys: tuple[str, ...]
    """The keys of a [[target]] that are its own, besides those that all targets have."""

    read_target: Callable[[Table, CommonKeys], list[TargetPlan]]
    """The targets of a [[target]]; none, with a problem in the table, where something is wrong."""

    plan_fuzz: Callable[[FuzzRequest], TargetPlan]
    """The one target of ``fuzzwise fuzz``; BadInput where the request is none for this engine."""

    open_session: Callable[[TargetPlan, Path, int, Workers], Session]
    """From a target, its folder, a random seed and triage's workers to its session."""

    one_input: Callable[[TargetPlan], tuple[str, ...]]
    """The command that runs a target on one input, with @@ for its file."""

    claims: Callable[[Path, bool], bool] = _nothing
    """Whether a program for which nobody names an engine is one for it: the program of a command
    (True), or one that is given by itself. It need not exist."""

    made_of: Callable[[TargetPlan], tuple[Path, ...]] = _program_alone
    """The files that make a target what it is; with other content it is another one."""

    shares_corpus: bool = False
    """Whether a session keeps its seeds as plain files in the folder ``corpus`` of its own, each
    called by the SHA-1 of its content, and takes new files of its plan's corpus with every turn: so
    builds of one target share what they find."""

    build_words: Callable[[list[str], bool], list[str]] | None = None
    """The command of a compiler from its words; for sources in C++ (True) or C. None: its targets
    have no sources."""
