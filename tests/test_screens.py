"""Every command on real terminals of 60, 80 and 120 columns: what is read, and what is not lost."""

from __future__ import annotations

import fcntl
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from rich.cells import cell_len

import screens
from fuzzwise.cli import COMMANDS

WIDTHS = (60, 80, 120)
OWN = {"Not", "shown", "for", "want", "of", "width:", "\\", "…"}
"""Words that only a terminal gets: what is left out is said."""


Shown = Callable[[int | None], dict[str, list[str]]]


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory, testrun_uid: str) -> Shown:
    """What each command prints at a width, made by whichever process needs it first."""
    place = tmp_path_factory.getbasetemp().parent

    @cache
    def at(columns: int | None) -> dict[str, list[str]]:
        kept = place / f"screens-{testrun_uid}-{columns}.json"
        with Path(f"{kept}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not kept.exists():
                kept.write_text(json.dumps(screens.screens(columns)))
        found: dict[str, list[str]] = json.loads(kept.read_text())
        return found

    return at


def words(lines: list[str]) -> set[str]:
    """All words, without lines and bars, and without the points behind a list of columns."""
    return {word.rstrip(".,") for line in lines for word in line.split() if word.strip("─━")}


def test_every_command_that_prints_for_people_is_looked_at(shown: Shown) -> None:
    silent = {"build", "cc", "cxx", "engine"}
    said = " ".join(shown(80))
    for name in set(COMMANDS) - silent - {"status"}:
        assert name in said or name == "run"
    assert "status" in shown(80)


@pytest.mark.parametrize("columns", WIDTHS)
def test_no_line_is_wider_than_the_terminal(shown: Shown, columns: int) -> None:
    for name, lines in shown(columns).items():
        for line in lines:
            assert cell_len(line) <= columns, (name, line)


@pytest.mark.parametrize("columns", WIDTHS)
def test_no_word_is_broken_or_cut(shown: Shown, columns: int) -> None:
    for name, lines in shown(columns).items():
        whole = words(shown(None)[name]) | OWN
        strange = {word for word in words(lines) if word not in whole}
        if name == "doctor":  # says no more than what this machine has
            strange = {word for word in strange if "…" in word}
        strange -= {word for word in strange if re.fullmatch(r"[\d.,%kMs]+", word)}  # times pass
        assert not strange, (name, strange)


@pytest.mark.parametrize("columns", WIDTHS)
def test_what_matters_most_is_there_at_every_width(shown: Shown, columns: int) -> None:
    said = {name: " ".join(" ".join(lines).split()) for name, lines in shown(columns).items()}
    assert "records-of-a-picture" in said["status"]
    assert "at most" in said["status"]
    assert "the least known, after a long pause" in said["decisions"]
    assert "fixed-time/weighted-random/density" in said["replay"]
    for word in ("bugs", "interval", "area"):
        assert word in said["replay"]
    assert "heap-buffer-overflow" in said["triage"]
    assert "is at most" in said["run's view"]
    assert "recent-rate.)" in said["run's view"] or "recent-rate)." in said["run's view"]


def test_a_number_has_its_noun_and_times_their_end(shown: Shown) -> None:
    for name, lines in shown(None).items():
        text = "\n".join(lines)
        assert not re.search(r"(?<![\d.,])1 (inputs|seeds|crashes|hangs|bugs|runs|targets)\b", text)
        assert not re.search(r"\bnever\b|(?<!>)\d+y\b|about >", text), name


def test_no_call_of_the_fuzzer_and_nothing_that_waits_when_all_is_over(shown: Shown) -> None:
    assert "parse_element < LLVMFuzzerTestOneInput" in "\n".join(shown(None)["triage"])
    assert "one_input" not in "\n".join(shown(None)["triage"])
    assert "waiting" not in "\n".join(shown(None)["status"])


def test_what_does_not_fit_is_named(shown: Shown) -> None:
    said = " ".join(" ".join(shown(60)["replay"]).split())
    assert "Not shown, for want of width: " in said
    assert "optimum" in said.partition("for want of width:")[2]
    assert "Not shown" not in " ".join(shown(120)["simulate"])
