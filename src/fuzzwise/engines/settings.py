"""What the user of ``fuzzwise fuzz`` asked for, whichever engine does it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fuzzwise.engines.progress import Limits
from fuzzwise.errors import BadInput

SCHEDULES = {"uniform": 0, "later": 1, "fresh": 2, "observe": 3}
SPECIES = {"feature": 0, "edge": 1, "path": 2}


@dataclass(frozen=True)
class Settings:
    """A campaign on one target.

    ``arguments`` are words for the target, ``options`` words for the fuzzer. ``most_jobs``:
    processes that may ever share the campaign, where that is more than ``jobs`` now. ``tick``:
    seconds between two looks at the counts. ``python``: the interpreter of a Python target.
    """

    target: Path
    corpus: tuple[Path, ...] = ()
    out: Path = Path("fuzz-out")
    accepted_risk: float | None = None
    confidence: float = 0.95
    seconds: float | None = None
    inputs: int | None = None
    measure: bool = False
    per_seed: bool = False
    jobs: int = 1
    most_jobs: int | None = None
    tick: float = 0.1
    schedule: str = "fresh"
    species: str = "feature"
    seed: int = 1
    options: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    python: str | None = None

    def check_corpus(self) -> None:
        """BadInput where a folder or file to start from is not there."""
        for place in self.corpus:
            if not place.exists():
                raise BadInput(f"{place}: there is no such corpus folder.")

    @property
    def limits(self) -> Limits:
        """What ends it."""
        return Limits(self.accepted_risk, self.confidence, self.inputs, self.seconds)
