"""What the observer costs AFL++, measured in two ways.

Run ``python benchmarks/afl_speed.py [SUBJECT…]``: a tiny target, and real libraries of
``subjects.py`` (libpng and libxml2 if none is named).

- Executions per second on the CPU, of afl-fuzz and its target together, with the observer and
  without, alternately. Each time afl-fuzz has the same library loaded, which does nothing without a
  state, and counts with one. Inputs are kept short, so that all cost about the same.
- The time that the observer itself takes for an execution, called as afl-fuzz calls it, on a map of
  the target's size in which as many edges are hit as the target hits; beside the time that an
  execution takes in all. What speeds on a busy machine hide shows here.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from fuzzwise.engines.aflplusplus.library import observer
from fuzzwise.engines.aflplusplus.program import map_size
from real import DEFAULT_WORK, chosen, starting_corpus
from subjects import build
from timing import report

REPEATS = 10
LONGEST = 256
"""Bytes of an input."""

EXAMPLE = Path(__file__).parents[1] / "examples" / "markup.c"
ENVIRONMENT = {
    "AFL_NO_UI": "1",
    "AFL_NO_AFFINITY": "1",
    "AFL_SKIP_CPUFREQ": "1",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
}


CALLER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <time.h>

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv) { /* library, size of the map, edges hit, rounds */
  void *library = dlopen(argv[1], RTLD_NOW);
  size_t size = strtoull(argv[2], 0, 10), hits = strtoull(argv[3], 0, 10);
  unsigned rounds = (unsigned)atoi(argv[4]);
  int id = shmget(IPC_PRIVATE, size + 64, IPC_CREAT | 0600);
  uint8_t *map = shmat(id, NULL, 0), input[64] = {0}, *out;
  void *(*init)(void *, unsigned) = dlsym(library, "afl_custom_init");
  size_t (*run)(void *, uint8_t *, size_t, uint8_t **) = dlsym(library, "afl_custom_post_process");
  uint8_t (*get)(void *, const char *) = dlsym(library, "afl_custom_queue_get");
  uint8_t (*havoc)(void *) = dlsym(library, "afl_custom_havoc_mutation_probability");
  void *data = init(NULL, 1);
  char text[32];
  snprintf(text, sizeof text, "%d", id);
  setenv("__AFL_SHM_ID", text, 1);
  for (unsigned seed = 0; seed < 8; seed++) /* every class of every edge is seen */
    for (int again = 0; again < 3; again++) {
      input[0] = (uint8_t)seed;
      run(data, input, sizeof input, &out);
      for (size_t i = 0; i < hits; i++) map[i * (size / hits)] = (uint8_t)(1u << seed);
    }
  FILE *file = fopen("id:000000", "w");
  fputs("seed", file);
  fclose(file);
  get(data, "id:000000");
  havoc(data);
  uint64_t spent = 0, clocks = 0;
  for (unsigned round = 0; round < rounds; round++) {
    memcpy(input, &round, sizeof round);
    uint64_t start = now();
    run(data, input, sizeof input, &out);
    uint64_t end = now();
    clocks += now() - end;
    spent += end - start;
    memset(map, 0, size);
    for (size_t i = 0; i < hits; i++)
      map[i * (size / hits)] = (uint8_t)(1u + (i * 7 + (i % 16 ? 0 : round)) % 40);
  }
  printf("%.1f\n", ((double)spent - (double)clocks) / rounds);
  return 0;
}
"""


@dataclass(frozen=True)
class Cost:
    """Executions, and the seconds on the CPU and by the clock that they took."""

    executions: int
    cpu: float
    clock: float


