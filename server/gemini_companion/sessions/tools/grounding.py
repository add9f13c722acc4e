"""The network as tools of a session ask it: by the service of the session's model."""

from __future__ import annotations

from gemini_companion.engine.errors import ModelFault
from gemini_companion.sessions.models.port import Grounder, GroundingMeans, grounder
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.statistics.recording import Recorded
from gemini_companion.tools.grounding import Grounded, Grounding
from gemini_companion.tools.tool import ToolRefusal


class _ByModel:
    def __init__(self, provider: Grounder, model: str) -> None:
        self._provider = provider
        self._model = model

    async def search(self, question: str) -> Grounded:
        """An answer from a search."""
        return await self._ground(question, "search")

    async def read(self, prompt: str) -> Grounded:
        """An answer from the pages that the prompt names."""
        return await self._ground(prompt, "pages")

    async def _ground(self, prompt: str, by: GroundingMeans) -> Grounded:
        try:
            return await self._provider.ground(prompt, model=self._model, by=by)
        except ModelFault as fault:
            raise ToolRefusal(f"The service did not answer: {fault.message} Go on without it, and say so.") from None


def grounding_of(session: Session) -> Grounding | None:
    """The network for a session's tools, as of now; `None` where its model cannot ask it."""
    choice = session.choice()
    if grounder(choice.provider) is None:
        return None
    return _ByModel(Recorded(session, choice, "grounding"), choice.name)
