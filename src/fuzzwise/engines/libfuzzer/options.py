"""Options of libFuzzer in a campaign file: which there may be, and what to write instead."""

from __future__ import annotations

import re

from fuzzwise.config.table import Table, shown
from fuzzwise.errors import BadInput

_OPTION = re.compile(r"-([a-zA-Z0-9_]+)=(.*)")
RANDOM = re.compile(r"random\( *(\d{1,9}) *, *(\d{1,9}) *\)")
"""A value of an option as OSS-Fuzz has them: a number from the first to the second."""

_OURS = "remove it: fuzzwise sets it itself"
_NOT_FUZZING = "remove it: it makes libFuzzer do something else than fuzz"
_HOW_LONG = "remove it: the campaign decides how long a target runs"
_ELSEWHERE = {
    "timeout": "write time into [target.limits]",
    "rss_limit_mb": "write memory_mib into [target.limits]",
    "dict": "write dictionary = … instead",
    "max_len": "write max_length = … instead",
    "seed_inputs": "write corpus = … instead",
    **dict.fromkeys(("jobs", "workers", "fork"), "write jobs = … instead"),
    **dict.fromkeys(("runs", "max_total_time"), _HOW_LONG),
    **dict.fromkeys(("seed", "artifact_prefix", "exact_artifact_path", "reduce_inputs"), _OURS),
    **dict.fromkeys(("error_exitcode", "timeout_exitcode"), _OURS),
    **dict.fromkeys(("merge", "minimize_crash", "cleanse_crash", "help"), _NOT_FUZZING),
}
"""Options that fuzzwise sets, or that a target cannot have, with what to do instead."""


_FOR_ONE = ("timeout", "rss_limit_mb", "dict", "max_len", "seed")
"""Options that are given to libFuzzer itself where there is no campaign file."""

_INSTEAD = {
    **dict.fromkeys(("jobs", "workers", "fork"), "take --jobs instead"),
    "seed_inputs": "name them as CORPUS instead",
    "runs": "take --inputs instead",
    "max_total_time": "take --time instead",
}


def instead_of(name: str) -> str:
    """What to do about an option that a campaign sets by other means, or not at all; "" for others.

    ``reload``, ``print_final_stats`` and ``verbosity`` would end the counting of stock libFuzzer.
    """
    if name in ("reload", "print_final_stats", "verbosity", "jobs", "workers", "fork"):
        return _OURS
    return _ELSEWHERE.get(name, "")


def check_options(words: tuple[str, ...]) -> None:
    """BadInput where a word of ``fuzzwise fuzz`` is no option for libFuzzer to fuzz with."""
    for word in words:
        found = _OPTION.fullmatch(word)
        if found is None:
            raise BadInput(f"--libfuzzer: {shown(word)} is none; expected one such as -use_cmp=1.")
        if found[1] in _ELSEWHERE and found[1] not in _FOR_ONE:
            instead = _INSTEAD.get(found[1], _ELSEWHERE[found[1]])
            raise BadInput(f"--libfuzzer {word}: {instead}.")


def read_options(table: Table, is_drawn: bool = False) -> tuple[str, ...]:
    """The words of the key ``options``, for libFuzzer.

    ``is_drawn``: a value random(1,100) is another number for each process.
    """
    kept = []
    for word in table.texts("options", ()):
        found = _OPTION.fullmatch(word)
        if found is None:
            table.problem("options", f"has {shown(word)}; expected one such as '-use_cmp=1'.")
        elif RANDOM.fullmatch(found[2]) and (not is_drawn or found[1] in _ELSEWHERE):
            if is_drawn and found[1] == "max_len":
                kept.append(word)  # the key of it is one number
            else:
                table.problem("options", f"has {shown(word)}; write a number.")
        elif found[1] in _ELSEWHERE:
            table.problem("options", f"has {shown(word)}; {_ELSEWHERE[found[1]]}.")
        else:
            kept.append(word)
    return tuple(kept)
