"""``fuzzwise triage``: crashing inputs grouped into bugs."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from fuzzwise.cli import options, output
from fuzzwise.engines.python.launch import with_runner
from fuzzwise.errors import BadInput
from fuzzwise.report import lines
from fuzzwise.report.grid import Column
from fuzzwise.report.stacks import own_names
from fuzzwise.text import many, printable, shown
from fuzzwise.triage import inputs, keep
from fuzzwise.triage.examine import INPUT, Limits, absolute
from fuzzwise.triage.grouping import Progress, Triage, TriagedBug, group
from fuzzwise.triage.inputs import CrashingInput
from fuzzwise.units import parse_duration

_SHOWN = 10


class _WithCommand(click.Command):
    """A command that leaves the words behind -- as they are."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.meta["command"] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND …]"]


@click.command(cls=_WithCommand)
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--frames",
    "depth",
    default=5,
    show_default=True,
    type=click.IntRange(1),
    help="Frames of the stack that tell bugs apart.",
)
@click.option(
    "--timeout", default="10s", show_default=True, metavar="TIME", help="Longest run of an input."
)
@click.option(
    "--memory",
    default=4096,
    show_default=True,
    metavar="MIB",
    type=click.IntRange(16),
    help="Most memory of a run.",
)
@click.option(
    "--checks",
    default=3,
    show_default=True,
    type=click.IntRange(0),
    help="How often a reproducer is run again.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    help="Inputs that run at the same time.  [default: the number of cores]",
)
@click.option("--hangs", is_flag=True, help="Run what is in the hangs folders of AFL++ as well.")
@click.option(
    "--trust-command",
    is_flag=True,
    help="Run the command that the campaign or the recording in PATH names.",
)
@click.option(
    "--sarif",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the bugs as SARIF 2.1.0.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Copy the smallest input of each bug, its report and its command to DIR/ID.",
)
@options.as_json
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    depth: int,
    timeout: str,
    memory: int,
    checks: int,
    jobs: int | None,
    hangs: bool,
    trust_command: bool,
    sarif: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Group the crashing inputs in PATH into bugs: same stack, same bug.

    PATH is a file, a folder of files, an output folder of AFL++ or libFuzzer, or the folder of a
    campaign of `fuzzwise fuzz` or `fuzzwise run`, or a recording of `fuzzwise record`, which name
    their targets: with --trust-command these are run. What the file of a campaign names is trusted.
    Others need the COMMAND that crashes, with @@ for the file with the input; without @@, the
    input is its standard input. Targets of libFuzzer are run with: -- ./target @@

    The stack is that of the report of a sanitizer or of libFuzzer, or else that of gdb.
    """
    if out is not None:
        keep.check(out)
    within = Limits(parse_duration(timeout), memory)
    how = _How(depth, jobs or os.cpu_count() or 1, checks)
    words: tuple[str, ...] = ctx.meta["command"]
    if len(paths) == 1 and inputs.is_recording(paths[0]):
        triage = _recording(paths[0], words, how, trust_command)
    elif len(paths) == 1 and _is_campaign(paths[0]):
        triage = _campaign(paths[0], words, within, how, trust_command)
    else:
        words = words or _named(paths, trust_command)
        triage = _files(inputs.find(paths, hangs), paths, words, within, how)
    _save(triage, out, sarif)
    if as_json:
        output.print_json(_document(triage, words))
    else:
        _print(triage, out)


def _is_campaign(path: Path) -> bool:
    """Whether only the campaign's store knows how its targets are run: several, or black boxes."""
    from fuzzwise.store.places import is_campaign

    if path.suffix == ".toml":
        return path.is_file()
    return is_campaign(path) and not (path / "campaign.json").exists()


class _How(NamedTuple):
    """The options of grouping."""

    depth: int
    jobs: int
    checks: int

    def group(self, crashes: list[CrashingInput]) -> Triage:
        """Group crashing inputs."""
        return group(
            crashes, depth=self.depth, jobs=self.jobs, checks=self.checks, progress=_shown()
        )


def _named(paths: tuple[Path, ...], trust: bool) -> tuple[str, ...]:
    """The command that the folder of a campaign names, if it is trusted; none where it names none."""
    named = inputs.command_of(paths)
    if named is None:
        return ()
    _approve(f"{named.file} names the command", [named.words], paths, trust=trust)
    return named.words


def _approve(
    source: str,
    commands: Sequence[tuple[str, ...]],
    paths: Sequence[Path],
    *,
    trust: bool,
    other: str = "; or give the program yourself, behind --",
) -> None:
    """Show the commands that a file names; BadInput unless the user trusts them."""
    named = [printable(shlex.join(words)) for words in commands]
    more = [f"… and {len(named) - _SHOWN:,} more"] if len(named) > _SHOWN else []
    listed = "\n".join(f"  {line}" for line in [*named[:_SHOWN], *more])
    if not trust:
        raise BadInput(
            f"{source}\n{listed}\nWhoever made the folder has chosen it, so it is not run by itself. "
            f"If you trust it: fuzzwise triage {shlex.join(map(str, paths))} --trust-command{other}"
        )
    lines.say(f"{printable(source)}\n{listed}", err=True)


