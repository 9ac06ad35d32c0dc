"""``fuzzwise fuzz``: one target, with a live residual risk, until it may stop."""

from __future__ import annotations

import signal
from pathlib import Path

import click

from fuzzwise.assessment import assess
from fuzzwise.cli import ABOVE_THE_RISK, FOUND_BUGS, INTERRUPTED, options, output
from fuzzwise.engines.choice import SUPERVISORS, engine_of, supervise
from fuzzwise.engines.progress import Progress
from fuzzwise.engines.settings import SCHEDULES, SPECIES, Settings
from fuzzwise.report.live import View, rows
from fuzzwise.snapshot import Campaign
from fuzzwise.units import parse_count, parse_duration


@click.command()
@click.argument("target", type=click.Path(path_type=Path))
@click.argument("corpus", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--engine",
    type=click.Choice(sorted(SUPERVISORS)),
    help="Who fuzzes; if not given, the one that TARGET was made for.",
)
@click.option(
    "--accept-risk",
    type=options.PROBABILITY,
    metavar="R",
    help="Stop when the discovery probability is below this.",
)
@options.confidence
@click.option("--time", "seconds", metavar="TIME", help="Stop after so long: 90s, 15m, 4h.")
@click.option("--inputs", metavar="N", help="Stop after so many inputs: 1000, 200k, 1e6.")
@click.option(
    "--measure",
    is_flag=True,
    help="Measure the true discovery probability at 100, 200, 400 … inputs (doubles the cost), and keep all counts per seed.",
)
@click.option(
    "--per-seed", is_flag=True, help="Keep all counts per seed, for the estimators that need them."
)
@click.option(
    "--jobs",
    default=1,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Processes that share the campaign.",
)
@click.option(
    "--out",
    default=Path("fuzz-out"),
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder of the campaign; the same folder again resumes it.",
)
@click.option(
    "--schedule",
    default="fresh",
    show_default=True,
    type=click.Choice(list(SCHEDULES)),
    help="Which seed is mutated; observe leaves it to libFuzzer.",
)
@click.option(
    "--species",
    default="feature",
    show_default=True,
    type=click.Choice(list(SPECIES)),
    help="What counts as new.",
)
@click.option("--fail-on-bug", is_flag=True, help="Exit with 10 if a bug was found.")
@click.option("--quiet", is_flag=True, help="No progress.")
@options.seed
@options.as_json
@click.option(
    "--libfuzzer",
    "libfuzzer_options",
    multiple=True,
    metavar="-OPTION=VALUE",
    help="An option for libFuzzer, for example -timeout=5. Can be repeated.",
)
def command(
    target: Path,
    corpus: tuple[Path, ...],
    engine: str | None,
    accept_risk: float | None,
    confidence: float,
    seconds: str | None,
    inputs: str | None,
    measure: bool,
    per_seed: bool,
    jobs: int,
    out: Path,
    schedule: str,
    species: str,
    fail_on_bug: bool,
    quiet: bool,
    seed: int,
    as_json: bool,
    libfuzzer_options: tuple[str, ...],
) -> None:
    """Fuzz TARGET, starting from the files in CORPUS, and watch its residual risk fall.

    TARGET is a libFuzzer harness built with `fuzzwise build`, `fuzzwise cc` or the library of
    `fuzzwise engine`. Without a limit it fuzzes until Ctrl-C. Crashes do not end the campaign: the
    input is kept, crashes with the same stack are one bug, and fuzzing goes on.
    """
    settings = Settings(
        target=target,
        corpus=corpus,
        out=out,
        accepted_risk=accept_risk,
        confidence=confidence,
        seconds=parse_duration(seconds) if seconds else None,
        inputs=parse_count(inputs) if inputs else None,
        measure=measure,
        per_seed=per_seed or measure,
        jobs=jobs,
        schedule=schedule,
        species=species,
        seed=seed,
        options=libfuzzer_options,
    )
    supervisor = supervise(engine or engine_of(target), settings)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: supervisor.interrupt())
    if supervisor.resumed and not quiet:
        click.echo(f"Going on with the campaign in {out}.", err=True)
    with View(target.name, settings.limits, quiet=quiet or as_json) as view:
        progress = supervisor.run(view)
    _report(settings, progress, as_json)
    stopped = progress.stopped
    if stopped and stopped.reason == "interrupted":
        raise click.exceptions.Exit(INTERRUPTED)
    if fail_on_bug and progress.bugs:
        raise click.exceptions.Exit(FOUND_BUGS)
    if accept_risk is not None and stopped and stopped.reason != "accepted-risk":
        raise click.exceptions.Exit(ABOVE_THE_RISK)


def _report(settings: Settings, progress: Progress, as_json: bool) -> None:
    campaign = Campaign(settings.target.name, (progress.observation,))
    assessment = assess(campaign, settings.accepted_risk, settings.confidence)
    stopped = progress.stopped
    assert stopped is not None
    if as_json:
        document = output.assessment_json(assessment)
        document["target"] = str(settings.target)
        document["corpus"] = progress.corpus
        document["warnings"] = list(progress.warnings)
        document["bugs"] = [
            {
                "id": bug.id,
                "kind": bug.kind,
                "severity": bug.severity,
                "frames": list(bug.frames),
                "inputs": [str(settings.out / "crashes" / name) for name in bug.inputs],
                "count": bug.count,
            }
            for bug in progress.bugs
        ]
        document["stopped"] = {"reason": stopped.reason, "detail": stopped.detail}
        output.print_json(document)
        return
    for name, value in rows(progress, assessment):
        click.echo(f"{name:>8}  {value}")
    for bug in progress.bugs:
        where = settings.out / "crashes" / (bug.inputs[0] if bug.inputs else bug.id)
        click.echo(
            f"     bug  {bug.kind} in {bug.frames[0] if bug.frames else '?'} ({bug.count}): {where}"
        )
    click.echo(f"Stopped after {progress.observation.n:,} inputs: {stopped.detail}")
    click.echo(f"Kept in {settings.out}; the same command goes on from there.")
