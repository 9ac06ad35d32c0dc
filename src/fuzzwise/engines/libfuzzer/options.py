"""Options of libFuzzer in a campaign file: which there may be, and what to write instead."""

from __future__ import annotations

import re

from fuzzwise.config.table import Table, shown

_OPTION = re.compile(r"-([a-zA-Z0-9_]+)=(.*)")
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


def read_options(table: Table) -> tuple[str, ...]:
    """The words of the key ``options``, for libFuzzer."""
    kept = []
    for word in table.texts("options", ()):
        found = _OPTION.fullmatch(word)
        if found is None:
            table.problem("options", f"has {shown(word)}; expected one such as '-use_cmp=1'.")
        elif found[1] in _ELSEWHERE:
            table.problem("options", f"has {shown(word)}; {_ELSEWHERE[found[1]]}.")
        else:
            kept.append(word)
    return tuple(kept)
