"""libFuzzer and AFL++ on one target: by what each adds, in equal halves, and each alone.

Every way has the same time on one core. The two ways of a pair run side by side, on a core each,
which change from repeat to repeat: whatever else the machine does concerns both, so that only these
are compared. What a way has kept in the end is run through one and the same stock build, which
counts features. ``python benchmarks/two_engines.py expat libyaml --seconds 60 --repeats 2``
runs what is missing, and prints the table.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from fuzzwise.campaign.file import read_plan
from fuzzwise.campaign.manager import Manager
from fuzzwise.campaign.sessions import open_sessions
from fuzzwise.campaign.threads import Threads
from fuzzwise.store.places import open_store
from fuzzwise.triage.workers import Workers
from real import chosen, starting_corpus, target
from subjects import Subject, build

WAYS = {
    "by what each adds": ("libfuzzer", "afl++", "risk-rate"),
    "equal halves": ("libfuzzer", "afl++", "round-robin"),
    "libFuzzer alone": ("libfuzzer", "", "risk-rate"),
    "AFL++ alone": ("", "afl++", "risk-rate"),
}
PAIRS = (
    ("by what each adds", "libFuzzer alone"),
    ("by what each adds", "equal halves"),
    ("AFL++ alone", "libFuzzer alone"),
)
"""What is compared: the first over the second."""

MEMORY = Path("/dev/shm")


def built(subject: Subject, work: Path) -> dict[str, Path]:
    """The observed libFuzzer build of a subject, that for AFL++, and the stock one that counts."""
    afl = build(
        subject, work, "afl-stock", ["afl-clang-fast"], ["afl-clang-fast++"],
        ["-O2", "-g"], ["-fsanitize=fuzzer"],
    )  # fmt: skip
    return {
        "libfuzzer": target(subject, work, stock=False),
        "afl++": afl,
        "stock": target(subject, work, stock=True),
    }


def campaign(programs: dict[str, Path], corpus: Path, way: str, seconds: float, seed: int) -> str:
    """The campaign file of a way."""
    *engines, scheduler = WAYS[way]
    used = [engine for engine in engines if engine]
    key = "[[target.build]]\n" if len(used) > 1 else ""
    builds = [f'{key}engine = "{one}"\nprogram = "{programs[one].resolve()}"\n' for one in used]
    return (
        f'[campaign]\nbudget = "{seconds:g}s"\ncores = 1\nscheduler = "{scheduler}"\n'
        f'seed = {seed}\n[[target]]\nname = "t"\ncorpus = "{corpus.resolve()}"\n{"".join(builds)}'
    )


def run_one(name: str, work: Path, way: str, seconds: float, seed: int, file: Path) -> None:
    """A campaign of a way, and what it covers in the end."""
    (subject,) = chosen([name])
    programs, corpus = built(subject, work), starting_corpus(subject, work)
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else work) as folder:
        text = Path(folder) / "c.toml"
        text.write_text(campaign(programs, corpus, way, seconds, seed))
        plan = read_plan(text, Path(folder) / "out")
        before = sum(os.times()[:4])
        with open_store(plan.folder) as store, Workers(1) as workers:
            executor = Threads(open_sessions(plan, workers), 1)
            Manager(plan, store, executor).run(plan.budget, lambda: None)
            (told,) = store.state().targets
        cpu = sum(os.times()[:4]) - before
        kept = [corpus, *(plan.folder / "targets").glob("**/corpus")]
        result = {
            "library": name,
            "way": way,
            "seconds": seconds,
            "features": features(programs["stock"], kept),
            "inputs": told.inputs,
            "cpu": cpu,
            "builds": {
                one.engine: [one.seconds, one.inputs, one.discoveries, one.imported]
                for one in told.builds
            },
        }
    partial = file.with_suffix(".part")
    partial.write_text(json.dumps(result))
    partial.rename(file)
    print(f"{name}, {way}: {result['features']:,} features, {cpu:.0f} s of CPU", flush=True)


def features(stock: Path, corpora: list[Path]) -> int:
    """What stock libFuzzer counts on all files of some folders together."""
    with tempfile.TemporaryDirectory() as empty:
        words = [str(stock), "-runs=0", empty, *map(str, corpora)]
        said = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    found = re.search(r"INITED cov: \d+ ft: (\d+)", said.stderr)
    assert found, said.stderr[-500:]
    return int(found[1])


def measure(names: list[str], work: Path, seconds: float, repeats: int, most: int) -> None:
    """Run what is missing, two ways side by side, but no more than so many pairs."""
    results = work / "two-engines"
    results.mkdir(parents=True, exist_ok=True)
    cores = sorted(os.sched_getaffinity(0))[:2]
    for repeat in range(1, repeats + 1):
        for number, pair in enumerate(PAIRS, start=1):
            for name in names:
                start = results / f"{name}-{seconds:g}-{repeat}-{number}"
                files = [start.with_name(f"{start.name}-{way}.json") for way in pair]
                if all(file.exists() for file in files) or most <= 0:
                    continue
                most -= 1
                turned = [cores[(place + repeat) % len(cores)] for place in range(2)]
                running = [
                    _start(name, work, [way, str(seconds), str(repeat), str(file)], core)
                    for way, file, core in zip(pair, files, turned, strict=True)
                ]
                if any(one.wait() for one in running):
                    raise SystemExit(f"A campaign on {name} has failed.")


def _start(name: str, work: Path, what: list[str], core: int) -> subprocess.Popen[bytes]:
    words = [sys.executable, __file__, name, "--work", str(work), "--one", *what]
    return subprocess.Popen(words, preexec_fn=lambda: os.sched_setaffinity(0, {core}))


def table(work: Path, seconds: float) -> list[str]:
    """For each pair, the features of both, and the first over the second, by library."""
    made = [
        "| compared | library | features | ratio | AFL++'s time | repeats |",
        "|---|" + "---|" * 5,
    ]
    for number, pair in enumerate(PAIRS, start=1):
        found: dict[str, list[list[dict[str, Any]]]] = {}
        for file in sorted((work / "two-engines").glob(f"*-{seconds:g}-*-{number}-{pair[0]}.json")):
            beside = file.with_name(file.name.replace(pair[0], pair[1]))
            if beside.exists():
                both = [json.loads(one.read_text()) for one in (file, beside)]
                found.setdefault(both[0]["library"], []).append(both)
        ratios = []
        for name, runs in found.items():
            first, second = (statistics.mean(run[i]["features"] for run in runs) for i in (0, 1))
            ratios.append(first / second)
            cells = [f"{pair[0]} / {pair[1]}", name, f"{first:,.0f} / {second:,.0f}"]
            cells += [f"{ratios[-1]:.2f}", _share(runs), str(len(runs))]
            made.append(f"| {' | '.join(cells)} |")
        if ratios:
            mean = math.exp(statistics.mean(map(math.log, ratios)))
            made.append(f"| {pair[0]} / {pair[1]} | **geometric mean** | | **{mean:.2f}** | | |")
    return made


def _share(runs: list[list[dict[str, Any]]]) -> str:
    """The part of the time that AFL++ got where both took turns; "" where they did not."""
    spent = [{name: row[0] for name, row in run[0]["builds"].items()} for run in runs]
    if not all(spent):
        return ""
    return f"{statistics.mean(one['afl++'] / sum(one.values()) for one in spent):.0%}"


def main() -> None:
    """Run what is missing and print the table; or run one campaign of a pair."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["expat", "libyaml", "libpng"])
    parser.add_argument("--work", type=Path, default=Path("subjects-work"))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--most", type=int, default=1000, help="pairs that are run at most")
    parser.add_argument("--only-build", action="store_true")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    work = options.work.resolve()
    if options.one:
        way, seconds, seed, file = options.one
        run_one(options.names[0], work, way, float(seconds), int(seed), Path(file))
        return
    for subject in chosen(options.names):
        built(subject, work)
        starting_corpus(subject, work)
    if not options.only_build:
        measure(options.names, work, options.seconds, options.repeats, options.most)
        print("\n".join(table(work, options.seconds)))


if __name__ == "__main__":
    main()
