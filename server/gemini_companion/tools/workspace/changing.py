"""Changing a file's text: what `write_file` and `replace` have in common."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import msgspec

from gemini_companion.engine.edits.diffs import counts, file_diff, text_diff
from gemini_companion.engine.edits.encoding import (
    Encoded,
    Text,
    encode,
    of_changed_text,
    of_new_text,
    reads_back,
)
from gemini_companion.engine.edits.lines import with_line_feeds
from gemini_companion.engine.escapes import one_line, well_formed
from gemini_companion.engine.history.tool_entries import MAX_VERSION
from gemini_companion.engine.ide_context.secrets import mask_secrets
from gemini_companion.tools.documents import EditAnswer
from gemini_companion.tools.guarded import may_be_allowed
from gemini_companion.tools.ports import Place
from gemini_companion.tools.tool import Proposal, ToolContext, ToolOutput, ToolRefusal, Touched
from gemini_companion.tools.workspace.diagnostics import after_edit
from gemini_companion.tools.workspace.loading import Loaded, Seen, load
from gemini_companion.tools.workspace.places import found

_MASK: Final = "[masked: "
AGAIN: Final = "Call again"
"""Begins a line of a refusal that is for the model alone."""
_DECLARE: Final = "If its text is not shown rightly, say no, and name its charset in a .editorconfig."
_DIFF_LINES: Final = 80
"""Lines of a diff that the model is shown."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A text that a file is to have."""

    place: Place
    before: Loaded | None
    """`None` where there is no file."""
    after: str
    """With its own line endings."""
    encoded: Encoded = Encoded()
    declared: str = ""
    """The encoding that is said to be the file's, from outside of it."""
    notes: tuple[str, ...] = ()
    """For the model, once it is done."""


async def file_to_change(path: str, context: ToolContext) -> tuple[Place, Loaded | None]:
    """A file that may be changed or made, and its text now. Raises `ToolRefusal`."""
    place = await found(path, context)
    if place.kind == "folder":
        raise ToolRefusal(f"{place.shown} is a folder. Name a file.")
    return place, await text_now(place, context)


async def text_now(place: Place, context: ToolContext) -> Loaded | None:
    """The file's text, the editor's where it is unsaved; `None` where there is no file."""
    place = await context.ports.files.place(place.path, context.roots)
    if place.kind == "missing":
        buffer = context.ports.editor.buffer(place.path)
        if buffer is None:
            return None
        return Loaded(text=buffer.text, encoded=Encoded(), disk=None, is_unsaved=True)
    now = await load(place, context)
    if now.disk is not None and now.disk.links > 1:
        raise ToolRefusal(
            f"{place.shown} is a hard link: other names, perhaps outside the workspace, have the same file."
            " It is not changed.",
            outcome="declined",
        )
    return now


async def new_file(place: Place, text: str, context: ToolContext) -> Change:
    """A file that is to be made."""
    declared = await context.ports.files.charset(place)
    return Change(place=place, before=None, after=text, encoded=of_new_text(text, declared), declared=declared)


async def changed(
    place: Place, before: Loaded, after: str, context: ToolContext, notes: tuple[str, ...] = ()
) -> Change:
    """Another text for a file; one that says another thing of its encoding is written in that. Raises `ToolRefusal`."""
    was = before.encoded
    declared = before.disk.charset if before.disk is not None else ""
    encoded = of_changed_text(after, Text(text=before.text, encoded=was), declared)
    if encoded != was:  # of UTF-8 nobody asked what is declared for it
        declared = await context.ports.files.charset(place)
        encoded = of_changed_text(after, Text(text=before.text, encoded=was), declared)
    change = Change(place=place, before=before, after=after, encoded=encoded, declared=declared, notes=notes)
    if not await asyncio.to_thread(is_converted, change):
        return change
    if was.is_guessed:
        raise ToolRefusal(
            f"{place.shown} is read as {was.encoding}, which is guessed, and the new text says {encoded.encoding}."
            " Nothing was written. Leave what it says of its encoding as it is, or ask the user to name the charset in"
            " a .editorconfig first."
        )
    if context.ports.editor.buffer(place.path) is not None:
        raise ToolRefusal(
            f"The new text of {place.shown} says that it is in {encoded.encoding}, and the user's editor has the file"
            f" open in {was.encoding} and would save it so. Nothing was written. Ask the user to close it there first."
        )
    note = f"It is in {encoded.encoding} now, as its text says; it was in {was.encoding}."
    return msgspec.structs.replace(change, notes=(*notes, note))


