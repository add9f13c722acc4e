"""What the editor shows: bounded, masked, sent in full or as changes, and read back."""

from gemini_companion.engine.history.extent import SelectionCut, TextExtent
from gemini_companion.engine.history.log import Withheld
from gemini_companion.engine.ide_context.known import KnownState
from gemini_companion.engine.ide_context.normalise import (
    MAX_ACTIVE_TEXT,
    MAX_EXTRAS,
    MAX_FILES,
    MAX_SELECTION,
    TRUNCATED,
    normalise,
)
from gemini_companion.engine.ide_context.policy import Baseline, Send, baseline_of, decide, is_full_due
from gemini_companion.engine.ide_context.receipt import Receipt
from gemini_companion.engine.ide_context.render import render_delta, render_full
from gemini_companion.engine.ide_context.replay import apply_text, replay
from gemini_companion.engine.ide_context.state import Cursor, Diagnostic, EditorState, FileText, LineRange, OpenFile

__all__ = [
    "MAX_ACTIVE_TEXT",
    "MAX_EXTRAS",
    "MAX_FILES",
    "MAX_SELECTION",
    "TRUNCATED",
    "Baseline",
    "Cursor",
    "Diagnostic",
    "EditorState",
    "FileText",
    "KnownState",
    "LineRange",
    "OpenFile",
    "Receipt",
    "SelectionCut",
    "Send",
    "TextExtent",
    "Withheld",
    "apply_text",
    "baseline_of",
    "decide",
    "is_full_due",
    "normalise",
    "render_delta",
    "render_full",
    "replay",
]
