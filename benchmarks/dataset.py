"""Records the data set of black boxes: programs of Debian, fuzzed as they are.

Run ``make dataset`` (packages are installed with apt-get) for as long as you like: five minutes of
each configuration are some eight hours of a core, so Ctrl-C may end it at any time, and the same
command goes on. What ``datasets/blackbox`` has is not recorded again; ``make dataset-keep``
adds what is whole (``kept_blackboxes.py``). Several machines share the work by ``--part 1/3`` and
so on. Times differ from machine to machine, inputs do not.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dataset_programs import CONFIGURATIONS, install_packages
from dataset_seeds import make_seeds
from kept_blackboxes import RECORDED, SECONDS, WORK, kept_names, lay_out

TIMEOUT = 0.5
RATIO = (0.0003, 0.03)


@dataclass(frozen=True)
class Row:
    """A configuration as the file says it that orders the recording."""

    name: str
    command: str
    seed: str


def main() -> None:
    """Set up, and record what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=WORK)
    parser.add_argument("--time", default=f"{SECONDS}s", help="of each; only the default is kept")
    parser.add_argument("--cores", type=int, default=1, help="recordings at once")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="the K-th of N machines")
    options = parser.parse_args()
    rows = missing(part(all_rows(), options.part), kept_names())
    if not rows:
        print("Nothing is missing.")
        return
    work: Path = options.work.absolute()
    set_up(work)
    begun = lay_out(work / RECORDED, {row.name for row in rows})
    rows.sort(key=lambda row: row.name not in begun)
    plan = work / "plan.toml"
    plan.write_text(plan_text(rows, options.time, options.cores))
    print(f"{len(rows)} of {len(all_rows())} configurations are to be recorded.", flush=True)
    code = record(plan, work / RECORDED)
    print("What is whole is added to the repository by: make dataset-keep")
    raise SystemExit(code)


def all_rows() -> list[Row]:
    """Every configuration."""
    return [Row(row.name, row.command, f"seeds/{row.seed}") for row in CONFIGURATIONS]


def missing(rows: Sequence[Row], kept: set[str]) -> list[Row]:
    """Those that nobody has recorded yet."""
    return [row for row in rows if row.name not in kept]


def part(rows: Sequence[Row], which: str) -> list[Row]:
    """Every N-th of them from the K-th on, for ``K/N``: several machines have nothing twice."""
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", which)
    if not found or int(found[1]) > int(found[2]):
        raise SystemExit(f"--part is {which!r}; expected K/N, such as 1/2, with K at most N.")
    return list(rows[int(found[1]) - 1 :: int(found[2])])


def set_up(work: Path) -> None:
    """Install the programs, make every seed."""
    (work / "seeds").mkdir(parents=True, exist_ok=True)
    install_packages()
    make_seeds(work / "seeds")


def plan_text(rows: Sequence[Row], time: str, cores: int) -> str:
    """The file that orders the recording."""
    lines = [
        "[recording]",
        f'time = "{time}"',
        f"cores = {cores}",
        "[mutation]",
        f"ratio = [{RATIO[0]}, {RATIO[1]}]",
        "[limits]",
        f"time = {TIMEOUT}",
        "memory_mib = 512",
    ]
    for row in rows:
        lines.append("[[configuration]]")
        lines += [f"{key} = {json.dumps(getattr(row, key))}" for key in ("name", "command", "seed")]
    return "\n".join(lines) + "\n"


def record(plan: Path, out: Path) -> int:
    """By the command that anybody would use; how it ended.

    Ctrl-C is for the command, which saves everything, and not for this program, which would kill it.
    """
    words = ["record", str(plan), "--out", str(out), "--skip-broken"]
    command = subprocess.Popen([sys.executable, "-m", "fuzzwise", *words])
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return command.wait()
    finally:
        signal.signal(signal.SIGINT, before)


if __name__ == "__main__":
    main()
