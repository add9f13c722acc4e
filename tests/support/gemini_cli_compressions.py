"""What came of a compression, by Gemini CLI's golden vectors and by a session of ours that is given the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final, TypeGuard

import msgspec
import pytest

from gemini_companion.engine.errors import (
    CompanionError,
    InvalidInput,
    ModelUnavailable,
    StorageFault,
    TokenCountFailed,
)
from gemini_companion.engine.facts.neutralise import SECTIONS
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.decode import decode_contents
from gemini_companion.engine.history.item import REPLACEMENT_KINDS, Item
from gemini_companion.engine.history.json_length import json_length
from gemini_companion.engine.history.log import (
    AttemptEntry,
    CompressionEntry,
    Entry,
    PromptEntry,
    ReplyEntry,
    ToolResultEntry,
)
from gemini_companion.engine.history.part import response_of, text_of
from gemini_companion.engine.history.pinned import ACKNOWLEDGEMENT
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.compression.service import compress_at_safe_point
from gemini_companion.sessions.models.port import ModelChunk, ModelRequest
from gemini_companion.sessions.session import Session
from tests.support.gemini_cli_counting import GeminiCliCounter, GeminiCliLedger
from tests.support.golden import digested, expand
from tests.support.logs import outcome_of
from tests.support.sessions import Studio

ENVIRONMENT_TOKENS: Final = 69.5


"""What Gemini CLI's environment message cost when the vectors were made."""


_FRAME: Final = (
    "<overall_goal>",
    "</overall_goal>" + "".join(f"<{name}>none</{name}>" for name in SECTIONS if name != "overall_goal"),
)
"""What makes a snapshot of the bare word that the vectors' model answers with: ours must have its sections."""

ALIASES: Final = {
    "chat-compression-default": "gemini-3-pro-preview",
    "chat-compression-3-pro": "gemini-3-pro-preview",
    "chat-compression-3-flash": "gemini-3-flash-preview",
    "chat-compression-3.1-flash-lite": "gemini-3.1-flash-lite",
    "chat-compression-2.5-pro": "gemini-2.5-pro",
    "chat-compression-2.5-flash": "gemini-2.5-flash",
}


class Outcome(msgspec.Struct, kw_only=True):
    """What came of a compression, on either side."""

    status: str
    """`raised` if the call failed, `raised: …` if ours did."""
    counts: tuple[int, int] | None = None
    split: int | None = None
    """Contents given to the summariser, counted in the history that came in."""
    input: str | None = None
    """Whether the summariser got the original outputs or the cut ones."""
    merges: bool | None = None
    """Whether it was asked to merge an earlier snapshot."""
    calls: tuple[tuple[str, str], ...] = ()
    """Model and suffix of the prompt's id, of each call."""
    snapshot: str | None = None
    history: Any = None
    """What the history became after snapshot and acknowledgement, or all of it where outputs were cut alone."""
    files: Any = ()
    """The whole outputs that were written."""


def gemini_cli_estimate(contents: tuple[Content, ...], given_ids: set[str]) -> int:
    """Gemini CLI's count of a history with its environment in front: floored once."""
    parts = [_without_invented_id(part, given_ids) for content in contents for part in content.parts]
    return int(ENVIRONMENT_TOKENS + sum(map(_part_estimate, parts)))


def _without_invented_id(part: dict[str, Any], given_ids: set[str]) -> dict[str, Any]:
    """Calls without an id get one here; Gemini CLI's history has none there."""
    for key in ("functionCall", "functionResponse"):
        if isinstance(body := part.get(key), dict) and body.get("id") not in given_ids:
            part = {**part, key: {name: value for name, value in body.items() if name != "id"}}
    return part


def _part_estimate(part: dict[str, Any]) -> float:
    if (text := text_of(part)) is not None:
        return GeminiCliCounter().count_text(
            _bare(text)
            .replace("<state_snapshot>\n", "<state_snapshot>")
            .replace("\n</state_snapshot>", "</state_snapshot>")
        )
    if (response := response_of(part)) is not None:
        body = response.get("response")
        tokens = len(str(response.get("name") or "")) / 4
        if isinstance(body, str):
            return tokens + len(body) / 4
        return tokens + (0 if body is None else _json_units(body) / 4)
    media = part.get("inlineData") or part.get("fileData") or {}
    kind = str(media.get("mimeType", ""))
    if kind.startswith("image/"):
        return 3_000
    return 25_800 if kind.startswith("application/pdf") else _json_units(part) / 4


