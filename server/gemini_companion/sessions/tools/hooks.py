"""The hooks around one call of a tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gemini_companion.engine.hooks.events import HookEvent
from gemini_companion.engine.hooks.merging import TailCall, Verdict, hook_context, merged_input
from gemini_companion.sessions.session import Session
from gemini_companion.tools.tool import ToolRefusal


@dataclass(slots=True, kw_only=True)
class CallHooks:
    """Asks hooks ahead of a call, and of what came of it. Everything returns at once where no hook is set."""

    session: Session
    turn_id: str
    name: str
    folders: tuple[str, ...]
    stop: Callable[[str], None]
    """Takes why the turn is to end."""
    in_place_of: str = ""
    """The tool that the model called, if it was another."""
    must_ask: str = ""
    """Why a person is to be asked, once a hook wants that."""
    tail: TailCall | None = field(init=False, default=None)
    """The call that is to be made behind this one."""
    _asked_about: dict[str, Any] | None = field(init=False, default=None)

    async def before(self, args: dict[str, Any]) -> dict[str, Any]:
        """The arguments as hooks want them; each arguments that a person wrote are asked about too.

        Raises `ToolRefusal`.
        """
        if self._asked_about == args:
            return args
        verdict = await self._run("BeforeTool", self._fields(args))
        if verdict.stops:
            self.stop(verdict.reason)
        if verdict.blocks or verdict.stops:
            raise ToolRefusal(f"Tool execution blocked: {verdict.reason}", outcome="declined")
        self.must_ask = f"a hook wants you to be asked: {verdict.reason}" if verdict.asks else ""
        if verdict.tool_input is not None:
            args = merged_input("tool_input", args, verdict.tool_input)
        self._asked_about = args
        return args

    async def after(self, args: Mapping[str, Any], response: dict[str, Any]) -> dict[str, Any]:
        """The response as hooks want it."""
        error = response.get("error")
        shown = response.get("output", response)
        told: dict[str, Any] = {"llmContent": shown, "returnDisplay": shown if isinstance(shown, str) else ""}
        if error is not None:
            told["error"] = error
        verdict = await self._run("AfterTool", {**self._fields(args), "tool_response": told})
        if verdict.stops:
            self.stop(verdict.reason)
        if verdict.blocks:
            return {"error": f"Tool result blocked: {verdict.reason}"}
        self.tail = None if verdict.stops else verdict.tail
        if not verdict.context:
            return response
        context = hook_context(verdict.context)
        key = "error" if error is not None else "output"
        text = response.get(key)
        if isinstance(text, str):
            return {**response, key: f"{text}\n\n{context}"}
        return {**response, "hookContext": context}

    def _fields(self, args: Mapping[str, Any]) -> dict[str, Any]:
        asked = {"original_request_name": self.in_place_of} if self.in_place_of else {}
        return {"tool_name": self.name, "tool_input": args, **asked}

    async def _run(self, event: HookEvent, fields: dict[str, Any]) -> Verdict:
        hooks = self.session.services.hooks
        return await hooks.run(
            self.session, event, fields, subject=self.name, turn_id=self.turn_id, folders=self.folders
        )
