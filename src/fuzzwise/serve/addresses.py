"""Addresses of this machine, and what is asked of a token beyond it."""

from __future__ import annotations

import ipaddress

HERE = "127.0.0.1"
SHORTEST_TOKEN = 16


def is_loopback(host: str) -> bool:
    """Whether an address reaches this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
