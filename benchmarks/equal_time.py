"""Features in equal time on a core: fuzzwise, stock libFuzzer, and AFL++ with and without cmplog.

Run ``python benchmarks/equal_time.py [NAME …] --seconds 60 --repeats 3``: each fuzzer starts from the
same seeds and ends when all its processes together have used so many seconds of a processor, its own
helpers included, so that what else the machine does matters little. What it has kept is then run
through one and the same stock build, which counts features. The same call goes on where it ended;
``--page`` keeps the results in ``datasets/equal-time.jsonl`` and writes a table for each time into
docs/real-speed.md. Weights of seeds were chosen on every other library (``is_for_choosing``); the
others check them.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass
from math import exp, log
from pathlib import Path

from core_time import MEMORY, until
from real import DEFAULT_WORK, afl_target, chosen, features, starting_corpus, target, write_part
from real_campaigns import is_for_choosing
from sittings import Sittings
from subjects import Subject

OURS, STOCK, AFL, CMPLOG = "fuzzwise", "libFuzzer", "AFL++", "AFL++ with cmplog"
PAGE = Path("docs/real-speed.md")


@dataclass(frozen=True, order=True)
class Result:
    """What one run has covered; ``seconds`` is what was asked for."""

    library: str
    fuzzer: str
    seconds: int
    seed: int
    features: int


SITTINGS = Sittings("equal-time", Result)


def main() -> None:
    """Run what is missing, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--fuzzer", action="append", choices=(OURS, STOCK, AFL, CMPLOG))
    parser.add_argument("--page", action="store_true", help="only write what was measured")
    asked = parser.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    if not asked.page:
        measure(asked)
    results = SITTINGS.known(asked.work)
    for seconds in sorted({one.seconds for one in results}):
        lines = table([one for one in results if one.seconds == seconds], seconds)
        print("\n".join(lines))
        if asked.page:
            write_part(PAGE, f"equal_time.py, {seconds} s", lines)
    if asked.page:
        SITTINGS.keep(results)


def measure(asked: argparse.Namespace) -> None:
    """The runs that are missing, repeat by repeat."""
    done = {(one.library, one.fuzzer, one.seconds, one.seed) for one in SITTINGS.known(asked.work)}
    for seed in range(1, asked.repeats + 1):
        for subject in chosen(asked.names):
            for fuzzer in asked.fuzzer or (OURS, STOCK, AFL, CMPLOG):
                if (subject.name, fuzzer, asked.seconds, seed) not in done:
                    found = run(subject, asked.work, fuzzer, asked.seconds, seed)
                    SITTINGS.add(asked.work, subject.name, found)


def run(subject: Subject, work: Path, fuzzer: str, seconds: int, seed: int) -> Result:
    """One fuzzer for so long, and what it covers in the end."""
    corpus, stock = starting_corpus(subject, work).resolve(), target(subject, work, stock=True)
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else work) as folder:
        home = Path(folder)
        words, kept = _command(subject, work, fuzzer, corpus, home, seed)
        until(words, seconds, home)
        found = features(stock, [corpus, kept])
    return Result(subject.name, fuzzer, seconds, seed, found)


def _command(
    subject: Subject, work: Path, fuzzer: str, corpus: Path, home: Path, seed: int
) -> tuple[list[str], Path]:
    """How a fuzzer is started, and where it keeps its inputs."""
    if fuzzer == OURS:
        program = target(subject, work, stock=False).resolve()
        words = [sys.executable, "-m", "fuzzwise", "fuzz", str(program), str(corpus), "--quiet"]
        return [*words, "--seed", str(seed), "--out", str(home / "out")], home / "out" / "corpus"
    if fuzzer == STOCK:
        shutil.copytree(corpus, home / "corpus")
        program = target(subject, work, stock=True).resolve()
        return [str(program), f"-seed={seed}", str(home / "corpus")], home / "corpus"
    words = ["afl-fuzz", "-s", str(seed), "-i", str(corpus), "-o", str(home / "out")]
    if fuzzer == CMPLOG:
        words += ["-c", str(afl_target(subject, work, cmplog=True))]
    return [*words, "--", str(afl_target(subject, work))], home / "out" / "default" / "queue"


def table(results: list[Result], seconds: int) -> list[str]:
    """Ratios to stock libFuzzer of the same random seed, by library and over each half."""
    lines = [
        "| library | half | after | fuzzwise | AFL++ | AFL++ with cmplog | repeats |",
        "|---|---|---|---|---|---|---|",
    ]
    means: dict[tuple[str, str], list[float]] = {}
    for name in sorted({one.library for one in results}):
        half, cells, repeats = "choosing" if is_for_choosing(name) else "checking", [], 0
        for fuzzer in (OURS, AFL, CMPLOG):
            ratios = _ratios(results, name, fuzzer)
            repeats = max(repeats, len(ratios))
            if ratios:
                means.setdefault((half, fuzzer), []).append(mean_ratio(ratios))
            cells.append(ratio_cell(ratios))
        lines.append(f"| {name} | {half} | {seconds} s | {' | '.join(cells)} | {repeats} |")
    for half in ("choosing", "checking"):
        found = [means.get((half, fuzzer), []) for fuzzer in (OURS, AFL, CMPLOG)]
        if len(found[0]) < 2:
            continue
        whole = len(found[0])  # a mean of fewer libraries is not to be compared with it
        cells = [f"**{mean_ratio(one):.2f}**" if len(one) == whole else "–" for one in found]
        lines.append(
            f"| geometric mean of {whole} | {half} | {seconds} s | {' | '.join(cells)} | |"
        )
    return lines


def _ratios(results: list[Result], name: str, fuzzer: str) -> list[float]:
    own = {(one.fuzzer, one.seed): one.features for one in results if one.library == name}
    seeds = sorted(seed for kind, seed in own if kind == fuzzer and (STOCK, seed) in own)
    return [own[fuzzer, seed] / own[STOCK, seed] for seed in seeds]


def mean_ratio(ratios: list[float]) -> float:
    """The geometric mean."""
    return exp(statistics.fmean(map(log, ratios)))


def ratio_cell(ratios: list[float]) -> str:
    """The mean, and in brackets the lowest and the highest."""
    if len(ratios) < 2:
        return f"{ratios[0]:.2f}" if ratios else "–"
    return f"{mean_ratio(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


if __name__ == "__main__":
    main()
