"""Does an engine keep to ``fuzzwise.engines.contract``? Its functions are asked, nothing is run."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.config.table import Table
from fuzzwise.engines.contract import CommonKeys, Engine, FuzzRequest, TargetPlan
from fuzzwise.errors import BadInput
from fuzzwise.testing.broken import Contract

AN_ENGINE = Contract("An engine")
need = AN_ENGINE.need

COMMON = ("name", "engine", "share", "jobs", "accepted_risk")
"""Keys that every target has, so that they are no engine's own."""

NOWHERE = Path("/nowhere/that/fuzzwise/knows")


def check_engine(engine: Engine, *, plan: TargetPlan | None = None) -> None:
    """Hold an engine to what its fields promise; ``Broken`` where one does not keep it.

    ``plan`` is a target of it, of which its functions can tell something. What its sessions do is
    for ``check_session``.
    """
    _check_keys(engine)
    _check_claims(engine)
    _check_read_target(engine)
    with AN_ENGINE.refused("plan_fuzz", "plan_fuzz of a program that is not there"):
        engine.plan_fuzz(FuzzRequest(NOWHERE))
    _check_build_words(engine)
    if plan:
        _check_plan(engine, plan)


def _check_keys(engine: Engine) -> None:
    need(isinstance(engine.finds_coverage, bool), "finds_coverage", "it is neither True nor False.")
    keys = engine.keys
    are_names = all(isinstance(key, str) and key for key in keys)
    need(isinstance(keys, tuple) and are_names, "keys", f"{keys!r} are no tuple of names.")
    need(len(set(keys)) == len(keys), "keys", f"{keys} has a name twice.")
    taken = [key for key in keys if key in COMMON]
    need(not taken, "keys", f"{taken} are keys of all targets, and no engine's own.")


def _check_claims(engine: Engine) -> None:
    """That it can be asked about anything, also about what is not there."""
    for program in (NOWHERE, Path(), Path("/"), Path("no\0name")):
        for in_command in (False, True):
            with AN_ENGINE.without_error("claims", f"claims({program!r}, {in_command})"):
                answer = engine.claims(program, in_command)
            said = f"of {program!r} it says {answer!r}, neither True nor False."
            need(isinstance(answer, bool), "claims", said)


def _check_read_target(engine: Engine) -> None:
    """That a table which says nothing is a problem in the table, not an error."""
    problems: list[str] = []
    keys = CommonKeys(NOWHERE, NOWHERE, "checked", "t", "medium", 1, None, (), ())
    with AN_ENGINE.without_error("read_target", "read_target of an empty table"):
        found = engine.read_target(Table("target", {}, problems), keys)
    need(isinstance(found, list), "read_target", f"it gives {found!r}, no list of targets.")
    said = "an empty table gives no target, and has no problem."
    need(bool(found) or bool(problems), "read_target", said)


def _check_build_words(engine: Engine) -> None:
    if engine.build_words is None:
        return
    for cxx in (False, True):
        try:
            words = engine.build_words(["a.c", "-o", "a"], cxx)
        except BadInput:
            continue  # there is no compiler
        is_command = all(isinstance(word, str) for word in words) and "a.c" in words
        need(is_command, "build_words", f"{words!r} is no command that compiles a.c.")


def _check_plan(engine: Engine, plan: TargetPlan) -> None:
    with AN_ENGINE.without_error("one_input", "one_input"):
        words = engine.one_input(plan)
    is_command = bool(words) and all(isinstance(word, str) and word for word in words)
    need(is_command, "one_input", f"{words!r} is no command.")
    with AN_ENGINE.without_error("made_of", "made_of"):
        files = engine.made_of(plan)
    said = f"{files!r} are not the files of a target."
    need(bool(files) and all(isinstance(file, Path) for file in files), "made_of", said)
