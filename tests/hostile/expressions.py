"""Every regular expression of the daemon, found in its sources."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import gemini_companion

PACKAGE: Final = Path(gemini_companion.__file__).parent
_SOURCES: Final = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
_CALL: Final = re.compile(r"\bre\.[a-z]+\(|\blazy\(")
METHODS: Final = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")

Pattern = re.Pattern[str] | re.Pattern[bytes]


@dataclass(frozen=True)
class Expression:
    """A pattern, where it stands, and the methods that it is used with."""

    name: str
    """Its module below the package and its variable, or its line: `protocol.codec._ESCAPE`."""
    pattern: Pattern
    methods: frozenset[str]


BUILT: Final[Mapping[str, str]] = {
    "engine.facts.patterns: source": "[]",  # `lazy` itself; its calls are found one by one
    "adapters.local.request: '|'.join(map(re.escape, tokens))": "[re.compile('<s>|<start_of_turn>|<[|]im_end[|]>')]",
    "adapters.search.plain: pattern": "[]",  # the model's, in a process of its own that is ended
    "adapters.offline.question: pattern": "[pattern() for _, pattern in _INTENTS]",
    "adapters.offline.symbols: f'(?<!\\\\w){re.escape(name)}(?!\\\\w)'": "[re.compile(r'(?<!\\w)aa(?!\\w)')]",
    "engine.hooks.matching: _NAMED_GROUP.sub('(?P<', pattern)": "[_compiled('run_.*|write_[a-z]+')]",
    "engine.facts.neutralise: f'<(?=\\\\s*+(?:/\\\\s*+)?+(?:{names})\\\\b)'": "[_reserved_tag()]",
    "engine.facts.page: f'</?{name}\\\\s{{0,20}}>'": "[_tag('overall_goal')]",
    "engine.ide_context.secret_patterns: f'{_RUN}(?P<secret>{pattern})'": "[rule.pattern for rule in RULES]",
    "evaluation.graders: f'(?<!\\\\w){re.escape(needle)}(?!\\\\w)'": "[re.compile(r'(?<!\\w)aa(?!\\w)')]",
    "evaluation.summarisers.reading: f\"^content {opening['index']}\\\\b[^\\\\n]*>>>$\"": (
        "[re.compile('^content 1\\\\b[^\\\\n]*>>>$', re.MULTILINE)]"
    ),
    "sessions.context.file_names: ''.join((f'[^{sign}]*+{sign}' for sign in map(re.escape, wanted)))": (
        "[re.compile('[^a]*+a[^b]*+b[^a]*+a')]"
    ),
}
"""Patterns that are made from names of a function: module and expression, and what gives examples in that module."""


def modules() -> list[str]:
    """The modules that may have some, by their names below the package."""
    return [_short(path) for path, source in _SOURCES.items() if _CALL.search(source)]


def expressions_of(module: str) -> Iterator[Expression]:
    """Those of one module. Raises `LookupError` for one that a function makes and that is not in `BUILT`."""
    return _of_module(next(path for path in _SOURCES if _short(path) == module))


def _short(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def _of_module(path: Path) -> Iterator[Expression]:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    short = _short(path)
    source = _SOURCES[path]
    module = import_module(".".join((gemini_companion.__name__, *parts)).removesuffix(".__init__"))
    tree = ast.parse(source)
    names = _assigned_names(tree)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        kind = _kind(call)
        if kind is None:
            continue
        name = names.get(call)
        label = f"{short}.{name}" if name else f"{short}:{call.lineno}"
        users = source if not name or not name.isupper() or name.startswith("_") else _users(name)
        methods = {kind} if kind in METHODS else _methods(name, users) if name else set[str]()
        for pattern in _patterns(short, module, call, kind):
            yield Expression(label, pattern, frozenset(methods or {"finditer"}))


def _users(name: str) -> str:
    """The sources of all modules that a public name stands in."""
    return "\n".join(source for source in _SOURCES.values() if name in source)


def _kind(call: ast.Call) -> str | None:
    """`compile`, `lazy`, or the name of the function of `re` that is called; `None` for any other call."""
    function = call.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "re":
        return function.attr if function.attr in ("compile", *METHODS) else None
    return "lazy" if isinstance(function, ast.Name) and function.id == "lazy" else None


def _assigned_names(tree: ast.Module) -> dict[ast.AST, str]:
    """For every call in a statement `NAME = …` that name."""
    names: dict[ast.AST, str] = {}
    for statement in ast.walk(tree):
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        target = statement.target if isinstance(statement, ast.AnnAssign) else targets[0] if targets else None
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        if isinstance(target, ast.Name) and isinstance(value, ast.Call):
            names[value] = target.id
    return names


def _methods(name: str, source: str) -> set[str]:
    """The methods that a pattern of that name is used with; `finditer` too if it is handed on."""
    uses = re.findall(
        rf"^(?!from |    {name},$).*\b{name}(?:\(\))?(?:\.(\w+))?(?!\w| *(?::|=[^=]))", source, re.MULTILINE
    )
    return {use if use in METHODS else "finditer" for use in uses}


def _patterns(short: str, module: ModuleType, call: ast.Call, kind: str) -> Sequence[Pattern]:
    try:
        source = _value(call.args[0], module)
        flags = _value(call.args[1], module) if kind in ("compile", "lazy") and len(call.args) > 1 else 0
        for keyword in call.keywords:
            flags = _value(keyword.value, module) if keyword.arg == "flags" else flags
    except NameError:
        key = f"{short}: {ast.unparse(call.args[0])}"
        if key not in BUILT:
            raise LookupError(f"a regular expression that is made at run time is not listed: {key!r}") from None
        return eval(BUILT[key], vars(module))
    return [re.compile(source, flags)]


def _value(node: ast.expr, module: ModuleType) -> Any:
    return eval(compile(ast.Expression(node), "<pattern>", "eval"), vars(module))
