"""Readers against damaged and hostile files: a sentence, or a reading without contradictions."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzer_files import PLOT_HEADER, check, found_name, line, plot_row, seed_name, stats_text
from fuzzwise.errors import BadInput
from fuzzwise.watch.afl_names import entry
from fuzzwise.watch.recognise import open_sources, read
from test_watch_libfuzzer import FORK, START
from test_watch_tables import CENTIPEDE, HONGGFUZZ, SNAPSHOT, centipede_row, honggfuzz_row

PLAIN = START + line(3, "INITED", 10, 2)
PLAIN += "".join(
    line(10 + 9 * i, ("NEW", "REDUCE")[i % 2], 10 + i // 2, 3 + i // 2, i) for i in range(12)
)
PLAIN += (
    line(300, "RELOAD", 30, 12) + line(512, "pulse", 30, 12, 99) + "Done 600 runs in 7 second(s)\n"
)
HONGGFUZZ_ROWS = HONGGFUZZ + "".join(honggfuzz_row(i, 10 * i * i, i) for i in range(1, 9))
CENTIPEDE_ROWS = CENTIPEDE + "".join(
    centipede_row(9 * i, 40 + i, 100 * i, 5 + i, 6 + i, 3) for i in range(5)
)
FILES = {
    "fuzz.log": PLAIN,
    "fork.log": FORK + FORK,
    "stats": HONGGFUZZ_ROWS,
    "fuzzing-stats-x.000000.csv": CENTIPEDE_ROWS,
    "log.jsonl": SNAPSHOT,
}
PLOT = PLOT_HEADER + "\n" + "".join(plot_row(9 * i, 1 + i, 400 * i) + "\n" for i in range(9))
STATS = stats_text(execs_done=5_000, corpus_count=9)
NAMES = [
    seed_name(0),
    *(found_name(i, 300 * i) for i in range(1, 8)),
    "id:000008,sync:x,src:000001",
]
NAMES += [f"id:000009,time:0,execs:0,orig:{found_name(9, 4_000)}"]

NUMBERS = st.sampled_from(
    [
        "0",
        "1",
        "-1",
        "7",
        "999999",
        "NaN",
        "inf",
        "1e400",
        "9" * 15,
        str(2**63),
        "9" * 16,
        "9" * 400,
        "",
    ]
)


@st.composite
def damaged(draw: st.DrawFn, text: str) -> bytes:
    """A text that was cut, mixed up, or in which numbers and bytes were changed."""
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["cut", "mix", "number", "bytes", "twice"]))
        lines = text.splitlines(keepends=True)
        if kind == "cut":
            text = text[: draw(st.integers(0, len(text)))]
        elif kind == "mix":
            text = "".join(draw(st.permutations(lines)))
        elif kind == "twice":
            text += "".join(lines[draw(st.integers(0, max(0, len(lines) - 1))) :])
        elif kind == "bytes":
            at = draw(st.integers(0, len(text)))
            text = text[:at] + draw(st.text(max_size=9)) + text[at + draw(st.integers(0, 9)) :]
        else:
            text = _with_number(text, draw(st.integers(0, 10_000)), draw(NUMBERS))
    return text.encode(errors="surrogatepass")


def _with_number(text: str, which: int, number: str) -> str:
    words = text.split(" ")
    places = [i for i, word in enumerate(words) if any(letter.isdigit() for letter in word)]
    if places:
        place = places[which % len(places)]
        kept = "".join(letter for letter in words[place] if not letter.isdigit())
        words[place] = number + kept if which % 2 else kept + number
    return " ".join(words)


def assert_sentence(problem: BadInput) -> None:
    assert str(problem).endswith((".", "?"))
    assert len(str(problem)) < 1_000


def assert_read_or_refused(path: Path) -> None:
    """Read twice; either a sentence, or the same valid reading."""
    try:
        sources = open_sources([path])
    except BadInput as problem:
        assert_sentence(problem)
        return
    for source in sources:
        try:
            first = check(source.read())
        except BadInput as problem:
            assert_sentence(problem)
            continue
        assert check(source.read()).observation.n == first.observation.n


@pytest.mark.parametrize("name", FILES)
def test_what_the_damage_is_done_to_is_sound(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name])
    readings = read([tmp_path / name])
    assert all(len(check(reading).observation.discoveries) for reading in readings)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=60)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(name: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data.draw(damaged(FILES[name])))
        assert_read_or_refused(path)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=25)
@given(data=st.data())
def test_a_file_that_changes_while_it_is_watched_is_read_or_refused(
    name: str, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(FILES[name])
        sources = open_sources([path])
        for _ in range(3):
            path.write_bytes(data.draw(damaged(FILES[name])))
            for source in sources:
                try:
                    check(source.read())
                except BadInput as problem:
                    assert_sentence(problem)


@settings(max_examples=80)
@given(content=st.binary(max_size=400), name=st.sampled_from([*FILES, "plot_data", "x"]))
def test_random_bytes_are_read_or_refused(content: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        assert_read_or_refused(path)


LINES_NAMES = "\n".join(NAMES)


@settings(max_examples=120)
@given(
    names=damaged(LINES_NAMES.replace(",", " ")),
    stats=damaged(STATS),
    plot=damaged(PLOT),
    resumed=st.booleans(),
)
def test_damaged_afl_folders_are_read_or_refused(
    names: bytes, stats: bytes, plot: bytes, resumed: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        queue = Path(folder) / "out" / "default" / "queue"
        queue.mkdir(parents=True)
        for name in names.replace(b" ", b",").split(b"\n"):
            if name.strip(b".") and b"/" not in name and b"\0" not in name and len(name) < 250:
                (queue / name.decode(errors="surrogateescape")).touch()
        command = b"command_line : afl-fuzz -i - -o out\n" if resumed else b""
        (queue.parent / "fuzzer_stats").write_bytes(stats + b"\n" + command)
        (queue.parent / "plot_data").write_bytes(plot)
        assert_read_or_refused(queue.parents[1])


@given(name=st.text(alphabet=st.sampled_from("id:,_0129srcoign tmexp+\x1b\n"), max_size=60))
def test_any_name_is_an_entry_or_none(name: str) -> None:
    found = entry("id:000001," + name)
    assert found is not None
    assert found.number >= 0
    assert found.execs >= -1
    assert found.milliseconds >= -1
