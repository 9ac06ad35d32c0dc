"""What turns cost a stock target: features beside those of one process that is never interrupted.

Run ``python benchmarks/stock_turns.py PROGRAM [CORPUS…] --turn 10 --time 60``. PROGRAM is any program
with libFuzzer, for example one that ``benchmarks/subjects.py`` built. Both run at the same time, each
on one core. On a busy machine they get unequal shares of it, so what counts is features after equally
many executions, those of the corpus at each start included; that leaves out only how long it takes to
start a process, which stands beside it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.stock.process import StockProcess
from fuzzwise.engines.stock.session import StockSession

STATUS = re.compile(r"^#(\d+)\t\w+ +cov: \d+ ft: (\d+) ", re.MULTILINE)
UNITS = re.compile(r"^stat::number_of_executed_units: (\d+)$", re.MULTILINE)

Curve = list[tuple[int, int]]
"""Executions, and features that were seen by then."""


class Kept(StockProcess):
    """A process whose log is kept."""

    logs: dict[int, bytearray]

    def _take(self, chunk: bytes) -> None:
        self.logs.setdefault(self.pid, bytearray()).extend(chunk)
        super()._take(chunk)


def curve(logs: list[str]) -> Curve:
    """The features of processes that came one after the other."""
    before, best, found = 0, 0, [(0, 0)]
    for log in logs:
        for n, features in STATUS.findall(log):
            best = max(best, int(features))
            found.append((before + int(n), best))
        before += int((UNITS.findall(log) or [0])[-1])
    return [*found, (before, best)]


def at(executions: int, known: Curve) -> int:
    """Features after so many executions."""
    return max(features for n, features in known if n <= executions)


def in_turns(plan: TargetPlan, folder: Path, turn: float, time: float, seed: int) -> Curve:
    """The stock engine's own."""
    from fuzzwise.engines.stock import fuzzing

    Kept.logs = {}
    fuzzing.StockProcess = Kept  # type: ignore[misc]
    session = StockSession(plan, folder, seed)
    for _ in range(round(time / turn)):
        session.turn(turn, 1)
    return curve([log.decode(errors="replace") for log in Kept.logs.values()])


def main() -> None:
    """Measure one program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("corpus", type=Path, nargs="*")
    parser.add_argument("--turn", type=float, default=10.0)
    parser.add_argument("--time", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    corpus = tuple(place.absolute() for place in asked.corpus)
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        (home / "plain").mkdir()
        words = [str(asked.program.absolute()), f"-max_total_time={asked.time:.0f}"]
        words += ["-reload=0", "-print_final_stats=1", f"-seed={asked.seed}"]
        words += ["-timeout=10", f"-artifact_prefix={home}/", str(home / "plain")]
        with (home / "log").open("w") as log:
            plain = subprocess.Popen(
                [*words, *map(str, corpus)], stderr=log, stdout=subprocess.DEVNULL, cwd=home
            )
            plan = TargetPlan("t", "stock", (words[0],), corpus)
            ours = in_turns(plan, home / "out", asked.turn, asked.time, asked.seed)
            plain.wait()
        theirs = curve([(home / "log").read_text(errors="replace")])
        record = StockSession(plan, home / "out", 1)._folder.record() or {}
    equal = min(ours[-1][0], theirs[-1][0])
    print(
        f"{asked.program.name}, turns of {asked.turn:g} s in {asked.time:g} s: features "
        f"{at(equal, ours):,} to {at(equal, theirs):,} after {equal:,} executions, "
        f"{at(equal, ours) / at(equal, theirs):.3f}; starts took {record['loading']:.1f} s "
        f"({record['starts']} processes)",
        flush=True,
    )


if __name__ == "__main__":
    main()
