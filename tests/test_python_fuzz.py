"""``fuzzwise fuzz`` on Python: real runs with Atheris, against counts that others keep."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from commands import Started, fuzzwise
from fuzzwise.engines.leftovers import VARIABLE
from fuzzwise.engines.libfuzzer.launch import left_behind
from fuzzwise.engines.observer.state import State
from fuzzwise.engines.python.launch import launch
from fuzzwise.errors import BadInput
from fuzzwise.estimators.registry import registered
from fuzzwise.snapshot import read
from observed_target import fuzz, fuzzed_until
from python_targets import CALENDAR, COUNTED, RAISING, fuzzed, shown
from waiting import wait_until


def calls(folder: Path) -> int:
    path = folder / "calls"
    return path.stat().st_size if path.exists() else 0


def processes_of(folder: Path) -> list[int]:
    """Processes that a campaign in the folder has started, and that are still there."""
    mark = f"{VARIABLE}={folder.resolve()}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


@pytest.fixture(scope="module")
def calendar(tmp_path_factory: pytest.TempPathFactory):
    """The example with all counts per seed, fuzzed until both of its bugs and more are known."""
    out = tmp_path_factory.mktemp("calendar") / "out"
    for inputs in range(120_000, 1_200_001, 120_000):
        found = fuzzed(CALENDAR, out, "--inputs", inputs, "--per-seed")
        if len(found["bugs"]) > 1 and found["species"] > 40:
            break
    return out, found


def test_the_planted_bugs_are_found_and_fuzzing_goes_on_behind_them(calendar):
    out, found = calendar
    bugs = {bug["kind"]: bug for bug in found["bugs"]}
    assert set(bugs) == {"uncaught ValueError", "uncaught ZeroDivisionError"}
    assert bugs["uncaught ValueError"]["frames"][0] == "calendar_rules.day"
    assert bugs["uncaught ZeroDivisionError"]["frames"][0] == "calendar_rules.times_in_a_year"
    assert bugs["uncaught ZeroDivisionError"]["severity"] == "divide"
    assert found["stopped"]["reason"] == "input-budget"
    assert State(out / "state").head.lost >= sum(bug["count"] for bug in bugs.values())


def test_a_kept_input_shows_its_bug_again(calendar, tmp_path):
    _, found = calendar
    for bug in found["bugs"]:
        result = shown(CALENDAR, Path(bug["inputs"][0]).read_bytes(), tmp_path)
        assert result.returncode == 77
        assert bug["kind"].removeprefix("uncaught ") in result.stderr


def test_no_input_that_fails_is_kept_as_a_seed(calendar, tmp_path):
    out, _ = calendar
    seeds = list((out / "corpus").iterdir())
    assert len(seeds) > 5
    for seed in seeds[:10]:
        assert shown(CALENDAR, seed.read_bytes(), tmp_path).returncode == 0


def test_triage_finds_the_same_bugs(calendar):
    out, found = calendar
    result = fuzzwise("triage", out, "--json", "--checks", "0", "--trust-command")
    assert result.returncode == 0, result.stderr
    ids = {bug["id"] for bug in json.loads(result.stdout)["bugs"]}
    assert ids == {bug["id"] for bug in found["bugs"]}


def test_all_estimators_work_on_its_log(calendar):
    out, found = calendar
    log = read(out / "state" / "observations.jsonl")
    assert log.warnings == ()
    last = log.campaigns[0].observations[-1]
    assert last.n >= 51_200
    assert last.seeds is not None
    assert int(last.seeds.n.sum()) == last.n
    assert last.seeds.f1 is not None
    assert last.seeds.q.sum() == pytest.approx(1)
    for name in ("good-turing", "mean-local-laplace", "mean-local-good-turing", "reset-10"):
        assert 0 <= registered()[name](last).value < 0.1
    assert 0 < found["risk"]["value"] < 0.1
    assert found["species"] > 40


def test_every_call_is_counted_once(tmp_path):
    found = fuzzed(
        COUNTED, tmp_path / "out", "--inputs", "20k", "--per-seed", CALLS=str(tmp_path / "calls")
    )
    state = State(tmp_path / "out" / "state")
    assert found["inputs"] == 20_000
    assert calls(tmp_path) == state.head.executed
    again = int(state.head.reruns)  # what looks new is called a second time
    assert 1 <= calls(tmp_path) - found["inputs"] - again < 5  # the empty input, one to begin with
    assert int(state.seeds()["inputs"].sum()) == 20_000
    assert found["corpus"] == state.head.discoveries + state.head.initial


def test_a_process_that_shares_the_campaign_counts_too(tmp_path):
    found = fuzzed(
        COUNTED, tmp_path / "out", "--inputs", "20k", "--jobs", "2", CALLS=str(tmp_path / "calls")
    )
    assert 20_000 <= found["inputs"] <= 20_010
    assert 0 < calls(tmp_path) - found["inputs"] < 200  # each starts from seeds of the other


def test_killed_at_any_instant_it_goes_on_where_it_was(tmp_path):
    out, environment = tmp_path / "out", {"CALLS": str(tmp_path / "calls")}
    for _ in range(3):
        process = Started(
            *("fuzz", COUNTED, "--out", out, "--quiet"), env={**os.environ, **environment}
        )
        before = calls(tmp_path)
        wait_until(lambda before=before: calls(tmp_path) > before + 5_000, "inputs")
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until(lambda: not processes_of(out), "the end of what it has started")
    numbers = (out / "state" / "counters").read_text()
    found = fuzzed(COUNTED, out, "--inputs", "60k", **environment)
    state = State(out / "state")
    # An input that is under way when its process is killed has been called, and is counted.
    assert 0 <= calls(tmp_path) - state.head.executed <= 3
    assert 15_000 < found["inputs"] <= calls(tmp_path)
    assert calls(tmp_path) - found["inputs"] < 4 * 70  # seeds that a new process starts from
    assert (out / "state" / "counters").read_text().startswith(numbers)


def test_a_failure_that_was_being_recorded_by_a_killed_process_is_not_run_again(tmp_path):
    out, data = tmp_path / "out", b"12345"
    fuzzed(COUNTED, out, "--inputs", "500", CALLS=str(tmp_path / "calls"))
    report = shown(COUNTED, data, tmp_path).stderr
    assert "struct.error" in report
    name = f"crash-{hashlib.sha1(data).hexdigest()}"
    (out / "crashes" / name).write_bytes(data)
    (out / "crashes" / "failed-1-1").write_text(f"1 {data.hex()}\n{report}")
    found = fuzzed(COUNTED, out, "--inputs", "1k", CALLS=str(tmp_path / "calls"))
    assert calls(tmp_path) == State(out / "state").head.executed
    (bug,) = found["bugs"]
    assert name in [Path(path).name for path in bug["inputs"]]
    assert not [path for path in (out / "crashes").iterdir() if path.is_file()]


def test_code_that_an_input_imports_has_the_same_numbers_in_every_process(tmp_path):
    out = tmp_path / "out"
    for seed in range(3):  # which input comes first differs
        fuzzed(COUNTED, out, "--inputs", f"{(seed + 1) * 15}k", "--seed", seed)
    rows = [line.split(" ", 2) for line in (out / "state" / "counters").read_text().splitlines()]
    places = [place for _, _, place in rows]
    assert len(places) == len(set(places))
    assert sum("/colorsys.py:" in place for place in places) == 1
    assert sum("/graphlib.py:" in place for place in places) == 1
    taken = sorted((int(first), int(first) + int(count)) for first, count, _ in rows if int(count))
    assert all(end <= start for (_, end), (start, _) in pairwise(taken))


def test_imports_of_an_input_are_no_species_of_their_own(tmp_path):
    # What a module does when it is imported is shown by one input; it would look like a species
    # that nearly nobody shows, and the risk high for no reason.
    fuzzed(COUNTED, tmp_path / "out", "--inputs", "60k")
    assert State(tmp_path / "out" / "state").head.f[0] <= 3


@pytest.mark.parametrize(
    ("line", "kind", "frame"),
    [
        ("ctypes.string_at(0)", "SEGV", "ctypes.string_at"),
        ("time.sleep(100)", "timeout", None),
        ("os.abort()", "abort", "harness.TestOneInput"),
    ],
)
def test_what_ends_the_process_is_a_bug_as_well(tmp_path, line, kind, frame):
    harness = tmp_path / "harness.py"
    harness.write_text(
        "import ctypes, os, time\n"
        "def TestOneInput(data):\n"
        "    if len(data) > 2 and data[0] > 128:\n"
        f"        {line}\n"
    )
    # Longer for those that do not hang: on a busy machine, any input may take a while.
    limit = 2 if kind == "timeout" else 600
    found = fuzzed_until(1, harness, tmp_path / "out", "--libfuzzer", f"-timeout={limit}")
    bugs = {bug["kind"]: bug for bug in found["bugs"]}
    assert set(bugs) == {kind}
    if frame:
        assert bugs[kind]["frames"][0] == frame
    assert Path(bugs[kind]["inputs"][0]).read_bytes()[0] > 128


SCRIPTS = {
    "as a script": """
