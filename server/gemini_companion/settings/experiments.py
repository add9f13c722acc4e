"""What a remote experiment says, where somebody has connected one: between a person's settings and the default.

Nobody has by default, and no address is opened.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol, cast

from gemini_companion.engine.errors import InvalidSettings
from gemini_companion.settings.jsonc import JsonFault, parse
from gemini_companion.settings.reading import read_text, shown

EXPERIMENTS_VARIABLE: Final = "GEMINI_EXP"
"""Names a local file with flags, as in Gemini CLI."""

_THRESHOLD_FLAG: Final = 45740197
"""Gemini CLI's number of the flag for the share at which it compresses."""


class Experiments(Protocol):
    """The flags of one experiment server."""

    def compression_threshold(self) -> float | None:
        """The share at which to compress; `None` if the experiment has no say. Raises `InvalidSettings`."""
        ...


class NoExperiments:
    """What is used unless something is connected."""

    def compression_threshold(self) -> float | None:
        """Nothing."""
        return None


class FixedExperiments:
    """Flags that are known from elsewhere."""

    def __init__(self, threshold: float | None) -> None:
        self._threshold = threshold

    def compression_threshold(self) -> float | None:
        """The threshold that was given."""
        return self._threshold


class ExperimentsFile:
    """A local file of flags: `{"flags": [{"flagId": 45740197, "floatValue": 0.6}]}`. Read at every call."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def compression_threshold(self) -> float | None:
        """The flag's number; `None` if the file or the flag is not there. Raises `InvalidSettings`."""
        text = read_text(self._path)
        if text is None:
            return None
        try:
            value = parse(text)
        except JsonFault as fault:
            raise InvalidSettings(f"{shown(self._path)}: is not valid JSON: {fault.what}") from None
        flags = cast("dict[str, object]", value).get("flags", []) if isinstance(value, dict) else None
        if not isinstance(flags, list):
            raise InvalidSettings(f"{shown(self._path)}: expected an object with a list of flags")
        for flag in cast("list[object]", flags):
            fields = cast("dict[str, object]", flag) if isinstance(flag, dict) else {}
            share = fields.get("floatValue")
            if fields.get("flagId") == _THRESHOLD_FLAG and isinstance(share, int | float):
                return float(share)
        return None


def experiments_of(named: str | None) -> Experiments:
    """The experiments of the file that `GEMINI_EXP` names, or none."""
    return ExperimentsFile(Path(named)) if named and "\0" not in named else NoExperiments()
