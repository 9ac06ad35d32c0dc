"""Which engine fuzzes a target of ``fuzzwise fuzz``, and who keeps it going."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fuzzwise.campaign.plan import AFL, LIBFUZZER, PYTHON
from fuzzwise.engines.aflplusplus.program import is_afl_target
from fuzzwise.engines.progress import Supervisor
from fuzzwise.engines.settings import Settings


def engine_of(target: Path) -> str:
    """The engine that a target was made for."""
    if target.suffix == ".py":
        return PYTHON
    return AFL if is_afl_target(target) else LIBFUZZER


def supervise(engine: str, settings: Settings) -> Supervisor:
    """The supervisor of a campaign with that engine."""
    return SUPERVISORS[engine](settings)


def _libfuzzer(settings: Settings) -> Supervisor:
    from fuzzwise.engines.libfuzzer.supervisor import Supervisor as LibFuzzer

    return LibFuzzer(settings)


def _python(settings: Settings) -> Supervisor:
    from fuzzwise.engines.libfuzzer.supervisor import Supervisor as LibFuzzer
    from fuzzwise.engines.python.launch import launch

    return LibFuzzer(settings, launch(settings.target, settings.python))


def _afl(settings: Settings) -> Supervisor:
    from fuzzwise.engines.aflplusplus.supervisor import AflSupervisor

    return AflSupervisor(settings)


SUPERVISORS: dict[str, Callable[[Settings], Supervisor]] = {
    LIBFUZZER: _libfuzzer,
    PYTHON: _python,
    AFL: _afl,
}