def is_converted(change: Change) -> bool:
    """Whether the file's text is in another encoding than it was, in other bytes. Raises `ToolRefusal`."""
    before = change.before
    if before is None or before.disk is None or change.encoded.encoding == before.encoded.encoding:
        return False
    try:
        return encode(change.after, before.encoded) != _data(change)
    except UnicodeEncodeError:
        return True


async def proposal_of(
    change: Change, verb: str, context: ToolContext, *, seen: Seen | None = None, warnings: tuple[str, ...] = ()
) -> Proposal:
    """What is proposed to the person. Raises `ToolRefusal` if nothing would change, or if the file's encoding lacks a
    character.
    """
    place, before = change.place, change.before
    old = None if before is None else before.text
    if old == change.after:
        raise ToolRefusal(f"{place.shown} has exactly this text already. Nothing was written.")
    if change.after.count(_MASK) > (old or "").count(_MASK):
        raise ToolRefusal(
            f"The text has {_MASK}…], which stands for a secret that was not shown to you, and would take its place."
            " Change only the lines around it, with replace."
        )
    if not (change.encoded.is_guessed and context.ports.editor.buffer(place.path) is not None):
        await asyncio.to_thread(_data, change)  # of an open file the editor knows the encoding
    if before is not None and await asyncio.to_thread(is_converted, change):
        told = f"from {before.encoded.encoding} to {change.encoded.encoding}"
        warnings = (*warnings, f"{place.shown} changes its encoding {told}, as its new text says.")
    asks: list[str] = []
    if before is not None and before.disk is not None and not before.disk.mode & 0o222:
        asks.append("it is read-only")
        warnings = (*warnings, f"{place.shown} is read-only. It stays so, with the new text.")
    if change.encoded.is_guessed and (seen is None or not seen.is_agreed(place, change.encoded)):
        asks.append("the file's encoding is guessed")
        warnings = (*warnings, f"{place.shown} is written as {change.encoded.encoding}, which is guessed. {_DECLARE}")
    is_executable = before is not None and before.disk is not None and bool(before.disk.mode & 0o111)
    guard = context.ports.guard(place.path, place.root or "", is_executable=is_executable)
    after = well_formed(change.after)
    old_text = None if old is None else with_line_feeds(well_formed(old))
    diff = await asyncio.to_thread(file_diff, old_text, with_line_feeds(after), place.shown, lines=None)
    touched = Touched(
        path=place.path,
        how="write",
        secret=place.withheld if place.is_secret else "",
        is_guarded=bool(guard) and not may_be_allowed(guard),
        is_unknown=may_be_allowed(guard),
    )
    return Proposal(
        title=f"{verb} {place.shown}",
        touched=(touched,),
        path=place.path,
        new_content=after,
        diff=diff,
        warnings=(*((f"{place.shown}: {guard}.",) if guard else ()), *warnings),
        irreversible=_irreversible(before),
        asks=" and ".join(asks),
        state=change,
    )


async def carried_out(change: Change, context: ToolContext, done: str, seen: Seen | None = None) -> ToolOutput:
    """Write a change whose `before` is the file's text now. Raises `ToolRefusal` if it is not."""
    place, before = change.place, change.before
    notes = list(change.notes)
    if change.encoded.is_guessed and seen is not None:
        seen.agree(place, change.encoded)
    if before is not None and before.disk is not None and not before.disk.mode & 0o222:
        notes.append("The file is read-only, and still is.")
    buffer = context.ports.editor.buffer(place.path)
    if buffer is not None and buffer.is_dirty and (before is None or buffer.text != before.text):
        raise _refused(place.shown)  # it was typed in while the file was looked at: the edit would take that back
    has_strays = change.encoded.has_strays and buffer is not None and not buffer.is_dirty  # an editor has no such bytes
    answer = (
        "unable"
        if buffer is None or has_strays
        else await context.ports.editor.apply_edit(place.path, change.after, done)
    )
    if refusal := not_made(answer, place.shown):
        raise refusal
    if answer == "made":
        notes.append(await _onto_disk(change, context))
    elif buffer is not None and buffer.is_dirty and (before is None or before.is_unsaved):
        raise ToolRefusal(
            f"{place.shown} has unsaved edits in the editor, which did not take this one. Nothing was changed."
        )
    else:
        data = await asyncio.to_thread(_data, change)
        expected = before.disk.digest if before is not None and before.disk is not None else None
        await context.ports.files.write(place, data, expected=expected)
    after = with_line_feeds(change.after)
    diff = await asyncio.to_thread(text_diff, with_line_feeds(before.text) if before else "", after)
    added, removed = counts(diff)
    report = await after_edit(place.path, context)
    return ToolOutput(
        output=" ".join([done, *notes]) + (f"\n{report}" if report else ""), summary=f"+{added} −{removed}"
    )


