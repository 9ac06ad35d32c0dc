"""The risk of a target so far as a small line: no axes, only which way it goes."""

from __future__ import annotations

import numpy as np

from fuzzwise.store.states import TargetHistory

WIDTH, HEIGHT = 96, 22
_EDGE = 2.0


def spark(past: TargetHistory, accepted: float | None) -> str:
    """An SVG of the logarithm of the risk over that of the inputs; "" for fewer than two points.

    It holds nothing but numbers. The dashed line is the accepted risk, where it is in the picture.
    """
    able = (past.inputs > 0) & np.isfinite(past.risk) & (past.risk > 0)
    if able.sum() < 2:
        return ""
    x, y = np.log(past.inputs[able].astype(np.float64)), np.log(np.minimum(past.risk[able], 1.0))
    lowest, highest = float(y.min()), float(y.max())
    if accepted is not None and accepted > 0:
        lowest = min(lowest, float(np.log(accepted)))
    across = _EDGE + (x - x[0]) / ((x[-1] - x[0]) or 1.0) * (WIDTH - 2 * _EDGE)
    tall = (highest - lowest) or 1.0
    down = _EDGE + (highest - y) / tall * (HEIGHT - 2 * _EDGE)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))
    line = f'<polyline points="{points}"/>'
    if accepted is not None and accepted > 0:
        at = _EDGE + (highest - float(np.log(accepted))) / tall * (HEIGHT - 2 * _EDGE)
        line = f'<line x1="0" x2="{WIDTH}" y1="{at:.1f}" y2="{at:.1f}"/>{line}'
    return (
        f'<svg class="spark" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true" focusable="false">'
        f"{line}</svg>"
    )
