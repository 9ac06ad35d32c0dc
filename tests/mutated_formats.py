"""Every format that fuzzwise reads: a good sample, how it is damaged, and all that reads it."""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
import sqlite3
import stat
import struct
import tomllib
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import click
import msgspec
import numpy as np

import mutations
from bounded import bounded
from fuzzwise.campaign.baseline import read_baseline
from fuzzwise.campaign.file import plan_of
from fuzzwise.campaign.file import read_plan as read_campaign
from fuzzwise.campaign.finished import run_entry
from fuzzwise.cli import load
from fuzzwise.engines.blackbox import input_hash
from fuzzwise.engines.blackbox import tally as tallies
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.go.counts import KIND, GoFolder
from fuzzwise.engines.go.counts import Counts as GoCounts
from fuzzwise.engines.go.lines import Group
from fuzzwise.engines.go.session import GoSession
from fuzzwise.engines.libfuzzer.session import LibFuzzerSession
from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.engines.observer.observed import CorpusFiles, sound_state
from fuzzwise.engines.observer.seeds import SeedFiles
from fuzzwise.errors import FuzzwiseError
from fuzzwise.folders.campaign_text import campaign_text
from fuzzwise.folders.recognise import look
from fuzzwise.lab.evaluate import published
from fuzzwise.lab.recording import log as logs
from fuzzwise.lab.recording.config import read_plan as read_recording_plan
from fuzzwise.lab.recording.log import Configuration, Event, Events, Header, LoggedBug, write_log
from fuzzwise.lab.recording.triaged import crashes_of, input_of
from fuzzwise.model import Observation, SeedCounts, Truth
from fuzzwise.seed_zips import count, unpack
from fuzzwise.snapshot import Campaign, write
from fuzzwise.store.sql.store import SqlStore
from fuzzwise.triage.bug_book import BugBook
from fuzzwise.triage.inputs import command_of
from observer_states import make_campaign
from out_folder import OPTIONS
from stored import begun, epoch, found, plan, turn
from test_watch_damage import CENTIPEDE_ROWS, HONGGFUZZ_ROWS, NAMES, PLAIN, PLOT, STATS
from test_watch_go import FAILED, LOG
from test_watch_libfuzzer import FORK

Reads = Callable[[random.Random, Path], None]


@dataclass(frozen=True)
class Format:
    """How a sample is made in an empty folder, damaged, and read."""

    name: str
    make: Callable[[Path], None]
    read: Reads
    damage: Callable[[random.Random, Path], str] | None = None


class Wrong(Exception):
    """A case that ended with neither a result nor a sentence."""


