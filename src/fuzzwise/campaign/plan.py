"""What a campaign is to do: the content of a campaign file, checked and complete."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from fuzzwise.engines.blackbox import Limits, Mutation

SHARES = {"low": 0.5, "medium": 1.0, "high": 2.0}
"""How long an epoch of a target is, beside that of others."""


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
    program. For libFuzzer, and for a Python harness, which ``python`` runs if it is given, its
    other words are options of libFuzzer, and ``corpus`` are folders or files. A black box has
    ``@@`` in its words, or reads standard input, and ``corpus`` is its one seed file: each
    (program, seed) is a target.
    For AFL++, ``command`` is what afl-fuzz runs, and ``options`` are words for afl-fuzz.
    """

    name: str
    engine: str
    command: tuple[str, ...]
    corpus: tuple[Path, ...] = ()
    dictionary: Path | None = None
    limits: Limits = field(default_factory=Limits)
    mutation: Mutation = field(default_factory=Mutation)
    max_length: int | None = None
    share: str = "medium"
    jobs: int = 1
    accepted_risk: float | None = None
    build: Build | None = None
    python: str | None = None
    options: tuple[str, ...] = ()

    @property
    def program(self) -> Path:
        """The file that is run."""
        return Path(self.command[0])

    @property
    def weight(self) -> float:
        """How long its epochs are, beside those of a target with a medium share."""
        return SHARES[self.share]


@dataclass(frozen=True)
class CampaignPlan:
    """A whole campaign; times are in seconds, and ``budget`` is by the clock on the wall."""

    name: str
    folder: Path
    targets: tuple[TargetPlan, ...]
    budget: float | None
    cores: int
    scheduler: str
    epoch: float
    confidence: float = 0.95
    seed: int = 1
