"""Ways to misuse each command: each ends with a sentence and an exit code, none with a traceback.

The rows name things that ``place`` makes. The words are those by which a user knows what is wrong,
or what to do.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fuzzwise.cli import COMMANDS, main

LONG = "x" * 5000

ROWS: list[tuple[str | list[str], str]] = [
    # no command
    ("nonsense", "there is no command 'nonsense'. See fuzzwise --help."),
    ("statsu", "Did you mean 'status'?"),
    ("--nonsense", "there is no command '--nonsense'"),
    ("help nonsense", "there is no command 'nonsense'"),
    (["\x1b[31m"], "there is no command '\\x1b[31m'"),
    (["run\n"], "Did you mean 'run'?"),
    # status
    ("status", "Missing argument 'CAMPAIGN'"),
    ("status absent", "absent: there is no such file or folder. Expected: the folder of"),
    ("status folder", "folder: holds no campaign. Expected: the folder of"),
    ("status empty", "neither [campaign] nor [[target]]. Expected: the folder of"),
    ("status text", "text is not valid TOML"),
    ("status binary", "binary is not a text file in UTF-8. Expected"),
    ("status pipe", "pipe: is neither a file nor a folder. Expected"),
    ("status loop", "loop: there is no such file or folder"),
    ("status dangling", "dangling: there is no such file or folder"),
    ("status damaged", "campaign.db is damaged (file is not a database)"),
    ("status hollow", "hollow holds no campaign"),
    ("status list.toml", "campaign is [1]; expected a table [campaign]"),
    ("status unbegun.toml", "there is no campaign in unbegun-out yet. Start it with: fuzzwise run"),
    ("status folder --last 0", "'--last': 0 is not in the range"),
    ("status folder other", "unexpected extra argument (other)"),
    ("status folder --folow", "--follow"),
    (["status", LONG], "cannot be read (File name too long)"),
    (["status", "esc\x1b[31mred"], "esc\\x1b[31mred is not valid TOML"),
    # report
    ("report absent", "absent: there is no such file or folder. Expected"),
    ("report folder -o page.html", "folder: holds no campaign"),
    ("report empty", "neither [campaign] nor [[target]]"),
    ("report damaged", "campaign.db is damaged"),
    ("report damaged --sarif", "'--sarif' requires an argument"),
    ("report damaged --sarif folder", "'folder' is a directory"),
    # triage
    ("triage", "Missing argument 'PATH…'"),
    ("triage absent", "absent: there is no such file or folder"),
    ("triage folder", "folder: there are no inputs in this folder"),
    ("triage pipe -- ./program @@", "pipe: is neither a file nor a folder"),
    ("triage text", "Which program crashes? Give it behind --"),
    (["triage", "with space"], "fuzzwise triage 'with space' -- PROGRAM @@"),
    (["triage", "esc\x1b[31mred"], "'esc\\x1b[31mred' -- PROGRAM @@"),
    (["triage", "text", "--"], "Which program crashes? Give it behind --"),
    ("triage text -- absent @@", "there is no such program in the PATH"),
    ("triage text -- ./text @@", "chmod +x ./text"),
    ("triage text --timeout 0s -- ./program", "'0s' is no time at all; write it as 90s"),
    ("triage text --frames 0 -- ./program", "'--frames': 0 is not in the range"),
    ("triage text --out empty -- ./program @@", "empty: is a file. Give another folder"),
    ("triage unbegun.toml", "there is no campaign in unbegun-out yet"),
    ("triage damaged", "campaign.db is damaged"),
    ("triage records", "is not a log: it has no readable header"),
    # watch
    ("watch", "Missing argument 'PATH…'"),
    ("watch absent", "absent: cannot be read (there is no such file or folder)"),
    ("watch folder", "found nothing: the folder is empty"),
    ("watch empty", "empty: it is empty. fuzzwise looked for a log of libFuzzer"),
    ("watch text", "text: nothing in it is known. fuzzwise looked for"),
    ("watch pipe", "pipe: is not a regular file"),
    ("watch loop", "Too many levels of symbolic links"),
    ("watch damaged", "campaign.db is damaged"),
    ("watch unbegun.toml", "there is no campaign in unbegun-out yet"),
    ("watch ended.log", "it has ended before its first input"),
    ("watch text --then-stop", "add --accept-risk, say 1e-6"),
    ("watch text --time 3s", "add --follow"),
    ("watch text --every now", "'now' is not a duration"),
    ("watch text --accept-risk 2", "2.0 is not in the range 0<x<1"),
    ("watch text --accept-risk nan", "nan is not a number between 0 and 1"),
    # fuzz
    ("fuzz", "Missing argument 'TARGET'"),
    ("fuzz absent", "absent: there is no such file. Build a target with `fuzzwise build`"),
    ("fuzz folder", "folder: is a folder. Give the target in it"),
    ("fuzz text", "text: is not executable"),
    ("fuzz pipe", "pipe: is not a regular file. Give the target itself"),
    (["fuzz", LONG], "File name too long"),
    (["fuzz", "with space"], "with space: is not executable"),
    ("fuzz program absent", "absent: there is no such corpus folder"),
    ("fuzz program --time soon", "'soon' is not a duration; write it as 90s, 15m, 4h"),
    ("fuzz program --time -5s", "'-5s' is not a duration"),
    ("fuzz program --time 0s", "'0s' is no time at all"),
    (["fuzz", "program", "--time", "9" * 400 + "h"], "is longer than 300 years"),
    ("fuzz program --inputs many", "'many' is not a number; write it as 1000, 200k"),
    ("fuzz program --inputs 0", "'0' is less than one"),
    ("fuzz program --inputs 1e999", "'1e999' is more than can be counted"),
    ("fuzz program --jobs 0", "'--jobs': 0 is not in the range"),
    ("fuzz program --engine nope", "'nope' is not one of 'afl++', 'black-box'"),
    ("fuzz program --accept-risk nan", "nan is not a number between 0 and 1"),
    ("fuzz program --confidence 1", "1.0 is not in the range 0<x<1"),
    ("fuzz program --engine black-box", "fuzzed from one seed file, and CORPUS has 0"),
    ("fuzz program text --engine black-box --libfuzzer -x", "a black box has no such thing"),
    ("fuzz program --engine afl++", "was not built by a compiler of AFL++"),
    ("fuzz program --afl x", "--afl: a harness of libFuzzer has no such thing"),
    (["fuzz", "program", "--arguments", "'"], "cannot be split into words"),
    ("fuzz harness.py --python absent", "absent cannot be run as a Python interpreter"),
    ("fuzz program --out empty", "cannot hold a campaign: File exists. Choose another folder"),
    ("fuzz program --out empty/deeper", "cannot hold a campaign: Not a directory"),
    # run
    ("run", "Missing argument 'CAMPAIGN'"),
    ("run pipe", "pipe: is not a regular file. Give the file itself"),
    ("run absent", "absent cannot be read: No such file or directory. Check the path"),
    ("run folder", "folder: there is no fuzz target in this folder"),
    ("run wrong.toml --accept-risk 1e-3", "write accepted_risk = 0.001 into the [campaign] of"),
    ("init", "Missing argument 'FOLDER'"),
    ("init folder", "folder: there is no fuzz target in this folder"),
    ("init absent", "absent: cannot be read (there is no such file or folder)"),
    ("init text", "text: cannot be read (Not a directory)"),
    ("init folder -o text", "text is there already, and is not overwritten"),
    ("init folder -o absent/c.toml", "absent: there is no such folder"),
    (["init", LONG], "File name too long"),
    ("run empty", "expected at least one table [[target]]"),
    ("run text", "text is not valid TOML"),
    ("run binary", "binary is not a text file in UTF-8"),
    ("run unbegun.toml", "expected at least one table [[target]]"),
    ("run list.toml", "target is 3; expected tables [[target]]"),
    ("run wrong.toml", "campaign.budgt is not a known key; did you mean 'budget'?"),
    ("run wrong.toml --time soon", "'soon' is not a duration"),
    ("run wrong.toml --baseline absent", "absent: the baseline cannot be read"),
    ("run wrong.toml --baseline folder", "folder: the baseline cannot be read"),
    ("run wrong.toml --out empty", "which cannot be a folder; choose another"),
    (["run", LONG], "File name too long"),
    # record and replay
    ("record", "Missing argument 'CONFIG.toml'"),
    ("record pipe", "pipe: is not a regular file. Give the file itself"),
    ("record absent", "absent cannot be read: No such file or directory"),
    ("record folder", "folder is a folder. Give a file in TOML"),
    ("record empty", "expected at least one table [[configuration]]"),
    ("record wrong.toml", "campaign.budgt is not a known key; did you mean 'budget'?"),
    ("replay", "Give one thing to replay: LOGS, or --synthetic"),
    ("replay pipe", "pipe: is not a regular file. Give the file itself"),
    ("replay absent", "absent cannot be read"),
    ("replay folder", "folder holds no log (*.fuzzlog). Make one with: fuzzwise record"),
    ("replay text", "text is not a log: it has no readable header"),
    ("replay records", "is not a log: it has no readable header"),
    ("replay --synthetic 0", "0 is not in the range"),
    ("replay --synthetic 3 --scheduler risk-rat", "Did you mean 'risk-rate'?"),
    ("replay --synthetic 3 --budget 0", "'0' is no time at all"),
    ("replay --synthetic 3 --chart page.pdf", "give it one of these endings"),
    # estimate, simulate, evaluate
    ("estimate", "Missing argument"),
    ("estimate pipe", "pipe: is not a regular file. Give the file itself"),
    ("estimate absent", "absent: cannot be read (there is no such file or folder). Check the path"),
    ("estimate folder", "folder: cannot be read (Is a directory)"),
    ("estimate empty", "empty: holds no campaign. A snapshot file starts with a line such as"),
    ("estimate text", "text, line 1: is not valid JSON"),
    (["estimate", "esc\x1b[31mred"], "esc\\x1b[31mred, line 1: is not valid JSON"),
    ("estimate snapshots.jsonl --accept-risk 7", "7.0 is not in the range 0<x<1"),
    ("simulate --species 99999999999999999999", "is not in the range"),
    ("simulate --campaigns 0", "0 is not in the range"),
    ("simulate --chart page", "give it one of these endings"),
    ("simulate extra", "unexpected extra argument (extra)"),
    ("evaluate", "Give one source of truth"),
    ("evaluate absent", "absent: cannot be read"),
    ("evaluate snapshots.jsonl", "field truth"),
    ("evaluate --published pipe", "pipe: is not a regular file"),
    ("run wrong.toml --baseline pipe", "pipe: is not a regular file"),
    ("evaluate --published absent", "absent: cannot be read (No such file or directory)"),
    ("evaluate --published folder", "folder: cannot be read (Is a directory)"),
    ("evaluate --published binary", "binary: is not a text file in UTF-8"),
    ("evaluate --published text", "Expected the table published with the paper"),
    # the compilers
    ("engine extra", "unexpected extra argument (extra)"),
    ("doctor --extra", "No such option"),
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with everything that can be given in place of something else."""
    for name in ("folder", "damaged", "hollow", "records"):
        (tmp_path / name).mkdir()
    files = {
        "empty": b"",
        "text": b"hello\n",
        "binary": b"\x7fELF\x00\xff\xfe",
        "with space": b"x",
        "esc\x1b[31mred": b"x",
        "damaged/campaign.db": b"not a database",
        "hollow/campaign.db": b"",
        "records/x.fuzzlog": b"",
        "list.toml": b"campaign = [1]\ntarget = 3\n",
        "unbegun.toml": b"[campaign]\n",
        "wrong.toml": b'[campaign]\nbudgt = "1h"\n[[target]]\nprogram = "program"\n',
        "harness.py": b"def TestOneInput(data): pass\n",
        "ended.log": b"INFO: Seed: 1\nINFO: Running with entropic power schedule\n",
        "snapshots.jsonl": b'{"format":"fuzzwise-observations","version":1}\n'
        b'{"n":5000,"seconds":9,"species":2,"discoveries":[1,40]}\n',
        "program": b"#!/bin/sh\n# starts one with FUZZWISE_STATE\nexit 0\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "program").chmod(0o755)
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("words", "said"),
    ROWS,
    ids=[repr(row[0] if isinstance(row[0], str) else " ".join(row[0]))[:60] for row in ROWS],
)
def test_a_mistake_is_a_sentence(words, said, capsys):
    code = main(words.split() if isinstance(words, str) else words)
    told = capsys.readouterr()
    assert code == 2, told.err
    assert said in told.err
    assert told.out == ""
    assert "Traceback" not in told.err
    assert "unexpected: " not in told.err
    assert "\x1b" not in told.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("name", ["status", "watch", "run", "estimate", "record"])
def test_a_file_that_may_not_be_read_is_a_sentence(name, place, capsys):
    (place / "text").chmod(0)
    assert main([name, "text"]) == 2
    assert "Permission denied" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_the_short_word_for_help_works_everywhere(name, capsys):
    assert main([name, "-h"]) == 0
    short = capsys.readouterr().out
    assert main([name, "--help"]) == 0
    assert capsys.readouterr().out == short
    assert main(["help", name]) == 0
    assert capsys.readouterr().out == short
    assert short.startswith(f"Usage: fuzzwise {name}")
