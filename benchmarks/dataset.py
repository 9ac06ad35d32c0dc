"""Records the data set in datasets/: small programs of Debian and the examples, fuzzed as they are.

Run ``make dataset`` (packages are installed with apt-get; two cores for about an hour). It can be
interrupted: the same command goes on. Times differ from machine to machine, inputs do not.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import dataset_page
from dataset_programs import CONFIGURATIONS, install_packages
from dataset_seeds import make_seeds

ROOT = Path(__file__).parents[1]
EXAMPLES = ("records", "shapes", "sums")
FLAGS = ("-O1", "-g", "-fstack-protector-strong")
SECONDS = 120
TIMEOUT = 0.5
RATIO = (0.0003, 0.03)


def main() -> None:
    """Set up, record, triage, and copy the log."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("dataset-work"))
    parser.add_argument("--time", default=f"{SECONDS}s")
    options = parser.parse_args()
    work: Path = options.work.absolute()
    (work / "seeds").mkdir(parents=True, exist_ok=True)
    install_packages()
    make_seeds(work / "seeds")
    for name in EXAMPLES:
        source = ROOT / "examples" / f"{name}.c"
        subprocess.run(["cc", *FLAGS, "-o", work / name, source, "-lm"], check=True)
    for seed in (ROOT / "examples" / "seeds").iterdir():
        shutil.copy(seed, work / "seeds")
    plan = work / "plan.toml"
    plan.write_text(plan_text(options.time))
    out = work / "recording"
    fuzzwise("record", plan, "--out", out)
    fuzzwise("triage", out, "--trust-command")
    dataset_page.LOG.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(out / "triaged.fuzzlog", dataset_page.LOG)
    print(f"{dataset_page.LOG}: {dataset_page.LOG.stat().st_size:,} bytes")
    dataset_page.main()


def plan_text(time: str) -> str:
    """The file that orders the recording."""
    lines = [
        "[recording]",
        f'time = "{time}"',
        "cores = 2",
        "[mutation]",
        f"ratio = [{RATIO[0]}, {RATIO[1]}]",
        "[limits]",
        f"time = {TIMEOUT}",
        "memory_mib = 512",
    ]
    rows = [(row.name, row.command, f"seeds/{row.seed}") for row in CONFIGURATIONS]
    rows += [
        (seed.stem, f"./{name} @@", f"seeds/{seed.name}")
        for name in EXAMPLES
        for seed in sorted((ROOT / "examples" / "seeds").glob(f"{name}-*"))
    ]
    for name, command, seed in rows:
        words = (name, command, seed)
        lines.append("[[configuration]]")
        lines += [
            f"{key} = {json.dumps(word)}"
            for key, word in zip(("name", "command", "seed"), words, strict=True)
        ]
    return "\n".join(lines) + "\n"


def fuzzwise(*words: object) -> None:
    subprocess.run([sys.executable, "-m", "fuzzwise", *map(str, words)], check=True)


if __name__ == "__main__":
    main()
