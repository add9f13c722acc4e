"""Decoding a session file of any kind, recognised by its content and not by its name."""

from __future__ import annotations

from typing import cast

import msgspec

from gemini_companion.engine.commands.naming import flattened
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.decode import decode_contents, decode_parts, mismatch
from gemini_companion.engine.history.part import text_of
from gemini_companion.sessions.interchange import companion, gemini_cli
from gemini_companion.sessions.interchange.chat_messages import chat_to_session, is_chat
from gemini_companion.sessions.interchange.compressed import places_of
from gemini_companion.sessions.interchange.imported import ImportedSession
from gemini_companion.sessions.interchange.json_document import parse_json

LONGEST_TITLE = 500
"""Characters, as in `protocol.types.Title`."""

_WHAT_IS_READ = (
    "A session file is an array of contents, an object with history, an export of this program, a Gemini CLI session"
    " (.json or .jsonl), or messages with role and content."
)


def decode_session_file(data: bytes, name: str) -> ImportedSession:
    """Decode the bytes of a session file; `name` is the file's name in messages.

    Accepted are `{history, systemInstruction?, snapshotAt?}`, a bare array of contents, our own export, Gemini CLI's
    `.json` and `.jsonl`, and messages with role and content (`chat_messages`). Raises only `InvalidInput`, with a path
    as in `$.history[3].parts[0].text`, or with line and column.
    """
    try:
        session = _decode(data, is_jsonl=name.endswith(".jsonl"))
    except InvalidInput as fault:
        raise InvalidInput(f"{name}: {fault.message}", path=fault.path, hint=fault.hint or _WHAT_IS_READ) from None
    # It is shown in lists and written to terminals. Whoever wrote the file keeps to none of our limits.
    title = flattened(session.title, LONGEST_TITLE) if session.title else session.title
    meta = msgspec.structs.replace(session.meta, title=title or "") if session.meta else None
    return msgspec.structs.replace(session, title=title, meta=meta)


def _decode(data: bytes, *, is_jsonl: bool) -> ImportedSession:
    if not data or data.isspace():
        raise InvalidInput("The file is empty.")
    try:
        document = parse_json(data)
    except InvalidInput:
        if not (is_jsonl or _is_object(data.lstrip().partition(b"\n")[0])):
            raise
        session = _decode_lines(data)
        if session is not None:
            return session
        if is_jsonl:
            raise InvalidInput("No line says which session it is of: none has sessionId and projectHash.") from None
        raise
    return _decode_document(document)


def _decode_document(document: object) -> ImportedSession:
    if is_chat(document):
        return chat_to_session(document, "$")
    if isinstance(document, list):
        return ImportedSession(contents=decode_contents(cast("list[object]", document)))
    if not isinstance(document, dict):
        raise mismatch("an array or an object", document, "$")
    fields = cast("dict[str, object]", document)
    if fields.get("format") == companion.FORMAT:
        return companion.decode_export(fields)
    if (name := next((one for one in ("history", "contents") if one in fields), "")) != "":
        instruction = _instruction(fields.get("systemInstruction"), "$.systemInstruction")
        if is_chat(fields[name]):
            return chat_to_session(fields[name], f"$.{name}", instruction)
        return ImportedSession(
            contents=decode_contents(fields[name], f"$.{name}"),
            system_instruction=instruction,
            snapshots_at=places_of(fields),
        )
    if is_chat(fields.get("messages")):
        system = fields.get("system")  # Anthropic's
        return chat_to_session(fields["messages"], "$.messages", system if isinstance(system, str) else None)
    if "messages" in fields or ("sessionId" in fields and "projectHash" in fields):
        return gemini_cli.to_session(gemini_cli.conversation_of_document(fields))
    raise InvalidInput("There is neither history nor messages in it.")


def _decode_lines(data: bytes) -> ImportedSession | None:
    """The session in a `.jsonl` file; `None` if no record identifies it. Lines that are not JSON are left out."""
    warnings: list[str] = []
    records: list[tuple[int, object]] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append((number, parse_json(line)))
        except InvalidInput:
            warnings.append(f"Line {number} is not JSON and was left out.")
    conversation = gemini_cli.conversation_of_records(records)
    if not conversation.is_named:
        return None
    session = gemini_cli.to_session(conversation)
    return msgspec.structs.replace(session, warnings=(*warnings, *session.warnings))


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(parse_json(line), dict)
    except InvalidInput:
        return False


def _instruction(raw: object, path: str) -> str | None:
    """A system instruction as text: a string, or an object whose parts are texts, which are joined by line breaks.

    `None` if there is none.
    """
    if raw is None or isinstance(raw, str):
        return raw or None
    if not isinstance(raw, dict):
        raise mismatch("a string or an object with parts", raw, path)
    fields = cast("dict[str, object]", raw)
    texts: list[str] = []
    for index, part in enumerate(decode_parts(fields.get("parts"), f"{path}.parts")):
        text = text_of(part)
        if text is None:
            raise InvalidInput(f"Expected a part with text at {path}.parts[{index}].", path=f"{path}.parts[{index}]")
        texts.append(text)
    return "\n".join(texts) or None