class Sample:
    """A good sample in memory, put into a folder as often as it is damaged."""

    def __init__(self, form: Format, folder: Path) -> None:
        self.form, self.folder = form, folder
        folder.mkdir(parents=True)
        form.make(folder)
        self._good = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        self._folders = [path for path in folder.rglob("*") if path.is_dir()]

    def read_whole(self) -> None:
        """Read it undamaged, in all ways; what is compiled at its first use is compiled here."""
        for seed in range(5):
            self.form.read(random.Random(seed), self.folder)
            self.restore()

    def case(self, seed: int) -> str:
        """Damage the sample and read it: "read" or "told", as it ended. Wrong for anything else."""
        rng = random.Random(f"{self.form.name} {seed}")
        self.restore()
        what = (self.form.damage or damage)(rng, self.folder)
        try:
            with warnings.catch_warnings(), bounded():
                warnings.simplefilter("error")
                self.form.read(rng, self.folder)
        except FuzzwiseError as error:
            if not str(error).strip():
                raise Wrong(f"{self.form.name}, case {seed} ({what}): no sentence") from error
            return "told"
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            raise Wrong(
                f"{self.form.name}, case {seed} ({what}): {type(error).__name__}: "
                f"{str(error)[:200]}"
            ) from error
        return "read"

    def restore(self) -> None:
        """The good sample again, and nothing beside it."""
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path not in self._folders and path not in self._good:
                shutil.rmtree(path) if _is_folder(path) else path.unlink()
            elif path in self._good and not stat.S_ISREG(path.lstat().st_mode):
                path.rmdir() if _is_folder(path) else path.unlink()
        for folder in self._folders:
            folder.mkdir(parents=True, exist_ok=True)
        for path, content in self._good.items():
            path.write_bytes(content)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def damage(rng: random.Random, folder: Path) -> str:
    """Any file of the folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return mutations.of_tree(rng, folder, files)


def command(name: str, *words: object) -> None:
    """A command, as it is called by its name; what it prints must be text that can be printed."""
    main = load(name).main
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        with contextlib.suppress(click.exceptions.Exit):
            main([str(word) for word in words], standalone_mode=False)
        out.flush()
        err.flush()


# ── snapshot files ────────────────────────────────────────────────────────────────────────────


def _snapshot(folder: Path) -> None:
    seeds = SeedCounts(
        q=np.array([0.25, 0.75]), n=np.array([40, 60]), f1=np.array([3, 1]), f2=np.array([1, 0]),
        k=np.array([1, 1]), g=np.array([2, 1]),
    )  # fmt: skip
    observations = [
        Observation(
            n=50 * i, seconds=2.5 * i, last_discovery_seconds=2.0 * i, species=60 + i,
            f=(5, 3, 1, 1), k=4, discoveries=np.arange(1, 50 * i, 7),
            seeds=seeds if i > 1 else None, resets={1: 2, 10: 3},
            truth=Truth(0.1, 10, 100) if i == 2 else None,
        )
        for i in range(1, 6)
    ]  # fmt: skip
    write(folder / "log.jsonl", [Campaign("one", tuple(observations)), Campaign("two", ())])


def _read_snapshot(rng: random.Random, folder: Path) -> None:
    words = [folder / "log.jsonl", *rng.choice(((), ("--json",), ("--accept-risk", "1e-3")))]
    command(rng.choice(("estimate", "estimate", "watch")), *words)


# ── recordings ────────────────────────────────────────────────────────────────────────────────

_MUTATION = {"ratio": [0.001, 0.01], "kinds": ["bits"], "max_length": 4096}


def _header(triaged: bool) -> Header:
    return Header(
        configurations=tuple(
            Configuration(
                name=name, command=("/bin/true", "@@"), seed=b"a seed", random_seed=7, mutator=1,
                mutation=_MUTATION, limits={"seconds": 1.0, "memory_mib": 64}, mode="spawn",
            )
            for name in ("one", "two")[: 1 + triaged]
        ),
        bugs=tuple(LoggedBug(id=f"{b:016x}", kind="SEGV") for b in range(2 * triaged)),
        seconds=5.0,
        triaged=triaged,
    )  # fmt: skip


@cache
def _input_of_run(run: int) -> int:
    return input_hash(input_of(_header(False).configurations[0], run))


def _events(triaged: bool) -> Events:
    rows = []
    for which in range(1 + triaged):
        for i in range(1, 21):
            kind = logs.CRASH if i % 3 == 0 else logs.MARK
            bug = i % 2 if triaged and kind == logs.CRASH else logs.NO_BUG
            shown = 0 if triaged or kind == logs.MARK else _input_of_run(100 * i)
            rows.append(Event(which, kind, 100 * i, 250_000 * i, 11, 5 + i % 2, shown, bug))
    return Events.of(rows)


def _recording(folder: Path) -> None:
    write_log(folder / logs.SUFFIX.join(("triaged", "")), _header(True), _events(True))
    write_log(folder / f"one{logs.SUFFIX}", _header(False), _events(False))


def _damage_recording(rng: random.Random, folder: Path) -> str:
    """Bytes; or the header or the columns, written whole again."""
    path = rng.choice(sorted(folder.iterdir()))
    kind = rng.random()
    if kind < 0.5:
        return mutations.of_tree(rng, folder, [path])
    triaged = path.name.startswith("triaged")
    header, events = _header(triaged), _events(triaged)
    if kind < 0.75:
        text = mutations.of_bytes(rng, msgspec.json.encode(header))
        _write_with(path, text, events)
        return f"{path.name}: header"
    column = rng.choice(logs.COLUMNS)
    values = getattr(events, column).copy()
    most = {"configuration": 65535, "kind": 255, "signal": 255, "bug": 2**31 - 1}
    for _ in range(rng.choice((1, 2, 20))):
        values[rng.randrange(len(values))] = rng.choice(mutations.WHOLE) % (
            1 + most.get(column, 2**63 - 1)
        )
    _write_with(path, msgspec.json.encode(header), Events(*(
        values if name == column else getattr(events, name) for name in logs.COLUMNS
    )))  # fmt: skip
    return f"{path.name}: {column}"


def _write_with(path: Path, header: bytes, events: Events) -> None:
    pa = logs.load_pyarrow()
    write_log(path, _header(True), events)
    with pa.ipc.open_stream(path.read_bytes()) as stream:
        table = stream.read_all().replace_schema_metadata({"fuzzwise": header})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(str(path), table.schema, options=options) as out:
        out.write_table(table)


def _read_recording(rng: random.Random, folder: Path) -> None:
    if rng.random() < 0.5:
        for crash, _, _ in crashes_of([logs.read_log(folder / f"one{logs.SUFFIX}")]).values():
            crash.load()
        return
    words = ["--scheduler", "fixed-time/round-robin", "--repeats", 1, "--jobs", 1]
    command("replay", folder / f"triaged{logs.SUFFIX}", *words, *rng.choice(((), ("--json",))))


# ── campaigns ─────────────────────────────────────────────────────────────────────────────────


def _campaign(folder: Path) -> None:
    with begun(folder) as store:
        for i in range(1, 8):
            for name in ("a", "b", "box"):
                bugs = [found(f"{name}{b}", b + 1) for b in range(i // 3)]
                epoch(store, float(i), name, turn(100 * i, *bugs))
        store.set_state("b", "retired", "accepted-risk", "It may stop.")
        store.event(7.0, "retired", "b", "It may stop.")
    with contextlib.closing(sqlite3.connect(folder / "campaign.db")) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")


def _damage_campaign(rng: random.Random, folder: Path) -> str:
    if rng.random() < 0.5:
        return mutations.of_tree(rng, folder, [folder / "campaign.db"])
    return mutations.of_database(rng, folder / "campaign.db")


def _read_campaign(rng: random.Random, folder: Path) -> None:
    if rng.random() < 0.03:  # a page takes as long as all the others, and is drawn by a browser
        with bounded(20, 4096):
            return command("report", folder)
    if rng.random() < 0.15:
        with SqlStore.open(folder) as store:
            store.memory()
            store.begin_run(run_entry(plan(folder), 600.0))
            epoch(store, 9.0, "a", turn(900))
            return store.state() and None
    name, *words = rng.choice(
        (
            ("status",), ("status", "--json"), ("status", "--decisions"),
            ("status", "--decisions", "--json", "--target", "a"),
            ("report", "--markdown", "-"), ("report", "--json"), ("watch",), ("watch", "--json"),
            ("report", "--sarif", folder / "bugs.sarif"),
        )
    )  # fmt: skip
    return command(str(name), folder, *words)


# ── folders of one target ─────────────────────────────────────────────────────────────────────


def _damage_state(rng: random.Random, folder: Path) -> str:
    if rng.random() < 0.5:
        return damage(rng, folder)
    path = folder / "state" / rng.choice(("head", "head", "seeds", "discoveries"))
    path.write_bytes(mutations.of_words(rng, path.read_bytes()))
    return f"{path.name}: a number"


def _read_state(rng: random.Random, folder: Path) -> None:
    if rng.random() < 0.4:
        command("watch", folder, *rng.choice(((), ("--json",))))
        return
    if rng.random() < 0.4:
        plan = TargetPlan("true", "libfuzzer", ("/bin/true",))
        LibFuzzerSession(plan, folder, 1).totals()
        return
    campaign = CampaignFolder(folder)
    campaign.agreed("f" * 64, {"species": "feature"})
    state = sound_state(campaign, 1000)
    if state is not None:
        state.observation(12.5)
        CorpusFiles(campaign).write(state)
    SeedFiles(campaign, ()).option(set(), rng, everything=False)


def _damage_records(rng: random.Random, folder: Path) -> str:
    files = [folder / "campaign.json", *folder.glob("crashes/*/*")]
    return mutations.of_tree(rng, folder, sorted(files))


def _read_records(rng: random.Random, folder: Path) -> None:
    for bug in BugBook(folder / "crashes", "true").bugs.values():
        json.dumps(bug.count + bug.found_at)
    command_of([folder / "crashes"])
    LibFuzzerSession(TargetPlan("true", "libfuzzer", ("/bin/true",)), folder, 1).totals()
    command("watch", folder, "--json")


def _tally(folder: Path) -> None:
    tally = tallies.Tally("ab", "cd", lanes=[100, 50], seconds=3.0, crashes=2)
    tally.crash(tallies.Crash(0, 5, 5, 0.1, 7), 9)
    tally.crash(tallies.Crash(1, 6, 11, 0.2, 7), 0)
    tally.bugs["00112233445566aa"] = tallies.Shown(2, 5, 0.1)
    tally.save(folder / "progress.json")


def _read_tally(rng: random.Random, folder: Path) -> None:
    if (tally := tallies.load(folder / "progress.json")) is not None:
        tally.observation()


# ── other fuzzers ─────────────────────────────────────────────────────────────────────────────


def _afl(folder: Path) -> None:
    for name in ("main", "second"):
        queue = folder / name / "queue"
        queue.mkdir(parents=True)
        for entry in NAMES:
            (queue / entry).touch()
        (folder / name / "fuzzer_stats").write_text(STATS)
        (folder / name / "plot_data").write_text(PLOT)
        (folder / name / "fuzzer_setup").write_text("AFL_NO_UI=1\n")


def _damage_afl(rng: random.Random, folder: Path) -> str:
    named = sorted(folder.glob("*/queue/*"))
    if rng.random() < 0.4:
        path = rng.choice(named)
        name = mutations.of_bytes(rng, path.name.encode()).replace(b"/", b"").replace(b"\0", b"")
        with contextlib.suppress(OSError):
            path.rename(path.with_name(name[:200].decode(errors="surrogateescape") or "x"))
        return f"{path.name} renamed"
    others = [path for path in folder.rglob("*") if path.is_file() and path not in named]
    return mutations.of_tree(rng, folder, sorted(others))


def _text(name: str, text: str, folder: Path) -> None:
    (folder / name).write_text(text)


def _watch(rng: random.Random, folder: Path, name: str = "") -> None:
    words = rng.choice(((), ("--json",), ("--accept-risk", "1e-4")))
    command("watch", folder / name, *words)


def _go_counts(folder: Path) -> None:
    kept = GoFolder(folder)
    kept.make()
    groups = [Group(0, 100, 4), Group(100, 250, 1), Group(700, 900, 3)]
    record = {"fingerprint": "ab", "settings": KIND, "generation": "cd", "target": "m/FuzzX"}
    GoCounts(n=1000, species=40, corpus=9, seconds=12.5, groups=groups).save(kept, record)


def _read_go_counts(rng: random.Random, folder: Path) -> None:
    _watch(rng, folder)
    GoSession(TargetPlan("t", "go", (str(folder), "FuzzX")), folder).totals()


# ── what people write ─────────────────────────────────────────────────────────────────────────

_CAMPAIGN = """
[campaign]
name = "all"
out = "out"
budget = "10m"
cores = 2
accepted_risk = 1e-5
epoch = 5
seed = 7

