"""Folders of AFL and AFL++ of several versions, whole and damaged."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from fuzzer_files import afl_instance, check, found_name, plot_row, seed_name, stats_text
from fuzzwise.engines.aflplusplus.stats import Untried
from fuzzwise.errors import BadInput
from fuzzwise.watch.reading import Reading
from fuzzwise.watch.recognise import open_sources, read


def reading(path: Path) -> Reading:
    return check(read([path])[0])


def found(reading: Reading) -> list[int]:
    assert reading.observation.discoveries is not None
    return reading.observation.discoveries.tolist()


def test_inputs_are_executions_without_seven_for_each_entry(tmp_path: Path) -> None:
    names = [seed_name(0, "a"), seed_name(1, "b"), found_name(2, 24), found_name(3, 131)]
    stats = stats_text(execs_done=1038, corpus_count=4, saved_crashes=3)
    read = reading(afl_instance(tmp_path / "default", names, stats))
    assert found(read) == [24 - 14, 131 - 21]
    assert read.observation.n == 1038 - 28
    assert (read.corpus, read.crashes, read.version) == (4, 3, "++4.04c")
    assert read.observation.seconds == 100
    assert read.observation.last_discovery_seconds == 0.131


def test_discoveries_that_are_closer_than_a_calibration_show_a_shorter_one(tmp_path: Path) -> None:
    names = [seed_name(0), *(found_name(i, 10 + 4 * i) for i in range(1, 31))]
    read = reading(
        afl_instance(tmp_path / "default", names, stats_text(execs_done=200, corpus_count=31))
    )
    assert found(read) == [11 + i for i in range(30)]
    assert any("3 for each entry" in note for note in read.notes)


def test_favored_entries_that_wait_are_those_of_the_instance_that_has_come_furthest(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    for name, waiting in (("main", 90), ("second", 30)):
        stats = stats_text(
            execs_done=1014,
            corpus_favored=100,
            pending_favs=waiting,
            corpus_count=300,
            pending_total=200 + waiting,
        )
        afl_instance(out / name, [seed_name(0), found_name(1, 107)], stats)
    assert reading(out).untried == Untried(30, 100, 70)
    assert reading(out / "main").untried == Untried(90, 100, 10)
    old = stats_text(execs_done=1014, paths_favored=10, pending_favs=1)
    afl_instance(tmp_path / "old", [seed_name(0)], old)
    assert reading(tmp_path / "old").untried == Untried(1, 10)
    afl_instance(tmp_path / "silent", [seed_name(0)], stats_text(pending_favs="-3"))
    silent = reading(tmp_path / "silent")
    assert silent.untried == Untried()
    assert silent.with_waiting.waiting == 1.0  # all may wait


def test_imported_entries_are_no_discoveries_and_their_executions_no_inputs(tmp_path: Path) -> None:
    names = [seed_name(0), found_name(1, 107), "id:000002,sync:other,src:000009,+cov"]
    names.append(found_name(3, 1000))
    read = reading(afl_instance(tmp_path / "default", names, stats_text()))
    assert found(read) == [100, 1000 - 21 - 1]


def test_instances_add_up_in_the_order_of_time(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for name, at in (("main", 40_000), ("second", 60_000)):
        names = [seed_name(0), found_name(1, 7 + at, at)]
        stats = stats_text(execs_done=100_014, corpus_count=2)
        afl_instance(out / name, names, stats)
    read = reading(out)
    assert found(read) == [pytest.approx(80_000, abs=20), pytest.approx(120_000, abs=20)]
    assert read.observation.n == 200_000
    assert read.observation.seconds == 100
    assert read.corpus == 3


def test_an_instance_that_began_later_counts_from_then(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = stats_text(execs_done=100_014, corpus_count=2)
    afl_instance(out / "main", [seed_name(0), found_name(1, 50_007, 50_000)], first)
    later = stats_text(start_time=1_700_000_080, run_time=20, execs_done=20_014, corpus_count=2)
    afl_instance(out / "second", [seed_name(0), found_name(1, 10_007, 10_000)], later)
    read = reading(out)
    # At 50 s the second had not begun; at 90 s the first had made 90,000.
    assert found(read) == [50_000, pytest.approx(100_000, abs=20)]
    assert read.observation.n == 120_000


def test_a_restarted_counter_is_stitched_and_what_is_unknown_is_not_counted(tmp_path: Path) -> None:
    old = [f"id:{i:06},time:0,execs:0,orig:{name}" for i, name in enumerate(("seed", "x"))]
    old[1] = "id:000001,time:0,execs:0,orig:id:000001,src:000000,time:50,execs:50000,op:havoc,rep:2"
    new = [found_name(2, 3000), found_name(3, 4007)]
    rows = [plot_row(40, 1, 40_000), plot_row(60, 2, 60_007), plot_row(70, 2, 1_000)]
    stats = stats_text(
        execs_done=10_014, corpus_count=4, command_line="afl-fuzz -i - -o out -- ./target"
    )
    read = reading(afl_instance(tmp_path / "default", [*old, *new], stats, rows))
    # 60,000 before the restart; 1,000 to 3,000 and on after it.
    assert found(read) == [50_000 - 7, 62_000 - 7, 63_000 - 7]
    assert read.observation.n == 62_993 + 10_014 - 4_007 - 7
    assert any("fell 1 times" in note for note in read.notes)


def test_entries_renamed_by_resumes_keep_their_place(tmp_path: Path) -> None:
    plain = [seed_name(0), *(found_name(i, 1000 * i) for i in range(1, 6))]
    whole = reading(
        afl_instance(tmp_path / "a", plain, stats_text(execs_done=9000, corpus_count=6))
    )
    renamed = [seed_name(5)]
    renamed += [f"id:{5 - i:06},time:0,execs:0,orig:{found_name(i, 1000 * i)}" for i in range(1, 6)]
    command = "afl-fuzz -i - -o out"
    stats = stats_text(execs_done=9000, corpus_count=6, command_line=command)
    resumed = reading(afl_instance(tmp_path / "b", renamed, stats))
    assert found(resumed) == found(whole)
    assert resumed.corpus == whole.corpus


def test_an_entry_that_was_lost_in_a_kill_costs_no_other(tmp_path: Path) -> None:
    # Number 3 was empty and skipped at the resume, so that the next new entry got it again.
    renamed = [seed_name(0)]
    renamed += [f"id:{i:06},time:0,execs:0,orig:{found_name(i, 1000 * i)}" for i in (1, 2, 4)]
    renamed += [found_name(4, 9000), found_name(5, 9500)]
    command = "afl-fuzz -i - -o out"
    read = reading(afl_instance(tmp_path / "d", renamed, stats_text(command_line=command)))
    assert len(found(read)) == 5
    assert found(read)[:2] == [993, 1986]
    # The older one with number 4 stands before the new one.
    assert 9_000 < read.observation.n < 9_500


def test_calibration_at_a_resume_is_taken_off_where_the_counter_goes_on(tmp_path: Path) -> None:
    names = [seed_name(0)]
    names += [f"id:{i:06},time:0,execs:0,orig:{found_name(i, 1000 * i)}" for i in range(1, 10)]
    names += [found_name(10, 20_000)]
    command = "afl-fuzz -i - -o out"
    read = reading(afl_instance(tmp_path / "d", names, stats_text(command_line=command)))
    assert found(read)[-1] == 20_000 - 7 * 10 - 7 * 10


def test_stats_from_before_the_latest_start_are_not_counted_again(tmp_path: Path) -> None:
    names = [seed_name(0), found_name(1, 1_000), found_name(2, 2_000)]
    stats = stats_text(execs_done=1_900_000, corpus_count=2)
    read = reading(afl_instance(tmp_path / "d", names, stats))
    assert found(read) == [993, 1986]


def test_a_corpus_with_names_of_a_queue_is_no_discovery(tmp_path: Path) -> None:
    names = [seed_name(i, found_name(i + 10, 5000 + i)) for i in range(3)] + [found_name(3, 121)]
    read = reading(afl_instance(tmp_path / "default", names, stats_text(execs_done=200)))
    assert found(read) == [100]
    # Resumed: its first numbers cannot be those of this queue, so only what is new counts.
    command = "afl-fuzz -i - -o out"
    stats = stats_text(execs_done=1_000_000, corpus_count=4, command_line=command)
    read = reading(afl_instance(tmp_path / "resumed", names, stats))
    assert len(found(read)) == 1
    assert any("cannot be told" in note for note in read.notes)


def test_entries_without_a_count_are_placed_by_time(tmp_path: Path) -> None:
    names = ["id:000000,orig:a", "id:000001,src:000000,time:25000,op:havoc,rep:2"]
    rows = [plot_row(20, 1, 20_000), plot_row(30, 2, 30_000), plot_row(90, 2, 90_000)]
    read = reading(afl_instance(tmp_path / "default", names, stats_text(), rows))
    assert found(read) == [pytest.approx(25_000, abs=20)]
    assert not read.exact


def test_afl_2_without_times_and_counts_is_placed_by_rows(tmp_path: Path) -> None:
    header = (
        "# unix_time, cycles_done, cur_path, paths_total, pending_total, pending_favs, map_size, "
        "unique_crashes, unique_hangs, max_depth, execs_per_sec"
    )
    names = ["id:000000,orig:a", "id:000001,src:000000,op:flip1,pos:0,+cov"]
    names.append("id:000002,src:000000,op:havoc,rep:2")
    times = [(1_700_000_010, 1), (1_700_000_050, 2), (1_700_000_100, 3)]
    rows = [f"{at}, 0, 0, {paths}, 1, 1, 0.5%, 2, 0, 1, 1000.0" for at, paths in times]
    stats = (
        "start_time     : 1700000000\nlast_update    : 1700000100\nexecs_done     : 100000\n"
        "paths_total    : 3\nunique_crashes : 2\nafl_version    : 2.52b\n"
    )
    read = reading(afl_instance(tmp_path / "default", names, stats, rows, header))
    first, second = found(read)
    assert 10_000 <= first <= 50_000 <= second <= 100_000
    assert (read.crashes, read.version, read.exact) == (2, "2.52b", False)
    assert read.observation.n == 100_000 - 3 * 8
    assert read.observation.seconds == 100


def test_versions_to_come_may_add_columns_and_keys(tmp_path: Path) -> None:
    header = "# relative_time, new_column, total_execs, corpus_count, even_more"
    names = [seed_name(0), found_name(1, 5007)]
    stats = stats_text(execs_done=6_000, corpus_count=2, afl_version="++9.99a", strange="a : b")
    rows = ["10, x y, 20014, 2, 7"]
    read = reading(afl_instance(tmp_path / "default", names, stats, rows, header))
    assert found(read) == [5000]
    assert read.observation.n == 20_000


def test_half_a_stats_file_keeps_what_was_known(tmp_path: Path) -> None:
    folder = tmp_path / "default"
    whole = stats_text(execs_done=50_014, corpus_count=2)
    afl_instance(folder, [seed_name(0), found_name(1, 107)], whole)
    source = open_sources([tmp_path])[0]
    before = check(source.read())
    (folder / "fuzzer_stats").write_text(whole[: whole.index("execs_done") + 24])
    half = check(source.read())
    assert half.observation.n == before.observation.n == 50_000
    (folder / "fuzzer_stats").write_text("")
    assert check(source.read()).observation.n == 50_000
    (folder / "fuzzer_stats").write_text(whole.replace("50014", "60014"))
    assert check(source.read()).observation.n == 60_000


def test_a_count_that_was_cut_in_the_middle_is_not_used(tmp_path: Path) -> None:
    text = "corpus_count : 2\nexecs_done : 50014"
    read = reading(afl_instance(tmp_path / "d", [seed_name(0), found_name(1, 107)], text))
    assert read.observation.n == 100


def test_clocks_that_are_set_back_change_no_input(tmp_path: Path) -> None:
    names = [seed_name(0), found_name(1, 5_000, 50_000), found_name(2, 6_000, 10_000)]
    read = reading(afl_instance(tmp_path / "default", names, stats_text(execs_done=9_000)))
    assert found(read) == [4_993, 5_986]
    assert any("clock" in note for note in read.notes)


def test_new_entries_are_seen_when_the_folder_is_read_again(tmp_path: Path) -> None:
    folder = afl_instance(tmp_path / "default", [seed_name(0)], stats_text(execs_done=100))
    source = open_sources([tmp_path])[0]
    for number in range(1, 20):
        (folder / "queue" / found_name(number, 1000 * number)).touch()
        assert len(found(check(source.read()))) == number
    assert np.array_equal(
        source.read().observation.discoveries, read([tmp_path])[0].observation.discoveries
    )


def test_a_queue_that_is_just_being_taken_over_is_whole(tmp_path: Path) -> None:
    names = [seed_name(0), *(found_name(i, 1000 * i) for i in range(1, 9))]
    folder = afl_instance(tmp_path / "default", names, stats_text(execs_done=10_000))
    source = open_sources([tmp_path])[0]
    before = found(source.read())
    (folder / "queue").rename(folder / "_resume")
    assert found(check(source.read())) == before
    (folder / "queue").mkdir()
    for name in names[:4]:
        os.link(folder / "_resume" / name, folder / "queue" / name)
    assert found(check(source.read())) == before


def test_an_instance_that_joins_later_is_found(tmp_path: Path) -> None:
    afl_instance(tmp_path / "main", [seed_name(0), found_name(1, 107)], stats_text())
    source = open_sources([tmp_path])[0]
    assert source.read().observation.n == 100
    afl_instance(tmp_path / "second", [seed_name(0), found_name(1, 207)], stats_text())
    assert check(source.read()).observation.n == 300
    shutil.rmtree(tmp_path / "second")
    assert check(source.read()).observation.n in (100, 300)


def test_other_folders_beside_instances_are_passed_over(tmp_path: Path) -> None:
    afl_instance(tmp_path / "main", [seed_name(0), found_name(1, 107)], stats_text())
    (tmp_path / "symbolic" / "queue").mkdir(parents=True)
    (tmp_path / "symbolic" / "queue" / found_name(1, 999)).touch()
    (tmp_path / "notes.txt").touch()
    assert reading(tmp_path).observation.n == 100


def test_names_that_try_to_escape_are_only_names(tmp_path: Path) -> None:
    out = tmp_path / "out\x1b]0;owned\x07\n"
    names = [seed_name(0, "\x1b[2J,execs:9,op:havoc"), found_name(1, 107) + "\x1b[31m", "README"]
    names += ["id:000002,src:000000,time:-5,execs:99999999999999999999999,op:x", "id:zzz"]
    read = reading(
        afl_instance(out / "default", names, stats_text(afl_version="++\x1b[1mX")).parent
    )
    assert found(read) == [99, 100]
    nothing = out.with_name("\x1b[2Jnothing")
    nothing.mkdir()
    with pytest.raises(BadInput) as problem:
        open_sources([nothing])
    assert "\x1b" not in str(problem.value)


def test_a_dead_process_or_another_one_with_its_number_is_not_named(tmp_path: Path) -> None:
    stats = stats_text(fuzzer_pid=os.getpid())
    folder = afl_instance(tmp_path / "default", [seed_name(0), found_name(1, 107)], stats)
    assert reading(folder).processes == ()
    (folder / "fuzzer_stats").write_text(stats_text(fuzzer_pid=2**40))
    assert reading(folder).processes == ()


def test_crash_files_count_before_the_stats_do(tmp_path: Path) -> None:
    folder = afl_instance(tmp_path / "default", [seed_name(0), found_name(1, 107)], stats_text())
    (folder / "crashes").mkdir()
    (folder / "crashes" / "README.txt").touch()
    source = open_sources([tmp_path])[0]
    assert source.read().crashes == 0
    (folder / "crashes" / "id:000000,sig:11,src:000001,time:1,execs:9,op:havoc,rep:2").touch()
    assert source.read().crashes == 1
    assert source.read().hangs == 0
