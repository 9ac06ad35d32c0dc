"""Which engine fuzzes a target of ``fuzzwise fuzz``, and who keeps it going."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fuzzwise.campaign.plan import LIBFUZZER
from fuzzwise.engines.progress import Supervisor
from fuzzwise.engines.settings import Settings


def engine_of(target: Path) -> str:  # noqa: ARG001
    """The engine that a target was made for."""
    return LIBFUZZER


def supervise(engine: str, settings: Settings) -> Supervisor:
    """The supervisor of a campaign with that engine."""
    return SUPERVISORS[engine](settings)


def _libfuzzer(settings: Settings) -> Supervisor:
    from fuzzwise.engines.libfuzzer.supervisor import Supervisor as LibFuzzer

    return LibFuzzer(settings)


SUPERVISORS: dict[str, Callable[[Settings], Supervisor]] = {LIBFUZZER: _libfuzzer}
