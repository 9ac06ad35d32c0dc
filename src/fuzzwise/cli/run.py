"""``fuzzwise run``: many targets under one budget."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fuzzwise.cli import (
    ABOVE_THE_RISK,
    BAD_USAGE,
    FOUND_BUGS,
    INTERRUPTED,
    campaign_output,
    fleet_options,
    options,
    output,
)
from fuzzwise.errors import BadInput
from fuzzwise.report import lines
from fuzzwise.text import many, printable
from fuzzwise.units import parse_duration

if TYPE_CHECKING:
    from fuzzwise.campaign.plan import CampaignPlan
    from fuzzwise.store.places import Place


@click.command()
@click.argument("campaign", type=click.Path(path_type=Path))
@click.option(
    "--time",
    "seconds",
    metavar="TIME",
    help="Fuzz for so long now, whatever is left of the file's budget: 90s, 15m, 4h.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder of the campaign."
)
@options.accept_risk(
    f"Of a folder: retire a target below this; a file says it by itself. {options.PROMISE}"
)
@click.option("--fail-on-bug", is_flag=True, help="Exit with 10 if a bug was found.")
@campaign_output.baseline
@click.option("--fleet", metavar="ADDRESS", help="Fuzz on the machines of a fleet: HOST:PORT.")
@fleet_options.certificates
@click.option("--serve", is_flag=True, help="Show it live in a browser too; prints the link.")
@click.option("--check", "only_check", is_flag=True, help="Check the campaign, and stop.")
@click.option("--quiet", is_flag=True, help="No progress.")
@options.as_json
def command(
    campaign: Path,
    seconds: str | None,
    out: Path | None,
    accept_risk: float | None,
    fail_on_bug: bool,
    baseline: Path | None,
    fleet: str | None,
    certificates: Path | None,
    serve: bool,
    only_check: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run a campaign: spend its budget where most is to be found.

    CAMPAIGN is a file in TOML, or a folder of targets that you have: an out/ of OSS-Fuzz or
    ClusterFuzzLite, a crate with cargo-fuzz (which is built first), targets of AFL++, scripts of
    Atheris, or any mixture. Of a folder, each file is listed with what it was taken for; `fuzzwise
    init DIR` writes the campaign file that is used. Its campaign is kept in DIR-campaign, in the
    current folder.

    Targets whose residual risk is below the accepted one are retired, and their time goes to the
    others. The same command again goes on where it ended; new seeds, a new build or a lower
    accepted risk bring a retired target back. Watch it from elsewhere with `fuzzwise status DIR`.
    """
    from fuzzwise.campaign.baseline import new_bugs, read_baseline
    from fuzzwise.campaign.file import read_plan
    from fuzzwise.campaign.start import Running
    from fuzzwise.report.campaign.view import View
    from fuzzwise.store.states import BROKEN, RETIRED

    allowed = parse_duration(seconds) if seconds else None
    known = read_baseline(baseline) if baseline else set()
    if campaign.is_dir():
        plan = _of_folder(campaign, out, allowed, accept_risk, quiet)
    elif accept_risk is None:
        plan = read_plan(campaign, out)
    else:
        raise BadInput(
            f"--accept-risk is for a folder of targets; write accepted_risk = {accept_risk:g} into "
            f"the [campaign] of {campaign}."
        )
    plan = _on_fleet(plan, fleet, certificates)
    if only_check:
        _show_checked(campaign, plan, as_json=as_json)
        return
    running = Running(plan)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, lambda *_: running.interrupt())
    place = plan.store or plan.folder
    with _page(place) if serve else nullcontext():
        state = running.run(
            allowed,
            lambda sentence: None if quiet else lines.say(sentence, err=True),
            lambda read, before: View(read, before=before, quiet=quiet or as_json),
        )
    fresh = new_bugs(state.bugs, known) if baseline else None
    campaign_output.print_summary(state, fresh, place, as_json=as_json)
    reason = state.stopped.reason if state.stopped else ""
    if reason == "time-budget" and not as_json:
        lines.say(_how_to_go_on(campaign, out, allowed is None))
    if reason == "interrupted":
        raise click.exceptions.Exit(INTERRUPTED)
    if reason == "nothing-ran":
        lines.say(f"fuzzwise run: {state.stopped.detail if state.stopped else ''}", err=True)
        raise click.exceptions.Exit(BAD_USAGE)
    if fail_on_bug and (state.bugs if fresh is None else fresh):
        raise click.exceptions.Exit(FOUND_BUGS)
    if any(target.state == BROKEN for target in state.targets):
        raise click.exceptions.Exit(BAD_USAGE)  # a build that fails must not look like success
    if any(t.accepted_risk is not None and t.state != RETIRED for t in state.targets):
        raise click.exceptions.Exit(ABOVE_THE_RISK)


