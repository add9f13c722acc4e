"""Gemini CLI's compressions beside ours (`compress.json`, `COMPANION_GOLDEN`): order of steps, statuses, calls, input, what is kept.

Every case runs through `sessions/compressing.py` with a scripted model, a ledger that counts by the peer's rule, and no environment. Compared are
the fields of `Outcome`. Where ours differ on purpose, `DIFFERENT` names the fields and the reason; a difference that is not listed fails, and so does
one that is listed and is not there. Left aside are hooks, which are no part of this yet, and words.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from gemini_companion.engine.compression.conclude import ACKNOWLEDGEMENT
from gemini_companion.engine.errors import CompanionError, InvalidInput, ModelUnavailable, StorageFault, TokenCountFailed
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.decode import decode_contents
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.json_length import json_length
from gemini_companion.engine.history.log import AttemptEntry, PromptEntry, ReplyEntry, ToolResultEntry
from gemini_companion.engine.history.part import response_of, text_of
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.compressing import compress_automatically
from gemini_companion.sessions.ports import ModelChunk, ModelRequest
from gemini_companion.sessions.session import Session
from tests.support.golden import digested, expand, golden_cases
from tests.support.logs import outcome_of
from tests.support.peer_counting import PeerCounter, PeerLedger
from tests.support.sessions import Studio

ENVIRONMENT_TOKENS: Final = 69.5
"""What the peer's environment message cost when the vectors were made."""

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


def peer_estimate(contents: tuple[Content, ...], given_ids: set[str]) -> int:
    """Gemini CLI's count of a history with its environment in front: floored once."""
    parts = [_without_invented_id(part, given_ids) for content in contents for part in content.parts]
    return int(ENVIRONMENT_TOKENS + sum(map(_part_estimate, parts)))


def _without_invented_id(part: dict[str, Any], given_ids: set[str]) -> dict[str, Any]:
    """Calls without an id get one here; the peer's history has none there."""
    for key in ("functionCall", "functionResponse"):
        if isinstance(body := part.get(key), dict) and body.get("id") not in given_ids:
            part = {**part, key: {name: value for name, value in body.items() if name != "id"}}
    return part


def _part_estimate(part: dict[str, Any]) -> float:
    if (text := text_of(part)) is not None:
        return PeerCounter().count_text(text.replace("<state_snapshot>\n", "<state_snapshot>").replace("\n</state_snapshot>", "</state_snapshot>"))
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


# --- theirs ------------------------------------------------------------------------------------------------------------------------


