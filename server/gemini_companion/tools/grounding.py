"""The network as tools ask it: answers of the model's own service, and what they rest on."""

from __future__ import annotations

from typing import Protocol

import msgspec


class WebSource(msgspec.Struct, frozen=True, kw_only=True):
    """A page that an answer rests on."""

    address: str
    title: str = ""


class GroundedPassage(msgspec.Struct, frozen=True, kw_only=True):
    """Where a passage of an answer ends, in characters, and the sources that it rests on, from 0."""

    end: int
    sources: tuple[int, ...]


class WebPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page that was to be read; `state` says in a word what came of it."""

    address: str
    is_read: bool
    state: str = ""


class Grounded(msgspec.Struct, frozen=True, kw_only=True):
    """An answer from the network, written by the model's service."""

    text: str
    sources: tuple[WebSource, ...] = ()
    passages: tuple[GroundedPassage, ...] = ()
    pages: tuple[WebPage, ...] = ()


class Grounding(Protocol):
    """The network, asked by the service of the session's model; nothing here opens an address."""

    async def search(self, question: str) -> Grounded:
        """An answer from a search."""
        ...

    async def read(self, prompt: str) -> Grounded:
        """An answer from the pages whose addresses the prompt names."""
        ...
