"""Inputs of black-box runs: reproducible, within limits, and mutated as the parameters say."""

from __future__ import annotations

import hashlib
import math
import random
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzwise.engines.blackbox import (
    KINDS,
    MUTATOR_VERSION,
    Mutation,
    build,
    input_hash,
    make_input,
)
from fuzzwise.errors import BadInput

SEED = bytes(range(256)) * 4
BITS = Mutation(ratio=(0.01, 0.01), kinds=("bits",))


def flipped(a: bytes, b: bytes) -> int:
    assert len(a) == len(b)
    return (int.from_bytes(a) ^ int.from_bytes(b)).bit_count()


def only(kind: str, **rest) -> Mutation:
    return Mutation(kinds=(kind,), **rest)


def digest(mutation: Mutation, seed: bytes = SEED, runs: int = 200) -> str:
    total = hashlib.sha256()
    for run in range(runs):
        total.update(make_input(seed, 42, run, mutation) + b"|")
    return total.hexdigest()[:16]


GOLDEN = {
    "bits": "1c66d2b9ecb4cb38",
    "bytes": "1d94d8217a213f33",
    "blocks": "d9b1ed0996f31c66",
    "arithmetic": "3edc38749563a141",
    "splice": "66c34e795496dbe9",
    "all": "c3675064076e7e4b",
    "range": "45b65de0de7876cc",
}


@pytest.mark.parametrize("name", GOLDEN)
def test_version_1_makes_these_inputs_for_ever(name):
    assert MUTATOR_VERSION == 1
    mutation = Mutation(splice_with=(b"another file", b"")) if name == "all" else None
    if name == "range":
        mutation = Mutation(ratio=(1e-5, 0.5), kinds=("bits",))
    assert digest(mutation or only(name)) == GOLDEN[name]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_compilers_agree(tmp_path, compiler):
    """The same sources without optimisation, by either compiler, make the same inputs."""
    library = tmp_path / "mutator.so"
    flags = [flag for flag in build.FLAGS if not flag.startswith("-O")]
    sources = [str(build.NATIVE / source) for source in build.MUTATOR]
    subprocess.run([compiler, *flags, "-O0", *sources, "-shared", "-o", library], check=True)
    script = (
        "import sys, fuzzwise.engines.blackbox.mutation as m, test_mutation as t\n"
        "import ctypes, functools\n"
        "native = m.native()\n"
        "m.native = lambda: type(native)(sys.argv[1], native.preload, native.warden)\n"
        "print(t.digest(m.Mutation(ratio=(1e-5, 0.5))))"
    )
    import sys
    from pathlib import Path

    made = subprocess.run(
        [sys.executable, "-c", script, library],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parent,
    ).stdout.strip()  # fmt: skip
    assert made == digest(Mutation(ratio=(1e-5, 0.5)))


def test_run_0_is_the_seed():
    assert make_input(SEED, 7, 0, Mutation()) == SEED
    assert make_input(b"", 7, 0, Mutation()) == b""


@given(
    seed=st.binary(max_size=64),
    random_seed=st.integers(0, 2**64 - 1),
    run=st.integers(0, 2**64 - 1),
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, unique=True),
    spare=st.integers(1, 40),
    others=st.lists(st.binary(max_size=100), max_size=3),
)
def test_any_input_is_reproducible_and_within_its_length(
    seed, random_seed, run, kinds, spare, others
):
    mutation = Mutation(kinds=tuple(kinds), max_length=len(seed) + spare, splice_with=tuple(others))
    made = make_input(seed, random_seed, run, mutation)
    assert made == make_input(seed, random_seed, run, mutation)
    assert len(made) <= len(seed) + spare


def test_order_of_kinds_does_not_matter():
    backwards = Mutation(kinds=KINDS[::-1])
    assert digest(backwards) == digest(Mutation())


def test_runs_and_random_seeds_give_different_inputs():
    made = {make_input(SEED, s, r, BITS) for s in range(20) for r in range(1, 51)}
    assert len(made) == 1000


@pytest.mark.parametrize("ratio", [0.001, 0.01, 0.3])
def test_the_number_of_flipped_bits_is_binomial(ratio):
    """Mean and variance over 2000 runs, each within 4.5 of its standard errors (1 in 10^5)."""
    runs, bits = 2000, len(SEED) * 8
    mutation = Mutation(ratio=(ratio, ratio), kinds=("bits",))
    counts = [flipped(SEED, make_input(SEED, 1, run, mutation)) for run in range(1, runs + 1)]
    mean, variance = bits * ratio, bits * ratio * (1 - ratio)
    seen = sum(counts) / runs
    spread = sum((count - mean) ** 2 for count in counts) / runs
    assert abs(seen - mean) < 4.5 * math.sqrt(variance / runs)
    assert abs(spread - variance) < 4.5 * variance * math.sqrt((2 + 1 / variance) / runs)


def test_every_bit_is_as_likely_to_flip():
    """Chi-squared over 64 bits: 63 degrees of freedom, 1 in 10^5 beyond 121."""
    seed, counts = bytes(8), [0] * 64
    for run in range(1, 8001):
        made = int.from_bytes(make_input(seed, 3, run, Mutation((0.1, 0.1), ("bits",))), "little")
        for bit in range(64):
            counts[bit] += made >> bit & 1
    expected = sum(counts) / 64
    assert expected == pytest.approx(800, rel=0.02)
    # Each bit is 0 or 1 per run: the sum of its squares is smaller by the factor 0.9.
    assert sum((c - expected) ** 2 for c in counts) / (expected * 0.9) < 121


