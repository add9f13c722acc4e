"""The tools of the daemon, by name; their declarations; decoding what the model calls them with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import msgspec

from gemini_companion.tools.schema import parameters_of
from gemini_companion.tools.tool import ForeignArguments, ForeignTool, Tool, ToolRefusal

_CAPITAL: Final = re.compile("(?<=[a-z])[A-Z]")
_OTHER_NAMES: Final[Mapping[str, Sequence[str]]] = {
    "absolute_path": ("file_path", "dir_path"),
    "path": ("file_path", "dir_path"),
    "filepath": ("file_path",),
    "filename": ("file_path",),
    "directory": ("dir_path",),
    "include": ("include_pattern",),
    "exclude": ("exclude_pattern",),
    "paths": ("include",),
    "text": ("content",),
    "cmd": ("command",),
}
"""What models call arguments that tools of this and of other programs have had under those names."""


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
    def understood(tool: Tool[Any], args: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """The arguments by the tool's own names, and what the model is told of those that it does not have."""
        if isinstance(tool, ForeignTool):
            return dict(args), ""
        known = {field.encode_name for field in msgspec.structs.fields(tool.arguments)}
        named = dict(args)
        for name in [name for name in args if name not in known]:
            spelt = _CAPITAL.sub(lambda sign: f"_{sign[0].lower()}", name)
            for own in (spelt, *_OTHER_NAMES.get(spelt, ())):
                if own in known and own not in named:
                    named[own] = named.pop(name)
                    break
        odd = [name for name in named if name not in known]
        if not odd:
            return named, ""
        told = ", ".join(repr(name[:80]) for name in odd[:10])
        return named, f"{tool.name} has no argument {told}, so that did not count. It has: {', '.join(sorted(known))}."

    @staticmethod
    def decode(tool: Tool[Any], args: Mapping[str, Any]) -> Any:
        """The arguments as the tool's type. Raises `ToolRefusal` that says which one is wrong."""
        if isinstance(tool, ForeignTool):
            return ForeignArguments(values=dict(args))
        try:
            return msgspec.convert(ToolRegistry.understood(tool, args)[0], tool.arguments, strict=False)
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
