"""The environment of hooks and of MCP servers: the daemon's, without its secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gemini_companion.adapters.processes.environment import is_harmless
from gemini_companion.engine.ide_context.secrets import find_secrets

_SECRET_NAME: Final = re.compile(
    "TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|(?:^|_)PASS(?:_|$)|_PWD$|KEY|AUTH|CREDENTIAL|CREDS|PRIVATE|CERT|COOKIE",
    re.IGNORECASE,
)
_SECRET_TEXT: Final = re.compile(
    r"-----BEGIN|\b(?i:bearer|basic) \S{8}|^(?:AIza|gh[pousr]_|github_pat_|glpat-|sk-|xox[abprs]-|eyJ|AKIA|ASIA)"
)
"""Beginnings that are enough: what looks like a secret in a file need not be one, in an environment it is."""
_HARMLESS: Final = frozenset({"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "XAUTHORITY"})
"""Paths without which programs reach no network, or no screen."""
_ALSO_HARMLESS: Final = frozenset({
    "COLORTERM", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "NO_COLOR", "NO_PROXY", "HTTP_PROXY", "HTTPS_PROXY",
    "ALL_PROXY", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "TERM", "WAYLAND_DISPLAY", "XAUTHORITY",
    "XDG_CONFIG_DIRS", "XDG_DATA_DIRS", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE",
})  # fmt: skip
"""What hooks and servers need beside what commands do."""
_OURS: Final = re.compile("BASH_ENV|ENV|BASH_FUNC_.*")
"""What a shell would run by itself ahead of the hook."""
_SHORTEST: Final = 8
"""Characters from which on the text of a secret is looked for in other variables."""
_LONGEST: Final = 20_000
"""Characters of a variable that are looked through; one that is longer is kept if its beginning is harmless."""


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """What the person's own hooks and servers get of an environment: all but what is a secret by its name or by its
    look, or has such a secret in it.
    """
    kept = {
        name: text
        for name, text in environment.items()
        if not _OURS.fullmatch(name) and not _is_secret(name) and not _looks_secret(text[:_LONGEST])
    }
    secrets = {text for name, text in environment.items() if _is_secret(name) and len(text) >= _SHORTEST}
    # A path that such a name has, and another variable too, is no secret.
    secrets = {text for text in secrets if not text.startswith(("/", "~", "."))}
    return {name: text for name, text in kept.items() if not any(secret in text for secret in secrets)}


def for_others(environment: Mapping[str, str]) -> dict[str, str]:
    """What a workspace's hooks and servers get of an environment: what programs need, by a list of harmless names, for
    no list of secret ones has them all.
    """
    # What is harmless by its name may still have a secret in it, such as a proxy's password.
    return {
        name: text
        for name, text in scrubbed(environment).items()
        if is_harmless(name) or (name.upper() in _ALSO_HARMLESS and "@" not in text)
    }


def _is_secret(name: str) -> bool:
    return name.upper() not in _HARMLESS and _SECRET_NAME.search(name) is not None


def _looks_secret(text: str) -> bool:
    return _SECRET_TEXT.search(text) is not None or any(find_secrets(text))
