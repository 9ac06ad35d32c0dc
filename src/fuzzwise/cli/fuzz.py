"""``fuzzwise fuzz``: one target, with a live residual risk, until it may stop."""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path

import click

from fuzzwise.campaign.single import Limits, Single, Standing
from fuzzwise.cli import ABOVE_THE_RISK, FOUND_BUGS, INTERRUPTED, options, output
from fuzzwise.engines.contract import SCHEDULES, SPECIES, FuzzRequest, NothingYet
from fuzzwise.engines.recognise import recognise
from fuzzwise.engines.registry import engine_named, engines
from fuzzwise.engines.starting import STARTUP
from fuzzwise.errors import BadInput
from fuzzwise.judge import Terms
from fuzzwise.report import lines
from fuzzwise.report.live import View, rows
from fuzzwise.text import many, printable
from fuzzwise.triage.bug_book import Bug
from fuzzwise.units import parse_count, parse_duration


@click.command()
@click.argument("target", type=click.Path(path_type=Path))
@click.argument("corpus", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--engine",
    type=click.Choice(sorted(engines())),
    help="Who fuzzes; if not given, the one that TARGET was made for.",
)
@options.accept_risk(
    "Stop when the discovery probability is surely below this: the chance that the next input "
    f"shows something new. {options.PROMISE}"
)
@options.confidence
@click.option("--time", "seconds", metavar="TIME", help="Fuzz for so long now: 90s, 15m, 4h.")
@click.option(
    "--startup",
    metavar="TIME",
    help="Give up a target that has run no input so long after its start.  [default: 30s]",
)
@click.option(
    "--inputs",
    metavar="N",
    help="Stop after so many inputs in all, those of earlier calls included: 1000, 200k, 1e6.",
)
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
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the campaign; the same folder again goes on with it.  [default: TARGET-out]",
)
@click.option(
    "--schedule",
    default="fresh",
    show_default=True,
    type=click.Choice(list(SCHEDULES)),
    help="Which seed is mutated; observe leaves it to libFuzzer, AFL++ always decides itself.",
)
@click.option(
    "--species",
    default="feature",
    show_default=True,
    type=click.Choice(list(SPECIES)),
    help="What counts as new.",
)
@click.option(
    "--python",
    metavar="PATH",
    help="The interpreter that runs a Python harness.  [default: the first with Atheris]",
)
@click.option("--fail-on-bug", is_flag=True, help="Exit with 10 if a bug was found.")
@click.option("--quiet", is_flag=True, help="No progress.")
@options.random_seed(
    "Random seed. A campaign repeats itself only with a --schedule without a clock: uniform, later."
)
@options.as_json
@click.option(
    "--libfuzzer",
    "libfuzzer_options",
    multiple=True,
    metavar="-OPTION=VALUE",
    help="An option for libFuzzer, for example -timeout=5. Can be repeated.",
)
@click.option(
    "--afl",
    "afl_options",
    multiple=True,
    metavar="OPTION",
    help="An option for afl-fuzz, for example '-p explore'. Can be repeated.",
)
@click.option(
    "--arguments",
    metavar="WORDS",
    help="Arguments of a target of AFL++ or of a black box, for example '-v @@'; @@ is the file with the input.",
)
def command(
    target: Path,
    corpus: tuple[Path, ...],
    engine: str | None,
    accept_risk: float | None,
    confidence: float,
    seconds: str | None,
    startup: str | None,
    inputs: str | None,
    measure: bool,
    per_seed: bool,
    jobs: int,
    out: Path | None,
    schedule: str,
    species: str,
    python: str | None,
    fail_on_bug: bool,
    quiet: bool,
    seed: int,
    as_json: bool,
    libfuzzer_options: tuple[str, ...],
    afl_options: tuple[str, ...],
    arguments: str | None,
) -> None:
    """Fuzz TARGET, starting from the files in CORPUS, and watch its residual risk fall.

    TARGET is a libFuzzer harness: built with `fuzzwise build`, `fuzzwise cc` or the library of
    `fuzzwise engine`, or as somebody else has built it. Or it is a program built for AFL++, a
    Python file with a function TestOneInput(data), a fuzz test of Go as PACKAGE/FuzzX, or with
    --engine black-box any program that reads a file, from one seed file. `fuzzwise doctor TARGET` tells which. Without a limit it
    fuzzes until Ctrl-C. Crashes do not end the campaign: the input is kept, crashes with the same
    stack are one bug, and fuzzing goes on.

    The same command again goes on with all counts, for another --time. A target that was built anew
    begins new counts, from the corpus so far.
    """
    engine = engine or recognise(target)
    request = FuzzRequest(
        target=target,
        corpus=corpus,
        inputs=parse_count(inputs) if inputs else None,
        measure=measure,
        per_seed=per_seed or measure,
        jobs=jobs,
        schedule=schedule,
        species=species,
        libfuzzer_options=libfuzzer_options,
        afl_options=tuple(word for option in afl_options for word in _words("--afl", option)),
        arguments=None if arguments is None else _words("--arguments", arguments),
        python=python,
        startup=parse_duration(startup) if startup else STARTUP,
    )
    plan = engine_named(engine).plan_fuzz(request)
    terms = Terms(accept_risk, confidence)
    limits = Limits(terms, request.inputs, parse_duration(seconds) if seconds else None)
    out = out or Path(f"{plan.name}-out")
    campaign = Single(plan, out, limits, seed)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: campaign.interrupt())

    def going_on() -> None:
        if not quiet:
            lines.say(f"Going on with the campaign in {out}.", err=True)

    try:
        with View(target.name, quiet=quiet or as_json) as view:
            standing = campaign.run(going_on, lambda now: view(now.totals, now.judgement))
    except BadInput as problem:
        if as_json:
            _report_failure(target, campaign, problem)
        if not campaign.is_interrupted:
            raise
        lines.say(printable(str(problem)), err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    _report(target, out, standing, as_json)
    _exit(standing, fail_on_bug, accept_risk)


def _exit(standing: Standing, fail_on_bug: bool, accepted_risk: float | None) -> None:
    reason = standing.stopped.reason if standing.stopped else ""
    if reason == "interrupted":
        raise click.exceptions.Exit(INTERRUPTED)
    if fail_on_bug and standing.totals.bugs:
        raise click.exceptions.Exit(FOUND_BUGS)
    if accepted_risk is not None and reason != "accepted-risk":
        raise click.exceptions.Exit(ABOVE_THE_RISK)


def _words(name: str, text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise BadInput(f"{name}: {text!r} cannot be split into words ({error}).") from error


def _report(target: Path, out: Path, standing: Standing, as_json: bool) -> None:
    totals, judgement, stopped = standing.totals, standing.judgement, standing.stopped
    assert stopped is not None
    if as_json:
        document = output.judgement_json(judgement)
        document["target"] = str(target)
        document["corpus"] = totals.corpus
        document["stability"] = totals.stability
        document["warnings"] = list(totals.warnings)
        document["bugs"] = [_bug_json(bug, out) for bug in totals.bugs]
        document["stopped"] = {"reason": stopped.reason, "detail": stopped.detail}
        output.print_json(document)
        return
    facts = rows(totals, judgement)
    for bug in totals.bugs:
        where = out / "crashes" / (bug.inputs[0] if bug.inputs else bug.id)
        shown = f"{bug.kind} in {bug.frames[0] if bug.frames else '?'} ({bug.count}): {where}"
        facts.append(("bug", printable(shown)))
    lines.show(lines.pairs(facts, lines.width_of(sys.stdout)))
    lines.say(f"Stopped after {many(totals.observation.n, 'input')}: {stopped.detail}")
    how = "a larger --inputs" if stopped.reason == "input-budget" else "the same command"
    lines.say(f"Kept in {out}; {how} goes on from there.")


def _report_failure(target: Path, campaign: Single, problem: BadInput) -> None:
    """What programs are told where there is nothing to judge."""
    reason = "nothing-ran" if isinstance(problem, NothingYet) else "broken"
    reason = "interrupted" if campaign.is_interrupted else reason
    output.print_json(
        {
            "target": str(target),
            "inputs": campaign.latest.observation.n,
            "bugs": [],
            "warnings": list(campaign.latest.warnings),
            "stopped": {"reason": reason, "detail": str(problem)},
        }
    )


def _bug_json(bug: Bug, out: Path) -> dict[str, object]:
    return {
        "id": bug.id,
        "kind": bug.kind,
        "severity": bug.severity,
        "frames": list(bug.frames),
        "inputs": [str(out / "crashes" / name) for name in bug.inputs],
        "count": bug.count,
    }
