"""What every command prints, from stored data: for tests, and to be looked at.

    python tests/screens.py            in this terminal, whatever its width
    python tests/screens.py 60 80      in real terminals of these widths

In a folder of its own, so that no path of this machine is wider than a terminal.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console

from campaign_states import example_state
from fuzzwise.campaign.single import Standing as Fuzzed
from fuzzwise.cli import campaign_output, main
from fuzzwise.cli import fuzz as fuzz_command
from fuzzwise.cli import record as record_command
from fuzzwise.cli import triage as triage_command
from fuzzwise.engines.contract import Totals
from fuzzwise.judge import Terms, judge
from fuzzwise.lab.recording.recorder import Recorded
from fuzzwise.model import Observation
from fuzzwise.report import live
from fuzzwise.report.campaign.frame import frame
from fuzzwise.report.watch import view as watch_view
from fuzzwise.store.contract import Choice
from fuzzwise.store.states import EventState, Stopped
from fuzzwise.triage.bug_book import Bug
from fuzzwise.triage.crash import BugIdentity
from fuzzwise.triage.examine import Verdict
from fuzzwise.triage.grouping import Triage, TriagedBug
from fuzzwise.triage.inputs import CrashingInput
from fuzzwise.watch import recognise
from fuzzwise.watch.follow import look_once
from stored import begun, epoch, found, turn

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
MARK = "=== "
NOW = Observation(n=120_000, seconds=120.0, discoveries=np.array([3, 40, 900, 70_000]), species=60)
FRAMES = ("parse_attribute_list", "parse_element", "LLVMFuzzerTestOneInput", "one_input")


def screens(columns: int | None) -> dict[str, list[str]]:
    """The lines of each command on a terminal of so many columns; in a pipe without any."""
    with tempfile.TemporaryDirectory(prefix="fuzzwise-test-") as folder:
        words = [sys.executable, str(Path(__file__).resolve())]
        text = _in_pipe(words, folder) if columns is None else _on_terminal(words, folder, columns)
    made: dict[str, list[str]] = {}
    for part in ESCAPES.sub("", text).replace("\r", "").split(MARK)[1:]:
        name, *lines = part.split("\n")
        made[name] = lines
    return made


def _environment() -> dict[str, str]:
    unset = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    return kept | {"TERM": "xterm", "PYTHONPATH": str(Path(__file__).parent)}


def _in_pipe(words: list[str], folder: str) -> str:
    done = subprocess.run(
        words, cwd=folder, env=_environment(), text=True, check=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.stdout


def _on_terminal(words: list[str], folder: str, columns: int) -> str:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    child = subprocess.Popen(
        words, cwd=folder, env=_environment(), stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    data = b""
    try:
        while chunk := os.read(master, 65536):
            data += chunk
    except OSError:  # what Linux says when nobody has the other end any more
        pass
    finally:
        os.close(master)
    assert child.wait() == 0, data.decode()[-3000:]
    return data.decode()


# ── what is shown ─────────────────────────────────────────────────────────────────────────────


def commands() -> Iterator[tuple[str, Callable[[], object]]]:
    """Each command with a name, in the present folder."""
    _store()
    _log("fuzz-0.log")
    _log("fuzz-1.log")
    run("simulate --campaigns 1 --inputs 4000 --snapshots urn.jsonl --json")
    yield "help", lambda: run("--help")
    yield "a mistake", lambda: run("status nothing")
    yield "status", lambda: run("status camp")
    yield "decisions", lambda: run("status camp --decisions")
    yield "report", lambda: run("report camp -o page.html")
    yield "serve", lambda: run("serve camp --host 192.0.2.1 --port 9")
    yield "run's summary", _summary
    yield "run's view", lambda: _draw(lambda *size: _joined(frame(_state(), *size)))
    yield "init", _init
    yield "fuzz", _fuzz
    yield "fuzz's view", lambda: _draw(lambda *size: live.picture("base64", _rows(), *size))
    yield "watch", lambda: run("watch fuzz-0.log --accept-risk 1e-9")
    yield "watch two", lambda: run("watch fuzz-0.log fuzz-1.log --accept-risk 1e-3")
    yield "watch's view", lambda: _watch_view("fuzz-0.log")
    yield "watch's view of two", lambda: _watch_view("fuzz-0.log", "fuzz-1.log")
    yield "estimate", lambda: run("estimate urn.jsonl --accept-risk 1e-3")
    yield "simulate", lambda: run("simulate --campaigns 1 --inputs 4000")
    yield "evaluate", lambda: run("evaluate --simulated 2")
    few = "--synthetic 10 --budget 6h --repeats 2"
    yield "replay", lambda: run(f"replay {few} --scheduler newer --scheduler paper")
    yield "record", _record
    yield "triage", _triage
    yield "fleet", lambda: run("fleet certificates keys")
    yield "worker", lambda: run("worker 192.0.2.1:8786 --work there")
    yield "doctor", lambda: run("doctor")


def _init() -> None:
    """A folder with much to tell."""
    out = Path("out")
    out.mkdir()
    for name in ("parse_attribute_list_fuzzer", "größe", "lost_bit_fuzzer"):
        (out / name).write_text("#!/bin/sh\n# LLVMFuzzerTestOneInput\n")
        (out / name).chmod(0o755 if name != "lost_bit_fuzzer" else 0o644)
    (out / "größe.options").write_text(
        "[libfuzzer]\nmax_len = random(1, 100)\nfork = 1\nuse_value_profile = 1\n"
        "[asan]\ndetect_leaks = 0\nstrict_string_checks = 1\n[grammar]\ngrammar = json\nrubbish\n"
    )
    for number in range(9):
        (out / f"file-with-a-long-name-{number}.txt").write_text("x")
    run("init out -o init.toml")


def run(line: str) -> int:
    return main(line.split())


def _state():
    state = example_state(8, hostile=False)
    far = [replace(t, seconds_to_decision=10.0 ** (6 + i)) for i, t in enumerate(state.targets)]
    told = EventState(state.seconds, "retired", "png", NOW_RETIRED)
    return replace(state, targets=tuple(far), events=(*state.events, told))


NOW_RETIRED = (
    "The probability that the next input shows anything new is at most 9.8e-06, below the accepted "
    "risk 1e-05, with 95% confidence after 1,171,739 inputs (estimate 1.2e-06, recent-rate)."
)


def _summary() -> None:
    ended = replace(_state(), running=False, stopped=Stopped("time-budget", "The time is used."))
    campaign_output.print_summary(ended, {ended.bugs[0].id}, as_json=False)


def _store() -> None:
    names = ("a", "records-of-a-picture", "box-with-a-rather-long-name")
    with begun(Path("camp"), *names) as store:
        for i, name in enumerate(names):
            for n in (100, 900):
                bugs = [found(f"{name[:3]}{j}", 1 + j) for j in range(2 * i)]
                epoch(store, n + 10.0 * i, name, turn(n, *bugs))
        store.start_epoch(2000.0, names[1], Choice("the least known, after a long pause", 0.5, "a"))


def _log(name: str) -> None:
    lines = ["INFO: Seed: 1"]
    lines += [
        f"#{n}\tNEW    cov: {n} ft: {n} corp: {n}/9b exec/s: 9 rss: 30Mb" for n in (3, 50, 700)
    ]
    lines.append("#65536\tpulse  cov: 700 ft: 700 corp: 3/9b exec/s: 900 rss: 30Mb")
    Path(name).write_text("\n".join(lines) + "\n")


def _rows() -> list[tuple[str, str]]:
    warning = "65,536 inputs, and none showed anything new: does the target read its input?"
    totals = Totals("1", NOW, 120.0, 1, _bugs(), 16, (warning,))
    return live.rows(totals, judge(NOW, Terms(1e-12)))


def _bugs() -> tuple[Bug, ...]:
    return tuple(
        Bug(f"{i}d31d08ccf00343f", kind, "read", FRAMES, i, (f"{i}/crash-{i}",), 9, 1.0)
        for i, kind in enumerate(("heap-buffer-overflow", "undefined-behavior: shift"), 1)
    )


def _fuzz() -> None:
    totals = Totals("1", NOW, 120.0, 1, _bugs(), 16)
    judgement = judge(NOW, Terms(1e-3))
    assert judgement.decision is not None
    stopped = Stopped("accepted-risk", judgement.decision.detail)
    standing = Fuzzed(totals, judgement, stopped)
    fuzz_command._report(Path("base64"), Path("fuzz-out"), standing, False)


def _watch_view(*names: str) -> None:
    look = look_once(recognise.open_sources([Path(name) for name in names]), 1e-9)
    _draw(lambda width, height: watch_view.frame(look, width, height))


def _record() -> None:
    results = [
        Recorded("records-picture", 11_601, 4.0, 889, 0, "fork-server", True),
        Recorded("sums-names", 1, 4.0, 1, 1, "plain", True),
    ]
    record_command._show(Path("recording"), results)


def _triage() -> None:
    crash = CrashingInput("records-short-10547.rb", lambda: b"", ("records", "@@"))
    bugs = []
    for bug, severity in zip(_bugs(), ("null dereference", "read"), strict=True):
        seen = Verdict("crash", None, f"{bug.kind} ({severity}) in {FRAMES[0]} at markup.c:57")
        identity = BugIdentity(bug.id, bug.kind, severity, FRAMES)
        bugs.append(TriagedBug(identity, (crash,) * 3, crash, seen, severity == "read"))
    triage_command._print(Triage(tuple(bugs), (crash,), (crash,) * 12, 16), Path("bugs"))


def _joined(lines):
    return lines[0].__class__("\n", no_wrap=True, end="").join(lines)


def _draw(picture) -> None:
    console = Console(highlight=False)
    width = console.width if console.is_terminal else 1000
    console = Console(highlight=False, width=width)
    console.print(picture(width, 39), soft_wrap=True)


def _show_all() -> None:
    for name, show in commands():
        print(f"{MARK}{name}", flush=True)
        show()
        sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for columns in map(int, sys.argv[1:]):
            for name, lines in screens(columns).items():
                print(f"{'─' * columns}\n{name}, {columns} columns\n{'─' * columns}")
                print("\n".join(lines))
    elif Path("camp").exists():
        sys.exit("There is a folder camp here already: go elsewhere.")
    else:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            _show_all()
