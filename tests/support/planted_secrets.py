"""Secrets of many kinds that open nothing, each in a text as people and programs write them."""

from __future__ import annotations

import base64
import json
import random
import string
from typing import Final, NamedTuple


class Planted(NamedTuple):
    """A secret, and a text that has it once."""

    kind: str
    secret: str
    text: str


_random = random.Random(20_261_123)
_LETTERS: Final = string.ascii_letters + string.digits


def _run(length: int, alphabet: str = _LETTERS) -> str:
    return "".join(_random.choice(alphabet) for _ in range(length))


def _pem() -> str:
    body = "\n".join(_run(64, _LETTERS + "+/") for _ in range(12))
    return f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"


def _jwt() -> str:
    parts = (json.dumps({"alg": "HS256", "typ": "JWT"}), json.dumps({"sub": _run(12), "role": "admin"}))
    encoded = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts]
    return ".".join((*encoded, _run(43)))


def _planted() -> tuple[Planted, ...]:
    hexadecimal, upper = "0123456789abcdef", string.ascii_uppercase + "234567"
    made = (
        ("private key", _pem(), "{}"),
        ("AWS access key", "AKIA" + _run(16, upper), "aws_access_key_id = {}"),
        ("AWS secret key", _run(40, _LETTERS), "aws_secret_access_key = {}"),
        ("Google API key", "AIza" + _run(35), "curl 'https://maps.example/?key={}'"),
        ("Google client secret", "GOCSPX-" + _run(28), '"client_secret": "{}"'),
        ("GitHub token", "ghp_" + _run(36), "git push https://x-access-token:{}@github.com/a/b"),
        ("GitHub fine-grained token", f"github_pat_{_run(22)}_{_run(59)}", "the token {} please"),
        ("GitLab token", "glpat-" + _run(20), "PRIVATE-TOKEN: {}"),
        ("Slack token", f"xoxb-{_run(12, string.digits)}-{_run(13, string.digits)}-{_run(24)}", "slack: {}"),
        ("Slack webhook", f"T{_run(8, upper)}/B{_run(8, upper)}/{_run(24)}", "https://hooks.slack.com/services/{}"),
        ("Stripe key", "sk_live_" + _run(24), "stripe.api_key = '{}'"),
        ("OpenAI key", "sk-proj-" + _run(48), "OPENAI_API_KEY={}"),
        ("Anthropic key", "sk-ant-api03-" + _run(93) + "AA", "ANTHROPIC_API_KEY={}"),
        ("npm token", "npm_" + _run(36), "//packages.example.org/:_authToken={}"),
        ("PyPI token", "pypi-AgEIcHlwaS5vcmc" + _run(80), "password = {}"),
        ("Hugging Face token", "hf_" + _run(34, string.ascii_letters), "login(token='{}')"),
        ("SendGrid key", f"SG.{_run(22)}.{_run(43)}", "SENDGRID={}"),
        ("JWT", _jwt(), "Authorization: Bearer {}"),
        ("database password", "kX9" + _run(12), "postgres://app:{}@db.internal:5432/orders"),
        ("assigned password", "Tr0ub4dor&3!x" + _run(4), 'DB_PASSWORD="{}"'),
        ("DigitalOcean token", "dop_v1_" + _run(64, hexadecimal), "export DO_TOKEN={}"),
        ("Shopify token", "shpat_" + _run(32, hexadecimal), "X-Shopify-Access-Token: {}"),
        ("Vault token", "hvs." + _run(95), "VAULT_TOKEN={}"),
        ("Azure storage key", _run(86, _LETTERS) + "==", "AccountName=a;AccountKey={};EndpointSuffix=core"),
    )
    return tuple(Planted(kind, secret, around.format(secret)) for kind, secret, around in made)


PLANTED: Final = _planted()


def planted(kind: str) -> Planted:
    """The one of this kind."""
    return next(one for one in PLANTED if one.kind == kind)


def shapes_of(secret: str) -> dict[str, bytes]:
    """How a secret might stand in bytes: as it is, as JSON has it, and in base64 at each alignment."""
    raw = secret.encode()
    found = {"as it is": raw, "as JSON": json.dumps(secret)[1:-1].encode()}
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw)
        found[f"base64 at {shift}"] = encoded[4 if shift else 0 : len(encoded) - 4]
    return found


def leaks_in(data: bytes, planted: tuple[Planted, ...] = PLANTED) -> list[str]:
    """The kinds, and the shapes, of the secrets that stand in these bytes, or their second half does."""
    found: list[str] = []
    for one in planted:
        lines = [line for line in one.secret.splitlines() if len(line) > 12 and "KEY" not in line]
        for text in lines:
            shapes = {**shapes_of(text), "its second half": text[len(text) // 2 :].encode()}
            found += [f"{one.kind} {shape}" for shape, data_of in shapes.items() if data_of in data]
    return found
