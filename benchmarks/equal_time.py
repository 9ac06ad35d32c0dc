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
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import exp, log
from pathlib import Path

from afl_campaign import ENVIRONMENT
from fuzzwise.files import write_whole
from real import DEFAULT_WORK, chosen, starting_corpus, target, write_part
from real_campaigns import is_for_choosing
from subjects import Subject, build
from two_engines import features

OURS, STOCK, AFL, CMPLOG = "fuzzwise", "libFuzzer", "AFL++", "AFL++ with cmplog"
MEMORY = Path("/dev/shm")
LOOK = 0.1
PAGE = Path("docs/real-speed.md")
KEPT = Path(__file__).parents[1] / "datasets" / "equal-time.jsonl"


@dataclass(frozen=True, order=True)
class Result:
    """What one run has covered; ``seconds`` is what was asked for."""

    library: str
    fuzzer: str
    seconds: int
    seed: int
    features: int


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
    results = known(asked.work)
    for seconds in sorted({one.seconds for one in results}):
        lines = table([one for one in results if one.seconds == seconds], seconds)
        print("\n".join(lines))
        if asked.page:
            write_part(PAGE, f"equal_time.py, {seconds} s", lines)
    if asked.page:
        write_whole(KEPT, "".join(json.dumps(asdict(one)) + "\n" for one in results).encode())


def measure(asked: argparse.Namespace) -> None:
    """The runs that are missing, repeat by repeat."""
    done = {(one.library, one.fuzzer, one.seconds, one.seed) for one in known(asked.work)}
    for seed in range(1, asked.repeats + 1):
        for subject in chosen(asked.names):
            for fuzzer in asked.fuzzer or (OURS, STOCK, AFL, CMPLOG):
                if (subject.name, fuzzer, asked.seconds, seed) not in done:
                    found = run(subject, asked.work, fuzzer, asked.seconds, seed)
                    with (asked.work / f"equal-time-{subject.name}.jsonl").open("a") as log:
                        log.write(json.dumps(asdict(found)) + "\n")
                    print(found, file=sys.stderr, flush=True)


def known(work: Path) -> list[Result]:
    """What was measured so far, and what is kept of earlier sittings."""
    files = [*sorted(work.glob("equal-time-*.jsonl")), *([KEPT] if KEPT.exists() else [])]
    lines = [line for file in files for line in file.read_text().splitlines()]
    return sorted({Result(**json.loads(line)) for line in lines})


def run(subject: Subject, work: Path, fuzzer: str, seconds: int, seed: int) -> Result:
    """One fuzzer for so long, and what it covers in the end."""
    corpus, stock = starting_corpus(subject, work).resolve(), target(subject, work, stock=True)
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else work) as folder:
        home = Path(folder)
        words, kept = _command(subject, work, fuzzer, corpus, home, seed)
        _until(words, seconds, home)
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
        words += ["-c", str(_afl(subject, work, cmplog=True))]
    return [*words, "--", str(_afl(subject, work))], home / "out" / "default" / "queue"


def _afl(subject: Subject, work: Path, *, cmplog: bool = False) -> Path:
    """The program for AFL++, with its own driver for such harnesses."""
    if cmplog:
        os.environ["AFL_LLVM_CMPLOG"] = "1"
    try:
        return build(
            subject, work, "afl-cmplog" if cmplog else "afl-stock", ["afl-clang-fast"],
            ["afl-clang-fast++"], ["-O2", "-g"], ["-fsanitize=fuzzer"],
        ).resolve()  # fmt: skip
    finally:
        os.environ.pop("AFL_LLVM_CMPLOG", None)


def _until(words: list[str], seconds: int, home: Path) -> None:
    """Run a command until its processes have used so much of a processor."""
    with (home / "said").open("wb") as said:
        started = subprocess.Popen(
            words,
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            env={**os.environ, **ENVIRONMENT},
            start_new_session=True,
        )
        try:
            while _used(started.pid) < seconds:
                time.sleep(LOOK)
                if started.poll() is not None:
                    raise SystemExit(f"{' '.join(words)} has ended: {(home / 'said').read_text()}")
        finally:
            started.send_signal(signal.SIGINT)
            try:
                started.wait(30)
            except subprocess.TimeoutExpired:
                started.kill()
                started.wait()


def _used(root: int) -> float:
    """Seconds of processors that a process and all below it took, those that have ended included."""
    parents, times = {}, {}
    for pid, words in _processes():
        parents[pid], times[pid] = int(words[1]), sum(map(int, words[11:15]))
    ours = {root}
    before: set[int] = set()
    while ours != before:
        before = set(ours)
        ours |= {pid for pid, parent in parents.items() if parent in ours}
    return sum(times.get(pid, 0) for pid in ours) / os.sysconf("SC_CLK_TCK")


def _processes() -> Iterator[tuple[int, list[str]]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                yield int(entry.name), (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):  # it has just ended
                continue


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
                means.setdefault((half, fuzzer), []).append(_mean(ratios))
            cells.append(_cell(ratios))
        lines.append(f"| {name} | {half} | {seconds} s | {' | '.join(cells)} | {repeats} |")
    for half in ("choosing", "checking"):
        found = [means.get((half, fuzzer), []) for fuzzer in (OURS, AFL, CMPLOG)]
        if len(found[0]) < 2:
            continue
        whole = len(found[0])  # a mean of fewer libraries is not to be compared with it
        cells = [f"**{_mean(one):.2f}**" if len(one) == whole else "–" for one in found]
        lines.append(
            f"| geometric mean of {whole} | {half} | {seconds} s | {' | '.join(cells)} | |"
        )
    return lines


def _ratios(results: list[Result], name: str, fuzzer: str) -> list[float]:
    own = {(one.fuzzer, one.seed): one.features for one in results if one.library == name}
    seeds = sorted(seed for kind, seed in own if kind == fuzzer and (STOCK, seed) in own)
    return [own[fuzzer, seed] / own[STOCK, seed] for seed in seeds]


def _mean(ratios: list[float]) -> float:
    return exp(statistics.fmean(map(log, ratios)))


def _cell(ratios: list[float]) -> str:
    if len(ratios) < 2:
        return f"{ratios[0]:.2f}" if ratios else "–"
    return f"{_mean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


if __name__ == "__main__":
    main()
