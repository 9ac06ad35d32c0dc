"""What observing costs on real libraries: the same inputs in a second of CPU, beside stock libFuzzer.

Run ``make real-speed``; the table goes to docs/real-speed.md, with the 95 % interval of each ratio.
What is covered in equal time is measured by ``equal_time.py``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shutil
import statistics
import subprocess
from pathlib import Path

from scipy import stats

from real import DEFAULT_WORK, chosen, starting_corpus, target, write_part
from subjects import Subject

SECONDS = 4
REPEATS = 10


def main() -> None:
    """Run the races and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    options = parser.parse_args()
    kept = options.work / "speed.json"
    results: dict[str, dict[str, list[float]]] = (
        json.loads(kept.read_text()) if kept.exists() else {}
    )
    for repeat in range(options.repeats):
        for subject in chosen(options.names):
            rows = results.setdefault(subject.name, {"observe": [], "observe-asan": []})
            if len(rows["observe-asan"]) > repeat:
                continue
            rows["observe"].append(_observed(subject, options, repeat, asan=False))
            rows["observe-asan"].append(_observed(subject, options, repeat, asan=True))
            kept.write_text(json.dumps(results))
            print(subject.name, repeat, {k: round(v[-1], 3) for k, v in rows.items()}, flush=True)
    write_part(options.out / "real-speed.md", "real_speed.py", _table(results, options))


def _observed(subject: Subject, options: argparse.Namespace, seed: int, *, asan: bool) -> float:
    """Executions a second of CPU under observation over those of stock libFuzzer.

    Both run the same inputs, a grown corpus over and over: in free runs, how fast they are depends
    more on which inputs they come by than on who watches.
    """
    work = options.work / "race"
    shutil.rmtree(work, ignore_errors=True)
    (work / "state").mkdir(parents=True)
    grown = str(_grown(subject, options))
    stock = target(subject, options.work, stock=True, asan=asan)
    ours = target(subject, options.work, stock=False, asan=asan)
    once = _cpu(stock, [grown], {})
    many = [grown] * max(2, math.ceil(options.seconds / 2 / once))
    state = {"FUZZWISE_STATE": str(work / "state"), "FUZZWISE_SCHEDULE": "3"}
    times = {}
    for which in ("stock", "ours") if seed % 2 else ("ours", "stock"):
        program, environment = (stock, {}) if which == "stock" else (ours, state)
        times[which] = _cpu(program, many, environment)
    return times["stock"] / times["ours"]


def _cpu(program: Path, corpora: list[str], environment: dict[str, str]) -> float:
    """CPU seconds to run every input of the corpora once."""
    words = [str(program), "-runs=0", "-shuffle=0", "-detect_leaks=0", *corpora]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, capture_output=True, env={**os.environ, **environment}, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _grown(subject: Subject, options: argparse.Namespace) -> Path:
    """A corpus on which little is left to find, made once by stock libFuzzer."""
    folder: Path = options.work / "grown" / subject.name
    if not folder.exists():
        partial = folder.with_name(f".{subject.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        start = starting_corpus(subject, options.work)
        _stock(target(subject, options.work, stock=True), 0, 20, partial, start)
        partial.rename(folder)
    return folder


def _stock(stock: Path, seed: int, seconds: float, corpus: Path, start: Path) -> None:
    """Run stock libFuzzer."""
    words = [f"-max_total_time={math.ceil(seconds)}", f"-seed={seed + 1}", "-detect_leaks=0"]
    command = [str(stock), *words, str(corpus), str(start)]
    subprocess.run(command, capture_output=True, check=True)


def _interval(ratios: list[float]) -> tuple[float, float, float]:
    """Geometric mean with its 95 % interval (Student's t on the logarithms)."""
    logs = [math.log(r) for r in ratios]
    middle = statistics.mean(logs)
    half = 0.0
    if len(logs) > 1:
        half = float(stats.t.ppf(0.975, len(logs) - 1)) * statistics.stdev(logs) / len(logs) ** 0.5
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half)


def _table(results: dict[str, dict[str, list[float]]], options: argparse.Namespace) -> list[str]:
    lines = [
        f"{options.repeats} alternating runs of {options.seconds:g} s for each library; geometric means with 95 % intervals.",
        "",
        "| library | plain | with ASan |",
        "|---|---|---|",
    ]
    kinds = ("observe", "observe-asan")
    for name, rows in results.items():
        cells = ["{:.2f} ({:.2f} to {:.2f})".format(*_interval(rows[kind])) for kind in kinds]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    totals = [_interval([_interval(rows[k])[0] for rows in results.values()])[0] for k in kinds]
    lines.append(f"| geometric mean | {totals[0]:.2f} | {totals[1]:.2f} |")
    return lines


if __name__ == "__main__":
    main()
