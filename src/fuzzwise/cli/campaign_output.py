"""What ``run``, ``status`` and ``report`` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fuzzwise.cli import output
from fuzzwise.store.address import is_address

if TYPE_CHECKING:
    from fuzzwise.store.contract import Reader
    from fuzzwise.store.places import Place
    from fuzzwise.store.states import CampaignState


class Named(click.Path):
    """A path, or the address of a database, which stays a text."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | Path:
        """What was given, as ``campaign_place`` takes it."""
        if isinstance(value, str) and is_address(value):
            return value
        return super().convert(value, param, ctx)  # type: ignore[arg-type, return-value]


campaign = click.argument("campaign", metavar="CAMPAIGN", type=Named())

baseline = click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Known bugs, which do not count: JSON of an earlier status, or an id a line.",
)


def print_summary(
    state: CampaignState, fresh: set[str] | None, place: Place | None = None, *, as_json: bool
) -> None:
    """The end of a run: what was found, what may stop, what to do next.

    ``place`` is where the campaign is kept; by default, in its folder.
    """
    if as_json:
        from fuzzwise.store.places import open_reader

        print_document(state, open_reader(place or state.folder), fresh)
        return
    from fuzzwise.report.campaign import status

    status.print_summary(state, fresh)


def print_document(
    state: CampaignState,
    reader: Reader,
    fresh: set[str] | None = None,
    *,
    share: bool = False,
) -> None:
    """The campaign as JSON; with ``share``, nothing in it tells of the machine."""
    from fuzzwise.report.campaign.as_json import document

    found = document(state, reader.observations(), share=share)
    if fresh is not None:
        found["new_bugs"] = sorted(fresh)
    output.print_json(found)
