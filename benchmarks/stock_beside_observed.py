"""The risk of libraries as they are and built with fuzzwise, each against a measured truth.

Run ``python benchmarks/stock_beside_observed.py [LIBRARY…]``. Libraries are those of ``subjects.py``. Each is built
twice, by plain clang and with the observer. The observed campaigns are those of ``real_campaigns.py``,
recorded where they are missing. The stock ones are made here, and are as far after as many inputs. Their
truth is told in three ways. *Frozen*: the corpus at that point is given to the observed build, which makes
inputs from it until so many have shown something new; it chooses seeds and lengths in its own way, and
what the campaign has seen but its corpus does not show counts as new. *By itself*: stock libFuzzer is
started from that corpus, with another random seed each time, until its first input that shows something
new; the truth is how often there was one over all inputs that this took. *Next*: what it has found in the
next quarter of as many inputs, while its corpus went on to grow.

What is made is kept in the work folder, and not made again.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import mean

import numpy as np
import polars as pl

from fuzzwise.engines.contract import TargetPlan, Totals
from fuzzwise.engines.stock.session import StockSession
from fuzzwise.engines.stock.settings import StockSettings
from fuzzwise.estimators.registry import DEFAULT
from fuzzwise.lab.evaluate.measures import beside_truth
from fuzzwise.model import Observation, Truth
from fuzzwise.snapshot import Campaign, read, write
from kept_campaigns import known
from real import DEFAULT_WORK, chosen, starting_corpus, target
from real_campaigns import STAGES, record
from subjects import Subject

POINTS = (1_600, 6_400, 25_600, 102_400)
AHEAD = 1.25
"""How far the stretch goes that tells the truth of stock libFuzzer itself."""

FOUND, MEASURED = "36", "2000000"
"""Discoveries after which a measurement ends, and inputs that it may take for them."""

LONGEST = 3600.0
KINDS = ("frozen", "by itself", "next")
"""The truths of a stock campaign."""

STATUS = re.compile(r"#(\d+)\t(INITED|NEW|DONE)")


def stock_campaigns(subject: Subject, work: Path, seed: int) -> list[Campaign]:
    """One campaign of stock libFuzzer, with each of its truths."""
    kept = work / "stock" / f"{subject.name}-{seed}.jsonl"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            write(kept, _made(subject, work, seed, Path(scratch)))
    return list(read(kept).campaigns)


def _made(subject: Subject, work: Path, seed: int, home: Path) -> list[Campaign]:
    program = target(subject, work, stock=True)
    corpus = starting_corpus(subject, work).resolve()

    def up_to(inputs: int) -> Totals:
        settings = StockSettings(inputs=inputs)
        plan = TargetPlan("t", "stock", (str(program),), (corpus,), settings=settings)
        return StockSession(plan, home / "out", seed).turn(LONGEST, 1)

    frozen: list[Observation] = []
    alone: list[Observation] = []
    for inputs in POINTS:
        seen = up_to(inputs).observation
        corpora = [home / "out" / "corpus", corpus]
        frozen.append(replace(seen, truth=_frozen(subject, work, home, seed, corpora)))
        alone.append(replace(seen, truth=_by_itself(program, home, corpora)))
    last = up_to(round(POINTS[-1] * AHEAD)).observation
    following = [_beside_next(point, last) for point in frozen]
    name = f"{subject.name} seed {seed}"
    return [
        Campaign(f"{name}, {kind}", tuple(made), subject.name)
        for kind, made in zip(KINDS, (frozen, alone, following), strict=True)
    ]


def _by_itself(program: Path, home: Path, corpora: list[Path]) -> Truth:
    """How often an input of stock libFuzzer shows something new, up to the first that does."""
    found = made = 0
    while found < int(FOUND) and made < int(MEASURED):
        with tempfile.TemporaryDirectory(dir=home) as place:
            shutil.copytree(corpora[0], place, dirs_exist_ok=True)
            words = [
                "-reload=0",
                f"-seed={made + 1}",
                f"-runs={MEASURED}",
                f"-artifact_prefix={place}/",
            ]
            first = _first_new([str(program), *words, place, str(corpora[1])], home)
            found, made = found + (first is not None), made + (first or int(MEASURED))
    return Truth(found / made, found, made)


def _first_new(command: list[str], home: Path) -> int | None:
    """Inputs from the end of the corpus up to the first that shows something new."""
    start = 0
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=home) as process:
        assert process.stderr
        for line in process.stderr:
            if match := STATUS.match(line):
                if match[2] == "INITED":
                    start = int(match[1])
                else:
                    process.kill()
                    return int(match[1]) - start if match[2] == "NEW" else None
    raise SystemExit(f"{command[0]} has ended before it found anything: {command}")


def _frozen(subject: Subject, work: Path, home: Path, seed: int, corpus: list[Path]) -> Truth:
    """What the observed build finds new in a corpus, after the hundred inputs that come first."""
    program = target(subject, work, stock=False)
    with tempfile.TemporaryDirectory(dir=home) as place:
        out = Path(place) / "out"
        words = [str(program), *map(str, corpus), "--measure", "--quiet", "--out", str(out)]
        subprocess.run(
            [sys.executable, "-m", "fuzzwise", "fuzz", *words, "--inputs", "100", "--seed", str(seed)],
            check=True, stdout=subprocess.DEVNULL,
            env={**os.environ, "FUZZWISE_MEASURE_FOUND": FOUND, "FUZZWISE_MEASURE_INPUTS": MEASURED},
        )  # fmt: skip
        truth = read(out / "state" / "observations.jsonl").campaigns[0].observations[0].truth
    assert truth is not None
    return truth


def _beside_next(point: Observation, last: Observation) -> Observation:
    assert last.discoveries is not None
    end = round(point.n * AHEAD)
    found = int(np.count_nonzero((last.discoveries > point.n) & (last.discoveries <= end)))
    made = end - point.n
    return replace(point, truth=Truth(found / made, found, made))


def table(campaigns: dict[str, list[Campaign]]) -> Iterator[str]:
    """The lines of a table: bias of the default estimate, and what its interval is worth."""
    judged = {kind: _judged(each) for kind, each in campaigns.items()}
    yield "| | " + " | ".join(f"{kind}: bias | holds | ends below" for kind in judged) + " |"
    yield "|---|" + "---|" * (3 * len(judged))
    names = sorted({campaign.subject for each in campaigns.values() for campaign in each})
    for title, members in [*((name, [name]) for name in names), ("all", names)]:
        cells = [
            cell
            for rows in judged.values()
            for cell in _cells(rows.filter(pl.col("subject").is_in(members)))
        ]
        yield f"| {title} | " + " | ".join(cells) + " |"


def _judged(campaigns: list[Campaign]) -> pl.DataFrame:
    col = pl.col
    rows = beside_truth(campaigns).filter(col("estimator") == DEFAULT)
    return rows.filter(col("n").is_in(POINTS) & (col("value") > 0)).select(
        "subject",
        error=pl.when(col("truth") > 0).then((col("value") / col("truth")).log10()),
        holds=(col("low") <= col("truth_high")) & (col("high") >= col("truth_low")),
        below=col("high") < col("truth_low"),
    )


def _cells(rows: pl.DataFrame) -> tuple[str, str, str]:
    if rows.is_empty():
        return "–", "–", "–"
    errors = rows["error"].drop_nulls().to_list()
    size = len(rows)
    return (
        f"{mean(errors):+.2f}" if errors else "–",
        f"{rows['holds'].sum()} of {size}",
        f"{rows['below'].sum()} of {size}",
    )


def main() -> None:
    """Make what is missing, then judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK)
    parser.add_argument("--repeats", type=int, default=2)
    asked = parser.parse_args()
    subjects = chosen(asked.names)
    kinds: dict[str, list[Campaign]] = {f"stock, {kind}": [] for kind in KINDS}
    for subject in subjects:
        for seed in range(1, asked.repeats + 1):
            for kept, made in zip(
                kinds.values(), stock_campaigns(subject, asked.work, seed), strict=True
            ):
                kept.append(made)
            print(f"{subject.name}, seed {seed}: {_told(kinds)}", flush=True)
    record(subjects, asked.work, asked.repeats, STAGES[:1])
    names = {subject.name for subject in subjects}
    kinds["observed"] = [one for one in known(asked.work) if one.subject in names]
    print("\n".join(table(kinds)))


def _told(kinds: dict[str, list[Campaign]]) -> str:
    """The truths of the latest campaign."""
    return "; ".join(
        f"{kind} {', '.join(f'{seen.truth.probability:.2e}' for seen in made[-1].observations if seen.truth)}"
        for kind, made in kinds.items()
    )


if __name__ == "__main__":
    main()
