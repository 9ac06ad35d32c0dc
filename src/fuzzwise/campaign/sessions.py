"""Engines by name: who fuzzes a target."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from fuzzwise.campaign.places import target_folder
from fuzzwise.campaign.plan import AFL, BLACK_BOX, LIBFUZZER, PYTHON, CampaignPlan, TargetPlan
from fuzzwise.campaign.session import Session
from fuzzwise.triage.workers import Workers

Open = Callable[[TargetPlan, Path, int, Workers], Session]
"""From a target, its folder, a random seed and triage's workers to its session."""


def open_sessions(plan: CampaignPlan, workers: Workers) -> dict[str, Session]:
    """A session for each target; each with a random seed of its own, the same in every run."""
    return {
        target.name: ENGINES[target.engine](
            target,
            target_folder(plan.folder, target.name),
            zlib.crc32(target.name.encode()) ^ plan.seed,
            workers,
        )
        for target in plan.targets
    }


def _libfuzzer(plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> Session:  # noqa: ARG001
    from fuzzwise.engines.libfuzzer.session import LibFuzzerSession

    return LibFuzzerSession(plan, folder, seed)


def _python(plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> Session:  # noqa: ARG001
    from fuzzwise.engines.libfuzzer.session import LibFuzzerSession
    from fuzzwise.engines.python.launch import launch

    return LibFuzzerSession(plan, folder, seed, partial(launch, plan.program, plan.python))


def _black_box(plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> Session:
    from fuzzwise.engines.blackbox.session import BlackBoxSession

    return BlackBoxSession(plan, folder, seed, workers)


def _afl(plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> Session:
    from fuzzwise.engines.aflplusplus.session import AflSession

    return AflSession(plan, folder, seed, workers)


ENGINES: dict[str, Open] = {
    LIBFUZZER: _libfuzzer,
    BLACK_BOX: _black_box,
    PYTHON: _python,
    AFL: _afl,
}
