"""The hooks of a turn: ahead of its prompt, around each request, behind its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from gemini_companion.engine.errors import Blocked
from gemini_companion.engine.history.content import Content, Part, visible_text_of
from gemini_companion.engine.history.log import Usage
from gemini_companion.engine.hooks.events import HookEvent
from gemini_companion.engine.hooks.merging import Verdict, hook_context
from gemini_companion.engine.hooks.model_text import (
    messages_of,
    response_of,
    settings_of,
    spoken,
    text_of_response,
    with_messages,
    with_text,
)
from gemini_companion.engine.tokens.limits import named_model
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.events import Event, MessageDelta, MessageDiscarded
from gemini_companion.sessions.hooks.service import MOST_AGAIN
from gemini_companion.sessions.models.port import ModelRequest
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.turn.streaming import Answer
from gemini_companion.sessions.turn.watching import Watch

_FIELDS: Final = {
    "temperature": "temperature",
    "maxOutputTokens": "max_output_tokens",
    "topP": "top_p",
    "topK": "top_k",
}
"""A hook's names of what a request has."""
_REFUSED: Final = "A hook refused the answer."
_HINT: Final = "A hook of the settings decided that: `hooks` in .gemini/settings.json."


@dataclass(slots=True, kw_only=True)
class TurnHooks:
    """The hooks of one turn. Everything here returns at once where no hook is set."""

    session: Session
    client: Client
    turn_id: str
    prompt: tuple[Part, ...]
    contexts: tuple[Part, ...] = ()
    """What hooks add to the prompt, one part at most."""
    stopped: str = ""
    """Why the turn is to end, once a hook has said so."""
    clears: bool = field(init=False, default=False)
    """The model is to forget the chat, once this turn's answer is written."""
    _again: int = field(init=False, default=0)

    def stop(self, reason: str) -> None:
        """End the turn where it next can."""
        self.stopped = self.stopped or reason

    async def before_agent(self) -> Verdict:
        """Ask about the prompt; what is to go along with it is in `contexts` then. Raises `Blocked`."""
        if self.session.caller is not None:  # a subagent's task is no prompt of a person's
            return Verdict()
        await self._begin()
        verdict = await self._run("BeforeAgent", {"prompt": visible_text_of(self.prompt)})
        if verdict.blocks and not verdict.stops:
            raise Blocked(f"A hook refused the prompt: {verdict.reason}", hint=_HINT)
        self._take_contexts(verdict.context)
        return verdict

    async def before_going_on(self) -> None:
        """Of a turn that is gone on with: its prompt was asked about, and what went along with it is in the history.
        What a session that begins here, or a compression since, has to add is in `contexts` then.
        """
        await self._begin()
        self._take_contexts()

    async def _begin(self) -> None:
        hooks = self.session.services.hooks
        await hooks.settled(self.session)
        await hooks.begin(self.session, self.turn_id)

    def _take_contexts(self, *more: str) -> None:
        told = [*self.session.services.hooks.take_pending(self.session), *filter(None, more)]
        self.contexts = ({"text": "\n\n".join(map(hook_context, told))},) if told else ()

    async def after_agent(self, parts: tuple[Part, ...]) -> str:
        """Ask about the answer; what the turn is to go on with, empty if it is done. Bounded."""
        if self.session.caller is not None:
            return ""
        fields = {
            "prompt": visible_text_of(self.prompt),
            "prompt_response": visible_text_of(parts),
            "stop_hook_active": self._again > 0,
        }
        verdict = await self._run("AfterAgent", fields, answer=Content(role="model", parts=parts))
        self.clears = verdict.clears and not verdict.stops
        if verdict.stops or not verdict.blocks or self._again >= MOST_AGAIN:
            return ""
        self._again += 1
        return verdict.reason

    async def before_model(self, request: ModelRequest) -> ModelRequest | Answer:
        """The request as hooks want it, or an answer in place of it. Raises `Blocked`."""
        hooks = self.session.services.hooks
        has_chooser = bool(request.tools) and hooks.has(self.session, "BeforeToolSelection")
        if not has_chooser and not hooks.has(self.session, "BeforeModel"):
            return request  # what they would be told grows with the chat
        verdict = await self._run("BeforeModel", {"llm_request": told_of(request)})
        text = text_of_response(verdict.llm_response)
        if verdict.stops or verdict.blocks:
            if not text:
                raise Blocked(f"A hook refused the request: {verdict.reason}", hint=_HINT)
            return Answer(parts=({"text": text},), finish_reason="STOP", usage=None, model_version=None)
        if verdict.llm_request:
            request = self._changed(request, verdict.llm_request)
        if not request.tools:
            return request
        chosen = await self._run("BeforeToolSelection", {"llm_request": told_of(request)})
        if chosen.tool_mode == "NONE":
            return msgspec.structs.replace(request, tools=())
        known = tuple(tool for tool in request.tools if tool.get("name") in chosen.tool_names)
        if chosen.tool_mode == "ANY" and (known or not chosen.tool_names):
            return msgspec.structs.replace(request, must_call=tuple(str(tool["name"]) for tool in known))
        return msgspec.structs.replace(request, tools=known) if chosen.tool_names else request

    async def after_model(self, request: ModelRequest, answer: Answer, emit: Callable[[Event], None]) -> Answer:
        """The answer as hooks want it. Raises `Blocked`."""
        if not self.session.services.hooks.has(self.session, "AfterModel"):
            return answer
        usage = answer.usage or Usage()
        counts = {
            "promptTokenCount": usage.prompt_tokens,
            "candidatesTokenCount": usage.output_tokens,
            "totalTokenCount": usage.total_tokens,
        }
        response = response_of(answer.parts, answer.finish_reason, counts)
        verdict = await self._run("AfterModel", {"llm_request": told_of(request), "llm_response": response})
        text = text_of_response(verdict.llm_response)
        if text and text != spoken(answer.parts):
            emit(MessageDiscarded(attempt=answer.attempt, reason="A hook changed the answer."))
            emit(MessageDelta(text=text, attempt=answer.attempt + 1))
            answer = replace(answer, parts=with_text(answer.parts, text))
        if verdict.blocks or verdict.stops:
            emit(MessageDiscarded(attempt=answer.attempt, reason=_REFUSED))
            raise Blocked(f"A hook refused the answer: {verdict.reason}", hint=_HINT)
        return answer

    def watch(self, request: ModelRequest) -> Watch | None:
        """Watches one attempt at an answer; `None` where no hook is set for that."""
        if not self.session.services.hooks.has(self.session, "AfterModel"):
            return None
        told = told_of(request)

        async def ask(parts: Sequence[Part]) -> None:
            fields = {"llm_request": told, "llm_response": response_of(parts)}
            verdict = await self._run("AfterModel", fields, is_partial=True)
            if verdict.blocks or verdict.stops:
                raise Blocked(f"A hook refused the answer: {verdict.reason}", hint=_HINT)

        return Watch(ask, self.session.services.clock)

    def _changed(self, request: ModelRequest, wished: Any) -> ModelRequest:
        """The request with what a hook may change: texts, temperature, length, and the model within its provider."""
        changes: dict[str, Any] = {"contents": with_messages(request.contents, wished.get("messages"))}
        changes |= {_FIELDS[name]: value for name, value in settings_of(wished.get("config")).items()}
        model: Any = wished.get("model")
        if isinstance(model, str) and model != request.model and (name := named_model(model)) and "/" not in name:
            services = self.session.services
            now = services.models.choose(services.settings(), asked=request.model)
            choice = services.models.choose(services.settings(), asked=name)
            if choice.provider is now.provider:
                changes["model"] = choice.name
        return msgspec.structs.replace(request, **changes)

    async def _run(
        self, event: HookEvent, fields: dict[str, Any], *, is_partial: bool = False, answer: Content | None = None
    ) -> Verdict:
        return await self.session.services.hooks.run(
            self.session,
            event,
            fields,
            turn_id=self.turn_id,
            folders=self.client.folders,
            is_partial=is_partial,
            answer=answer,
        )


def told_of(request: ModelRequest) -> dict[str, Any]:
    """A request as hooks see it: `llm_request`."""
    config = {name: getattr(request, of_ours) for name, of_ours in _FIELDS.items()}
    return {
        "model": request.model,
        "messages": messages_of(request.contents),
        "config": {name: value for name, value in config.items() if value is not None},
    }
