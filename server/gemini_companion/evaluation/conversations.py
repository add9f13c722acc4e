"""The conversations that are measured: read from a folder, or the built-in ones."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import msgspec

from gemini_companion.engine.errors import CompanionError, InvalidInput
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import has_call, has_response, visible_text
from gemini_companion.evaluation.graders import Gold, Label
from gemini_companion.sessions.interchange import decode_session_file

FILE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one file at most."""
MOST_FILES: Final = 2_000


class Conversation(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A recorded conversation."""

    name: str
    """Its file's path below the corpus, or `synthetic/…`."""
    history: tuple[Content, ...]
    gold: Gold | None = None
    """What people labelled in it."""

    @property
    def family(self) -> str:
        """The folder that it lies in; conversations of one family go on from one another."""
        return self.name.rpartition("/")[0]

    @cached_property
    def digest(self) -> str:
        """A hash of the contents."""
        return hashlib.blake2b(msgspec.json.encode((self.history, self.gold)), digest_size=8).hexdigest()

    @cached_property
    def boundaries(self) -> tuple[int, ...]:
        """Indexes into `history` where it may be interrupted: no call stands open there."""
        return tuple(
            index
            for index in range(1, len(self.history))
            if not has_response(self.history[index]) and not has_call(self.history[index - 1])
        )


def load_corpora(folders: Sequence[Path]) -> list[Conversation]:
    """The conversations of some folders; of several, each under its folder's name."""
    if len(folders) == 1:
        return load_corpus(folders[0])
    return [
        msgspec.structs.replace(conversation, name=f"{folder.resolve().name}/{conversation.name}")
        for folder in folders
        for conversation in load_corpus(folder)
    ]


def load_corpus(folder: Path) -> list[Conversation]:
    """Every conversation below a folder, by name. Raises `InvalidInput` if there is none.

    A file is what `gemini-companion compress` reads: `{history}`, a list of contents, our export or Gemini CLI's.
    Beside `history` it may have labels, `gold`; those must fit. JSON files that hold no conversation are left out.
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
        data = path.read_bytes()
        session = decode_session_file(data, path.name)
    except (OSError, CompanionError):
        return None
    contents = tuple(content for content in session.contents if content.parts)
    if not any(visible_text(content).strip() and not has_call(content) for content in contents):
        return None
    name = path.relative_to(folder).with_suffix("").as_posix()
    if len(contents) < 2:
        return None
    return Conversation(name=name, history=contents, gold=_gold(data, path, session.contents))


class _Labelled(msgspec.Struct):
    gold: Any = None


def _gold(data: bytes, path: Path, contents: Sequence[Content]) -> Gold | None:
    """A file's labels, counted as the contents that are kept are. Raises `InvalidInput` for one that does not fit."""
    try:
        found = msgspec.json.decode(data, type=_Labelled).gold
        gold = None if found is None else msgspec.convert(found, Gold)
    except msgspec.ValidationError as error:
        if path.suffix == ".jsonl" or data.lstrip()[:1] != b"{":
            return None
        raise InvalidInput(f"{path}: the labels cannot be read: {error}.") from None
    except msgspec.DecodeError:
        return None
    if gold is None:
        return None
    wrong = gold.misplaced(msgspec.to_builtins(contents))
    if wrong is not None:
        raise InvalidInput(f"{path}: content {wrong.at} does not have the text of this label: {wrong.span!r}.")
    places = [place for place, content in enumerate(contents) if content.parts]

    def moved(label: Label) -> Label:
        by = None if label.by is None else bisect_left(places, label.by)
        return msgspec.structs.replace(label, at=bisect_left(places, label.at), by=by)

    return Gold(**{name: tuple(map(moved, getattr(gold, name))) for name in Gold.__struct_fields__})


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
