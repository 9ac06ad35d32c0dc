"""Runs turns of a session for ever, to be killed: PROGRAM SEED_FILE TOKEN FOLDER."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fuzzwise.engines.blackbox import Mutation
from fuzzwise.engines.blackbox.session import BlackBoxSession
from fuzzwise.engines.blackbox.settings import BlackBoxSettings
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.triage.workers import Workers

MUTATION = Mutation(ratio=(0.001, 0.05))
SEED = 5


def plan(program: Path, seed_file: Path, token: str) -> TargetPlan:
    """The same in the process that is killed and in the test."""
    command = (str(program), "@@", token)
    return TargetPlan(
        "target", "black-box", command, (seed_file,), settings=BlackBoxSettings(mutation=MUTATION)
    )


def main() -> None:
    program, seed_file, token, folder = sys.argv[1:]
    with Workers(1) as workers:
        what = plan(Path(program), Path(seed_file), token)
        session = BlackBoxSession(what, Path(folder), SEED, workers)
        print("ready", flush=True)
        while True:
            told = session.turn(0.3, 1)
            bugs = [bug.id for bug in told.bugs]
            print(json.dumps([told.generation, told.observation.n, bugs]), flush=True)


if __name__ == "__main__":
    main()
