"""fuzzwise: where to fuzz next, and when to stop.

The names in ``__all__`` are for programs of others; ``docs/api.md`` shows them at work. Each is
loaded when it is first used, so that to import the package costs nothing. Everything that is not
on that page is internal and may change with any version.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False  # as in typing, which takes longer to load than all of this
if TYPE_CHECKING:
    from fuzzwise.errors import BadInput, FuzzwiseError, NotEstimable
    from fuzzwise.estimators.registry import find as find_estimator
    from fuzzwise.estimators.registry import registered as registered_estimators
    from fuzzwise.judge import Judgement, Terms, judge_history, judge_log
    from fuzzwise.lab.optimum import best_schedules
    from fuzzwise.lab.recording.load import read_recording
    from fuzzwise.lab.recording.recording import Recording
    from fuzzwise.lab.recording.synthetic import SyntheticCampaign
    from fuzzwise.lab.recording.synthetic import generate as generate_recording
    from fuzzwise.lab.replay.replay import replay
    from fuzzwise.lab.urn.urn import Urn, data_points
    from fuzzwise.lab.urn.urn import simulate as simulate_urn
    from fuzzwise.model import Estimate, Observation, SeedCounts
    from fuzzwise.schedulers.base import EpochResult, Scheduler
    from fuzzwise.schedulers.registry import find as find_scheduler
    from fuzzwise.schedulers.registry import registered_names as registered_schedulers
    from fuzzwise.snapshot import Campaign
    from fuzzwise.snapshot import read as read_snapshots
    from fuzzwise.snapshot import write as write_snapshots
    from fuzzwise.store.places import open_reader

__all__ = [
    "BadInput",
    "Campaign",
    "EpochResult",
    "Estimate",
    "FuzzwiseError",
    "Judgement",
    "NotEstimable",
    "Observation",
    "Recording",
    "Scheduler",
    "SeedCounts",
    "SyntheticCampaign",
    "Terms",
    "Urn",
    "__version__",
    "best_schedules",
    "data_points",
    "find_estimator",
    "find_scheduler",
    "generate_recording",
    "judge_history",
    "judge_log",
    "open_reader",
    "read_recording",
    "read_snapshots",
    "registered_estimators",
    "registered_schedulers",
    "replay",
    "simulate_urn",
    "write_snapshots",
]

_PLACES = {
    "BadInput": "errors",
    "Campaign": "snapshot",
    "EpochResult": "schedulers.base",
    "Estimate": "model",
    "FuzzwiseError": "errors",
    "Judgement": "judge",
    "NotEstimable": "errors",
    "Observation": "model",
    "Recording": "lab.recording.recording",
    "Scheduler": "schedulers.base",
    "SeedCounts": "model",
    "SyntheticCampaign": "lab.recording.synthetic",
    "Terms": "judge",
    "Urn": "lab.urn.urn",
    "best_schedules": "lab.optimum",
    "data_points": "lab.urn.urn",
    "find_estimator": "estimators.registry:find",
    "find_scheduler": "schedulers.registry:find",
    "generate_recording": "lab.recording.synthetic:generate",
    "judge_history": "judge",
    "judge_log": "judge",
    "open_reader": "store.places",
    "read_recording": "lab.recording.load",
    "read_snapshots": "snapshot:read",
    "registered_estimators": "estimators.registry:registered",
    "registered_schedulers": "schedulers.registry:registered_names",
    "replay": "lab.replay.replay",
    "simulate_urn": "lab.urn.urn:simulate",
    "write_snapshots": "snapshot:write",
}
"""The module of each name; behind a colon, what it is called there."""

if not TYPE_CHECKING:  # a type checker would take every name for one of these

    def __getattr__(name: str) -> object:
        """The name, from its module: called once, before the package has it."""
        if name not in _PLACES:
            raise AttributeError(f"module 'fuzzwise' has no attribute {name!r}")
        from importlib import import_module

        module, _, original = _PLACES[name].partition(":")
        value = getattr(import_module(f"fuzzwise.{module}"), original or name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return __all__
