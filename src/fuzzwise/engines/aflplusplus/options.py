"""Options of afl-fuzz in a campaign file: which there may be, and what to write instead."""

from __future__ import annotations

from fuzzwise.config.table import Table, shown

MOST_BYTES = 1 << 20
"""The longest input that AFL++ makes."""

_OURS = "remove it: fuzzwise sets it itself"
_NOT_FUZZING = "remove it: it makes afl-fuzz do something else than fuzz"
_ONE = "remove it: a target of a campaign is one afl-fuzz"
_HOW_LONG = "remove it: the campaign decides how long a target runs"
_ELSEWHERE = {
    "-i": "write corpus = … instead",
    "-x": "write dictionary = … instead",
    "-m": "write memory_mib into [target.limits]",
    "-G": "write max_length = … instead",
    **dict.fromkeys(("-o", "-b", "-T"), _OURS),
    **dict.fromkeys(("-V", "-E"), _HOW_LONG),
    **dict.fromkeys(("-M", "-S", "-F"), _ONE),
    **dict.fromkeys(("-C", "-h", "-n"), _NOT_FUZZING),
}
"""Options that fuzzwise sets, or that a target cannot have, with what to do instead."""


def read_options(table: Table) -> tuple[str, ...]:
    """The words of the key ``options``, for afl-fuzz."""
    kept = []
    for word in table.texts("options", ()):
        if "\0" in word or word in ("", "--"):
            table.problem("options", f"has {shown(word)}; expected one such as '-p' or 'explore'.")
        elif remedy := _ELSEWHERE.get(word[:2]) if word.startswith("-") else None:
            table.problem("options", f"has {shown(word)}; {remedy}.")
        else:
            kept.append(word)
    return tuple(kept)
