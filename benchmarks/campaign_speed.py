"""What managing costs: the manager's CPU time with 100 targets, and a choice among 10,000.

    python benchmarks/campaign_speed.py [--after 5] [--seconds 60] [--epochs 10 1]

Half of the 100 targets are libFuzzer harnesses, half black boxes, all from examples/. The share is
the manager's own CPU time (its threads, not the processes it starts) divided by the cores times the
time on the wall, over ``--seconds`` that begin ``--after`` so many; starting Python and building are
left out, as they happen once. In the first minutes it is highest: most seeds are found, and written
as files, then.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from fuzzwise.schedulers.base import EpochResult, Scheduler
from fuzzwise.schedulers.registry import policies

EXAMPLES = Path(__file__).parents[1] / "examples"
HARNESSES = ("url", "base64", "expression", "lz", "ini")
PROGRAMS = ("records", "shapes")
COPIES = 10


def campaign_file(folder: Path, epoch: float) -> Path:
    """100 targets: each harness ten times, each program with its seeds."""
    lines = ["[campaign]", "cores = 2", f'epoch = "{epoch:g}s"', ""]
    for name in HARNESSES:
        for copy in range(COPIES):
            lines += ["[[target]]", f'name = "{name}-{copy}"', f'program = "{folder / name}"', ""]
    for name in PROGRAMS:
        seeds = sorted((EXAMPLES / "seeds").glob(f"{name}-*"))
        for copy in range(25):
            seed = seeds[copy % len(seeds)]
            lines += ["[[target]]", f'name = "{name}-{copy}"', f'corpus = "{seed}"']
            lines += [f'command = ["{folder / name}", "@@"]', ""]
    path = folder / f"campaign-{epoch:g}.toml"
    path.write_text("\n".join(lines))
    return path


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def share(folder: Path, epoch: float, after: float, seconds: float) -> float:
    """The manager's part of the CPU time of a campaign."""
    path = campaign_file(folder, epoch)
    words = [
        sys.executable,
        "-m",
        "fuzzwise",
        "run",
        str(path),
        "--time",
        f"{after + seconds + 10}s",
    ]
    words += ["--out", str(folder / f"out-{epoch:g}")]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        time.sleep(after)
        before, began = cpu_seconds(run.pid), time.monotonic()
        time.sleep(seconds)
        used, took = cpu_seconds(run.pid) - before, time.monotonic() - began
        run.terminate()
    return used / (2 * took)


def choice_milliseconds(count: int, repeats: int = 200) -> list[float]:
    """How long the default scheduler takes to choose among so many targets."""
    rng = np.random.default_rng(1)
    scheduler = Scheduler(policies()["risk-rate"], count, rng)
    for arm in range(count):
        found = int(rng.integers(0, 3))
        scheduler.recall(arm, EpochResult(1000, 10.0, found, found, kept=50, discovery_rate=0.1))
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        arm = scheduler.choose()
        scheduler.next_best(arm)
        taken.append(1000 * (time.perf_counter() - began))
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--after", type=float, default=5)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--epochs", type=float, nargs="+", default=[10, 1])
    options = parser.parse_args()
    taken = choice_milliseconds(10_000)
    print(
        f"choice among 10,000 targets: median {statistics.median(taken):.3f} ms, "
        f"longest {max(taken):.3f} ms of {len(taken)}"
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in HARNESSES:
            words = ["build", str(EXAMPLES / f"{name}.c"), "-fsanitize=address", "-o"]
            subprocess.run(
                [sys.executable, "-m", "fuzzwise", *words, str(folder / name)], check=True
            )
        for name in PROGRAMS:
            words = ["cc", "-O1", "-g", "-fstack-protector-strong", str(EXAMPLES / f"{name}.c")]
            subprocess.run([*words, "-o", str(folder / name)], check=True)
        for epoch in options.epochs:
            part = share(folder, epoch, options.after, options.seconds)
            print(f"manager with 100 targets, epochs of {epoch:g} s: {part:.2%} of the CPU time")


if __name__ == "__main__":
    main()
