"""Where time goes best on real targets without bugs: recorded, replayed and live, in docs/spend-study.md.

Run ``make spend-study`` on a machine that does nothing else: it fetches and builds some twenty targets,
records how each grows alone (two minutes, two repeats: an hour and a half on one core), replays every
scheduler on that, and writes the page. It goes on from where it was stopped. ``--live 2`` has two pairs
of live campaigns on each half, too, with the default and with Round-Robin side by side, three minutes a
pair, on two cores; ``--only-replay`` takes what is recorded. ``--time 600 --repeats 3`` records longer.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from fuzzwise.lab.growth.recording import GrowthRecording, growth_files, read_growth
from spend_live import kept_campaigns, live_campaigns
from spend_page import page
from spend_targets import EPOCH, WHAT, campaign_file

STEP = EPOCH / 8
NEARLY = 5.0
"""Seconds that a repeat may lack; what is shorter is still being recorded."""


def main() -> None:
    """Record what is missing, replay, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("spend-work"))
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--time", type=int, default=120, help="seconds of each repeat")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--live", type=int, default=0, metavar="PAIRS")
    parser.add_argument("--only-replay", action="store_true")
    options = parser.parse_args()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    if not options.only_replay:
        _record(work, options.time, options.repeats)
    live_campaigns(work, options.live)
    runs = kept_campaigns(work)
    files = growth_files([work / "recorded"])
    recordings = {risk: _whole(files, risk, options.time) for risk in (None, 1e-3, 1e-4)}
    (options.out / "spend-study.md").write_text(page(recordings, runs, options.time), "utf-8")


def _record(work: Path, seconds: int, repeats: int) -> None:
    """By the command that anybody would use; it goes on where it ended."""
    file = campaign_file(work, tuple(sorted(WHAT)), cores=1)
    words = ["--time", f"{seconds}s", "--repeats", str(repeats), "--cores", "1"]
    out = ["--out", str(work / "recorded")]
    subprocess.run(
        [sys.executable, "-m", "fuzzwise", "record", str(file), *words, *out], check=True
    )


def _whole(files: list[Path], risk: float | None, seconds: int) -> GrowthRecording:
    """The repeats that are whole."""
    read = read_growth(files, accepted_risk=risk, step=STEP)
    kept = {
        name: tuple(one for one in many if (one.table.shape[1] - 1) * STEP >= seconds - NEARLY)
        for name, many in zip(read.targets, read.repeats, strict=True)
    }
    kept = {name: kept[name] for name in sorted(kept) if kept[name]}
    return GrowthRecording(tuple(kept), tuple(kept.values()), read.bugs, STEP)


if __name__ == "__main__":
    main()
