"""Metrics: what they say of a store, that they are documented, and that Prometheus takes them."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

pytest.importorskip("prometheus_client")

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parsed_open
from prometheus_client.parser import text_string_to_metric_families as parsed

from campaign_files import Campaign, program
from fuzzwise.programs import find
from reading import read_state
from serving import Serving, wait_for
from stored import begun, epoch, found, turn

DOCS = Path(__file__).parents[1] / "docs"
MAY_BE_NONE = ("left_seconds", "> 0")
"""In queries to which a campaign of two seconds may have no answer."""
OPEN = "application/openmetrics-text; version=1.0.0"


@pytest.fixture
def told(tmp_path):
    """A campaign and what its metrics are, by name and labels."""
    with begun(tmp_path, "a", "b") as store:
        epoch(store, 3.0, "a", turn(200, found("one")))
        store.set_state("b", "broken", "no-inputs", "It does not start.")
        store.tick(7.0)
        with Serving([tmp_path]) as served:
            text = served.get("/metrics").text
            assert list(parsed_open(served.get("/metrics", {"Accept": OPEN}).text))
        return read_state(tmp_path), text


def samples(text):
    return {
        (sample.name, *(sample.labels[key] for key in sorted(sample.labels) if key != "campaign")):
        sample.value
        for family in parsed(text)
        for sample in family.samples
    }  # fmt: skip


def test_metrics_say_what_the_store_does(told):
    state, text = told
    value, target = samples(text), state.targets[0]
    assert value["fuzzwise_campaign_seconds_total",] == state.seconds == 7.0
    assert value["fuzzwise_campaign_bugs",] == 1
    assert value["fuzzwise_campaign_manager_cpu_seconds_total",] == state.own_seconds > 0
    assert value["fuzzwise_target_inputs_total", "a"] == target.inputs == 200
    assert value["fuzzwise_target_core_seconds_total", "a"] == target.seconds
    assert value["fuzzwise_target_discoveries", "a"] == target.discoveries
    assert math.isclose(value["fuzzwise_target_risk_ratio", "a"], target.risk.value)
    assert math.isclose(value["fuzzwise_target_risk_upper_ratio", "a"], target.risk.high)
    assert value["fuzzwise_target_accepted_risk_ratio", "a"] == 1e-4
    assert value["fuzzwise_target_left_seconds", "a"] == target.seconds_to_decision
    assert value["fuzzwise_target_state", "broken", "b"] == 1
    assert value["fuzzwise_target_state", "retired", "b"] == 0
    assert ("fuzzwise_target_risk_ratio", "b") not in value, "what is not known has no sample"


def test_every_metric_is_documented_and_no_other(told):
    page = (DOCS / "metrics.md").read_text()
    documented = set(re.findall(r"^\| `(fuzzwise_\w+)`", page, flags=re.MULTILINE))
    assert documented == {sample[0] for sample in samples(told[1])}


def test_names_keep_to_the_conventions(told):
    for family in parsed(told[1]):
        for sample in family.samples:
            assert sample.name.endswith("_total") == (family.type == "counter"), sample.name
        assert family.documentation.endswith("."), family.name


def queries():
    board = json.loads((DOCS / "grafana.json").read_text())
    listed = [
        re.sub(r"label_values\((.*), *\w+\)", r"\1", variable["query"]["query"])
        for variable in board["templating"]["list"]
        if variable["type"] == "query"
    ]
    shown = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    return [query.replace("$campaign", ".*") for query in (*listed, *shown)]


def test_prometheus_answers_every_query_of_the_dashboard(tmp_path):
    """A real one, fed by a real campaign."""
    server = find("prometheus") or Path(sys.executable).with_name("prometheus")
    if not server.is_file():
        pytest.skip("prometheus is not installed (apt-get install prometheus)")
    campaign = Campaign(tmp_path, {"accepted_risk": "1e-9"})
    campaign.black_box("parser", program("blackbox_parser.c"), b"abcd")
    campaign.run_a_while("--quiet")
    with Serving([campaign.folder]) as served:
        there = f"[{{targets: ['127.0.0.1:{served.port}']}}]"
        job = f"{{job_name: fuzzwise, scrape_interval: 1s, static_configs: {there}}}"
        (tmp_path / "prometheus.yml").write_text(f"scrape_configs: [{job}]\n")
        with Serving([campaign.folder]) as free:  # a port that is free in a moment
            port = free.port
        words = [str(server), f"--config.file={tmp_path}/prometheus.yml"]
        words += [f"--storage.tsdb.path={tmp_path}/data", f"--web.listen-address=127.0.0.1:{port}"]
        running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for query in queries():
                wait_for(lambda query=query: _answer(port, query))
        finally:
            running.kill()
            running.wait()


def _answer(port, query):
    try:
        with urlopen(f"http://127.0.0.1:{port}/api/v1/query?{urlencode({'query': query})}") as said:
            answer = json.load(said)
    except HTTPError as error:
        if error.code != 503:  # it has just started
            raise
        return False
    except OSError:
        return False
    assert answer["status"] == "success", (query, answer)
    return answer["data"]["result"] or (any(word in query for word in MAY_BE_NONE) and "none")
