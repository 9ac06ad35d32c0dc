"""A server of PostgreSQL that restarts, is away, or whose answers are lost: all is counted once."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from fuzzwise.errors import BadInput
from fuzzwise.store.address import Address, read_address
from fuzzwise.store.contract import Added, Choice
from fuzzwise.store.places import open_reader, open_store
from fuzzwise.store.postgresql import database as database_module
from fuzzwise.testing.campaigns import OVER
from fuzzwise.testing.samples import A, sample_bug, sample_run, sample_turn
from postgres_server import Server
from waiting import PATIENCE

COMMIT = b"Q\0\0\0\x0bCOMMIT\0"
"""The message by which a client commits."""


class Wire:
    """A socket before that of the server, which cuts connections at the worst moments.

    ``cut``: at the next commit, "before" it has reached the server, or "after" that was made but
    before the client has heard of it.
    """

    def __init__(self, folder: Path, server: Path) -> None:
        self.cut = ""
        self.cuts = 0
        self._server = str(server / ".s.PGSQL.5432")
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / ".s.PGSQL.5432"))
        self._listening.listen()
        self._ends: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def close(self) -> None:
        """Cut everything; whoever passes something on notices."""
        for end in (self._listening, *self._ends):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in (self._listening, *self._ends):
            end.close()

    def _start(self, work, *words) -> None:
        thread = threading.Thread(target=work, args=words, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.socket(socket.AF_UNIX)
                self._ends += (client, server)
                server.connect(self._server)
                self._start(self._pass, client, server)
                self._start(self._pass, server, client)

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        """Pass on what one end says, up to its end or to a cut."""
        with suppress(OSError):
            while data := one.recv(1 << 16):
                where = self.cut if COMMIT in data else ""
                if where:
                    self.cut = ""
                    self.cuts += 1
                if where == "before":
                    break
                if where == "after":
                    one.shutdown(socket.SHUT_RDWR)  # nobody is left to hear the answer
                other.sendall(data)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR if end is one else socket.SHUT_WR)


@pytest.fixture
def wire(postgres, tmp_path):
    made = Wire(tmp_path, postgres.folder)
    yield made
    made.close()


def at(url: str, host: Path | None = None) -> Address:
    base = read_address(url).url
    return Address(base.partition("?")[0] + f"?host={host}" if host else base, "c")


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_lost_answer_counts_nothing_twice(moment, wire, database, tmp_path):
    with open_store(tmp_path / "a", at(database, tmp_path)) as store:
        store.begin_run(sample_run())

        def cut(call):
            before = wire.cuts
            wire.cut = moment
            found = call()
            assert wire.cuts == before + 1
            return found

        first = cut(lambda: store.start_epoch(0.0, A, Choice("why")))
        turn = sample_turn(100, sample_bug("x"))
        added = cut(lambda: store.finish_epoch(first, 1.0, turn))
        assert added == Added(100, 10.0, 10, ("x",), ("x",))
        cut(lambda: store.event(1.0, "warning", A, "Once."))
        cut(lambda: store.set_looked(A, 64, 0.5))
        more = cut(lambda: store.recover(2.0, A, sample_turn(150, sample_bug("x"))))
        assert more == Added(50, 5.0, 5)
        cut(lambda: store.begin_run(sample_run("again")))
        cut(lambda: store.end_run(3.0, OVER))
    reader = open_reader(at(database))
    state = reader.state()
    target = state.targets[0]
    assert (target.inputs, target.epochs, target.state) == (150, 2, "waiting")
    assert [event.detail for event in state.events if event.detail == "Once."] == ["Once."]
    assert [bug.crashes for bug in state.bugs] == [1]
    assert [decision.inputs for decision in reader.decisions()] == [100, 50]
    assert (state.name, state.stopped) == ("again", OVER)


def test_a_server_that_restarts_is_waited_for(postgres, database, tmp_path, monkeypatch):
    assert isinstance(postgres, Server)
    monkeypatch.setattr(database_module, "NOTICED", 0.0)
    monkeypatch.setattr(database_module, "PATIENCE", PATIENCE)
    address = at(database)
    with open_store(tmp_path / "a", address) as store:
        store.begin_run(sample_run())
        first = store.start_epoch(0.0, A, Choice("why"))
        starting = threading.Timer(0.3, postgres.start)
        postgres.stop("immediate")  # what was committed is kept, also if it is killed
        try:
            with pytest.raises(BadInput, match="the database cannot be used"):
                open_reader(address).state()
            assert not open_reader(address).is_running()
            with pytest.raises(BadInput, match="the database cannot be used"):
                open_store(tmp_path / "b", address)
            starting.start()
            added = store.finish_epoch(first, 1.0, sample_turn(100))
        finally:
            starting.join()
        assert added == Added(100, 10.0, 10)
        store.tick(2.0)
        assert open_reader(address).is_running()
        details = [event.detail for event in store.state().events]
        assert [detail for detail in details if detail.startswith("The database was away for ")]
    assert open_reader(address).state().targets[0].inputs == 100


def test_a_server_that_stays_away_ends_the_campaign(postgres, database, tmp_path, monkeypatch):
    monkeypatch.setattr(database_module, "PATIENCE", 0.3)
    address = at(database)
    with open_store(tmp_path / "a", address) as store:
        store.begin_run(sample_run())
        store.tick(5.0)
        postgres.stop()
        try:
            with pytest.raises(
                BadInput, match=r"away for 0\.3 s.* run the campaign again to go on"
            ):
                store.tick(6.0)
        finally:
            postgres.start()
        store.tick(7.0)  # nothing is amiss but that one call
    with open_store(tmp_path / "a", address) as store:
        assert store.seconds() == 7.0
