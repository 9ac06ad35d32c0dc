"""The event-driven simulator against closed forms and against drawing every input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from brute_force import draw_every_input
from fuzzwise.errors import BadInput
from fuzzwise.lab.urn.summary import run_both
from fuzzwise.lab.urn.urn import Urn, data_points, simulate
from fuzzwise.validation import problems

# Each statistical test below fails by chance with this probability; seeds are fixed.
ALPHA = 1e-4


def test_template_falls_by_the_ratio_and_sums_to_one():
    urn = Urn(species=7, ratio=1.3, bug=7)
    assert urn.template.sum() == pytest.approx(1)
    assert urn.template[:-1] / urn.template[1:] == pytest.approx(np.full(6, 1.3))


def test_local_distribution_is_template_plus_a_tent_over_gravity():
    urn = Urn(species=6, ratio=2.0, gravity=10.0, initial=(1,), bug=6)
    tent = np.array([0.125, 0.25, 0.5, 0.25, 0.125, 0.0625]) / 10
    expected = (urn.template + tent) / (1 + tent.sum())
    assert urn.distribution(3) == pytest.approx(expected)


def test_adding_a_seed_moves_the_mixture_by_equation_15():
    urn = Urn(species=20, schedule="later", bug=20)
    before, after = urn.mixture((5, 9)), urn.mixture((5, 9, 14))
    q = 3 / (1 + 2 + 3)
    assert after == pytest.approx((1 - q) * before + q * urn.distribution(14))


def test_divergence_goes_to_zero_with_the_weight_of_the_new_seed():
    divergences = []
    for weight in (1.0, 1e-2, 1e-4):
        weights = np.ones(20)
        weights[2] = weight
        urn = Urn(species=20, schedule=weights, bug=20)
        before, after = urn.mixture((5, 9)), urn.mixture((5, 9, 14))
        divergences.append(stats.entropy(before, after))
    assert divergences[0] > divergences[1] > divergences[2]
    assert divergences[2] < 1e-9


def test_blackbox_means_equal_the_closed_forms_3_and_11():
    urn = Urn()
    points = data_points(20_000, factor=3)
    runs = simulate(urn, "blackbox", points, 4000, seed=11, full=False)
    p = np.delete(urn.distribution(5), 4)  # species 5 is in the initial corpus
    for i, n in enumerate(points.tolist()):
        expected_delta = np.sum(p * (1 - p) ** n)
        expected_species = 1 + np.sum(1 - (1 - p) ** n)
        for expected, seen in (
            (expected_delta, np.array([r.trace.delta[i] for r in runs])),
            (expected_species, np.array([r.trace.species[i] for r in runs])),
        ):
            error = seen.std(ddof=1) / np.sqrt(len(runs))
            limit = stats.norm.isf(ALPHA / 2 / (2 * len(points)))
            assert abs(seen.mean() - expected) < limit * error, (n, expected, seen.mean())


@pytest.mark.parametrize("schedule", ["uniform", "later"])
def test_true_probability_is_the_unseen_mass_of_the_mixture(schedule):
    urn = Urn(schedule=schedule)
    points = data_points(3000)
    for run in simulate(urn, "greybox", points, 5, seed=3, full=False):
        for i, n in enumerate(points.tolist()):
            found = run.trace.found[run.trace.discoveries <= n] + 1
            corpus = (*urn.initial, *found.tolist())
            p = urn.mixture(corpus)
            unseen = np.setdiff1d(np.arange(urn.species), np.array(corpus) - 1)
            assert run.trace.delta[i] == pytest.approx(p[unseen].sum(), rel=1e-9)
            assert run.trace.target[i] == pytest.approx(p[urn.bug - 1], rel=1e-9)
            assert run.trace.species[i] == len(corpus)


def _summary(delta, species, f, resets, seed_n, seed_f1, seed_f2, seed_g, discoveries):
    """Numbers that together touch every count of a campaign."""
    return {
        "delta": delta,
        "species": species,
        "first discovery": discoveries[0] if len(discoveries) else -1,
        "last discovery": discoveries[-1] if len(discoveries) else -1,
        **{f"f{i}": x for i, x in enumerate(f, start=1)},
        **{f"reset {a}": x for a, x in resets.items()},
        "inputs of the first seed": seed_n[0],
        "inputs of the last seed": seed_n[-1],
        "spread of inputs over seeds": float(np.var(seed_n)),
        "local singletons": sum(seed_f1),
        "local singletons of the first seed": seed_f1[0],
        "local doubletons": sum(seed_f2),
        "global singletons of the first seed": seed_g[0],
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("greybox", "inputs", "schedule"),
    [(True, 40, "uniform"), (True, 300, "uniform"), (True, 150, "later"), (False, 200, "uniform")],
)
def test_event_driven_equals_drawing_every_input_in_distribution(greybox, inputs, schedule):
    """Two-sample Kolmogorov-Smirnov on every count, 1500 campaigns against 1500 campaigns."""
    urn = Urn(species=14, gravity=5.0, bug=14, schedule=schedule)
    rng = np.random.default_rng(5)
    slow = []
    for _ in range(1500):
        s = draw_every_input(urn, greybox, inputs, rng)
        slow.append(
            _summary(
                s.delta, s.species, s.f, s.resets, s.seed_n, s.seed_f1, s.seed_f2, s.seed_g,
                s.discoveries,
            )
        )  # fmt: skip
    fast = []
    for run in simulate(urn, "greybox" if greybox else "blackbox", np.array([inputs]), 1500, 6):
        (o,) = run.observations()
        fast.append(
            _summary(
                o.truth.probability, o.species, o.f, o.resets, o.seeds.n, o.seeds.f1, o.seeds.f2,
                o.seeds.g, o.discoveries,
            )
        )  # fmt: skip
    names = list(slow[0])
    for name in names:
        a, b = (np.round([float(row[name]) for row in rows], 12) for rows in (slow, fast))
        assert stats.ks_2samp(a, b, method="asymp").pvalue > ALPHA / len(names), name


def test_counts_are_the_same_wherever_data_points_lie():
    """Looking more often must not change what a campaign does, in distribution."""
    urn = Urn(species=20, bug=20)
    often = simulate(urn, "greybox", np.arange(1, 501), 1000, seed=8)
    once = simulate(urn, "greybox", np.array([500]), 1000, seed=9)
    for value in (
        lambda run: run.trace.delta[-1],
        lambda run: run.trace.incidence[-1, 0],
        lambda run: run.trace.seed_f1[-1].sum(),
    ):
        a, b = [value(r) for r in often], [value(r) for r in once]
        assert stats.ks_2samp(a, b, method="asymp").pvalue > ALPHA


@pytest.mark.parametrize("mode", ["greybox", "blackbox"])
def test_observations_never_contradict_themselves(mode):
    urn = Urn(species=30, bug=30, initial=(5, 2))
    for run in simulate(urn, mode, data_points(10**6), 10, seed=1):
        observations = list(run.observations())
        for o in observations:
            assert list(problems(o)) == []
            assert o.seeds.n.sum() == o.n
            assert o.seeds.k.sum() == o.k == o.f[0]
            assert len(o.discoveries) == o.species - 2
        assert observations[-1].n == 10**6


def test_same_seed_same_campaigns_other_seed_others():
    points = data_points(1000)
    a, b, c = (simulate(Urn(), "greybox", points, 3, seed) for seed in (1, 1, 2))
    assert all(
        (x.trace.discoveries == y.trace.discoveries).all() for x, y in zip(a, b, strict=True)
    )
    assert (a[0].trace.seed_n == b[0].trace.seed_n).all()
    assert a[0].trace.discoveries.tolist() != c[0].trace.discoveries.tolist()
    assert a[0].trace.discoveries.tolist() != a[1].trace.discoveries.tolist()


def test_local_matrix_of_ones_own_replaces_the_built_in_distributions():
    step = np.eye(5, k=1)
    step[4, 4] = 1.0
    urn = Urn(species=5, initial=(1,), bug=5, local=step)
    (run,) = simulate(urn, "blackbox", np.array([1, 50]), 1, seed=1)
    assert run.trace.species.tolist() == [2, 2]
    (chain,) = simulate(urn, "greybox", np.array([200]), 1, seed=1)
    assert chain.trace.found.tolist() == [1, 2, 3, 4]


def test_a_discovery_counts_for_the_seed_that_made_it():
    """Only the second of two initial seeds can show species 3."""
    local = np.array([[1.0, 0, 0], [0, 0.9, 0.1], [0, 0, 1.0]])
    urn = Urn(species=3, initial=(1, 2), bug=3, local=local)
    shown = [r for r in simulate(urn, "blackbox", np.array([1]), 200, seed=2) if len(r.trace.found)]
    assert shown
    assert all(run.trace.seed_n[0].tolist() == [0, 1] for run in shown)


def test_a_campaign_that_has_seen_everything_has_probability_zero():
    (run,) = simulate(Urn(species=3, initial=(1,), bug=3), "greybox", np.array([10**9]), 1, seed=1)
    (o,) = run.observations()
    assert o.truth.probability == 0.0
    assert o.species == 3


def test_one_species_that_is_known_already():
    (run,) = simulate(Urn(species=1, initial=(1,), bug=1), "greybox", np.array([10]), 1, seed=1)
    assert run.trace.delta.tolist() == [0.0]
    assert run.bug_found_at == 0


def test_a_trillion_inputs_are_counted_exactly():
    (run,) = simulate(Urn(species=60, bug=60), "blackbox", np.array([10**12]), 1, seed=2)
    (o,) = run.observations()
    assert int(o.seeds.n.sum()) == 10**12


def test_data_points_are_powers_each_once_and_the_end():
    assert data_points(10).tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 10]
    assert data_points(1).tolist() == [1]
    with pytest.raises(BadInput, match="at least 1 input"):
        data_points(0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"species": 0}, "at least 1 species"),
        ({"initial": (51,)}, "Species 51 does not exist"),
        ({"bug": 60}, "Species 60 does not exist"),
        ({"initial": ()}, "initial corpus"),
        ({"ratio": 0.5}, "ratio"),
        ({"gravity": 0.0}, "gravity"),
        ({"schedule": "random"}, "no schedule 'random'"),
        ({"schedule": np.ones(3)}, "as many seeds"),
        ({"local": np.eye(3)}, "square matrix"),
    ],
)
def test_impossible_urns_are_refused_with_a_reason(settings, message):
    with pytest.raises(BadInput, match=message):
        Urn(**settings)


def test_greybox_finds_the_bug_sooner_and_shows_adaptive_bias():
    summary = run_both(Urn(), 50_000, 30, seed=1)
    middle = np.searchsorted(summary.greybox.points, 3000)
    assert summary.bias[middle] > 0
    assert summary.log_bias[middle] > 0.2
    assert len(summary.greybox.bug_found_at) > len(summary.blackbox.bug_found_at)
    assert summary.blackbox.law.r2 > 0.98
