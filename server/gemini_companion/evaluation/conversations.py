"""The conversations that are measured: read from a folder, or the built-in ones."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec

from gemini_companion.engine.errors import CompanionError, InvalidInput
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import has_call, has_response, visible_text
from gemini_companion.sessions.interchange import decode_session_file

FILE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one file at most."""
MOST_FILES: Final = 2_000


class Conversation(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A recorded conversation."""

    name: str
    """Its file's path below the corpus, or `synthetic/…`."""
    history: tuple[Content, ...]

    @property
    def family(self) -> str:
        """The folder that it lies in; conversations of one family go on from one another."""
        return self.name.rpartition("/")[0]

    @cached_property
    def digest(self) -> str:
        """A hash of the contents."""
        return hashlib.blake2b(msgspec.json.encode(self.history), digest_size=8).hexdigest()

    @cached_property
    def boundaries(self) -> tuple[int, ...]:
        """Indexes into `history` where it may be interrupted: no call stands open there."""
        return tuple(
            index
            for index in range(1, len(self.history))
            if not has_response(self.history[index]) and not has_call(self.history[index - 1])
        )


def load_corpus(folder: Path) -> list[Conversation]:
    """Every conversation below a folder, by name. Raises `InvalidInput` if there is none.

    A file is what `gemini-companion compress` reads: `{history}`, a list of contents, our export or Gemini CLI's.
    JSON files that hold no conversation are left out.
    """
    if not folder.is_dir():
        raise InvalidInput(
            f"{folder} is not a folder.", hint="Name a folder of conversations, or none for the built-in ones."
        )
    found = [conversation for path in _files(folder) if (conversation := _read(folder, path)) is not None]
    if not found:
        raise InvalidInput(
            f"{folder} holds no conversation.",
            hint="A conversation is a .json or .jsonl file with {history: [contents]}, or an exported session.",
        )
    return found


def _files(folder: Path) -> Iterator[Path]:
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".jsonl") and path.is_file())
    return iter(paths[:MOST_FILES])


def _read(folder: Path, path: Path) -> Conversation | None:
    try:
        if path.stat().st_size > FILE_LIMIT:
            return None
        session = decode_session_file(path.read_bytes(), path.name)
    except (OSError, CompanionError):
        return None
    contents = tuple(content for content in session.contents if content.parts)
    if not any(visible_text(content).strip() and not has_call(content) for content in contents):
        return None
    name = path.relative_to(folder).with_suffix("").as_posix()
    return Conversation(name=name, history=contents) if len(contents) > 1 else None


def sampled(conversations: Sequence[Conversation], per_family: int | None) -> list[Conversation]:
    """At most so many of each family, spread evenly over its names; all of them for `None`."""
    if per_family is None:
        return list(conversations)
    families: dict[str, list[Conversation]] = {}
    for conversation in conversations:
        families.setdefault(conversation.family, []).append(conversation)
    chosen: list[Conversation] = []
    for members in families.values():
        count = min(per_family, len(members))
        chosen.extend(members[place * len(members) // count] for place in range(count))
    return chosen
