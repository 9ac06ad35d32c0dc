"""What afl-fuzz is to do with one target, whoever asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fuzzwise.engines.aflplusplus.settings import AflSettings
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.starting import STARTUP
from fuzzwise.triage.surroundings import ANYWHERE, Surroundings


@dataclass(frozen=True)
class Job:
    """One target for afl-fuzz.

    ``command`` starts with the absolute path of the program; ``@@`` in it stands for the file with
    the input, without it, input is standard input or, for a harness, shared memory. ``hang`` is
    after how many seconds an input counts as a hang; ``memory_mib`` 0: no limit. ``options`` are
    words for afl-fuzz, ``inputs`` is when it is to pause, ``startup`` how many seconds the fork
    server has to answer.
    """

    command: tuple[str, ...]
    out: Path
    corpus: tuple[Path, ...] = ()
    dictionary: Path | None = None
    hang: float = 1.0
    memory_mib: int = 0
    max_length: int | None = None
    options: tuple[str, ...] = ()
    per_seed: bool = False
    species: str = "feature"
    inputs: int | None = None
    startup: float = STARTUP
    surroundings: Surroundings = ANYWHERE

    @classmethod
    def of(cls, plan: TargetPlan, out: Path) -> Job:
        """The job for a target whose folder is ``out``."""
        settings: AflSettings = plan.settings or AflSettings()
        return cls(
            *(plan.command, out, plan.corpus, plan.dictionary),
            *(settings.hang, settings.memory_mib, settings.max_length, settings.options),
            *(settings.per_seed, settings.species, settings.inputs, settings.startup),
            surroundings=plan.surroundings,
        )

    @property
    def program(self) -> Path:
        """The file that is run."""
        return Path(self.command[0])

    @property
    def kind(self) -> dict[str, object]:
        """What must not change when the campaign goes on."""
        return {
            "engine": "afl++",
            "arguments": list(self.command[1:]),
            "per_seed": self.per_seed,
            "species": self.species,
        }
