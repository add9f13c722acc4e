"""Hypothesis strategies for what a session is made of."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import (
    Attachment,
    AttemptEntry,
    CompressionEntry,
    CompressionResult,
    ConstraintEntry,
    Cut,
    DiscardEntry,
    Entry,
    IdeContextEntry,
    ModelChangeEntry,
    PinEntry,
    PreviewEntry,
    PromptEntry,
    RatingEntry,
    ReplyEntry,
    ResumeEntry,
    StatementEntry,
    ToolResultEntry,
    TurnEndEntry,
    UndoEntry,
    UnpinEntry,
    Usage,
    Withheld,
)
from gemini_companion.engine.history.retention import MissingFact, Retention
from gemini_companion.engine.history.shown import Shown
from gemini_companion.sessions.ports import SessionMeta

texts = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["/help", "?", "<session_context>", "/etc/hosts is odd", "日本語", "a\x00b", "\U0001f600"]),
)
"""Anything that can be said, and what other readers take for something else."""

ids = st.sampled_from(["c1", "c2", "c3", ""])
"""Few, so that calls and results often meet."""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)

json_objects = st.dictionaries(texts, json_values, max_size=3)


def _with_unknown_fields(part: dict[str, Any], unknown: dict[str, Any]) -> dict[str, Any]:
    return {**{f"x-{name}": value for name, value in unknown.items()}, **part}


_text_parts = st.fixed_dictionaries({"text": texts}, optional={"thought": st.booleans(), "thoughtSignature": texts})
_call_parts = st.fixed_dictionaries(
    {"functionCall": st.fixed_dictionaries({"name": texts}, optional={"id": ids, "args": json_objects})},
    optional={"thoughtSignature": texts},
)
_response_parts = st.fixed_dictionaries(
    {"functionResponse": st.fixed_dictionaries({}, optional={"id": ids, "name": texts, "response": json_values})}
)
_media_parts = st.fixed_dictionaries({"inlineData": st.fixed_dictionaries({"mimeType": texts, "data": texts})})

parts = st.builds(
    _with_unknown_fields, _text_parts | _call_parts | _response_parts | _media_parts, st.just({}) | json_objects
)

contents = st.builds(
    lambda role, parts: Content(role=role, parts=tuple(parts)),
    st.sampled_from(["user", "model"]),
    st.lists(parts, max_size=4),
)

_results = st.builds(
    CompressionResult,
    status=st.sampled_from(["COMPRESSED", "NOOP", "UNDONE"]),
    trigger=st.sampled_from(["manual", "auto"]),
    original_token_count=st.integers(0, 10**9),
    new_token_count=st.integers(0, 10**9),
    token_count_source=st.sampled_from(["api", "estimate"]),
    model_calls=st.integers(0, 9),
    duration_ms=st.integers(0, 10**9),
    message=texts,
    snapshot=st.none() | texts,
    undone=st.none() | st.tuples(texts),
    retention=st.none()
    | st.builds(
        Retention,
        score=st.floats(0, 1),
        facts=st.integers(0, 9),
        missing=st.lists(st.builds(MissingFact, kind=texts, text=texts), max_size=2).map(tuple),
    ),
)
_common = {"id": texts, "seq": st.just(0), "time": st.integers(0, 2**53 - 1)}
_compressions = st.builds(
    CompressionEntry,
    **_common,
    compression_id=texts,
    result=_results,
    hides=st.none() | st.tuples(st.integers(1, 9), st.integers(1, 9)),
    keeps=st.lists(st.integers(1, 9), max_size=2).map(tuple),
    replacement=st.lists(contents, max_size=2).map(tuple),
    covers=st.lists(texts, max_size=2).map(tuple),
    cuts=st.lists(
        st.builds(
            Cut, seq=st.integers(1, 9), part=st.integers(0, 3), output=texts, path=texts, tokens_saved=st.integers(0, 9)
        )
    ).map(tuple),
)
_withheld = st.lists(st.builds(Withheld, name=texts, reason=texts), max_size=2).map(tuple)
_attachments = st.lists(
    st.builds(
        Attachment,
        path=texts,
        lines=st.none() | st.tuples(st.integers(1, 9), st.integers(1, 9)),
        truncated=st.booleans(),
    ),
    max_size=2,
).map(tuple)
_constraints = st.builds(
    Constraint,
    constraint_id=ids,
    text=texts,
    scope=st.sampled_from(["session", "project"]),
    state=st.sampled_from(["proposed", "inForce", "released"]),
    created_at=st.integers(0, 2**53 - 1),
    source=st.sampled_from(["prompt", "pin", "client", "memory"]),
    turn_id=st.none() | ids,
    replaces=st.none() | ids,
    replaced_by=st.none() | ids,
    note=st.none() | texts,
)
_entry_kinds = st.one_of(
    st.builds(
        PromptEntry,
        **_common,
        turn_id=texts,
        content=contents,
        client=texts,
        attachments=_attachments,
        withheld=_withheld,
    ),
    st.builds(
        ReplyEntry,
        **_common,
        turn_id=texts,
        content=contents,
        model=texts,
        usage=st.none() | st.builds(Usage, prompt_tokens=st.integers(0, 9), total_tokens=st.integers(0, 9)),
    ),
    st.builds(ToolResultEntry, **_common, turn_id=texts, content=contents),
    st.builds(
        IdeContextEntry,
        **_common,
        turn_id=texts,
        content=contents,
        kind=st.sampled_from(["full", "delta"]),
        client=texts,
        epoch=st.integers(1, 9),
        selection_chars=st.integers(0, 9),
        withheld=_withheld,
    ),
    st.builds(
        TurnEndEntry,
        **_common,
        turn_id=texts,
        outcome=st.sampled_from(["completed", "interrupted", "replaced"]),
        kept_to=st.integers(0, 9),
        duration_ms=st.none() | st.integers(0, 10**9),
        shown=st.none() | st.builds(Shown, text=texts, thoughts=texts),
    ),
    _compressions,
    st.builds(PreviewEntry, **_common, compression_id=texts, compression=_compressions, base_seq=st.integers(0, 9)),
    st.builds(DiscardEntry, **_common, compression_id=texts),
    st.builds(UndoEntry, **_common, undone=st.lists(texts).map(tuple), result=_results),
    st.builds(AttemptEntry, **_common, result=_results, forced=st.booleans(), token_count=st.integers(0, 9)),
    st.builds(PinEntry, **_common, pin_id=ids, text=texts),
    st.builds(UnpinEntry, **_common, pin_id=ids),
    st.builds(ConstraintEntry, **_common, constraint=_constraints, digest=ids, by_turn=st.none() | ids),
    st.builds(StatementEntry, **_common, at=st.integers(0, 9), text=texts, is_kept=st.booleans()),
    st.builds(ModelChangeEntry, **_common, model=texts),
    st.builds(RatingEntry, **_common, compression_id=texts, rating=st.integers(1, 5)),
    st.builds(ResumeEntry, **_common),
)


@st.composite
def logs(draw: st.DrawFn) -> tuple[Entry, ...]:
    """A log of entries of every kind, with a gap now and then, as one has that lost a damaged entry."""
    seq = 0
    entries: list[Entry] = []
    for entry in draw(st.lists(_entry_kinds, max_size=6)):
        seq += draw(st.sampled_from([1, 1, 1, 4]))
        entries.append(msgspec.structs.replace(entry, seq=seq))
    return tuple(entries)


metas = st.builds(
    SessionMeta,
    session_id=texts,
    title=texts,
    model=texts,
    created_at=st.integers(0, 2**53 - 1),
    updated_at=st.integers(0, 2**53 - 1),
    turns=st.integers(0, 9),
    workspace_folders=st.lists(texts, max_size=2).map(tuple),
    system_instruction=st.none() | texts.filter(bool),
    parent=st.none() | texts,
)
