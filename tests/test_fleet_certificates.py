"""The certificates of a fleet: made together, checked before use, accepted by TLS on both sides."""

from __future__ import annotations

import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from fuzzwise.campaign.fleet.certificates import ROLES, check_certificates, make_certificates
from fuzzwise.errors import BadInput


@pytest.fixture
def made(tmp_path):
    folder = tmp_path / "certificates"
    make_certificates(folder, ["fuzz1.example.org", "10.0.0.5"], 30)
    return folder


def context(folder, role, side, authority=None):
    """A TLS context as the parts of a fleet have it: both ends must show a certificate."""
    files = check_certificates(folder, role)
    found = ssl.SSLContext(side)
    found.load_cert_chain(files.certificate, files.key)
    found.load_verify_locations(authority or files.authority)
    found.verify_mode = ssl.CERT_REQUIRED
    found.verify_flags |= ssl.VERIFY_X509_STRICT
    return found


def shake_hands(server, client, name="localhost"):
    """The certificates that server and client see, after a handshake in memory."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=name),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    left = list(ends)
    for _ in range(10):
        for end in tuple(left):
            try:
                end.do_handshake()
                left.remove(end)
            except ssl.SSLWantReadError:
                continue
    assert not left
    return tuple(end.getpeercert() for end in ends)


def test_all_files_are_made_for_their_owner_alone(made):
    names = {"authority", *ROLES}
    assert {path.name for path in made.iterdir()} == {
        f"{name}{end}" for name in names for end in (".pem", "-key.pem")
    }
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in made.iterdir()} == {0o600}
    assert [path.name for path in made.parent.iterdir()] == ["certificates"]


@pytest.mark.parametrize("role", ROLES)
def test_every_role_is_server_and_client_to_every_other(made, role):
    for other in ROLES:
        server = context(made, role, ssl.PROTOCOL_TLS_SERVER)
        client = context(made, other, ssl.PROTOCOL_TLS_CLIENT)
        for host in ("localhost", "fuzz1.example.org", "10.0.0.5", "127.0.0.1"):
            seen_by_client, seen_by_server = shake_hands(server, client, host)
            assert ((("commonName", f"fuzzwise {role}"),),) == seen_by_client["subject"]
            assert ((("commonName", f"fuzzwise {other}"),),) == seen_by_server["subject"]


def test_a_host_that_was_not_named_is_not_who_it_says(made):
    server = context(made, "scheduler", ssl.PROTOCOL_TLS_SERVER)
    client = context(made, "worker", ssl.PROTOCOL_TLS_CLIENT)
    with pytest.raises(ssl.SSLCertVerificationError, match=r"not valid for 'elsewhere\.org'"):
        shake_hands(server, client, "elsewhere.org")


def test_a_worker_of_another_authority_is_refused(made, tmp_path):
    make_certificates(tmp_path / "other", [], 30)
    server = context(made, "scheduler", ssl.PROTOCOL_TLS_SERVER)
    stranger = context(
        tmp_path / "other", "worker", ssl.PROTOCOL_TLS_CLIENT, made / "authority.pem"
    )
    with pytest.raises(ssl.SSLCertVerificationError, match="unable to get local issuer"):
        shake_hands(server, stranger)
    (made / "authority.pem").write_bytes((tmp_path / "other" / "authority.pem").read_bytes())
    with pytest.raises(BadInput, match=r"worker\.pem is not signed by the authority in"):
        check_certificates(made, "worker")


def test_they_are_valid_from_an_hour_ago(made):
    now = datetime.now(UTC)
    for role in (*ROLES, "authority"):
        certificate = x509.load_pem_x509_certificate((made / f"{role}.pem").read_bytes())
        assert certificate.not_valid_before_utc <= now - timedelta(minutes=59)
        assert timedelta(days=29) < certificate.not_valid_after_utc - now <= timedelta(days=30)


def test_nothing_is_overwritten(made):
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    with pytest.raises(BadInput, match=r"certificates is there already.* never overwritten"):
        make_certificates(made, [], 30)
    assert {path.name: path.read_bytes() for path in made.iterdir()} == before
    (made.parent / "link").symlink_to("nowhere")
    with pytest.raises(BadInput, match="is there already"):
        make_certificates(made.parent / "link", [], 30)


def test_an_empty_folder_is_used_and_becomes_private(tmp_path):
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    make_certificates(folder, [], 1)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert check_certificates(folder, "manager").key == folder / "manager-key.pem"


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="certificates cannot be written there"):
        make_certificates(tmp_path / "file" / "folder", [], 1)


@pytest.mark.parametrize("host", ["", "a b", "tcp://x", "x:8786", "-x", "x" * 64, "ä.org", "a..b"])
def test_what_is_no_host_is_refused_before_anything_is_made(tmp_path, host):
    with pytest.raises(BadInput, match="neither the name nor the address of a machine"):
        make_certificates(tmp_path / "new", [host], 1)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("days", [0, -1, 4000])
def test_days_have_bounds(tmp_path, days):
    with pytest.raises(BadInput, match=f"for 1 to 3650 days, not for {days}"):
        make_certificates(tmp_path / "new", [], days)


@pytest.mark.parametrize("name", ["authority.pem", "worker.pem", "worker-key.pem"])
def test_what_is_missing_or_damaged_is_named(made, name):
    (made / name).write_text("no certificate")
    with pytest.raises(BadInput, match=rf"{name}: is no (certificate|key) that can be used"):
        check_certificates(made, "worker")
    (made / name).unlink()
    with pytest.raises(BadInput, match=rf"{name}: there is no such file.*fleet certificates DIR"):
        check_certificates(made, "worker")
    if name != "authority.pem":
        check_certificates(made, "manager")


def test_the_key_of_the_authority_is_not_needed(made):
    (made / "authority-key.pem").unlink()
    check_certificates(made, "worker")


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o602])
def test_a_key_that_others_can_read_is_refused(made, mode):
    (made / "worker-key.pem").chmod(mode)
    with pytest.raises(BadInput, match=r"others on this machine can read\. .*chmod 600"):
        check_certificates(made, "worker")


def test_a_key_of_another_certificate_is_told(made):
    (made / "worker-key.pem").write_bytes((made / "manager-key.pem").read_bytes())
    with pytest.raises(BadInput, match=r"worker-key\.pem is not the key of worker\.pem"):
        check_certificates(made, "worker")


def signed_for(folder: Path, begin: timedelta, end: timedelta) -> None:
    """Sign the worker's certificate anew, valid from and until so long from now."""
    old = x509.load_pem_x509_certificate((folder / "worker.pem").read_bytes())
    key = load_pem_private_key((folder / "authority-key.pem").read_bytes(), None)
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder(extensions=list(old.extensions))
        .subject_name(old.subject)
        .issuer_name(old.issuer)
        .public_key(old.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + begin)
        .not_valid_after(now + end)
    )
    (folder / "worker.pem").write_bytes(builder.sign(key, SHA256()).public_bytes(Encoding.PEM))


def test_one_that_has_expired_is_told_with_the_time(made):
    signed_for(made, timedelta(days=-3), timedelta(days=-1))
    expired = x509.load_pem_x509_certificate((made / "worker.pem").read_bytes())
    when = f"{expired.not_valid_after_utc:%Y-%m-%d at %H:%M}"
    with pytest.raises(BadInput, match=rf"worker\.pem has expired on {when} UTC\. Make new"):
        check_certificates(made, "worker")


def test_one_that_is_not_valid_yet_is_told(made):
    signed_for(made, timedelta(days=1), timedelta(days=2))
    with pytest.raises(BadInput, match="later than the clock of this machine says"):
        check_certificates(made, "worker")
