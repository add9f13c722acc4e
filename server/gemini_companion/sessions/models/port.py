"""Model providers as the sessions see them: Gemini over the network, the built-in model, a script in tests.

An adapter implements `ModelProvider` and `ModelCatalogue`, and `wiring` registers it. Faults that cross this port
belong to the tree in `engine.errors`; anything else that an adapter raises is a defect.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast

import msgspec

from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.log import Usage
from gemini_companion.sessions.recall_store import Vector
from gemini_companion.tools.grounding import Grounded

if TYPE_CHECKING:
    from gemini_companion.engine.facts.fact import SummaryTask
    from gemini_companion.engine.tokens.limits import KnownModel

CallRole: TypeAlias = Literal[
    "main", "utility_compressor", "utility_title", "utility_output", "utility_loop_check", "utility_router"
]
"""What a call is for: a turn's answer, a snapshot, a session's title, an output condensed, a look at a long turn, the
choice of a model for a prompt.
"""

EmbeddingPurpose: TypeAlias = Literal["document", "question"]


GroundingMeans: TypeAlias = Literal["search", "pages"]
"""By a search of the web, or by the pages that a prompt names."""


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider can do beyond answering. Sessions ask for these, never for a provider's name."""

    counts_remotely: bool = False
    """Its counts and the usage of its answers come from a service, or from the model's own tokenizer; without it the
    ledger estimates them.
    """
    runs_here: bool = False
    """It runs on this machine: nothing of a request leaves it."""
    answers_one_by_one: bool = False
    """Two answers at once would each take twice as long: requests to it wait for each other."""
    reads_documents: bool = False
    """It takes a `LocalContext`; only for one that `runs_here`."""
    summarises_from_facts: bool = False
    """It is a `FactSummariser`: it writes snapshots from the contents themselves, without a prompt."""
    calls_tools: bool = False
    """It takes function declarations and may answer with function calls."""
    embeds: bool = False
    """It is an `Embedder`: it makes vectors of texts."""
    grounds: bool = False
    """It is a `Grounder`: its service searches the web and reads pages."""


class Conversation:
    """Stands for one conversation: a provider may keep what it made of its contents for as long as this is held.

    Two requests of one conversation may differ in everything; what is kept is for what they have in common.
    """

    __slots__ = ("__weakref__",)


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Exactly what is sent in one request. Roles of `contents` alternate, as the API requires."""

    model: str
    contents: tuple[Content, ...]
    system_instruction: str | None = None
    tools: tuple[dict[str, Any], ...] = ()
    """Function declarations in Gemini's JSON form; none for a provider that does not call tools."""
    role: CallRole = "main"
    prompt_id: str = ""
    """Id of the turn or the compression that it is made for, in logs and telemetry."""
    temperature: float | None = None
    max_output_tokens: int | None = None
    top_p: float | None = None
    top_k: float | None = None
    must_call: tuple[str, ...] | None = None
    """The model must call one of these of its `tools`, or if it is empty, any of them; `None`: as it likes."""
    conversation: Conversation | None = None
    """Whose contents these are; `None` for a request whose contents will not come again."""
    answers_json: bool = False
    """The answer is wished for as one JSON object; it is not decoded, and need not be one."""


class OpenDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An open file that may be read: its absolute path and its text, unsaved edits included."""

    path: str
    text: str
    is_active: bool = False
    selection: tuple[int, int] | None = None
    """First and last selected line, from 1, both inclusive."""


class LocalContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider on this machine may know besides the request; no other one gets it."""

    documents: Callable[[], Sequence[OpenDocument]] = tuple
    """The open files that may be shown; called when they are needed."""
    folders: tuple[str, ...] = ()
    """The workspace folders: people read paths within them."""
    is_fallback: bool = False
    """It answers because the model that was asked for cannot."""


