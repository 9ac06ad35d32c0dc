"""The words and the variables with which a process of stock libFuzzer is started."""

from __future__ import annotations

import random

from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.libfuzzer.crashes import NEEDED_TO_FUZZ, sanitizer_environment
from fuzzwise.engines.libfuzzer.options import RANDOM
from fuzzwise.engines.memory_words import memory_words
from fuzzwise.engines.stock.counts import StockFolder
from fuzzwise.engines.stock.settings import StockSettings
from fuzzwise.triage.surroundings import Surroundings


def variables(surroundings: Surroundings) -> dict[str, str]:
    """What sanitizers are told."""
    return surroundings.joined(sanitizer_environment(detect_leaks=True), NEEDED_TO_FUZZ)


def options(
    plan: TargetPlan,
    settings: StockSettings,
    folder: StockFolder,
    random_seed: int,
    runs: int | None,
    *,
    all_lengths: bool = False,
) -> list[str]:
    """The options of libFuzzer, all but the corpus; ``runs``: after how many it is to end.

    ``all_lengths``: inputs of any length from the start, unless the options say how it is to be.
    """
    words = [
        f"-seed={random_seed}",
        f"-artifact_prefix={folder.crashes.resolve()}/",
        "-print_final_stats=1",
        "-reload=0",
        f"-timeout={max(1, round(settings.seconds))}",
        *memory_words(settings.memory_mib),
    ]
    if runs is not None:
        words.append(f"-runs={runs}")
    if plan.dictionary:
        words.append(f"-dict={plan.dictionary.resolve()}")
    if settings.max_length:
        words.append(f"-max_len={settings.max_length}")
    if all_lengths and not any(word.startswith("-len_control=") for word in settings.options):
        words.append("-len_control=0")
    rng = random.Random(random_seed)  # noqa: S311
    return [*words, *(drawn(word, rng) for word in settings.options)]


def drawn(word: str, rng: random.Random) -> str:
    """An option as it is, or with a number out of random(1, 100), another for each process."""
    found = RANDOM.search(word)
    if found is None:
        return word
    low, high = sorted((int(found[1]), int(found[2])))
    return f"{word[: found.start()]}{rng.randint(low, high)}{word[found.end() :]}"
