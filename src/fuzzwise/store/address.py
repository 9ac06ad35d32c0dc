"""The address of a store in PostgreSQL, as a user writes it; what is secret in it is never shown.

It is an address as libpq has it, with ``campaign=NAME`` among its parameters where that is not
known otherwise: ``postgresql://fuzz@db.example.org/fuzzing?campaign=nightly``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from fuzzwise.errors import BadInput
from fuzzwise.text import printable

_BEGINS = re.compile(r"postgres(ql)?://", re.IGNORECASE)
_LOGIN = re.compile(r"(://[^:@/?]*):.*@", re.DOTALL)
_SECRET = re.compile("(ssl)?password=")
_KEY = re.compile(r"[a-z_]+")

EXAMPLE = "postgresql://user@host/database"


@dataclass(frozen=True)
class Address:
    """A database, and a campaign in it; "" where it is not said which.

    ``url`` is for libpq alone, and may hold a password. ``folder`` is that of the campaign file
    that has the address.
    """

    url: str
    campaign: str = ""
    folder: Path | None = None

    def __str__(self) -> str:
        """For people, and to be used again: without the password, and with the campaign."""
        place, _, parameters = _LOGIN.sub(r"\1@", self.url).partition("?")
        shown = [each for each in parameters.split("&") if each and not _SECRET.match(each)]
        if self.campaign:
            shown.append(f"campaign={quote(self.campaign)}")
        return printable(f"{place}{'?' if shown else ''}{'&'.join(shown)}")

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    @property
    def password(self) -> str:
        """The password in it, "" where there is none: never to be shown."""
        login = _LOGIN.search(self.url)
        if login is None:
            return ""
        return unquote(login.group(0).removeprefix(f"{login.group(1)}:").removesuffix("@"))


def is_address(text: str) -> bool:
    """Whether a text is meant as the address of a database, and not as a path."""
    return _BEGINS.match(text) is not None


def read_address(text: str) -> Address:
    """The address in a text; BadInput where it is none, which shows nothing of it."""
    begin = _BEGINS.match(text)
    if begin is None:
        raise BadInput(f"it does not begin with postgresql://, as in {EXAMPLE}")
    if not text.isprintable():
        raise BadInput("it has characters that cannot be printed")
    rest = text[begin.end() :]
    place, _, parameters = rest.partition("?")
    login, at, _ = place.partition("/")[0].rpartition("@")
    # libpq would take half of such a password for a host, and name that in its errors.
    if rest.count("@") > bool(at) or "@" in login:
        raise BadInput("write @ in a password as %40, / as %2F and ? as %3F")
    kept, campaign = [], ""
    for parameter in filter(None, parameters.split("&")):
        key, _, value = parameter.partition("=")
        if not _KEY.fullmatch(key):
            raise BadInput("a parameter behind the ? is none; expected NAME=VALUE")
        if key == "campaign":
            campaign = unquote(value)
        else:
            kept.append(parameter)
    if campaign and (not campaign.isprintable() or len(campaign) > 100):
        raise BadInput("the campaign that it names is no name of at most 100 characters")
    url = f"postgresql://{place}{'?' if kept else ''}{'&'.join(kept)}"
    return Address(url, campaign)
