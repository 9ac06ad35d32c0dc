"""What campaigns under the observer share: why it ended a process, and counts that begin again."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzwise.engines.observer.folder import (
    AnotherBuild,
    CampaignFolder,
    DamagedState,
    OtherSettings,
)
from fuzzwise.engines.observer.observed import refusal, sound_state, why_counts_began_again
from fuzzwise.engines.observer.state import MAGIC, VERSION, Head, State
from fuzzwise.errors import BadInput


@pytest.fixture
def folder(tmp_path: Path) -> CampaignFolder:
    made = CampaignFolder(tmp_path / "out")
    made.make()
    return made


def test_counts_are_damaged_where_the_observer_says_what_is_wrong_with_them() -> None:
    problem = refusal("fuzzwise: first\nINFO: x\nfuzzwise: out/state/head: is cut.\n", "ended")
    assert type(problem) is DamagedState
    assert str(problem) == "out/state/head: is cut."


@pytest.mark.parametrize(
    "words", ["out/state/data: No space left on device", "there is no room for a job"]
)
def test_no_room_is_no_damage(words: str) -> None:
    """Counts that are taken for damaged would be put aside."""
    problem = refusal(f"fuzzwise: {words}\n", "ended")
    assert type(problem) is BadInput
    assert str(problem) == words


@pytest.mark.parametrize("output", ["", "a target's own words\n", "fuzzwise: \n"])
def test_an_observer_that_said_nothing_has_damaged_nothing(output: str) -> None:
    problem = refusal(output, "ended with status 73")
    assert type(problem) is BadInput
    assert str(problem) == "ended with status 73"


def test_counts_begin_again_without_what_belongs_to_the_old_ones(folder: CampaignFolder) -> None:
    queue = folder.out / "queue"
    for number in (1, 2):
        queue.mkdir()
        (queue / "entry").write_text(f"{number}")
        (folder.corpus / f"seed-{number}").write_text("kept")
        folder.write({"generation": number})
        folder.begin_again(queue)
        assert not queue.exists()
        assert folder.record() is None
        assert (folder.out / f"old-{number}" / "queue" / "entry").read_text() == f"{number}"
        assert (folder.out / f"old-{number}" / "campaign.json").exists()
    assert {path.name for path in folder.corpus.iterdir()} == {"seed-1", "seed-2"}


def test_a_folder_that_cannot_be_changed_is_told_of(tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path / "gone")
    with pytest.raises(BadInput, match="gone: cannot be changed"):
        folder.begin_again()


def test_counts_that_were_there_and_are_not_are_damaged(folder: CampaignFolder) -> None:
    assert sound_state(folder, 0) is None
    with pytest.raises(DamagedState, match="is empty or missing"):
        sound_state(folder, 1)


@pytest.mark.parametrize("when", ["before", "while"])
def test_counts_of_another_version_are_refused(folder: CampaignFolder, when: str) -> None:
    """Also those that a target begins only after they were opened."""
    head = Head(version=1)
    (folder.state / "head").write_bytes(bytes(head))
    state = State(folder.state)
    assert not state.ready
    state.head.magic = MAGIC
    with pytest.raises(DamagedState, match=r"another version of fuzzwise\. Build the target again"):
        _ = sound_state(folder, 0) if when == "before" else state.ready
    state.head.version = VERSION
    assert state.ready
    assert sound_state(folder, 0)


def test_a_note_tells_a_new_build_from_damage() -> None:
    assert "built anew" in why_counts_began_again(AnotherBuild("x"))
    assert "in another way now" in why_counts_began_again(OtherSettings("x"))
    assert "damaged" in (note := why_counts_began_again(DamagedState("head: is cut.")))
    assert "head: is cut." in note
