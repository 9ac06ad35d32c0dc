"""Whether libFuzzer's limit on the length of inputs still rises, and who says so."""

from __future__ import annotations

from pathlib import Path

from fuzzer_files import line
from fuzzwise.engines.length_limit import STILL_RISES, LengthLimit
from fuzzwise.engines.stock.counts import Counts
from fuzzwise.engines.stock.lines import Lines
from fuzzwise.engines.stock.notes import notes
from fuzzwise.watch.recognise import read

START = "INFO: Seed: 1\nINFO: seed corpus: files: 2 min: 1b max: 2b total: 3b rss: 26Mb\n"


def limited(n: int, event: str, features: int, limit: int) -> str:
    return line(n, event, features, 2, 100).replace("lim: 4 ", f"lim: {limit} ")


def log(last: int) -> str:
    lines = [
        line(2, "INITED", 4, 2).replace(" lim: 4", ""),
        limited(50, "NEW", 5, 4),
        limited(512, "NEW", 6, 8),
        limited(800, "REDUCE", 6, last),
        limited(1024, "pulse", 6, last),
    ]
    return START + "".join(lines)


def test_a_limit_that_rose_in_the_latter_half_still_rises() -> None:
    limit = LengthLimit()
    for n, said in ((100, b"4"), (400, b"8"), (900, b"12")):
        limit.take(n, said)
    assert limit.still_rises(1000)
    assert not limit.still_rises(2000)


def test_a_process_that_starts_again_lower_does_not_make_it_rise() -> None:
    limit = LengthLimit()
    for n, said in ((100, b"40"), (600, b"8"), (900, b"12"), (950, None)):
        limit.take(n, said)
    assert not limit.still_rises(1000)
    limit.take(990, b"44")
    assert limit.still_rises(1000)


def test_nothing_is_known_without_a_limit_in_the_first_half() -> None:
    limit = LengthLimit()
    assert not limit.still_rises(0)
    limit.take(900, b"12")
    assert not limit.still_rises(1000)


def test_watch_says_what_a_rising_limit_means(tmp_path: Path) -> None:
    path = tmp_path / "fuzz.log"
    path.write_text(log(20))
    assert f"{STILL_RISES}." in read([path])[0].notes
    path.write_text(log(8))
    assert f"{STILL_RISES}." not in read([path])[0].notes


def test_so_does_a_stock_target() -> None:
    for last, rises in ((20, True), (8, False)):
        lines, counts = Lines(), Counts()
        lines.take(log(last).encode())
        counts.look(lines.said)
        assert (STILL_RISES in notes(counts)) == rises
