"""Which fuzzer wrote a file or a folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from fuzzwise import snapshot
from fuzzwise.campaign.lookup import campaign_folder
from fuzzwise.errors import BadInput
from fuzzwise.received import cannot_read, open_regular
from fuzzwise.text import printable
from fuzzwise.watch import afl, centipede, go_test, honggfuzz, libfuzzer, own
from fuzzwise.watch.reading import Reading
from fuzzwise.watch.source import Source

PART = 64 << 10
"""Bytes of a file, from its start and its end, by which it is recognised."""

LOOKED_FOR = (
    "an AFL++ output folder (-o; instances with queue/ and fuzzer_stats), a folder with fuzz-0.log "
    "… of libFuzzer's -jobs, a Centipede work folder (fuzzing-stats-*.csv), a folder of "
    "`fuzzwise fuzz` or of `fuzzwise run` (campaign.db)"
)
LOOKED_FOR_IN_A_FILE = (
    "a log of libFuzzer or of `go test -fuzz` (2>&1), a honggfuzz --statsfile, a Centipede "
    "fuzzing-stats-*.csv, a fuzzwise snapshot file (.jsonl), or a campaign file of `fuzzwise run` "
    "(.toml)"
)


def open_sources(paths: Sequence[Path]) -> list[Source]:
    """The campaigns in some files and folders, in their order; one or more for each path.

    Files of Centipede for shards of one binary, in one folder, are one campaign. Logs of libFuzzer
    are a campaign each: only the folder of a ``-jobs`` run stands for all logs in it together.
    """
    found: list[Source] = []
    for path in dict.fromkeys(paths):
        found += _of_folder(path) if path.is_dir() else _of_file(path, paths)
    return found


def read(paths: Sequence[Path]) -> list[Reading]:
    """Each campaign in some files and folders, read once."""
    return [source.read() for source in open_sources(paths)]


def _of_folder(path: Path) -> Sequence[Source]:
    try:
        names = sorted(os.listdir(path))  # noqa: PTH208
    except OSError as error:
        raise cannot_read(path, error) from error
    if "campaign.json" in names and "state" in names:  # `fuzz`: its counts are newer than its store
        return [own.FuzzFolder(path)]
    if "campaign.db" in names:
        return own.campaign_targets(path)
    for folder in (path, *([path.parent] if path.name == "queue" else [])):
        if afl.instances(folder):
            return [afl.AflFolder(folder)]
    if libfuzzer.job_logs(path):
        return [libfuzzer.LibFuzzerJobs(path)]
    stats = [path / name for name in names if centipede.FILE.fullmatch(name)]
    if stats:
        return [centipede.CentipedeStats(group) for group in centipede.grouped(stats)]
    raise BadInput(
        f"{printable(str(path))}: no fuzzer's folder that fuzzwise knows. It looked for "
        f"{LOOKED_FOR}, and found {_listed(names)}."
    )


def _of_file(path: Path, all_paths: Sequence[Path]) -> Sequence[Source]:
    if path.suffix == ".toml":
        return _of_folder(campaign_folder(path))
    start, end = _parts(path)
    if f'"{snapshot.FORMAT}"'.encode() in start.split(b"\n", 1)[0]:
        return own.snapshot_campaigns(path)
    if honggfuzz.is_stats(start):
        return [honggfuzz.HonggfuzzStats(path)]
    if centipede.is_stats(path.name, start):
        return _centipede(path, all_paths)
    if libfuzzer.is_log(start, end):
        return [libfuzzer.LibFuzzerLog(path)]
    if go_test.is_log(start, end):
        return [go_test.GoTestLog(path)]
    if path.name in ("fuzzer_stats", "plot_data") and afl.is_instance(path.parent):
        return [afl.AflFolder(path.parent)]
    what = "it is empty" if not start else "nothing in it is known"
    raise BadInput(
        f"{printable(str(path))}: {what}. fuzzwise looked for {LOOKED_FOR_IN_A_FILE}; for AFL++ "
        "give its output folder."
    )


def _centipede(path: Path, all_paths: Sequence[Path]) -> Sequence[Source]:
    """One source for all given files of a campaign, in the place of the first of them."""
    groups = centipede.grouped([other for other in dict.fromkeys(all_paths) if other.is_file()])
    mine = next(group for group in groups if path in group)
    return [centipede.CentipedeStats(mine)] if mine[0] == path else []


def _parts(path: Path) -> tuple[bytes, bytes]:
    try:
        with open_regular(path) as file:
            start = file.read(PART)
            file.seek(max(0, os.fstat(file.fileno()).st_size - PART))
            return start, file.read(PART)
    except OSError as error:
        raise cannot_read(path, error) from error


def _listed(names: list[str]) -> str:
    if not names:
        return "nothing: the folder is empty"
    shown = ", ".join(printable(name)[:40] for name in names[:5])
    return shown + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
