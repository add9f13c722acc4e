"""The local model's one name, and what its file says of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gemini_companion.adapters.local.file import LocalFile
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.tokens.limits import DEFAULT_TOKEN_LIMIT, KnownModel

LOCAL_MODEL: Final = "local"
"""The name of the model in the file that the settings name."""


class LocalCatalogue:
    """See `sessions.models.port.ModelCatalogue`. Lists nothing while the settings name no file."""

    def __init__(self, file: LocalFile) -> None:
        self._file = file

    @property
    def models(self) -> Sequence[KnownModel]:
        """The one model; one that cannot be run is listed too, so that a person sees that the setting counts."""
        if not self._file.is_set:
            return ()
        try:
            model = self._file.model()
        except ModelUnavailable:
            return (_listed(f"{self._file.stem}, on this machine (cannot be used)", DEFAULT_TOKEN_LIMIT),)
        return (_listed(f"{model.title}, on this machine", model.token_limit),)

    def serves(self, name: str) -> bool:
        """Its own name only."""
        return name == LOCAL_MODEL

    def resolve(self, name: str) -> str:
        """It has no short names."""
        return LOCAL_MODEL

    def token_limit(self, name: str) -> int:
        """What the file's context and the memory for it allow.

        Of a file that cannot be run a limit that nothing reaches: its fault is to be told, not that a prompt is long.
        """
        try:
            return self._file.model().token_limit
        except ModelUnavailable:
            return DEFAULT_TOKEN_LIMIT

    def compressor_for(self, name: str) -> str:
        """It writes its own snapshots: what is said to it stays on this machine."""
        return LOCAL_MODEL

    def next_model(self, name: str) -> str | None:
        """None: there is no other."""
        return None

    def routes(self, name: str) -> tuple[str, str] | None:
        """None: a name means one model."""
        return None

    def title_model(self, name: str) -> str:
        """And its own titles."""
        return LOCAL_MODEL


def _listed(title: str, token_limit: int) -> KnownModel:
    return KnownModel(name=LOCAL_MODEL, title=title, token_limit=token_limit, compressor=LOCAL_MODEL)
