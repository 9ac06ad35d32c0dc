"""How fast `fuzzwise watch` reads: a queue of 50,000 entries, and a log of many megabytes.

    python benchmarks/watch_speed.py [--entries 50000] [--megabytes 200]

First and second read of each; the second is what `--follow` does every second.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from fuzzwise.watch.recognise import open_sources

HEADER = (
    "# relative_time, cycles_done, cur_item, corpus_count, pending_total, pending_favs, map_size, "
    "saved_crashes, saved_hangs, max_depth, execs_per_sec, total_execs, edges_found\n"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=50_000)
    parser.add_argument("--megabytes", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = make_queue(Path(folder) / "out", options.entries)
        measure(f"AFL++ queue of {options.entries:,} entries", out)
        measure_growing(out, options.entries)
        log = make_log(Path(folder) / "fuzz.log", options.megabytes)
        measure(f"libFuzzer log of {options.megabytes:,} MB", log)
        log = make_chatty_log(Path(folder) / "chatty.log", options.megabytes)
        measure(f"log of {options.megabytes:,} MB that the target filled", log)


def measure(what: str, path: Path) -> None:
    begin = time.perf_counter()
    source = open_sources([path])[0]
    n = source.read().observation.n
    first = time.perf_counter() - begin
    source.read()  # a change within the tick of the clock is looked for once more
    begin = time.perf_counter()
    source.read()
    again = time.perf_counter() - begin
    print(f"{what}: first read {first:.2f} s, again {again * 1000:.1f} ms ({n:,} inputs)")


def measure_growing(out: Path, entries: int) -> None:
    source = open_sources([out])[0]
    source.read()
    name = f"id:{entries:06},src:000000,time:{10**9},execs:{10**12},op:havoc,rep:4"
    (out / "default" / "queue" / name).touch()
    begin = time.perf_counter()
    source.read()
    print(f"    after one more entry: {(time.perf_counter() - begin) * 1000:.0f} ms")


def make_queue(out: Path, entries: int) -> Path:
    queue = out / "default" / "queue"
    queue.mkdir(parents=True)
    rng = random.Random(1)
    execs = 0
    rows = []
    for number in range(entries):
        execs += 8 + int(rng.paretovariate(0.7))
        name = f"id:{number:06},src:{rng.randrange(number + 1):06},time:{execs // 10},execs:{execs}"
        (queue / f"{name},op:havoc,rep:4,+cov").touch()
        if number % 5 == 0:
            rows.append(f"{execs // 10_000}, 0, 1, {number}, 1, 1, 5%, 0, 0, 3, 1.0, {execs}, 9\n")
    (out / "default" / "plot_data").write_text(HEADER + "".join(rows))
    (out / "default" / "fuzzer_stats").write_text(
        f"execs_done : {execs + 1000}\ncorpus_count : {entries}\nrun_time : {execs // 10_000}\n"
        "command_line : afl-fuzz -i in -o out\nafl_version : ++4.04c\n"
    )
    return out


def make_log(path: Path, megabytes: int) -> Path:
    n, features = 3, 10
    with path.open("w") as file:
        file.write("INFO: Seed: 1\n#3\tINITED cov: 9 ft: 10 corp: 2/9b exec/s: 0 rss: 26Mb\n")
        while file.tell() < megabytes << 20:
            for _ in range(5_000):
                n += 37
                features += n % 11 == 0
                file.write(
                    f"#{n}\tREDUCE cov: 77 ft: {features} corp: {features}/7352b lim: 422 exec/s: "
                    "1000 rss: 27Mb L: 16/414 MS: 2 InsertByte-EraseBytes-\n"
                )
    return path


def make_chatty_log(path: Path, megabytes: int) -> Path:
    with path.open("w") as file:
        file.write("INFO: Seed: 1\n#3\tINITED cov: 9 ft: 10 corp: 2/9b exec/s: 0 rss: 26Mb\n")
        n = 3
        while file.tell() < megabytes << 20:
            n += 1
            file.write(f"#{n}\tNEW    cov: 9 ft: {n} corp: {n}/9b exec/s: 9 rss: 26Mb\n")
            for i in range(2_000):
                file.write(f"warning #{i}: unexpected token at line {i}, INFO: Done, Test unit\n")
    return path


if __name__ == "__main__":
    main()