import sys
import atheris
with atheris.instrument_imports():
    import json

def check(data):
    try:
        json.loads(data)
    except ValueError:
        pass

def main():
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()

if __name__ == "__main__":
    main()
""",
    "at once": """
import sys
import atheris

@atheris.instrument_func
def TestOneInput(data):
    provider = atheris.FuzzedDataProvider(data)
    if provider.ConsumeUInt(1) > 128:
        if provider.ConsumeBool():
            return

atheris.Setup(sys.argv, TestOneInput)
atheris.Fuzz()
""",
    "with a mutator of its own": """
import sys
import atheris

def mutate(data, max_size, seed):
    if max_size < 8:
        return data
    return b"made" + atheris.Mutate(data[4:], max_size - 4)

def TestOneInput(data):
    if data[:4] == b"made":
        if len(data) > 6:
            return

atheris.Setup(sys.argv, TestOneInput, custom_mutator=mutate)
atheris.Fuzz()
""",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_for_atheris_work_unchanged(tmp_path, name):
    harness = tmp_path / "script.py"
    harness.write_text(SCRIPTS[name])
    found = fuzzed(harness, tmp_path / "out", "--inputs", "5k")
    assert (found["inputs"], found["bugs"]) == (5_000, [])
    assert found["discoveries"] >= 1
    assert found["species"] >= 3
    if "mutator" in name:
        seeds = [path.read_bytes() for path in (tmp_path / "out" / "corpus").iterdir()]
        assert any(seed.startswith(b"made") for seed in seeds)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("def TestTwoInputs(data): pass\n", "has no function TestOneInput(data)"),
        ("TestOneInput = 3\n", "has no function TestOneInput(data)"),
        ("def TestOneInput(data)\n", "is not Python: line 1: expected ':'"),
        ("x = 1\nimport nowhere_to_be_found\n", "No module named 'nowhere_to_be_found' (line 2)"),
        ("raise ValueError('\\x1b[31mred')\n", "ValueError: \\x1b[31mred (line 1)"),
        ("import sys\nsys.exit(4)\n", "cannot be loaded: SystemExit: 4 (line 2)"),
        ("import os\nos._exit(4)\n", "with status 4 while it was loaded"),
        ("import os\nos.abort()\n", "with signal 6 while it was loaded"),
        ("TestOneInput = print\n", "has no code that could be instrumented"),
        ("def TestOneInput(data): pass\n\0", "is not Python: source code"),
    ],
)
def test_a_harness_that_cannot_be_used_gets_a_sentence(tmp_path, text, sentence):
    harness = tmp_path / "harness.py"
    harness.write_text(text)
    with pytest.raises(BadInput) as problem:
        launch(harness)
    assert sentence in str(problem.value)
    assert str(harness) in str(problem.value)
    assert "\x1b" not in str(problem.value)


def test_a_campaign_that_could_not_start_does_so_once_the_harness_is_corrected(tmp_path):
    harness = tmp_path / "harness.py"
    harness.write_text("import nowhere_to_be_found\n")
    result = fuzz(harness, tmp_path / "out")
    assert result.returncode == 2
    assert "nowhere_to_be_found" in result.stderr
    assert "Traceback" not in result.stderr
    harness.write_text("def TestOneInput(data):\n    return len(data) > 3 and data[0] == 7\n")
    assert fuzz(harness, tmp_path / "out", "--inputs", 200).returncode == 0


def test_an_interpreter_without_atheris_is_told_how_to_get_it(tmp_path):
    bare = tmp_path / "python-bare"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    for words, sentence in (
        (("--python", str(bare)), "-m pip install atheris"),
        (("--python", "/bin/true"), "is no Python interpreter"),
        (("--python", str(tmp_path / "none")), "cannot be run"),
    ):
        result = fuzz(CALENDAR, tmp_path / "out", *words)
        assert (result.returncode, sentence in result.stderr) == (2, True), result.stderr


def test_a_changed_module_is_another_build(tmp_path):
    (tmp_path / "library.py").write_text("def f(data):\n    return len(data) > 3\n")
    harness = tmp_path / "harness.py"
    harness.write_text("import library\ndef TestOneInput(data):\n    library.f(data)\n")
    fuzzed(harness, tmp_path / "out", "--inputs", "500")
    fuzzed(harness, tmp_path / "out", "--inputs", "1k")
    (tmp_path / "library.py").write_text("def f(data):\n    return len(data) > 4\n")
    told = fuzzed(harness, tmp_path / "out", "--inputs", "200")
    assert told["inputs"] == 200
    assert any("built anew: its counts began again" in warning for warning in told["warnings"])


def test_what_a_harness_starts_does_not_outlive_it_and_is_not_fuzzed(tmp_path):
    harness = tmp_path / "harness.py"
    harness.write_text(
        "import os, subprocess, sys\n"
        "def TestOneInput(data):\n"
        "    if data == b'\\n':\n"
        "        print('\\x1b[31mred', file=sys.stderr)\n"
        "        subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
        "        assert 'LD_PRELOAD' not in os.environ\n"
        "        if os.fork() == 0:\n"
        "            return\n"
    )
    found = fuzzed(harness, tmp_path / "out", "--inputs", "3k")
    assert (found["inputs"], found["bugs"]) == (3_000, [])
    wait_until(lambda: not processes_of(tmp_path / "out"), "the end of what it has started")


def test_failures_at_many_places_are_each_one_bug(tmp_path):
    words = ("--libfuzzer", "-timeout=2", "--libfuzzer", "-only_ascii=1")
    found = fuzzed_until(3, RAISING, tmp_path / "out", *words)
    kinds = [bug["kind"] for bug in found["bugs"]]
    assert len({bug["id"] for bug in found["bugs"]}) == len(kinds)
    assert len(kinds) >= 3
    assert not list((tmp_path / "out" / "crashes").glob("failed-*"))


@pytest.mark.parametrize("before", [(), (sys.executable,)])
def test_triage_takes_a_harness_and_its_command_works_when_pasted(tmp_path, before):
    (tmp_path / "in").write_bytes(b"4")
    (tmp_path / "segv").write_bytes(b"8")
    result = fuzzwise(
        *("triage", "in", "segv", "--json", "--checks", "0", "--out", "kept"),
        *("--", *before, RAISING, "@@"),
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    bugs = {bug["kind"]: bug for bug in json.loads(result.stdout)["bugs"]}
    assert set(bugs) == {"uncaught KeyError", "SEGV"}
    home = tmp_path / "kept" / bugs["uncaught KeyError"]["id"]
    again = subprocess.run(
        ["sh", str(home / "command.txt")], capture_output=True, text=True, check=False, cwd="/"
    )
    assert again.returncode == 77
    assert again.stderr.rstrip().endswith("KeyError: 'cause'")


def test_an_input_that_takes_too_much_memory_is_a_bug(tmp_path):
    harness = tmp_path / "harness.py"
    harness.write_text(
        "import time\nkept = []\ndef TestOneInput(data):\n"
        "    if len(data) > 2 and data[0] > 128:\n"
        "        kept.append(b'x' * 400_000_000)\n"
        "        time.sleep(1000)\n"
    )
    found = fuzzed_until(1, harness, tmp_path / "out", "--libfuzzer", "-rss_limit_mb=300")
    assert [bug["kind"] for bug in found["bugs"]] == ["out-of-memory"]
    assert found["bugs"][0]["severity"] == "resource"


def test_what_is_left_of_a_failure_is_read_whole_or_not_at_all(tmp_path):
    (tmp_path / "failed-1-1").write_bytes(b"7 0a0b\n\n === a report\xff\n")
    (tmp_path / "part-1-2").write_bytes(b"7 0a")
    (tmp_path / "failed-1-3").write_bytes(b"many 0a\nreport")
    (tmp_path / "failed-1-4").write_bytes(b"1 0g\nreport")
    (tmp_path / "failed-1-5").mkdir()
    ((path, failure),) = left_behind(tmp_path)
    assert path.name == "failed-1-1"
    assert (failure.data, failure.count) == (b"\n\x0b", 7)
    assert failure.report == "\n === a report\ufffd\n"
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"failed-1-1", "part-1-2", "failed-1-5"}


def test_a_harness_may_change_what_python_itself_uses(tmp_path):
    harness = tmp_path / "random.py"  # the name of a module of Python, too
    harness.write_text(
        "import io, sys\nsys.stderr = sys.__stderr__ = io.StringIO()\n"
        "def TestOneInput(data):\n"
        "    if len(data) > 3 and data[0] > 100:\n"
        "        raise LookupError\n"
    )
    found = fuzzed(harness, tmp_path / "out", "--inputs", "3k")
    assert [bug["kind"] for bug in found["bugs"]] == ["uncaught LookupError"]


NUMBERS = """
import sys
from types import CodeType
import atheris
from fuzzwise.engines.python.instrument import Counters

counters = Counters(atheris, sys.argv[1])
for name in sys.argv[2]:
    text = "def f(x):\\n  if x:\\n    return x\\n  return None\\n"
    code = counters.patch(compile(text * (1 + (name == "b")), name, "exec"))
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    numbers = [n for part in inner for n in part.co_consts if isinstance(n, int)]
    print(name, *sorted(set(numbers)))
counters.make_room()
print("room", counters.room)
"""


def test_numbers_belong_to_the_place_whatever_is_instrumented_first(tmp_path):
    said = []
    for order in ("ab", "ba", "cab"):
        result = subprocess.run(
            [sys.executable, "-c", NUMBERS, str(tmp_path / "counters"), order],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        rows = [line.split() for line in result.stdout.splitlines()]
        said.append({name: numbers for name, *numbers in rows})
        if order == "ba":  # killed while it wrote
            with (tmp_path / "counters").open("a") as file:
                file.write("77 1")
    first, second, third = said
    assert first == second
    assert {name: third[name] for name in first} == first
    sets = [set(third[name]) for name in "abc"]
    assert all(sets)
    assert len(set.union(*sets)) == sum(map(len, sets))
    assert "77 1" not in (tmp_path / "counters").read_text()
