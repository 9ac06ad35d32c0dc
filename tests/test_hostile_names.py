"""Names that could write to a terminal: no command prints one as it is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fuzzwise.cli import COMMANDS, main
from fuzzwise.snapshot import FORMAT, VERSION
from fuzzwise.text import json_shown, shown

NAME = "\x1b]0;owned\x07\x9b31m\u202egnp\udce9"
"""A terminal's title, a colour in eight bits, text backwards, and a byte that is no text."""

UNSAFE = set("\x1b\x07\x9b\u202e\udce9")

CALLS = {
    "run": [[NAME], ["{folder}"]],
    "init": [[NAME], ["{folder}"], ["{campaign}"], ["{targets}", "-o", "-"], ["{targets}"]],
    "status": [[NAME]],
    "serve": [[NAME], ["{campaign}", "--host", NAME], ["{campaign}", "--token-file", NAME]],
    "report": [[NAME], ["{campaign}", "-o", f"/nowhere/{NAME}/page.html"]],
    "fuzz": [[NAME], ["/bin/true", "--out", f"/dev/null/{NAME}"], ["--python", NAME, "{harness}"]],
    "watch": [[NAME], ["{folder}"]],
    "build": [[NAME], ["{harness}", "-o", NAME]],
    "cc": [[NAME]],
    "cxx": [[NAME]],
    "engine": [[NAME]],
    "record": [[NAME]],
    "triage": [
        [NAME], ["{folder}"], ["{folder}", "--", NAME], ["{folder}", "--", "/bin/true", NAME],
        ["{crash}", "--out", NAME, "--", "/bin/sh", "-c", "kill -SEGV $$"], [f"--{NAME}", "x"],
    ],
    "replay": [[NAME], ["--scheduler", NAME, "--synthetic", "2"]],
    "estimate": [[NAME], ["{snapshots}"], ["{snapshots}", "--json"], ["{broken}"]],
    "simulate": [["--snapshots", f"/nowhere/{NAME}"], [NAME], ["--chart", NAME]],
    "evaluate": [[NAME], ["{snapshots}"], ["{snapshots}", "--json"], ["--published", NAME]],
    "fleet": [
        [NAME], ["status", NAME], ["scheduler", "--host", NAME], ["certificates", "{folder}"],
        ["certificates", "keys", "--host", NAME], ["scheduler", "--certificates", NAME],
    ],
    "worker": [[NAME, "--work", "w"], ["127.0.0.1:9", "--work", "w", "--label", NAME]],
    "doctor": [[NAME]],
}  # fmt: skip


@pytest.fixture
def made(tmp_path: Path) -> dict[str, str]:
    """Files by name: each has a hostile name, or hostile names in it."""
    home = tmp_path / NAME
    (home / NAME).mkdir(parents=True)
    (home / NAME / NAME).write_bytes(b"x")
    (home / "harness.py").write_text("def TestOneInput(data): pass\n")
    said = NAME.replace("\udce9", "")  # JSON has no such bytes
    header = {"format": FORMAT, "version": VERSION, "campaign": said, "subject": said}
    lines = [{"n": 10**k, "discoveries": [10 ** (k - 1) + 1], "f": [3, 1, 0, 0]} for k in (1, 2, 3)]
    truth = [line | {"truth": {"probability": 0.1 / line["n"]}, "species": 5} for line in lines]  # type: ignore[operator]
    (home / "one.jsonl").write_text("\n".join(map(json.dumps, [header, *truth])) + "\n")
    (home / "broken.jsonl").write_text(json.dumps({**header, said: 1}) + "\n")
    targets = tmp_path / "targets"
    (targets / said).mkdir(parents=True)
    (targets / said / f"fuzz{said}").write_text("#!/bin/sh\n# LLVMFuzzerTestOneInput\n")
    (targets / said / f"fuzz{said}").chmod(0o755)
    (targets / said / f"fuzz{said}.options").write_text(f"[{said}]\n{said}\n[env]\na={said}\n")
    return {
        "{targets}": str(targets),
        "{folder}": str(home / NAME),
        "{crash}": str(home / NAME / NAME),
        "{campaign}": str(home),
        "{harness}": str(home / "harness.py"),
        "{snapshots}": str(home / "one.jsonl"),
        "{broken}": str(home / "broken.jsonl"),
    }


@pytest.mark.parametrize(
    ("command", "words"), [(name, words) for name in COMMANDS for words in CALLS[name]]
)
def test_no_command_prints_a_hostile_name_as_it_is(
    command: str,
    words: list[str],
    made: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    main([command, *(made.get(word, word) for word in words)])
    out, err = capfd.readouterr()
    assert out + err
    if command not in ("cc", "cxx", "build"):  # the compiler speaks for itself
        assert not UNSAFE & set(out + err), ascii(out + err)


def test_json_is_printable_and_means_the_same() -> None:
    document = {"name": NAME, "lines": "a\nb\tc"}
    printed = json_shown(json.dumps(document, indent=2, ensure_ascii=False))
    assert not UNSAFE & set(printed)
    assert json.loads(printed) == document


def test_sentences_keep_their_lines() -> None:
    assert shown("one\ntwo\t\x1b") == "one\ntwo\\t\\x1b"
    assert os.fsencode(shown(NAME))


def test_a_name_in_a_chart_is_no_script(tmp_path: Path) -> None:
    alt = pytest.importorskip("altair")
    from fuzzwise.report.charts.file import save

    name = "</script><script>alert(1)</script>"
    values = alt.Data(values=[{"name": name, "runs": 1}])
    save(alt.Chart(values).mark_bar().encode(x="name:N", y="runs:Q"), tmp_path / "chart.html")
    page = (tmp_path / "chart.html").read_text()
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert "Content-Security-Policy" in page
