"""Damages files of every format that fuzzwise reads, and reads them: `make fuzz-readers`.

A case is a format and a number, and follows from these alone: `--format NAME --first N --cases 1`
shows one again. A case passes if it ends with a result or with a sentence for the user, within two
seconds and 512 MiB. Cases run in processes that are begun again when one of them is lost; a run
that was interrupted goes on with `--first`.
"""

from __future__ import annotations

import argparse
import faulthandler
import multiprocessing
import sys
import tempfile
import time
import traceback
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

PATIENCE = 600.0
"""Seconds without a word after which a process is lost: it has its own, shorter limits, but for
what it compiles before its first case."""


def main() -> int:
    """Run the cases; 1 if any of them failed."""
    from mutated_formats import FORMATS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000, help="of each format")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--format", action="append", choices=[form.name for form in FORMATS])
    parser.add_argument("--most-failures", type=int, default=20, help="of a format")
    parser.add_argument("--trace", action="store_true", help="print tracebacks")
    words = parser.parse_args()
    failed = 0
    for number, form in enumerate(FORMATS):
        if not words.format or form.name in words.format:
            failed += _run(number, form.name, words)
    return 1 if failed else 0


def _run(number: int, name: str, words: argparse.Namespace) -> int:
    """All cases of a format; how many failed."""
    counts: Counter[str] = Counter()
    at, end = words.first, words.first + words.cases
    began = time.monotonic()
    while at < end and counts["failed"] < words.most_failures:
        at = _one_process(number, at, end, counts, words)
    total = sum(counts.values())
    print(  # noqa: T201
        f"{name}: {total:,} cases in {time.monotonic() - began:.0f} s: {counts['read']:,} read, "
        f"{counts['told']:,} told, {counts['failed']:,} failed",
        flush=True,
    )
    return counts["failed"]


def _one_process(
    number: int, first: int, end: int, counts: Counter[str], words: argparse.Namespace
) -> int:
    """Cases in one process until it is lost or done, which leaves nothing; the next case."""
    with tempfile.TemporaryDirectory(prefix="fuzzwise-", ignore_cleanup_errors=True) as folder:
        return _cases_in(Path(folder), number, first, end, counts, words)


def _cases_in(
    folder: Path, number: int, first: int, end: int, counts: Counter[str], words: argparse.Namespace
) -> int:
    here, there = multiprocessing.Pipe()
    work = (folder, number, first, end, words.trace, there)
    process = multiprocessing.Process(target=_work, args=work, daemon=True)
    process.start()
    there.close()
    at = first
    try:
        while at < end and counts["failed"] < words.most_failures:
            if not here.poll(PATIENCE):
                raise EOFError("it was silent")
            ended = here.recv()
            counts[ended if ended in ("read", "told") else "failed"] += 1
            if ended not in ("read", "told"):
                print(ended, flush=True)  # noqa: T201
            at += 1
    except EOFError as error:
        process.kill()
        process.join()
        how = str(error) or f"exit code {process.exitcode}"
        print(f"case {at}: its process was lost ({how})", flush=True)  # noqa: T201
        counts["failed"] += 1
        at += 1
    process.kill()
    process.join()
    return at


def _work(folder: Path, number: int, first: int, end: int, trace: bool, out: Connection) -> None:
    from mutated_formats import FORMATS, Sample, Wrong

    faulthandler.enable()  # where a process is lost, it says in what
    sample = Sample(FORMATS[number], folder / "sample")
    sample.read_whole()
    for seed in range(first, end):
        try:
            out.send(sample.case(seed))
        except Wrong as error:
            out.send(f"{error}\n{traceback.format_exc()}" if trace else str(error))


if __name__ == "__main__":
    sys.exit(main())
