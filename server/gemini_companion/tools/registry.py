"""The tools of the daemon, by name; their declarations; decoding what the model calls them with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import msgspec

from gemini_companion.tools.schema import parameters_of
from gemini_companion.tools.tool import ForeignArguments, ForeignTool, Tool, ToolRefusal


class ToolRegistry:
    """What the model can call, made and declared once: with the first need, where `tools` is a function that makes
    them.
    """

    def __init__(self, tools: Iterable[Tool[Any]] | Callable[[], Iterable[Tool[Any]]] = ()) -> None:
        self._made = tools

    @cached_property
    def _tools(self) -> dict[str, Tool[Any]]:
        return {tool.name: tool for tool in (self._made() if callable(self._made) else self._made)}

    @cached_property
    def _names(self) -> dict[str, str]:
        """The name of each tool by its names and aliases."""
        return {name: tool.name for tool in self._tools.values() for name in (tool.name, *tool.aliases)}

    @cached_property
    def _declarations(self) -> dict[str, dict[str, Any]]:
        return {name: _declaration(tool) for name, tool in self._tools.items()}

    def __iter__(self) -> Iterator[Tool[Any]]:
        return iter(self._tools.values())

    def with_more(self, tools: Iterable[Tool[Any]]) -> ToolRegistry:
        """A registry of these tools too, behind its own. Names that it has stay what they are."""
        joined = ToolRegistry()
        joined._tools, joined._names = dict(self._tools), dict(self._names)
        joined._declarations = dict(self._declarations)
        for tool in tools:
            if tool.name not in joined._names:
                joined._tools[tool.name] = tool
                joined._names[tool.name] = tool.name
                joined._declarations[tool.name] = _declaration(tool)
        return joined

    def declarations(self, without: Iterable[str] = ()) -> tuple[dict[str, Any], ...]:
        """Function declarations in Gemini's JSON form, in a constant order; those named in `without` left out."""
        hidden = frozenset(without)
        return tuple(declared for name, declared in self._declarations.items() if name not in hidden)

    def find(self, name: str) -> Tool[Any]:
        """The tool of this name or alias. Raises `ToolRefusal` that names the tools that there are."""
        known = self._names.get(name)
        if known is None:
            raise ToolRefusal(f"There is no tool {name[:80]!r}. The tools are: {', '.join(self._tools)}.")
        return self._tools[known]

    @staticmethod
    def decode(tool: Tool[Any], args: Mapping[str, Any]) -> Any:
        """The arguments as the tool's type. Raises `ToolRefusal` that says which one is wrong."""
        if isinstance(tool, ForeignTool):
            return ForeignArguments(values=dict(args))
        try:
            return msgspec.convert(dict(args), tool.arguments, strict=False)
        except (msgspec.ValidationError, RecursionError) as wrong:
            raise ToolRefusal(
                f"The arguments of {tool.name} are wrong: {wrong}. Call it again with right ones."
            ) from None


def _declaration(tool: Tool[Any]) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": tool.parameters if isinstance(tool, ForeignTool) else parameters_of(tool.arguments),
    }
