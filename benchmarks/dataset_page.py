"""Writes docs/dataset.md from the log of the data set; ``make dataset`` runs it at the end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from dataset_programs import CONFIGURATIONS
from fuzzwise.lab.recording import log as logs
from fuzzwise.lab.recording.load import read_recording
from fuzzwise.lab.recording.log import LoggedBug, read_log

ROOT = Path(__file__).parents[1]
LOG = ROOT / "datasets" / "small-programs.fuzzlog"


def main() -> None:
    """Write the page."""
    log = read_log(LOG)
    recording = read_recording([LOG])
    packages = {row.name: row.package for row in CONFIGURATIONS}
    shown_by = Counter(int(bug) for c in recording.configurations for bug in c.first_shown[0])
    rows = []
    for configuration, header in zip(
        recording.configurations, log.header.configurations, strict=True
    ):
        bugs, times = configuration.first_shown
        rows.append(
            (
                configuration.name,
                packages.get(configuration.name, "examples"),
                " ".join(header.command).removeprefix("/usr/bin/").removeprefix("/usr/sbin/"),
                f"{len(header.seed):,}",
                f"{configuration.total_runs / configuration.seconds:,.0f}",
                str(len(bugs)),
                str(sum(shown_by[int(bug)] > 1 for bug in bugs)),
                _when(times[:1]),
                _when(times[-1:]),
            )
        )
    speeds = np.array([c.total_runs / c.seconds for c in recording.configurations])
    with_bugs = sum(row[5] != "0" for row in rows)
    lines = [
        "# The data set of small programs",
        "",
        f"`datasets/small-programs.fuzzlog` is a [log](log-format.md) of {len(rows)} configurations,",
        f"{recording.shortest_seconds:.0f} seconds each: programs of Debian 12 as they are packaged,",
        "and the examples of this repository with their known bugs. It was recorded and triaged with",
        "`make dataset`, which installs the packages, makes every seed file by code, runs",
        "`fuzzwise record` and `fuzzwise triage`, and writes this page. Inputs follow from the seeds,",
        "so the same packages show the same crashes at the same run numbers; times are those of a",
        "shared virtual machine with two cores, both in use.",
        "",
        f"- {with_bugs} of {len(rows)} configurations show bugs, {len(recording.bugs)} different ones;"
        f" {sum(count > 1 for count in shown_by.values())} bugs show in more than one configuration.",
        f"- Speeds differ from {speeds.min():,.0f} to {speeds.max():,.0f} runs a second (fork server).",
        f"- {sum(c.total_runs for c in recording.configurations):,} runs, "
        f"{sum(bug.crashes for bug in log.header.bugs):,} crashes with a bug; a bug is a stack hash "
        "over the top 5 frames,",
        "  mostly of stripped programs. Whether two hashes are one mistake in the source was not looked",
        "  into, nor whether a crash is a weakness.",
        "- Limits of a run: 0.5 s, 512 MiB. A crash that only comes with too little memory is in it.",
        "- Left out: what runs commands or writes to places that its input names, and what crashes on",
        "  its unchanged seed now and then.",
        "",
        "| configuration | package | command | seed, bytes | runs/s | bugs | shared | first after | last after |",
        "|---|---|---|---|---|---|---|---|---|",
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
        "## The bugs",
        "",
        *_bug_table(log.header.bugs),
        "",
    ]
    (ROOT / "docs" / "dataset.md").write_text("\n".join(lines), encoding="utf-8")
    marks = int((log.events.kind == logs.MARK).sum())
    print(f"docs/dataset.md: {len(rows)} configurations, {marks:,} marks")


def _when(times: np.ndarray) -> str:
    if not len(times):
        return "–"
    seconds = float(times[0]) / 1e6
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds * 1000:,.0f} ms"


def _bug_table(bugs: tuple[LoggedBug, ...]) -> list[str]:
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
