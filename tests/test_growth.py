"""Recordings of how targets grow, and schedules replayed on them."""

from __future__ import annotations

import heapq
import json
import math
from pathlib import Path

import numpy as np
import pytest

from fuzzwise import snapshot
from fuzzwise.cli import main
from fuzzwise.errors import BadInput
from fuzzwise.model import Observation
from fuzzwise.schedulers.base import LEAST_LOOK, EpochResult, Scheduler
from fuzzwise.schedulers.registry import policies
from fuzzwise.snapshot import Campaign, FirstShown

pytest.importorskip("numba")

from fuzzwise.lab.growth.bound import best_curve
from fuzzwise.lab.growth.comparison import compare, optimum
from fuzzwise.lab.growth.kernel import DISCOVERIES, FEATURES, RETIRED
from fuzzwise.lab.growth.recording import (
    COLUMNS,
    KEPT,
    LEFT,
    RATE,
    RUNS,
    SPECIES,
    STOPS,
    GrowthRecording,
    Repeat,
    growth_files,
    read_growth,
)
from fuzzwise.lab.growth.replay import (
    BUGS,
    OUTCOME_NAMES,
    WORTH,
    Settings,
    drawn,
    replay_growth,
)
from fuzzwise.lab.growth.retirement import RetirementSummary, retirements, summarise
from fuzzwise.lab.growth.worth import Prices, prices
from fuzzwise.report.charts import growth as growth_chart

STEP = 1.0


def grown(name: str, scale: float, speed: float, *, seconds: int = 100, seed: int = 1) -> Campaign:
    """A target whose discoveries come as scale·ln(1 + n/100), with a few bugs."""
    rng = np.random.default_rng(seed)
    n = round(speed * seconds)
    found = np.unique(np.ceil(100 * np.expm1(np.arange(1, 10 * scale) / scale)).astype(np.int64))
    found = found[(found <= n) & (found > 0)]
    seen = []
    for second in range(1, seconds + 1):
        runs = round(speed * second)
        mine = found[: found.searchsorted(runs, "right")]
        seen.append(
            Observation(
                runs,
                seconds=float(second),
                species=10 + 3 * len(mine),
                discoveries=mine,
                corpus=1 + len(mine),
            )
        )
    bugs = tuple(
        FirstShown(f"{name}-{i}", int(at)) for i, at in enumerate(sorted(rng.integers(1, n, 3)))
    )
    return Campaign(f"{name}-{seed}", tuple(seen), name, bugs=bugs)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder, made = tmp_path_factory.mktemp("growth"), []
    for name, scale, speed in (("slow", 12, 50), ("fast", 9, 900), ("tiny", 3, 400)):
        for seed in (1, 2):
            path = folder / f"{name}-{seed}.growth.jsonl"
            snapshot.write(path, [grown(name, scale, speed, seed=seed)])
            made.append(path)
    return made


@pytest.fixture(scope="module")
def recording(files: list[Path]) -> GrowthRecording:
    return read_growth(files, accepted_risk=1e-3, step=STEP)


def at(table: np.ndarray, column: int, seconds: float) -> float:
    return float(np.interp(seconds / STEP, np.arange(table.shape[1]), table[column]))


