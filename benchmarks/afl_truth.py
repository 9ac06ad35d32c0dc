"""What `fuzzwise watch` says of AFL++ on real libraries, against truth: writes docs/afl-study.md.

Run ``make afl-study`` (about an hour on one core; AFL++ is needed). Campaigns are kept in the
work folder, so that a second call only judges and draws.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from pathlib import Path

import numpy as np
import polars as pl

from afl_campaign import Measured, run, target
from afl_page import write_page
from afl_tables import ESTIMATORS, Judgement
from fuzzwise.engines.aflplusplus.stats import Untried
from fuzzwise.lab.evaluate.measures import beside_truth, score, summarise
from fuzzwise.model import Observation, Truth
from fuzzwise.report.charts.file import save
from fuzzwise.report.charts.score import draw_scores
from fuzzwise.snapshot import Campaign
from fuzzwise.watch.reading import Reading
from fuzzwise.watch.recognise import read
from real import DEFAULT_WORK, chosen, starting_corpus
from subjects import Subject, version

FIRST, LAST = 1600, 204_800
"""The averages are over n > 1000, and up to where the study of libFuzzer ends."""

MUCH_LATER = 819_200
GO_ON = ("cjson", "cmark", "expat", "freetype", "libpcap", "lz4", "nlohmann-json", "zlib")
"""One campaign of each of these goes on: where the queue is small, all favored entries get their turn."""

LEAST_TRUTH_INPUTS, MOST_TRUTH_INPUTS = 2000, 409_600
REPEATS = 2


@dataclass(frozen=True)
class Point:
    """A campaign at its freeze: where its folder is, what was measured, what `watch` reads."""

    subject: str
    seed: int
    inputs: int
    folder: Path
    measured: Measured

    def exact(self) -> Observation:
        """Inputs and discoveries as the driver counted them."""
        return _observation(self.inputs, [n for _, n in self.measured.discoveries])

    def raw(self) -> Observation:
        """All executions taken for inputs."""
        executions = [execution for execution, _ in self.measured.discoveries]
        return _observation(self.measured.numbers["at_freeze"], executions)

    def reading(self) -> Reading:
        """As `watch` reads the folder.

        Where the campaign did not repeat itself, ``fuzzer_stats`` are of a later moment: the most
        favored entries that ever waited, by ``plot_data``, are taken instead.
        """
        found = read([self.folder])[0]
        if self.measured.numbers.get("repeated", 1):
            return found
        rows = (self.folder / "default" / "plot_data").read_text().splitlines()
        waiting = max(int(row.split(",")[5]) for row in rows if not row.startswith("#"))
        return replace(found, untried=Untried(waiting, self.stat("corpus_favored")))

    def truth(self) -> Truth:
        """The share of inputs made from the frozen queue that showed something new."""
        hits, inputs = self.measured.numbers["hits"], self.measured.numbers["frozen_inputs"]
        return Truth(hits / inputs, hits, inputs)

    def truth_at_first(self) -> Truth:
        """The same over the first tenth of these inputs."""
        inputs = self.measured.numbers["frozen_inputs"] // 10
        hits = sum(number <= inputs for number in self.measured.hits)
        return Truth(hits / inputs, hits, inputs)

    def stat(self, name: str) -> int:
        """A number of ``fuzzer_stats``."""
        text = (self.folder / "default" / "fuzzer_stats").read_text()
        found = re.search(rf"(?m)^{name} *: *(\d+)", text)
        return int(found[1]) if found else 0

    @property
    def unmutated(self) -> float | None:
        """The share of queue entries that afl-fuzz had not mutated yet at the freeze.

        Unknown where the campaign did not repeat itself: its ``fuzzer_stats`` are then of a later
        moment.
        """
        if not self.measured.numbers.get("repeated", 1):
            return None
        return self.stat("pending_total") / self.stat("corpus_count")

    def first_stay(self) -> int:
        """The inputs up to the first discovery that was made from another entry than the first."""
        names = sorted(path.name for path in (self.folder / "default" / "queue").iterdir())
        parents = [re.search(r",src:(\d+)\D.*,op:", name) for name in names]
        sources = [parent[1] for parent in parents if parent]
        pairs = zip(sources, self.measured.discoveries, strict=False)
        return next((n for source, (_, n) in pairs if source != sources[0]), self.inputs)

    def misplaced(self) -> int:
        """Queue entries whose execution is not that of the driver's discovery of this number."""
        names = sorted(path.name for path in (self.folder / "default" / "queue").iterdir())
        counts = [re.search(r",execs:(\d+),op:", name) for name in names]
        written = [int(count[1]) for count in counts if count]
        seen = [execution for execution, _ in self.measured.discoveries]
        return sum(a != b for a, b in zip_longest(written, seen))


