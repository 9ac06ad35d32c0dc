"""Uniform-Random: every configuration with the same chance (FS §4.4)."""

# ruff: noqa: ARG001 — all functions that choose have one signature

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fuzzwise.model import Floats
from fuzzwise.schedulers.base import Functions, Policy
from fuzzwise.schedulers.beliefs import learn_nothing
from fuzzwise.schedulers.kernel import choosing
from fuzzwise.schedulers.selection import uniformly


@choosing
def _choose(arms: Floats, memory: Floats, rng: np.random.Generator) -> int:
    return uniformly(arms, rng)


@dataclass(frozen=True)
class UniformRandom(Policy):
    """Each available configuration with the same chance, whatever the past."""

    name = "uniform-random"
    functions = Functions(_choose, learn_nothing)