def plainly(recording: GrowthRecording, name: str, settings: Settings, seed: tuple[int, int]):
    """The same replay by the scheduler of live campaigns, without a compiler."""
    rng = np.random.default_rng(seed)
    chosen, order = drawn(recording, rng)
    scheduler = Scheduler(policies()[name], len(chosen), rng)
    clock = [0.0] * len(chosen)
    lanes = [(0.0, True, i, -1, 0.0) for i in range(settings.cores)]
    bugs: dict[int, float] = {}
    turns = 0
    while lanes:
        now, _, lane, arm, start = heapq.heappop(lanes)
        if arm >= 0:
            scheduler.resume(arm)
            one, end = chosen[arm], clock[arm]
            low = int(end / STEP + 1e-9)
            runs = at(one.table, RUNS, end)
            shown = list(zip(one.bugs, one.bug_seconds, strict=True))
            fresh = [(bug, when) for bug, when in shown if start < when <= end]
            scheduler.learn(
                arm,
                EpochResult(
                    runs=runs - at(one.table, RUNS, start),
                    seconds=end - start,
                    bugs=len(fresh),
                    new_bugs=sum(bugs[bug] >= now - end + when - 1e-9 for bug, when in fresh),
                    kept=at(one.table, KEPT, end),
                    discovery_rate=one.table[RATE, low],
                    seconds_left=one.table[LEFT, low],
                    recent_bugs=sum(
                        when <= end and 2 * at(one.table, RUNS, when) > runs for _, when in shown
                    ),
                    species=at(one.table, SPECIES, end),
                ),
            )
            ended = end >= (one.table.shape[1] - 1) * STEP - 1e-6
            if ended or (settings.retires and one.table[STOPS, low]):
                scheduler.pause(arm)
        if now >= settings.budget:
            continue
        if not scheduler.is_anyone_available():
            under_way = [end for end, is_idle, *_ in lanes if not is_idle]
            if under_way:
                heapq.heappush(lanes, (min(under_way), True, lane, -1, 0.0))
            continue
        arm = scheduler.choose()
        scheduler.pause(arm)
        start = clock[arm]
        look = max(settings.epoch * scheduler.next_turn(arm), LEAST_LOOK)
        length = min(look, settings.epoch, settings.budget - now)
        end = min(start + length, (chosen[arm].table.shape[1] - 1) * STEP)
        clock[arm] = end
        for bug, when in zip(chosen[arm].bugs, chosen[arm].bug_seconds, strict=True):
            if start < when <= end:
                bugs[bug] = min(bugs.get(bug, math.inf), now + when - start)
        heapq.heappush(lanes, (now + max(end - start, 1e-9), False, lane, arm, start))
        turns += 1
    spent = np.zeros(len(chosen))
    spent[order] = clock
    return spent, sorted(bugs.values())


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("name", ["risk-rate", "round-robin", "thompson", "boian"])
def test_a_replay_is_what_the_scheduler_of_live_campaigns_does(recording, name, cores):
    settings = Settings(120.0, 6.0, cores, retires=True)
    (played,) = replay_growth(recording, [policies()[name]], settings, repeats=3, seed=7)
    for repeat in range(3):
        spent, bugs = plainly(recording, name, settings, (7, repeat))
        assert played.spent[repeat] == pytest.approx(spent)
        assert played.curves[repeat, BUGS, -1] == sum(when <= settings.budget for when in bugs)


def test_all_time_is_spent_and_what_is_found_is_what_the_clocks_say(recording):
    settings = Settings(90.0, 5.0)
    for played in replay_growth(recording, list(policies().values()), settings, repeats=2):
        assert played.spent.sum(axis=1) == pytest.approx([90.0, 90.0])
        chosen, order = drawn(recording, np.random.default_rng((0, 0)))
        clocks = played.spent[0][order]
        covered = sum(at(one.table, SPECIES, c) for one, c in zip(chosen, clocks, strict=True))
        assert played.curves[0, FEATURES, -1] == pytest.approx(covered)
        assert (np.diff(played.curves[0, DISCOVERIES]) >= -1e-9).all()


@pytest.mark.parametrize("outcome", OUTCOME_NAMES)
def test_no_schedule_is_above_the_bound(recording, outcome):
    settings, number = Settings(150.0, 5.0, retires=True), OUTCOME_NAMES[outcome]
    draws = [drawn(recording, np.random.default_rng((0, repeat)))[0] for repeat in range(3)]
    price = prices(recording)
    best = np.array([best_curve(chosen, STEP, settings, number, price) for chosen in draws])
    assert best[:, -1].min() > 0
    for played in replay_growth(recording, list(policies().values()), settings, repeats=3):
        assert (played.curve(number) <= best + 1e-6).all(), played.name


