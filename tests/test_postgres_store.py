"""The store in PostgreSQL: what holds for every store, one writer anywhere, many campaigns."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

import stored
from fuzzwise.campaign.finished import run_entry
from fuzzwise.errors import BadInput
from fuzzwise.store import binding
from fuzzwise.store.address import Address, read_address
from fuzzwise.store.contract import Choice
from fuzzwise.store.places import glance, open_reader, open_store
from fuzzwise.store.postgresql import lease
from fuzzwise.testing import check_store
from fuzzwise.testing.campaigns import OVER
from fuzzwise.testing.samples import A, sample_bug, sample_run, sample_turn
from waiting import wait_until


def at(url: str, campaign: str = "c", folder: Path | None = None) -> Address:
    return Address(read_address(url).url, campaign, folder)


def silent(sentence: str) -> None:
    raise AssertionError(f"nobody is to be waited for, but: {sentence}")


def epoch(store, at, n, *bugs):
    number = store.start_epoch(at - 1, A, Choice("why"))
    return store.finish_epoch(number, at, sample_turn(n, *bugs))


def test_the_store_keeps_to_its_contract(database, tmp_path):
    check_store(
        lambda folder: open_store(folder, at(database, folder.name)),
        lambda folder: open_reader(at(database, folder.name, folder)),
        tmp_path,
    )


def test_both_databases_tell_the_same(database, tmp_path):
    """Also what only one of them would take as it is: infinity, NUL, half of a character."""
    folder = tmp_path / "out"
    bug = stored.found("x", inputs=("i/\udcff",), command="run \udcff")
    told = []
    for address in (at(database, "same"), None):
        home = folder if address is None else tmp_path / "other"
        with open_store(home, address) as store:
            store.begin_run(run_entry(stored.plan(folder), 600.0))
            for number in range(1, 31):
                bugs = (bug,) if number > 15 else ()
                stored.epoch(store, float(number), "a", stored.turn(10 * number, *bugs))
            store.event(61.0, "warning", "b", "half \ud800 of it")
            store.end_run(62.0, OVER)
        reader = open_reader(address or home)
        state = reader.state()
        assert state.own_seconds is not None
        state = replace(state, folder=folder, store="", own_seconds=None)
        histories = [[h.name, h.inputs.tolist(), h.low.tolist()] for h in reader.history(7)]
        told.append((
            *(state, histories, reader.decisions(last=5), reader.stretch(3.5, 9.5)),
            *(reader.bug_times(), {k: v.n for k, v in reader.observations().items()}),
        ))  # fmt: skip
    assert told[0] == told[1]
    with open_store(tmp_path / "other", at(database, "same")) as store:
        store.event(63.0, "warning", "", "a \0 in it")
        assert store.state().events[-1].detail == "a \\x00 in it"


def test_a_campaign_has_one_writer_on_whichever_machine(database, tmp_path):
    address = at(database)
    problems = []

    def intrude():
        try:
            open_store(tmp_path / "b", address)
        except BadInput as problem:
            problems.append(str(problem))

    with open_store(tmp_path / "a", address) as store:
        store.begin_run(sample_run())
        thread = threading.Thread(target=intrude)
        thread.start()
        seconds = 0.0
        while thread.is_alive():  # it is at work
            seconds += 1.0
            store.tick(seconds)
            thread.join(0.05)
        assert len(problems) == 1
        assert f"(process {os.getpid()} on " in problems[0]
        assert f"runs the campaign 'c', in {tmp_path / 'a'}" in problems[0]
        with pytest.raises(BadInput, match="another fuzzwise"):  # the lock of the folder
            open_store(tmp_path / "a", at(database, "other"))
        assert open_reader(address).is_running()
    assert not open_reader(address).is_running()


def test_who_lets_go_is_followed_at_once(database, tmp_path):
    with open_store(tmp_path / "a", at(database)) as store:
        store.begin_run(sample_run())
        assert store.notes == ()
        epoch(store, 5.0, 50)
    with open_store(tmp_path / "b", at(database), silent) as store:
        (note,) = store.notes
        assert note.startswith(f"The campaign 'c' goes on in {tmp_path / 'b'}; before, it was in ")
        assert store.memory()[A].inputs == 50
    with open_store(tmp_path / "b", at(database), silent) as store:
        assert store.notes == ()


def test_who_was_killed_is_followed_once_its_lease_ran_out(database, tmp_path, monkeypatch):
    monkeypatch.setattr(lease, "SECONDS", 1.0)
    old = open_store(tmp_path / "a", at(database))
    old.begin_run(sample_run())
    number = old.start_epoch(0.0, A, Choice("why"))
    old._database._renewal.end()  # as if its process were stopped
    said = []
    with open_store(tmp_path / "b", at(database), said.append) as new:
        assert len(said) <= 1
        assert all(f"The campaign is that of process {os.getpid()} on" in each for each in said)
        monkeypatch.setattr(lease, "SECONDS", 30.0)
        new.begin_run(sample_run())
        assert new.memory()[A].in_flight
        for change in (
            lambda: old.tick(9.0),
            lambda: old.finish_epoch(number, 9.0, sample_turn(100, sample_bug("x"))),
            lambda: old.event(9.0, "warning", "", "I am still here."),
        ):
            with pytest.raises(BadInput, match=r"has taken over the campaign 'c'; this one ends"):
                change()
        assert (new.seconds(), new.state().events, new.state().bugs) == (0.0, (), ())
        old.close()  # takes nothing from who has it now
        new.tick(1.0)
        assert open_reader(at(database)).is_running()


def test_who_was_killed_goes_on_in_its_folder_at_once(database, tmp_path):
    child = os.fork()
    if child == 0:
        try:
            open_store(tmp_path / "a", at(database)).begin_run(sample_run())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert open_reader(at(database)).state().running  # as far as anybody can know
    with open_store(tmp_path / "a", at(database), silent) as store:
        assert store.has_runs()
        assert not store.has_ended()


def test_a_lease_is_renewed_while_nothing_is_written(database, tmp_path, monkeypatch):
    monkeypatch.setattr(lease, "SECONDS", 0.3)
    with (
        open_store(tmp_path / "a", at(database)),
        psycopg.connect(database, autocommit=True) as connection,
    ):

        def until():
            return connection.execute("SELECT until FROM fuzzwise.campaigns").fetchone()[0]

        first = until()
        wait_until(lambda: until() > first, "the lease to be renewed")


def test_nobody_takes_over_in_the_midst_of_a_change(database, tmp_path):
    with (
        open_store(tmp_path / "a", at(database)) as store,
        psycopg.connect(database, autocommit=True) as other,
    ):
        other.execute("SET lock_timeout = '100ms'")

        def change(_):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                other.execute("UPDATE fuzzwise.campaigns SET token = token + 1")

        store._database.write(change)
        other.execute("SET lock_timeout = 0")  # the lease may be about to be renewed
        other.execute("UPDATE fuzzwise.campaigns SET token = token + 1")
        with pytest.raises(BadInput, match="has taken over"):
            store.tick(1.0)


def test_a_commit_is_durable_whatever_the_server_is_told(database, tmp_path):
    with psycopg.connect(database, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    with open_store(tmp_path / "a", at(database)) as store:
        shown = store._database.write(
            lambda connection: connection.exec_driver_sql("SHOW synchronous_commit").scalar()
        )
    assert shown == "on"


def test_a_database_has_many_campaigns(database, tmp_path):
    nobody = Address(read_address(database).url)
    with pytest.raises(BadInput, match="has no campaign yet"):
        open_reader(nobody).state()
    for number, name in enumerate(("first", "second's", "dritte ü"), start=1):
        with open_store(tmp_path / name, at(database, name)) as store:
            store.begin_run(sample_run(name))
            epoch(store, 5.0, 10 * number, sample_bug(name))
            if number == 1:  # the only one need not be named
                assert open_reader(nobody).state().name == name
    for number, name in enumerate(("first", "second's", "dritte ü"), start=1):
        state = open_reader(at(database, name)).state()
        assert [bug.id for bug in state.bugs] == [name]
        assert [target.inputs for target in state.targets] == [10 * number, 0]
    with pytest.raises(BadInput, match=r"several .*\?campaign=NAME.* It has: dritte ü, first, sec"):
        open_reader(nobody).state()
    with pytest.raises(BadInput, match=r"campaign=third: there is no such campaign\. It has: dri"):
        open_reader(at(database, "third")).state()


def test_a_reader_knows_whether_the_files_are_here(database, tmp_path):
    folder = tmp_path / "a"
    with open_store(folder, at(database)) as store:
        store.begin_run(sample_run())
        state = open_reader(at(database)).state()
    assert (state.folder, state.host, state.files) == (folder, "", folder)
    assert state.store == str(at(database))
    moved = tmp_path / "moved"
    folder.rename(moved)
    state = open_reader(at(database)).state()
    assert (state.folder, state.host) == (folder, os.uname().nodename)
    assert not (state.files / "lock").exists()
    state = open_reader(at(database, folder=moved)).state()
    assert (state.folder, state.host) == (moved, "")


def test_a_glance_changes_with_every_write(database, tmp_path):
    with open_store(tmp_path / "a", at(database)) as store:
        seen = [glance(at(database)), glance(at(database))]
        store.begin_run(sample_run())
        seen.append(glance(at(database)))
    assert seen[0] == seen[1] != seen[2]


def test_a_folder_has_one_store(database, tmp_path):
    with open_store(tmp_path / "a", at(database)):
        pass
    with pytest.raises(BadInput, match="is in a database: give its campaign file"):
        open_store(tmp_path / "a")
    with open_store(tmp_path / "b"):
        pass
    with pytest.raises(BadInput, match=r"holds a campaign in campaign\.db, and is to have one in"):
        open_store(tmp_path / "b", at(database))


def test_no_password_is_kept_in_the_folder(database, tmp_path):
    url = database.replace("fuzz@", "fuzz:geheim@")
    with open_store(tmp_path / "a", at(url)) as store:
        store.begin_run(sample_run())
        assert "geheim" not in repr(store.state())
    assert binding.store_of(tmp_path / "a") == str(at(database))
    for path in (tmp_path / "a").rglob("*"):
        assert not path.is_file() or b"geheim" not in path.read_bytes()
    problems = []
    for wrong in (url.replace("/test", "/untest"), "postgresql://u:geheim@localhost:1/db"):
        with pytest.raises(BadInput, match="the database cannot be used") as problem:
            open_reader(at(wrong)).state()
        problems.append(str(problem.value))
    with pytest.raises(BadInput, match="cannot read this address") as problem:
        open_reader(at("postgresql://u:geheim%zz@localhost/db")).state()
    assert "geheim" not in f"{problems} {problem.value}"


def test_what_a_newer_fuzzwise_wrote_is_refused(database, tmp_path):
    with open_store(tmp_path / "a", at(database)) as store:
        store.begin_run(sample_run())
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("INSERT INTO fuzzwise_1.schema_version VALUES (99, 'later')")
    for use in (open_reader, lambda address: open_store(tmp_path / "b", address)):
        with pytest.raises(BadInput, match="was written by a newer fuzzwise"):
            use(at(database)).state()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DELETE FROM fuzzwise_1.schema_version WHERE version > 2")
        connection.execute("ALTER TABLE fuzzwise_1.targets DROP COLUMN stability")
    with pytest.raises(BadInput, match="is of an older fuzzwise"):
        open_reader(at(database)).state()
    with open_store(tmp_path / "a", at(database), silent) as store:  # the refused one let go
        assert store.state().targets[0].stability is None
    assert open_reader(at(database)).state().name == "checked"


def test_who_may_only_read_reads(database, tmp_path):
    with open_store(tmp_path / "a", at(database)) as store:
        store.begin_run(sample_run())
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS guest")
        connection.execute("CREATE ROLE guest LOGIN")
        for schema in ("fuzzwise", "fuzzwise_1"):
            connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO guest")
            connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO guest")
        guest = database.replace("fuzz@", "guest@")
        assert open_reader(at(guest)).state().name == "checked"
        for name in ("c", "another"):
            with pytest.raises(BadInput, match=r"you may not do that there .*permission denied"):
                open_store(tmp_path / "b", at(guest, name))
        for schema in ("fuzzwise", "fuzzwise_1"):
            connection.execute(f"REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM guest")
            connection.execute(f"REVOKE ALL ON SCHEMA {schema} FROM guest")
        connection.execute("DROP ROLE guest")
