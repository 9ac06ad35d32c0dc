"""Nobody gets into a fleet without a certificate, but on this machine."""

from __future__ import annotations

import pytest

from fuzzwise.campaign.fleet.certificates import make_certificates
from fuzzwise.campaign.fleet.security import door, listening
from fuzzwise.errors import BadInput


@pytest.mark.parametrize(
    "address", ["localhost:1", "127.0.0.1:1", "tcp://[::1]:1", "tcp://127.8.0.1"]
)
def test_this_machine_is_reached_without_certificates(address):
    assert door(address, None, "worker").address.startswith("tcp://")


@pytest.mark.parametrize(
    "address", ["example.org:1", "tcp://10.0.0.1:1", "0.0.0.0:1", "tls://localhost:1"]
)
def test_others_are_not(address):
    with pytest.raises(BadInput, match="fuzzwise fleet certificates DIR"):
        door(address, None, "worker")
    with pytest.raises(BadInput, match="fuzzwise fleet certificates DIR"):
        listening("0.0.0.0", 8786, None)


@pytest.mark.parametrize("address", ["", "a b", "http://x:1", "host:port", "x:1/path", "u:p@x:1"])
def test_what_is_no_address_is_told(address):
    with pytest.raises(BadInput, match=r"no address of a fleet|beyond this machine"):
        door(address, None, "worker")


def test_with_certificates_everything_is_encrypted(tmp_path):
    make_certificates(tmp_path / "c", ["example.org"], 2)
    found = door("example.org:1", tmp_path / "c", "worker")
    assert found.address == "tls://example.org:1"
    assert found.security.require_encryption
    with pytest.raises(BadInput, match="Write tls://localhost:1"):
        door("tcp://localhost:1", tmp_path / "c", "manager")