def test_the_bound_takes_the_steepest_piece_first():
    steep, flat = np.array([0.0, 8, 10, 10, 10]), np.array([5.0, 8, 11, 14, 17])
    chosen = []
    for name, species in (("steep", steep), ("flat", flat)):
        table = np.zeros((COLUMNS, 5))
        table[SPECIES] = species
        chosen.append(Repeat(name, table, (), ()))
    best = best_curve(chosen, 1.0, Settings(4.0, 1.0), FEATURES, Prices(0.0, 0.0))
    # 5 are known, 8 in the first second of the steep one, then 3 a second, then 2 or 3.
    assert [best[49], best[99], best[149], best[199]] == pytest.approx([13, 16, 19, 22])


def two_targets(bugs: tuple[float, ...]) -> GrowthRecording:
    """Eight seconds: one shows 30 species beyond the ten of its corpus, and one none."""
    tables = np.zeros((2, COLUMNS, 9))
    tables[:, SPECIES] = 10.0
    tables[0, SPECIES, 1:] = 40.0
    repeats = tuple(
        (Repeat(name, table, tuple(range(len(found))), found),)
        for name, table, found in zip(("grows", "idle"), tables, ((), bugs), strict=True)
    )
    return GrowthRecording(("grows", "idle"), repeats, tuple(map(str, bugs)), 1.0)


def test_the_average_target_is_worth_a_quarter_of_a_bug_for_each_doubling_of_its_time():
    price = prices(two_targets(()))
    assert price.species * 30 / 2 == pytest.approx(3 / 4)  # of eight seconds
    assert price.retired == 1 / 4


def test_worth_is_bugs_and_new_species_and_retired_targets_together():
    recording = two_targets((6.0, 7.0))
    for one in (many[0] for many in recording.repeats):
        one.table[STOPS, 8] = 1.0
    settings = Settings(16.0, 2.0)
    for retires, added in ((False, 0.0), (True, 2 / 4)):
        (played,) = replay_growth(
            recording, [policies()["round-robin"]], settings._replace(retires=retires), repeats=2
        )
        assert played.curve(WORTH)[:, -1] == pytest.approx(2 + 3 / 2 + added)
    assert played.curve(BUGS)[:, -1] == pytest.approx(2)


def test_where_no_species_is_new_only_bugs_are_worth_something():
    recording = two_targets((1.0,))
    recording.repeats[0][0].table[SPECIES] = 10.0
    assert prices(recording).species == 0.0
    (played,) = replay_growth(recording, [policies()["round-robin"]], Settings(16.0, 2.0))
    assert played.curve(WORTH)[:, -1] == pytest.approx(1)


def test_retired_targets_leave_their_time_to_others(files):
    easily = read_growth(files, accepted_risk=0.2, step=STEP)
    settings = Settings(200.0, 5.0, retires=True)
    (played,) = replay_growth(easily, [policies()["round-robin"]], settings, repeats=2)
    assert played.curves[0, RETIRED, -1] >= 1
    stays = settings._replace(retires=False)
    (without,) = replay_growth(easily, [policies()["round-robin"]], stays, repeats=2)
    assert without.curves[0, RETIRED, -1] == 0
    assert played.spent.min() < without.spent.min()


def repeat_that_stops(stops_at: int, bugs: tuple[float, ...]) -> Repeat:
    """Ten seconds, in which 100 species become 190."""
    table = np.zeros((COLUMNS, 11))
    table[SPECIES] = np.arange(100.0, 201.0, 10.0)
    table[STOPS, stops_at:] = 1.0
    return Repeat("one", table, tuple(range(len(bugs))), bugs)


