"""One [[target]] of a campaign file: what all have, and the reader of its engine for the rest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fuzzwise.campaign.afl_table import is_made_for_afl, read_afl
from fuzzwise.campaign.black_box_table import read_black_box
from fuzzwise.campaign.libfuzzer_table import read_libfuzzer
from fuzzwise.campaign.plan import AFL, BLACK_BOX, LIBFUZZER, PYTHON, SHARES, TargetPlan
from fuzzwise.campaign.python_table import read_python
from fuzzwise.campaign.target_common import EXPECTED_NAME, Common, is_name
from fuzzwise.campaign.target_files import find_sources, flags_from
from fuzzwise.engines.python.launch import SUFFIX
from fuzzwise.settings import Table, shown

MOST_JOBS = 64

_READERS: dict[str, Callable[[Table, Common], list[TargetPlan]]] = {
    LIBFUZZER: read_libfuzzer,
    BLACK_BOX: read_black_box,
    PYTHON: read_python,
    AFL: read_afl,
}


def read_targets(
    table: Table, home: Path, out: Path, cores: int, accepted_risk: float | None
) -> list[TargetPlan]:
    """The targets of a [[target]]: one, or one for each seed of a black box.

    ``home`` is where the file is, ``out`` the campaign's folder. Where something is wrong, the
    table has the problem, and the list may be empty.
    """
    engine = table.choice("engine", tuple(_READERS), _likely_engine(table, home))
    name = table.text("name", "", EXPECTED_NAME)
    share = table.choice("share", tuple(SHARES), "medium")
    jobs = table.whole("jobs", 1, 1, MOST_JOBS)
    accepted_risk = table.probability("accepted_risk", accepted_risk)
    if jobs > cores:
        table.problem(
            "jobs",
            f"is {jobs}, but the campaign has {cores} cores; lower it, or raise campaign.cores.",
        )
    if name and not is_name(name):
        table.problem("name", f"is {shown(name)}; expected {EXPECTED_NAME}.")
    sources = find_sources(table, home)
    flags = flags_from(table, home)
    if table.has("flags") and not table.has("sources"):
        table.problem("flags", "are given without sources; add sources, or remove flags.")
    common = Common(home, out, name, share, jobs, accepted_risk, sources, flags)
    targets = _READERS[engine](table, common)
    table.finish()
    return targets


def _likely_engine(table: Table, home: Path) -> str:
    """The engine where the table names none."""
    if is_made_for_afl(table, home):
        return AFL
    if table.has("command"):
        return BLACK_BOX
    return PYTHON if table.ends_with("program", SUFFIX) else LIBFUZZER
