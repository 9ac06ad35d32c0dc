"""The words and the variables with which a process of stock libFuzzer is started."""

from __future__ import annotations

from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.stock.counts import StockFolder
from fuzzwise.engines.stock.settings import StockSettings
from fuzzwise.triage.symbolizer import environment

_CRASH = "exitcode=77"


def variables() -> dict[str, str]:
    """Readable reports, and libFuzzer's exit status whichever runtime sees the crash first."""
    known = environment(detect_leaks=True)
    # Programs that would only print what UBSan sees, and go on; who has set it otherwise has that.
    known["UBSAN_OPTIONS"] = f"halt_on_error=1:{known['UBSAN_OPTIONS']}"
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
        known[name] += f":{_CRASH}"
    return known


def options(
    plan: TargetPlan,
    settings: StockSettings,
    folder: StockFolder,
    random_seed: int,
    runs: int | None,
) -> list[str]:
    """The options of libFuzzer, all but the corpus; ``runs``: after how many it is to end."""
    words = [
        f"-seed={random_seed}",
        f"-artifact_prefix={folder.crashes.resolve()}/",
        "-print_final_stats=1",
        "-reload=0",
        f"-timeout={max(1, round(settings.seconds))}",
        f"-rss_limit_mb={settings.memory_mib}",
    ]
    if runs is not None:
        words.append(f"-runs={runs}")
    if plan.dictionary:
        words.append(f"-dict={plan.dictionary.resolve()}")
    if settings.max_length:
        words.append(f"-max_len={settings.max_length}")
    return [*words, *settings.options]
