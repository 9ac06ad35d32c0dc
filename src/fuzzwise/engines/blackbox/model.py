"""The value objects of black-box fuzzing: what to run, how to mutate, within which limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from fuzzwise.errors import BadInput

MUTATOR_VERSION = 1
"""Changes whenever the same (seed, random seed, run, parameters) would give another input."""

KINDS = ("bits", "bytes", "blocks", "arithmetic", "splice")
"""All kinds of mutation, in the order of their bits in the native code."""

MODES = ("auto", "fork-server", "spawn")
INPUT_MARK = "@@"
MAX_LENGTH = 1 << 30
LOWEST_RATIO = 1e-12
MAX_SEED = (1 << 64) - 1


@dataclass(frozen=True)
class Mutation:
    """How inputs are made from the seed.

    ``ratio`` bounds the share of bits that flip: each run draws its own, log-uniformly (a range of
    one value is a fixed ratio), and flips at least one bit. ``kinds`` are those to choose from:
    ``("bits",)`` alone is what zzuf and CERT BFF do. ``splice_with`` are other files that
    parts are taken from, beside the seed itself.
    """

    ratio: tuple[float, float] = (0.0001, 0.01)
    kinds: tuple[str, ...] = KINDS
    max_length: int = 1 << 20
    splice_with: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        low, high = self.ratio
        if not (math.isfinite(high) and LOWEST_RATIO <= low <= high <= 1):
            raise BadInput(
                f"The mutation ratio is {low:g} … {high:g}; expected a share of the bits, lowest "
                f"first, between {LOWEST_RATIO:g} and 1."
            )
        if not self.kinds:
            raise BadInput(f"No kind of mutation is chosen; choose among {', '.join(KINDS)}.")
        for kind in self.kinds:
            if kind not in KINDS:
                raise BadInput(
                    f"There is no kind of mutation {kind!r}; the kinds are {', '.join(KINDS)}."
                )
        if not 1 <= self.max_length <= MAX_LENGTH:
            raise BadInput(
                f"The longest input is {self.max_length} bytes; expected 1 to {MAX_LENGTH}."
            )


@dataclass(frozen=True)
class Limits:
    """What one run may use; exceeding ``seconds`` is a hang, ``memory_mib`` out of memory.

    ``memory_mib`` bounds the address space of each process, and the resident memory of all
    processes of the run; programs built with a sanitizer, which reserve address space by the
    terabyte, have the second bound alone. ``file_mib`` bounds each file, and a fourth of what the
    run may leave in its folder. ``processes`` may run at once, and 16 times as many in all.
    """

    seconds: float = 1.0
    memory_mib: int = 1024
    file_mib: int = 16
    processes: int = 32

    def __post_init__(self) -> None:
        if not (math.isfinite(self.seconds) and 0.01 <= self.seconds <= 86400):
            raise BadInput(
                f"The time limit of a run is {self.seconds} seconds; expected 0.01 to 86400."
            )
        for name, value, most in (
            ("memory limit of a run, in MiB,", self.memory_mib, 1 << 24),
            ("limit on the size of a file, in MiB,", self.file_mib, 1 << 20),
            ("limit on the processes of a run", self.processes, 4000),
        ):
            if not 1 <= value <= most:
                raise BadInput(f"The {name} is {value}; expected 1 to {most}.")


@dataclass(frozen=True)
class Target:
    """A program and the seed file whose mutants it reads.

    ``@@`` in the command, also inside of a word, stands for the input file; a command without it
    reads standard input. The program may be a path or a name on ``PATH``; other words that name
    files must be absolute paths, since each run has a folder of its own. ``suffix`` is for programs
    that go by the ending of a file's name (``.png``). ``environment`` is added to the variables of
    the calling process.
    """

    command: tuple[str, ...]
    seed: bytes
    name: str = ""
    suffix: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.command or not self.command[0]:
            raise BadInput("The command of a target is empty; it must name a program.")
        words = [*self.command, self.suffix, *self.environment, *self.environment.values()]
        if any("\0" in word for word in words):
            raise BadInput(f"The command {self.command} contains a NUL character; remove it.")
        if "/" in self.suffix or len(self.suffix) > 64:
            raise BadInput(
                f"The suffix {self.suffix!r} cannot end a file's name; expected one such as .png."
            )

    @property
    def reads_stdin(self) -> bool:
        """Whether the input comes by standard input instead of a file."""
        return not any(INPUT_MARK in word for word in self.command)


@dataclass(frozen=True)
class Event:
    """Something that a batch of runs reports.

    A ``mark`` says that all runs up to ``run`` are done after so many microseconds of the batch;
    others that this run ended so, at that time. ``trace`` is equal for crashes with equal stacks,
    0 where the stack is not known. ``input_hash`` is the 64-bit FNV-1a of the input.
    """

    kind: str  # crash, hang, out-of-memory, mark
    run: int
    microseconds: int
    signal: int = 0
    trace: int = 0
    input_hash: int = 0
    input_length: int = 0


@dataclass(frozen=True)
class Outcome:
    """How one run of one input ended, and what it printed (its beginning and its end)."""

    kind: str  # exit, crash, hang, out-of-memory
    signal: int
    exit_code: int
    output: bytes
