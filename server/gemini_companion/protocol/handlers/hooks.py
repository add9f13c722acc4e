"""Handlers of `gemini/hooks`."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.hooks.config import Hook
from gemini_companion.protocol.hook_types import SetHookParams
from gemini_companion.protocol.host import Host
from gemini_companion.protocol.types import SessionParams
from gemini_companion.sessions.hooks.listing import HookKey, HookList, HookPlace, key_of, listed_hooks
from gemini_companion.settings.load import LoadedSettings
from gemini_companion.settings.objects import KeyPath


async def list_(host: Host, params: SessionParams) -> HookList:
    return _listed(host)


async def set_(host: Host, params: SetHookParams) -> HookList:
    if not any(hook.key == params.name for hook in host.settings.current.hooks.hooks):
        raise InvalidInput(
            f"There is no hook {params.name[:80]!r}.", hint="Ask for the list again: the settings may have changed."
        )
    host.settings.set_hook(params.name, on=params.enabled)
    return _listed(host)


def _listed(host: Host) -> HookList:
    services, loaded = host.app.services, host.settings.loaded
    hooks = loaded.settings.hooks
    return listed_hooks(
        hooks, is_trusted=services.trusted(), latest=services.hooks.latest, places=_places(loaded, hooks.hooks)
    )


def _places(loaded: LoadedSettings, hooks: Iterable[Hook]) -> dict[HookKey, HookPlace]:
    """Where hooks are set, as far as that is a file."""
    listed, found = list(hooks), dict[HookKey, HookPlace]()
    for layer in loaded.layers:
        keys = {_path(hook): key_of(hook) for hook in listed if hook.source == layer.name}
        if layer.path is None or not keys:
            continue
        lines = layer.source.lines(keys) if layer.source is not None else {}
        found |= {key: HookPlace(str(layer.path), lines.get(path)) for path, key in keys.items()}
    return found


def _path(hook: Hook) -> KeyPath:
    definition, place = hook.place
    return "hooks", hook.event, definition, "hooks", place
