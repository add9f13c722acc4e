"""Argument parsing, and the exit codes of every command.

0 done; 1 failed; 2 usage or unreadable input; 3 no usable credentials; 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from gemini_companion import __version__
from gemini_companion.cli.editor import CONFIGURATIONS
from gemini_companion.cli.evaluation_options import add_evaluation_options
from gemini_companion.cli.interruptible import run_interruptibly
from gemini_companion.engine.errors import (
    CompanionError,
    CompressionNotFound,
    InvalidInput,
    InvalidSettings,
    SessionNotFound,
    Unauthenticated,
)

FAILED: Final = 1
USAGE: Final = 2
NO_CREDENTIALS: Final = 3
INTERRUPTED: Final = 130

_UNREADABLE: Final = (InvalidInput, InvalidSettings, SessionNotFound, CompressionNotFound)


def run(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    """Run one command. Returns the exit code; every fault is printed to stderr as a sentence, without a traceback."""
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else USAGE
    try:
        return _dispatch(options, env)
    except KeyboardInterrupt:
        _complain("Interrupted.")
        return INTERRUPTED
    except CompanionError as fault:
        _complain(fault.message_with_hint)
        return (
            NO_CREDENTIALS
            if isinstance(fault, Unauthenticated)
            else USAGE
            if isinstance(fault, _UNREADABLE)
            else FAILED
        )
    except BrokenPipeError:
        return FAILED


def _dispatch(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    match options.command:
        case "serve":
            from gemini_companion.cli.serve import serve

            return serve(env, log_file=options.log_file, log_level=options.log_level, settings=options.set)
        case "demo":
            from gemini_companion.cli.demo import demo

            return run_interruptibly(demo(env, workspace=options.workspace, as_json=options.json))
        case "compress":
            from gemini_companion.cli.compress import compress_file

            return run_interruptibly(compress_file(env, options))
        case "tokens":
            if options.system:
                from gemini_companion.cli.system_prompt import show_system_prompt

                return run_interruptibly(show_system_prompt(env, model=options.model or "", as_json=options.json))
            from gemini_companion.cli.tokens import count_file

            return count_file(options.file, as_json=options.json)
        case "sessions":
            from gemini_companion.cli.sessions import sessions

            return run_interruptibly(sessions(env, options))
        case "eval":
            from gemini_companion.cli.evaluate import evaluate

            return evaluate(env, options)
        case "report":
            if options.session is None and (options.output or options.with_text):
                raise InvalidInput(
                    "Which session? -o and --with-text are for the report of one.",
                    hint="`gemini-companion sessions list` names them; --html FILE writes the report over all.",
                )
            if options.session is not None:
                from gemini_companion.cli.session_report import session_report

                return run_interruptibly(session_report(env, options))
            from gemini_companion.cli.report import report

            return run_interruptibly(report(env, as_json=options.json, html=options.html))
        case "recall":
            from gemini_companion.cli.recall import recall_

            return run_interruptibly(recall_(env, options))
        case "changes":
            from gemini_companion.cli.changes import changes

            return run_interruptibly(changes(env, options))
        case "editor":
            from gemini_companion.cli.editor import show_configuration

            return show_configuration(options.name, as_path=options.path)
        case "config":
            from gemini_companion.cli.config import config

            return config(env, options)
        case _:
            if options.bundle is not None:
                from gemini_companion.cli.bundle import write_bundle

                return write_bundle(env, options.bundle, as_json=options.json)
            from gemini_companion.cli.doctor import doctor

            return run_interruptibly(doctor(env, as_json=options.json))


def _complain(message: str) -> None:
    from gemini_companion.cli.terminal import harmless  # not needed by `serve`

    print(f"gemini-companion: {harmless(message)}", file=sys.stderr)


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} does not lie between 0 and 1")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return value


def _up_to_fifty(text: str) -> int:
    value = _count(text)
    if value > 50:
        raise argparse.ArgumentTypeError(f"{text} is more than 50")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gemini-companion", description="A Gemini chat for every editor that never forgets."
    )
    parser.add_argument("--version", action="version", version=f"gemini-companion {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="serve an editor over stdin and stdout (LSP)")
    serve.add_argument("--stdio", action="store_true", help="the default, and the only way in so far")
    serve.add_argument("--log-file", metavar="FILE", help="write the log there instead of to stderr")
    serve.add_argument("--log-level", metavar="LEVEL", default="warning", choices=("debug", "info", "warning", "error"))
    serve.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a setting that goes before all others",
    )

    demo = commands.add_parser("demo", help="see everything in a minute, without a key")
    demo.add_argument("--workspace", metavar="DIR", help="a folder to talk about; a small one is made otherwise")
    demo.add_argument("--json", action="store_true", help="one JSON object per step")

    compress = commands.add_parser("compress", help="compress the history in a file")
    compress.add_argument(
        "file", metavar="FILE", help="{history, systemInstruction?}, a list of contents, a Gemini CLI session, or -"
    )
    compress.add_argument("--json", action="store_true", help="print one JSON object: the result and the new history")
    compress.add_argument("--output", metavar="FILE", help="write the new history there")
    compress.add_argument("--model", metavar="MODEL", help="the conversation's model")
    compress.add_argument("--auto", action="store_true", help="only if the threshold is reached")
    compress.add_argument("--strategy", metavar="NAME", help="where to cut and what to keep: split, hierarchical, …")
    compress.add_argument("--instructions", metavar="TEXT", default="", help="what the snapshot should heed")
    compress.add_argument("--token-limit", metavar="N", type=_count, help="the model's limit, in tokens")
    compress.add_argument("--threshold", metavar="X", type=_share, help="share of the limit for --auto, 0 to 1")
    compress.add_argument("--system", metavar="FILE", help="a system instruction that counts with the history")

    tokens = commands.add_parser("tokens", help="count the tokens of a file, or show the system prompt and its tokens")
    counted = tokens.add_mutually_exclusive_group(required=True)
    counted.add_argument("file", metavar="FILE", nargs="?")
    counted.add_argument("--system", action="store_true", help="show the system prompt that a chat here would have")
    tokens.add_argument("--model", metavar="MODEL", help="with --system: the model that it is worded for")
    tokens.add_argument("--json", action="store_true")

    sessions = commands.add_parser("sessions", help="list, show, count, export, import or delete sessions")
    actions = sessions.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="this project's sessions, newest first")
    listing.add_argument("query", nargs="?", default="", help="words to search for")
    listing.add_argument("--json", action="store_true")
    show = actions.add_parser("show", help="a session's transcript")
    show.add_argument("id")
    show.add_argument("--json", action="store_true")
    stats = actions.add_parser("stats", help="what a session did and cost; without ID, all of this folder's together")
    stats.add_argument("id", nargs="?")
    stats.add_argument("--json", action="store_true")
    export = actions.add_parser("export", help="a session as a file")
    export.add_argument("id")
    form = export.add_mutually_exclusive_group()
    form.add_argument("--format", choices=("companion", "gemini-cli", "gemini-cli-jsonl"), default="companion")
    form.add_argument(
        "--to-gemini-cli", action="store_true", help="write it where Gemini CLI lists the sessions of its folder"
    )
    import_ = actions.add_parser("import", help="read a session file")
    import_.add_argument("file", metavar="FILE")
    keep = actions.add_parser("keep", help="never delete a session for its age or for room")
    keep.add_argument("id")
    keep.add_argument("--off", action="store_true", help="no longer keep it")
    delete = actions.add_parser("delete", help="forget a session")
    delete.add_argument("id")

    evaluation = commands.add_parser("eval", help="measure what compressions keep and cost, on your conversations")
    add_evaluation_options(evaluation, _count)

    quality = commands.add_parser(
        "report", help="one session as a page with charts; without SESSION, how good this folder's compressions were"
    )
    quality.add_argument("session", metavar="SESSION", nargs="?", help="the id of a session; needs -o")
    quality.add_argument("-o", "--output", metavar="FILE", help="write the session's page there")
    quality.add_argument("--with-text", action="store_true", help="with prompts and snapshots; secrets are masked")
    quality.add_argument("--json", action="store_true", help="print one JSON object")
    quality.add_argument("--html", metavar="FILE", help="write a page there")
    recall = commands.add_parser("recall", help="find what was said in this project's sessions")
    recall.add_argument("query", metavar="QUERY", nargs="?", help="some words, or a question")
    recall.add_argument("--session", metavar="ID", help="in this session only")
    recall.add_argument("--call", metavar="ID", help="what this tool call put out, in the session named")
    recall.add_argument("--limit", metavar="N", type=_up_to_fifty, default=10, help="how many to show, 1 to 50")
    recall.add_argument("--json", action="store_true")

    changes = commands.add_parser("changes", help="what the model did to files, and putting them back")
    changes.add_argument(
        "action", nargs="?", choices=("list", "revert"), default="list", help="list them with diffs, or put files back"
    )
    changes.add_argument("--session", metavar="ID", help="of this session, else of the newest one")
    changes.add_argument("--turn", metavar="ID", help="put back what this turn changed")
    changes.add_argument("--since", metavar="TURN", help="put back what this turn and all later ones changed")
    changes.add_argument("--path", metavar="FILE", help="put this file back")
    changes.add_argument("--change", metavar="ID", help="take a revert back")
    changes.add_argument("--dry-run", action="store_true", help="say what would be put back, and change nothing")
    changes.add_argument("--json", action="store_true")

    editor = commands.add_parser("editor", help="print an editor's configuration, or the names of the editors")
    editor.add_argument(
        "name", nargs="?", metavar="NAME", choices=sorted(CONFIGURATIONS), help=", ".join(CONFIGURATIONS)
    )
    editor.add_argument("--path", action="store_true", help="print where the file is instead")

    _add_config(commands.add_parser("config", help="the settings in force and where they come from; changing them"))

    doctor = commands.add_parser("doctor", help="check the installation, the settings and the key")
    doctor.add_argument("--json", action="store_true")
    doctor.add_argument(
        "--bundle", metavar="FILE.zip", help="gather what a report of a bug needs, without texts and secrets"
    )
    return parser


def _add_config(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="every setting with its value and where that comes from")
    get = actions.add_parser("get", help="one setting, or all of a section")
    get.add_argument("key", metavar="KEY", help="as in model.name")
    set_ = actions.add_parser("set", help="write a setting into your own file, or this folder's")
    set_.add_argument("key", metavar="KEY")
    set_.add_argument("value", metavar="VALUE", help="JSON, or a text")
    unset = actions.add_parser("unset", help="remove a setting from it")
    unset.add_argument("key", metavar="KEY")
    for action in (set_, unset):
        action.add_argument("--workspace", action="store_true", help="this folder's .gemini/settings.json")
    path = actions.add_parser("path", help="the settings files, lowest layer first")
    for action in (listing, get, path):
        action.add_argument("--json", action="store_true")
