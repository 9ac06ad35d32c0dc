"""Campaigns on real libraries with measured truth, recorded once and then judged as often as one likes.

Run ``python benchmarks/real_campaigns.py`` (some hours on one core; it says what is left). It goes on
from where it was stopped, at any moment. Every campaign is a folder of ``fuzzwise fuzz``; its
``state/observations.jsonl`` has, at 100, 200, 400, … inputs, the discoveries with the ages of their
seeds, the counts of every seed, and the truth.

What ``datasets/real-libraries.jsonl.gz`` has already is not recorded again; ``python
benchmarks/kept_campaigns.py`` adds to that what was.

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
from typing import TypeAlias

from fuzzwise.snapshot import read
from kept_campaigns import KEPT, load
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


Part: TypeAlias = tuple[Subject, int, Stage]
"""A library, the random seed of a campaign on it, and how far that goes."""

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
    subjects: list[Subject],
    work: Path,
    repeats: int,
    stages: tuple[Stage, ...] = STAGES,
    data_set: Path = KEPT,
) -> None:
    """Run what neither the folder nor the data set has, and tell what is left as it goes."""
    parts = list(_parts(subjects, repeats, stages))
    kept = {one.name: one.observations[-1].n for one in load(data_set)}
    missing = [
        part
        for part in parts
        if max(_reached(folder(work, *part[:2])), kept.get(_name(*part[:2]), 0)) < part[2].inputs
    ]
    to_make = _to_make(missing, work)
    print(f"{len(missing)} of {len(parts)} parts to record, {to_make:,} inputs", flush=True)
    began = time.monotonic()
    for number, (subject, seed, stage) in enumerate(missing, start=1):
        _run(subject, work, seed, stage)
        spent, left = time.monotonic() - began, _to_make(missing, work)
        rate = (to_make - left) / spent
        print(
            f"{number}/{len(missing)} {_name(subject, seed)} to {stage.inputs:,}: "
            f"{spent / 60:,.0f} minutes so far, {rate:,.0f} inputs/s with their measurements, "
            f"{left / rate / 60 if rate else 0:,.0f} minutes left at that speed",
            flush=True,
        )


def _to_make(parts: list[Part], work: Path) -> int:
    """The inputs until all campaigns of these parts are as deep as they are to be."""
    deepest: dict[Path, int] = {}
    for subject, seed, stage in parts:
        out = folder(work, subject, seed)
        deepest[out] = max(deepest.get(out, 0), stage.inputs)
    return sum(max(0, inputs - _reached(out)) for out, inputs in deepest.items())


def _name(subject: Subject, seed: int) -> str:
    """What the campaign is called in its log."""
    return f"{subject.name} seed {seed}"


def folder(work: Path, subject: Subject, seed: int) -> Path:
    """Where a campaign is."""
    return work / "campaigns" / f"{subject.name}-{seed}"


def _parts(subjects: list[Subject], repeats: int, stages: tuple[Stage, ...]) -> Iterator[Part]:
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
