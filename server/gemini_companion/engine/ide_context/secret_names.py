"""Files that are secrets by their name: `.env*`, keys, certificates, and where tools keep what they log in with."""

from __future__ import annotations

import re

_SOURCE = re.compile(
    r"\.(?:py|pyi|ipynb|js|jsx|mjs|cjs|ts|tsx|mts|cts|vue|svelte|java|kt|kts|scala|groovy|go|rs|c|h|cc|cpp|cxx|hpp|cs|fs|vb|swift|m|mm|rb|php|pl|pm|lua"
    r"|r|jl|dart|ex|exs|erl|hs|ml|clj|sql|sh|bash|zsh|fish|ps1|html?|css|scss|less|md|mdx|rst|adoc)$"
)
"""Code and prose: `credentials.py` deals with credentials, it does not hold any."""

_LEFTOVER = re.compile(r"(?:~|[._-](?:bak|backup|old|orig|save|swp|swo|tmp|copy))$")

_ALWAYS = re.compile(
    r"""
    \.env.* | .*\.env | .*\.env\.[^.]+                      # spec: .env*, templates among them
    | .*\.(?:pem|key|p8|p12|pfx|pkcs12|jks|jceks|bks|keystore|truststore|ppk|kdbx?|psafe3|agilekeychain|1pif|keychain(?:-db)?|gpg|pgp)
    | .*\.(?:crt|cer|cert|der|p7[bcsr]|csr|ca-bundle)
    | [._](?:npmrc|yarnrc|netrc|pypirc|pgpass|htpasswd|my\.cnf|mylogin\.cnf|dockercfg|s3cfg|boto|vault-token|git-credentials|terraformrc)
    | kubeconfig | .*\.kubeconfig | \.?authinfo
    """,
    re.VERBOSE,
)

_UNLESS_SOURCE = re.compile(
    r"""
    (?:ssh_host_)?(?:rsa|dsa|ecdsa|ed25519)_key.* | id_(?:rsa|dsa|ecdsa|ed25519)(?:[._-].*)?
    | \.?credentials?(?:[._-].*)? | .*[._-]credentials?(?:\.[^.]+)?
    | \.?secrets?(?:\.[^.]+)? | client[._-]?secrets?.*
    | .*service[._-]?account.*\.(?:json|p12)
    """,
    re.VERBOSE,
)

_HOMES = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store"})
"""Folders that hold nothing else."""

_IN_FOLDER = frozenset({(".docker", "config.json"), ("gh", "hosts.yml"), (".cargo", "credentials.toml")})


def is_secret_name(path: str) -> bool:
    """True if the path's name says that its content is a secret; any kind of slash, any case, no look at the disk."""
    parts = [part.rstrip(". ") for part in re.split(r"[/\\]", path.lower()) if part]
    if not parts:
        return False
    *folders, name = parts
    if not _HOMES.isdisjoint(folders) or (folders and (folders[-1], name) in _IN_FOLDER):
        return True
    names = {name}
    for _ in range(3):  # `server.key.bak`, `.id_rsa.swp`, `.#.env`, `#.env#`
        name = _LEFTOVER.sub("", name).strip("#")
        names |= {name, name.removeprefix(".#"), name.removeprefix(".")}
    return any(_ALWAYS.fullmatch(name) or (_UNLESS_SOURCE.fullmatch(name) and not _SOURCE.search(name)) for name in names if name)
