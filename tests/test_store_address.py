"""Addresses of stores: read as they are written, shown without what is secret in them."""

from __future__ import annotations

import json

import pytest

from fuzzwise.campaign.file import folder_of, read_plan
from fuzzwise.campaign.lookup import campaign_place
from fuzzwise.cli.campaign_output import Named
from fuzzwise.errors import BadInput
from fuzzwise.store.address import Address, is_address, read_address

SECRET = "geheim"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://host/db", "postgresql://host/db"),
        ("postgres://host/db", "postgresql://host/db"),
        ("postgresql://u:geheim@host:5433/db", "postgresql://u@host:5433/db"),
        (
            "postgresql://u:geheim@[::1]:5433/db?campaign=a",
            "postgresql://u@[::1]:5433/db?campaign=a",
        ),
        ("postgresql:///db?host=%2Frun&password=geheim", "postgresql:///db?host=%2Frun"),
        ("postgresql:///db?sslpassword=geheim&campaign=a%20b", "postgresql:///db?campaign=a%20b"),
        ("postgresql://:geheim@host/db", "postgresql://@host/db"),
        ("postgresql://u:ge%40heim@host/db", "postgresql://u@host/db"),
    ],
)
def test_an_address_is_shown_without_its_password(text, shown):
    found = read_address(text)
    assert str(found) == shown
    assert repr(found) == f"Address('{shown}')"
    assert SECRET not in f"{found} {found!r} {[found]}"
    assert read_address(str(found)).campaign == found.campaign


@pytest.mark.parametrize(
    "text",
    [
        *("mysql://u:geheim@host/db", "postgresql://u:ge@heim@host/db", "u:geheim@host"),
        *("postgresql://u:ge/heim@host/db", "postgresql://u:ge?heim@host/db"),
        *("postgresql://host/db?password=ge@heim", "postgresql://host/db?pass%77ord=geheim"),
        *("postgresql://u:geheim@host/\ndb", f"postgresql://host/db?campaign={'x' * 101}"),
    ],
)
def test_what_is_no_address_is_refused_without_its_password(tmp_path, text):
    with pytest.raises(BadInput) as problem:
        read_address(text)
    assert "heim" not in str(problem.value)
    file = tmp_path / "campaign.toml"
    file.write_text(f"[campaign]\nstore = {json.dumps(text)}\n")
    for use in (read_plan, folder_of):
        with pytest.raises(BadInput) as mistake:
            use(file)
        assert "heim" not in str(mistake.value)
        assert "campaign.store is no address of a database: " in str(mistake.value)


def test_the_password_is_known_as_it_was_meant():
    assert read_address("postgresql://u:ge%40heim@host/db").password == "ge@heim"
    assert read_address("postgresql://u@host/db").password == ""


def test_the_store_of_a_file_has_the_name_of_the_campaign(tmp_path):
    file = tmp_path / "nightly.toml"
    (tmp_path / "seed").write_text("x")
    target = '[[target]]\nengine = "black-box"\ncommand = "/bin/true @@"\ncorpus = "seed"\n'
    file.write_text(f'[campaign]\nstore = "postgresql://host/db"\n{target}')
    assert read_plan(file).store == Address(
        "postgresql://host/db", "nightly", tmp_path / "nightly-out"
    )
    assert campaign_place(file) == read_plan(file).store
    file.write_text(f'[campaign]\nname = "x y"\nstore = "postgresql://host/db"\n{target}')
    assert str(read_plan(file).store) == "postgresql://host/db?campaign=x%20y"
    file.write_text(f'[campaign]\nname = "x"\nstore = "postgresql:///db?campaign=other"\n{target}')
    assert str(read_plan(file).store) == "postgresql:///db?campaign=other"
    file.write_text(f"[campaign]\n{target}")
    assert read_plan(file).store is None
    file.write_text(f"[campaign]\nstore = 5\n{target}")
    with pytest.raises(BadInput, match=r"campaign\.store is no text"):
        read_plan(file)


def test_an_address_on_the_command_line_stays_as_it_is(tmp_path):
    text = "postgresql://u:geheim@host/db?campaign=x"
    assert is_address(text)
    assert Named().convert(text, None, None) == text
    assert campaign_place(text) == Address("postgresql://u:geheim@host/db", "x")
    assert Named().convert(str(tmp_path), None, None) == tmp_path
    with pytest.raises(BadInput) as problem:
        campaign_place("postgresql://u:ge@heim@host/db")
    assert "heim" not in str(problem.value)
