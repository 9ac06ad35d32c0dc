"""Statistics of honggfuzz and Centipede, and fuzzwise's own folders and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzer_files import check
from fuzzwise.errors import BadInput
from fuzzwise.watch.reading import Reading
from fuzzwise.watch.recognise import open_sources, read

HONGGFUZZ = (
    "# unix_time, last_cov_update, total_exec, exec_per_sec, crashes, unique_crashes, hangs, "
    "edge_cov, block_cov, corpus_count\n"
)


def reading(*paths: Path) -> Reading:
    (only,) = read(paths)
    return check(only)


def found(reading: Reading) -> list[int]:
    assert reading.observation.discoveries is not None
    return reading.observation.discoveries.tolist()


def honggfuzz_row(seconds: int, execs: int, corpus: int) -> str:
    return f"{1_700_000_000 + seconds}, 1700000000, {execs}, 100, 5, 2, 1, 40, 0, {corpus}\n"


# ── honggfuzz ─────────────────────────────────────────────────────────────────────────────────


def test_each_row_of_honggfuzz_is_a_discovery(tmp_path: Path) -> None:
    file = tmp_path / "stats"
    rows = [honggfuzz_row(0, 10, 1), honggfuzz_row(5, 700, 2), honggfuzz_row(60, 9000, 3)]
    file.write_text(HONGGFUZZ + "".join(rows))
    read = reading(file)
    assert found(read) == [10, 700, 9000]
    assert read.observation.n == 9000
    assert (read.observation.seconds, read.exact) == (60, True)
    assert (read.corpus, read.crashes, read.hangs) == (3, 2, 1)
    assert read.kind == "honggfuzz"


def test_missing_rows_of_honggfuzz_are_made_up_for(tmp_path: Path) -> None:
    file = tmp_path / "stats"
    file.write_text(HONGGFUZZ + honggfuzz_row(0, 100, 1) + honggfuzz_row(9, 500, 5))
    read = reading(file)
    assert found(read) == [100, 200, 300, 400, 500]
    assert not read.exact


def test_rows_of_older_honggfuzz_without_a_corpus_count_are_read(tmp_path: Path) -> None:
    file = tmp_path / "stats"
    file.write_text(
        HONGGFUZZ + "1700000000, 0, 5, 0, 0, 0, 0, 4, 0\n1700000001, 0, 5, 0, 0, 0, 0, 9, 0\n"
    )
    read = reading(file)
    assert found(read) == [4, 5]  # two threads
    assert read.corpus is None


def test_a_stats_file_that_honggfuzz_begins_anew_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "stats"
    file.write_text(HONGGFUZZ + honggfuzz_row(0, 100, 1) + honggfuzz_row(9, 500, 2))
    source = open_sources([file])[0]
    assert source.read().observation.n == 500
    file.write_text(HONGGFUZZ + honggfuzz_row(99, 30, 1))
    assert check(source.read()).observation.n == 30
    file.write_text(HONGGFUZZ)
    with pytest.raises(BadInput, match="no row"):
        source.read()


# ── Centipede ─────────────────────────────────────────────────────────────────────────────────

CENTIPEDE = (
    "NumCoveredPcs_Min,NumCoveredPcs_Max,NumCoveredPcs_Avg,NumExecs_Min,NumExecs_Max,NumExecs_Avg,"
    "ActiveCorpusSize_Min,ActiveCorpusSize_Max,ActiveCorpusSize_Avg,UnixMicros_Min,UnixMicros_Max,"
    "NumProxyCrashes_Min,NumProxyCrashes_Max,NumProxyCrashes_Sum,"
    "TotalCorpusSize_Min,TotalCorpusSize_Max,TotalCorpusSize_Sum,\n"
)


def centipede_row(seconds: int, pcs: int, execs: int, active: int, total: int, shards: int) -> str:
    """A row in which all shards did the same."""
    micros = (1_700_000_000 + seconds) * 1_000_000
    values = [pcs, pcs, f"{pcs}.0", execs, execs + 1, f"{execs}.0", active, active, f"{active}.0"]
    values += [micros, micros, 0, 1, 1, total, total, total * shards]
    return "".join(f"{value}," for value in values) + "\n"


def test_discoveries_of_centipede_are_the_growth_of_all_corpora(tmp_path: Path) -> None:
    file = tmp_path / "fuzzing-stats-parser.000000.csv"
    rows = [
        centipede_row(0, 50, 100, 10, 10, shards=4),
        centipede_row(60, 55, 1_100, 9, 11, shards=4),
        centipede_row(120, 55, 2_100, 9, 11, shards=4),
    ]
    file.write_text(CENTIPEDE + "".join(rows))
    read = reading(file)
    assert read.observation.n == 4 * 2_000
    assert found(read) == [1000, 2000, 3000, 4000]
    assert (read.name, read.exact, read.observation.seconds) == ("parser", False, 120)
    assert read.crashes == 1


def test_without_all_corpora_a_wider_coverage_is_a_discovery(tmp_path: Path) -> None:
    cut = CENTIPEDE.index("NumProxyCrashes_Min")
    rows = [centipede_row(0, 50, 100, 10, 0, 1), centipede_row(60, 51, 1_100, 8, 0, 1)]
    file = tmp_path / "fuzzing-stats-parser.000000.csv"
    short = ["".join(f"{value}," for value in row.split(",")[:11]) + "\n" for row in rows]
    file.write_text(CENTIPEDE[:cut] + "\n" + "".join(short))
    read = reading(file)
    assert found(read) == [1000]
    assert any("shards" in note for note in read.notes)


def test_files_of_shards_of_one_binary_are_one_campaign(tmp_path: Path) -> None:
    text = CENTIPEDE + centipede_row(0, 5, 0, 1, 1, 2) + centipede_row(9, 6, 100, 2, 2, 2)
    names = ["a.000000", "a.000007", "b.000000"]
    for name in names:
        (tmp_path / f"fuzzing-stats-{name}.csv").write_text(text)
    together, alone = (check(r) for r in read([tmp_path]))
    assert (together.name, together.observation.n) == ("a", 400)
    assert (alone.name, alone.observation.n) == ("b", 200)
    files = [tmp_path / f"fuzzing-stats-{name}.csv" for name in reversed(names)]
    assert [r.observation.n for r in read(files)] == [200, 400]


def test_one_row_of_centipede_says_nothing(tmp_path: Path) -> None:
    file = tmp_path / "fuzzing-stats-parser.000000.csv"
    file.write_text(CENTIPEDE + centipede_row(0, 5, 100, 1, 1, 1))
    with pytest.raises(BadInput, match="fewer than two rows"):
        read([file])


# ── fuzzwise ──────────────────────────────────────────────────────────────────────────────────

SNAPSHOT = (
    '{"format":"fuzzwise-observations","version":1,"campaign":"one"}\n'
    '{"n":100,"seconds":2,"discoveries":[1,5]}\n{"n":200,"seconds":3,"discoveries":[150]}\n'
    '{"format":"fuzzwise-observations","version":1,"campaign":"two"}\n{"n":7,"discoveries":[7]}\n'
)


def test_each_campaign_of_a_snapshot_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(SNAPSHOT)
    one, two = (check(r) for r in read([file]))
    assert (one.name, one.observation.n, found(one)) == ("one", 200, [1, 5, 150])
    assert (two.name, found(two)) == ("two", [7])
    source = open_sources([file])[1]
    assert source.read().observation.n == 7
    file.write_text(SNAPSHOT + '{"n":9,"discoveries":[8]}\n')
    assert source.read().observation.n == 9


# ── what is none of these ─────────────────────────────────────────────────────────────────────


def test_what_is_not_known_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello\n")
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    cases = {
        "text": "nothing in it is known",
        "empty": "it is empty",
        "folder": "the folder is empty",
        "missing": "no such file",
    }
    for name, words in cases.items():
        with pytest.raises(BadInput, match=words):
            read([tmp_path / name])
    with pytest.raises(BadInput, match="empty, folder, text"):
        read([tmp_path])


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="not a regular file"):
        read([tmp_path / "pipe"])
