"""``fuzzwise status``: how a campaign stands."""

from __future__ import annotations

import time
from pathlib import Path

import click

from fuzzwise.cli import campaign_output, options, output


@click.command()
@campaign_output.campaign
@click.option("--follow", is_flag=True, help="Show the live view until the campaign ends.")
@click.option(
    "--decisions", is_flag=True, help="List the latest epochs: why this target, why then."
)
@click.option("--target", default="", metavar="NAME", help="Only the decisions for this target.")
@click.option(
    "--last",
    default=50,
    show_default=True,
    type=click.IntRange(1),
    help="How many decisions to list.",
)
@options.as_json
def command(
    campaign: str | Path, follow: bool, decisions: bool, target: str, last: int, as_json: bool
) -> None:
    """Show how a campaign stands; it may be running, ended or killed.

    CAMPAIGN is the folder of `fuzzwise fuzz` or of `fuzzwise run`, the file of a campaign, or the
    address of its store: postgresql://HOST/DATABASE?campaign=NAME
    """
    from fuzzwise.campaign.lookup import campaign_place
    from fuzzwise.store.places import open_reader

    reader = open_reader(campaign_place(campaign))
    if decisions:
        found = reader.decisions(target, last)
        if as_json:
            from dataclasses import asdict

            output.print_json({"decisions": [asdict(decision) for decision in found]})
        else:
            from fuzzwise.report.campaign.status import print_decisions

            print_decisions(found)
        return
    if follow:
        from fuzzwise.report.campaign.view import View

        with View(reader.state) as view:
            while reader.is_running():
                view.update()
                time.sleep(0.25)
    state = reader.state()
    if as_json:
        campaign_output.print_document(state, reader)
    else:
        from fuzzwise.report.campaign.status import print_status

        print_status(state)
