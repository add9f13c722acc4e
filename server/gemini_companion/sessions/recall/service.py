"""What can be asked of recall."""

from __future__ import annotations

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.recall.query import parse_query
from gemini_companion.sessions.recall.meaning import question_vector
from gemini_companion.sessions.recall.outputs import recall_output
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
    `InvalidInput` unless there is either a query or an id; `SessionNotFound`, `StorageFault`.
    """
    if tool_call_id is not None:
        if query is not None or turn_id is not None or entry_id is not None:
            raise InvalidInput("Give `toolCallId` without `query`, `turnId` and `entryId`.", path="$.toolCallId")
        if session_id is None:
            raise InvalidInput("Give the `sessionId` of the call too.", path="$.sessionId")
        return await recall_output(services.store, session_id, tool_call_id, offset)
    if turn_id is not None or entry_id is not None:
        if query is not None:
            raise InvalidInput("Give either `query`, or `turnId` or `entryId`.", path="$.query")
        return await services.store.recall.whole(session_id=session_id, turn_id=turn_id, entry_id=entry_id)
    if query is None or not query.strip():
        raise InvalidInput("There is nothing to look for.", path="$.query", hint="Give some words, or a `turnId`.")
    vector = await question_vector(services, query)
    return await services.store.recall.search(parse_query(query), session_id=session_id, limit=limit, vector=vector)
