"""Black-box mutational fuzzing of any program that reads a file or standard input.

``Runner`` runs batches, ``make_input`` makes any run's input again, ``execute`` runs one input,
``check`` finds out beforehand what would make a campaign pointless.
"""

from fuzzwise.engines.blackbox.check import check
from fuzzwise.engines.blackbox.model import (
    KINDS,
    MUTATOR_VERSION,
    Event,
    Limits,
    Mutation,
    Outcome,
    Target,
)
from fuzzwise.engines.blackbox.mutation import input_hash, make_input
from fuzzwise.engines.blackbox.runner import Runner
from fuzzwise.engines.blackbox.single import execute

__all__ = [
    "KINDS",
    "MUTATOR_VERSION",
    "Event",
    "Limits",
    "Mutation",
    "Outcome",
    "Runner",
    "Target",
    "check",
    "execute",
    "input_hash",
    "make_input",
]
