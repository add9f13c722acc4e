"""What it takes to put files back: computed whole, before anything is written."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from gemini_companion.engine.changes.merging import is_too_large, taken_back
from gemini_companion.engine.history.change_record import Step
from gemini_companion.engine.history.tool_entries import FileVersion

MISSING: Final = "What it was before is not kept: it is known that it changed, not what it was."
EDITED: Final = "It was edited since, in the same lines. Nothing was written."
TOO_LARGE: Final = "It was edited since, and is too large to be merged. Nothing was written."
MADE_AND_EDITED: Final = "It was made by this change and edited since; it is not deleted."
TAKEN: Final = "There is another file of this name now."
GONE: Final = "It was deleted or renamed since."
FOLDER: Final = "There is a folder of this name now. Nothing was written."
LINK: Final = "There is a symbolic link of this name now. Nothing was written."

Kind: TypeAlias = Literal["file", "link", "folder"]


class State(NamedTuple):
    """What has a name: bytes and permission bits."""

    data: bytes
    """Of a link its target, of a folder nothing."""
    mode: int = 0o644
    kind: Kind = "file"


class Conflict(NamedTuple):
    """A file that stays as it is, and why."""

    path: str
    reason: str


class Plan(NamedTuple):
    """What is to be done, if anything."""

    results: dict[str, State | None]
    """By path what is to be there, `None` for no file; only where that is not there yet."""
    taken: tuple[Step, ...]
    """The steps that are taken back with it."""
    conflicts: tuple[Conflict, ...]


class _Clash(Exception):
    """A step cannot be taken back."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason


def paths_of(steps: Iterable[Step]) -> list[str]:
    """Every file that steps name, each once."""
    named = (path for step in steps for path in (step.change.path, step.change.from_path) if path is not None)
    return list(dict.fromkeys(named))


def plan(steps: Sequence[Step], now: Mapping[str, State | None], versions: Mapping[str, bytes]) -> Plan:
    """How to take steps back, given newest first. Files that renames tie together are put back together or not at all.

    `now` has every path of `paths_of(steps)`; `versions` the bytes of digests, as far as they are kept.
    """
    results: dict[str, State | None] = {}
    taken: list[Step] = []
    conflicts: list[Conflict] = []
    for group in _tied(steps):
        names = paths_of(group)
        states = {name: now[name] for name in names}
        try:
            for joined in _joined(group):
                _take_back(joined, states, versions)
        except _Clash as clash:
            conflicts.append(Conflict(clash.path, clash.reason))
            continue
        results |= {name: state for name, state in states.items() if state != now[name]}
        taken += group
    return Plan(results, tuple(taken), tuple(conflicts))


class _Joined(NamedTuple):
    """Steps of one file that follow each other without anything between: one change."""

    path: str
    from_path: str | None
    before: FileVersion | None
    after: FileVersion | None


def _tied(steps: Sequence[Step]) -> list[list[Step]]:
    """Groups of steps that share files, in the order of their first steps."""
    groups: list[tuple[set[str], list[Step]]] = []
    for step in steps:
        names = set(paths_of([step]))
        tied = [group for group in groups if group[0] & names]
        if not tied:
            groups.append((names, [step]))
            continue
        first = tied[0]
        for other in tied[1:]:
            groups.remove(other)
            first[0].update(other[0])
            first[1].extend(other[1])
        first[0].update(names)
        first[1].append(step)
    order = {id(step): number for number, step in enumerate(steps)}
    return [sorted(group, key=lambda step: order[id(step)]) for _, group in groups]


def _joined(steps: Sequence[Step]) -> list[_Joined]:
    """Newest first, with neighbours joined where one begins as the earlier one ended."""
    found: list[_Joined] = []
    for step in steps:
        change = step.change
        one = _Joined(change.path, change.from_path, change.old, change.new)
        last = found[-1] if found else None
        is_next = last is not None and last.path == one.path and last.from_path is None and one.from_path is None
        if last is not None and is_next and last.before == one.after and _is_known(one.before):
            found[-1] = last._replace(before=one.before)
        else:
            found.append(one)
    return found