def measure(target: Path, corpus: Path, seed: int, executions: int, kind: str) -> Cost:
    """Fuzz for so many executions; ``kind`` is "idle", "counts" or "per seed"."""
    with tempfile.TemporaryDirectory(prefix="fuzzwise-afl-speed-") as scratch:
        folder = Path(scratch)
        variables = {**os.environ, **ENVIRONMENT, "AFL_CUSTOM_MUTATOR_LIBRARY": str(observer())}
        if kind != "idle":
            (folder / "state").mkdir()
            variables |= {
                "FUZZWISE_STATE": str(folder / "state"),
                "FUZZWISE_MAP_SIZE": str(map_size(target, folder)),
                "FUZZWISE_PER_SEED": str(int(kind == "per seed")),
            }
        words = ["-i", corpus, "-o", folder / "out", "-E", executions, "-s", seed]
        words += ["-t", 1000, "-G", LONGEST]
        start = time.monotonic()
        process = subprocess.Popen(
            [shutil.which("afl-fuzz") or "afl-fuzz", *map(str, words), "--", str(target)],
            env=variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        clock = time.monotonic() - start
        stats = (folder / "out" / "default" / "fuzzer_stats").read_text()
    done = int(re.search(r"execs_done\s*: (\d+)", stats)[1])  # type: ignore[index]
    return Cost(done, usage.ru_utime + usage.ru_stime, clock)


def observing(target: Path, corpus: Path, per_seed: bool) -> float:
    """Nanoseconds that the observer takes for an execution."""
    with tempfile.TemporaryDirectory(prefix="fuzzwise-afl-speed-") as scratch:
        folder = Path(scratch)
        (folder / "caller.c").write_text(CALLER)
        subprocess.run(["cc", "-O2", "caller.c", "-o", "caller", "-ldl"], cwd=folder, check=True)
        (folder / "state").mkdir()
        variables = {
            **os.environ,
            "FUZZWISE_STATE": str(folder / "state"),
            "FUZZWISE_MAP_SIZE": str(map_size(target, folder)),
            "FUZZWISE_PER_SEED": str(int(per_seed)),
        }
        words = ["./caller", observer(), map_size(target, folder), hit_edges(target, corpus)]
        said = subprocess.run(
            [*map(str, words), "100000"],
            cwd=folder, env=variables, capture_output=True, check=True, text=True,
        )  # fmt: skip
        return float(said.stdout)


def hit_edges(target: Path, corpus: Path) -> int:
    """How many edges a file of the corpus hits, on average."""
    found = []
    for seed in corpus.iterdir():
        with tempfile.NamedTemporaryFile() as file:
            words = ["afl-showmap", "-q", "-o", file.name, "--", target, seed]
            subprocess.run(list(map(str, words)), capture_output=True, check=False)
            found.append(len(Path(file.name).read_text().splitlines()))
    return max(1, round(statistics.mean(found)))


def compare(name: str, target: Path, corpus: Path, executions: int) -> None:
    """Print what observing a target costs."""
    with tempfile.TemporaryDirectory() as scratch:
        size = map_size(target, Path(scratch))
    idle: list[Cost] = []
    ratios: dict[str, list[float]] = {"counts": [], "counts per seed": []}
    for number in range(1, REPEATS + 1):
        idle.append(measure(target, corpus, number, executions, "idle"))
        for kind, found in ratios.items():
            ours = measure(target, corpus, number, executions, kind.removeprefix("counts "))
            found.append(idle[-1].cpu / idle[-1].executions * ours.executions / ours.cpu)
    print(f"{name}: a map of {size:,} bytes, {executions:,} executions each")
    speeds = [cost.executions / cost.clock for cost in idle]
    report("    afl-fuzz without counting", speeds, "executions/s", "no claim")
    whole = statistics.median(cost.cpu / cost.executions * 1e9 for cost in idle)
    for kind, found in ratios.items():
        mean = statistics.geometric_mean(found)
        error = statistics.stdev(map(math.log, found)) / math.sqrt(len(found))
        report(f"    speed with {kind} over without", found, "times", "no claim")
        print(f"    geometric mean {mean:.3f}, {1.96 * error:.1%} more or less")
        times = [observing(target, corpus, kind.endswith("per seed")) for _ in range(REPEATS)]
        report(f"    observing, {kind}", times, "ns an execution", "no claim")
        share = statistics.median(times) / whole
        print(f"    of {whole:,.0f} ns in all: {share:.2%}")


def main() -> None:
    """Measure the tiny target, and the subjects that are named."""
    with tempfile.TemporaryDirectory() as scratch:
        tiny, corpus = Path(scratch) / "markup", Path(scratch) / "corpus"
        corpus.mkdir()
        (corpus / "seed").write_text("hello\n")
        words = ["afl-clang-fast", "-O2", "-fsanitize=fuzzer", str(EXAMPLE), "-o", str(tiny)]
        subprocess.run(words, check=True, capture_output=True)
        compare("tiny (examples/markup.c)", tiny, corpus, 40_000)
    for subject in chosen(sys.argv[1:] or ["libpng", "libxml2"]):
        target = build(
            subject, DEFAULT_WORK, "afl-stock", ["afl-clang-fast"], ["afl-clang-fast++"],
            ["-O2", "-g"], ["-fsanitize=fuzzer"],
        )  # fmt: skip
        compare(subject.name, target, starting_corpus(subject, DEFAULT_WORK), 15_000)


if __name__ == "__main__":
    main()
