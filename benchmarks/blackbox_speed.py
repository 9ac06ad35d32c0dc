"""Runs per second of the black-box engine against zzuf's, on the same programs and seeds.

Both are held to one core, flip bits with the same fixed ratio, and take turns, so that the load of
the machine meets both; the ratio of each turn is one measurement. Run with zzuf installed
(``apt-get install zzuf``): ``python benchmarks/blackbox_speed.py``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

from fuzzwise.engines.blackbox import Limits, Mutation, Runner, Target

REPEATS = 11
RUNS = 400
RATIO = 0.0004
READER = """
#include <stdio.h>
int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  int sum = 0;
  if (!file) return 1;
  for (int c; (c = getc(file)) != EOF;) sum = sum * 31 + c;
  printf("%d\\n", sum);
  return 0;
}
"""
GIF = (
    b"GIF89a\x02\x00\x02\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x02\x00\x02"
    b"\x00\x00\x02\x03\x44\x02\x05\x00;"
)


def png() -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        checked = name + body
        return struct.pack(">I", len(body)) + checked + struct.pack(">I", zlib.crc32(checked))

    rows = b"".join(b"\0" + bytes((x * y) % 256 for x in range(48)) for y in range(48))
    head = struct.pack(">IIBBBBB", 48, 48, 8, 0, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def programs(folder: Path) -> dict[str, tuple[list[str], bytes]]:
    """Name: the command without its file, and the seed; those that are installed."""
    source = folder / "reader.c"
    source.write_text(READER)
    subprocess.run(["cc", "-O2", str(source), "-o", str(folder / "reader")], check=True)
    text = b"".join(b"line %d of a text\n" % i for i in range(100))
    known = {
        "reader (C, 20 lines)": ([str(folder / "reader")], text),
        "cksum": (["cksum"], text),
        "giftext": (["giftext"], GIF),
        "pngtopnm": (["pngtopnm"], png()),
        "file": (["file"], png()),
    }
    return {name: row for name, row in known.items() if shutil.which(row[0][0])}


def zzuf_rate(command: list[str], seed: Path, first: int, runs: int) -> float:
    words = ["zzuf", "-q", "-c", "-C", "0", "-U", "1", "-r", str(RATIO)]
    start = time.perf_counter()
    subprocess.run(
        [*words, "-s", f"{first}:{first + runs}", *command, str(seed)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return runs / (time.perf_counter() - start)


def our_rate(runner: Runner, first: int, runs: int) -> float:
    start = time.perf_counter()
    for _ in runner.run(first, runs):
        pass
    return runs / (time.perf_counter() - start)


def spread(values: list[float], digits: int) -> str:
    low, high = min(values), max(values)
    return f"{statistics.median(values):.{digits}f} ({low:.{digits}f} … {high:.{digits}f})"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=REPEATS)
    options.add_argument("--runs", type=int, default=RUNS)
    asked = options.parse_args()
    if not shutil.which("zzuf"):
        sys.exit("zzuf is not installed. Install it with: apt-get install zzuf")
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    mutation = Mutation(ratio=(RATIO, RATIO), kinds=("bits",))
    print(
        "| program | zzuf, runs/s | fork server, runs/s | spawn, runs/s | fork server / zzuf | spawn / zzuf |"
    )
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, (command, seed) in programs(folder).items():
            path = folder / "seed"
            path.write_bytes(seed)
            target = Target((*command, "@@"), seed)
            with (
                Runner(target, 1, mutation, Limits(), "fork-server") as server,
                Runner(target, 1, mutation, Limits(), "spawn") as spawner,
            ):
                rates: dict[str, list[float]] = {"zzuf": [], "server": [], "spawn": []}
                for turn in range(asked.repeats):
                    first = 1 + turn * asked.runs
                    rates["zzuf"].append(zzuf_rate(command, path, first, asked.runs))
                    rates["server"].append(our_rate(server, first, asked.runs))
                    rates["spawn"].append(our_rate(spawner, first, asked.runs))
            ratios = {
                mode: [a / b for a, b in zip(rates[mode], rates["zzuf"], strict=True)]
                for mode in ("server", "spawn")
            }
            cells = [spread(rates[key], 0) for key in rates]
            cells += [spread(ratios[mode], 1) for mode in ratios]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
