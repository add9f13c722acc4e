"""`gemini-companion compress`: compress the history in a file, as the daemon would."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from gemini_companion.cli.files import read_session, read_text, write_whole
from gemini_companion.cli.progress import PhaseLine
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import CompressionResult
from gemini_companion.sessions.application import Application
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.compressing import compress, compress_automatically
from gemini_companion.sessions.importing import entries_of
from gemini_companion.settings.effective import Settings
from gemini_companion.settings.load import SettingsLoader

_FAILURES: Final = ("COMPRESSION_FAILED_EMPTY_SUMMARY", "COMPRESSION_FAILED_TOKEN_COUNT_ERROR")


async def compress_file(env: Mapping[str, str], options: argparse.Namespace) -> int:
    """Compress, print, write. Returns the exit code."""
    from gemini_companion.adapters.storage.memory import MemoryStore
    from gemini_companion.wiring import build_services, data_directory, home_directory

    imported = read_session(options.file)
    system = read_text(options.system) if options.system else imported.system_instruction
    settings = _settings(SettingsLoader(home_directory(env), (), env).reload(trusted=False).settings, options)
    store = MemoryStore(str(data_directory(env) / "files" / f"compress-{time.time_ns()}"))
    services = build_services(env, store=store, settings=lambda: settings, with_environment=False)
    app = Application(services)
    progress = PhaseLine(quiet=options.json)
    for warning in imported.warnings:
        progress.say(warning)
    client = Client("command-line", progress, name="command line")
    app.attach(client)
    try:
        entries = imported.entries or entries_of(imported.contents, services)
        session = await app.create(client, model=options.model or "", system_instruction=system, entries=entries)
        choice = session.choice()
        if options.model and options.model != "offline" and choice.client.provider == "offline" and not _has_credentials(env):
            progress.say(f"No API key was found: the built-in offline model stands in for {options.model}.")
        if options.auto:
            result = await compress_automatically(session, choice) or _below(session.status(None).token_count)
        else:
            result = await compress(session, client=client.client_id, instructions=options.instructions)
        after = session.history.contents()
    finally:
        progress.done()
        await app.close()
    changed = result.status in ("COMPRESSED", "CONTENT_TRUNCATED")
    if options.output:
        write_whole(options.output, _document(after, system, imported.system_instruction is not None or bool(options.system)))
    _print(result, after if changed else None, as_json=options.json)
    return 1 if result.status in _FAILURES else 0


def _settings(settings: Settings, options: argparse.Namespace) -> Settings:
    changes: dict[str, Any] = {}
    if options.token_limit is not None:
        changes["token_limit_override"] = options.token_limit
    if options.threshold is not None:
        changes["compression_threshold"] = options.threshold
    return msgspec.structs.replace(settings, **changes)


def _below(tokens: int) -> CompressionResult:
    """The result of an automatic run that was not due."""
    return CompressionResult(
        status="NOOP",
        trigger="auto",
        original_token_count=tokens,
        new_token_count=tokens,
        token_count_source="estimate",
        model_calls=0,
        duration_ms=0,
        message=f"Nothing to compress: {tokens:,} tokens are below the threshold.",
    )


def _has_credentials(env: Mapping[str, str]) -> bool:
    from gemini_companion.adapters.gemini.options import from_environment

    return from_environment(env) is not None


def _document(history: Sequence[Content], system: str | None, with_system: bool) -> bytes:
    document: dict[str, Any] = {"history": history}
    if with_system and system:
        document["systemInstruction"] = system
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _print(result: CompressionResult, history: Sequence[Content] | None, *, as_json: bool) -> None:
    if as_json:
        document: dict[str, Any] = msgspec.to_builtins(result)
        if history is not None:
            document["history"] = history
        sys.stdout.write(msgspec.json.encode(document).decode() + "\n")
        return
    print(result.message)
    print(f"  status    {result.status}")
    if result.original_token_count != result.new_token_count:
        saved = 100 - 100 * result.new_token_count / max(1, result.original_token_count)
        print(f"  tokens    {result.original_token_count:,} → {result.new_token_count:,}  ({saved:.0f} % less, {result.token_count_source})")
    if result.kept_contents is not None:
        print(f"  kept      the last {result.kept_contents} contents, from index {result.split_at}")
    print(f"  took      {result.duration_ms:,} ms, {result.model_calls} model calls")

