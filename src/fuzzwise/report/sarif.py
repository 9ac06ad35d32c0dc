"""Bugs as SARIF 2.1.0, the format in which code hosts and editors read the findings of tools.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html

GitHub refuses a whole file for one result without a file and a line. So a bug whose place in the
sources is not known is reported at line 1 of the program that crashes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from fuzzwise import __version__
from fuzzwise.errors import BadInput
from fuzzwise.files import write_whole
from fuzzwise.report.campaign.elsewhere import Elsewhere
from fuzzwise.report.source_paths import SourcePaths
from fuzzwise.report.stacks import own_names
from fuzzwise.report.unlinked import unlinked
from fuzzwise.store.states import CampaignState
from fuzzwise.text import printable
from fuzzwise.triage.grouping import Triage

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "fuzzwise/stackHash/v1"
GITHUB_FINGERPRINT = "primaryLocationLineHash"
"""What GitHub tells alerts apart by; without it, by the text of the line they are at."""

_LEVELS = {"jump": "error", "write": "error", "read": "error", "access": "error"}
_LEVELS |= {"resource": "note"}


@dataclass(frozen=True)
class Finding:
    """A bug for a code host; ``inputs`` show it, ``reproducer`` is the one to try first."""

    id: str
    kind: str
    severity: str
    frames: tuple[str, ...]
    summary: str
    file: str
    line: int | None
    program: str
    inputs: int
    reproducer: str
    flaky: bool | None = None


def findings_of_triage(triage: Triage) -> tuple[Finding, ...]:
    """The bugs of a triage."""
    paths = SourcePaths(Path.cwd(), [bug.verdict.file for bug in triage.bugs])
    return tuple(
        Finding(
            id=bug.id,
            kind=bug.identity.kind,
            severity=bug.identity.severity,
            frames=own_names(bug.identity.frames),
            summary=bug.verdict.summary,
            file=paths(bug.verdict.file),
            line=bug.verdict.line,
            program=Path(bug.reproducer.command[0]).name,
            inputs=len(bug.inputs),
            reproducer=bug.reproducer.name,
            flaky=bug.flaky,
        )
        for bug in triage.bugs
    )


def findings_of_campaign(kept: CampaignState, *, share: bool = False) -> tuple[Finding, ...]:
    """The bugs of a campaign; their program is the target that showed them first.

    With ``share``, nothing tells of the machine.
    """
    state = Elsewhere(kept, share=share).state()
    return tuple(
        Finding(
            id=bug.id,
            kind=bug.kind,
            severity=bug.severity,
            frames=own_names(bug.frames),
            summary=bug.summary,
            file=bug.file,
            line=bug.line,
            program=bug.target,
            inputs=max(1, bug.crashes),
            reproducer=bug.inputs[0] if bug.inputs else "",
            flaky=bug.flaky,
        )
        for bug in state.bugs
    )


def document(findings: Sequence[Finding]) -> dict[str, object]:
    """One run with one result a bug; the rules are the kinds of crashes."""
    kinds = sorted({printable(finding.kind) for finding in findings})
    driver = {
        "name": "fuzzwise",
        "semanticVersion": __version__,
        "rules": [
            {"id": kind, "shortDescription": {"text": f"A program crashes: {unlinked(kind)}"}}
            for kind in kinds
        ],
    }
    results = [_result(bug, kinds.index(printable(bug.kind))) for bug in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def save(findings: Sequence[Finding], path: Path) -> None:
    """Write the document to a file, whole or not at all."""
    try:
        write_whole(path, f"{json.dumps(document(findings), indent=1)}\n".encode())
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}.") from error


def _result(bug: Finding, rule: int) -> dict[str, object]:
    name = printable(bug.reproducer)
    flaky = ", but not in every run" if bug.flaky else ""
    many = "1 input shows it" if bug.inputs == 1 else f"{bug.inputs} inputs show it"
    which = f"; the one to try is {unlinked(name)}" if name else ""
    return {
        "ruleId": printable(bug.kind),
        "ruleIndex": rule,
        "level": _LEVELS.get(bug.severity, "warning"),
        "message": {"text": f"{unlinked(printable(bug.summary))}. {many}{which}{flaky}."},
        "locations": [_location(bug)],
        "stacks": [_stack(bug.frames)],
        "fingerprints": {FINGERPRINT: bug.id},
        "partialFingerprints": {GITHUB_FINGERPRINT: f"{bug.id}:1"},
        "occurrenceCount": bug.inputs,
        "properties": {
            "severity": printable(bug.severity),
            "reproducer": name,
            "flaky": bug.flaky,
        },
    }


def _location(bug: Finding) -> dict[str, object]:
    function = bug.frames[0] if bug.frames else bug.program
    line = bug.line if bug.file and bug.line else 1
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(bug.file or bug.program)},
            "region": {"startLine": line},
        },
        "logicalLocations": _logical(function),
    }


def _stack(frames: Sequence[str]) -> dict[str, object]:
    return {"frames": [{"location": {"logicalLocations": _logical(name)}} for name in frames]}


def _logical(name: str) -> list[dict[str, str]]:
    return [{"fullyQualifiedName": printable(name), "kind": "function"}]


def _uri(file: str) -> str:
    name = quote(printable(file))
    return f"file://{name}" if file.startswith("/") else name
