"""Where time goes best on real targets without bugs: recorded, replayed and live, in docs/spend-study.md.

Run ``make spend-study`` on a machine that does nothing else: it fetches and builds some twenty targets,
records how each grows alone (ten minutes, three repeats: ten hours and a half on one core, less what
``datasets/growth`` has already), replays every scheduler on that, and writes the page. It goes on from
where it was stopped. ``--live 2`` has two pairs of live campaigns on each half and on fresh libraries,
too, with the default and with Round-Robin side by side, three minutes a pair, on two cores; ``--only-replay`` takes what is
recorded, ``--only-record`` ends before the page, so that several sittings can add to what is kept
(``kept_growth.py``).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from fuzzwise.lab.growth.recording import GrowthRecording, growth_files, read_growth
from kept_growth import SECONDS, unpack
from spend_live import kept_campaigns, live_campaigns
from spend_page import REPEATS, page
from spend_targets import WHAT, campaign_file

STEP = 0.25
NEARLY = 5.0
"""Seconds that a repeat may lack; what is shorter is still being recorded."""


def main() -> None:
    """Record what is missing, replay, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("spend-work"))
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--time", type=int, default=SECONDS, help="seconds of each repeat")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--cores", type=int, default=1, help="recordings at once")
    parser.add_argument("--live", type=int, default=0, metavar="PAIRS")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--only-replay", action="store_true")
    only.add_argument("--only-record", action="store_true")
    options = parser.parse_args()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    if options.time == SECONDS:
        unpack(work / "recorded")
    if not options.only_replay:
        _record(work, options)
    if options.only_record:
        return
    live_campaigns(work, options.live)
    runs = kept_campaigns(work)
    files = growth_files([work / "recorded"])
    recordings = {risk: _whole(files, risk, options.time) for risk in (None, 1e-3, 1e-4, 1e-5)}
    (options.out / "spend-study.md").write_text(page(recordings, runs, options.time), "utf-8")


def _record(work: Path, options: argparse.Namespace) -> None:
    """By the command that anybody would use; it goes on where it ended."""
    file = campaign_file(work, tuple(sorted(WHAT)), cores=1)
    words = ["--time", f"{options.time}s", "--repeats", str(options.repeats)]
    words += ["--cores", str(options.cores)]
    out = ["--out", str(work / "recorded")]
    ended = subprocess.run([sys.executable, "-m", "fuzzwise", "record", str(file), *words, *out])
    if ended.returncode:
        sys.exit(ended.returncode)


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
