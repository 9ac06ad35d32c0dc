"""Bugs as SARIF 2.1.0, the format in which code hosts and editors read the findings of tools.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from fuzzwise import __version__
from fuzzwise.errors import BadInput
from fuzzwise.triage.grouping import Triage, TriagedBug
from fuzzwise.triage.text import printable

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "fuzzwise/stackHash/v1"
_LEVELS = {"jump": "error", "write": "error", "read": "error", "access": "error"}
_LEVELS |= {"resource": "note"}


def document(triage: Triage) -> dict[str, object]:
    """One run with one result a bug; the rules are the kinds of crashes."""
    kinds = sorted({bug.identity.kind for bug in triage.bugs})
    driver = {
        "name": "fuzzwise",
        "semanticVersion": __version__,
        "rules": [
            {"id": kind, "shortDescription": {"text": f"A program crashes: {kind}"}}
            for kind in kinds
        ],
    }
    results = [_result(bug, kinds.index(bug.identity.kind)) for bug in triage.bugs]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def save(triage: Triage, path: Path) -> None:
    """Write the document to a file, whole or not at all."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        partial.write_text(json.dumps(document(triage), indent=1) + "\n")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise BadInput(f"{path}: cannot be written: {error.strerror}.") from error


def _result(bug: TriagedBug, rule: int) -> dict[str, object]:
    name = printable(bug.reproducer.name)
    flaky = ", but not in every run" if bug.flaky else ""
    many = "1 input shows it" if len(bug.inputs) == 1 else f"{len(bug.inputs)} inputs show it"
    text = f"{bug.verdict.summary}. {many}; the smallest is {name}{flaky}."
    return {
        "ruleId": bug.identity.kind,
        "ruleIndex": rule,
        "level": _LEVELS.get(bug.identity.severity, "warning"),
        "message": {"text": text},
        "locations": [_location(bug)],
        "stacks": [_stack(bug.identity.frames)],
        "fingerprints": {FINGERPRINT: bug.id},
        "occurrenceCount": len(bug.inputs),
        "properties": {
            "severity": bug.identity.severity,
            "reproducer": name,
            "flaky": bug.flaky,
        },
    }


def _location(bug: TriagedBug) -> dict[str, object]:
    program = Path(bug.reproducer.command[0]).name
    frames = bug.identity.frames or (printable(program),)
    location: dict[str, object] = {"logicalLocations": _logical(frames[0])}
    if bug.verdict.file:
        place: dict[str, object] = {"artifactLocation": {"uri": _uri(bug.verdict.file)}}
        if bug.verdict.line:
            place["region"] = {"startLine": bug.verdict.line}
        location["physicalLocation"] = place
    return location


def _stack(frames: Sequence[str]) -> dict[str, object]:
    return {"frames": [{"location": {"logicalLocations": _logical(name)}} for name in frames]}


def _logical(name: str) -> list[dict[str, str]]:
    return [{"fullyQualifiedName": name, "kind": "function"}]


def _uri(file: str) -> str:
    return f"file://{quote(file)}" if file.startswith("/") else quote(file)
