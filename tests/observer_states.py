"""Folders of campaigns under the observer as `fuzzwise fuzz` leaves them, made without a fuzzer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from fuzzwise.engines.observer.state import DISCOVERY, MAGIC, SEED, VERSION, Head

FEATURES = 4096
SEEDS = (b"first seed", b"second", b"\x00\xff third")
FOUND = (3, 40, 200, 900)


def make_state(folder: Path, inputs: int = 1000) -> Head:
    """The state of a small campaign; the head that was written."""
    folder.mkdir(parents=True, exist_ok=True)
    seeds = np.zeros(len(SEEDS), SEED)
    data = b"".join(SEEDS)
    at = 0
    for number, seed in enumerate(SEEDS):
        seeds[number]["where"], seeds[number]["size"] = at, len(seed)
        seeds[number]["inputs"] = inputs // len(SEEDS)
        at += len(seed)
    found = np.zeros(len(FOUND), DISCOVERY)
    found["input"], found["milliseconds"] = FOUND, np.array(FOUND) * 2
    head = Head(magic=MAGIC, version=VERSION, features=FEATURES, inputs=inputs, species=30)
    head.f[:] = (4, 2, 1, 0)
    head.k, head.discoveries, head.seeds, head.data_used = 3, len(FOUND), len(SEEDS), len(data)
    head.last_discovery_ms = 1800
    contents = {
        "head": bytes(head) + bytes(256),
        "features": bytes(FEATURES),
        "holder-of": bytes(4 * FEATURES),
        "seeds": seeds.tobytes(),
        "data": data,
        "discoveries": found.tobytes(),
        "holders": b"",
        "given": b"name\n",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return head


def make_campaign(out: Path) -> None:
    """The folder of a campaign: its record, its counts, a bug and a corpus."""
    make_state(out / "state")
    (out / "corpus").mkdir()
    (out / "scratch").mkdir()
    bug = out / "crashes" / "00112233445566aa"
    bug.mkdir(parents=True)
    record = {
        "id": bug.name, "kind": "SEGV", "severity": "high", "frames": ["f", "main"], "count": 3,
        "inputs": [f"{bug.name}/crash-1"], "found_at": 40, "seconds": 0.5, "summary": "it crashed",
        "file": "a.c", "line": 7, "flaky": None,
    }  # fmt: skip
    (bug / "bug.json").write_text(json.dumps(record, indent=1))
    (bug / "report.txt").write_text("==1==ERROR: AddressSanitizer: SEGV on unknown address\n")
    (bug / "crash-1").write_bytes(b"boom")
    campaign = {
        "fingerprint": "f" * 64, "settings": {"species": "feature"}, "generation": "ab" * 8,
        "target": "/bin/true", "command": ["/bin/true"], "seconds": 12.5, "inputs": 1000,
    }  # fmt: skip
    (out / "campaign.json").write_text(json.dumps(campaign, indent=1))
