"""``fuzzwise worker``: this machine takes part in a fleet."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import click

from fuzzwise.cli import fleet_options
from fuzzwise.errors import BadInput
from fuzzwise.report import lines

_LABEL = re.compile(r"[A-Za-z0-9_.-]{1,60}=[^\s=]{1,100}")


@click.command()
@click.argument("address")
@click.option(
    "--work",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of this machine, for programs, corpora and counts; no other worker's.",
)
@click.option(
    "--cores", type=click.IntRange(1, 1024), help="Cores to fuzz on.  [default: all that it has]"
)
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="For fleet status.")
@fleet_options.certificates
def command(
    address: str, work: Path, cores: int | None, labels: tuple[str, ...], certificates: Path | None
) -> None:
    """Take part in the fleet whose scheduler is at ADDRESS, until Ctrl-C.

    ADDRESS is HOST:PORT, as `fuzzwise fleet scheduler` prints it; beyond this machine it needs
    --certificates. Whoever may use the fleet can run programs here as the user who starts this:
    give it one of its own. Targets that were fuzzed here go on elsewhere when it leaves.
    """
    fleet_options.check_installed()
    from fuzzwise.campaign.fleet.member import Member, cores_here, run_until_signal
    from fuzzwise.campaign.fleet.security import door

    entrance = door(address, certificates, "worker")
    for label in labels:
        if not _LABEL.fullmatch(label):
            raise BadInput(f"--label {label!r} is no label; expected KEY=VALUE, such as rack=b.")
    pairs = [(key, value) for key, _, value in (label.partition("=") for label in labels)]
    with Member(work, cores or cores_here(), pairs) as member:

        async def stay(stop: asyncio.Event) -> None:
            await member.stay(entrance, stop, lambda said: lines.say(said, err=True))

        run_until_signal(stay)
