"""The block of YAML between two lines of dashes at the top of a Markdown file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple, cast

MAX_FRONT_MATTER: Final = 16_000
"""Characters of it that are read."""

_FENCE: Final = "---"


class FrontMatterFault(ValueError):
    """It cannot be read. `line` counts from 1 in the whole file."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class FrontMatter(NamedTuple):
    """A file's fields and the text behind them."""

    fields: dict[str, Any]
    body: str


def split_front_matter(text: str) -> FrontMatter:
    """The fields at the top of a file, and its body. Raises `FrontMatterFault`.

    A byte order mark and Windows line endings are fine; only plain data is read, never a Python object.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if not lines or lines[0].rstrip() != _FENCE:
        raise FrontMatterFault("The file must begin with a line of three dashes.")
    end = next((number for number, line in enumerate(lines[1:], start=1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise FrontMatterFault("There is no second line of three dashes, which ends the fields.")
    block = "\n".join(lines[1:end])
    if len(block) > MAX_FRONT_MATTER:
        raise FrontMatterFault(f"The fields have more than {MAX_FRONT_MATTER:,} characters.")
    return FrontMatter(_fields(block), "\n".join(lines[end + 1 :]).strip())


def _fields(block: str) -> dict[str, Any]:
    import yaml  # only where there is such a file

    try:
        shared = next((line for line in _shared(block)), None)
        found: Any = {} if shared is not None else yaml.safe_load(block)
        named = {str(name): value for name, value in cast("dict[Any, Any]", found or {}).items()}
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark
        raise FrontMatterFault(f"This is no YAML: {fault.problem}.", 1 if mark is None else mark.line + 2) from None
    except AttributeError:
        raise FrontMatterFault("The fields must be names with values, such as `name: reviewer`.", 2) from None
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as fault:
        raise FrontMatterFault(f"This is no YAML: {type(fault).__name__}.") from None
    if shared is not None:
        raise FrontMatterFault("Anchors and aliases are not read.", shared)
    return named


def _shared(block: str) -> Iterator[int]:
    """The lines of anchors and aliases: a few of them stand for any amount of data."""
    import yaml

    for token in cast("Any", yaml).scan(block, Loader=yaml.SafeLoader):
        if isinstance(token, yaml.AliasToken | yaml.AnchorToken):
            yield cast("Any", token).start_mark.line + 2
