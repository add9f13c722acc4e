"""The tool `replace`."""

from __future__ import annotations

import asyncio
import unicodedata
from typing import Annotated, NamedTuple

import msgspec

from gemini_companion.engine.edits.lines import LF, LineFeedView, ends_with_cr, with_line_feeds
from gemini_companion.engine.edits.matching import MAX_SPANS, Match, NoMatch, Span, find, trimmed
from gemini_companion.engine.edits.nearest import TAB, nearest, shown
from gemini_companion.engine.escapes import signs_back, well_formed
from gemini_companion.engine.ide_context.secrets import mask_secrets
from gemini_companion.tools.ports import Place
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, ToolRefusal
from gemini_companion.tools.workspace.changing import (
    Change,
    carried_out,
    changed,
    changed_since,
    file_to_change,
    is_as_before,
    new_file,
    proposal_of,
    text_now,
)
from gemini_companion.tools.workspace.loading import Loaded, Seen


class ReplaceArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `replace` is called with."""

    file_path: Annotated[
        str, msgspec.Meta(description="The file: relative to the workspace folder, or absolute and inside it.")
    ]
    old_string: Annotated[
        str,
        msgspec.Meta(
            max_length=1_000_000,
            description="The text to replace, exactly as it stands in the file, with the white space of every line, and"
            " as many lines around it as make it the only such place.",
        ),
    ]
    new_string: Annotated[
        str, msgspec.Meta(max_length=10_000_000, description="What takes its place, word for word; empty to delete it.")
    ]
    instruction: Annotated[str, msgspec.Meta(description="In a sentence, what the change is for.")] = ""
    allow_multiple: Annotated[bool, msgspec.Meta(description="Replace every place, not exactly one.")] = False


class _Made(NamedTuple):
    after: str
    lines: list[int]
    """Where the places are."""
    how: str


class Replace:
    """Replaces a text in a file by another."""

    name: str = "replace"
    aliases: tuple[str, ...] = ()
    description: str = (
        "Replace text in a file of the workspace. old_string has to stand there exactly once, or allow_multiple be set;"
        " its lines may all be indented otherwise than in the file, by one and the same difference. Nothing is escaped"
        " and nothing is a pattern. If it is not there, you are told what is most like it. With an empty old_string a"
        " new file is made. The user may change the result first; you are told."
    )
    arguments: type[ReplaceArguments] = ReplaceArguments
    risk: Risk = "edit"
    shape: Shape = "text"

    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    async def propose(self, args: ReplaceArguments, context: ToolContext) -> Proposal:
        """Find the place, and work out the diff."""
        place, before = await file_to_change(args.file_path, context)
        if before is None:
            if args.old_string:
                raise ToolRefusal(f"{place.shown} does not exist. To make it, call with an empty old_string.")
            return await proposal_of(
                await new_file(place, well_formed(args.new_string), context), "Create", context, seen=self._seen
            )
        change = await self._change(args, place, before, context)
        self._seen.vouch(context, place, before.text)
        return await proposal_of(change, "Edit", context, seen=self._seen)

    async def run(self, args: ReplaceArguments, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Make the change; in a text that has changed meanwhile too, if the place is still there."""
        change: Change = proposal.state
        now = await text_now(change.place, context)
        if not is_as_before(now, change.before):
            if now is None or change.before is None:
                raise ToolRefusal(
                    f"{change.place.shown} was {'deleted' if now is None else 'made'} while the question was open."
                    " Nothing was done."
                )
            again = await self._change(args, change.place, now, context)
            note = "The file had changed since the question was asked; the text was found again in what it is now."
            change = msgspec.structs.replace(again, notes=(*again.notes, note))
        what = "created" if change.before is None else "edited"
        output = await carried_out(change, context, f"Applied: {what} {change.place.shown}.", self._seen)
        await self._note(args, change, context)
        return output

    async def _note(self, args: ReplaceArguments, change: Change, context: ToolContext) -> None:
        """Remember what the model knows of the file now: what it was shown, with this edit, and nothing else."""
        last = self._seen.last(context, change.place)
        if change.before is None or last == with_line_feeds(change.before.text):
            self._seen.note(context, change.place, with_line_feeds(change.after))
        elif last is not None:
            old, new = with_line_feeds(args.old_string), with_line_feeds(args.new_string)
            made = await asyncio.to_thread(_made, last, old, new, args.allow_multiple)
            if isinstance(made, _Made):
                self._seen.note(context, change.place, made.after)

    async def _change(self, args: ReplaceArguments, place: Place, before: Loaded, context: ToolContext) -> Change:
        old, new = with_line_feeds(well_formed(args.old_string)), with_line_feeds(well_formed(args.new_string))
        made = await asyncio.to_thread(_made, before.text, old, new, args.allow_multiple)
        if isinstance(made, NoMatch):
            since = await changed_since(before.text, place, context, self._seen)
            raise ToolRefusal(await asyncio.to_thread(_explained, made, before.text, old, new, place, since))
        places = "line" if len(made.lines) == 1 else f"{len(made.lines)} places, lines"
        notes = [f"Replaced at {places} {', '.join(map(str, made.lines[:20]))}."]
        if made.how == "form":
            notes.append(
                "The file writes these characters in another form of Unicode than old_string did; new_string was"
                " written likewise."
            )
        if made.how == "indentation":
            notes.append(
                "The file indents these lines otherwise than old_string did; new_string was indented likewise."
            )
        return await changed(place, before, made.after, context, tuple(notes))