def _show_checked(campaign: Path, plan: CampaignPlan, *, as_json: bool) -> None:
    """Say that a campaign has no mistakes that can be seen before anything is started."""
    names = [target.name for target in plan.targets]
    if as_json:
        output.print_json({"campaign": plan.name, "targets": names})
        return
    lines.say(f"{campaign} has no mistake: {many(len(names), 'target')}. Nothing was started.")


def _on_fleet(plan: CampaignPlan, address: str | None, certificates: Path | None) -> CampaignPlan:
    """The plan with what the options say of a fleet, before what its file says."""
    from dataclasses import replace

    from fuzzwise.campaign.file import storage_of
    from fuzzwise.campaign.plan import FleetPlan

    known = plan.fleet
    if known is None and address is None:
        if certificates:
            raise BadInput("--certificates is for a fleet: give its address with --fleet, too.")
        return plan
    fleet_options.check_installed()
    known = known or FleetPlan("", storage_of(plan.folder))
    return replace(
        plan,
        fleet=replace(
            known,
            address=address or known.address,
            certificates=certificates or known.certificates,
        ),
    )


def _of_folder(
    folder: Path,
    out: Path | None,
    seconds: float | None,
    accepted_risk: float | None,
    quiet: bool,
) -> CampaignPlan:
    """The plan for the targets in a folder, after it was told what is in it."""
    import tomllib

    from fuzzwise.campaign.file import plan_of
    from fuzzwise.folders.campaign_text import campaign_text
    from fuzzwise.folders.recognise import look_for_targets
    from fuzzwise.report.folder import say as listed
    from fuzzwise.store.places import is_campaign

    if is_campaign(folder):
        raise BadInput(
            f"{folder} is the folder of a campaign. To go on with it, give fuzzwise run what it was "
            "started with: its campaign file, or its folder of targets."
        )

    def say(sentence: str) -> None:
        if not quiet:
            lines.say(sentence, err=True)

    tree, found = look_for_targets(folder, say)
    if not quiet:
        listed(tree, found, err=True)
    if seconds is None and accepted_risk is None:
        say(
            "No --time is given: it runs until it is interrupted, and goes on with the same command."
        )
    content = tomllib.loads(campaign_text(tree, found, Path.cwd()))
    if accepted_risk is not None:
        content["campaign"]["accepted_risk"] = accepted_risk
    return plan_of(content, Path.cwd() / f"{tree.folder.name}.toml", out, seconds)


@contextmanager
def _page(place: Place) -> Iterator[None]:
    """The live page, in a process of its own, while the campaign runs."""
    from fuzzwise.serve.beside import Beside

    with Beside(place) as page:
        lines.say(f"The live page is at {page.link}", err=True)
        yield
    lines.say(f"The live page has ended; to look again: fuzzwise serve {place}", err=True)


def _how_to_go_on(file: Path, out: Path | None, of_the_file: bool) -> str:
    if not of_the_file:
        return "The same command goes on from there."
    words = ["fuzzwise", "run", str(file), *(["--out", str(out)] if out else []), "--time", "1h"]
    return printable(
        f"The budget in {file} is used. Raise it to go on, or give a time: {shlex.join(words)}"
    )
