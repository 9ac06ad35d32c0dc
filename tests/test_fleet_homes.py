"""What is stored of a target: brought to a machine, kept, refused with an old token, taken back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fuzzwise.campaign.executor import Turn
from fuzzwise.campaign.fleet import manifest, packs
from fuzzwise.campaign.fleet.homes import Home, Stale
from fuzzwise.campaign.fleet.ledger import StoredLedger
from fuzzwise.campaign.fleet.manifest import StoredFile, manifest_name
from fuzzwise.campaign.fleet.messages import Answer
from fuzzwise.campaign.fleet.storage import Storage, shown_url
from fuzzwise.errors import BadInput
from fuzzwise.files import files_of
from paper_session import KeptSession
from simulated_session import plan_of

CAMPAIGN = "c"


def storage(folder: Path) -> Storage:
    return Storage(f"file://{folder / 'stored things'}")


def home(folder: Path, machine: str) -> Home:
    place = folder / machine
    return Home(CAMPAIGN, "t", place / "t", place / "record")


def write(here: Home, name: str, content: bytes) -> None:
    path = here.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in files_of([folder])}


def test_another_machine_goes_on_from_what_was_stored(tmp_path):
    shared, one, other = storage(tmp_path), home(tmp_path, "one"), home(tmp_path, "other")
    one.bring(shared, 0)
    write(one, "crashes/b/input", b"boom")
    write(one, "state/head", b"1" * 70_000)
    write(one, "scratch/passing", b"x")
    (one.folder / "crashes/b/input").chmod(0o640)
    kept, went = one.keep(shared, 0, 1, None)
    assert 0 < went < 5_000  # compressed
    shared.put(manifest_name("t"), manifest.encode(kept))
    write(other, "left/from/before", b"old")
    write(other, "state/head", b"0" * 70_000)
    other.bring(shared, 1)
    assert content(other.folder) == {"crashes/b/input": b"boom", "state/head": b"1" * 70_000}
    assert (other.folder / "crashes/b/input").stat().st_mode & 0o777 == 0o640


def test_only_what_is_new_is_stored(tmp_path):
    shared, one = storage(tmp_path), home(tmp_path, "one")
    one.bring(shared, 0)
    write(one, "corpus/a", b"a" * 1000)
    one.keep(shared, 0, 1, None)
    _, went = one.keep(shared, 1, 2, None)
    assert went == 0
    write(one, "corpus/b", b"b")
    before = len(files_of([tmp_path / "stored things"]))
    one.keep(shared, 2, 3, None)
    assert len(files_of([tmp_path / "stored things"])) == before + 1


def test_a_thousand_inputs_are_few_objects_and_come_back(tmp_path):
    shared, one, other = storage(tmp_path), home(tmp_path, "one"), home(tmp_path, "other")
    one.bring(shared, 0)
    for number in range(300):
        write(one, f"corpus/{number}", str(number % 290).encode())
    write(one, "corpus/large", b"l" * (packs.SMALL + 1))
    write(one, "crashes/b/input", b"boom")
    kept, _ = one.keep(shared, 0, 1, None)
    shared.put(manifest_name("t"), manifest.encode(kept))
    assert len(files_of([tmp_path / "stored things/targets/t/objects"])) == 3
    other.bring(shared, 1)
    assert content(other.folder) == content(one.folder)
    (other.folder / "corpus/7").unlink()
    write(other, "corpus/new", b"8")  # known content, under another name
    kept, went = other.keep(shared, 1, 2, None)
    assert went == 0
    shared.put(manifest_name("t"), manifest.encode(kept))
    one.bring(shared, 2)
    assert content(one.folder) == content(other.folder)
    assert "corpus/7" not in content(one.folder)


def test_content_that_comes_again_after_it_was_removed_is_stored_again(tmp_path):
    shared, one = storage(tmp_path), home(tmp_path, "one")
    one.bring(shared, 0)
    for token, text in enumerate((b"a", b"b", b"a"), start=1):
        write(one, "crashes/b/report", text)
        _, went = one.keep(shared, token - 1, token, None)
        assert went


def test_work_that_was_never_written_down_is_told_by_the_next_turn_from_there(tmp_path):
    shared, one = storage(tmp_path), home(tmp_path, "one")
    one.bring(shared, 0)
    write(one, "state/head", b"1")
    one.keep(shared, 0, 1, None)  # of which the manager never heard
    assert one.bring(shared, 0) == 0
    assert content(one.folder) == {"state/head": b"1"}


def test_a_machine_with_an_old_copy_takes_the_stored_one(tmp_path):
    shared, one, other = storage(tmp_path), home(tmp_path, "one"), home(tmp_path, "other")
    for here, before, token in ((one, 0, 1), (other, 1, 2)):
        here.bring(shared, before)
        write(here, "state/head", str(token).encode())
        kept, _ = here.keep(shared, before, token, None)
        shared.put(manifest_name("t"), manifest.encode(kept))
    with pytest.raises(Stale):
        one.keep(shared, 2, 3, None)
    with pytest.raises(Stale):
        home(tmp_path, "third").bring(shared, 1)
    one.bring(shared, 2)
    assert content(one.folder) == {"state/head": b"2"}


def test_what_is_damaged_in_the_storage_is_not_taken(tmp_path):
    shared, one = storage(tmp_path), home(tmp_path, "one")
    one.bring(shared, 0)
    write(one, "corpus/a", b"a")
    kept, _ = one.keep(shared, 0, 1, None)
    shared.put(manifest_name("t"), manifest.encode(kept))
    (stored,) = (tmp_path / "stored things/targets/t/objects").iterdir()
    stored.write_bytes(b"junk")
    with pytest.raises(OSError, match="damaged"):
        home(tmp_path, "other").bring(shared, 1)
    with pytest.raises(OSError, match="damaged"):
        manifest.decode(b"junk")


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out"])
def test_a_manifest_cannot_write_elsewhere(name, tmp_path):
    shared, one = storage(tmp_path), home(tmp_path, "one")
    one.bring(shared, 0)
    write(one, "a", b"a")
    kept, _ = one.keep(shared, 0, 1, None)
    wrong = StoredFile(name, kept.files[0].digest, 0o644)
    hostile = manifest.made(1, 0, (wrong,), None)
    shared.put(manifest_name("t"), manifest.encode(hostile))
    with pytest.raises(OSError, match="outside"):
        home(tmp_path, "other").bring(shared, 1)


def test_totals_come_back_as_they_were_told(tmp_path):
    told = KeptSession(tmp_path).turn(0.05, 1)
    again = manifest.decode(manifest.encode(manifest.made(7, 3, (), told))).totals
    assert again is not None
    assert again.observation.discoveries.tolist() == told.observation.discoveries.tolist()
    assert (again.observation.n, again.generation) == (told.observation.n, told.generation)
    assert (again.seconds, again.crashes, again.bugs) == (told.seconds, told.crashes, told.bugs)


def test_the_ledger_refuses_what_is_old_and_fetches_bugs_first(tmp_path):
    plan = plan_of(tmp_path, ["t"])
    ledger = StoredLedger(plan, f"file://{tmp_path / 'shared'}")
    shared, one = ledger.storage, home(tmp_path, "one")
    one.bring(shared, 0)
    write(one, "crashes/b/input", b"boom")
    turn = Turn("t", 1, 1.0, 1)
    told = KeptSession(tmp_path / "told").turn(0.02, 1)
    kept, _ = one.keep(shared, 0, ledger.errand(turn).token, told)
    answer = Answer(told, kept=manifest.encode(kept))
    taken: list[int] = []

    def take(of: StoredLedger, number: int) -> bool:
        return of.take(replace(turn, epoch=number), answer, lambda: taken.append(number))

    assert not take(ledger, 2)  # another turn's
    assert take(ledger, 1)
    assert not take(ledger, 1)  # twice
    assert taken == [1]
    assert (plan.folder / "targets/t/crashes/b/input").read_bytes() == b"boom"
    assert ledger.known("t").observation.n == told.observation.n
    (plan.folder / "targets/t/crashes/b/input").unlink()  # as on another machine
    later = StoredLedger(plan, f"file://{tmp_path / 'shared'}")
    assert (plan.folder / "targets/t/crashes/b/input").read_bytes() == b"boom"
    assert later.known("t").observation.n == told.observation.n
    assert later.campaign == ledger.campaign
    errand = later.errand(turn)  # the numbers of epochs began again
    assert errand.before == kept.token < errand.token
    one.bring(shared, errand.before)
    again, _ = one.keep(shared, errand.before, errand.token, told)
    answer = Answer(told, kept=manifest.encode(again))
    later.close()
    assert not take(later, 1)  # nobody would be told


def test_a_storage_that_cannot_be_is_told_without_its_secrets(tmp_path):
    with pytest.raises(BadInput, match="The storage nothing://host/x cannot be used") as told:
        Storage("nothing://user:secret@host/x")
    assert "secret" not in str(told.value)
    assert shown_url("s3://key:secret@bucket/a?token=b") == "s3://bucket/a"
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be used"):
        StoredLedger(plan_of(tmp_path, ["t"]), f"file://{tmp_path / 'file'}")


def test_memory_is_a_storage_as_well(tmp_path):
    shared, one = Storage("memory://fleet-test"), home(tmp_path, "one")
    one.bring(shared, 0)
    write(one, "corpus/a", b"a")
    kept, _ = one.keep(shared, 0, 1, None)
    shared.put(manifest_name("t"), manifest.encode(kept))
    home(tmp_path, "other").bring(shared, 1)
    assert content(tmp_path / "other/t") == {"corpus/a": b"a"}
