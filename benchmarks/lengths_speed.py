"""Features in equal time on a core: inputs as long as the corpus says, against libFuzzer's ramp.

Run ``python benchmarks/lengths_speed.py NAME…``: pairs of runs on real libraries, the same schedule and the
same random seed, each ended by the time that it has had on a core, so that a busy machine does not
matter.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from fuzzwise.engines.contract import SCHEDULES
from fuzzwise.engines.observer.state import State
from real import DEFAULT_WORK, chosen, starting_corpus, target
from subjects import Subject

RAMP, DRAWN = 100, 0
"""What -len_control is in each."""


def main() -> None:
    """Run the pairs; a line for each, and their geometric mean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    logs = []
    for repeat in range(1, options.repeats + 1):
        for subject in chosen(options.names):
            ramp, drawn = (
                _features(subject, options.work, repeat, options.seconds, control)
                for control in (RAMP, DRAWN)
            )
            logs.append(math.log(drawn / ramp))
            print(f"{subject.name} {repeat}: {drawn / ramp:.3f} ({drawn:,} {ramp:,})", flush=True)
    print(f"geometric mean: {math.exp(sum(logs) / len(logs)):.3f}")


def _features(subject: Subject, work: Path, seed: int, seconds: int, control: int) -> int:
    """Features that a run has shown when its time was over."""
    with tempfile.TemporaryDirectory() as folder:
        state, found = Path(folder) / "state", Path(folder) / "found"
        state.mkdir()
        found.mkdir()
        variables = {
            "FUZZWISE_STATE": str(state),
            "FUZZWISE_SCHEDULE": str(SCHEDULES.index("fresh")),
            "FUZZWISE_LENGTHS": str(int(control == DRAWN)),
        }
        options = [f"-seed={seed}", f"-len_control={control}", "-verbosity=0", "-detect_leaks=0"]
        options += ["-reduce_inputs=0", f"-artifact_prefix={found}/"]
        corpora = [str(found), str(starting_corpus(subject, work).resolve())]
        subprocess.run(
            [str(target(subject, work, stock=False)), *options, *corpora],
            env={**os.environ, **variables},
            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_CPU, (seconds, seconds + 1)),
            capture_output=True,
            cwd=folder,
            check=False,
        )
        return int(State(state).head.species)


if __name__ == "__main__":
    main()
