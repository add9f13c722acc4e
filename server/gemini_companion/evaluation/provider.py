"""The model of a run, behind the product's port: a scripted agent that answers, and a writer that makes snapshots."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, Protocol

import msgspec

from gemini_companion.adapters.offline.provider import OfflineProvider
from gemini_companion.engine.facts.fact import SummaryTask
from gemini_companion.engine.history.log import Usage
from gemini_companion.engine.tokens.counters import count_content
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.engine.tokens.limits import KnownModel
from gemini_companion.sessions.models.port import (
    Capabilities,
    CountedTokens,
    LocalContext,
    ModelChunk,
    ModelProvider,
    ModelRequest,
    fact_summariser,
)

MODEL: Final = "evaluation"
SUMMARISER: Final = "evaluation-summariser"
TOKEN_LIMIT: Final = 1_048_576


class Writer(Protocol):
    """What writes snapshots when it is asked by a prompt."""

    def write(self, request: ModelRequest) -> str:
        """The whole answer. May raise a `ModelFault`."""
        ...


class EvaluationModel:
    """Implements `sessions.models.port.ModelProvider`.

    Args:
        writer: Writes the snapshots that are asked for by a prompt.
        provider: A real provider that is asked for them instead.
        model: The real provider's model.
        window: Tokens that it takes in one request.
    """

    def __init__(
        self,
        ledger: TokenLedger,
        *,
        writer: Writer | None = None,
        provider: ModelProvider | None = None,
        model: str = MODEL,
        window: int = TOKEN_LIMIT,
    ) -> None:
        self._ledger = ledger
        self._writer = writer
        self._provider = provider
        self._model = model
        self.window = window
        self._facts = fact_summariser(provider) if provider is not None else None
        self.replies: list[str] = []
        """What the agent says next, one for each turn."""
        self.main: list[ModelRequest] = []
        """The requests of turns so far."""
        self.calls = 0
        """Calls for snapshots so far."""
        self.tokens_in = 0
        self.tokens_out = 0
        """Tokens of those calls."""

    @property
    def name(self) -> str:
        """What people call it."""
        return MODEL

    @property
    def capabilities(self) -> Capabilities:
        """It summarises from facts if the real provider does."""
        return Capabilities(summarises_from_facts=self._facts is not None)

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        """The agent's next reply."""
        self.main.append(request)
        text = self.replies.pop(0) if self.replies else "Done."
        yield ModelChunk(parts=({"text": text},), finish_reason="STOP", usage=Usage())

    async def generate(self, request: ModelRequest) -> ModelChunk:
        """A title, or a snapshot by the writer or the real provider. Raises `ModelFault`s."""
        if request.role == "utility_title":
            return ModelChunk(parts=({"text": "Evaluation"},), finish_reason="STOP")
        self.calls += 1
        self.tokens_in += self._count(request)
        if self._writer is not None:
            chunk = ModelChunk(parts=({"text": self._writer.write(request)},), finish_reason="STOP")
        else:
            assert self._provider is not None
            chunk = await self._provider.generate(_for_model(request, self._model))
        self.tokens_out += round(count_content(chunk.parts, self._ledger))
        return chunk

    async def summarise(self, task: SummaryTask) -> str:
        """The real provider's snapshot from the facts; it reads them on this machine, which costs no tokens."""
        assert self._facts is not None
        self.calls += 1
        return await self._facts.summarise(task)

    async def count_tokens(self, request: ModelRequest) -> CountedTokens:
        """The ledger's estimate."""
        return CountedTokens(total=self._count(request), source="estimate", covers_system=True)

    async def warm_up(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Close the real provider."""
        if self._provider is not None:
            await self._provider.close()

    def _count(self, request: ModelRequest) -> int:
        system = self._ledger.count_text(request.system_instruction or "")
        return round(system) + sum(self._ledger.measure(content).tokens for content in request.contents)


def _for_model(request: ModelRequest, model: str) -> ModelRequest:
    return msgspec.structs.replace(request, model=model)


def offline_provider(count_text: Callable[[str], float]) -> OfflineProvider:
    """The built-in model."""
    return OfflineProvider(count_text=count_text)


class EvaluationCatalogue:
    """Two names: of the agent, whose window no run fills, and of what writes its snapshots."""

    def __init__(self, summariser_window: int = TOKEN_LIMIT) -> None:
        self._window = summariser_window

    @property
    def models(self) -> Sequence[KnownModel]:
        """The one model."""
        return (KnownModel(name=MODEL, title="Evaluation", token_limit=TOKEN_LIMIT, compressor=SUMMARISER),)

    def serves(self, name: str) -> bool:
        """Every name."""
        return True

    def resolve(self, name: str) -> str:
        """It has no short names."""
        return MODEL

    def token_limit(self, name: str) -> int:
        """The window of either."""
        return self._window if name == SUMMARISER else TOKEN_LIMIT

    def compressor_for(self, name: str) -> str:
        """The other one."""
        return SUMMARISER

    def next_model(self, name: str) -> str | None:
        """None: there is no other."""
        return None

    def routes(self, name: str) -> tuple[str, str] | None:
        """None: a name means one model."""
        return None

    def title_model(self, name: str) -> str:
        """And its own titles."""
        return MODEL