def theirs(case: dict[str, Any]) -> Outcome:
    expected = case["expected"]["result"]
    calls = expected["calls"]
    first = calls[0] if calls else {}
    outcome = Outcome(
        status="raised" if "threw" in expected else expected["statusName"],
        calls=tuple((ALIASES[call["modelKey"]], call["promptId"].removeprefix(case["input"]["promptId"])) for call in calls),
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
        output = response["response"].get("output") if isinstance(response, dict) and isinstance(response.get("response"), dict) else None
        is_cut = isinstance(output, str) and output.startswith(("[Shortened", "Output too large"))
        is_cut = is_cut or (isinstance(output, dict) and "$head" in output and output["$head"].startswith("Output too large"))
        return {**part, "functionResponse": {**response, "response": {"output": "(cut)"}}} if is_cut else part

    return {**content, "parts": [marked(part) for part in content.get("parts", [])]}


# --- ours --------------------------------------------------------------------------------------------------------------------------


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
    session.ledger = PeerLedger()
    session.history = History(session.ledger.measure, session.history.entries)
    before = given["lastPromptTokenCount"]
    session.ledger.observe(given["model"], session.history.epoch, session.parts(), before)
    if given.get("hasFailed"):
        failed = outcome_of("COMPRESSION_FAILED_INFLATED_TOKEN_COUNT", trigger="auto")
        session.breaker.apply(AttemptEntry(id="a", seq=1, time=0, result=failed, forced=False, token_count=before))
    given_ids = {body["id"] for content in contents for part in content.parts for body in part.values() if isinstance(body, dict) and "id" in body}
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
        result = await studio.compress() if given.get("force") else await compress_automatically(session, session.choice())
    except CompanionError:
        return _told(Outcome(status="raised", files=[]), studio, session, items)
    outcome = Outcome(status="NOOP" if result is None else result.status, files=digested(saved))
    outcome.counts = (before, before) if result is None else (result.original_token_count, result.new_token_count)
    if outcome.status == "COMPRESSED":
        contents_now = session.history.contents()
        head = 2 if contents_now[1] == Content(role="model", parts=({"text": ACKNOWLEDGEMENT},)) else 1
        assert result is not None
        outcome.snapshot = (result.snapshot or "").replace("\n", "")
        outcome.history = _plain(contents_now[head:], given_ids)
    elif outcome.status == "CONTENT_TRUNCATED":
        outcome.history = _plain(session.history.contents(), given_ids)
    return _told(outcome, studio, session, items)


def _settings_of(given: dict[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {"model_name": given["model"]}
    if "threshold" in given:
        settings["compression_threshold"] = given["threshold"]
    if "truncateThreshold" in given:
        settings["truncate_tool_output_threshold"] = given["truncateThreshold"]
    return settings


def _script(studio: Studio, given: dict[str, Any], before: int, given_ids: set[str]) -> None:
    """Replies as in the case; nothing more is said. The old request counts as the case says, the new one by the peer's rule."""
    model = studio.model
    model.default_answer = ""
    for reply in expand(given["replies"]):
        if "error" in reply:
            model.answers.append(ModelUnavailable(reply["error"], retryable=False))
        else:
            parts = reply.get("parts") or ([{"text": reply["text"]}] if "text" in reply else [])
            model.answers.append(ModelChunk(parts=tuple(parts), finish_reason="STOP"))
    counted: list[int] = []

    def count(request: ModelRequest) -> int:
        counted.append(1)
        if len(counted) == 1:
            return before
        scripted = given.get("countTokens")
        if scripted and any("inlineData" in part or "fileData" in part for content in request.contents for part in content.parts):
            if "error" in scripted:
                raise TokenCountFailed(scripted["error"])
            return scripted["total"]
        return peer_estimate(request.contents, given_ids)

    model.count = count


def _told(outcome: Outcome, studio: Studio, session: Session, items: list[Item]) -> Outcome:
    requests = studio.model.requests
    outcome.calls = tuple((request.model, re.sub(r"^compaction-\d+", "", request.prompt_id)) for request in requests)
    if requests:
        asked = "".join(part["text"] for request in requests for part in request.contents[0].parts)
        indexes = [int(index) for index in re.findall(r"^<<<content (\d+) \w+ nonce\d+$", asked, re.MULTILINE)]
        contents = [entry.seq for entry in session.history.entries if isinstance(entry, PromptEntry | ReplyEntry | ToolResultEntry)]
        outcome.split = contents.index(items[max(indexes)].seq) + 1
        outcome.input = "truncated" if "[Shortened" in asked or "characters left out" in asked else "original"
        outcome.merges = "<<<earlier snapshot" in "".join(part["text"] for part in requests[0].contents[0].parts)
    return outcome


def _plain(contents: list[Content], given_ids: set[str]) -> Any:
    plain = [{"role": content.role, "parts": [_without_invented_id(part, given_ids) for part in content.parts]} for content in contents]
    return digested([_cut_marked(content) for content in plain])


REASONS: Final = {
    "alike": "counts before and after are of the same request: what the cuts save is taken off, and without a cut nothing was truncated (§3.11)",
    "blocks": "a text that no window holds is summarised in blocks, instead of being sent all the same (§3.7)",
    "characters": "limits are characters, not UTF-16 units, so that no pair is split",
    "count": "a count that fails is told as such, and no estimate is put in its place (§3.11)",
    "door": "a call or response that is `null` is refused where contents come in",
    "equal": "a history that did not get smaller is inflated, equal counts included (§3.11)",
    "fault": "a model's fault in an automatic run never loses the turn (§3, failure flag)",
    "file": "files are written for cuts that are installed: what is hidden stands whole in the log (§3.4)",
    "hook": "a failing hook does not stop a compression (§3.2); hooks are no part of this yet",
    "invalid": "invalid answers and thoughts are dropped before anything else (§1)",
    "log": "an earlier snapshot is known by the log, not by a tag in a text (§3.8)",
    "meter": "where nothing is there both counts are the meter's, not 0",
    "numbers": "the JSON of a response is written with its numbers as they came",
    "orphan": "results without a call are dropped before anything else (§1), and these cases have no calls",
    "repair": "an answer without a snapshot gets one repair call (§3.9)",
    "small": "outputs that are small already are left alone (§3.4)",
    "snapshot": "only a complete snapshot is taken from an answer, never a scratchpad or a bare text (§3.9)",
    "within": "a cut output stays within the limit with the lines that tell of the cut (§3.4)",
}

DIFFERENT: Final[dict[str, tuple[str, str]]] = {
    "empty_history_auto": ("counts", "meter"),
    "hook_throws_auto": ("status counts split input merges calls snapshot history", "hook"),
    "no_candidates_auto": ("calls", "repair"),
    "thought_only_verify_auto": ("counts snapshot", "snapshot"),
    "no_snapshot_tag_auto": ("status counts calls snapshot history", "snapshot repair"),
    "llm2_throws_auto": ("status counts", "fault"),
    "inflated_big_auto": ("status counts snapshot history", "snapshot"),
    "prev_snapshot_first_auto": ("merges", "log"),
    "media_tail_2_auto": ("status counts snapshot history", "count"),
    "media_tail_4_auto": ("status snapshot history", "equal"),
    "empty_history_force": ("counts", "meter"),
    "hook_throws_force": ("status counts split input merges calls snapshot history", "hook"),
    "no_candidates_force": ("calls", "repair"),
    "thought_only_verify_force": ("counts snapshot", "snapshot"),
    "no_snapshot_tag_force": ("status counts calls snapshot history", "snapshot repair"),
    "inflated_big_force": ("status counts snapshot history", "snapshot"),
    "prev_snapshot_first_force": ("merges", "log"),
    "failed_before_under_force": ("status snapshot history", "equal"),
    "media_tail_2_force": ("status counts snapshot history", "count"),
    "media_tail_4_force": ("status snapshot history", "equal"),
    "budget_0": ("files", "file"),
    "budget_failed_0": ("counts", "alike"),
    "budget_lowhead_0_trunconly": ("counts", "alike"),
    "budget_1_trunconly": ("status counts history", "alike"),
    "budget_failed_2": ("status counts history", "alike"),
    "budget_lowhead_2_trunconly": ("status counts history", "alike"),
    "budget_3_trunconly": ("counts", "alike"),
    "budget_lowhead_3": ("files", "file"),
    "budget_failed_4": ("status counts history", "alike"),
    "budget_lowhead_4_trunconly": ("status counts history", "alike"),
    "budget_5_trunconly": ("counts", "alike"),
    "budget_lowhead_5": ("files", "file"),
    "budget_6": ("files", "file"),
    "budget_failed_6": ("counts", "alike"),
    "budget_lowhead_6_trunconly": ("counts", "alike"),
    "budget_7_trunconly": ("counts", "alike"),
    "budget_lowhead_7": ("files", "file"),
    "budget_8": ("files", "file"),
    "budget_failed_8": ("counts", "alike"),
    "budget_lowhead_8_trunconly": ("counts", "alike"),
    "budget_9_trunconly": ("counts", "alike"),
    "budget_lowhead_9": ("files", "file"),
    "budget_10": ("counts", "within"),
    "budget_failed_10": ("counts", "alike"),
    "budget_lowhead_10_trunconly": ("counts", "alike"),
    "budget_11_trunconly": ("counts", "alike"),
    "budget_lowhead_11": ("files", "file"),
    "budget_key_output": ("files", "file"),
    "budget_key_content": ("files", "file"),
    "budget_key_error": ("files", "file"),
    "budget_key_None": ("files", "file"),
    "budget_object_pretty": ("counts files", "numbers within"),
    "budget_output_nonstring": ("counts", "within"),
    "budget_null_response": ("counts history", "orphan within"),
    "budget_cjk": ("files", "small"),
    "budget_emoji_cut": ("counts", "characters"),
    "budget_multi_parts": ("counts split history files", "orphan"),
    "budget_id_kept": ("counts history files", "orphan"),
    "budget_noname": ("counts history files", "orphan"),
    "budget_short_over": ("split history", "orphan"),
    "budget_threshold_0": ("split history files", "orphan"),
    "budget_threshold_1": ("counts history files", "orphan"),
    "budget_threshold_100": ("counts history files", "orphan"),
    "budget_threshold_40000": ("counts history files", "orphan"),
    "budget_threshold_1000000": ("split history files", "orphan"),
    "budget_threshold_-400": ("split history files", "orphan"),
    "budget_save_fails": ("counts split history", "orphan"),
    "hifi_original": ("files", "file"),
    "hifi_text_too_large": ("calls", "blocks"),
    "hifi_exact_limit": ("split", "invalid"),
    "prev_snapshot_truncated_input_0": ("input files", "orphan"),
    "prev_snapshot_mid_1": ("merges", "log"),
    "split_on_truncated": ("counts split history files", "orphan"),
    "rand_3": ("status counts split input merges calls snapshot history files", "door"),
    "rand_7": ("counts split merges history", "log orphan"),
    "rand_11": ("files", "file"),
    "rand_13": ("status counts split input merges calls snapshot history files", "door"),
    "rand_19": ("status counts split input merges calls snapshot history", "invalid"),
    "rand_21": ("status counts split input merges calls files", "door"),
    "rand_23": ("counts history", "invalid orphan"),
    "rand_27": ("split", "invalid"),
    "rand_35": ("files", "file"),
    "rand_37": ("files", "file"),
}
"""By case the fields that differ, and why."""


@pytest.mark.parametrize("case", golden_cases("compress", "compress"))
async def test_a_compression_does_what_the_peers_does_but_for_the_listed_differences(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    their, our = theirs(case), await ours(case, tmp_path, monkeypatch)
    different = {
        field: (getattr(their, field), getattr(our, field)) for field in Outcome.__struct_fields__ if getattr(their, field) != getattr(our, field)
    }
    fields, reasons = DIFFERENT.get(case["id"], ("", ""))
    assert " ".join(different) == fields, different
    assert set(reasons.split()) <= set(REASONS)