def test_at_least_one_bit_flips():
    mutation = Mutation(ratio=(1e-9, 1e-9), kinds=("bits",))
    counts = {flipped(SEED, make_input(SEED, 1, run, mutation)) for run in range(1, 500)}
    assert counts == {1}


def test_ratio_1_flips_all():
    mutation = Mutation(ratio=(1.0, 1.0), kinds=("bits",))
    assert make_input(SEED, 1, 5, mutation) == bytes(255 - byte for byte in SEED)


def test_a_range_of_ratios_is_log_uniform():
    """Kolmogorov-Smirnov against the uniform law of log(ratio); 2.3/√n is 1 in 10^4."""
    seed, low, high, runs = bytes(1 << 15), 0.001, 0.1, 1500
    mutation = Mutation(ratio=(low, high), kinds=("bits",))
    shares = sorted(
        flipped(seed, make_input(seed, 5, run, mutation)) / (len(seed) * 8)
        for run in range(1, runs + 1)
    )
    places = [math.log(max(share, 1e-9) / low) / math.log(high / low) for share in shares]
    worst = max(abs(place - i / runs) for i, place in enumerate(places))
    # The binomial noise of each share moves a place by 0.014 at most (a twentieth of the range).
    assert worst < 2.3 / math.sqrt(runs) + 0.01


def test_bits_bytes_and_arithmetic_keep_the_length():
    for kind in ("bits", "bytes", "arithmetic"):
        for run in range(1, 200):
            assert len(make_input(SEED, 1, run, only(kind))) == len(SEED)


@pytest.mark.parametrize("kind", KINDS)
def test_nearly_every_run_changes_something(kind):
    same = sum(make_input(SEED, 1, run, only(kind)) == SEED for run in range(1, 501))
    assert same <= (0 if kind == "bits" else 75)


def test_arithmetic_adds_small_numbers_in_both_byte_orders():
    """In zeros, -1 … -35 is three times 0xff beside one byte from 0xdd on: about 1800 each way."""
    seed = bytes(4096)
    little = big = 0
    for run in range(1, 3000):
        made = make_input(seed, 1, run, only("arithmetic"))
        for part in made.strip(b"\0").split(b"\0" * 4):
            number = part.strip(b"\0")
            little += len(number) == 4 and number[1:] == b"\xff" * 3 and 0xDD <= number[0] < 0xFF
            big += len(number) == 4 and number[:3] == b"\xff" * 3 and 0xDD <= number[3] < 0xFF
    assert little > 1000
    assert big > 1000


def test_blocks_delete_insert_duplicate_move_and_cut():
    seed = bytes(random.Random(1).sample(range(256), 200))
    made = [make_input(seed, 1, run, only("blocks")) for run in range(1, 3000)]
    assert any(seed.startswith(data) and data != seed for data in made)  # cut off
    assert any(len(data) < 200 and not seed.startswith(data) for data in made)  # deleted
    assert any(len(data) == 200 and data != seed and sorted(data) == sorted(seed) for data in made)
    assert any(len(data) > 200 and set(data) == set(seed) for data in made)  # duplicated
    assert any(len(data) == 200 and set(data) < set(seed) for data in made)  # copied over
    assert any(not set(data) <= set(seed) for data in made)  # inserted


def test_splices_take_from_the_other_files():
    other = b"Z" * 40
    mutation = Mutation(kinds=("splice",), splice_with=(other,))
    made = [make_input(b"a" * 50, 1, run, mutation) for run in range(1, 500)]
    assert any(data.startswith(b"a") and data.endswith(b"ZZ") for data in made)
    assert any(b"aZ" in data and b"Za" in data for data in made)
    assert all(set(data) <= {ord("a"), ord("Z")} for data in made)


def test_an_empty_seed_grows_where_something_can_be_inserted():
    made = {make_input(b"", 1, run, Mutation()) for run in range(1, 300)}
    assert len(made) > 50
    assert {make_input(b"", 1, run, only("bits")) for run in range(1, 50)} == {b""}


def test_the_hash_is_fnv_1a():
    assert input_hash(b"") == 0xCBF29CE484222325
    assert input_hash(b"foobar") == 0x85944171F73967E8


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"ratio": (0.0, 0.1)}, "ratio"),
        ({"ratio": (0.2, 0.1)}, "ratio"),
        ({"ratio": (0.1, 1.5)}, "ratio"),
        ({"ratio": (0.1, float("nan"))}, "ratio"),
        ({"kinds": ()}, "No kind"),
        ({"kinds": ("bits", "bots")}, "'bots'"),
        ({"max_length": 0}, "longest input"),
    ],
)
def test_mutation_says_what_is_wrong(wrong, says):
    with pytest.raises(BadInput, match=says):
        Mutation(**wrong)


def test_make_input_says_what_is_wrong():
    with pytest.raises(BadInput, match="max_length"):
        make_input(b"12345", 1, 1, Mutation(max_length=4))
    with pytest.raises(BadInput, match="random seed"):
        make_input(b"12345", -1, 1, Mutation())
    with pytest.raises(BadInput, match="run number"):
        make_input(b"12345", 1, 2**64, Mutation())
