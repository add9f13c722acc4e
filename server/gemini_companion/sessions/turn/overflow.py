"""Whether a prompt still fits into the window."""

from __future__ import annotations

from typing import Final

from gemini_companion.engine.errors import ContextOverflow, ModelFault
from gemini_companion.engine.history.content import Content, user_text
from gemini_companion.engine.history.item import PROMPTS
from gemini_companion.engine.history.part import visible_text
from gemini_companion.sessions.context.ide import DueContext
from gemini_companion.sessions.events import ContextWindowWillOverflow
from gemini_companion.sessions.models.port import ModelRequest
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.uncounted import uncounted

OVERFLOW_SHARE: Final = 0.95
"""Share of what is left of the window that a prompt with its IDE context may take (Gemini CLI's 95 % rule)."""

_SHOWN: Final = 60
"""Characters of an earlier prompt that people are shown."""

CERTAIN_TIMES: Final = 2.0
"""At this multiple of the window the estimate alone is enough; no request of that size is sent to be counted."""


async def overflow_of(
    session: Session, choice: ModelChoice, content: Content, due: DueContext
) -> ContextWindowWillOverflow | None:
    """The event to emit if prompt, attached files and IDE context exceed 95 % of what is left of the window.

    No prompt is refused for one number that nothing supports: the session's count, which may rest on one that came from
    outside, and the bare estimate must both say so, and a provider that counts must not contradict them. Where it does
    not answer, the request is sent, and the provider decides.
    """
    tokens = session.ledger.measure(content).tokens + due.tokens(session)
    estimated = session.ledger.estimate_text(choice.name, tokens)
    limit, known = session.limit(choice), session.parts().total
    remaining = limit - session.token_count(choice).tokens
    if estimated <= OVERFLOW_SHARE * remaining or tokens <= OVERFLOW_SHARE * (limit - known):
        return None
    if known + tokens < CERTAIN_TIMES * limit and await _is_contradicted(session, choice, content, due, limit):
        return None
    return ContextWindowWillOverflow(estimated_request_token_count=estimated, remaining_token_count=max(0, remaining))


def overflow_of_view(session: Session, choice: ModelChoice, fresh: int) -> ContextWindowWillOverflow | None:
    """The event to emit if the view's newest `fresh` tokens exceed 95 % of what the rest leaves of the window.

    Both numbers must say so, as above; the provider is not asked, for the request goes out next.
    """
    estimated = session.ledger.estimate_text(choice.name, fresh)
    limit, known = session.limit(choice), session.parts().total - fresh
    remaining = limit - (session.token_count(choice).tokens - estimated)
    if estimated <= OVERFLOW_SHARE * remaining or fresh <= OVERFLOW_SHARE * (limit - known):
        return None
    return ContextWindowWillOverflow(estimated_request_token_count=estimated, remaining_token_count=max(0, remaining))


def what_is_too_much(
    session: Session,
    choice: ModelChoice,
    content: Content | None = None,
    due: DueContext | None = None,
    *,
    was_compressed: bool,
) -> str:
    """What fills the window although all that may be shortened is, and what to do; sentences for people.

    `content` is the prompt that does not fit, with the files that it names; without one what tools gave back does not.
    `was_compressed` says that it was compressed for that, or that this failed: nobody is asked to do it again.
    """
    limit = session.limit(choice)
    room = limit - session.parts().surroundings
    tokens = 0 if content is None else session.ledger.measure(content).tokens
    outcome = "The turn ended here; what was done stays." if content is None else "Nothing was sent."
    if tokens > OVERFLOW_SHARE * room:
        return (
            f"The prompt with the files that it names has about {tokens:,} tokens, more than fit into the model's"
            f" window of {limit:,}. {outcome} Shorten it, name fewer files, or choose a model with a larger window."
        )
    advice = (
        "Compressing the chat was tried just now and did not make enough room: go on in a new chat, or choose a model"
        " with a larger window."
        if was_compressed
        else "Compress the chat, go on in a new chat, or choose a model with a larger window."
    )
    own = [item for item in session.history.curated() if item.kind in PROMPTS]
    largest = max(own, key=lambda item: item.measure.tokens, default=None)
    more = tokens + (0 if due is None else due.tokens(session))
    if largest is not None and largest.measure.tokens > (room - more) / 2:
        begins = " ".join(visible_text(largest.content).split())[:_SHOWN]
        return (
            f"An earlier prompt of yours, which begins “{begins}”, has about {largest.measure.tokens:,} tokens of the"
            f" model's window of {limit:,}, and what you write is never shortened. {outcome} {advice}"
        )
    return (
        f"The chat fills the model's window of {limit:,} tokens, and there is no large part left to shorten. {outcome}"
        f" {advice}"
    )


async def _is_contradicted(
    session: Session, choice: ModelChoice, content: Content, due: DueContext, limit: int
) -> bool:
    """True if the provider, asked to count the request, does not say that it is too large."""
    if not choice.provider.capabilities.counts_remotely:
        return False
    more = (content,) if due.text is None else (user_text(due.text), content)
    request = ModelRequest(
        model=choice.name,
        contents=session.request_contents(*more),
        conversation=session.conversation,
        system_instruction=session.system_instruction,
        tools=session.declarations(choice),
    )
    try:
        count = await choice.provider.count_tokens(request)
    except ContextOverflow:
        return False
    except ModelFault:
        return True
    return count.total + (0 if count.covers_system else uncounted(session, choice)) <= limit
