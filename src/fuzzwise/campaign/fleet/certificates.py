"""Who may take part in a fleet: an authority, and a certificate each for what it has signed.

Both ends of every connection show theirs (mutual TLS), so that each can be client and server. The
key of the authority signs further certificates and is needed for nothing else: it stays with who
made it.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from fuzzwise.errors import BadInput, need_extra
from fuzzwise.files import see_to_disk, write_whole
from fuzzwise.received import cannot_read, read_limited
from fuzzwise.text import printable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, CertificateBuilder, GeneralName, KeyUsage

AUTHORITY = "authority"
ROLES = ("manager", "scheduler", "worker")
MOST_DAYS = 3650
BEFORE_NOW = timedelta(hours=1)
"""From when certificates are valid: clocks of other machines may be behind."""

_LONGEST_FILE = 1 << 20
_LOCAL = ("localhost", "127.0.0.1", "::1")
_NAME_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-.")


@dataclass(frozen=True)
class Certificates:
    """The files that one part of a fleet shows and checks others with."""

    authority: Path
    certificate: Path
    key: Path


def make_certificates(folder: Path, hosts: Sequence[str], days: int) -> None:
    """Make an authority and a certificate for each role in a folder that is new or empty.

    ``hosts`` are names and addresses of machines that are served from, besides this one by itself.
    The folder appears whole or not at all, and is its owner's alone.
    """
    if not 1 <= days <= MOST_DAYS:
        raise BadInput(f"Certificates are valid for 1 to {MOST_DAYS} days, not for {days}.")
    made = _made([*dict.fromkeys((*_LOCAL, *hosts))], days)
    folder = Path(os.path.normpath(folder.absolute()))
    if folder.is_symlink() or (folder.exists() and not _is_empty(folder)):
        raise BadInput(
            f"{printable(str(folder))} is there already, and keys are never overwritten. Choose a "
            "new folder, or remove this one if nobody uses its certificates any more."
        )
    scratch: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        for name, content in made.items():
            write_whole(scratch / name, content)
            (scratch / name).chmod(0o600)
        scratch.rename(folder)  # fails where anything was put there meanwhile
        see_to_disk(folder.parent)
    except OSError as error:
        raise BadInput(
            f"{printable(str(folder))}: certificates cannot be written there "
            f"({error.strerror}). Choose another folder."
        ) from error
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)


def check_certificates(folder: Path, role: str) -> Certificates:
    """The files of a role (one of ``ROLES``) in a folder; BadInput where they cannot be used."""
    found = Certificates(
        folder / f"{AUTHORITY}.pem", folder / f"{role}.pem", folder / f"{role}-key.pem"
    )
    authority, certificate = _certificate(found.authority), _certificate(found.certificate)
    _check_private(found.key)
    _check_key(found, certificate)
    for path, each in ((found.authority, authority), (found.certificate, certificate)):
        _check_time(path, each)
    try:
        certificate.verify_directly_issued_by(authority)
    except Exception as error:
        raise BadInput(
            f"{printable(str(found.certificate))} is not signed by the authority in "
            f"{printable(str(found.authority))}. Copy all files of one `fuzzwise fleet "
            "certificates`, which made them together."
        ) from error
    return found


def _is_empty(folder: Path) -> bool:
    try:
        return not any(folder.iterdir())
    except OSError:
        return False


def _made(hosts: Sequence[str], days: int) -> dict[str, bytes]:
    """The content of all files, by their names."""
    _check_installed()
    names = [_general_name(host) for host in hosts]
    signing = _Authority(days)
    files = _files(AUTHORITY, signing.certificate, signing.key)
    for role in ROLES:
        files |= _files(role, *signing.signed(role, names))
    return files


class _Authority:
    """Signs certificates that are valid as long as its own."""

    def __init__(self, days: int) -> None:
        from cryptography import x509

        self._begin = datetime.now(UTC).replace(microsecond=0) - BEFORE_NOW
        self._end = self._begin + BEFORE_NOW + timedelta(days=days)
        self.key = _new_key()
        # With a name of its own each, it is told that a certificate is of another one.
        self._name = f"fuzzwise authority {os.urandom(4).hex()}"
        self.certificate = self._finished(
            self._begun(self._name, self.key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
        )

    def signed(
        self, role: str, names: Sequence[GeneralName]
    ) -> tuple[Certificate, EllipticCurvePrivateKey]:
        """A certificate for one role, as client and as server, with its key."""
        from cryptography import x509
        from cryptography.x509.oid import ExtendedKeyUsageOID

        both = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
        key = _new_key()
        return self._finished(
            self._begun(f"fuzzwise {role}", key)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(both), critical=False)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
        ), key

    def _begun(self, name: str, key: EllipticCurvePrivateKey) -> CertificateBuilder:
        from cryptography import x509
        from cryptography.x509.oid import NameOID

        def named(text: str) -> x509.Name:
            return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

        ours, theirs = self.key.public_key(), key.public_key()
        return (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named(self._name))
            .public_key(theirs)
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._begin)
            .not_valid_after(self._end)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(theirs), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ours), critical=False)
        )

    def _finished(self, builder: CertificateBuilder) -> Certificate:
        from cryptography.hazmat.primitives.hashes import SHA256

        return builder.sign(self.key, SHA256())


def _new_key() -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _usage(*, signs_certificates: bool) -> KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _files(name: str, certificate: Certificate, key: EllipticCurvePrivateKey) -> dict[str, bytes]:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    plain = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return {f"{name}.pem": certificate.public_bytes(Encoding.PEM), f"{name}-key.pem": plain}


def _general_name(host: str) -> GeneralName:
    from cryptography.x509 import DNSName, IPAddress

    try:
        return IPAddress(ip_address(host))
    except ValueError:
        pass
    labels = host.lower().removesuffix(".").split(".")
    sound = _NAME_LETTERS.issuperset(host.lower()) and len(host) <= 253
    if not sound or any(not 1 <= len(label) <= 63 or label.startswith("-") for label in labels):
        raise BadInput(
            f"{host[:300]!r} is neither the name nor the address of a machine. Give it as others "
            "reach it, without a port: fuzz1.example.org, 10.0.0.5."
        )
    return DNSName(host)


def _check_installed() -> None:
    try:
        import cryptography.x509  # noqa: F401
    except ImportError as error:
        raise need_extra("A fleet", "cryptography", "fleet") from error


def _read(path: Path) -> bytes:
    try:
        return read_limited(path, _LONGEST_FILE)
    except FileNotFoundError as error:
        raise BadInput(
            f"{printable(str(path))}: there is no such file. Make certificates with: fuzzwise "
            "fleet certificates DIR; then copy that folder, without authority-key.pem, to each "
            "machine."
        ) from error
    except OSError as error:
        raise cannot_read(path, error) from error


def _certificate(path: Path) -> Certificate:
    _check_installed()
    from cryptography import x509

    content = _read(path)
    try:
        return x509.load_pem_x509_certificate(content)
    except ValueError as error:
        raise _unusable(path, "certificate") from error


def _check_private(key: Path) -> None:
    """Refuse a key that others can read; its group may, where root gave it to that group."""
    try:
        info = key.stat()
    except OSError:
        return  # whoever reads it says so
    allowed = 0o740 if info.st_uid == 0 and os.geteuid() != 0 else 0o700
    if stat.S_IMODE(info.st_mode) & ~allowed:
        raise BadInput(
            f"{printable(str(key))} is a key that others on this machine can read. Keep it to "
            f"yourself: chmod 600 {printable(str(key))}"
        )


def _check_key(files: Certificates, certificate: Certificate) -> None:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content = _read(files.key)
    try:
        key = load_pem_private_key(content, None)
    except Exception as error:
        raise _unusable(files.key, "key") from error
    if key.public_key() != certificate.public_key():
        raise BadInput(
            f"{printable(str(files.key))} is not the key of {files.certificate.name} beside it. "
            "Copy both from the folder that `fuzzwise fleet certificates` made."
        )


def _unusable(path: Path, what: str) -> BadInput:
    return BadInput(
        f"{printable(str(path))}: is no {what} that can be used (PEM, without a password). Copy it "
        "again from the folder that `fuzzwise fleet certificates` made."
    )


def _check_time(path: Path, certificate: Certificate) -> None:
    now = datetime.now(UTC)
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if now > end:
        raise BadInput(
            f"{printable(str(path))} has expired on {_when(end)}. Make new ones in a new folder "
            "with: fuzzwise fleet certificates DIR; then copy them to each machine."
        )
    if now < begin:
        raise BadInput(
            f"{printable(str(path))} is valid from {_when(begin)} on, which is later than the "
            "clock of this machine says. Set the clock."
        )


def _when(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d at %H:%M} UTC"
