"""The certificates that our own requests trust."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gemini_companion.adapters.certificates import tls_context


def certificate() -> str:
    """One that a company signed itself."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A company")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM).decode()


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    tls_context.cache_clear()
    yield
    tls_context.cache_clear()


def test_certificates_that_a_company_adds_are_trusted_beside_the_systems(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("NODE_EXTRA_CA_CERTS", raising=False)
    before = tls_context().get_ca_certs()
    added = tmp_path / "company.pem"
    added.write_text(certificate(), "utf-8")
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(added))
    tls_context.cache_clear()
    context = tls_context()
    assert len(context.get_ca_certs()) == len(before) + 1
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_a_file_without_certificates_leaves_the_systems_and_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str | None
) -> None:
    added = tmp_path / "company.pem"
    if content is not None:
        added.write_text(content, "utf-8")
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(added))
    assert tls_context().verify_mode == ssl.CERT_REQUIRED
    assert "NODE_EXTRA_CA_CERTS" in caplog.text
