"""``fuzzwise doctor``: what is on this machine, and which engine a program is for."""

from __future__ import annotations

from pathlib import Path

import click

from fuzzwise.cli import BAD_USAGE, options, output
from fuzzwise.doctor import Part, Recognised, look, recognised
from fuzzwise.report import lines
from fuzzwise.text import printable


@click.command()
@click.argument("programs", nargs=-1, type=click.Path(path_type=Path))
@options.as_json
def command(programs: tuple[Path, ...], as_json: bool) -> None:
    """Look for the compilers, fuzzers and tools that fuzzwise works with.

    With PROGRAMS, say of each which engine would fuzz it, from what is in its file; a script may be
    asked for its options. Nothing is changed. What is missing is needed only for what stands behind
    it. The exit code is 2 if anything is missing, or a program is for no engine.
    """
    if programs:
        _show_programs([recognised(program) for program in programs], as_json)
        return
    _show_parts(list(look()), as_json)


def _show_programs(found: list[Recognised], as_json: bool) -> None:
    if as_json:
        output.print_json(
            {
                "programs": [
                    {
                        "path": str(each.program),
                        "engine": each.engine or None,
                        "problem": each.problem or None,
                    }
                    for each in found
                ]
            }
        )
    else:
        for each in found:
            said = each.problem or f"{each.program}: engine {each.engine}, {each.means}"
            lines.say(printable(said), hang=2)
    if any(each.problem for each in found):
        raise click.exceptions.Exit(BAD_USAGE)


def _show_parts(parts: list[Part], as_json: bool) -> None:
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
