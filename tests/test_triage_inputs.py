"""Where fuzzers keep crashing inputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuzzwise.errors import BadInput
from fuzzwise.triage.examine import Limits
from fuzzwise.triage.inputs import command_of, find, from_files


def words_of(paths: list[Path]) -> tuple[str, ...]:
    """The command that a campaign names."""
    named = command_of(paths)
    assert named is not None
    assert named.file.name == "campaign.json"
    return named.words


def make(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return folder


def found(folder: Path, *paths: Path, hangs: bool = False) -> list[str]:
    return [str(path.relative_to(folder)) for path in find(paths or (folder,), hangs)]


def test_all_files_of_a_plain_folder_are_inputs(tmp_path: Path) -> None:
    make(tmp_path, "b", "a.png", "below/c")
    assert found(tmp_path) == ["a.png", "b"]


def test_a_file_counts_once(tmp_path: Path) -> None:
    make(tmp_path, "b", "a")
    assert found(tmp_path, tmp_path / "b", tmp_path) == ["b", "a"]


def test_in_the_folder_of_libfuzzer_only_its_artifacts_are_inputs(tmp_path: Path) -> None:
    artifacts = ["crash-1", "leak-1", "oom-1", "slow-unit-1", "timeout-1"]
    make(tmp_path, *artifacts, "target", "target.c", "fuzz-0.log")
    assert found(tmp_path) == artifacts


def test_the_crashes_of_all_instances_of_afl(tmp_path: Path) -> None:
    make(
        tmp_path,
        *("main/crashes/README.txt", "main/crashes/id:000000,sig:11,src:000000,op:havoc"),
        *("second/crashes/id:000000,sig:06", "second/hangs/id:000000", "main/queue/id:000000"),
        *("main/fuzzer_stats", "second/.synced/main"),
    )
    crashes = [
        "main/crashes/id:000000,sig:11,src:000000,op:havoc",
        "second/crashes/id:000000,sig:06",
    ]
    assert found(tmp_path) == crashes
    assert found(tmp_path, hangs=True) == [*crashes, "second/hangs/id:000000"]
    assert found(tmp_path, tmp_path / "main") == crashes[:1]
    assert found(tmp_path, tmp_path / "main" / "crashes") == crashes[:1]


def test_the_crashes_of_a_campaign_name_their_target(tmp_path: Path) -> None:
    out = make(
        tmp_path / "campaign",
        *("crashes/0123/bug.json", "crashes/0123/crash-1", "crashes/0123/report.txt", "corpus/x"),
        *("crashes/4567/bug.json", "crashes/4567/oom-1", "state/0", "target"),
    )
    (out / "campaign.json").write_text(json.dumps({"target": str(out / "target")}))
    assert found(out) == ["crashes/0123/crash-1", "crashes/4567/oom-1"]
    assert found(out, out / "crashes") == found(out)
    for path in (out, out / "crashes", out / "crashes" / "0123" / "crash-1"):
        assert words_of([path]) == (str(out / "target"), "@@")
    assert words_of([out, out / "crashes"]) == (str(out / "target"), "@@")
    assert command_of([out, make(tmp_path / "other", "a")]) is None
    (out / "target").unlink()
    with pytest.raises(BadInput, match=r"not there .*-- .*target @@"):
        command_of([out])


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"target": 5}', "\udcff"])
def test_damaged_campaigns_name_no_target(tmp_path: Path, content: str) -> None:
    (tmp_path / "campaign.json").write_bytes(content.encode(errors="surrogateescape"))
    assert command_of([tmp_path]) is None


def test_bad_paths_say_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="missing: there is no such file or folder"):
        find([tmp_path / "missing"])
    with pytest.raises(BadInput, match="no inputs in this folder"):
        find([tmp_path])
    make(tmp_path, "afl/main/crashes/README.txt")
    with pytest.raises(BadInput, match="afl: there are no inputs"):
        find([tmp_path / "afl"])
    with pytest.raises(BadInput, match="neither a file nor a folder"):
        find([Path("/dev/null")])
    make(tmp_path, "recording/a.fuzzlog")
    with pytest.raises(BadInput, match="recording of `fuzzwise record`"):
        find([tmp_path / "recording"])


def test_files_become_inputs_that_load_themselves(tmp_path: Path) -> None:
    paths = find([make(tmp_path, "a", "b")])
    first, second = from_files(paths, ["program", "@@"], Limits(3))
    assert (first.name, first.load(), second.load()) == (str(tmp_path / "a"), b"a", b"b")
    assert (first.command, first.limits) == (("program", "@@"), Limits(3))
    paths[0].unlink()
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        first.load()
