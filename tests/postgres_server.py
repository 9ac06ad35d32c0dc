"""Debian's PostgreSQL for tests: one server for each process of pytest, which ends with it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from urllib.parse import quote

import pytest

_KEEPER = """
pg_ctl -D "$0/data" -w -t 300 -l "$0/log" -o "$1 -k $0 -c listen_addresses=" start >"$0/said" 2>&1
echo $?
read _
pg_ctl -D "$0/data" -m immediate -t 300 stop >>"$0/said" 2>&1
rm -rf "$0"
"""
"""Ends the server and removes its folder when its standard input ends: however pytest does."""


class Server:
    """A server with a socket in a folder of its own; without fsync, unless it is ``durable``."""

    def __init__(self, programs: Path, *, durable: bool = False) -> None:
        self._sync = "" if durable else "-F"
        self.folder = Path(tempfile.mkdtemp(prefix="fuzzwise-postgres-"))
        self._user: list[str] = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            user = pwd.getpwnam("nobody")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            words = (f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups")
            self._user = ["setpriv", *words]
        self._environment = {"PATH": f"{programs}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        self._numbers = count(1)
        self._run("initdb", "-D", "data", "-A", "trust", "-U", "fuzz", "--no-sync", "-E", "UTF8")
        self._keeper = subprocess.Popen(
            [*self._user, "sh", "-c", _KEEPER, str(self.folder), self._sync],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._environment,
            cwd=self.folder,
            start_new_session=True,
        )
        assert self._keeper.stdout is not None
        assert self._keeper.stdout.readline() == b"0\n", (self.folder / "log").read_text()

    def end(self) -> None:
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        self._keeper.stdin.close()
        self._keeper.wait()
        self._keeper.stdout.close()

    def new_database(self) -> str:
        """The address of an empty database."""
        import psycopg

        name = f"test{next(self._numbers)}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return self.address(name)

    def address(self, database: str) -> str:
        return f"postgresql://fuzz@/{database}?host={quote(str(self.folder), safe='')}"

    def stop(self, mode: str = "fast") -> None:
        """``immediate`` is as if all of its processes were killed."""
        self._run("pg_ctl", "-D", "data", "-m", mode, "-w", "-t", "300", "stop")

    def start(self) -> None:
        options = f"{self._sync} -k {self.folder} -c listen_addresses="
        self._run(
            *("pg_ctl", "-D", "data", "-w", "-t", "300", "-l", "log"), *("-o", options, "start")
        )

    def _run(self, *words: str) -> None:
        done = subprocess.run(
            [*self._user, *words],
            env=self._environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # a server that is started would keep a pipe open
            stderr=subprocess.DEVNULL,
            check=False,
        )
        assert done.returncode == 0, f"{words} failed; see {self.folder}"


def programs() -> Path | None:
    """The folder with the server's programs: Debian keeps it out of the path."""
    if found := shutil.which("postgres"):
        return Path(found).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return versions[-1].parent if versions else None


@cache
def _server() -> Server:
    found = programs()
    assert found is not None
    return Server(found)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """The server; skipped where PostgreSQL is not installed."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    server = _server()
    yield server
    server.end()
    _server.cache_clear()


@pytest.fixture
def database(postgres: Server) -> str:
    """The address of a database of this test's own."""
    return postgres.new_database()