[[target]]
name = "box"
engine = "black-box"
command = "/bin/true @@"
corpus = "seed.bin"
share = "high"

[target.limits]
time = "1s"
memory_mib = 64

[[target]]
name = "other"
engine = "black-box"
command = ["/bin/true", "@@"]
corpus = "seed.bin"
"""

_RECORDING = """
[recording]
time = "3s"
cores = 1
seed = 1

[mutation]
ratio = [0.001, 0.01]

[limits]
time = "1s"

[[configuration]]
command = "/bin/true @@"
seed = "seed.bin"
"""


def _with_seed(name: str, text: str, folder: Path) -> None:
    _text(name, text, folder)
    (folder / "seed.bin").write_bytes(b"seed")


def _seed_zip(folder: Path) -> None:
    with zipfile.ZipFile(folder / "seeds.zip", "w", zipfile.ZIP_DEFLATED) as file:
        for number in range(5):
            file.writestr(f"seeds/{number}", bytes([number]) * 50 * number)
        file.writestr("../up", b"up", zipfile.ZIP_STORED)


def _damage_zip(rng: random.Random, folder: Path) -> str:
    """Bytes anywhere; or a number in a header, which says how long, how large or what follows."""
    path = folder / "seeds.zip"
    if rng.random() < 0.5:
        return mutations.of_tree(rng, folder, [path])
    content = bytearray(path.read_bytes())
    heads = [at for at in range(len(content) - 46) if content[at : at + 2] == b"PK"]
    at = rng.choice(heads) + rng.randrange(4, 42)
    form, most = rng.choice((("<H", 2**16), ("<I", 2**32)))
    struct.pack_into(form, content, at, rng.choice(mutations.WHOLE) % most)
    path.write_bytes(content)
    return f"a number at {at}"


def _read_zip(rng: random.Random, folder: Path) -> None:
    """Nothing is written beside the folder of the seeds, whatever the archive says."""
    home = folder / "home"
    try:
        count(folder / "seeds.zip")
        unpack(folder / "seeds.zip", home)
    finally:
        made = {path.name for path in folder.parent.iterdir()} - {folder.name}
        assert "up" not in made, made


def _options(folder: Path) -> None:
    (folder / "parse").write_text("#!/bin/sh\n# LLVMFuzzerTestOneInput\n")
    (folder / "parse").chmod(0o755)
    (folder / "parse.options").write_text(OPTIONS)
    (folder / "parse.dict").write_text('word="a\\xff"\n# none\n"b"\n')


def _damage_options(rng: random.Random, folder: Path) -> str:
    return mutations.of_tree(rng, folder, [folder / "parse.options", folder / "parse.dict"])


def _read_options(rng: random.Random, folder: Path) -> None:
    """Whatever the files say, the campaign file that is made of them is right."""
    (folder / "parse").chmod(0o755)
    text = ""
    try:
        text = campaign_text(*look(folder), folder)
        read = plan_of(tomllib.loads(text), folder / "c.toml")
    except (FuzzwiseError, ValueError) as error:
        raise AssertionError(f"{error}\n{text}") from error
    assert [target.name for target in read.targets] == ["parse"]


def _baseline(folder: Path) -> None:
    bugs = [{"id": f"{b:016x}", "kind": "SEGV"} for b in range(3)]
    (folder / "a.json").write_text(json.dumps({"bugs": bugs, "risk": 0.5}))
    (folder / "b.txt").write_text("# known\n0123456789abcdef a remark\n")


def _read_baselines(rng: random.Random, folder: Path) -> None:
    read_baseline(rng.choice((folder / "a.json", folder / "b.txt")))


def _published(folder: Path) -> None:
    rows = [
        ",".join(str(5 + i + c) if name != "subject" else "s" for c, name in enumerate(_COLUMNS))
        for i in range(5)
    ]
    (folder / "table.csv").write_text("\n".join([",".join(_COLUMNS), *rows]) + "\n")


_COLUMNS: Sequence[str] = published.COLUMNS


FORMATS = (
    Format("snapshot", _snapshot, _read_snapshot),
    Format("recording", _recording, _read_recording, _damage_recording),
    Format("campaign database", _campaign, _read_campaign, _damage_campaign),
    Format("observer state", make_campaign, _read_state, _damage_state),
    Format("records", make_campaign, _read_records, _damage_records),
    Format("tally", _tally, _read_tally),
    Format("AFL++", _afl, _watch, _damage_afl),
    Format("libFuzzer log", partial(_text, "fuzz.log", PLAIN), partial(_watch, name="fuzz.log")),
    Format("fork log", partial(_text, "fork.log", FORK + FORK), partial(_watch, name="fork.log")),
    Format("counts of Go", _go_counts, _read_go_counts),
    Format(
        "go test log", partial(_text, "go.log", LOG + FAILED + LOG), partial(_watch, name="go.log")
    ),
    Format("honggfuzz", partial(_text, "stats", HONGGFUZZ_ROWS), partial(_watch, name="stats")),
    Format("Centipede", partial(_text, "fuzzing-stats-x.000000.csv", CENTIPEDE_ROWS), _watch),
    Format(
        "campaign file",
        partial(_with_seed, "c.toml", _CAMPAIGN),
        lambda rng, folder: [read_campaign(folder / "c.toml")].clear(),
    ),
    Format(
        "recording file",
        partial(_with_seed, "r.toml", _RECORDING),
        lambda rng, folder: [read_recording_plan(folder / "r.toml")].clear(),
    ),
    Format("seed zip", _seed_zip, _read_zip, _damage_zip),
    Format("options file", _options, _read_options, _damage_options),
    Format("baseline", _baseline, _read_baselines),
    Format(
        "published table",
        _published,
        lambda rng, folder: [published.read(folder / "table.csv")].clear(),
    ),
)
"""All of them; a good sample of each must be read."""