def _json_units(value: Any) -> int:
    return json_length(Content(role="user", parts=({"v": value},))) - len('{"role":"user","parts":[{"v":}]}')


# --- theirs


def theirs(case: dict[str, Any]) -> Outcome:
    expected = case["expected"]["result"]
    calls = expected["calls"]
    first = calls[0] if calls else {}
    outcome = Outcome(
        status="raised" if "threw" in expected else expected["statusName"],
        calls=tuple(
            (ALIASES[call["modelKey"]], call["promptId"].removeprefix(case["input"]["promptId"])) for call in calls
        ),
        split=first.get("historyTo"),
        input=first.get("variant"),
        merges=first.get("usesPreviousSnapshotAnchor"),
        files=[file["content"] for file in digested(expected["files"])],
    )
    if "threw" not in expected:
        outcome.counts = (expected["originalTokenCount"], expected["newTokenCount"])
    history = [_cut_marked(content) for content in expected["newHistory"] or ()]
    if outcome.status == "COMPRESSED":
        outcome.snapshot, outcome.history = history[0]["parts"][0]["text"], digested(history[2:])
        assert history[1] == {"role": "model", "parts": [{"text": ACKNOWLEDGEMENT}]}
    elif outcome.status == "CONTENT_TRUNCATED":
        outcome.history = digested(history)
    return outcome


def _cut_marked(content: Any) -> Any:
    """Cut outputs are compared as such: words, and the lengths that depend on them, are ours."""

    def marked(part: Any) -> Any:
        response = part.get("functionResponse")
        output = (
            response["response"].get("output")
            if isinstance(response, dict) and isinstance(response.get("response"), dict)
            else None
        )
        is_cut = isinstance(output, str) and output.startswith(("[Shortened", "Output too large"))
        is_cut = is_cut or (
            isinstance(output, dict) and "$head" in output and output["$head"].startswith("Output too large")
        )
        return {**part, "functionResponse": {**response, "response": {"output": "(cut)"}}} if is_cut else part

    return {**content, "parts": [marked(part) for part in content.get("parts", [])]}


# --- ours


