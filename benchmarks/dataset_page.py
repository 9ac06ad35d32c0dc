"""Writes docs/dataset.md from the logs of both data sets; ``make dataset-keep`` runs it at the end."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from dataset import all_rows
from dataset_programs import CONFIGURATIONS
from fuzzwise.lab.recording.load import read_recording
from fuzzwise.lab.recording.log import Log, LoggedBug, read_log
from fuzzwise.lab.recording.recording import Recording
from kept_blackboxes import SECONDS, kept_logs

ROOT = Path(__file__).parents[1]
LOG = ROOT / "datasets" / "small-programs.fuzzlog"
BUGS = 5
"""The column of a row that has the number of bugs."""

Row = tuple[str, ...]


def main() -> None:
    """Write the page."""
    kept = kept_logs()
    lines = [*small_part(LOG), "", *large_part(kept, len(all_rows())), ""]
    (ROOT / "docs" / "dataset.md").write_text("\n".join(lines), encoding="utf-8")
    print(f"docs/dataset.md: {len(kept)} of {len(all_rows())} configurations of the large one")


def small_part(path: Path) -> list[str]:
    """The data set that is one log, which the study of schedulers uses."""
    log, recording = read_log(path), read_recording([path])
    rows = rows_of([log], recording)
    return [
        "# The data set of small programs",
        "",
        f"`datasets/small-programs.fuzzlog` is a [log](log-format.md) of {len(rows)} configurations,",
        f"{recording.shortest_seconds:.0f} seconds each: programs of Debian 12 as they are packaged,",
        "and the examples of this repository with their known bugs. It was recorded with",
        "`fuzzwise record` and triaged with `fuzzwise triage`; every seed file is made by code.",
        "Inputs follow from the seeds,",
        "so the same packages show the same crashes at the same run numbers; times are those of a",
        "shared virtual machine with two cores, both in use. [A larger one](#the-larger-data-set) is",
        "being made.",
        "",
        *_findings(rows, recording, log.header.bugs),
        "- Limits of a run: 0.5 s, 512 MiB. A crash that only comes with too little memory is in it.",
        "- Left out: what runs commands or writes to places that its input names, and what crashes on",
        "  its unchanged seed now and then.",
        "",
        *_table(rows),
        "",
        "## The bugs",
        "",
        *_bug_table(log.header.bugs),
    ]


def large_part(paths: Sequence[Path], wanted: int) -> list[str]:
    """The data set that is one log a configuration, and how much of it there is."""
    lines = [
        "## The larger data set",
        "",
        f"{len(paths)} of {wanted} configurations are recorded so far, {SECONDS} seconds each, with the",
        "same limits: `datasets/blackbox` has a triaged log of each, and `fuzzwise replay datasets/blackbox`",
        "replays them together; bugs with the same stack hash are one. It is recorded in sittings, on any",
        "machine with Debian 12; where the small one has two minutes of a program, these are the first two:",
        "",
        "```sh",
        "make dataset CORES=2     # installs, and records what is missing; Ctrl-C ends it, the same command goes on",
        "make dataset-keep        # triages what is whole, adds it, and writes this page",
        "```",
        "",
        "`python benchmarks/dataset.py --part 1/3` records a third, for one of three machines. What is cut off in the",
        "middle of a configuration goes on where its log ended, on the machine that has it.",
    ]
    if not paths:
        return lines
    logs, recording = [read_log(path) for path in paths], read_recording(paths)
    rows, bugs = rows_of(logs, recording), joined(logs)
    return [
        *lines,
        "",
        *_findings(rows, recording, bugs),
        *versions_said(logs),
        "",
        *_table(rows),
        "",
        "### Its bugs",
        "",
        *_bug_table(bugs),
    ]


def rows_of(logs: Iterable[Log], recording: Recording) -> list[Row]:
    """A row of the table for each configuration."""
    packages = {row.name: row.package for row in CONFIGURATIONS}
    headers = {c.name: c for log in logs for c in log.header.configurations}
    shown_by = _shown_by(recording)
    rows: list[Row] = []
    for configuration in recording.configurations:
        header = headers[configuration.name]
        bugs, times = configuration.first_shown
        rows.append(
            (
                configuration.name,
                packages.get(configuration.name, "examples"),
                _command(header.command),
                f"{len(header.seed):,}",
                f"{configuration.total_runs / configuration.seconds:,.0f}",
                str(len(bugs)),
                str(sum(shown_by[int(bug)] > 1 for bug in bugs)),
                _when(times[:1]),
                _when(times[-1:]),
            )
        )
    return rows


def joined(logs: Iterable[Log]) -> tuple[LoggedBug, ...]:
    """The bugs of all logs, each once: the crashes added up, flaky only where it always was."""
    found: dict[str, list[LoggedBug]] = defaultdict(list)
    for log in logs:
        for bug in log.header.bugs:
            found[bug.id].append(bug)
    return tuple(
        LoggedBug(
            id=same[0].id,
            kind=same[0].kind,
            severity=same[0].severity,
            frames=same[0].frames,
            crashes=sum(bug.crashes for bug in same),
            reproducer=same[0].reproducer,
            flaky=all(bug.flaky for bug in same),
        )
        for same in found.values()
    )


def versions_said(logs: Iterable[Log]) -> list[str]:
    """Where the logs are from, and packages of several versions, whose bugs may count twice."""
    systems: set[str] = set()
    packages: dict[str, set[str]] = defaultdict(set)
    for log in logs:
        system, _, package = log.header.note.partition(", ")
        name, _, version = package.partition(" ")
        systems.add(system)
        packages[name].add(version)
    several = sorted(name for name, found in packages.items() if len(found) > 1)
    said = f"- Recorded on {', '.join(sorted(systems))}."
    if several:
        said += (
            f" In several versions, so that a bug may count more than once: {', '.join(several)}."
        )
    return [said]


def _findings(rows: Sequence[Row], recording: Recording, bugs: Sequence[LoggedBug]) -> list[str]:
    speeds = np.array([c.total_runs / c.seconds for c in recording.configurations])
    with_bugs = sum(row[BUGS] != "0" for row in rows)
    return [
        f"- {with_bugs} of {len(rows)} configurations show bugs, {len(recording.bugs)} different ones;"
        f" {sum(count > 1 for count in _shown_by(recording).values())} bugs show in more than one configuration.",
        f"- Speeds differ from {speeds.min():,.0f} to {speeds.max():,.0f} runs a second (fork server).",
        f"- {sum(c.total_runs for c in recording.configurations):,} runs, "
        f"{sum(bug.crashes for bug in bugs):,} crashes with a bug; a bug is a stack hash "
        "over the top 5 frames,",
        "  mostly of stripped programs. Whether two hashes are one mistake in the source was not looked",
        "  into, nor whether a crash is a weakness.",
    ]


def _shown_by(recording: Recording) -> Counter[int]:
    """How many configurations show each bug."""
    return Counter(int(bug) for c in recording.configurations for bug in c.first_shown[0])


def _command(words: Sequence[str]) -> str:
    said = " ".join(words)
    for folder in ("/usr/bin/", "/usr/sbin/", "/usr/games/"):
        said = said.removeprefix(folder)
    return said


def _table(rows: Iterable[Row]) -> list[str]:
    return [
        "| configuration | package | command | seed, bytes | runs/s | bugs | shared | first after | last after |",
        "|---|---|---|---|---|---|---|---|---|",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def _when(times: np.ndarray) -> str:
    if not len(times):
        return "–"
    seconds = float(times[0]) / 1e6
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds * 1000:,.0f} ms"


def _bug_table(bugs: Sequence[LoggedBug]) -> list[str]:
    kinds = Counter((bug.severity, bug.kind) for bug in bugs)
    return [
        "| severity | kind | bugs |",
        "|---|---|---|",
        *(f"| {severity} | {kind} | {count} |" for (severity, kind), count in kinds.most_common()),
        "",
        f"{sum(bug.flaky for bug in bugs)} of them did not show every time that their smallest input "
        "was run again.",
    ]


if __name__ == "__main__":
    main()
