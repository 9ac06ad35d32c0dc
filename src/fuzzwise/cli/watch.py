"""``fuzzwise watch``: the residual risk of a campaign that another fuzzer runs."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from fuzzwise.cli import ABOVE_THE_RISK, INTERRUPTED, options, watch_output
from fuzzwise.errors import BadInput, FuzzwiseError
from fuzzwise.text import clean
from fuzzwise.units import parse_duration
from fuzzwise.watch.follow import Follower, Look, Stopped, look_once
from fuzzwise.watch.source import Source

START = 5.0
"""Seconds that a fuzzer has to write its first lines, if it was started together with us."""
READING_SHARE = 10
"""A reading that takes long is made less often: it may take one part in so many of the time."""


@click.command()
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=click.Path(path_type=Path))
@options.accept_risk(options.MAY_STOP)
@options.confidence
@click.option("--follow", is_flag=True, help="Look again and again until it may stop.")
@click.option(
    "--every",
    metavar="TIME",
    default="2s",
    show_default=True,
    help="With --follow: time between two looks at the files.",
)
@click.option("--time", "limit", metavar="TIME", help="With --follow: give up after 90s, 15m, 4h.")
@click.option(
    "--then-stop",
    is_flag=True,
    help="Follow, and end each fuzzer cleanly when its accepted risk is reached.",
)
@options.as_json
def command(
    paths: tuple[Path, ...],
    accept_risk: float | None,
    confidence: float,
    follow: bool,
    every: str,
    limit: str | None,
    then_stop: bool,
    as_json: bool,
) -> None:
    """Say how high the risk of running campaigns is, from the files that their fuzzers write.

    PATH is an AFL++ output folder, a log of libFuzzer or `go test -fuzz`, a honggfuzz stats file, Centipede's stats, or a
    folder, a snapshot file or a campaign file of fuzzwise. Nothing is written to it, and the fuzzer does not notice.

    The exit code is 0 when the accepted risk is reached, in all campaigns, or none was given; 11
    otherwise. So a script can stop the fuzzer; docs/watch.md has one. With --json, --follow prints
    a document a line whenever something changed.
    """
    if then_stop and accept_risk is None:
        raise BadInput("--then-stop needs to know at which risk: add --accept-risk, say 1e-6.")
    if limit is not None and not (follow or then_stop):
        raise BadInput("--time limits how long to follow a campaign: add --follow.")
    seconds = parse_duration(limit) if limit is not None else None
    pause = parse_duration(every)
    try:
        if follow or then_stop:
            begun = _begun(lambda: Follower(_sources(paths), accept_risk, confidence, seconds))
            code = _follow(*begun, pause, seconds, then_stop=then_stop, as_json=as_json)
        else:
            look = look_once(_sources(paths), accept_risk, confidence)
            watch_output.report(look, as_json=as_json)
            reached = all(campaign.judged.reached for campaign in look.campaigns)
            code = 0 if accept_risk is None or reached else ABOVE_THE_RISK
    except FuzzwiseError as error:
        # The message may hold a file's name, and that anything.
        raise type(error)(clean(str(error))) from error
    if code:
        raise click.exceptions.Exit(code)


def _sources(paths: Sequence[Path]) -> list[Source]:
    from fuzzwise.watch.recognise import open_sources

    sources = open_sources(paths)
    if not sources:
        raise BadInput("There is no campaign in these files yet.")
    return sources


def _begun(begin: Callable[[], Follower]) -> tuple[Follower, Look]:
    """A follower and its first look, as soon as the files can be read."""
    deadline = time.monotonic() + START
    while True:
        try:
            follower = begin()
            return follower, follower.look()
        except BadInput:
            if time.monotonic() >= deadline:
                raise
        time.sleep(0.2)


def _follow(
    follower: Follower,
    look: Look,
    pause: float,
    limit: float | None,
    *,
    then_stop: bool,
    as_json: bool,
) -> int:
    from fuzzwise.report.watch.view import View

    endings: list[str] = []
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with View(limit, quiet=as_json) as view:
            took = 0.0
            while True:
                view.show(look)
                if then_stop:
                    endings += watch_output.endings(follower.stop_reached(look), as_json=as_json)
                if look.stopped:
                    stopped = look.stopped
                    break
                if as_json and look.news:
                    watch_output.print_line(look)
                wait = max(pause, READING_SHARE * took)
                time.sleep(wait if limit is None else min(wait, max(0.0, limit - look.seconds)))
                began = time.monotonic()
                look = follower.look()
                took = time.monotonic() - began
    except KeyboardInterrupt:
        stopped = Stopped("interrupted", "The watching was interrupted; the fuzzer goes on.")
    finally:
        signal.signal(signal.SIGTERM, before)
    watch_output.final(look, stopped, endings, as_json=as_json)
    if stopped.reason == "interrupted":
        return INTERRUPTED
    asked = look.campaigns[0].judged.judgement.accepted_risk is not None
    return ABOVE_THE_RISK if asked and stopped.reason != "accepted-risk" else 0
