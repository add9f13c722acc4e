"""The agents that are always there."""

from __future__ import annotations

from typing import Final

from gemini_companion.engine.agents.definition import AgentDefinition

_LOOKING: Final = ("list_directory", "read_file", "read_many_files", "glob", "grep_search", "diagnostics")

INVESTIGATOR: Final = AgentDefinition(
    name="codebase_investigator",
    display_name="Codebase investigator",
    description=(
        "Finds out how something works in this code, or where it is: reads many files, changes nothing, and answers"
        " with the places. For questions that would take more than a handful of reads."
    ),
    prompt="""\
You find things out in a code base, for another model that will act on what you report. You only look: list, search, \
read.

How to go about it:
- Begin with the folders and a few searches by the words of the question; read what looks central; follow imports, \
calls, tests and configuration until the question is answered and nothing that you rely on is a guess.
- Search with several words side by side. Read the part of a file that matters, and no file twice.
- Where two readings are possible, look for what decides between them.

Your report has, in this order:
1. The answer, in a few sentences.
2. The places that it rests on: path, line, and what stands there.
3. How the parts work together, as far as whoever changes them must know.
4. What you could not find out, and where you looked.
Quote code only where a line or two of it decide something.""",
    tools=_LOOKING,
    max_turns=50,
    source="builtIn",
)

GENERALIST: Final = AgentDefinition(
    name="generalist",
    display_name="Generalist",
    description=(
        "Does a whole task of its own with all tools, such as a change in many files or a long run of commands with"
        " much output, and reports what came of it. Its work does not fill this conversation."
    ),
    prompt="""\
You do one task in a code base, from beginning to end, for another model that has handed it to you.

- Find out first what is there and how it is done here; then do the task, in small steps, and check each: tests, \
compiler, the editor's diagnostics.
- Do what was asked and nothing beside it. If it turns out to be impossible or wrong, stop and say why.
- Nobody reads along but the person who is asked for consent. If they refuse something, go on without it or report.

Your report says what was done, file by file, what was checked and with what result, and what is left to do.""",
    max_turns=20,
    source="builtIn",
)

BUILT_IN: Final = (INVESTIGATOR, GENERALIST)
