"""``fuzzwise doctor``: what is on this machine, and how to get what is missing."""

from __future__ import annotations

import click

from fuzzwise.cli import BAD_USAGE, options, output
from fuzzwise.doctor import look
from fuzzwise.report import lines


@click.command()
@options.as_json
def command(as_json: bool) -> None:
    """Look for the compilers, fuzzers and tools that fuzzwise works with.

    Nothing is changed. What is missing is needed only for what stands behind it. The exit code is
    2 if anything is missing.
    """
    parts = list(look())
    if as_json:
        output.print_json(
            {
                "parts": [
                    {
                        "name": part.name,
                        "used_for": part.used_for,
                        "found": part.found or None,
                        "missing": part.missing or None,
                    }
                    for part in parts
                ]
            }
        )
    else:
        width = max(len(part.name) for part in parts)
        for part in parts:
            state = f"found: {part.found}" if part.found else "MISSING"
            lines.say(f"{part.name:<{width}}  {state}", hang=width + 2)
            if part.missing:
                lines.say(f"{'':<{width}}  Needed for: {part.used_for}. {part.missing}")
    if any(part.missing for part in parts):
        raise click.exceptions.Exit(BAD_USAGE)
