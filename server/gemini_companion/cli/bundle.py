"""`gemini-companion doctor --bundle FILE.zip`: what a report of a bug needs, without texts and secrets.

It asks no daemon and repairs nothing, so that it works while one hangs, or the store or the settings are broken. Each
part is gathered for itself; what cannot be had says why, in its place.
"""

from __future__ import annotations

import io
import os
import platform
import stat
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

import msgspec

from gemini_companion import __version__
from gemini_companion.cli.files import check_writable, write_whole
from gemini_companion.cli.terminal import on_one_line

if TYPE_CHECKING:
    from gemini_companion.engine.redaction.finding import Finder

T = TypeVar("T")

PART_SECONDS: Final = 20.0
"""How long one part may take; a disk or a home folder may hang."""

CHECK_SECONDS: Final = 8.0
"""How long the store is checked."""

LOG_BYTES: Final = 64 * 1024
"""Of the end of a log file."""

_STORES: Final = 20
"""Stores whose secrets are looked for in what is gathered."""

_PACKAGES: Final = ("google-genai", "pygls", "msgspec", "watchfiles", "opentelemetry-sdk", "xllamacpp")


class Part(NamedTuple):
    """A file of the bundle."""

    name: str
    holds: str
    """What is in it, for people."""
    text: str


def write_bundle(env: Mapping[str, str], file: str, *, as_json: bool) -> int:
    """Write the bundle, which only its owner may read, and print what is in it. Raises `CompanionError`."""
    check_writable(file)
    known = known_secrets(env)
    redact = Redaction(env, known.finder)
    parts = [Part(part.name, part.holds, redact(part.text)) for part in gathered(env, known.unread)]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as bundle:
        for part in parts:
            bundle.writestr(part.name, part.text)
    write_whole(file, packed.getvalue(), is_private=True)
    if as_json:
        listed = [{"name": part.name, "holds": part.holds, "characters": len(part.text)} for part in parts]
        sys.stdout.write(msgspec.json.encode({"file": os.path.abspath(file), "parts": listed}).decode() + "\n")
        return 0
    print(f"{on_one_line(os.path.abspath(file))} holds")
    for part in parts:
        print(f"  {part.name:<16}{len(part.text):>8,}  {part.holds}")
    print("No prompts, answers or files' texts are in it; secrets are masked, your home folder is ~. Look it through")
    print("before you give it to anybody.")
    if known.unread:
        print("What the vault alone knows to be secret could not be read, and is masked nowhere:")
        for line in known.unread:
            print(f"  {redact(on_one_line(line))}")
    return 0


def gathered(env: Mapping[str, str], unread: Sequence[str] = ()) -> list[Part]:
    """The parts, not redacted yet. `unread`: whose secrets are not known."""
    sources: tuple[tuple[str, str, Callable[[Mapping[str, str]], str]], ...] = (
        ("about.json", "versions of the program, Python and packages, the system", partial(_about, unread)),
        ("settings.json", "settings in force, where each comes from, what is wrong", _settings),
        ("events.json", "the last events of the running and the last daemons", _events),
        ("log.txt", "the last lines of their logs", _log),
        ("store.json", "health and sizes of this folder's store, sizes of others", _store),
    )
    return [Part(name, holds, text_within_limit(partial(gather, env))) for name, holds, gather in sources]


