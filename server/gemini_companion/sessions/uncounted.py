"""What a provider leaves out that counts contents alone, as the Developer API does: system instruction and tools, with
whatever the service puts around a conversation.
"""

from __future__ import annotations

from gemini_companion.engine.tokens.ledger import UNKNOWN_TOKENS, RequestParts, TokenCount
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.session import Session


def uncounted(session: Session, choice: ModelChoice) -> int:
    """Its tokens by the ledger, as corrected by what the API counted of whole requests."""
    surroundings = session.parts().surroundings  # before the environment is asked for, which this measures
    beside = RequestParts(system_instruction=surroundings - session.surroundings.environment_tokens)
    return session.ledger.estimate(choice.name, beside)


def uncounted_of(session: Session, choice: ModelChoice, whole: TokenCount, counted: int) -> int:
    """The same where what was counted is all of a request that the ledger has as `whole`: the rest of that. So a count
    of the present view is the number that people see.
    """
    estimated, rest = uncounted(session, choice), whole.tokens - counted
    return rest if whole.source == "api" and 0 <= rest <= estimated + UNKNOWN_TOKENS else estimated
