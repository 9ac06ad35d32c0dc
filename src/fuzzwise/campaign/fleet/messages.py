"""What goes between the manager and a machine of the fleet, besides files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fuzzwise.campaign.executor import Turn
from fuzzwise.engines.contract import Totals


@dataclass(frozen=True)
class Order:
    """A turn for a machine.

    ``campaign`` is the name that no other campaign has, ``run`` who asks: the numbers of epochs
    are theirs. ``errand`` is what the machine needs to open the target; ``cores`` are those it has
    for the turn.
    """

    campaign: str
    run: str
    turn: Turn
    cores: int
    errand: Any = None


@dataclass(frozen=True)
class Answer:
    """What a machine made of an order.

    ``totals``: the turn is over; ``problem``: what is wrong with the target; ``unfit``: why this
    machine cannot run it, while another may; ``resting``: why it can run nothing for a while. None
    of them: the order was refused, because it came twice or the machine is about to leave.
    ``kept`` is the manifest of what was stored, ``moved`` how many bytes went there and came back.
    ``took``: seconds for which the turn had its cores, ``since``: those that have passed since it
    gave them back, ``idle``: those for which they had nothing to do before; None: nobody knows.
    """

    totals: Totals | None = None
    problem: str = ""
    unfit: str = ""
    resting: str = ""
    kept: bytes = b""
    moved: tuple[int, int] = (0, 0)
    took: float = 0.0
    since: float = 0.0
    idle: float | None = None


@dataclass(frozen=True)
class Machine:
    """A machine that has joined; ``address`` is Dask's, another one each time it joins."""

    address: str
    name: str
    cores: int
    version: str
    labels: tuple[tuple[str, str], ...] = ()
