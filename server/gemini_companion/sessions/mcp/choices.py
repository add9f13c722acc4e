"""What a person chose about servers: which are off, and which commands of workspaces may be started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec


class Choices(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All that is kept, over every workspace."""

    disabled: tuple[str, ...] = ()
    """Names of servers that are off."""
    agreed: Mapping[str, Mapping[str, str]] = {}
    """By the workspace's folder, by the server's name: the digest of the definition that may be started."""

    def with_disabled(self, name: str, *, is_disabled: bool) -> Choices:
        """The same with a server off, or on."""
        others = tuple(one for one in self.disabled if one != name)
        return msgspec.structs.replace(self, disabled=(*others, name) if is_disabled else others)

    def with_agreed(self, folder: str, name: str, digest: str) -> Choices:
        """The same with an agreement, in place of an earlier one."""
        agreed = {**self.agreed, folder: {**self.agreed.get(folder, {}), name: digest}}
        return msgspec.structs.replace(self, agreed=agreed)


class ChoiceStore(Protocol):
    """Keeps them. Both block on a small file."""

    def read(self) -> Choices:
        """What is kept; nothing where it cannot be read, so that nothing is started that nobody agreed to."""
        ...

    def write(self, choices: Choices) -> None:
        """Keep it. Raises `StorageFault`."""
        ...


class ChoicesInMemory:
    """Keeps them while the process runs."""

    def __init__(self) -> None:
        self._choices = Choices()

    def read(self) -> Choices:
        """What is kept."""
        return self._choices

    def write(self, choices: Choices) -> None:
        """Keep it."""
        self._choices = choices
