"""What can be asked of recall."""

from __future__ import annotations

from msgspec.structs import replace

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.recall.query import parse_query
from gemini_companion.sessions.recall.meaning import question_vector
from gemini_companion.sessions.recall.outputs import names_of, recall_output, search_outputs
from gemini_companion.sessions.recalled import RecallResult
from gemini_companion.sessions.services import Services


async def recall(
    services: Services,
    *,
    query: str | None = None,
    turn_id: str | None = None,
    entry_id: str | None = None,
    tool_call_id: str | None = None,
    offset: int = 0,
    session_id: str | None = None,
    limit: int = 10,
) -> RecallResult:
    """What was said in this project, or in one session, that answers `query`; or a turn, an entry, a call's output.

    The question is asked as it stands: words of the conversation added to it lost more than they found. Raises
    `InvalidInput` unless there is either a query or an id; `SessionNotFound`, `StorageFault`. Of a call's output a
    query gives the lines with its words. What a query names is looked for inside of kept outputs too, where nothing
    that was found has it.
    """
    if tool_call_id is not None:
        if turn_id is not None or entry_id is not None:
            raise InvalidInput("Give `toolCallId` without `turnId` and `entryId`.", path="$.toolCallId")
        if session_id is None:
            raise InvalidInput("Give the `sessionId` of the call too.", path="$.sessionId")
        words = query.strip() if query is not None else ""
        return await recall_output(services.store, session_id, tool_call_id, offset, words or None)
    if turn_id is not None or entry_id is not None:
        if query is not None:
            raise InvalidInput("Give either `query`, or `turnId` or `entryId`.", path="$.query")
        return await services.store.recall.whole(session_id=session_id, turn_id=turn_id, entry_id=entry_id)
    if query is None or not query.strip():
        raise InvalidInput("There is nothing to look for.", path="$.query", hint="Give some words, or a `turnId`.")
    vector = await question_vector(services, query)
    found = await services.store.recall.search(parse_query(query), session_id=session_id, limit=limit, vector=vector)
    names = names_of(query)
    if not names or any(all(name in hit.text.lower() for name in names) for hit in found.hits):
        return found
    inside = await search_outputs(services.store, session_id, query, limit)
    best = found.hits[0].score if found.hits else 0.0
    hits = (*(replace(hit, score=best + 1) for hit in inside), *found.hits)
    return replace(found, hits=hits[:limit])
