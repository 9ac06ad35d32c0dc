"""What ``run``, ``status`` and ``report`` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fuzzwise.cli import output

if TYPE_CHECKING:
    from fuzzwise.store.states import CampaignState

campaign = click.argument("campaign", metavar="CAMPAIGN", type=click.Path(path_type=Path))

baseline = click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Known bugs, which do not count: JSON of an earlier status, or an id a line.",
)


def print_summary(state: CampaignState, fresh: set[str] | None, *, as_json: bool) -> None:
    """The end of a run: what was found, what may stop, what to do next."""
    if as_json:
        print_document(state, fresh)
        return
    from fuzzwise.report.campaign import status

    status.print_summary(state, fresh)


def print_document(
    state: CampaignState, fresh: set[str] | None = None, *, share: bool = False
) -> None:
    """The campaign as JSON; with ``share``, nothing in it tells of the machine."""
    from fuzzwise.report.campaign.as_json import document
    from fuzzwise.store.places import open_reader

    found = document(state, open_reader(state.folder).observations(), share=share)
    if fresh is not None:
        found["new_bugs"] = sorted(fresh)
    output.print_json(found)
