"""Values as they may be shown: what is or holds a secret is masked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from gemini_companion.settings.objects import JsonObject

MASK: Final = "••••"

_SECRET_NAME: Final = re.compile(r"(?i)key|token|secret|passw|credential|authorization|cookie")
_SECRET_SECTIONS: Final = frozenset({"env", "headers"})
_KNOWN: Final = re.compile(
    r"\b(?:AIza[\w-]{20}|sk-[\w-]{16}|gh[pousr]_\w{16}|github_pat_\w{16}|glpat-[\w-]{16}|xox[a-z]-[\w-]{8}|ya29\.[\w-]{8}"
    r"|AKIA\w{12}|eyJ[\w-]{8})[\w.=/+-]{0,4096}"
    r"|(?i:\bbearer )\S{1,4096}"
)
_IN_ADDRESS: Final = re.compile(
    r"(?<=://)[^/@\s]{1,512}(?=@)|(?<=[?&])(\w{0,64}(?i:key|token|secret|sig)=)[^&\s]{1,4096}"
)
_OPTION: Final = re.compile(r"(?i)^--?[\w-]{0,64}(?:key|token|secret|password)[\w-]{0,64}(=)?")
_SHORTEST: Final = 6
"""Characters: what is shorter would mask parts of ordinary words."""


def masked(key: str, value: Any, env: Mapping[str, str]) -> Any:
    """A setting's value with secrets masked: by the name of a key, by their form, and those of the environment."""
    secrets = sorted(_secrets_of(env), key=len, reverse=True)
    return _masked(value, key.split("."), secrets)


def _masked(value: Any, path: list[str], secrets: Iterable[str]) -> Any:
    if isinstance(value, dict):
        return {name: _masked(held, [*path, name], secrets) for name, held in cast("JsonObject", value).items()}
    if isinstance(value, list):
        return _list(cast("list[Any]", value), path, secrets)
    if not isinstance(value, str) or not value:
        return value
    if _SECRET_SECTIONS.intersection(path[:-1]) or (
        path[0] in ("mcpServers", "hooks") and _SECRET_NAME.search(path[-1])
    ):
        return MASK
    for secret in secrets:
        value = value.replace(secret, MASK)
    value = _IN_ADDRESS.sub(lambda found: f"{found.group(1) or ''}{MASK}", value)
    return _KNOWN.sub(MASK, value)


def _list(values: list[Any], path: list[str], secrets: Iterable[str]) -> list[Any]:
    """The elements; of a command's arguments also what follows an option such as `--token`."""
    shown: list[Any] = []
    is_next = False
    for value in values:
        option = _OPTION.match(value) if isinstance(value, str) else None
        if isinstance(value, str) and is_next and not option:
            shown.append(MASK)
        elif option and option.group(1):
            shown.append(option.group() + MASK)
        else:
            shown.append(_masked(value, path, secrets))
        is_next = bool(option) and not (option and option.group(1))
    return shown


def _secrets_of(env: Mapping[str, str]) -> Iterable[str]:
    return (text for name, text in env.items() if _SECRET_NAME.search(name) and len(text) >= _SHORTEST)