def main() -> None:
    """Run what is missing, then judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--no-page", action="store_true", help="only run the campaigns")
    options = parser.parse_args()
    subjects = sorted(chosen(options.names), key=lambda subject: subject.name)
    points = [
        measure(subject, options.work, inputs, seed)
        for subject in subjects
        for seed in range(1, options.repeats + 1)
        for inputs in _doublings(MUCH_LATER if seed == 1 and subject.name in GO_ON else LAST)
    ]
    if not options.no_page:
        _write(options, subjects, points)


def measure(subject: Subject, work: Path, inputs: int, seed: int) -> Point:
    """A campaign of ``inputs`` mutated inputs with its truth, run unless that was done before."""
    out = work / "afl-campaigns" / f"{subject.name}-{seed}-{inputs}"
    record = out.with_name(f"{out.name}.json")
    if not record.exists():
        program, corpus = target(subject, work), starting_corpus(subject, work)
        more = min(max(inputs, LEAST_TRUTH_INPUTS), MOST_TRUTH_INPUTS)
        found = run(program, corpus, out, inputs, more, seed)
        record.write_text(json.dumps([found.numbers, found.discoveries, found.hits]))
        print(f"{subject.name}, seed {seed}, {inputs:,} inputs: done", flush=True)
    numbers, discoveries, hits = json.loads(record.read_text())
    measured = Measured(numbers, tuple((e, n) for e, n in discoveries), tuple(hits))
    return Point(subject.name, seed, inputs, out, measured)


def _doublings(last: int) -> Iterator[int]:
    inputs = FIRST
    while inputs <= last:
        yield inputs
        inputs *= 2


def _observation(n: int, discoveries: list[int]) -> Observation:
    return Observation(n=n, discoveries=np.array(discoveries, dtype=np.int64))


def futures(points: list[Point]) -> dict[tuple[str, int, int], Truth]:
    """The share of the next n inputs that the campaign itself found something with.

    A campaign repeats itself with its seed, so that of 2n inputs tells how that of n went on; where
    it did not, this is not known.
    """
    found = {
        (p.subject, p.seed, p.inputs): [number for _, number in p.measured.discoveries]
        for p in points
    }
    result = {}
    for (subject, seed, n), numbers in found.items():
        longer = found.get((subject, seed, 2 * n), [])
        after = len(numbers)
        if longer and longer[:after] == numbers:
            result[subject, seed, n] = Truth((len(longer) - after) / n, len(longer) - after, n)
    return result


def judged(
    points: list[Point],
    observe: Callable[[Point], Observation],
    truth: Callable[[Point], Truth | None],
) -> pl.DataFrame:
    """Every estimate at every point; ``n`` is the number of inputs that were really made."""
    campaigns, real = [], {}
    for number, (key, group) in enumerate(groupby(points, key=lambda p: (p.subject, p.seed))):
        observations = []
        for point in group:
            observation = replace(observe(point), truth=truth(point))
            observations.append(observation)
            real[f"{number}:seed {key[1]}", observation.n] = point.inputs
        campaigns.append(Campaign(f"seed {key[1]}", tuple(observations), key[0]))
    table = beside_truth(campaigns)
    inputs = [real[row] for row in zip(table["campaign"], table["n"], strict=True)]
    return table.with_columns(n=pl.Series(inputs, dtype=pl.Int64))


def _write(options: argparse.Namespace, subjects: list[Subject], points: list[Point]) -> None:
    ahead = futures(points)
    readings = {id(point): point.reading() for point in points}
    early = [point for point in points if point.inputs <= LAST]

    def future(point: Point) -> Truth | None:
        return ahead.get((point.subject, point.seed, point.inputs))

    def watch(point: Point) -> Observation:
        return readings[id(point)].with_waiting

    def plain(point: Point) -> Observation:
        return readings[id(point)].observation

    against_queue = judged(points, watch, Point.truth)
    not_raised = judged(points, plain, Point.truth)
    scores = score(against_queue.filter(pl.col("n") <= LAST))
    judgement = Judgement(
        points=points,
        readings=[readings[id(point)] for point in points],
        futures=[future(point) for point in points],
        queue=against_queue,
        queue_summary=summarise(scores),
        plain=not_raised,
        at_first=judged(points, plain, Point.truth_at_first),
        future=judged(points, plain, future),
        by_count={
            "as `watch` counts": not_raised.filter(pl.col("n") <= LAST),
            "mutated inputs, counted exactly": judged(early, Point.exact, Point.truth),
            "all executions": judged(early, Point.raw, Point.truth),
        },
        versions={subject.name: version(subject, options.work) for subject in subjects},
        afl_version=_afl_version(),
        last=LAST,
        repeats=options.repeats,
    )
    drawn = score(against_queue.filter(pl.col("estimator").is_in(ESTIMATORS)))
    chart = draw_scores(
        drawn.with_columns(coverage=pl.lit(None)),
        "What watch says of AFL++, against the frozen queue",
        ["The recent rate is raised while entries that afl-fuzz favors wait for their turn"],
    )
    save(chart, options.out / "figures" / "afl-scores.svg")
    write_page(judgement, options.out)


def _afl_version() -> str:
    shown = subprocess.run(["afl-fuzz", "-h"], capture_output=True, text=True, check=False)
    found = re.search(r"afl-fuzz\S*?(\d+\.\d+\w*)", shown.stdout + shown.stderr)
    return found[1] if found else "unknown"


if __name__ == "__main__":
    main()