def _files(
    files: list[Path], paths: tuple[Path, ...], words: tuple[str, ...], within: Limits, how: _How
) -> Triage:
    if not words:
        raise BadInput(
            "Which program crashes? Give it behind --, with @@ for the file with the input: "
            f"fuzzwise triage {shlex.join(map(str, paths))} -- PROGRAM @@"
        )
    command = tuple(with_runner(words, INPUT))
    absolute(command)  # an error here comes before anything runs
    triage = how.group(inputs.from_files(files, command, within))
    if not triage.bugs and not triage.timeouts:
        raise BadInput(
            f"{_none_of(len(files))} {shlex.join(words)}. Is it the program, the "
            "build and the way to pass the input (@@ or standard input) that crashed?"
        )
    return triage


def _campaign(path: Path, words: tuple[str, ...], within: Limits, how: _How, trust: bool) -> Triage:
    """The crashes of a campaign by the commands in its folder; who gives its file wrote that.

    Only those commands are trusted then which the file has, too: the folder may come from elsewhere.
    """
    from fuzzwise.campaign.crashes import commands_of, crashing_inputs
    from fuzzwise.campaign.lookup import campaign_place

    kept = crashing_inputs(campaign_place(path))
    if words:
        return _files([file for file, _ in kept], (path,), words, within, how)
    commands = list(dict.fromkeys(command for _, command in kept))
    known = trust or (path.is_file() and commands_of(path).issuperset(commands))
    _approve(f"The campaign {path} names", commands, [path], trust=known)
    for command in commands:
        absolute(command)  # an error here comes before anything runs
    return how.group(
        [crash for file, command in kept for crash in inputs.from_files([file], command, within)]
    )


def _none_of(inputs: int) -> str:
    return "The input does not crash" if inputs == 1 else f"None of the {inputs} inputs crashes"


def _recording(folder: Path, words: tuple[str, ...], how: _How, trust: bool) -> Triage:
    from fuzzwise.lab.recording.triaged import triage_recording

    if words:
        raise BadInput(
            f"{folder} is a recording and knows its programs: leave out what follows --."
        )
    result = triage_recording(
        folder,
        depth=how.depth,
        jobs=how.jobs,
        checks=how.checks,
        progress=_shown(),
        approve=lambda commands: _approve(
            f"The recording {folder} names", commands, [folder], trust=trust, other=""
        ),
    )
    for warning in result.warnings:
        lines.say(f"fuzzwise triage: {shown(warning)}", err=True)
    lines.say(f"The log for replays is {result.path}. Next: fuzzwise replay {folder}", err=True)
    lines.say(
        "Inputs are made again on demand: --out DIR writes the smallest of each bug.", err=True
    )
    return result.triage


def _save(triage: Triage, out: Path | None, sarif: Path | None) -> None:
    if out is not None:
        keep.save(triage, out)
    if sarif is not None:
        from fuzzwise.report.sarif import findings_of_triage, save

        save(findings_of_triage(triage), sarif)


def _shown() -> Progress | None:
    return _progress if sys.stderr.isatty() else None


def _progress(done: int, total: int) -> None:
    click.echo(
        f"\r{done:,} of {many(total, 'input')}{'' if done < total else '   '}", err=True, nl=False
    )
    if done == total:
        click.echo("", err=True)


def _print(triage: Triage, out: Path | None) -> None:
    count = sum(len(bug.inputs) for bug in triage.bugs)
    title = f"{many(len(triage.bugs), 'bug')} in {many(count, 'input')}"
    lines.table(title, _columns(triage.bugs))
    for bug in triage.bugs:
        lines.say(f"{bug.id}  {bug.verdict.summary}", hang=4)
        lines.say(f"  stack: {' < '.join(own_names(bug.identity.frames)) or 'unknown'}", hang=4)
        lines.say(f"  smallest input: {printable(bug.reproducer.name)}", hang=4)
    _list("timeout", triage.timeouts)
    _list("did not crash", triage.silent)
    if out is not None and triage.bugs:
        lines.say(f"The smallest inputs, with reports and commands, are in {out}.")


def _columns(bugs: Sequence[TriagedBug]) -> list[Column]:
    where = [bug.identity.frames[0] if bug.identity.frames else "?" for bug in bugs]
    return [
        Column("bug", [bug.id for bug in bugs]),
        Column("inputs", [f"{len(bug.inputs):,}" for bug in bugs], rank=3, right=True),
        Column("severity", [bug.identity.severity for bug in bugs], rank=2),
        Column("kind", [bug.identity.kind for bug in bugs], rank=1),
        Column("in", where, rank=5),
        Column("shows", ["flaky" if bug.flaky else "every time" for bug in bugs], rank=4),
    ]


def _list(title: str, crashes: Iterable[CrashingInput]) -> None:
    names = [printable(crash.name) for crash in crashes]
    if names:
        more = f", and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
        lines.say(f"{title} ({len(names):,}): {', '.join(names[:_SHOWN])}{more}", hang=2)


def _document(triage: Triage, words: tuple[str, ...]) -> dict[str, object]:
    return {
        "command": [printable(word) for word in words],
        "bugs": [_bug_json(bug) for bug in triage.bugs],
        "timeouts": [printable(crash.name) for crash in triage.timeouts],
        "not_crashing": [printable(crash.name) for crash in triage.silent],
        "runs": triage.runs,
    }


def _bug_json(bug: TriagedBug) -> dict[str, object]:
    return {
        "id": bug.id,
        "kind": bug.identity.kind,
        "severity": bug.identity.severity,
        "frames": list(bug.identity.frames),
        "inputs": [printable(crash.name) for crash in bug.inputs],
        "count": len(bug.inputs),
        "reproducer": printable(bug.reproducer.name),
        "flaky": bug.flaky,
        "summary": bug.verdict.summary,
        "file": bug.verdict.file or None,
        "line": bug.verdict.line,
    }
