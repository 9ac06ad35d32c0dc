"""How soon a target with very many seeds is fuzzed: fuzzwise beside libFuzzer itself.

20,000 small files are the corpus of an example. libFuzzer, without fuzzwise, loads them
(``-runs=0``); then sessions of both engines begin with them, until the first inputs are made, which
includes finding the files, starting the process and counting. After that, the target's process is
started again, as after a crash. All in turns, and the ratios to libFuzzer beside it.
Run ``python benchmarks/many_seeds.py [--files N] [--repeats N]``.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fuzzwise.engines.contract import Session, TargetPlan
from fuzzwise.engines.libfuzzer.session import LibFuzzerSession
from fuzzwise.engines.libfuzzer.settings import LibFuzzerSettings
from fuzzwise.engines.stock.session import StockSession
from fuzzwise.engines.stock.settings import StockSettings
from timing import report, seconds

SOURCE = Path(__file__).parents[1] / "examples" / "ini.c"
FEW = 10
LONG = 600.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=9)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_seeds(folder / "seeds", words.files)
        build = [sys.executable, "-m", "fuzzwise", "build", str(SOURCE), "-o", f"{folder}/observed"]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        plain = ["clang", "-g", "-O1", "-fsanitize=fuzzer", str(SOURCE), "-o", f"{folder}/stock"]
        subprocess.run(plain, check=True)
        alone: list[float] = []
        ratios: dict[str, list[float]] = {}
        for _ in range(words.repeats):
            alone.append(seconds(lambda: load(folder)))
            for engine in ("observed", "stock"):
                for when, time in starts(engine, folder):
                    ratios.setdefault(f"{engine}, {when}", []).append(time / alone[-1])
    report(f"libFuzzer loads {words.files:,} files", alone, "s", "")
    for name, found in ratios.items():
        report(f"{name}: times as long", found, "", "≤ 2")


def write_seeds(folder: Path, many: int) -> None:
    """Small files of one to five sections, all of which differ."""
    folder.mkdir()
    rng = random.Random(1)
    for number in range(many):
        sections = (
            f"[s{rng.randrange(50)}]\nkey{rng.randrange(900)} = {rng.randrange(10**6)}\n"
            for _ in range(rng.randrange(1, 6))
        )
        (folder / f"seed{number:05}.ini").write_text(f"; {number}\n{''.join(sections)}")


def load(folder: Path) -> None:
    """What its user has without us: the corpus is read and executed."""
    words = [f"{folder}/stock", "-runs=0", str(folder / "seeds")]
    subprocess.run(words, check=True, stderr=subprocess.DEVNULL)


def starts(engine: str, folder: Path) -> list[tuple[str, float]]:
    """How long the first inputs take, and some more from another process."""
    out = folder / "out"
    made = []
    for when, inputs in (("first start", FEW), ("started again", 2 * FEW)):
        session = opened(engine, folder, out, inputs)
        made.append((when, seconds(lambda session=session: session.turn(LONG, 1))))  # type: ignore[misc]
    shutil.rmtree(out)
    return made


def opened(engine: str, folder: Path, out: Path, inputs: int) -> Session:
    program = (f"{folder}/{engine}",)
    corpus = (folder / "seeds",)
    if engine == "stock":
        settings = StockSettings(inputs=inputs)
        return StockSession(TargetPlan("ini", "stock", program, corpus, settings=settings), out, 1)
    observed = LibFuzzerSettings(inputs=inputs)
    plan = TargetPlan("ini", "libfuzzer", program, corpus, settings=observed)
    return LibFuzzerSession(plan, out, 1)


if __name__ == "__main__":
    main()
