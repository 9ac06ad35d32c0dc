"""``fuzzwise serve`` and ``run --serve`` as commands: what they print, and how they end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from urllib.error import URLError
from urllib.request import urlopen

import pytest

pytest.importorskip("starlette")

from campaign_files import Campaign, program
from fuzzwise.cli import main
from serving import Serving, wait_for
from stored import begun, epoch, turn
from waiting import PATIENCE


@pytest.fixture
def campaign(tmp_path):
    folder = tmp_path / "out"
    with begun(folder, "a") as store:
        epoch(store, 1.0, "a", turn(10))
    return folder


def is_there(link: str) -> bool:
    try:
        with urlopen(link) as answer:
            return answer.status == 200
    except URLError:
        return False


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_page_ends_when_it_is_told_to_also_with_readers(campaign, end):
    words = [sys.executable, "-m", "fuzzwise", "serve", str(campaign), "--port", "0", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        said = b""
        while not said.rstrip().endswith(b"}"):
            said += process.stdout.readline()
        link = json.loads(said)["link"]
        assert is_there(link)
        with urlopen(f"{link}c/out/events?page=overview") as events:
            assert events.readline() == b"retry: 2000\n"
            process.send_signal(end)
            rest = events.read()
        assert b"event: bye" in rest
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""


def test_a_page_runs_beside_its_campaign_and_ends_with_it(tmp_path):
    made = Campaign(tmp_path)
    made.black_box("parser", program("blackbox_parser.c"), b"abcd")
    process = made.start(600, "--serve", "--quiet", PYTHONUNBUFFERED="1")
    threading.Thread(target=process.stdout.read, daemon=True).start()
    try:
        link = re.search(r"http://\S+", process.stderr.readline())[0]
        wait_for(lambda: b"parser" in urlopen(link).read())
        process.kill()  # it can say nothing any more, and the page ends all the same
        wait_for(lambda: not is_there(link))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "192.0.2.1", "--port", "9"], "192.0.2.1, port 9: nobody can listen there"),
        (["--host", "no such host"], "nobody can listen there"),
        (["--token-file", "nothing"], "nothing: cannot be read"),
        (["--token-file", "short"], "short: a token has at least 16 plain characters"),
        (["--token-file", "spaced"], "spaced: a token has at least 16 plain characters"),
        (["--time", "soon"], "soon"),
        (["--port", "99999"], "99999"),
    ],
)
def test_what_cannot_be_is_a_sentence(words, said, campaign, monkeypatch, capsys):
    monkeypatch.chdir(campaign)
    (campaign / "short").write_text("short\n")
    (campaign / "spaced").write_text("a token with spaces in it\n")
    assert main(["serve", str(campaign), *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("module", ["starlette", "uvicorn", "prometheus_client"])
def test_without_the_extra_it_says_what_to_install(module, campaign, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, module, None)
    assert main(["serve", str(campaign), "--port", "0"]) == 2
    assert "pip install 'fuzzwise[serve]'" in capsys.readouterr().err


def test_a_port_that_is_taken_is_a_sentence(campaign, capsys):
    with Serving([campaign]) as served:
        assert main(["serve", str(campaign), "--port", str(served.port)]) == 2
    assert "Address already in use" in capsys.readouterr().err


def test_beyond_this_machine_there_is_a_token_in_the_link(campaign, capsys, monkeypatch):
    monkeypatch.delenv("FUZZWISE_TOKEN", raising=False)
    briefly = ["--port", "0", "--time", "100ms"]
    assert main(["serve", str(campaign), "--host", "0.0.0.0", *briefly]) == 0
    assert re.search(r"http://\S+/#token=[\w-]{40,}$", capsys.readouterr().out.strip())
    monkeypatch.setenv("FUZZWISE_TOKEN", "mine-and-long-enough")
    assert main(["serve", str(campaign), *briefly]) == 0
    assert "#token=mine-and-long-enough" in capsys.readouterr().out
    assert "FUZZWISE_TOKEN" in os.environ
