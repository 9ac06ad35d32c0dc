"""How libFuzzer's lines look, in all versions since 2016 and in fork mode."""

from __future__ import annotations

import re

STATUS = re.compile(
    rb"#(?P<n>\d{1,16}+)(?:\t(?P<event>INITED|NEW|REDUCE|pulse|RELOAD|DONE)\b"
    rb"(?: ++cov: \d++ ft: (?P<ft>\d{1,16}+) corp: (?P<corp>\d{1,16}+)/\w++"
    rb"(?: lim: (?P<lim>\d{1,9}+))?+ exec/s: (?P<speed>\d{1,16}+))?+"
    rb"|: cov: \d++ ft: (?P<fork_ft>\d{1,16}+) corp: (?P<fork_corp>\d{1,16}+)(?P<more>[^\n\r]*+))"
)
"""One line. What was matched is never given back (``++``): logs are hundreds of megabytes."""

_FEATURES = re.compile(rb" ft: (\d{1,16})")
_CORPUS = re.compile(rb" corp: (\d{1,16})")
_SPEED = re.compile(rb" exec/s: (\d{1,16})")
_LINE = re.compile(rb"[^\n\r]{0,1000}")

ENDS = re.compile(rb" oom/timeout/crash: (\d{1,9})/(\d{1,9})/(\d{1,9})")
TIME = re.compile(rb" time: (\d{1,12})s")

WORDS = (
    ("fork", re.compile(rb"INFO: -fork=\d+: fuzzing in separate process")),
    ("start", re.compile(rb"INFO: Seed: \d")),
    ("done", re.compile(rb"Done (\d{1,16}) runs in (\d{1,12}) second")),
    ("units", re.compile(rb"stat::number_of_executed_units: *(\d{1,16})")),
    (
        "artifact",
        re.compile(rb"Test unit written to [^\n\r]*?(crash|leak|oom|timeout)-[0-9a-f]{40}"),
    ),
    ("jobs", re.compile(rb"=========== Job \d+ exited")),
)
"""What else libFuzzer prints that matters. Each begins with text that can be searched for fast."""

FIRST_BYTES = re.compile(
    rb"INFO: Running with entropic power schedule|INFO: Seed: \d|INFO: seed corpus: files: "
    rb"|INFO: -fork=\d+: |#\d+\t(?:INITED|NEW|REDUCE|pulse|RELOAD) +cov: \d"
    rb"|#\d+: cov: \d+ ft: \d+ corp: \d"
)
"""What a log of libFuzzer has near its start, or near its end if that was cut off."""


def loose_fields(piece: bytes, start: int, end: int) -> tuple[bytes | None, ...]:
    """Fields of a line of an old version, or of one that the target has written into."""
    line = _LINE.match(piece, start, end)
    assert line is not None
    found = (what.search(line[0]) for what in (_FEATURES, _CORPUS, _SPEED))
    return tuple(None if field is None else field[1] for field in found)


def looks_like(content: bytes) -> bool:
    """Whether a part of a file is from a log of libFuzzer."""
    return bool(FIRST_BYTES.search(content))
