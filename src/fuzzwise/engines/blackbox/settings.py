"""How a black box is fuzzed."""

from __future__ import annotations

from dataclasses import dataclass, field

from fuzzwise.engines.blackbox.model import Limits, Mutation


@dataclass(frozen=True)
class BlackBoxSettings:
    """What one run may use, how inputs are made from the seed, and after how many to end."""

    limits: Limits = field(default_factory=Limits)
    mutation: Mutation = field(default_factory=Mutation)
    inputs: int | None = None