class Redaction:
    """Takes out of a text what nobody else should read. `known` finds the vault's secrets."""

    def __init__(self, env: Mapping[str, str], known: Finder | None = None) -> None:
        from gemini_companion.adapters.vault.masking import Masking

        self._env = env
        self._masking = Masking(known)
        homes = {env.get("HOME", ""), os.path.expanduser("~")}
        self._homes = sorted((home for home in homes if len(home) > 1), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """The text with secrets masked, by name, by look, and those of the environment, and without the home folder."""
        from gemini_companion.settings.masking import masked

        text = self._masking.text(masked("bundle", text, self._env))
        for home in self._homes:
            text = text.replace(home, "~")
        return text


class KnownSecrets(NamedTuple):
    """What the vault holds for the chats of the stores that were changed last."""

    finder: Finder | None
    """`None` if there is none."""
    unread: tuple[str, ...]
    """Stores whose secrets are not known, or the vault, and why."""


def known_secrets(env: Mapping[str, str]) -> KnownSecrets:
    """Each store is read for itself: what one says late, or not at all, takes nothing from what others say."""
    from gemini_companion.adapters.storage.health import kept_secrets
    from gemini_companion.adapters.vault.vault import Vault
    from gemini_companion.wiring.places import data_directory

    data = data_directory(env)
    stores = _newest_first(data / "projects")[:_STORES]
    sealed: dict[str, bytes] = {}
    unread: list[str] = []
    every = _within_limit(*(partial(kept_secrets, one, CHECK_SECONDS) for one in stores))
    for store, found in zip(stores, every, strict=True):
        if isinstance(found, Exception):
            unread.append(f"{store.name}: {found}")
        else:
            sealed |= found
    if not sealed:
        return KnownSecrets(None, tuple(unread))
    vault = Vault(data)
    (finder,) = _within_limit(lambda: vault.finder_of(sealed) if vault.keys.place() and vault.keys.is_there() else None)
    if isinstance(finder, Exception) or finder is None:
        return KnownSecrets(None, (*unread, f"the vault: {finder or 'its key is not there'}"))
    return KnownSecrets(finder, tuple(unread))


def _newest_first(folder: Path) -> list[Path]:
    """What is in a folder, as far as it can be looked at."""
    found: list[tuple[float, Path]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                found.append((entry.stat().st_mtime, Path(entry.path)))
    return [path for _, path in sorted(found, reverse=True)]


def text_within_limit(gather: Callable[[], str]) -> str:
    """What is gathered, or why it is not; within `PART_SECONDS`."""
    (found,) = _within_limit(gather)
    return found if isinstance(found, str) else _json({"fault": f"{type(found).__name__}: {found}"})


def _within_limit(*gathers: Callable[[], T]) -> list[T | Exception]:
    """What each gathers, all at once, or what went wrong, whatever it was: what is broken is what the bundle is for."""
    late = TimeoutError(f"it took more than {PART_SECONDS:g} seconds")
    found: list[T | Exception] = [late] * len(gathers)

    def run(place: int, gather: Callable[[], T]) -> None:
        try:
            found[place] = gather()
        except Exception as fault:
            found[place] = fault

    threads = [threading.Thread(target=run, args=one, daemon=True) for one in enumerate(gathers)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + PART_SECONDS
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return [*found]  # as it is now: one that comes late changes nothing any more


def _about(unread: Sequence[str], env: Mapping[str, str]) -> str:
    from importlib.metadata import PackageNotFoundError, version

    packages: dict[str, str | None] = {}
    for name in _PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = None
    names = sorted(name for name in env if name.startswith(("GEMINI_", "GOOGLE_", "COMPANION_", "OTEL_")))
    return _json(
        {
            "version": __version__,
            "python": platform.python_version(),
            "executable": sys.executable,
            # `platform.platform()` would start a process for it.
            "platform": "-".join(
                filter(None, (platform.system(), platform.release(), platform.machine(), *platform.libc_ver()))
            ),
            "processors": os.cpu_count(),
            "written": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "packages": packages,
            "variables": names,
            "secretsUnread": list(unread),
        }
    )


def _settings(env: Mapping[str, str]) -> str:
    from gemini_companion.cli.config import load_here
    from gemini_companion.settings.in_force import settings_in_force

    _, loaded, trusted = load_here(env)
    listed = [
        {"key": one.key, "value": one.value, "layer": one.layer, "file": one.file, "variable": one.variable}
        for one in settings_in_force(loaded)
    ]
    return _json(
        {
            "trusted": trusted,
            "problems": [problem.message for problem in loaded.problems],
            "settings": listed,
        }
    )


def _events(env: Mapping[str, str]) -> str:
    return _json(
        [
            {
                **{key: value for key, value in one.about.items() if key not in ("process", "logFile")},
                "pid": _pid(one.about),
                "isRunning": one.is_running,
                "events": one.events,
            }
            for one in _recent(env)
        ]
    )


def _log(env: Mapping[str, str]) -> str:
    texts: list[str] = []
    for one in _recent(env):
        texts.append(f"=== daemon {_pid(one.about)}, version {one.about.get('version')}")
        texts += [msgspec.json.encode(line).decode() for line in one.lines]
        log_file = one.about.get("logFile")
        if isinstance(log_file, str) and log_file:
            texts += [f"--- the end of {log_file}", _tail(log_file)]
    return "\n".join(texts) + "\n"


def _tail(path: str) -> str:
    """The last whole lines of a plain file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return "it is no plain file"
            start = max(0, status.st_size - LOG_BYTES)
            file.seek(start)
            text = file.read(LOG_BYTES).decode(errors="replace")
    except OSError as fault:
        return f"it cannot be read: {fault.strerror}"
    return text.partition("\n")[2] if start else text


def _store(env: Mapping[str, str]) -> str:
    from gemini_companion.adapters.private_files import safe_name
    from gemini_companion.adapters.storage.health import sizes, store_health
    from gemini_companion.adapters.storage.project import project_key
    from gemini_companion.wiring.places import data_directory

    data = data_directory(env)
    here = data / "projects" / safe_name(project_key([os.getcwd()]))
    return _json(
        {
            "directory": str(data),
            "free": _free(data),
            "sizes": sizes(data),
            "projects": sizes(data / "projects"),
            "thisFolder": {"name": here.name, **store_health(here, CHECK_SECONDS)},
        }
    )


def _free(directory: Path) -> int | None:
    """Bytes that are left on the disk."""
    import shutil

    try:
        return shutil.disk_usage(directory).free
    except OSError:
        return None


def _recent(env: Mapping[str, str]) -> list[Any]:
    from gemini_companion.adapters.storage.recent import read_recent
    from gemini_companion.wiring.places import recent_directory

    return list(read_recent(recent_directory(env)))


def _pid(about: Mapping[str, Any]) -> Any:
    process = about.get("process")
    return cast("dict[str, Any]", process).get("pid") if isinstance(process, dict) else None


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"
