"""How often a store is read, and what is sent to whom."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("starlette")

from fuzzwise.serve.campaigns import Campaign, campaigns_of
from fuzzwise.serve.pace import Pace
from fuzzwise.serve.pieces import Changes, Page
from fuzzwise.serve.timeline import Span, lanes_of
from reading import read_state
from stored import begun, epoch, turn


def burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def work(pace: Pace, seconds: float) -> None:
    with pace.working():
        burn(seconds)


def test_what_is_expensive_is_done_seldom():
    cheap, dear = Pace(0.5, 0.0), Pace(0.001, 0.0)
    for pace in (cheap, dear):
        assert pace.is_due()
        work(pace, 0.01)
        work(pace, 0.01)
    assert cheap.seconds_left() <= 0.1
    assert dear.seconds_left() > 1


def test_one_expensive_time_does_not_count():
    pace = Pace(0.001, 0.0)
    work(pace, 0.05)
    assert pace.seconds_left() == 0
    work(pace, 0.0)
    assert pace.seconds_left() < 20


def test_a_page_that_is_drawn_for_the_first_time_does_not_hold_up_the_next_reading():
    pace = Pace(0.001, 0.0)
    work(pace, 0.0)
    with pace.charged():
        burn(0.05)  # templates are made
    assert pace.seconds_left() == 0
    with pace.charged():
        burn(0.02)
    assert pace.seconds_left() > 5


def test_a_reader_gets_what_is_new_to_it_and_nothing_twice():
    changes = Changes()
    changes.take(Page({"a": "1", "b": "1"}, {"all": ("a", "b")}))
    mark = changes.mark()
    assert changes.since(mark) == (mark, {})
    changes.take(Page({"a": "1", "b": "2"}, {"all": ("a", "b")}))
    changes.take(Page({"a": "1", "b": "3", "c": "1"}, {"all": ("a", "b", "c")}))
    later, news = changes.since(mark)
    assert news == {"pieces": {"b": "3", "c": "1"}, "lists": {"all": ("a", "b", "c")}}
    assert changes.since(later) == (later, {})


@pytest.mark.parametrize("mark", ["", "x", "other:3", ":", "9" * 99, "other:-1", "other:٣"])
def test_whoever_comes_from_elsewhere_gets_everything(mark):
    changes = Changes()
    changes.take(Page({"a": "1"}))
    assert changes.since(mark)[1] == {"pieces": {"a": "1"}}
    own = changes.mark().partition(":")[0]
    assert changes.since(f"{own}:-1")[1] == {"pieces": {"a": "1"}}


def test_a_store_that_does_not_change_is_not_read_again(tmp_path, monkeypatch):
    with begun(tmp_path, "a") as store:
        epoch(store, 1.0, "a", turn(10))
        campaign = Campaign("key", tmp_path)
        for _ in range(3):
            first = campaign.look(at_once=True)
        reads = []
        read = campaign.reader.state
        monkeypatch.setattr(campaign.reader, "state", lambda: reads.append(1) or read())
        assert campaign.look(at_once=True) is first
        assert not reads
        epoch(store, 2.0, "a", turn(20))
        assert campaign.look(at_once=True).state.targets[0].inputs == 20
    assert campaign.look(at_once=True).state.running is False


def test_a_store_that_is_damaged_is_told_and_its_last_state_stays(tmp_path):
    with begun(tmp_path, "a") as store:
        epoch(store, 1.0, "a", turn(10))
    campaign = Campaign("key", tmp_path)
    assert campaign.look(at_once=True).state.targets[0].inputs == 10
    (tmp_path / "campaign.db").write_bytes(b"no database" * 1000)
    moment = campaign.look(at_once=True)
    assert "is damaged" in moment.problem
    assert moment.state.targets[0].inputs == 10


def test_keys_are_plain_and_unique(tmp_path):
    folders = [tmp_path / name for name in ("a/out", "b/out", "c/out", "<i>&", "b/out")]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    keys = list(campaigns_of(folders))
    assert keys == ["out", "b-out", "c-out", "i"]


def test_lanes_show_each_epoch_on_a_core_of_its_own(tmp_path):
    with begun(tmp_path, "a", "b") as store:
        from fuzzwise.store.contract import Choice
        from fuzzwise.store.places import open_reader

        one = store.start_epoch(0.0, "a", Choice("why"))
        two = store.start_epoch(0.0, "b", Choice("why"))
        store.finish_epoch(one, 4.0, turn(10))
        three = store.start_epoch(4.0, "a", Choice("why"))
        store.finish_epoch(two, 8.0, turn(10))
        store.finish_epoch(three, 8.0, turn(20))
        store.tick(8.0)
        stretch = open_reader(tmp_path).stretch(0.0, 8.0)
        lanes = lanes_of(read_state(tmp_path), stretch, Span(0.0, 8.0))
    places = [(bar.x, bar.y, bar.width) for bar in lanes.bars]
    assert places == [(0.0, 0, 500.0), (0.0, 22, 1000.0), (500.0, 0, 500.0)]
    assert lanes.legend[0][2] == lanes.legend[1][2] == 0.5


def test_zoom_stays_within_the_campaign():
    assert Span(0, 10).zoomed(0.5, 100) == Span(2.5, 7.5)
    assert Span(0, 10).zoomed(2, 100) == Span(0, 20)
    assert Span(90, 100).moved(0.5, 100) == Span(90, 100)
    assert Span(0, 100).zoomed(2, 100) == Span(0, 100)
