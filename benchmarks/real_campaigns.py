"""Campaigns on real libraries with measured truth, recorded once and then judged as often as one likes.

Run ``python benchmarks/real_campaigns.py`` (some hours on one core; it says what is left). It goes on
from where it was stopped, at any moment. Every campaign is a folder of ``fuzzwise fuzz``; its
``state/observations.jsonl`` has, at 100, 200, 400, … inputs, the discoveries with the ages of their
seeds, the counts of every seed, and the truth.

The truth at a point is measured until so many discoveries, not over as many inputs as the campaign
has had: its relative error is then the same at every depth, until the inputs of a measurement are used
up.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fuzzwise.snapshot import Campaign, read
from real import DEFAULT_WORK, chosen, starting_corpus, target
from subjects import SUBJECTS, Subject

REPEATS = 2
DEEP = ("expat", "http-parser", "libpcap", "lz4")
"""Fast ones, two of each half, that go on to the last stage."""


@dataclass(frozen=True)
class Stage:
    """How far campaigns go, and how well the truth is measured on the way."""

    inputs: int
    found: int
    measured: int
    names: tuple[str, ...] = ()


STAGES = (
    Stage(204_800, found=64, measured=4_000_000),
    Stage(3_276_800, found=36, measured=26_000_000),
    Stage(52_428_800, found=36, measured=52_428_800, names=DEEP),
)


def is_for_choosing(name: str) -> bool:
    """Whether a form may be chosen by what is seen on this library; the others only check it.

    Every other one in alphabetical order, fixed before anything was looked at.
    """
    return sorted(subject.name for subject in SUBJECTS).index(name) % 2 == 0


def main() -> None:
    """Record what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--stages", type=int, default=len(STAGES), help="only the first so many")
    options = parser.parse_args()
    record(chosen(options.names), options.work, options.repeats, STAGES[: options.stages])


def record(
    subjects: list[Subject], work: Path, repeats: int, stages: tuple[Stage, ...] = STAGES
) -> list[Campaign]:
    """Run what is missing; all campaigns of these subjects, as far as they have come."""
    parts = list(_parts(subjects, repeats, stages))
    missing = [part for part in parts if _reached(folder(work, *part[:2])) < part[2].inputs]
    to_make = sum(
        stage.inputs - _reached(folder(work, subject, seed)) for subject, seed, stage in missing
    )
    print(f"{len(missing)} of {len(parts)} parts to record, {to_make:,} inputs", flush=True)
    for number, (subject, seed, stage) in enumerate(missing, start=1):
        began, before = time.monotonic(), _reached(folder(work, subject, seed))
        _run(subject, work, seed, stage)
        seconds = time.monotonic() - began
        rate = (stage.inputs - before) / seconds
        print(
            f"{number}/{len(missing)} {subject.name}, seed {seed}, to {stage.inputs:,}: "
            f"{seconds:,.0f} s, {rate:,.0f} inputs/s with their measurements",
            flush=True,
        )
    return recorded_so_far(subjects, work, repeats)


def recorded_so_far(subjects: list[Subject], work: Path, repeats: int) -> list[Campaign]:
    """The campaigns of these subjects that have reached a point, as far as they have come."""
    return [
        recorded(work, subject, seed)
        for subject in subjects
        for seed in range(1, repeats + 1)
        if _reached(folder(work, subject, seed))
    ]


def folder(work: Path, subject: Subject, seed: int) -> Path:
    """Where a campaign is."""
    return work / "campaigns" / f"{subject.name}-{seed}"


def recorded(work: Path, subject: Subject, seed: int) -> Campaign:
    """A campaign as far as it has come."""
    return read(folder(work, subject, seed) / "state" / "observations.jsonl").campaigns[0]


def _parts(
    subjects: list[Subject], repeats: int, stages: tuple[Stage, ...]
) -> Iterator[tuple[Subject, int, Stage]]:
    """The shallow ones first: whoever stops early has something of every library."""
    for stage in stages:
        for seed in range(1, repeats + 1):
            for subject in subjects:
                if not stage.names or subject.name in stage.names:
                    yield subject, seed, stage


def _reached(out: Path) -> int:
    """The last point with its truth; a campaign that was stopped in a measurement is before it."""
    log = out / "state" / "observations.jsonl"
    if not log.exists() or not log.stat().st_size:
        return 0
    observations = read(log).campaigns[0].observations
    return observations[-1].n if observations else 0


def _run(subject: Subject, work: Path, seed: int, stage: Stage) -> None:
    words = [_kept_target(subject, work), starting_corpus(subject, work)]
    variables = {
        "FUZZWISE_MEASURE_FOUND": str(stage.found),
        "FUZZWISE_MEASURE_INPUTS": str(stage.measured),
    }
    subprocess.run(
        [sys.executable, "-m", "fuzzwise", "fuzz", *map(str, words), "--measure", "--quiet",
         "--out", str(folder(work, subject, seed)), "--inputs", str(stage.inputs), "--seed", str(seed)],
        check=True, stdout=subprocess.DEVNULL, env={**os.environ, **variables},
    )  # fmt: skip


def _kept_target(subject: Subject, work: Path) -> Path:
    """A copy that stays as it is: the counts of two builds do not add up."""
    kept = work / "recorded" / subject.name
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_name(f".{subject.name}.partial")
        shutil.copy2(target(subject, work, stock=False), partial)
        partial.rename(kept)
    return kept


if __name__ == "__main__":
    main()