def test_what_retiring_saves_and_misses_is_told_by_the_recorded_rest():
    early, late, never = (
        repeat_that_stops(2, (1.0, 5.0)),
        repeat_that_stops(8, (3.0,)),
        repeat_that_stops(11, (9.0,)),
    )
    recording = GrowthRecording(("one",), ((early, late, never),), ("a", "b"), 1.0)
    first, second = retirements(recording)
    assert (first.after, first.saved, first.missed_species, first.missed_bugs) == (2, 8, 80, 1)
    assert (second.after, second.saved, second.missed_species, second.missed_bugs) == (8, 2, 20, 0)
    told = summarise(recording)
    assert (told.repeats, told.retired, told.missed_bugs) == (3, 2, 1)
    assert told.saved_share == pytest.approx((0.8 + 0.2) / 2)
    assert told.missed_share == pytest.approx((0.4 + 0.1) / 2)
    assert told.most_missed_share == pytest.approx(0.4)


def test_where_nothing_is_retired_nothing_is_saved_or_missed():
    recording = GrowthRecording(("one",), ((repeat_that_stops(11, ()),),), (), 1.0)
    assert summarise(recording) == RetirementSummary(1, 0, None, None, None, 0)


def test_two_cores_find_more_in_the_same_time(recording):
    policy = policies()["round-robin"]
    (one,) = replay_growth(recording, [policy], Settings(60.0, 5.0, 1), repeats=4)
    (two,) = replay_growth(recording, [policy], Settings(60.0, 5.0, 2), repeats=4)
    assert (two.curve(FEATURES)[:, -1] > one.curve(FEATURES)[:, -1]).all()
    assert two.spent.sum() == pytest.approx(2 * one.spent.sum())


def test_a_scheduler_is_compared_on_the_same_recordings(recording):
    names = ("round-robin", "risk-rate")
    settings = Settings(100.0, 5.0)
    replays = replay_growth(recording, [policies()[n] for n in names], settings, repeats=5)
    scores = {s.name: s for s in compare(replays, recording, FEATURES, [0.5, 1.0], 0)}
    base = scores["round-robin"]
    assert (base.ratio.value, base.ratio.low, base.ratio.high, base.lowest) == (1, 1, 1, 1)
    assert 0 < base.share_of_optimum <= 1
    assert len(base.at) == 2


