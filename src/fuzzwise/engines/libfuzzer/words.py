"""The words and the variables with which a process of libFuzzer is started."""

from __future__ import annotations

import json
import os

from fuzzwise.engines.contract import SCHEDULES, SPECIES, TargetPlan
from fuzzwise.engines.libfuzzer.crashes import NEEDED_TO_FUZZ, sanitizer_environment
from fuzzwise.engines.libfuzzer.launch import Launch
from fuzzwise.engines.libfuzzer.settings import LibFuzzerSettings
from fuzzwise.engines.memory_words import memory_words
from fuzzwise.engines.observer.folder import CampaignFolder

RAMP = 100
"""libFuzzer's default of -len_control, which it drops where there is a mutator, as ours."""


def _lengths_are_ours(settings: LibFuzzerSettings) -> bool:
    """Whether the observer draws how long an input may be, and no limit of libFuzzer's rises.

    Who sets -len_control gets what he asks for; where libFuzzer chooses the seeds, it stays as it
    is.
    """
    asked = any(word.startswith("-len_control=") for word in settings.options)
    return settings.schedule != "observe" and not asked


def variables(
    plan: TargetPlan,
    settings: LibFuzzerSettings,
    launch: Launch,
    folder: CampaignFolder,
    *,
    job: int,
    jobs: int,
    first: bool,
    seconds: float,
    seed: int,
) -> dict[str, str]:
    """What the observer is told: which job of how many it is, and how long the campaign has had."""
    program = plan.program.name
    return {
        **launch.surroundings.joined(sanitizer_environment(), NEEDED_TO_FUZZ),
        **launch.variables,
        "FUZZWISE_STATE": str(folder.state.resolve()),
        "FUZZWISE_PARENT": str(os.getpid()),
        "FUZZWISE_JOB": str(job),
        "FUZZWISE_JOBS": str(max(plan.jobs, jobs)),
        "FUZZWISE_FIRST": str(int(first)),
        "FUZZWISE_MEASURE": str(int(settings.measure)),
        "FUZZWISE_PER_SEED": str(int(settings.per_seed)),
        "FUZZWISE_SCHEDULE": str(SCHEDULES.index(settings.schedule)),
        "FUZZWISE_SPECIES": str(SPECIES.index(settings.species)),
        "FUZZWISE_LENGTHS": str(int(_lengths_are_ours(settings))),
        "FUZZWISE_INPUTS": str(settings.inputs or 0),
        "FUZZWISE_MILLISECONDS": str(int(seconds * 1000)),
        "FUZZWISE_CAMPAIGN": json.dumps(f"{program} seed {seed}"),
        "FUZZWISE_SUBJECT": json.dumps(program),
    }


def options(
    plan: TargetPlan, settings: LibFuzzerSettings, folder: CampaignFolder, random_seed: int
) -> list[str]:
    """The options of libFuzzer, all but the seeds."""
    words = [
        f"-seed={random_seed}",
        f"-artifact_prefix={folder.crashes.resolve()}/",
        "-verbosity=0",
        "-print_final_stats=0",
        "-detect_leaks=0",
        f"-len_control={0 if _lengths_are_ours(settings) else RAMP}",
        f"-timeout={max(1, round(settings.seconds))}",
        *memory_words(settings.memory_mib),
    ]
    if plan.dictionary:
        words.append(f"-dict={plan.dictionary.resolve()}")
    if settings.max_length:
        words.append(f"-max_len={settings.max_length}")
    words += settings.options
    if settings.schedule != "observe":
        words.append("-reduce_inputs=0")
    return words
