"""Where things are in the folder of a campaign."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.registry import engine_named
from fuzzwise.store.contract import BugFound
from fuzzwise.triage.bug_book import REPORT, Bug
from fuzzwise.triage.examine import shell_line

TARGETS = "targets"


def target_folder(folder: Path, name: str) -> Path:
    """The folder of a target."""
    return folder / TARGETS / name


def bug_found(folder: Path, home: Path, plan: TargetPlan, bug: Bug) -> BugFound:
    """A bug of a target, as the campaign tells it: where its files are, and how to see it again.

    ``home`` is the folder of the target, in that of the campaign. Of several builds, the first that
    has shown the bug tells.
    """
    for build in plan.builds:
        if (home / build.name / "crashes" / bug.id).is_dir():
            return bug_found(folder, home / build.name, build, bug)
    plan = plan.parts[0]
    crashes = home.relative_to(folder) / "crashes"
    report = str(crashes / bug.id / REPORT)
    inputs = tuple(str(crashes / name) for name in bug.inputs)
    command = ""
    if inputs:
        words = plan.surroundings.before(engine_named(plan.engine).one_input(plan))
        command = shell_line(words, folder / inputs[0])
    return BugFound(bug, report, inputs, command)
