"""One writer a campaign, wherever it runs: a lease in the campaign's row, with a fencing token.

Who takes the lease raises the token. Every transaction of a writer first renews the lease under its
own token, which locks the row: so a writer whose token is old changes nothing, not even with what
it was in the midst of. All times are by the server's clock.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, func, or_, select, update

from fuzzwise.errors import BadInput, FuzzwiseError
from fuzzwise.store.address import Address
from fuzzwise.store.postgresql.catalog import campaigns
from fuzzwise.store.postgresql.connecting import connect, sentences

SECONDS = 30.0
"""How long a lease lasts: after that, a manager that was killed can be replaced elsewhere."""

LOOK_EVERY = 0.5
"""Seconds between two looks whether another lets go."""

_NOW = func.clock_timestamp()


@dataclass(frozen=True)
class Lease:
    """A campaign that this process holds; ``writes`` had been made before."""

    campaign: int
    token: int
    writes: int


def take(
    connection: Connection, campaign: Row[Any], folder: Path, say: Callable[[str], None]
) -> Lease:
    """Take the lease of a campaign, whose folder this process holds.

    If another has it, its end is waited for; BadInput once it is renewed: then somebody is at work.
    """
    first: datetime | None = None
    while True:
        with connection.begin():
            taken = connection.execute(_taking(campaign.id, folder)).first()
            if taken is not None:
                return Lease(campaign.id, taken.token, taken.writes)
            now = connection.execute(_of(campaign.id).add_columns(_NOW.label("now"))).one()
        if now.until is None:
            continue  # it was given back meanwhile
        if first is not None and now.until > first:
            raise BadInput(
                f"Another fuzzwise ({now.holder}) runs the campaign {now.name!r}, in {now.folder}. "
                "Watch it with fuzzwise status, or give this campaign another name."
            )
        if first is None:
            first = now.until
            left = max(0.0, (now.until - now.now).total_seconds())
            say(f"The campaign is that of {now.holder}, for {left:.0f} s more unless it goes on.")
        time.sleep(LOOK_EVERY)


def renew(connection: Connection, lease: Lease, **values: Any) -> bool:
    """Renew a lease and set more values of its row; whether it was still this one's."""
    mine = [campaigns.c.id == lease.campaign, campaigns.c.token == lease.token]
    if "writes" in values:
        mine.append(campaigns.c.writes == values["writes"] - 1)
    row = {"until": _NOW + timedelta(seconds=SECONDS)} | values
    return connection.execute(update(campaigns).where(*mine).values(row)).rowcount == 1


def let_go(connection: Connection, lease: Lease) -> None:
    """Give a lease back, so that the next one need not wait."""
    mine = (campaigns.c.id == lease.campaign, campaigns.c.token == lease.token)
    free = {"holder": "", "place": "", "until": None}
    connection.execute(update(campaigns).where(*mine).values(free))


def check(connection: Connection, lease: Lease) -> Row[Any]:
    """The row of a campaign that this process has; BadInput where another has taken it."""
    now = connection.execute(_of(lease.campaign)).first()
    if now is None:
        raise BadInput("The campaign was removed from the database while it was at work.")
    if now.token != lease.token:
        raise BadInput(
            f"Another fuzzwise ({now.holder or 'which has ended'}) has taken over the campaign "
            f"{now.name!r}; this one ends. Nothing that was stored is lost."
        )
    return now


def is_held() -> Any:
    """A condition on the row of a campaign: somebody is at work on it."""
    return (campaigns.c.holder != "") & (campaigns.c.until > _NOW)


class Renewal(threading.Thread):
    """Renews a lease while nothing is written: programs may take minutes to build."""

    def __init__(self, address: Address, lease: Lease) -> None:
        super().__init__(daemon=True)
        self._address = address
        self._lease = lease
        self._over = threading.Event()

    def run(self) -> None:
        """Until it is ended; a database that is away is asked again."""
        while not self._over.wait(SECONDS / 3):
            with (
                suppress(FuzzwiseError),
                sentences(self._address),
                connect(self._address) as connection,
                connection.begin(),
            ):
                renew(connection, self._lease)

    def end(self) -> None:
        """End it; what it is in the midst of changes nothing once the lease is given back."""
        self._over.set()


def _taking(campaign: int, folder: Path) -> Any:
    """Takes a lease that is free, has run out, or was that of this very folder."""
    place = _place(folder)
    free = or_(campaigns.c.holder == "", campaigns.c.until < _NOW, campaigns.c.place == place)
    return (
        update(campaigns)
        .where(campaigns.c.id == campaign, free)
        .values(
            token=campaigns.c.token + 1,
            holder=f"process {os.getpid()} on {socket.gethostname()}",
            host=socket.gethostname(),
            folder=str(folder),
            place=place,
            until=_NOW + timedelta(seconds=SECONDS),
        )
        .returning(campaigns.c.token, campaigns.c.writes)
    )


def _of(campaign: int) -> Any:
    return select(campaigns).where(campaigns.c.id == campaign)


def _place(folder: Path) -> str:
    """A folder on a machine since it was started: who had the lock of it before has ended."""
    info = folder.stat()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {info.st_dev} {info.st_ino}"
