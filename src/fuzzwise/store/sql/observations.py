"""Observations as bytes: small enough to be written after every epoch.

Counts are kept as differences to the one before, in the narrowest type that holds them: 100,000
discoveries take about 0.4 MB. Compressing them would take longer than writing them does.
"""

from __future__ import annotations

import msgspec
import numpy as np

from fuzzwise.model import Floats, Ints, Observation, SeedCounts, Truth


class _Counts(msgspec.Struct, array_like=True):
    """Whole numbers as differences: type, bytes."""

    kind: str
    content: bytes


class _Seeds(msgspec.Struct, array_like=True):
    q: bytes
    n: _Counts
    f1: _Counts | None
    f2: _Counts | None
    k: _Counts | None
    g: _Counts | None


class _Packed(msgspec.Struct, omit_defaults=True):
    n: int
    seconds: float | None = None
    last_discovery_seconds: float | None = None
    species: int | None = None
    f: tuple[int, int, int, int] | None = None
    k: int | None = None
    discoveries: _Counts | None = None
    seeds: _Seeds | None = None
    resets: dict[int, int] = {}
    truth: tuple[float, int | None, int | None] | None = None
    measured: list[tuple[int, float]] = []
    waiting: float | None = None
    tried: int | None = None
    counted_at: _Counts | None = None


_DECODER = msgspec.msgpack.Decoder(_Packed)
"""Made once: msgspec crashes where two threads make out a type at the same time."""


def pack(observation: Observation) -> bytes:
    """An observation as bytes."""
    now, seeds, truth = observation, observation.seeds, observation.truth
    packed = _Packed(
        n=int(now.n),
        seconds=_float(now.seconds),
        last_discovery_seconds=_float(now.last_discovery_seconds),
        species=_int(now.species),
        f=None if now.f is None else (int(now.f[0]), int(now.f[1]), int(now.f[2]), int(now.f[3])),
        k=_int(now.k),
        discoveries=_counts(now.discoveries),
        seeds=None
        if seeds is None
        else _Seeds(
            np.asarray(seeds.q, "<f8").tobytes(),
            *(_some_counts(seeds.n), _counts(seeds.f1), _counts(seeds.f2)),
            *(_counts(seeds.k), _counts(seeds.g)),
        ),
        resets={int(a): int(count) for a, count in now.resets.items()},
        truth=None
        if truth is None
        else (float(truth.probability), _int(truth.discoveries), _int(truth.inputs)),
        measured=[(int(m), float(share)) for m, share in now.measured],
        waiting=_float(now.waiting),
        tried=_int(now.tried),
        counted_at=_counts(now.counted_at),
    )
    return msgspec.msgpack.encode(packed)


def unpack(content: bytes) -> Observation:
    """The observation that was packed."""
    packed = _DECODER.decode(content)
    seeds, truth = packed.seeds, packed.truth
    return Observation(
        n=packed.n,
        seconds=packed.seconds,
        last_discovery_seconds=packed.last_discovery_seconds,
        species=packed.species,
        f=packed.f,
        k=packed.k,
        discoveries=_array(packed.discoveries),
        seeds=None
        if seeds is None
        else SeedCounts(
            *(_floats(seeds.q), _some_array(seeds.n), _array(seeds.f1), _array(seeds.f2)),
            *(_array(seeds.k), _array(seeds.g)),
        ),
        resets=packed.resets,
        truth=None if truth is None else Truth(*truth),
        measured=tuple(packed.measured),
        waiting=packed.waiting,
        tried=packed.tried,
        counted_at=_array(packed.counted_at),
    )


def _counts(values: Ints | None) -> _Counts | None:
    return None if values is None else _some_counts(values)


def _some_counts(values: Ints) -> _Counts:
    steps = np.diff(np.asarray(values, np.int64), prepend=0)
    span = (int(steps.min()), int(steps.max())) if len(steps) else (0, 0)
    kind = next(
        kind
        for kind in ("<i1", "<i2", "<i4", "<i8")
        if np.iinfo(kind).min <= span[0] and span[1] <= np.iinfo(kind).max
    )
    return _Counts(kind, steps.astype(kind).tobytes())


def _array(counts: _Counts | None) -> Ints | None:
    return None if counts is None else _some_array(counts)


def _some_array(counts: _Counts) -> Ints:
    return np.cumsum(np.frombuffer(counts.content, counts.kind), dtype=np.int64)


def _floats(content: bytes) -> Floats:
    return np.frombuffer(content, "<f8").astype(np.float64)


def _int(value: int | None) -> int | None:
    return None if value is None else int(value)


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)
