"""An estimate as JSON, the same for every command and document."""

from __future__ import annotations

from fuzzwise.model import Estimate


def estimate_json(estimate: Estimate | None) -> dict[str, object] | None:
    """An estimate as every command prints it; null where there is none."""
    if estimate is None:
        return None
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "confidence": estimate.confidence,
        "method": estimate.method,
        "n": estimate.n,
        "note": estimate.note,
    }
