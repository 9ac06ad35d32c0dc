"""``fuzzwise fleet``: what a fleet needs besides its workers."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import click

from fuzzwise.cli import fleet_options, options, output
from fuzzwise.report import lines
from fuzzwise.text import many


@click.group()
def command() -> None:
    """One campaign on many machines: its scheduler, its certificates, and a try on this one."""


@command.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", default=8786, show_default=True, type=click.IntRange(0, 65535))
@fleet_options.certificates
def scheduler(host: str, port: int, certificates: Path | None) -> None:
    """Run the scheduler of a fleet until Ctrl-C: workers and managers meet there.

    Beyond this machine it needs --certificates. It keeps nothing: where it ends, campaigns wait
    until it is started again.
    """
    fleet_options.check_installed()
    from fuzzwise.campaign.fleet.hub import hub
    from fuzzwise.campaign.fleet.member import run_until_signal
    from fuzzwise.campaign.fleet.security import listening

    entrance = listening(host, port, certificates)

    async def serve(stop: asyncio.Event) -> None:
        async with hub(entrance) as address:
            _tell(f"The fleet is at {address}")
            await stop.wait()

    run_until_signal(serve)


@command.command()
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1, 64))
@click.option("--cores", default=1, show_default=True, type=click.IntRange(1, 1024), help="Each.")
@click.option("--port", default=8786, show_default=True, type=click.IntRange(0, 65535))
@click.option(
    "--work",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of the workers.  [default: a new one, removed at the end]",
)
def local(workers: int, cores: int, port: int, work: Path | None) -> None:
    """Run a whole fleet on this machine until Ctrl-C, to try it."""
    fleet_options.check_installed()
    from fuzzwise.campaign.fleet.hub import hub
    from fuzzwise.campaign.fleet.member import Member, run_until_signal
    from fuzzwise.campaign.fleet.security import Door, listening

    with ExitStack() as stack:
        home = work or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fuzzwise-")))
        members = [
            stack.enter_context(Member(home / f"worker-{number}", cores, ()))
            for number in range(1, workers + 1)
        ]

        async def serve(stop: asyncio.Event) -> None:
            async with hub(listening("127.0.0.1", port, None)) as address:
                _tell(f"The fleet is at {address}")
                _tell(f"Use it with: fuzzwise run campaign.toml --fleet {address}", err=True)
                way = Door(address)
                await asyncio.gather(*(member.stay(way, stop, _quiet) for member in members))

        run_until_signal(serve)


@command.command()
@click.argument("address")
@fleet_options.certificates
@options.as_json
def status(address: str, certificates: Path | None, as_json: bool) -> None:
    """The machines of the fleet whose scheduler is at ADDRESS."""
    fleet_options.check_installed()
    from fuzzwise.campaign.fleet.look import machines_at
    from fuzzwise.campaign.fleet.security import door

    machines = machines_at(door(address, certificates, "manager"))
    if as_json:
        output.print_json(
            {
                "machines": [
                    {
                        "name": one.name,
                        "cores": one.cores,
                        "version": one.version,
                        "labels": dict(one.labels),
                    }
                    for one in machines
                ]
            }
        )
        return
    for one in machines:
        labels = "".join(f", {key}={value}" for key, value in one.labels)
        lines.say(f"{one.name}: {many(one.cores, 'core')}, fuzzwise {one.version}{labels}")
    cores = sum(one.cores for one in machines)
    lines.say(f"{many(len(machines), 'machine')}, {many(cores, 'core')}.")


@command.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--host", "hosts", multiple=True, help="Name or address of a machine; repeated.")
@click.option("--days", default=365, show_default=True, type=click.IntRange(1, 3650))
def certificates(folder: Path, hosts: tuple[str, ...], days: int) -> None:
    """Make an authority, and certificates for manager, scheduler and workers, in a new folder DIR.

    Copy to a machine only what it needs: authority.pem, and the two files of its role. Whoever has
    one of these can run programs on all machines of the fleet.
    """
    from fuzzwise.campaign.fleet.certificates import make_certificates

    make_certificates(folder, hosts, days)
    lines.say(f"The certificates are in {folder}, valid for {days} days.")


def _tell(said: str, *, err: bool = False) -> None:
    lines.say(said, err=err)
    (sys.stderr if err else sys.stdout).flush()


_quiet: Callable[[str], None] = lambda said: None  # noqa: ARG005, E731
