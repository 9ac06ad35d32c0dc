"""``fuzzwise record``: everything fuzzed alone, and what it shows logged, for replays."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fuzzwise.cli import BAD_USAGE, INTERRUPTED, growth_output, options, output
from fuzzwise.errors import BadInput
from fuzzwise.pressure import BUSY, Pressure
from fuzzwise.report import grid, lines
from fuzzwise.text import many
from fuzzwise.units import parse_duration

if TYPE_CHECKING:
    from fuzzwise.lab.growth.recorder import GrowthPlan
    from fuzzwise.lab.recording.config import RecordingPlan
    from fuzzwise.lab.recording.recorder import Recorded


@click.command()
@click.argument("plan_file", metavar="CONFIG.toml", type=click.Path(path_type=Path))
@click.option(
    "--out",
    default=Path("recording"),
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder of the logs; the same folder again resumes the recording.",
)
@click.option(
    "--time",
    "time_text",
    metavar="TIME",
    help="Time for each configuration, instead of the file's.",
)
@click.option(
    "--cores", type=click.IntRange(1), help="Configurations at once, instead of the file's."
)
@click.option(
    "--repeats",
    default=3,
    show_default=True,
    type=click.IntRange(1),
    help="Recordings of each target of a campaign file; configurations have one each.",
)
@click.option(
    "--skip-broken",
    is_flag=True,
    help="Leave out configurations that cannot be fuzzed, and record the others.",
)
@click.option("--check", "only_check", is_flag=True, help="Check every configuration, and stop.")
@options.as_json
def command(
    plan_file: Path,
    out: Path,
    time_text: str | None,
    cores: int | None,
    repeats: int,
    skip_broken: bool,
    only_check: bool,
    as_json: bool,
) -> None:
    """Fuzz everything in CONFIG.toml for the whole time, each alone, and log what it shows.

    A campaign file: every target is fuzzed several times from its corpus, and what it found when
    is kept, for replays of schedules by coverage and bugs.

    Otherwise a configuration is a program that reads a file (@@ in its command) or its standard
    input, and a seed file. Every one is tried on its unchanged seed before time is spent. `fuzzwise
    triage` turns the crashes into bugs, `fuzzwise replay` compares schedulers on the result.
    """
    if growth_output.is_campaign_file(plan_file):
        seconds = None if time_text is None else parse_duration(time_text)
        _record_growth(
            growth_output.plan_growth(plan_file, out, seconds, cores, repeats), out, as_json
        )
        return
    from fuzzwise.lab.recording.config import read_plan
    from fuzzwise.lab.recording.log import load_pyarrow
    from fuzzwise.lab.recording.recorder import broken, record
    from fuzzwise.report.recording_view import RecordingView

    load_pyarrow()
    plan = read_plan(plan_file)
    if time_text is not None:
        plan = replace(plan, seconds=parse_duration(time_text))
    if cores is not None:
        plan = replace(plan, cores=cores)
    plan = _without_broken(plan, broken(plan), skip_broken)
    if only_check:
        lines.say(f"{_all(len(plan.targets))} can be fuzzed.", err=True)
        return
    stop, pressure = threading.Event(), Pressure()
    with _stopping(stop), RecordingView(plan) as view:
        results = record(plan, out, view.update, stop)
    if (share := pressure.share() or 0.0) >= BUSY:
        said = growth_output.busy_sentence(share, f"of {many(len(results), 'configuration')}")
        lines.say(f"fuzzwise record: {said}", err=True)
    if as_json:
        output.print_json(_as_json(out, results))
    else:
        _show(out, results)
    if not all(result.finished for result in results):
        raise click.exceptions.Exit(INTERRUPTED)


def _record_growth(plan: GrowthPlan, out: Path, as_json: bool) -> None:
    stop = threading.Event()
    with _stopping(stop):
        results = growth_output.record_growth(plan, out, stop)
    if as_json:
        output.print_json(growth_output.recorded_json(out, results))
    else:
        growth_output.show_recorded(results, out)
    if any(result.problem for result in results):
        raise click.exceptions.Exit(BAD_USAGE)
    if not all(result.finished for result in results):
        raise click.exceptions.Exit(INTERRUPTED)


def _all(count: int) -> str:
    return "The configuration" if count == 1 else f"All {count} configurations"


def _without_broken(
    plan: RecordingPlan, problems: dict[str, list[str]], skip: bool
) -> RecordingPlan:
    if not problems:
        return plan
    said = "".join(f"\n  {said}" for found in problems.values() for said in found)
    kept = tuple(target for target in plan.targets if target.name not in problems)
    if not skip or not kept:
        advice = "" if not kept else " Repair them, or leave them out with --skip-broken."
        raise BadInput(f"{many(len(problems), 'configuration')} cannot be fuzzed.{advice}{said}")
    are = f"{many(len(problems), 'configuration')} {'is' if len(problems) == 1 else 'are'}"
    lines.say(f"fuzzwise record: {are} left out:{said}", err=True)
    return replace(plan, targets=kept)


@contextmanager
def _stopping(stop: threading.Event) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the recording with everything saved."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, lambda *_: stop.set())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _as_json(out: Path, results: list[Recorded]) -> dict[str, object]:
    return {
        "out": str(out),
        "configurations": [
            {**asdict(result), "runs_per_second": result.runs / max(result.seconds, 1e-9)}
            for result in results
        ],
    }


def _show(out: Path, results: list[Recorded]) -> None:
    head = ("configuration", "runs", "runs/s", "crashes", "hangs", "time", "started by")
    rows = [
        (
            result.name,
            f"{result.runs:,}",
            f"{result.runs / max(result.seconds, 1e-9):,.0f}",
            f"{result.crashes:,}",
            f"{result.hangs:,}",
            f"{result.seconds:.0f} s",
            result.mode,
        )
        for result in results
    ]
    lines.table("Recorded", grid.of_rows(head, rows, ranks=(0, 1, 4, 2, 3, 5, 6)))
    if any(result.crashes for result in results):
        lines.say(f"Next, turn crashes into bugs: fuzzwise triage {out} --trust-command")
    elif results:
        lines.say("Nothing crashed: there is nothing to triage or to schedule by.")
