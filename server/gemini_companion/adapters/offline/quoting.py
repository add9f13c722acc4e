"""Quotations: from the open files with path and lines, and from what was said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gemini_companion.adapters.offline.symbols import (
    MINOR,
    Definition,
    definitions_in,
    documentation_of,
    identifiers_in,
    uses_of,
)
from gemini_companion.adapters.offline.wording import Wording
from gemini_companion.sessions.models.port import OpenDocument

QUOTED_LINES: Final = 24
"""Of one quotation."""
_QUOTED_CHARACTERS: Final = 600
_LISTED: Final = 8


class Quoter:
    """Quotes open files in one language; `documents` are in the order in which they matter."""

    def __init__(self, documents: Sequence[OpenDocument], wording: Wording, folders: Sequence[str] = ()) -> None:
        self.documents = documents
        self._say = wording
        self._folders = folders

    def name(self, path: str) -> str:
        """A path as people read it: within its workspace folder, as long as there is but one."""
        (folder,) = self._folders if len(self._folders) == 1 else ("",)
        is_within = folder != "" and path.startswith((f"{folder}/", f"{folder}\\"))
        return path[len(folder) + 1 :] if is_within else path

    def where(self, path: str, first: int, last: int) -> str:
        """The place in words."""
        return (self._say.lines if last > first else self._say.one_line).format(
            path=self.name(path), first=first, last=last
        )

    def lines(self, document: OpenDocument, first: int, last: int) -> str:
        """The lines in a fence that they cannot close; of many, the first."""
        lines = document.text.split("\n")[first - 1 : last]
        shown = lines[:QUOTED_LINES]
        if len(lines) > QUOTED_LINES:
            shown.append(self._say.more.format(count=len(lines) - QUOTED_LINES))
        body = "\n".join(shown)
        fence = "```"
        while fence in body:
            fence += "`"
        return f"{fence}{_language_of(document.path)}\n{body}\n{fence}"

    def selection(self, document: OpenDocument, first: int, last: int) -> Iterator[str]:
        """Selected lines, what they say of themselves, what they define, and where what they name is defined."""
        yield self._say.selection.format(where=self.where(document.path, first, last))
        yield self.lines(document, first, last)
        yield from self.about(document, first, last)

    def place(self, document: OpenDocument, first: int, last: int) -> Iterator[str]:
        """Lines that were asked for; a single one with what it stands in."""
        if first == last and (around := definition_around(document, first)) is not None:
            yield from self.definition(around, document)
            return
        if first == last:
            first, last = max(1, first - 3), first + 3
        last = min(last, document.text.count("\n") + 1)
        yield self._say.passage.format(where=self.where(document.path, first, last))
        yield self.lines(document, first, last)
        yield from self.about(document, first, last)

    def about(self, document: OpenDocument, first: int, last: int) -> Iterator[str]:
        """What the lines say of themselves, what they define, and where what they name is defined."""
        inside = [found for found in definitions_in(document) if first <= found.first <= last]
        if inside and (text := documentation_of(inside[0], document)):
            yield self._say.says_of_itself.format(text=text[:_QUOTED_CHARACTERS])
        if len(inside) > 1:
            yield "\n".join((self._say.contents, *self._listing(inside)))
        for found in self._named_in(document, first, last):
            yield self._say.also.format(name=found.name, where=self.where(found.path, found.first, found.last))

    def definition(self, definition: Definition, document: OpenDocument) -> Iterator[str]:
        """Where it is, its lines, what it says of itself, and where it is used."""
        yield self._say.definition.format(
            name=definition.name,
            kind=definition.kind,
            where=self.where(definition.path, definition.first, definition.last),
        )
        yield self.lines(document, definition.first, definition.last)
        if text := documentation_of(definition, document):
            yield self._say.says_of_itself.format(text=text[:_QUOTED_CHARACTERS])
        places = [
            f"`{self.name(other.path)}`:{line}"
            for other in self.documents
            for line in uses_of(definition.name, other)
            if other.path != definition.path or not definition.first <= line <= definition.last
        ]
        if places:
            more = [self._say.more.format(count=len(places) - _LISTED)] if len(places) > _LISTED else []
            yield self._say.used.format(places=", ".join((*places[:_LISTED], *more)))

    def outline(self, document: OpenDocument) -> Iterator[str]:
        """What a file defines, and its first lines."""
        count = document.text.rstrip("\n").count("\n") + 1
        definitions = [found for found in definitions_in(document) if found.indent <= 4 and found.kind not in MINOR]
        if definitions:
            yield "\n".join(
                (self._say.outline.format(where=self.where(document.path, 1, count)), *self._listing(definitions))
            )
        shown = min(count, QUOTED_LINES)
        yield self._say.passage.format(where=self.where(document.path, 1, shown))
        yield self.lines(document, 1, shown)

    def find_definitions(self, names: Sequence[str]) -> list[tuple[OpenDocument, Definition]]:
        """Definitions of the names: exact before alike, functions and classes before variables."""
        lowered = [name.lower() for name in names]
        found: list[tuple[int, OpenDocument, Definition]] = []
        for document in self.documents:
            for definition in definitions_in(document) if names else ():
                name = definition.name
                if name in names:
                    found.append((2 * names.index(name) + (definition.kind in MINOR), document, definition))
                elif name.lower() in lowered:
                    found.append((1_000 + lowered.index(name.lower()), document, definition))
        return [(document, definition) for _, document, definition in sorted(found, key=lambda entry: entry[0])]

    def _named_in(self, document: OpenDocument, first: int, last: int) -> list[Definition]:
        """Definitions outside of the lines whose names stand in them."""
        named = {name for line in document.text.split("\n")[first - 1 : last] for name in identifiers_in(line)}
        return [
            found
            for other in self.documents
            for found in definitions_in(other)
            if found.name in named
            and len(found.name) > 2
            and found.kind not in MINOR
            and (other.path != document.path or not first <= found.first <= last)
        ][:3]

    def _listing(self, definitions: Sequence[Definition]) -> list[str]:
        listed = [
            f"- {self._say.defines.format(kind=found.kind, name=found.name, line=found.first)}"
            for found in definitions[: 2 * _LISTED]
        ]
        more = len(definitions) - 2 * _LISTED
        return [*listed, f"- {self._say.more.format(count=more)}"] if more > 0 else listed


def as_quotation(text: str) -> str:
    """`text` with a quotation mark of Markdown before every line; of a long one the beginning."""
    shown = text if len(text) <= _QUOTED_CHARACTERS else f"{text[:_QUOTED_CHARACTERS].rstrip()} …"
    return "\n".join(f"> {line}" for line in shown.split("\n"))


def listed(heading: str, entries: Sequence[str]) -> str:
    """A heading and a list."""
    return "\n".join((heading, *(f"- {entry}" for entry in entries)))


def definition_around(document: OpenDocument, line: int) -> Definition | None:
    """The innermost definition that a line, from 1, stands in."""
    return max(
        (found for found in definitions_in(document) if found.first <= line <= found.last),
        key=lambda found: found.first,
        default=None,
    )


def _language_of(path: str) -> str:
    name = path.replace("\\", "/").rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    return ending.lower() if stem and ending.isalnum() and ending.isascii() and len(ending) <= 10 else ""
