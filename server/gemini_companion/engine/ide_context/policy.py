"""When the editor's state is sent to the model, and whether all of it or only its changes.

All of it is sent on the first turn, after any change of the history's epoch (a resumption is one), when the client is
another than the one that sent last (a client that reconnects is another one), and when the previous turn came from
another client. Otherwise only changes are sent, and nothing where nothing changed. While a function call waits for its
result nothing is sent at all; what is due stays due.

Where the full state is due and no file is open, nothing is sent, and it stays due: Gemini CLI takes an empty state as
sent, and then sends the first file as a change of something that the model never saw. But where the model still knows
of open files, because another client described them in this epoch, it gets a message that none is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.extent import SelectionCut, TextExtent
from gemini_companion.engine.history.log import IdeContextEntry, Withheld
from gemini_companion.engine.history.part import visible_text
from gemini_companion.engine.ide_context.known import KnownState
from gemini_companion.engine.ide_context.message import FileView, Message, read_message
from gemini_companion.engine.ide_context.receipt import NO_ROOM, Kind, Receipt, extent_of, masked_secrets
from gemini_companion.engine.ide_context.render import render_delta, render_full, render_nothing_open
from gemini_companion.engine.ide_context.replay import apply_message, apply_text
from gemini_companion.engine.ide_context.state import EditorState


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """What the model knows of the editor from the messages in its view, which client sent it, and in which epoch."""

    client: str
    epoch: int
    known: KnownState


class Send(msgspec.Struct, frozen=True, kw_only=True):
    """What to put before the turn's prompt. `baseline` applies once it is in the view; nothing else need be kept."""

    kind: Kind
    text: str | None
    """The message; `None` exactly if `kind` is `none`."""
    receipt: Receipt
    baseline: Baseline | None


def baseline_of(entries: Iterable[IdeContextEntry], baseline: Baseline | None = None) -> Baseline | None:
    """The baseline that the IDE entries of a view leave, in order, after those that left `baseline`.

    Entries of cancelled turns and of earlier epochs must not be among them: they left the view, and the model no longer
    knows them. `None` where there is none, or where one is no message of this package: then everything is due.
    """
    for entry in entries:
        before = baseline.known if baseline is not None and baseline.epoch == entry.epoch else None
        try:
            known = apply_text(before, visible_text(entry.content))
        except InvalidInput:
            baseline = None
        else:
            baseline = Baseline(client=entry.client, epoch=entry.epoch, known=known)
    return baseline


def is_full_due(baseline: Baseline | None, *, client: str, epoch: int, previous_turn_client: str | None) -> bool:
    """True if this client's next message has to be a full one.

    `previous_turn_client` is `None` before the session's first turn.
    """
    if baseline is None or baseline.epoch != epoch or baseline.client != client:
        return True
    return previous_turn_client != client


def decide(
    baseline: Baseline | None,
    now: EditorState,
    *,
    client: str,
    epoch: int,
    previous_turn_client: str | None,
    call_open: bool,
    withheld: Sequence[Withheld] = (),
) -> Send:
    """Decide what is sent to the model of `now` before this client's prompt; see the module.

    `call_open` is true while a function call waits for its result. `withheld` goes into the receipt. Never raises.
    """
    believed = baseline is not None and baseline.epoch == epoch and bool(baseline.known.open)
    full = is_full_due(baseline, client=client, epoch=epoch, previous_turn_client=previous_turn_client)
    text: str | None = None
    if call_open:
        pass
    elif baseline is None or full:
        text = render_full(now) or (render_nothing_open() if believed else None)
    else:
        text = render_delta(baseline.known, now)
    if text is None:
        return Send(kind="none", text=None, receipt=Receipt(kind="none", withheld=tuple(withheld)), baseline=baseline)
    kind: Kind = "full" if full else "delta"
    message = read_message(text)
    known = apply_message(None if full or baseline is None else baseline.known, message)
    return Send(
        kind=kind,
        text=text,
        receipt=_receipt(kind, message, known, now, withheld),
        baseline=Baseline(client=client, epoch=epoch, known=known),
    )


def _receipt(
    kind: Kind, message: Message, known: KnownState, now: EditorState, withheld: Sequence[Withheld]
) -> Receipt:
    """Read the receipt off the message itself, so that the two cannot differ."""
    files, selection, cut = _contained(message)
    masked = [masked_secrets(file.path, file.masked) for file in now.files if file.masked and file.path in files]
    return Receipt(
        kind=kind,
        files=files,
        closed=message.changes.files_closed if message.changes else (),
        texts=tuple(_texts(message, known)),
        selection_chars=len(selection),
        selection_cut=cut,
        withheld=(*withheld, *masked),
    )


def _texts(message: Message, known: KnownState) -> Iterator[TextExtent]:
    """How much the model now knows of the texts that a message is about."""
    changes = message.changes
    if changes is None:
        view, unsaved = message.active_file or None, message.other_unsaved_files
    else:
        view, unsaved = changes.active_file_changed or changes.content_changed, changes.unsaved_text_changed
    if view is not None and view.path is not None and view.content is not None:
        as_changes = view.content.diff is not None or view.content.unchanged
        reason = known.path_only
        yield extent_of(view.path, known.text, is_unsaved=known.is_unsaved, as_changes=as_changes, reason=reason)
    for other in unsaved:
        if not other.saved:
            yield extent_of(other.path, known.unsaved.get(other.path), is_unsaved=True, reason=NO_ROOM)


def _contained(message: Message) -> tuple[tuple[str, ...], str, SelectionCut | None]:
    """The paths that a message names, each once, the selected text in it, and what of the selection that is."""
    changes = message.changes
    if changes is None:
        active = message.active_file or None
        paths = _distinct(_path_of(active), *(message.other_open_files or ()))
        return (paths, active.selected_text, active.selection_cut) if active else (paths, "", None)
    paths = [*changes.files_opened, *changes.files_closed, _path_of(changes.active_file_changed)]
    about = (
        changes.cursor_moved,
        changes.selection_changed,
        changes.visible_range_changed,
        changes.diagnostics_changed,
        changes.content_changed,
    )
    paths += [change.path for change in (*about, *changes.unsaved_text_changed) if change is not None]
    selected = changes.selection_changed or changes.active_file_changed
    return (
        (_distinct(*paths), selected.selected_text, selected.selection_cut)
        if selected
        else (_distinct(*paths), "", None)
    )


def _path_of(view: FileView | None) -> str:
    return (view.path or view.previous_path or "") if view else ""


def _distinct(*paths: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in paths if path))
