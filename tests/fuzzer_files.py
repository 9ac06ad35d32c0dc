"""Files of other fuzzers for tests: real ones, and made-up ones of any version."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from builds import compiled
from fuzzwise.validation import problems
from fuzzwise.watch.reading import Reading

TARGETS = Path(__file__).parent / "targets"
EXAMPLES = Path(__file__).parents[1] / "examples"
MOST = 1 << 16

AFL_ENVIRONMENT = {
    "AFL_SKIP_CPUFREQ": "1",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
    "AFL_NO_UI": "1",
    "AFL_NO_AFFINITY": "1",
    "AFL_IMPORT_FIRST": "1",
}


def check(reading: Reading) -> Reading:
    """What holds for every reading, whatever was read."""
    o = reading.observation
    assert list(problems(o)) == []
    assert o.discoveries is not None
    assert o.discoveries.dtype == np.int64
    assert reading.kind in ("AFL++", "libFuzzer", "honggfuzz", "Centipede", "fuzzwise")
    for count in (reading.corpus, reading.crashes, reading.hangs):
        assert count is None or count >= 0
    assert all(note.strip().endswith(".") for note in reading.notes)
    return reading


# ── real fuzzers ──────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Watched:
    """What the target itself saw: executions, repeats of the input before, and discoveries."""

    executions: int
    repeats: int
    discoveries: np.ndarray[tuple[int], np.dtype[np.int64]]


def watched(path: Path) -> Watched:
    """Read the counts that tests/targets/watched.c keeps."""
    raw = np.fromfile(path, dtype=np.uint64, count=3 + MOST).astype(np.int64)
    return Watched(int(raw[0]), int(raw[1]), raw[3 : 3 + int(raw[2])])


def build(folder: Path, example: str, compiler: str) -> Path:
    """An example that counts, for libFuzzer (clang) or AFL++ (afl-clang-fast)."""
    if not shutil.which(compiler) or not shutil.which("clang"):
        pytest.skip(f"{compiler} is not installed")
    target, harness, counts = folder / example, folder / f"{example}.o", folder / "watched.o"
    rename = "-DLLVMFuzzerTestOneInput=watched_target"
    quiet = {**os.environ, "AFL_QUIET": "1"}
    compiled(["clang", "-O1", "-c", TARGETS / "watched.c"], counts)
    fuzzer = ["-fsanitize=fuzzer-no-link"] if compiler == "clang" else []
    source = str(EXAMPLES / f"{example}.c")
    subprocess.run(
        [compiler, "-O1", *fuzzer, rename, "-c", source, "-o", str(harness)], check=True, env=quiet
    )
    subprocess.run(
        [compiler, "-fsanitize=fuzzer", str(harness), str(counts), "-o", str(target)],
        check=True,
        env=quiet,
    )
    return target


def start(
    words: Sequence[object], counts: Path, log: Path, folder: Path | None = None
) -> subprocess.Popen[bytes]:
    """Start a fuzzer; what it prints is added to the log."""
    environment = {**os.environ, **AFL_ENVIRONMENT, "WATCHED": str(counts)}
    with log.open("ab") as output:
        return subprocess.Popen(
            [str(word) for word in words],
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=environment,
            cwd=folder,
        )


def run(words: Sequence[object], counts: Path, log: Path, folder: Path | None = None) -> None:
    """Run a fuzzer to its end."""
    process = start(words, counts, log, folder)
    try:
        process.wait(timeout=600)
    finally:
        process.kill()
        process.wait()


# ── made-up files ─────────────────────────────────────────────────────────────────────────────

PLOT_HEADER = (
    "# relative_time, cycles_done, cur_item, corpus_count, pending_total, pending_favs, map_size, "
    "saved_crashes, saved_hangs, max_depth, execs_per_sec, total_execs, edges_found"
)


def plot_row(seconds: int, corpus: int, execs: int) -> str:
    """A row of plot_data as 4.04c writes it."""
    return f"{seconds}, 0, 3, {corpus}, 1, 0, 12.34%, 0, 0, 2, 1000.00, {execs}, 17"


def stats_text(**values: object) -> str:
    """fuzzer_stats with the given keys instead of the usual ones."""
    usual: dict[str, object] = {
        "start_time": 1_700_000_000,
        "last_update": 1_700_000_100,
        "run_time": 100,
        "fuzzer_pid": 1,
        "saved_crashes": 0,
        "saved_hangs": 0,
        "afl_version": "++4.04c",
        "command_line": "afl-fuzz -i in -o out -- ./target",
    }
    return "".join(f"{key:<18}: {value}\n" for key, value in {**usual, **values}.items())


def found_name(number: int, execs: int, milliseconds: int | None = None) -> str:
    """The name of an entry that was found by mutation."""
    when = execs if milliseconds is None else milliseconds
    return f"id:{number:06},src:000000,time:{when},execs:{execs},op:havoc,rep:2,+cov"


def seed_name(number: int, name: str = "seed") -> str:
    """The name of an entry of the initial corpus."""
    return f"id:{number:06},time:0,execs:0,orig:{name}"


def afl_instance(
    folder: Path,
    names: Iterable[str],
    stats: str | None = None,
    rows: Iterable[str] = (),
    header: str = PLOT_HEADER,
) -> Path:
    """The folder of an AFL++ instance."""
    (folder / "queue").mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / "queue" / name).touch()
    if stats is not None:
        (folder / "fuzzer_stats").write_text(stats)
    (folder / "plot_data").write_text("\n".join([header, *rows]) + "\n")
    return folder


def line(n: int, event: str, features: int, corpus: int, speed: int = 0) -> str:
    """A status line of libFuzzer, as clang 14 prints it."""
    more = f" lim: 4 exec/s: {speed} rss: 27Mb"
    return f"#{n}\t{event:<6} cov: {features} ft: {features} corp: {corpus}/9b{more}\n"
