"""Campaigns of afl-fuzz that are frozen after a number of inputs, and what was measured then.

The target is linked to the driver of ``native/afl_truth.c``, which counts mutated inputs exactly,
freezes the queue, and measures how often a further input shows something new. afl-fuzz itself is
the installed one; with a fixed seed it repeats itself, so that each campaign is run twice: once it
is stopped after n mutated inputs, which leaves the output folder that a user would have then, and
once it is frozen there.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import struct
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path

from fuzzwise.errors import BadInput
from subjects import Subject, build

NATIVE = Path(__file__).resolve().parent / "native"
FLAGS = ["-O2", "-g"]
NUMBERS = (
    *("freeze_at", "truth_inputs", "seeds", "phase", "executions"),
    *("seed", "repeat", "trim", "mutated"),
    *("at_freeze", "frozen_inputs", "hits", "discoveries", "unconfirmed", "unfinished"),
    *("variable", "broken_trims", "map_size", "frozen_executions"),
)
"""The 64-bit words at the start of ``struct record`` in ``native/afl_truth.h``."""

LOG_START = 8 * 32
MOST_DISCOVERIES = 1 << 16
DONE = 2
POLL_SECONDS = 0.02
STUCK_SECONDS = 1200.0
ENVIRONMENT = {
    "AFL_NO_UI": "1",
    "AFL_NO_AFFINITY": "1",
    "AFL_SKIP_CPUFREQ": "1",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
}


@dataclass(frozen=True)
class Measured:
    """What the driver saw: its numbers, and (execution, mutated input) of each discovery.

    ``hits``: the numbers, among the inputs made from the frozen queue, of those that showed
    something new.
    """

    numbers: dict[str, int]
    discoveries: tuple[tuple[int, int], ...]
    hits: tuple[int, ...] = ()


def driver(work: Path) -> list[str]:
    """The object files of the driver, compiled without instrumentation."""
    folder = work.resolve() / "build" / "afl-driver"
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for source in sorted(NATIVE.glob("afl_*.c")):
        compiled = folder / f"{source.stem}.o"
        newest = max(path.stat().st_mtime for path in (source, NATIVE / "afl_truth.h"))
        if not compiled.exists() or compiled.stat().st_mtime < newest:
            words = ["clang", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-c", str(source)]
            subprocess.run([*words, "-o", str(compiled)], check=True)
        made.append(str(compiled))
    return made


def target(subject: Subject, work: Path) -> Path:
    """The subject under afl-clang-fast, with the driver."""
    return build(
        subject, work, "afl", ["afl-clang-fast"], ["afl-clang-fast++"], FLAGS, driver(work)
    )


def run(
    program: Path, corpus: Path, out: Path, inputs: int, truth_inputs: int, seed: int
) -> Measured:
    """Fuzz for ``inputs`` mutated inputs, then measure with ``truth_inputs`` from the frozen queue.

    ``out`` becomes AFL++'s output folder as of the freeze, with its instance ``default``. Where the
    second campaign differs from the first (the number ``repeated`` is 0 then), it is the folder of
    the second, whose ``fuzzer_stats`` are of its end but for the executions.
    """
    stopped = fuzz(program, corpus, out, inputs, 0, seed)
    scratch = out.with_name(f"{out.name}.frozen")
    frozen = fuzz(program, corpus, scratch, inputs, truth_inputs, seed)
    repeated = frozen.discoveries == stopped.discoveries
    if repeated:
        shutil.rmtree(scratch)
    else:
        # What was measured belongs to the second campaign, so that its folder has to do.
        shutil.rmtree(out)
        scratch.rename(out)
    return replace(frozen, numbers={**frozen.numbers, "repeated": int(repeated)})


def fuzz(
    program: Path, corpus: Path, out: Path, inputs: int, truth_inputs: int, seed: int
) -> Measured:
    """One campaign, into a new folder; its counters are left as they were at the freeze."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    record, log = out.with_name(f"{out.name}.record"), out.with_name(f"{out.name}.log")
    seeds = sum(1 for path in corpus.iterdir() if path.is_file())
    record.write_bytes(struct.pack("<3Q", inputs, truth_inputs, seeds).ljust(LOG_START, b"\0"))
    words = ["afl-fuzz", "-i", corpus, "-o", out, "-s", seed, "-t", 1000, "--", program]
    try:
        with log.open("wb") as output:
            fuzzer = subprocess.Popen(
                list(map(str, words)),
                env={**os.environ, **ENVIRONMENT, "FUZZWISE_TRUTH": str(record.resolve())},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            _wait(fuzzer, record, log)
        finally:
            fuzzer.send_signal(signal.SIGINT)
            fuzzer.wait()
        measured = _read_record(record)
    finally:
        record.unlink()
    log.unlink()
    _set_back(out / "default", measured.numbers["at_freeze"])
    return measured


def _read_record(path: Path) -> Measured:
    with path.open("rb") as file:
        words = struct.unpack_from(f"<{len(NUMBERS)}Q", file.read(LOG_START))
        numbers = dict(zip(NUMBERS, words, strict=True))
        found = file.read(16 * numbers["discoveries"])
        file.seek(LOG_START + 16 * MOST_DISCOVERIES)
        hits = file.read(4 * numbers["hits"])
    discoveries = tuple(struct.iter_unpack("<2Q", found))
    return Measured(numbers, discoveries, struct.unpack(f"<{len(hits) // 4}L", hits))


def _wait(fuzzer: subprocess.Popen[bytes], record: Path, log: Path) -> None:
    """Wait until the driver has measured all."""
    started = time.monotonic()
    while True:
        with record.open("rb") as file:
            file.seek(8 * NUMBERS.index("phase"))
            (phase,) = struct.unpack("<Q", file.read(8))
        if phase == DONE:
            return
        if fuzzer.poll() is not None or time.monotonic() - started > STUCK_SECONDS:
            shown = log.read_text(errors="replace")[-2000:]
            raise BadInput(f"afl-fuzz ended or hung before the campaign was measured:\n{shown}")
        time.sleep(POLL_SECONDS)


def _set_back(instance: Path, executions: int) -> None:
    """Let the counters of an instance not go beyond a moment."""
    stats = instance / "fuzzer_stats"
    stats.write_text(re.sub(r"(?m)^(execs_done +: )\d+", rf"\g<1>{executions}", stats.read_text()))
    plot = instance / "plot_data"
    lines = plot.read_text().splitlines()
    names = [name.strip() for name in lines[0].lstrip("# ").split(",")]
    column = names.index("total_execs")
    for number, line in enumerate(lines[1:], start=1):
        cells = line.split(", ")
        cells[column] = str(min(int(cells[column]), executions))
        lines[number] = ", ".join(cells)
    plot.write_text("\n".join(lines) + "\n")
