"""The words of the system prompt that depend on what can be called: tools, ways of working, subagents, the end."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from gemini_companion.engine.prompts.environment import one_line
from gemini_companion.engine.prompts.wording import Family

_TOOL_RULES: Final[Sequence[tuple[tuple[str, ...], str]]] = (
    (
        ("grep_search", "glob", "read_file"),
        "Look before you change: search narrowly, read the part that matters, and read what does not depend on each"
        " other in one round of calls. What the editor's account already shows need not be read again.",
    ),
    (
        ("replace",),
        "`replace` finds its text exactly: copy it from what you read, with enough around it to be the only such place."
        " Many changes of one file go into few calls.",
    ),
    (
        ("write_file",),
        "`write_file` is for new files and for whole rewrites; it takes the complete text, never with a part left out.",
    ),
    (
        ("run_shell_command",),
        "Commands: prefer those that end by themselves and ask nothing, with little output. Files are searched, read"
        " and changed with their own tools, not by commands.",
    ),
    (("diagnostics",), "After a change, `diagnostics` tells what the editor finds wrong with it."),
    (
        ("write_todos",),
        "For work of several steps keep a list with `write_todos`, and mark each step as soon as it is done.",
    ),
    (
        ("ask_user",),
        "`ask_user` is for a choice that only the person can make; what you can find out yourself is not asked.",
    ),
    (("recall",), "`recall` brings back what was said or put out earlier and is no longer in front of you."),
    (
        ("google_web_search", "web_fetch"),
        "Search the web for what may have changed since you were made; name the source of what you take from it.",
    ),
)
"""Each line stands in the prompt if one of its tools can be called."""

_LEGACY_TOOL_RULES: Final = (
    "Call a tool by its declared name with all the arguments that it requires, with absolute paths or paths from the"
    " workspace folder. Call it; do not print the call as text.",
    "Read each result. If a call failed, find out why before you try again, and never repeat the same call unchanged.",
)

_CONSENT: Final = (
    "Some calls wait until the person agrees. If one is declined, it is not tried again in another way: go on without"
    " it, or ask what they want instead."
)

_PLANNING: Final = """
This chat is in plan mode: you can read, search and ask, and nothing else. Find out what the request takes, then show \
the \
person a plan they can judge: which files, what changes in each, how it is checked, what is left open."""


def tools_section(family: Family, tools: Collection[str], *, is_planning: bool) -> str:
    """How the tools that can be called are used; that there are none, where there are none."""
    if not tools:
        if family == "short":
            return ""
        return (
            "# What you can reach\nNothing beyond this conversation: no file, no command, no network. What has to be"
            " looked up, run or changed is the person's to do; tell them exactly what."
        )
    if family == "short":
        planning = " This is plan mode: only read, then show a plan." if is_planning else ""
        return f"Use the declared functions instead of guessing. If a call is declined, ask.{planning}"
    rules = [rule for names, rule in _TOOL_RULES if any(name in tools for name in names)]
    if family == "legacy":
        rules = [*_LEGACY_TOOL_RULES, *rules]
    text = "\n".join(("# Tools", *(f"- {rule}" for rule in (*rules, _CONSENT))))
    if not is_planning:
        return text
    close = " Then call `exit_plan_mode`." if "exit_plan_mode" in tools else ""
    return f"{text}{_PLANNING}{close}"


_MODERN_WORK: Final = """\
# How work is done
- A question gets an answer, not a change. A change is made only if one was asked for.
- Understand first: find the code that decides, its callers and its tests. Mend the cause, not the place where it shows.
- The smallest change that is whole: with its tests, its documents, and everything else that would be wrong without \
it. \
No clean-up on the way, no new dependency unasked.
- Changes that the person made meanwhile stay. Nothing is staged, committed or pushed unless they ask for it.
- Verify with what the project has: its tests, its type checker, its linter, the narrowest that tells. Say what you \
ran \
and what came out; say so too if nothing was run."""

_LEGACY_WORK: Final = """\
# How work is done
If the person asks a question, answer it and change nothing. If they ask for a change, take these steps:
1. Understand. Find the code that decides, its callers and its tests, and read them. Do not rely on file names.
2. Plan. Work out the smallest change that is whole, with its tests and documents. If it is large, tell the plan in a \
few lines first. If the request can mean two things, ask which.
3. Change. Keep to the plan. Mend the cause, not the place where it shows. No clean-up on the way, no new dependency \
unasked. Changes that the person made meanwhile stay.
4. Verify. Find out how the project runs its tests, type checker and linter (its README, its manifest, its scripts), \
run \
the narrowest that tells, and mend what you broke. Do not weaken a test to make it pass.
5. Report. Say what changed, what you ran and what came out; say so too if nothing was run.
Nothing is staged, committed or pushed unless the person asks for it."""

_WORK_WITHOUT_TOOLS: Final = """\
# How work is done
- A question gets an answer; code is proposed where a change was asked for or where it says it best.
- Propose the smallest change that is whole, tests included, and mend the cause, not the place where it shows.
- Say how the person can check it: which test or command, and what should come out."""


def workflows_section(family: Family, tools: Collection[str], *, can_change: bool) -> str:
    """The way from a request to its result; empty in the short wording."""
    if family == "short":
        return ""
    if not tools or not can_change:
        return _WORK_WITHOUT_TOOLS
    return _LEGACY_WORK if family == "legacy" else _MODERN_WORK


KNOW_WITH_TOOLS: Final = """\
- Know before you say: where the answer depends on a file, a version or a result, look it up, or say that you have not \
seen it. Never fill the gap with invented code, names, outputs or test results."""

KNOW_WITHOUT_TOOLS: Final = """\
- You know of this project only what stands in this conversation: what the editor shows, what was quoted, what was \
said. \
Where the answer depends on a file, a version or a result that you have not been shown, say which, and ask for it. \
Never \
fill the gap with invented code, names, outputs or test results."""


def subagents_section(subagents: Sequence[tuple[str, str]]) -> str:
    """Name and purpose of each; empty where there are none."""
    if not subagents:
        return ""
    listed = (f"- `{one_line(name)}`: {one_line(purpose)}" for name, purpose in subagents)
    return "\n".join(
        (
            "# Subagents",
            "Work that reads much and comes to a short result can be handed to one of these. It does not see this"
            " conversation: give it all that it needs, and check what it reports.",
            *listed,
        )
    )


def final_reminder(family: Family, tools: Collection[str]) -> str:
    """The last word; empty in the short wording."""
    if family == "short":
        return ""
    if not tools:
        return "Where something is missing that changes the answer, ask for it first; otherwise answer now."
    text = (
        "Go on until the request is done, or until it needs a decision that is the person's. Then end your turn with"
        " where it stands."
    )
    return text if family == "modern" else f"{text} Do not end it with a promise of what you will do next: do it."
