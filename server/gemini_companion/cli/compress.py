"""`gemini-companion compress`: compress the history in a file, as the daemon would."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gemini_companion.cli.files import check_writable, read_session, read_text, write_whole
from gemini_companion.cli.progress import PhaseLine
from gemini_companion.cli.strategy_names import known_strategy
from gemini_companion.engine.compression.types import FAULTS
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import CompressionResult
from gemini_companion.engine.history.verdict import StrategyName
from gemini_companion.sessions.application import Application
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.compression.service import compress, compress_at_safe_point
from gemini_companion.sessions.compression_state import Wish
from gemini_companion.sessions.interchange.compressed import mark_of, snapshot_places
from gemini_companion.sessions.interchange.importing import log_of, without_foreign_models
from gemini_companion.settings.effective import Settings
from gemini_companion.settings.load import SettingsLoader


async def compress_file(env: Mapping[str, str], options: argparse.Namespace) -> int:
    """Compress the history in `options.file`, print the result, write the new history. Returns the exit code."""
    from gemini_companion.adapters.storage.memory import MemoryStore
    from gemini_companion.wiring.places import data_directory, home_directory
    from gemini_companion.wiring.services import build_services

    strategy = known_strategy(options.strategy) if options.strategy is not None else None
    imported = without_foreign_models(read_session(options.file))
    system = read_text(options.system) if options.system else imported.system_instruction
    if options.output:
        check_writable(options.output)  # before a model is paid for a result that could not be written
    loaded = SettingsLoader(home_directory(env), (), env).reload(trusted=False)
    settings = _settings(loaded.settings, options, strategy)
    store = MemoryStore(str(data_directory(env) / "files" / f"compress-{time.time_ns()}"))
    services = build_services(
        env, store=store, settings=lambda: settings, with_environment=False, environment=loaded.environment
    )
    app = Application(services)
    progress = PhaseLine(quiet=options.json)
    for warning in (*imported.warnings, *(problem.message_with_hint for problem in loaded.problems)):
        progress.say(warning)
    client = Client("command-line", progress, name="command line")
    app.attach(client)
    try:
        entries = log_of(imported, now=services.clock.now())
        # Without an instruction of its own the file gets none of ours, so that `tokens` says the same number.
        session = await app.create(client, model=options.model or "", system_instruction=system or "", entries=entries)
        choice = session.choice()
        if choice.is_fallback:
            progress.say(
                f"The built-in offline model stands in for {choice.asked}: {choice.reason}. Set GEMINI_API_KEY to use"
                " Gemini."
            )
        if options.auto:
            result = await compress_at_safe_point(session, choice) or _not_due(
                session.token_count(choice).tokens, session.mark(choice).tokens
            )
        else:
            result = await compress(session, client=client.client_id, wish=Wish(guidance=options.instructions))
        after = session.history.curated()
    finally:
        progress.done()
        await app.close()
    changed = result.status in ("COMPRESSED", "CONTENT_TRUNCATED")
    _print(result, [item.content for item in after] if changed else None, as_json=options.json)
    if options.output:
        write_whole(
            options.output, _document(after, system, imported.system_instruction is not None or bool(options.system))
        )
    return 1 if result.status in FAULTS else 0


def _settings(settings: Settings, options: argparse.Namespace, strategy: StrategyName | None) -> Settings:
    changes: dict[str, Any] = {
        "compression_background": "off",  # there is no chat that could go on beside it
        "tools": msgspec.structs.replace(settings.tools, enabled=False),  # the file has none: it is counted as it is
    }
    if strategy is not None:
        changes |= {"compression_strategy": strategy, "compression_compare": None}
    if options.token_limit is not None:
        changes["token_limit_override"] = options.token_limit
    if options.threshold is not None:
        changes["compression_threshold"] = options.threshold
        changes["is_threshold_set"] = True
    return msgspec.structs.replace(settings, **changes)


def _not_due(tokens: int, mark: int | None) -> CompressionResult:
    """The result of an automatic run that was not due; `mark` is the count that would have started it."""
    why = "automatic compression is off" if mark is None else f"{tokens:,} tokens are below the threshold of {mark:,}"
    return CompressionResult(
        status="NOOP",
        trigger="auto",
        original_token_count=tokens,
        new_token_count=tokens,
        token_count_source="estimate",
        model_calls=0,
        duration_ms=0,
        message=f"Nothing was compressed: {why}.",
    )


def _document(view: Sequence[Item], system: str | None, with_system: bool) -> bytes:
    document: dict[str, Any] = {"history": [item.content for item in view], **mark_of(snapshot_places(view))}
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
    before, after, source = result.original_token_count, result.new_token_count, result.token_count_source
    if history is None:
        print(f"  tokens    {before:,}, as before ({source})")
    else:
        print(f"  tokens    {before:,} → {after:,}  ({100 - 100 * after / max(1, before):.0f} % less, {source})")
        if result.kept_contents is not None:
            print(
                f"  kept      {_counted(result.kept_contents, 'content')} word for word, from index {result.split_at}"
                " of the old history"
            )
    print(f"  took      {result.duration_ms:,} ms, {_counted(result.model_calls, 'model call')}")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
