"""Real libraries under our engine and under stock libFuzzer: what the studies on them share."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from fuzzwise.engines.libfuzzer.build import LIBRARIES, find_toolchain, link_words
from subjects import PLAIN_FLAGS, SUBJECTS, Subject, build, seeds

ASAN_FLAGS = [*PLAIN_FLAGS, "-fsanitize=address"]
DEFAULT_WORK = Path("subjects-work")


def target(subject: Subject, work: Path, *, stock: bool, asan: bool = False) -> Path:
    """The subject's target, built with libFuzzer's own main or with our engine."""
    toolchain = find_toolchain()
    flags = ASAN_FLAGS if asan else PLAIN_FLAGS
    linked = ["-fsanitize=fuzzer"] if stock else link_words(toolchain, flags)[: -len(LIBRARIES)]
    name = f"{'stock' if stock else 'ours'}{'-asan' if asan else ''}"
    extra = [] if stock else list(LIBRARIES)
    # The libraries go last on the command, behind those of the subject.
    cxx = [str(toolchain.cxx), *extra] if extra else [str(toolchain.cxx)]
    return build(subject, work, name, [str(toolchain.cc)], cxx, flags, linked)


def afl_target(subject: Subject, work: Path, *, cmplog: bool = False) -> Path:
    """The program for AFL++, with its own driver for such harnesses."""
    if cmplog:
        os.environ["AFL_LLVM_CMPLOG"] = "1"
    try:
        return build(
            subject, work, "afl-cmplog" if cmplog else "afl-stock", ["afl-clang-fast"],
            ["afl-clang-fast++"], ["-O2", "-g"], ["-fsanitize=fuzzer"],
        ).resolve()  # fmt: skip
    finally:
        os.environ.pop("AFL_LLVM_CMPLOG", None)


def starting_corpus(subject: Subject, work: Path) -> Path:
    """A folder with the subject's seeds."""
    folder = work / "corpora" / subject.name
    seeds(subject, folder)
    return folder


def features(stock: Path, corpora: list[Path]) -> int:
    """What stock libFuzzer counts on all files of some folders together."""
    with tempfile.TemporaryDirectory() as empty:
        words = [str(stock), "-runs=0", empty, *map(str, corpora)]
        said = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    found = re.search(r"INITED cov: \d+ ft: (\d+)", said.stderr)
    assert found, said.stderr[-500:]
    return int(found[1])


def chosen(names: list[str]) -> list[Subject]:
    """The subjects of these names; all of them for none."""
    known = {subject.name: subject for subject in SUBJECTS}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"There is no subject {unknown[0]!r}; known: {', '.join(known)}.")
    return [known[name] for name in names] or list(SUBJECTS)


def write_part(page: Path, by: str, lines: list[str]) -> None:
    """Write what a benchmark says into its place on a page, between two marks."""
    begin, end = f"<!-- made by {by} -->", f"<!-- end of {by} -->"
    before, found, rest = page.read_text("utf-8").partition(begin)
    if not found or end not in rest:
        sys.exit(f"{page} has no place for what {by} says: {begin} … {end}")
    page.write_text(
        "\n".join([before + begin, "", *lines, "", end + rest.partition(end)[2]]), "utf-8"
    )