def _made(text: str, old: str, new: str, several: bool) -> _Made | NoMatch:
    if ends_with_cr(text):
        lines = text.replace("\r", LF)
        made = _made(lines, old.replace("\r", LF), new.replace("\r", LF), several)
        return made if isinstance(made, NoMatch) else made._replace(after=made.after.replace(LF, "\r"))
    view = LineFeedView(text)
    match = find(view.text, old, new, several=several)
    if isinstance(match, NoMatch) and match.reason == "absent" and (meant := signs_back(old)) != old:
        match = find(
            view.text, meant, signs_back(new), several=several
        )  # as read_file wrote out what a text may not have
    elif isinstance(match, NoMatch) and match.reason == "blank" and not text.strip():
        match = Match(spans=(Span(start=0, end=len(view.text), new=new),))  # a file of nothing is filled
    if isinstance(match, NoMatch):
        return match
    spans = [trimmed(view.text, span) for span in match.spans]
    after = view.replaced((span.start, span.end, span.new) for span in spans)
    return _Made(after, _lines(view, match), match.how)


def _lines(view: LineFeedView, match: Match) -> list[int]:
    lines: list[int] = []
    number, done = 1, 0
    for span in match.spans:
        number += view.text.count("\n", done, span.start)
        done = span.start
        lines.append(number)
    return lines


def _explained(why: NoMatch, text: str, old: str, new: str, place: Place, since: str) -> str:
    """What the model is told where nothing is replaced; secrets are masked."""
    text = text.replace("\r", LF) if ends_with_cr(text) else with_line_feeds(text)
    lead = f"Nothing was changed in {place.shown}:"
    if why.reason == "blank":
        return (
            f"{lead} old_string is {'empty, and the file has text' if not old else 'white space alone'}."
            " Give text that is to be replaced, or the whole new text with write_file."
        )
    if why.reason == "same":
        return f"{lead} old_string and new_string are the same."
    if why.reason == "too many":
        return f"{lead} old_string stands there more than {MAX_SPANS:,} times, over what is replaced at once."
    if why.reason == "several":
        lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in why.at)
        return (
            f"{lead} old_string stands there {why.count} times, from the lines {lines}{' …' if why.count > 5 else ''}."
            " Give more of the lines around the one you mean, or set allow_multiple to replace all."
        )
    sentences = [f"{lead} old_string stands there 0 times."]
    there = text.find(new) if new.strip() else -1
    if there >= 0:
        sentences.append(
            f"The new text already stands at line {text.count(chr(10), 0, there) + 1}: was the change made before?"
        )
    windows = nearest(*(unicodedata.normalize("NFC", one) for one in (text, old)))
    if windows:
        sentences.append(
            f"What is most like it ({TAB} is a tab; numbers and signs in front are not part of the file):\n"
            f"{shown(windows)}"
        )
    if since:
        sentences.append(f"What has changed in the file since it was last read:\n{since}")
    return mask_secrets("\n".join(sentences))[0]
