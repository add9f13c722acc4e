"""The environment of hooks: the daemon's, without its secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_SECRET_NAME: Final = re.compile("TOKEN|SECRET|PASSWORD|PASSWD|KEY|AUTH|CREDENTIAL|CREDS|PRIVATE|CERT", re.IGNORECASE)
_SECRET_TEXT: Final = re.compile(
    r"-----BEGIN|://[^/\s:@]{1,200}:[^/\s@]{1,200}@|^(?:AIza|gh[pousr]_|github_pat_|glpat-|sk-|xox[abprs]-|eyJ|AKIA|ASIA)"
)
_HARMLESS: Final = frozenset({"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "XAUTHORITY"})
"""Paths without which programs reach no network, or no screen."""
_OURS: Final = re.compile("BASH_ENV|ENV|BASH_FUNC_.*")
"""What a shell would run by itself ahead of the hook."""


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """What hooks get of an environment: all but what is a secret by its name or by its look."""
    return {
        name: text
        for name, text in environment.items()
        if not _OURS.fullmatch(name)
        and (name.upper() in _HARMLESS or not _SECRET_NAME.search(name))
        and not _SECRET_TEXT.search(text[:10_000])
    }
