"""What is started for a target: a program with the engine in it, or one that gets it loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fuzzwise.engines.observer.folder import fingerprint
from fuzzwise.errors import BadInput
from fuzzwise.received import read_limited
from fuzzwise.triage.surroundings import ANYWHERE, Surroundings

FAILED = "failed-"
"""How the names of such files begin: a line COUNT INPUT, in hexadecimal digits, and the report."""

LARGEST = 1 << 26
"""Bytes of such a file."""


@dataclass(frozen=True)
class Launch:
    """The words before libFuzzer's options, or before the file to run the target on.

    ``build`` tells two builds of the target apart, ``variables`` are for fuzzing alone. A target
    that ``lives_on`` after a bug leaves the inputs that showed one, see ``left_behind``.
    """

    words: tuple[str, ...]
    build: str
    variables: Mapping[str, str] = field(default_factory=dict)
    lives_on: bool = False
    surroundings: Surroundings = ANYWHERE

    @property
    def command(self) -> list[str]:
        """The words with what stands before them anywhere else than here."""
        return list(self.surroundings.before(self.words))


def of_program(target: Path, surroundings: Surroundings = ANYWHERE) -> Launch:
    """A program that was linked with the engine."""
    return Launch((str(target.resolve()),), fingerprint(target), surroundings=surroundings)


@dataclass(frozen=True)
class Failure:
    """Inputs that showed one bug while the target went on: one of them, and how many there were."""

    data: bytes
    report: str
    count: int


def left_behind(folder: Path) -> Iterator[tuple[Path, Failure]]:
    """The failures that targets have written to a folder, with their files; damaged ones go."""
    for path in sorted(folder.glob(f"{FAILED}*")):
        if not path.is_file():
            continue
        try:
            first, _, report = read_limited(path, LARGEST, follow=False).partition(b"\n")
            count, _, data = first.decode().partition(" ")
            failure = Failure(
                bytes.fromhex(data), report.decode(errors="replace"), max(1, int(count))
            )
        except (OSError, ValueError, BadInput):
            path.unlink(missing_ok=True)
            continue
        yield path, failure