async def ours(case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    given = case["input"]
    try:
        contents = decode_contents(expand(given["history"]))
    except InvalidInput as fault:
        return Outcome(status=f"raised: {fault.message}")
    studio = Studio(tmp_path)
    studio.set(**_settings_of(given))
    studio.services.with_environment = False
    session = await studio.load(contents)
    session.ledger = GeminiCliLedger()
    session.history = History(session.ledger.measure, session.history.entries)
    before = given["lastPromptTokenCount"]
    session.ledger.observe(given["model"], session.history.epoch, session.parts(), before)
    if given.get("hasFailed"):
        failed = outcome_of("COMPRESSION_FAILED_INFLATED_TOKEN_COUNT", trigger="auto")
        session.breaker.apply(AttemptEntry(id="a", seq=1, time=0, result=failed, forced=False, token_count=before))
    given_ids = {
        body["id"]
        for content in contents
        for part in content.parts
        for body in part.values()
        if isinstance(body, dict) and "id" in body
    }
    _script(studio, given, before, given_ids)
    saved: list[str] = []

    async def save_text(session_id: str, name: str, text: str) -> str:
        if given.get("breakSave"):
            raise StorageFault("The disk is full.")
        saved.append(text)
        return studio.store.text_path(session_id, name)

    monkeypatch.setattr(studio.store, "save_text", save_text)
    items = session.history.curated()
    try:
        result = (
            await studio.compress() if given.get("force") else await compress_at_safe_point(session, session.choice())
        )
    except CompanionError:
        return _with_requests(Outcome(status="raised", files=[]), studio, session, items)
    outcome = Outcome(status="NOOP" if result is None else result.status, files=digested(saved))
    outcome.counts = (before, before) if result is None else (result.original_token_count, result.new_token_count)
    if outcome.status == "COMPRESSED":
        contents_now = session.history.contents()
        head = 2 if contents_now[1] == Content(role="model", parts=({"text": ACKNOWLEDGEMENT},)) else 1
        assert result is not None
        outcome.snapshot = _bare(result.snapshot or "").replace("\n", "")
        outcome.history = _plain(contents_now[head:], given_ids)
    elif outcome.status == "CONTENT_TRUNCATED":
        outcome.history = _plain(session.history.contents(), given_ids)
    return _with_requests(outcome, studio, session, items)


def _settings_of(given: dict[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {"model_name": given["model"], "compression_strategy": "split"}
    if "threshold" in given:
        settings["compression_threshold"] = given["threshold"]
    if "truncateThreshold" in given:
        settings["truncate_tool_output_threshold"] = given["truncateThreshold"]
    return settings


def _script(studio: Studio, given: dict[str, Any], before: int, given_ids: set[str]) -> None:
    """Replies as in the case; nothing more is said. The old request counts as the case says, the new one by Gemini CLI's
    rule.
    """
    model = studio.model
    model.default_answer = ""
    for reply in expand(given["replies"]):
        if "error" in reply:
            model.answers.append(ModelUnavailable(reply["error"], retryable=False))
        else:
            parts = reply.get("parts") or ([{"text": reply["text"]}] if "text" in reply else [])
            whole = [{**part, "text": _framed(part["text"])} if "text" in part else part for part in parts]
            model.answers.append(ModelChunk(parts=tuple(whole), finish_reason="STOP"))
    counted: list[int] = []

    def count(request: ModelRequest) -> int:
        counted.append(1)
        if len(counted) == 1:
            return before
        scripted = given.get("countTokens")
        if scripted and any(
            "inlineData" in part or "fileData" in part for content in request.contents for part in content.parts
        ):
            if "error" in scripted:
                raise TokenCountFailed(scripted["error"])
            return scripted["total"]
        return gemini_cli_estimate(request.contents, given_ids)

    model.count = count


def _framed(text: str) -> str:
    return text.replace("<state_snapshot>", f"<state_snapshot>{_FRAME[0]}").replace(
        "</state_snapshot>", f"{_FRAME[1]}</state_snapshot>"
    )


def _bare(text: str) -> str:
    return text.replace(_FRAME[0], "").replace(_FRAME[1], "")


def _with_requests(outcome: Outcome, studio: Studio, session: Session, items: list[Item]) -> Outcome:
    requests = studio.model.requests
    outcome.calls = tuple((request.model, re.sub(r"^compression-\d+", "", request.prompt_id)) for request in requests)
    if requests:
        asked = "".join(part["text"] for request in requests for part in request.contents[0].parts)
        fresh = [item for item in items if item.kind not in REPLACEMENT_KINDS]
        indexes = [int(index) for index in re.findall(r"^<<<content (\d+) \w+ nonce\d+$", asked, re.MULTILINE)]
        contents = [
            entry.seq
            for entry in session.history.entries
            if isinstance(entry, PromptEntry | ReplyEntry | ToolResultEntry)
        ]
        came = [content for entry in session.history.entries if is_from_file(entry) for content in entry.replacement]
        outcome.split = len(came) + contents.index(fresh[max(indexes)].seq) + 1
        outcome.input = "truncated" if "[Shortened" in asked or "characters left out" in asked else "original"
        outcome.merges = "<<<earlier snapshot" in "".join(part["text"] for part in requests[0].contents[0].parts)
    return outcome


def is_from_file(entry: Entry) -> TypeGuard[CompressionEntry]:
    """True for the compression that an imported history began with: its contents are counted with the others."""
    return isinstance(entry, CompressionEntry) and entry.from_file


def _plain(contents: list[Content], given_ids: set[str]) -> Any:
    plain = [
        {"role": content.role, "parts": [_without_invented_id(part, given_ids) for part in content.parts]}
        for content in contents
    ]
    return digested([_cut_marked(content) for content in plain])
