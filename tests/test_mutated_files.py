"""Every format that is read, damaged in two hundred ways: a result or a sentence, soon, in bounds.

`make fuzz-readers` goes on from there.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mutated_formats import FORMATS, Format, Sample

CASES = 100


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_a_damaged_file_ends_in_a_result_or_a_sentence(form: Format, tmp_path: Path) -> None:
    sample = Sample(form, tmp_path / "sample")
    sample.read_whole()
    ended = [sample.case(seed) for seed in range(CASES)]
    assert set(ended) <= {"read", "told"}
