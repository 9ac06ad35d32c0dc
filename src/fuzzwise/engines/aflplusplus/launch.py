"""The command and the variables with which afl-fuzz is started."""

from __future__ import annotations

import json
import os
from pathlib import Path

from fuzzwise.engines.aflplusplus.job import Job
from fuzzwise.engines.aflplusplus.library import observer
from fuzzwise.engines.aflplusplus.program import AflFuzz
from fuzzwise.engines.contract import SPECIES
from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.sanitizers import MAY_WRAP, is_sanitized

GIVES_UP_AT_BAD_SEEDS = (4, 6)
"""The version from which on afl-fuzz ends at a seed that crashes, unless it is told not to."""

WRITES_MORE_OFTEN = (4, 21)
"""The version from which on its statistics can be had more often than once a minute."""

LATER = 5.0
"""Seconds that afl-fuzz waits longer for a target than we do: our words are of our settings."""

_SANITIZER = "abort_on_error=1:symbolize=0"


def command(afl: AflFuzz, job: Job, seeds: Path | None, output: Path) -> list[str]:
    """The words that start afl-fuzz; without seeds, it goes on with what is in its folder."""
    words = [str(afl.path), "-i", str(seeds.resolve()) if seeds else "-"]
    words += ["-o", str(output.resolve())]
    if job.memory_mib and not is_sanitized(job.program):
        words += ["-m", str(job.memory_mib)]
    if job.dictionary:
        words += ["-x", str(job.dictionary.resolve())]
    if job.max_length:
        words += ["-G", str(job.max_length)]
    if not any(word.startswith("-t") for word in job.options):
        # With the sign: as long as seeds take, but this at most; slower ones are left out.
        words += ["-t", f"{_milliseconds(job.hang)}+"]
    return [*words, *job.options, "--", *job.command]


def variables(
    afl: AflFuzz, job: Job, folder: CampaignFolder, seconds: float, map_size: int
) -> dict[str, str]:
    """What afl-fuzz and the observer in it are told; ``seconds`` the campaign has had already."""
    asan = f"{_SANITIZER}:detect_leaks=0:allocator_may_return_null=1"
    if job.memory_mib:
        asan += f":hard_rss_limit_mb={job.memory_mib}"
    told = {
        "AFL_CUSTOM_MUTATOR_LIBRARY": str(observer()),
        "AFL_NO_UI": "1",
        "AFL_SKIP_CPUFREQ": "1",
        "AFL_NO_AFFINITY": "1",
        "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
        "AFL_FORKSRV_INIT_TMOUT": str(_milliseconds(job.startup + LATER)),
        "AFL_HANG_TMOUT": str(_milliseconds(job.hang)),
        # afl-fuzz insists on these where anything is said at all.
        "ASAN_OPTIONS": _joined("ASAN_OPTIONS", asan),
        "UBSAN_OPTIONS": f"{MAY_WRAP}:{_joined('UBSAN_OPTIONS', f'{_SANITIZER}:halt_on_error=1')}",
        "MSAN_OPTIONS": _joined("MSAN_OPTIONS", f"exit_code=86:{_SANITIZER}"),
        "FUZZWISE_STATE": str(folder.state.resolve()),
        "FUZZWISE_MAP_SIZE": str(map_size),
        "FUZZWISE_PARENT": str(os.getpid()),
        "FUZZWISE_PER_SEED": str(int(job.per_seed)),
        "FUZZWISE_SPECIES": str(SPECIES.index(job.species)),
        "FUZZWISE_INPUTS": str(job.inputs or 0),
        "FUZZWISE_MILLISECONDS": str(int(seconds * 1000)),
        "FUZZWISE_CAMPAIGN": json.dumps(job.program.name),
        "FUZZWISE_SUBJECT": json.dumps(job.program.name),
    }
    # Older ones wait at a variable that they do not know.
    if afl.version >= GIVES_UP_AT_BAD_SEEDS:
        told["AFL_IGNORE_SEED_PROBLEMS"] = "1"
    if afl.version >= WRITES_MORE_OFTEN:
        told["AFL_FUZZER_STATS_UPDATE_INTERVAL"] = "5"
    return job.surroundings.joined(told, _SANITIZER)


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))


def _joined(name: str, ours: str) -> str:
    """Options of a sanitizer: the user's, and behind them, so that they count, ours."""
    theirs = os.environ.get(name)
    return f"{theirs}:{ours}" if theirs else ours
