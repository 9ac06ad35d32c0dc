"""The snapshot format: what is written comes back, what is wrong is named."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzwise.errors import BadInput
from fuzzwise.lab.urn.urn import Urn, data_points, simulate
from fuzzwise.model import Observation, Truth
from fuzzwise.snapshot import Campaign, dump, observation_line, read, write
from observations import ints, observations, seeds

HEADER = '{"format":"fuzzwise-observations","version":1,"campaign":"c"}'


def log(tmp_path: Path, *lines: str, end: str = "\n") -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(lines) + end)
    return path


def same(a: Observation, b: Observation) -> bool:
    def plain(value):
        if isinstance(value, np.ndarray):
            return value.tolist()
        if hasattr(value, "q"):
            return [plain(getattr(value, name)) for name in ("q", "n", "f1", "f2", "k", "g")]
        return dict(value) if isinstance(value, dict) else value

    return all(plain(getattr(a, name)) == plain(getattr(b, name)) for name in a.__slots__)


@given(
    seen=observations(),
    waiting=st.none() | st.floats(0, 1),
    tried=st.none() | st.integers(0, 10**15),
)
def test_an_observation_comes_back_as_it_was_written(tmp_path_factory, seen, waiting, tried):
    o = replace(seen, waiting=waiting, tried=tried)
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    write(path, [Campaign("one", (o,), subject="s", species_kind="edge")])
    (campaign,) = read(path).campaigns
    assert (campaign.name, campaign.subject, campaign.species_kind) == ("one", "s", "edge")
    assert same(campaign.observations[0], o)


def test_whole_campaigns_come_back_with_their_history(tmp_path):
    runs = simulate(Urn(), "greybox", data_points(3000), 2, seed=1)
    written = [Campaign(f"run {i}", tuple(run.observations())) for i, run in enumerate(runs)]
    path = tmp_path / "log.jsonl"
    write(path, written)
    back = read(path)
    assert back.warnings == ()
    for before, after in zip(written, back.campaigns, strict=True):
        assert before.name == after.name
        assert all(same(a, b) for a, b in zip(before.observations, after.observations, strict=True))


def test_discoveries_are_written_once_not_with_every_line():
    times = ints([1, 5, 9])
    observations = tuple(Observation(n=n, discoveries=times[times <= n]) for n in (2, 6, 10))
    lines = [json.loads(line) for line in dump(Campaign("c", observations))]
    assert [line["discoveries"] for line in lines[1:]] == [[1], [5], [9]]


def test_files_can_be_put_one_behind_the_other(tmp_path):
    path = log(tmp_path, HEADER, '{"n":1}', HEADER.replace('"c"', '"d"'), '{"n":7}', '{"n":8}')
    campaigns = read(path).campaigns
    assert [(c.name, len(c.observations)) for c in campaigns] == [("c", 1), ("d", 2)]


def test_a_last_line_still_being_written_is_left_out_with_a_warning(tmp_path):
    whole = observation_line(Observation(n=100, species=4, f=(1, 1, 0, 0), discoveries=ints([3])))
    for cut in range(1, len(whole)):
        path = log(tmp_path, HEADER, '{"n":50,"discoveries":[]}', whole[:cut], end="")
        result = read(path)
        assert [o.n for o in result.campaigns[0].observations] == [50]
        assert len(result.warnings) == 1
        assert "line 3" in result.warnings[0]
        assert str(path) in result.warnings[0]


def test_a_complete_last_line_without_line_end_counts(tmp_path):
    result = read(log(tmp_path, HEADER, '{"n":50}', end=""))
    assert result.campaigns[0].observations[0].n == 50
    assert result.warnings == ()


def packed(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(content)
    return path


def test_what_gzip_has_packed_is_read(tmp_path):
    plain = log(tmp_path, HEADER, '{"n":1}', '{"n":2}')
    path = packed(tmp_path, gzip.compress(plain.read_bytes()))
    assert [o.n for o in read(path).campaigns[0].observations] == [1, 2]


def test_of_a_packed_file_that_is_cut_off_what_is_there_counts(tmp_path):
    lines = "".join(f'{{"n":{n}}}\n' for n in range(1, 2000))
    whole = gzip.compress(f"{HEADER}\n{lines}".encode())
    (campaign,) = read(packed(tmp_path, whole[: len(whole) // 2])).campaigns
    seen = [o.n for o in campaign.observations]
    assert 100 < len(seen) < 1999
    assert seen == list(range(1, len(seen) + 1))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x1f\x8b no gzip at all", "gzip cannot unpack it"),
        (gzip.compress(b"{}", mtime=0) * 2, "something follows its end"),
        (gzip.compress(b" " * 3_000_000, mtime=0), "unpacks to more than 1,000,000 bytes"),
    ],
)
def test_what_gzip_cannot_unpack_or_unpacks_to_too_much_is_refused(
    tmp_path, monkeypatch, content, message
):
    monkeypatch.setattr("fuzzwise.snapshot.MOST_DATA", 1_000_000)
    with pytest.raises(BadInput, match=message):
        read(packed(tmp_path, content))


def test_a_truncated_line_in_the_middle_is_an_error(tmp_path):
    path = log(tmp_path, HEADER, '{"n":50,"spec', '{"n":60}')
    with pytest.raises(BadInput, match=r"log\.jsonl, line 2: ends in the middle of a value"):
        read(path)


def test_a_wrong_last_line_is_an_error_even_without_line_end(tmp_path):
    path = log(tmp_path, HEADER, '{"n":-5}', end="")
    with pytest.raises(BadInput, match="line 2: n: is -5"):
        read(path)


SEEDS = '"seeds":{"q":[0.5,0.5],"n":[3,4]'

WRONG = [
    # not JSON, or not what is expected
    ('{"n":NaN}', "n: is nan"),
    ('{"n":10,"seconds":Infinity}', "seconds: is inf"),
    ('{"n":10,"seeds":{"q":[NaN],"n":[1]}}', r"seeds\.q\[0\]: is nan"),
    ('{"n":1e999}', "out of range"),
    ('{"n":10,}', "not valid JSON"),
    ("hello", "not valid JSON"),
    ("[1,2]", "expected object"),
    ('{"n":"ten"}', "n: expected int, got str"),
    ('{"n":1.5}', "n: expected int"),
    ('{"seconds":3}', "n: is missing"),
    ('{"n":10,"f":[1,2,3]}', "f: expected array of length 4"),
    ('{"n":10,"specis":4}', "specis: is an unknown field; did you mean 'species'"),
    ('{"n":10,"seeds":{"q":[1],"n":[1],"f9":[1]}}', r"seeds\.f9: is an unknown field"),
    ('{"n":10,"seeds":{"q":[1]}}', r"seeds\.n: is missing"),
    ('{"n":10,"resets":{"x":1}}', "resets"),
    # negative or impossible numbers
    ('{"n":-1}', "n: is -1"),
    ('{"n":10,"seconds":-1}', r"seconds: is -1"),
    ('{"n":10,"seconds":5,"last_discovery_seconds":6}', "last_discovery_seconds: is 6"),
    ('{"n":10,"species":-3}', "species: is -3"),
    ('{"n":10,"f":[1,-2,0,0]}', r"f\[2\]: is -2"),
    ('{"n":10,"k":-1}', "k: is -1"),
    ('{"n":10,"resets":{"1":-1}}', r"resets\.1: is -1"),
    ('{"n":10,"resets":{"0":1}}', r"resets\.0"),
    ('{"n":10,"waiting":-0.25}', r"waiting: is -0\.25; expected a share"),
    ('{"n":10,"waiting":1.5}', r"waiting: is 1\.5"),
    ('{"n":10,"waiting":NaN}', "waiting: is nan"),
    ('{"n":10,"waiting":"all"}', "waiting: expected float"),
    ('{"n":10,"tried":-1}', "tried: is -1; a number of seeds cannot be negative"),
    ('{"n":10,"tried":2.5}', "tried: expected int"),
    # contradictions between counts
    ('{"n":10,"species":3,"f":[4,0,0,0]}', r"f\[1\]: is 4, more than the 3 species"),
    ('{"n":10,"species":3,"f":[2,2,0,0]}', "f: adds up to 4, more than the 3"),
    ('{"n":1,"species":9,"f":[0,2,0,0]}', r"f\[2\]: is 2, but 1 inputs"),
    ('{"n":10,"k":11}', "k: is 11, more than the 10 inputs"),
    ('{"n":10,"species":5,"f":[2,0,0,0],"k":3}', "k: is 3: more inputs with a singleton"),
    ('{"n":10,"species":5,"f":[2,0,0,0],"k":0}', "k: is 0, but there are 2 singletons"),
    ('{"n":10,"species":5,"resets":{"1":6}}', r"resets\.1: is 6, more than the 5"),
    # discoveries
    ('{"n":10,"discoveries":[3,2]}', "discoveries: is not increasing: 2 follows 3"),
    ('{"n":10,"discoveries":[3,3]}', "discoveries: is not increasing"),
    ('{"n":10,"discoveries":[0,3]}', "discoveries: names input 0, outside of 1 … 10"),
    ('{"n":10,"discoveries":[11]}', "discoveries: names input 11"),
    ('{"n":10,"species":1,"discoveries":[1,2]}', "discoveries: has 2 inputs"),
    ('{"n":10,"discoveries":[99999999999999999999]}', "discoveries: .*beyond"),
    (f'{{"n":{2**63 - 1},"discoveries":[3]}}', "n: is a number beyond 2.53"),
    (f'{{"n":10,"discoveries":[{2**53 + 1}]}}', "discoveries: .*beyond"),
    # seeds
    (f'{{"n":10,{SEEDS},"f1":[1]}}}}', r"seeds\.f1: has 1 elements, but seeds\.q has 2"),
    ('{"n":10,"seeds":{"q":[0.5,0.6],"n":[3,4]}}', r"seeds\.q: sums to 1\.1"),
    ('{"n":10,"seeds":{"q":[1.5,-0.5],"n":[3,4]}}', r"seeds\.q\[0\]: is 1\.5"),
    ('{"n":10,"seeds":{"q":[0.5,0.5],"n":[3,-4]}}', r"seeds\.n\[1\]: is -4"),
    ('{"n":6,"seeds":{"q":[0.5,0.5],"n":[3,4]}}', r"seeds\.n: sums to 7, more than the 6"),
    (f'{{"n":10,{SEEDS},"k":[4,0]}}}}', r"seeds\.k\[0\]: is 4, more than the 3"),
    (f'{{"n":10,"k":1,{SEEDS},"k":[1,1]}}}}', r"seeds\.k: sums to 2, more than k = 1"),
    ('{"n":10,"seeds":{"q":[1],"n":[0],"f1":[2]}}', r"seeds\.f1\[0\]: is 2, but that seed"),
    (f'{{"n":10,"species":5,{SEEDS},"g":[1,6]}}}}', r"seeds\.g\[1\]: is 6, more than the 5"),
    # truth
    ('{"n":10,"truth":{"probability":1.5}}', r"truth\.probability: is 1\.5"),
    ('{"n":10,"truth":{"discoveries":5,"inputs":4}}', r"truth\.discoveries: is 5"),
    ('{"n":10,"truth":{"discoveries":0,"inputs":0}}', r"truth\.inputs: is 0"),
    ('{"n":10,"truth":{"discoveries":5}}', "truth: needs either"),
    ('{"n":10,"truth":{"discoveries":1,"inputs":4,"probability":0.2}}', "truth: gives both"),
]


@pytest.mark.parametrize(("line", "message"), WRONG, ids=[w[0][:60] for w in WRONG])
def test_wrong_lines_are_named_by_file_line_and_field(tmp_path, line, message):
    path = log(tmp_path, HEADER, '{"n":0}', line)
    if "discoveries" in line and "truth" not in line:
        path = log(tmp_path, HEADER, "", line)  # the first observation may bring discoveries
    with pytest.raises(BadInput, match=rf"log\.jsonl, line 3: .*{message}"):
        read(path)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ('{"n":20}', '{"n":10}', "n: is 10 after 20"),
        ('{"n":20,"species":5}', '{"n":30,"species":4}', "species: is 4 after 5"),
        ('{"n":20,"seconds":5}', '{"n":30,"seconds":4}', "seconds: is 4"),
        (
            '{"n":20,"discoveries":[4]}',
            '{"n":30,"discoveries":[4,25]}',
            ".*list only the discoveries",
        ),
        ('{"n":20,"discoveries":[4]}', '{"n":30}', "discoveries: is missing"),
        ('{"n":20}', '{"n":30,"discoveries":[25]}', "discoveries: appears here"),
    ],
)
def test_lines_of_a_campaign_must_not_contradict_each_other(tmp_path, first, second, message):
    path = log(tmp_path, HEADER, first, second)
    with pytest.raises(BadInput, match=f"line 3: {message}"):
        read(path)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"n":3}'], "line 1: format: is missing"),
        (['{"format":"other","version":1}'], "line 1: format: is 'other'"),
        (['{"format":"fuzzwise-observations","version":2}'], "line 1: version: is 2"),
        (['{"format":"fuzzwise-observations"}'], "line 1: version: is missing"),
        ([""], "holds no campaign"),
    ],
)
def test_files_that_are_no_snapshot_are_refused(tmp_path, lines, message):
    with pytest.raises(BadInput, match=message):
        read(log(tmp_path, *lines))


def test_a_file_that_does_not_exist(tmp_path):
    with pytest.raises(BadInput, match=r"absent\.jsonl: cannot be read"):
        read(tmp_path / "absent.jsonl")


def test_measured_truth_is_a_share_and_feeds_later_extrapolation(tmp_path):
    path = log(
        tmp_path,
        HEADER,
        '{"n":100,"truth":{"discoveries":7,"inputs":100}}',
        '{"n":200,"truth":{"discoveries":0,"inputs":200}}',
    )
    first, second = read(path).campaigns[0].observations
    assert first.truth == Truth(0.07, 7, 100)
    assert second.measured == ((100, 0.07),)


def test_what_waits_may_be_missing_whole_or_fall(tmp_path):
    path = log(
        tmp_path,
        HEADER,
        '{"n":100}',
        '{"n":200,"waiting":1}',
        '{"n":300,"waiting":0.25,"tried":30}',
        '{"n":400,"tried":0}',
    )
    seen = [(o.waiting, o.tried) for o in read(path).campaigns[0].observations]
    assert seen == [(None, None), (1.0, None), (0.25, 30), (None, 0)]


def test_seeds_may_come_without_optional_columns(tmp_path):
    o = Observation(n=10, seeds=seeds([0.25, 0.75], [4, 6]))
    path = log(tmp_path, HEADER, observation_line(o))
    back = read(path).campaigns[0].observations[0].seeds
    assert back.f1 is None
    assert back.n.tolist() == [4, 6]