def test_the_command_shows_a_table_and_the_same_for_programs(files, capsys):
    folder = files[0].parent
    words = ["--repeats", "5", "--epoch-time", "5s", "--scheduler", "risk-rate"]
    assert main(["replay", str(folder), *words]) == 0
    assert "round-robin" in capsys.readouterr().out
    assert main(["replay", str(folder), *words, "--outcome", "worth"]) == 0
    assert "a new species is worth 1/" in " ".join(capsys.readouterr().out.split())
    assert main(["replay", str(folder), *words, "--outcome", "bugs", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["outcome"] == "bugs"
    assert {one["name"] for one in said["schedulers"]} == {"risk-rate", "round-robin"}
    assert said["retirement"] is None


def test_the_command_says_what_retiring_saves_and_misses(files, capsys):
    folder = files[0].parent
    words = ["--repeats", "2", "--epoch-time", "5s", "--scheduler", "risk-rate", "--accept-risk"]
    assert main(["replay", str(folder), *words, "0.2", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["retirement"]
    assert said["repeats"] == len(files)
    assert said["retired"] > 0
    assert main(["replay", str(folder), *words, "0.2"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"{said['retired']} of {len(files)} recordings, with {said['saved_share']:.0%}" in shown
    assert main(["replay", str(folder), *words, "1e-9"]) == 0
    assert "None of 6 recordings reaches" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("budget", "epoch"), [("30s", 2.0), ("10m", 8.0), ("10d", 60.0)], ids=["short", "usual", "long"]
)
def test_epochs_are_as_long_as_a_campaign_of_that_budget_has_them(files, capsys, budget, epoch):
    words = ["--repeats", "1", "--scheduler", "round-robin", "--budget", budget, "--json"]
    assert main(["replay", str(files[0].parent), *words]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["epoch_seconds"] == pytest.approx(epoch)  # of three targets on one core


@pytest.mark.parametrize("outcome", ["coverage", "bugs"])
def test_the_chart_has_every_scheduler_and_the_bound(files, tmp_path, outcome):
    drawing = tmp_path / "growth.svg"
    words = ["--repeats", "2", "--epoch-time", "5s", "--scheduler", "risk-rate"]
    words += ["--outcome", outcome, "--chart", str(drawing)]
    assert main(["replay", str(files[0].parent), *words]) == 0
    drawn_text = drawing.read_text()
    for word in ("risk-rate", "round-robin", "no schedule can exceed"):
        assert word in drawn_text


def test_the_best_scheduler_is_drawn_over_the_others_and_one_that_does_the_same_not_at_all(
    files: list[Path],
):
    """Without an accepted risk, risk-rate/retirement is risk-rate."""
    recording = read_growth(files, accepted_risk=None, step=STEP)
    settings = Settings(150.0, 5.0)
    chosen = [policies()[name] for name in ("risk-rate", "risk-rate/retirement", "round-robin")]
    replays = replay_growth(recording, chosen, settings, repeats=2)
    scores = compare(replays, recording, FEATURES, [1.0], 0)
    bound = optimum(replays[0], recording, FEATURES, 0)
    drawn = growth_chart.draw(replays, scores, bound, ("coverage", FEATURES), []).to_dict()
    first = {row["name"]: number for number, row in reversed([*enumerate(drawn["data"]["values"])])}
    named = {row["name"] for row in drawn["data"]["values"] if row["shown"] != "others"}
    best = next(score.name for score in scores if score.name in named)
    assert len(named & {"risk-rate", "risk-rate/retirement"}) == 1
    assert sorted(first, key=lambda name: first[name])[-2:] == [best, growth_chart.BOUND]


def test_bugs_and_corpus_survive_the_file(tmp_path):
    campaign = grown("one", 8, 100)
    snapshot.write(tmp_path / "one.growth.jsonl", [campaign])
    (back,) = snapshot.read(tmp_path / "one.growth.jsonl").campaigns
    assert back.bugs == campaign.bugs
    assert [o.corpus for o in back.observations] == [o.corpus for o in campaign.observations]


@pytest.mark.parametrize("n", [-1, 10**6])
def test_a_bug_outside_of_its_campaign_is_refused(tmp_path, n):
    path = tmp_path / "bad.growth.jsonl"
    lines = list(snapshot.dump(grown("one", 8, 100, seconds=3)))
    line = {**json.loads(lines[1]), "bugs": [{"id": "x", "n": n}]}
    path.write_text(f"{lines[0]}\n{json.dumps(line)}\n")
    with pytest.raises(BadInput, match="bugs"):
        snapshot.read(path)


@pytest.mark.slow
def test_every_engine_is_recorded_and_goes_on_where_it_ended(tmp_path, capsys):
    root = Path(__file__).parents[1] / "examples"
    plan = tmp_path / "campaign.toml"
    plan.write_text(
        f"""
        [campaign]
        epoch = "1s"
        [[target]]
        sources = "{root}/ini.c"
        [[target]]
        engine = "black-box"
        sources = "{root}/sums.c"
        corpus = "{root}/seeds/sums-short.txt"
        """
    )
    out = tmp_path / "rec"
    words = ["record", str(plan), "--repeats", "1", "--cores", "1", "--out", str(out), "--json"]
    assert main([*words, "--time", "2s"]) == 0
    told = capsys.readouterr()
    first = {one["name"]: one for one in json.loads(told.out)["targets"]}
    for name, one in first.items():  # what is said as each ends is what there is in the end
        assert f"{name}: {one['runs']:,} inputs" in told.err
    assert all(one["runs"] > 0 and one["finished"] for one in first.values())
    assert len(growth_files([out])) == 2
    assert main([*words, "--time", "2s"]) == 0  # nothing is left to do
    again = {one["name"]: one for one in json.loads(capsys.readouterr().out)["targets"]}
    assert {n: one["runs"] for n, one in again.items()} == {
        n: one["runs"] for n, one in first.items()
    }
    assert main(["replay", str(out), "--repeats", "2", "--scheduler", "risk-rate"]) == 0
    assert "risk-rate" in capsys.readouterr().out