class ModelChunk(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of an answer, or a whole one. `finish_reason` and `block_reason` are the API's codes."""

    parts: tuple[Part, ...] = ()
    finish_reason: str | None = None
    block_reason: str | None = None
    usage: Usage | None = None
    model_version: str | None = None
    is_loading: bool = False
    """The model is being loaded into memory, which may take a while; nothing else is in this chunk."""


class CountedTokens(msgspec.Struct, frozen=True, kw_only=True):
    """A request's tokens, where the number comes from, and whether system instruction and tools are in it."""

    total: int
    source: Literal["api", "estimate"]
    covers_system: bool


class ModelProvider(Protocol):
    """An adapter that answers prompts."""

    @property
    def name(self) -> str:
        """Its name for people and clients, as in `gemini/models`."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can do beyond answering; constant."""
        ...

    def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        """Answer piece by piece. Raises `ModelFault`s, also after some chunks. Does not retry.

        One that is raised after a chunk with a finish reason takes nothing back: the answer is whole.
        A refused prompt is a chunk with `block_reason`, not a fault. Closing the iterator ends the request.
        """
        ...

    async def generate(self, request: ModelRequest) -> ModelChunk:
        """Answer in one piece. Raises `ModelFault`s. Does not retry."""
        ...

    async def count_tokens(self, request: ModelRequest) -> CountedTokens:
        """Count the tokens of the whole request.

        Raises `TokenCountFailed`, `ContextOverflow` if it is too large to be counted, or another `ModelFault`.
        """
        ...

    async def warm_up(self) -> None:
        """Load what is slow to load, off the event loop; called once after the start. Raises `CompanionError`."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class FactSummariser(Protocol):
    """A provider that writes snapshots from the contents themselves."""

    async def summarise(self, task: SummaryTask) -> str:
        """A whole `<state_snapshot>` of the task's contents. Can be cancelled at any time."""
        ...


class Embedder(Protocol):
    """A provider that makes vectors of texts: what is near to each other there means something similar."""

    async def embed(self, texts: Sequence[str], *, purpose: EmbeddingPurpose) -> list[Vector]:
        """A vector for each text, of unit length, all of one model. Raises `ModelFault`s. Does not retry."""
        ...

    @property
    def embedding_model(self) -> str:
        """What the vectors are of: only those with one name can be compared."""
        ...


class Grounder(Protocol):
    """A provider whose service searches the web and reads pages."""

    async def ground(self, prompt: str, *, model: str, by: GroundingMeans) -> Grounded:
        """An answer from what the service found. Raises `ModelFault`s. Does not retry."""
        ...


class ModelCatalogue(Protocol):
    """What is known of a provider's models. Pure and cheap to import: used even without a provider."""

    @property
    def models(self) -> Sequence[KnownModel]:
        """The models to choose from, the default first. Other names may be served too."""
        ...

    def serves(self, name: str) -> bool:
        """True if this name means a model of this provider."""
        ...

    def resolve(self, name: str) -> str:
        """The name that goes to the provider: short names are resolved, others stay as they are."""
        ...

    def token_limit(self, name: str) -> int:
        """Tokens that the model accepts in one request."""
        ...

    def compressor_for(self, name: str) -> str:
        """The model that writes snapshots for chats with this one."""
        ...

    def next_model(self, name: str) -> str | None:
        """The model that answers where this one cannot for a while; `None` if there is none."""
        ...

    def routes(self, name: str) -> tuple[str, str] | None:
        """The large and the quick model between which each prompt chooses; `None` for a name that means one model."""
        ...

    def title_model(self, name: str) -> str:
        """The small model that writes titles for chats with this one."""
        ...


def embedder(provider: ModelProvider) -> Embedder | None:
    """The provider as an `Embedder`, `None` if it is none."""
    return cast("Embedder", provider) if provider.capabilities.embeds else None


def grounder(provider: ModelProvider) -> Grounder | None:
    """The provider as a `Grounder`, `None` if it is none."""
    return cast("Grounder", provider) if provider.capabilities.grounds else None


def fact_summariser(provider: ModelProvider) -> FactSummariser | None:
    """The provider as a `FactSummariser`, `None` if it is none."""
    return cast("FactSummariser", provider) if provider.capabilities.summarises_from_facts else None
