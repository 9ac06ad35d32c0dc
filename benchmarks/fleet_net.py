"""A network of namespaces on one machine: each process of a fleet has a link of its own, to be cut.

It needs root and iproute2. Nothing of it is seen outside: the bridge is in a namespace too.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress

PREFIX = "10.77.0"


class NoNetwork(Exception):
    """No namespaces can be made here; the sentence says why."""


class Network:
    """A bridge, and namespaces with a link to it; ``names`` get the addresses .1, .2 and so on."""

    def __init__(self, names: list[str]) -> None:
        self._tag = f"fw{os.getpid() % 100_000}"
        self._numbers = {name: number for number, name in enumerate(names, start=1)}
        self._made: list[str] = []
        try:
            self._add("net")
            self._ip("-n", self._space("net"), "link", "add", "bridge", "type", "bridge")
            self._ip("-n", self._space("net"), "link", "set", "bridge", "up")
            for name in names:
                self._connect(name)
        except (OSError, subprocess.CalledProcessError) as error:
            self.remove()
            said = getattr(error, "stderr", "") or str(error)
            raise NoNetwork(f"Network namespaces cannot be made here: {said.strip()}") from error

    def address(self, name: str) -> str:
        """The address at which somebody is reached."""
        return f"{PREFIX}.{self._numbers[name]}"

    def inside(self, name: str) -> list[str]:
        """The words before a command that is to run in a namespace."""
        return ["nsenter", f"--net=/run/netns/{self._space(name)}"]

    def cut(self, name: str) -> None:
        """Take the link of somebody down, at the other end: as if a cable were pulled."""
        self._set(name, "down")

    def mend(self, name: str) -> None:
        """Bring it up again."""
        with suppress(subprocess.CalledProcessError):  # all is over
            self._set(name, "up")

    def processes(self) -> list[int]:
        """Who is in any of the namespaces."""
        found = []
        for space in self._made:
            words = ["ip", "netns", "pids", space]
            said = subprocess.run(words, check=False, capture_output=True, text=True).stdout
            found += [int(word) for word in said.split()]
        return found

    def remove(self) -> None:
        """Take everything away; links go with their namespaces."""
        for space in self._made:
            subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)
        self._made = []

    def _connect(self, name: str) -> None:
        number, space, net = self._numbers[name], self._space(name), self._space("net")
        self._add(name)
        port = f"port{number}"
        there = ("peer", "name", "eth0", "netns", space)
        self._ip("-n", net, "link", "add", port, "type", "veth", *there)
        self._ip("-n", net, "link", "set", port, "master", "bridge", "up")
        self._ip("-n", space, "addr", "add", f"{PREFIX}.{number}/24", "dev", "eth0")
        self._ip("-n", space, "link", "set", "eth0", "up")
        self._ip("-n", space, "link", "set", "lo", "up")

    def _set(self, name: str, how: str) -> None:
        port = f"port{self._numbers[name]}"
        self._ip("-n", self._space("net"), "link", "set", port, how)

    def _space(self, name: str) -> str:
        return f"{self._tag}-{name}"

    def _add(self, name: str) -> None:
        self._ip("netns", "add", self._space(name))
        self._made.append(self._space(name))

    def _ip(self, *words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
