"""libFuzzer and AFL++ on one target in equal core time: by what each adds, in equal halves, and each alone.

Run ``python benchmarks/two_engines.py [NAME …] --seconds 60 --repeats 2``: every way is a campaign of one
target from the same seeds, which ends when all its processes together have used so many seconds of a
processor. What it has kept is then run through one and the same stock build, which counts features. The
same call goes on where it ended; ``--page`` keeps the results in ``datasets/two-engines.jsonl`` and writes
the table into docs/builds.md. How time is divided was adjusted on three libraries (``ADJUSTED``); the
others check it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from core_time import MEMORY, until
from equal_time import mean_ratio, ratio_cell
from fuzzwise.campaign.file import default_epoch
from real import DEFAULT_WORK, afl_target, chosen, features, starting_corpus, target, write_part
from sittings import Sittings
from subjects import Subject

BY_WORTH, HALVES, LIBFUZZER, AFL = (
    "by what each adds",
    "equal halves",
    "libFuzzer alone",
    "AFL++ alone",
)
WAYS = {
    BY_WORTH: ("libfuzzer", "afl++", "risk-rate"),
    HALVES: ("libfuzzer", "afl++", "round-robin"),
    LIBFUZZER: ("libfuzzer", "risk-rate"),
    AFL: ("afl++", "risk-rate"),
}
"""The engines of each way, and its scheduler."""

ADJUSTED = ("expat", "libpng", "libyaml")
PAGE = Path("docs/builds.md")


@dataclass(frozen=True, order=True)
class Result:
    """What one way has covered; ``afl`` is AFL++'s part of the time, where two engines shared it."""

    library: str
    way: str
    seconds: int
    seed: int
    features: int
    afl: float | None


SITTINGS = Sittings("two-engines", Result)


def main() -> None:
    """Run what is missing, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--page", action="store_true", help="only write what was measured")
    asked = parser.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    if not asked.page:
        measure(asked)
    results = SITTINGS.known(asked.work)
    for seconds in sorted({one.seconds for one in results}):
        lines = table([one for one in results if one.seconds == seconds])
        print("\n".join(lines))
        if asked.page:
            write_part(PAGE, f"two_engines.py, {seconds} s", lines)
    if asked.page:
        SITTINGS.keep(results)


def measure(asked: argparse.Namespace) -> None:
    """The runs that are missing, repeat by repeat."""
    done = {(one.library, one.way, one.seconds, one.seed) for one in SITTINGS.known(asked.work)}
    for seed in range(1, asked.repeats + 1):
        for subject in chosen(asked.names):
            for way in WAYS:
                if (subject.name, way, asked.seconds, seed) not in done:
                    found = run(subject, asked.work, way, asked.seconds, seed)
                    SITTINGS.add(asked.work, subject.name, found)


def run(subject: Subject, work: Path, way: str, seconds: int, seed: int) -> Result:
    """A campaign of a way for so long, and what it covers in the end."""
    corpus, stock = starting_corpus(subject, work).resolve(), target(subject, work, stock=True)
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else work) as folder:
        home, out = Path(folder), Path(folder) / "out"
        file = home / "campaign.toml"
        file.write_text(campaign(subject, work, corpus, way, seconds, seed))
        fuzzwise = [sys.executable, "-m", "fuzzwise"]
        until([*fuzzwise, "run", str(file), "--out", str(out), "--quiet"], seconds, home)
        words = [*fuzzwise, "status", str(out), "--json"]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        (told,) = json.loads(said)["targets"]
        found = features(stock, [corpus, *sorted((out / "targets").glob("**/corpus"))])
    return Result(subject.name, way, seconds, seed, found, _afl_part(told["builds"] or []))


def campaign(subject: Subject, work: Path, corpus: Path, way: str, seconds: int, seed: int) -> str:
    """The campaign file of a way; its budget is out of reach, its epochs are those of ``seconds``."""
    programs = {
        "libfuzzer": target(subject, work, stock=False).resolve(),
        "afl++": afl_target(subject, work),
    }
    *engines, scheduler = WAYS[way]
    key = "[[target.build]]\n" if len(engines) > 1 else ""
    builds = [f'{key}engine = "{one}"\nprogram = "{programs[one]}"\n' for one in engines]
    return (
        f'[campaign]\nbudget = "{100 * seconds}s"\ncores = 1\nscheduler = "{scheduler}"\n'
        f'seed = {seed}\nepoch = "{default_epoch(seconds, 1, 1):g}s"\n'
        f'[[target]]\nname = "t"\ncorpus = "{corpus}"\n{"".join(builds)}'
    )


def _afl_part(builds: list[dict[str, object]]) -> float | None:
    seconds = {str(one["engine"]): float(str(one["seconds"])) for one in builds}
    return seconds["afl++"] / sum(seconds.values()) if seconds else None


def table(results: list[Result]) -> list[str]:
    """Ratios to libFuzzer alone with the same random seed, by library and over each half."""
    lines = [
        "| library | half | by what each adds | AFL++'s time | equal halves | AFL++ alone | repeats |",
        "|---|---|---|---|---|---|---|",
    ]
    means: dict[tuple[str, str], list[float]] = {}
    for name in sorted({one.library for one in results}):
        half = "adjusted on" if name in ADJUSTED else "checking"
        own = [one for one in results if one.library == name]
        ratios = {way: _ratios(own, way) for way in (BY_WORTH, HALVES, AFL)}
        for way, found in ratios.items():
            if found:
                means.setdefault((half, way), []).append(mean_ratio(found))
        parts = [one.afl for one in own if one.way == BY_WORTH and one.afl is not None]
        cells = [ratio_cell(ratios[BY_WORTH]), f"{statistics.fmean(parts):.0%}" if parts else "–"]
        cells += [ratio_cell(ratios[HALVES]), ratio_cell(ratios[AFL])]
        lines.append(f"| {name} | {half} | {' | '.join(cells)} | {len(ratios[BY_WORTH])} |")
    for half in ("adjusted on", "checking"):
        count = len(means.get((half, BY_WORTH), []))
        if count > 1:
            first, *rest = (
                f"**{mean_ratio(means[half, way]):.2f}**" for way in (BY_WORTH, HALVES, AFL)
            )
            lines.append(
                f"| geometric mean of {count} | {half} | {first} | | {' | '.join(rest)} | |"
            )
    return lines


def _ratios(results: list[Result], way: str) -> list[float]:
    alone = {one.seed: one.features for one in results if one.way == LIBFUZZER}
    return [
        one.features / alone[one.seed] for one in results if one.way == way and one.seed in alone
    ]


if __name__ == "__main__":
    main()
