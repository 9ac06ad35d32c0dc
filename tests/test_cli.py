"""The commands as a user runs them: real processes, real files, what they print and return."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import commands
from fuzzwise.cli import COMMANDS


def fuzzwise(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return commands.fuzzwise(*words, cwd=cwd, env={**os.environ, "COLUMNS": "200"})


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("snapshots") / "urn.jsonl"
    result = fuzzwise(
        "simulate", "--campaigns", 4, "--inputs", 5000, "--seed", 7, "--snapshots", path
    )
    assert result.returncode == 0, result.stderr
    return path


def test_help_lists_every_command_and_loads_none_of_them():
    result = fuzzwise("--help")
    assert result.returncode == 0
    for name in COMMANDS:
        assert name in result.stdout
    script = (
        "import sys; sys.argv = ['fuzzwise', '--help']\n"
        "from fuzzwise.cli import main; main()\n"
        "print(sorted({'click', 'numpy', 'scipy', 'rich', 'numba'} & set(sys.modules)))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name):
    result = fuzzwise(name, "--help")
    assert result.returncode == 0
    assert f"Usage: fuzzwise {name}" in result.stdout
    assert ("--json" in result.stdout) == (
        name not in ("build", "cc", "cxx", "engine", "fleet", "worker")
    )


def test_version_and_usage():
    assert fuzzwise("--version").stdout.startswith("fuzzwise 0.")
    nothing = fuzzwise()
    assert nothing.returncode == 2
    wrong = fuzzwise("simulte")
    assert wrong.returncode == 2
    assert "Did you mean 'simulate'?" in wrong.stderr


def test_estimate_shows_every_estimator_side_by_side(snapshots):
    result = fuzzwise("estimate", snapshots)
    assert result.returncode == 0
    for name in ("recent-rate (default)", "good-turing", "mean-local-good-turing", "extrapolation"):
        assert result.stdout.count(name) >= 4
    assert "95% interval" in result.stdout
    assert "Chao2" in result.stdout
    assert "\x1b" not in result.stdout


def test_estimate_as_json_has_the_documented_keys(snapshots):
    result = fuzzwise("estimate", snapshots, "--json", "--accept-risk", "1e-5")
    document = json.loads(result.stdout)
    assert len(document["campaigns"]) == 4
    first = document["campaigns"][0]
    assert first["inputs"] == 5000
    assert set(first["risk"]) >= {"value", "low", "high", "confidence", "method", "n"}
    assert first["risk"] == first["estimates"]["recent-rate"]
    assert first["risk"]["low"] <= first["risk"]["value"] <= first["risk"]["high"]
    assert first["inputs_left"]["value"] is None, "more than 100 times the inputs so far"
    assert first["inputs_left"]["low"] > 10 * 5000
    assert first["seconds_left"] is None
    assert first["stopped"] is None
    assert {"corpus", "species", "discoveries", "richness", "reach"} <= set(first)


def test_estimate_says_when_to_stop_and_why(tmp_path):
    path = tmp_path / "quiet.jsonl"
    path.write_text(
        '{"format":"fuzzwise-observations","version":1,"campaign":"quiet"}\n'
        '{"n":3200000,"seconds":640,"species":7,"discoveries":[2,50]}\n'
    )
    shown = fuzzwise("estimate", path, "--accept-risk", "1e-4")
    assert "Stop: The probability that the next input shows anything new is at most" in shown.stdout
    document = json.loads(fuzzwise("estimate", path, "--accept-risk", "1e-4", "--json").stdout)
    assert document["campaigns"][0]["stopped"]["reason"] == "accepted-risk"
    more = fuzzwise("estimate", path, "--accept-risk", "1e-7").stdout
    assert "Go on:" in more
    assert "at the present speed at least" in more
    assert "needs the incidence counts" in more


def test_estimate_warns_of_an_unfinished_line_and_goes_on(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(
        '{"format":"fuzzwise-observations","version":1}\n{"n":5,"discoveries":[1]}\n{"n":9,"dis'
    )
    result = fuzzwise("estimate", path)
    assert result.returncode == 0
    assert "log.jsonl, line 3: incomplete last line left out" in result.stderr
    assert "5 inputs" in result.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"n":3}\n', "line 1: format: is missing"),
        ('{"format":"fuzzwise-observations","version":1}\n', "no observation to estimate from"),
        ('{"format":"fuzzwise-observations","version":1}\n{"n":-1}\n', "line 2: n: is -1"),
        ("\x00\x01\x02", "line 1"),
    ],
)
def test_bad_snapshots_get_a_sentence_and_exit_code_2(tmp_path, content, message):
    path = tmp_path / "bad.jsonl"
    path.write_text(content)
    result = fuzzwise("estimate", path)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_a_missing_file_and_a_folder_are_bad_input(tmp_path):
    for path in (tmp_path / "absent.jsonl", tmp_path):
        result = fuzzwise("estimate", path)
        assert result.returncode == 2
        assert "cannot be read" in result.stderr


def test_output_that_nobody_reads_is_no_error(snapshots):
    command = f"{sys.executable} -m fuzzwise estimate {snapshots} | head -1"
    result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert result.stdout.startswith("greybox-1")
    assert result.stderr == ""


def test_simulate_is_repeatable_from_its_seed():
    words = ("simulate", "--campaigns", 5, "--inputs", 2000, "--json", "--seed")
    first, again, other = (fuzzwise(*words, seed).stdout for seed in (1, 1, 2))
    assert first == again
    assert first != other
    document = json.loads(first)
    modes = document["modes"]
    assert {"r2", "slope", "points", "median_inputs_to_bug"} <= set(modes["greybox"])
    last = modes["blackbox"]["points"][-1]
    assert last["n"] == 2000
    assert last["low"] <= last["discovery_probability"] <= last["high"]
    bias = document["adaptive_bias"][-1]
    grey = modes["greybox"]["points"][-1]["discovery_probability"]
    assert bias["difference"] == pytest.approx(grey - last["discovery_probability"])


@pytest.mark.parametrize("words", [("--species", 1), ("--species", 3, "--inputs", 1)])
def test_simulate_the_smallest_urns(words):
    result = fuzzwise("simulate", "--campaigns", 1, *words)
    assert result.returncode == 0, result.stderr
    assert "nan" not in result.stdout


def test_simulate_refuses_a_bug_that_does_not_exist():
    result = fuzzwise("simulate", "--species", 10, "--bug", 11)
    assert result.returncode == 2
    assert "Species 11 does not exist" in result.stderr


@pytest.mark.parametrize("kind", ["html", "svg", "png"])
def test_charts_are_whole_files_of_their_kind(tmp_path, kind):
    path = tmp_path / "charts" / f"urn.{kind}"
    result = fuzzwise("simulate", "--campaigns", 3, "--inputs", 2000, "--chart", path)
    assert result.returncode == 0, result.stderr
    data = path.read_bytes()
    starts = {"html": b"<!DOCTYPE html>", "svg": b"<svg", "png": b"\x89PNG"}
    assert data.lstrip().startswith(starts[kind])
    if kind == "svg":
        for words in (b"discovery probability", b"species seen", b"adaptive bias", b"blackbox"):
            assert words in data
    if kind == "html":
        assert b'src="http' not in data  # self-contained: nothing is fetched
        assert b"vegaEmbed" in data
    assert list(path.parent.iterdir()) == [path]


def test_a_chart_of_unknown_kind_is_refused_before_any_work(tmp_path):
    result = fuzzwise("simulate", "--chart", tmp_path / "urn.pdf")
    assert result.returncode == 2
    assert ".html, .svg, .png" in result.stderr
    assert result.stdout == ""


def test_a_chart_that_cannot_be_written_is_an_error(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    result = fuzzwise("simulate", "--campaigns", 1, "--inputs", 100, "--chart", blocked / "x.svg")
    assert result.returncode == 2
    assert "cannot be written" in result.stderr


def test_evaluate_own_logs(snapshots, tmp_path):
    chart = tmp_path / "scores.svg"
    result = fuzzwise("evaluate", snapshots, "--chart", chart)
    assert result.returncode == 0, result.stderr
    assert "4 campaigns" in result.stdout
    assert "mean-local-good-turing" in result.stdout
    assert b"mean bias" in chart.read_bytes()
    document = json.loads(fuzzwise("evaluate", snapshots, "--json").stdout)
    urn = document["subjects"]["urn"]
    assert urn["bias"]["mean-local-good-turing"] > 1
    assert urn["coverage"]["laplace"] is None
    assert len(document["points"]) > 100


def test_evaluate_simulated_campaigns():
    result = fuzzwise("evaluate", "--simulated", 20, "--json")
    urn = json.loads(result.stdout)["subjects"]["urn"]
    assert urn["under"]["laplace"] == 1.0
    assert 0.8 <= urn["coverage"]["recent-rate"] <= 1


def test_evaluate_published_measurements(published_table, tmp_path):
    chart = tmp_path / "published.svg"
    result = fuzzwise("evaluate", "--published", published_table, "--json", "--chart", chart)
    document = json.loads(result.stdout)
    assert set(document["subjects"]) == {"freetype", "json", "libcap", "libpng", "libxml", "zlib"}
    assert document["mean_r2"] == pytest.approx(0.9268, abs=5e-5)
    zlib = document["subjects"]["zlib"]
    assert {"r2", "slope", "bias", "variance"} <= set(zlib)
    assert zlib["r2"] == pytest.approx(0.9755, abs=5e-5)
    assert zlib["bias"]["good-turing"] < -1
    drawn = chart.read_text()
    for name in document["subjects"]:
        assert name in drawn
    shown = fuzzwise("evaluate", "--published", published_table).stdout
    assert "0.9268" in shown
    assert "RQ1" in shown
    assert "RQ2" in shown


def test_evaluate_needs_one_source_of_truth(snapshots):
    for words in ((), (snapshots, "--simulated", 3)):
        result = fuzzwise("evaluate", *words)
        assert result.returncode == 2
        assert "one source of truth" in result.stderr


def test_evaluate_logs_without_truth(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(
        '{"format":"fuzzwise-observations","version":1}\n{"n":5000,"discoveries":[1]}\n'
    )
    result = fuzzwise("evaluate", path)
    assert result.returncode == 2
    assert "field truth" in result.stderr
