"""Files that are secrets by their name: `.env*`, keys, certificates, and where tools keep their logins."""

from __future__ import annotations

import re

_KEYS_AND_CERTIFICATES = frozenset(
    (
        *(
            "pem",
            "key",
            "p8",
            "p12",
            "pfx",
            "pkcs12",
            "jks",
            "jceks",
            "bks",
            "keystore",
            "truststore",
            "ppk",
            "gpg",
            "pgp",
        ),
        *("crt", "cer", "cert", "der", "csr", "p7b", "p7c", "p7r", "p7s", "ca-bundle"),
        *("kdb", "kdbx", "psafe3", "agilekeychain", "1pif", "keychain", "keychain-db", "kubeconfig"),
    )
)
"""File extensions."""

_LOGINS = frozenset(
    (
        *(
            ".npmrc",
            ".yarnrc",
            ".netrc",
            "_netrc",
            ".authinfo",
            ".pypirc",
            ".pgpass",
            ".htpasswd",
            ".my.cnf",
            ".mylogin.cnf",
            ".dockercfg",
        ),
        *(".s3cfg", ".boto", ".vault-token", ".git-credentials", ".terraformrc", "terraform.rc", "kubeconfig"),
    )
)
"""Whole file names."""

_HOMES = frozenset((".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store"))
"""Folders that hold nothing else."""

_IN_FOLDER = frozenset(((".docker", "config.json"), ("gh", "hosts.yml")))

_TELLING = re.compile(
    r"""
    id_(?:rsa|dsa|ecdsa|ed25519)(?:[._-].*)? | ssh_host_\w+_key.*
    | [^.]*\.env(?:\.[^.]+)?
    | \.?(?:\w+[._-])?credentials?(?:[._-].*)? | \.?(?:client[._-]?)?secrets?(?:[._-]?\d*)?(?:\.[^.]+)? | client[._-]?secret.*
    | .*service[._-]?account.*\.json
    """,
    re.VERBOSE,
)
"""Names that point to a secret unless they are code: `credentials.py` deals with credentials and holds none."""

_CODE = re.compile(
    r"""py|pyi|ipynb|[cm]?jsx?|[cm]?tsx?|vue|svelte|java|kts?|scala|groovy|go|rs|c|h|cc|cpp|cxx|hpp|cs|fs|vb|swift|mm?|rb|php|pl|pm|lua|r|jl|dart|exs?|erl|hs
    |ml|clj|sql|sh|bash|zsh|fish|ps1|html?|css|scss|less|mdx?|rst|adoc""",
    re.VERBOSE,
)

_MAX_NAME = 255
"""No file system holds a longer name; a path that claims to have one is refused unread."""

_LEFTOVER = re.compile(r"(?:~|[._-](?:bak|backup|old|orig|save|swp|swo|tmp|copy))$")
_SLASH = re.compile(r"[/\\]+")


def is_secret_name(path: str) -> bool:
    """True if the path's name marks its content as secret. Any kind of slash, any case; the disk is not read.

    `.env*` is meant literally: templates such as `.env.example` are among them, because real values do get pasted
    there.
    """
    *folders, name = _SLASH.split(path.lower().rstrip("/\\"))
    if len(name) > _MAX_NAME:
        return True
    if folders and (not _HOMES.isdisjoint(folders) or (folders[-1], name) in _IN_FOLDER):
        return True
    name = name.rstrip(". ")  # Windows opens `id_rsa.` as `id_rsa`
    while (shorter := _LEFTOVER.sub("", name)) != name:  # `server.key.bak`
        name = shorter
    if name.startswith(("#", ".#")):  # what Emacs leaves of `.env`: `#.env#` and `.#.env`
        name = name.strip("#").removeprefix(".#")
    # An editor's copy of `id_rsa` is `.id_rsa.swp`.
    return _is_secret(name) or (name.startswith(".") and _is_secret(name[1:]))


def _is_secret(name: str) -> bool:
    extension = name.rpartition(".")[2] if "." in name else ""
    if name.startswith(".env") or extension in _KEYS_AND_CERTIFICATES or name in _LOGINS:
        return True
    return _CODE.fullmatch(extension) is None and _TELLING.fullmatch(name) is not None