def _take_back(one: _Joined, states: dict[str, State | None], versions: Mapping[str, bytes]) -> None:
    """Change `states` to what they were before. Raises `_Clash`."""
    now = states[one.path]
    if one.before is None and one.after is None:
        return  # it was noted that there was nothing to do
    if one.from_path is not None:
        if now is None:
            raise _Clash(one.path, GONE)
        if states[one.from_path] is not None:
            raise _Clash(one.from_path, TAKEN)
        states[one.path], states[one.from_path] = None, _before(one, now, versions)
    elif one.before is None:
        if _kind(one.after) == "folder":
            if now is not None and now.kind == "folder":
                states[one.path] = None  # if it is empty then
        elif now is not None and not _is(now, one.after):
            raise _Clash(one.path, MADE_AND_EDITED if now.kind == _kind(one.after) else _IN_ITS_PLACE[now.kind])
        else:
            states[one.path] = None
    elif one.after is None:
        if now is None:
            states[one.path] = _state(one.path, one.before, versions)
        elif not _is(now, one.before):
            raise _Clash(one.path, TAKEN if now.kind == "file" else _IN_ITS_PLACE[now.kind])
    elif now is None:
        raise _Clash(one.path, GONE)
    else:
        states[one.path] = _before(one, now, versions)


def _before(one: _Joined, now: State, versions: Mapping[str, bytes]) -> State:
    if one.before is None or one.after is None:
        raise _Clash(one.path, MISSING)  # a rename has both
    kinds = _kind(one.before), _kind(one.after)
    if kinds[0] != kinds[1] or kinds[1] == "link":
        return _other_kind(one, now, versions)
    if now.kind != kinds[1]:
        raise _Clash(one.path, _IN_ITS_PLACE[now.kind])
    mode = one.before.mode if now.mode == one.after.mode else now.mode
    if now.kind == "folder":
        return State(b"", mode, "folder")
    if one.before.digest and one.before.digest == one.after.digest:
        return State(now.data, mode)
    if _is(now, one.before):
        return State(now.data, mode)
    before = _bytes(one.path, one.before, versions)
    if _is(now, one.after):
        return State(before, mode)
    after = _bytes(one.path, one.after, versions)
    result = taken_back(before, after, now.data)
    if result is None:
        raise _Clash(one.path, TOO_LARGE if is_too_large(before, after, now.data) else EDITED)
    return State(result, mode)


def _other_kind(one: _Joined, now: State, versions: Mapping[str, bytes]) -> State:
    """Links, and what took the place of another kind, are put back whole or not at all."""
    assert one.before is not None
    if _is(now, one.before):
        return now
    if not _is(now, one.after):
        raise _Clash(one.path, EDITED if now.kind == "file" else _IN_ITS_PLACE[now.kind])
    return _state(one.path, one.before, versions)


def _state(path: str, version: FileVersion, versions: Mapping[str, bytes]) -> State:
    kind = _kind(version)
    return State(b"" if kind == "folder" else _bytes(path, version, versions), version.mode, kind)


_IN_ITS_PLACE: Final[dict[Kind, str]] = {"file": TAKEN, "folder": FOLDER, "link": LINK}


def _kind(version: FileVersion | None) -> Kind:
    if version is None or (version.link is None and not version.is_folder):
        return "file"
    return "link" if version.link is not None else "folder"


def _bytes(path: str, version: FileVersion, versions: Mapping[str, bytes]) -> bytes:
    data = versions.get(version.digest)
    if data is None:
        raise _Clash(path, MISSING)
    return data


def _is_known(version: FileVersion | None) -> bool:
    return version is None or version.is_kept


def _is(state: State, version: FileVersion | None) -> bool:
    """Whether something is of the kind of a version and has its bytes."""
    if version is None or state.kind != _kind(version):
        return False
    return state.kind == "folder" or (
        len(state.data) == version.size and hashlib.sha256(state.data).hexdigest() == version.digest
    )


def digests_of(steps: Iterable[Step]) -> Collection[str]:
    """The versions that `plan` may need."""
    found = (version for step in steps for version in (step.change.old, step.change.new))
    return {version.digest for version in found if version is not None and version.is_kept and version.digest}