def not_made(answer: EditAnswer, shown: str) -> ToolRefusal | None:
    """What to say where an editor did not make an edit. Nothing is written beside it then: a no is a no."""
    if answer == "refused":
        return _refused(shown)
    if answer == "unanswered":
        return ToolRefusal(
            f"Not known to be done: {shown} is open in the user's editor, which did not say in time whether it makes"
            " the edit. Nothing was written to the disk. The editor may still make the edit: read the file before you"
            " go on.",
            outcome="timedOut",
        )
    return None


def _refused(shown: str) -> ToolRefusal:
    return ToolRefusal(
        f"Not done: {shown} is open in the user's editor, and the edit was refused there. The user said no, or the"
        " text is another by now. Nothing was changed.",
        outcome="declined",
    )


async def _onto_disk(change: Change, context: ToolContext) -> str:
    """Let the disk follow an edit that the editor has taken, so that commands see it: by the editor, else by ourselves.
    What the person had not saved is not saved for them. Returns a note for the model.
    """
    place, before = change.place, change.before
    if before is None or before.disk is None or before.is_unsaved:
        return (
            "It is in the user's editor, with edits of their own that are not saved; the disk, which commands see,"
            " follows when they save it."
        )
    if await context.ports.editor.save(place.path):
        return "It is in the user's editor, which has the file open, and saved."
    data = await asyncio.to_thread(_data, change)
    try:
        await context.ports.files.write(place, data, expected=before.disk.digest)
    except ToolRefusal:  # the editor has saved it by itself, or somebody else has written it
        now = await text_now(place, context)
        if now is None or now.is_unsaved:
            return "It is in the user's editor, which has the file open; the disk follows when they save it."
    return "It is in the user's editor, which has the file open, and on the disk."


def is_as_before(now: Loaded | None, before: Loaded | None) -> bool:
    """True if a file has the text, and the bytes, that it had."""
    if now is None or before is None:
        return now is before
    same_bytes = (now.disk and now.disk.digest) == (before.disk and before.disk.digest)
    return now.text == before.text and same_bytes


async def changed_since(text: str, place: Place, context: ToolContext, seen: Seen) -> str:
    """The diff from what the model was last shown of a file, masked and cut; empty if that is the same or not known."""
    last = seen.last(context, place)
    now = with_line_feeds(text)
    if last is None or last == now:
        return ""
    return await asyncio.to_thread(_masked_diff, last, now)


def corrected(proposal: Proposal, content: str) -> tuple[dict[str, Any], str]:
    """A proposed change with the text that a person gave the file instead: arguments of `write_file`, and what the
    model is told of it.
    """
    change: Change = proposal.state
    proposed, given = (with_line_feeds(well_formed(each)) for each in (change.after, content))
    args = {"file_path": change.place.path, "content": content}
    if proposed == given:
        return args, ""
    diff = _masked_diff(proposed, given)
    return (
        args,
        f"The user changed your text of {change.place.shown} before it was written. Their changes to it:\n{diff}",
    )


def _irreversible(before: Loaded | None) -> str:
    if before is None or before.disk is None or before.disk.size <= MAX_VERSION:
        return ""
    return f"This cannot be taken back: the file has more than the {MAX_VERSION // 2**20} MB that are kept of one."


def _masked_diff(before: str, after: str) -> str:
    return mask_secrets(text_diff(well_formed(before), well_formed(after), lines=_DIFF_LINES))[0]


def _data(change: Change) -> bytes:
    """The bytes that the file is to have. Raises `ToolRefusal` if its encoding has none for a character, or if they
    would not be read as this text again.
    """
    try:
        data = encode(change.after, change.encoded)
    except UnicodeEncodeError as lacking:
        sign, name = change.after[lacking.start], change.encoded.encoding
        told = f"{name}, by a guess (a .editorconfig can name its charset)" if change.encoded.is_guessed else name
        raise ToolRefusal(
            f"{change.place.shown} is in {told}, which has no {one_line(sign)!r} (U+{ord(sign):04X}). Nothing was"
            f" written. Use characters that {name} has, or ask the user to convert the file to UTF-8 first."
        ) from None
    if not reads_back(data, change.after, change.encoded, change.declared):
        why = (
            "a text with a NUL is taken for binary"
            if "\0" in change.after
            else "that is guessed, and with the new text the guess would be another (ask the user to name its charset"
            " in a .editorconfig)"
            if change.encoded.is_guessed
            else "what it says of its encoding in its first lines, a .editorconfig, or the rest of it, says otherwise"
        )
        raise ToolRefusal(
            f"{change.place.shown} would not be read as this text again if it were written in"
            f" {change.encoded.encoding}: {why}. Nothing was written."
        )
    return data
