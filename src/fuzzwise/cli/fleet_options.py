"""What the commands of a fleet share."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from fuzzwise.errors import need_extra

certificates = click.option(
    "--certificates",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of `fuzzwise fleet certificates`; needed beyond this machine.",
)


def check_installed() -> None:
    """MissingExtra where Dask is not there."""
    if find_spec("distributed") is None:
        raise need_extra("A fleet", "distributed", "fleet")
