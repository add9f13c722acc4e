"""What a service refuses of a request: found, left out, named to people. The rest of the request goes on without it.

Nothing is held to be at fault before a request without it was taken. The log then says what is left out of the view;
of a tool it is remembered while the process runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from gemini_companion.engine.compression.prompt import describe_media, nested_media
from gemini_companion.engine.compression.truncate import whole_text
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.escapes import one_line
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.entry import Cut
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.masks import masked_part
from gemini_companion.engine.history.part import media_of, response_of
from gemini_companion.engine.history.tool_entries import MaskEntry
from gemini_companion.engine.mcp.names import PREFIX
from gemini_companion.sessions.models.registry import ModelChoice, ModelRegistry, Suspects
from gemini_companion.sessions.session import Session

_WORD: Final = re.compile(r"[\w.-]+")
"""What may be the name of a tool, with what stands behind a dot."""
_WORDS: Final = 200
"""Characters of a service's message that stand in a note for the model."""
_NAMED_SERVERS: Final = 5


class _Medium:
    """A part with media, and what stands for it."""

    def __init__(self, item: Item, index: int, words: str) -> None:
        self.item, self.number = item, item.part_number(index)
        self.part = item.content.parts[index]
        response = response_of(self.part)
        shown = ", ".join(nested_media(response)) if response is not None else describe_media(media_of(self.part) or {})
        note = f"[Left out: {shown}. The model's service refused it: {words}]"
        said = whole_text(response) if response is not None else ""
        self.text = f"{said}\n{note}" if said.strip() else note

    def cut(self, session: Session) -> Cut:
        """What makes the view show the note from now on."""
        role, measure = self.item.content.role, session.ledger.measure
        before, after = (
            measure(Content(role=role, parts=(part,))).tokens for part in (self.part, masked_part(self.part, self.text))
        )
        saved = max(0, before - after)
        return Cut(seq=self.item.seq, part=self.number, output=self.text, path="", tokens_saved=saved)


