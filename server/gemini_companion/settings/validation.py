"""What is wrong with a layer of settings, by key, in sentences for people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from gemini_companion.settings.objects import JsonObject, KeyPath, nested, spelled, without
from gemini_companion.settings.schema import EXPECTED, FILE_NAME, SettingsFile

MISFIT_LIMIT: Final = 20

_STEP: Final = re.compile(r"\.(?P<key>\w+)|\[(?P<index>\d+)\]|(?P<unnamed>\[\.\.\.\])")
_TYPES: Final = re.compile(r"`([a-z |]+)`")
_WORDS: Final[Mapping[str, str]] = {
    "float": "a number",
    "int": "a whole number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


class Misfit(NamedTuple):
    """A key whose value cannot be used, and why. An empty path means the whole layer."""

    path: KeyPath
    what: str

    @property
    def key(self) -> str:
        """The key in dotted form, as in `context.fileName[1]`, fit to be sent whatever it holds."""
        return spelled(self.path).encode("utf-8", "replace").decode("utf-8").replace("\0", "?")


def misfits(layer: JsonObject) -> list[Misfit]:
    """Everything wrong with a layer, of each list only the first fault, at most 20; empty if all of it can be used."""
    found: list[Misfit] = []
    while len(found) < MISFIT_LIMIT and (misfit := first_misfit(layer)):
        found.append(misfit)
        keys = up_to_a_list(misfit.path)
        if not keys:
            break
        layer = without(layer, keys)
    return found


def first_misfit(layer: JsonObject) -> Misfit | None:
    """What is wrong first; `None` if all of the layer can be used."""
    try:
        settings = msgspec.convert(layer, SettingsFile)
    except msgspec.ValidationError as fault:
        text, _, location = str(fault).partition(" - at ")
        path = _path(layer, location)
        return Misfit(path, _plainly(text, path))
    name = settings.context.file_name
    if isinstance(name, str) and not re.search(FILE_NAME, name):
        return Misfit(("context", "fileName"), f"expected {EXPECTED['context.fileName']}")
    return None


def _path(layer: JsonObject, location: str) -> KeyPath:
    """The steps of a msgspec path such as `$.a[...].b[0]`, where `[...]` is a key that it does not name."""
    path: KeyPath = ()
    value: Any = layer
    for step in _STEP.finditer(location):
        name = _culprit(path, value) if step.group("unnamed") else step.group("key") or int(step.group("index"))
        path = (*path, name)
        value = value[name]
    return path


def _culprit(path: KeyPath, fields: JsonObject) -> str:
    for name in fields:
        try:
            msgspec.convert(nested((*path, name), fields[name]), SettingsFile)
        except msgspec.ValidationError:
            return name
    raise AssertionError("msgspec refused an object and none of its members")


def up_to_a_list(path: KeyPath) -> KeyPath:
    """The beginning of a path that leads through objects only."""
    indices = [at for at, step in enumerate(path) if isinstance(step, int)]
    return path[: indices[0]] if indices else path


def _plainly(text: str, path: KeyPath) -> str:
    expected = EXPECTED.get(spelled(up_to_a_list(path)))
    if expected and ("matching regex" in text or text.startswith("Invalid enum")):
        return f"expected {expected}"
    text = (
        _TYPES.sub(_in_words, text)
        .replace(">=", "of at least")
        .replace("<=", "of at most")
        .replace(" of length of", " with a length of")
    )
    return text[:1].lower() + text[1:]


def _in_words(match: re.Match[str]) -> str:
    return " or ".join(_WORDS.get(name, name) for name in match.group(1).split(" | ") if name != "null") or "null"
