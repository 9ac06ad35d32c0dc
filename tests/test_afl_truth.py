"""The driver that measures AFL++'s discovery probability, against a restatement of what it does.

The target lays out its own coverage, so that what an input shows is known without the driver, and
logs every input that it is given, so that the whole campaign can be gone through again.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
INPUTS, TRUTH_INPUTS = 3000, 2000
LETTERS = b"abcdefghijklmnop"
SEEDS = (b"abc", b"p" * 40 + b"some more text, to be trimmed away" * 3)

HARNESS = r"""
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <fcntl.h>
extern uint8_t *__afl_area_ptr;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int log = -1;
  if (log < 0) log = open(getenv("INPUT_LOG"), O_WRONLY | O_APPEND);
  uint32_t length = size;
  if (write(log, &length, 4) != 4 || write(log, data, size) != (ssize_t)size) abort();
  for (size_t i = 0; i < size; i++) {
    uint8_t *count = __afl_area_ptr + 64 + (data[i] - 'a');
    if (data[i] >= 'a' && data[i] <= 'p' && *count < 255) ++*count;
  }
  return 0;
}
"""


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """What the driver measured, AFL++'s output folder, and every input in order."""
    for program in ("afl-fuzz", "afl-clang-fast", "clang"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    folder = tmp_path_factory.mktemp("afl-truth")
    (folder / "harness.c").write_text(HARNESS)
    seeds = folder / "seeds"
    seeds.mkdir()
    for number, data in enumerate(SEEDS):
        (seeds / str(number)).write_bytes(data)
    log = folder / "inputs"
    log.touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        patch.setenv("INPUT_LOG", str(log))
        import afl_campaign

        harness, target = str(folder / "harness.o"), str(folder / "target")
        # Without instrumentation: the coverage is what the harness writes.
        subprocess.run(["clang", "-O1", "-c", str(folder / "harness.c"), "-o", harness], check=True)
        subprocess.run(
            ["afl-clang-fast", harness, *afl_campaign.driver(folder), "-o", target],
            check=True,
            capture_output=True,
        )
        out = folder / "out"
        measured = afl_campaign.run(Path(target), seeds, out, INPUTS, TRUTH_INPUTS, seed=1)
        for name in [name for name in sys.modules if name in ("afl_campaign", "subjects")]:
            del sys.modules[name]
    # The campaign was run twice; the second time it was frozen.
    return measured, out / "default", _inputs(log.read_bytes())[-measured.numbers["executions"] :]


def _inputs(raw: bytes) -> list[bytes]:
    inputs, at = [], 0
    while at + 4 <= len(raw):
        length = int.from_bytes(raw[at : at + 4], "little")
        inputs.append(raw[at + 4 : at + 4 + length])
        at += 4 + length
    return inputs


def _features(data: bytes) -> set[tuple[int, int]]:
    """Each letter with the class of its count: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128 and more."""
    counts = {letter: data.count(letter) for letter in LETTERS}
    bounds = (1, 2, 3, 4, 8, 16, 32, 128)
    return {(k, sum(c >= bound for bound in bounds)) for k, c in counts.items() if c}


def _queue(instance: Path) -> list[int]:
    """The execution counts in the names of what was found."""
    names = sorted(path.name for path in (instance / "queue").iterdir())
    return [
        int(re.search(r"execs:(\d+)", n)[1]) for n in names if "execs:" in n and "orig" not in n
    ]


def test_its_discoveries_are_the_queue_entries_that_afl_fuzz_wrote(campaign):
    measured, instance, _ = campaign
    executions = [execution for execution, _ in measured.discoveries]
    assert len(executions) > 10
    assert executions == _queue(instance)


def test_every_execution_of_the_campaign_is_of_one_kind(campaign):
    measured, _, _ = campaign
    numbers = measured.numbers
    kinds = [numbers[kind] for kind in ("seed", "repeat", "trim", "mutated")]
    assert sum(kinds) == numbers["at_freeze"]
    assert numbers["seed"] == 2
    assert numbers["mutated"] == INPUTS
    assert numbers["unconfirmed"] == numbers["unfinished"] == 0
    assert numbers["broken_trims"] == 0


def test_an_entry_is_found_by_an_input_that_shows_something_new_to_the_campaign(campaign):
    measured, _, inputs = campaign
    seen = set().union(*map(_features, SEEDS))
    for execution, _ in measured.discoveries:
        data = inputs[execution - 1]
        assert _features(data) - seen
        assert inputs[execution] == data  # calibrated at once
        seen |= _features(data)


def test_the_truth_counts_what_the_frozen_queue_has_not_shown(campaign):
    measured, _, inputs = campaign
    numbers = measured.numbers
    queue = [*SEEDS, *(inputs[execution - 1] for execution, _ in measured.discoveries)]
    seen = set().union(*map(_features, queue))
    start, length = numbers["at_freeze"], numbers["frozen_executions"]
    new = sum(bool(_features(data) - seen) for data in inputs[start : start + length])
    # Inputs that trim an entry are executions too, but no inputs of the measurement.
    trims = length - TRUTH_INPUTS
    assert numbers["frozen_inputs"] == TRUTH_INPUTS
    assert new - trims <= numbers["hits"] <= new
    assert len(measured.hits) == numbers["hits"] > trims


def test_the_folder_is_left_as_it_was_at_the_freeze(campaign):
    measured, instance, _ = campaign
    frozen_at = measured.numbers["at_freeze"]
    assert max(_queue(instance)) <= frozen_at
    stats = (instance / "fuzzer_stats").read_text()
    assert re.search(r"(?m)^execs_done +: (\d+)", stats)[1] == str(frozen_at)
    rows = (instance / "plot_data").read_text().splitlines()
    column = [name.strip() for name in rows[0].lstrip("# ").split(",")].index("total_execs")
    assert all(int(row.split(",")[column]) <= frozen_at for row in rows[1:])