class Trial:
    """One answer's requests. Each one that is refused leads to one with less, as far as that may help."""

    def __init__(self, session: Session, choice: ModelChoice) -> None:
        self._session, self._choice = session, choice
        self._media: list[_Medium] = []
        self._tried_media = 0
        self._words = ""

    def contents(self, contents: Sequence[Content]) -> tuple[Content, ...]:
        """The contents, with notes in place of the media that are left out."""
        if not self._media:
            return tuple(contents)
        return tuple(
            Content(role=one.role, parts=tuple(map(self._noted, one.parts))) if any(map(_has_media, one.parts)) else one
            for one in contents
        )

    def _noted(self, part: Part) -> Part:
        if not _has_media(part):
            return part
        return next((masked_part(part, one.text) for one in self._media if one.part == part), part)

    def tools(self, declarations: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
        """The declarations without the tools of servers that are under suspicion."""
        suspects = self._suspects()
        left_out = frozenset(suspects.left_out) if suspects is not None else frozenset[str]()
        return tuple(one for one in declarations if one["name"] not in left_out)

    def goes_on(self, refused: ModelUnavailable) -> bool:
        """Whether a request with less is worth trying; it is what the next one is made of."""
        if self._without_named_tool(refused):
            return True
        kind = refused.refused
        if kind is None:
            return False
        self._words = one_line(refused.words)[:_WORDS] or "400"
        suspects = self._suspects()
        if suspects is not None and kind != "media":
            return self._narrowed(suspects)
        if kind != "tools" and self._without_media():
            return True
        self._media = []
        return kind != "media" and self._without_servers()

    async def passed(self) -> bool:
        """A request was taken: what was left out of it stays out. Whether the view changed. Raises `StorageFault`."""
        suspects = self._suspects()
        if suspects is not None:
            suspects.passed()
            self._convict(suspects)
        if not self._media:
            return False
        session, media = self._session, self._media
        cuts = tuple(one.cut(session) for one in media)
        stamp = session.stamp()
        await session.append(lambda seq: MaskEntry(**stamp, seq=seq, cuts=cuts))
        what = "A picture or another medium is" if len(cuts) == 1 else f"{len(cuts)} pictures or other media are"
        session.services.tell(
            f"{what} left out of this chat from now on, for the model's service refused it: {self._words}. The chat"
            " goes on without it; look whether the file is whole, or send it in another format."
        )
        self._media = []
        return True

    @property
    def _models(self) -> ModelRegistry:
        return self._session.services.models

    def _offered(self) -> tuple[dict[str, Any], ...]:
        return self._session.declarations(self._choice)

    def _without_named_tool(self, refused: ModelUnavailable) -> bool:
        """Leave out the tool that the refusal is about, by its place in the request or by its name."""
        offered = self.tools(self._offered())
        at, words = refused.tool_index, refused.words
        declaration: dict[str, Any] | None = None
        if at is not None:
            declaration = offered[at] if at < len(offered) else None
        elif refused.refused is not None:
            said = frozenset(_WORD.findall(words))
            # The longest name first: of two that begin alike the message means the one that it has whole.
            for one in sorted(offered, key=lambda one: len(one["name"]), reverse=True):
                if any(f"{word}.".startswith(f"{one['name']}.") for word in said):
                    declaration = one
                    break
            if declaration is not None and refused.refused != "tools" and not declaration["name"].startswith(PREFIX):
                declaration = None  # `glob` and `recall` are words too
        if declaration is None or not self._models.refuse(declaration):
            return False
        self._tell_refused(declaration["name"], refused.message)
        return True

    def _tell_refused(self, name: str, message: str) -> None:
        self._session.services.tell(
            f"The tool {name} is left out, for the model's service refused its declaration: {message} Whoever made the"
            " tool can mend that; `excludeTools` of a server leaves it out."
        )

    def _without_media(self) -> bool:
        """Leave out the media that came last, then all."""
        items = [item for item in self._session.history.curated(close=True) if item.compression_id is None]
        found = [
            [index for index, part in enumerate(item.content.parts) if _has_media(part)] if item.seq else []
            for item in items
        ]
        all_of_them = [(item, indexes) for item, indexes in zip(items, found, strict=True) if indexes]
        self._tried_media += 1
        if not all_of_them or self._tried_media > (1 if len(all_of_them) == 1 else 2):
            return False
        chosen = all_of_them[-1:] if self._tried_media == 1 else all_of_them
        self._media = [_Medium(item, index, self._words) for item, indexes in chosen for index in indexes]
        return True

    # --- tools of servers, of which a refusal names none

    def _suspects(self) -> Suspects | None:
        """Those of the requests before, if the same tools are offered still."""
        suspects = self._models.suspects
        if suspects is None:
            return None
        if suspects.names != self._names():
            self._models.suspects = None
        return self._models.suspects

    def _names(self) -> tuple[str, ...]:
        return tuple(one["name"] for one in self._offered() if one["name"].startswith(PREFIX))

    def _without_servers(self) -> bool:
        names = self._names()
        if not names:
            return False
        self._models.suspects = Suspects(names)
        return True

    def _narrowed(self, suspects: Suspects) -> bool:
        if not suspects.refused():
            self._models.suspects = None
            return False
        self._convict(suspects)
        return True

    def _convict(self, suspects: Suspects) -> None:
        """Leave out the one that it must be, and no other; else say that one is being looked for."""
        words = self._words or suspects.words
        message = f"The model's service refused the request ({words})."
        if (name := suspects.found) is not None:
            self._models.suspects = None
            declaration = next((one for one in self._offered() if one["name"] == name), None)
            if declaration is not None and self._models.refuse(declaration):
                self._tell_refused(name, message)
        elif not suspects.words:
            servers = list(dict.fromkeys(name.split("_")[1] for name in suspects.names))
            more = " and others" if len(servers) > _NAMED_SERVERS else ""
            self._session.services.tell(
                f"{message} It takes it without the tools of MCP servers ({', '.join(servers[:_NAMED_SERVERS])}{more})."
                " Some of them are left out while the next requests find out which one it is. If you know the one,"
                " leave it out with `excludeTools` of its server."
            )
        suspects.words = words


def _has_media(part: Part) -> bool:
    response = response_of(part)
    if response is None:
        return media_of(part) is not None
    return bool(nested_media(response))
