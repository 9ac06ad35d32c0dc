"""Who gets in: beyond this machine, only who has a certificate of the fleet's own authority."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fuzzwise.errors import BadInput
from fuzzwise.text import printable

PORT = 8786
"""Where a scheduler listens unless it is told otherwise; Dask's own number."""


@dataclass(frozen=True)
class Door:
    """How to reach a scheduler, or how one is reached; ``security`` is Dask's, None without TLS."""

    address: str
    security: Any = None


def door(address: str, certificates: Path | None, role: str) -> Door:
    """The way to an address for who has a role: manager, scheduler or worker.

    Without certificates only on this machine: whoever reaches a fleet can run programs on it.
    """
    scheme, host, port = _parts(address)
    if certificates is None:
        if scheme == "tls" or not is_loopback(host):
            raise BadInput(
                f"{printable(address)} is beyond this machine, and who reaches a fleet can run "
                "programs on it: certificates are needed. Make them with: fuzzwise fleet "
                "certificates DIR --host HOST; then give --certificates DIR on every machine."
            )
        return Door(f"tcp://{_bracketed(host)}:{port}")
    if scheme == "tcp":
        raise BadInput(
            f"{printable(address)} is without encryption, but certificates are given. Write "
            f"tls://{_bracketed(host)}:{port}."
        )
    return Door(f"tls://{_bracketed(host)}:{port}", _tls(certificates, role))


def listening(host: str, port: int, certificates: Path | None) -> Door:
    """Where a scheduler listens; port 0 is any that is free."""
    entrance = door(f"{_bracketed(host)}:{port or PORT}", certificates, "scheduler")
    return Door(f"{entrance.address.rpartition(':')[0]}:{port}", entrance.security)


def is_loopback(host: str) -> bool:
    """Whether a name or number can only be this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def why_not(door: Door, error: BaseException) -> str:
    """Why a scheduler cannot be reached, in a sentence that says what to do."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return (
                f"{door.address} refuses the certificate, or shows one of another authority "
                f"({printable(cause.reason or str(cause))}). Use the folder of certificates that "
                "the scheduler has, and see that they have not expired."
            )
        cause = cause.__cause__ or cause.__context__
    return (
        f"Nobody answers at {door.address}. Is the scheduler running there (fuzzwise fleet "
        "scheduler), and with certificates if the address begins with tls://?"
    )


def _parts(address: str) -> tuple[str, str, int]:
    text = address if "://" in address else f"//{address}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port or PORT
    except ValueError:
        host, port = "", 0
        parts = urlsplit("")
    scheme = parts.scheme
    if not host or scheme not in ("", "tcp", "tls") or parts.path or parts.query or parts.username:
        raise BadInput(
            f"{printable(address)!r} is no address of a fleet. Expected: HOST:PORT, such as "
            f"localhost:{PORT}, or tls://HOST:PORT."
        )
    return scheme, host, port


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _tls(folder: Path, role: str) -> Any:
    from distributed.security import Security

    from fuzzwise.campaign.fleet.certificates import check_certificates

    check_certificates(folder, role)
    kind = "client" if role == "manager" else role
    own = {
        f"tls_{kind}_cert": str(folder / f"{role}.pem"),
        f"tls_{kind}_key": str(folder / f"{role}-key.pem"),
    }
    return Security(
        tls_ca_file=str(folder / "authority.pem"),
        require_encryption=True,
        tls_min_version=ssl.TLSVersion.TLSv1_3,
        **own,
    )
