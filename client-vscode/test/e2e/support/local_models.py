"""Writes the local models of the scenes: `python local_models.py FOLDER`.

| file | what it answers |
| --- | --- |
| `noise.gguf` | words at random, the same each time: it ends, and a scene has no time for more |
| `wordy.gguf` | a snapshot that is larger than what it stands for |
| `terse.gguf` | a snapshot that says next to nothing |
| `telling.gguf` | a snapshot that names what the prompts of the scene are about |
"""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from gemini_companion.engine.compression.instructions import SYSTEM_INSTRUCTION
from gemini_companion.engine.prompts import wording
from tests.support.tiny_gguf import WORDS as RANDOM_WORDS
from tests.support.tiny_gguf import write_parrot_gguf

TERSE = """<state_snapshot>
<overall_goal>Work on the program.</overall_goal>
<active_constraints>Be careful with it.</active_constraints>
<key_knowledge>It is written in some language.</key_knowledge>
<artifact_trail>Several files were looked at.</artifact_trail>
<file_system_state>There are folders with files in them.</file_system_state>
<recent_actions>Things were tried, one after the other.</recent_actions>
<task_state>Some of it is done, more is to do.</task_state>
</state_snapshot>
"""
TELLING = TERSE.replace(
    "Several files were looked at.",
    " ".join(f"src/part_{step}.py src/table_{step}.py src/case_{step}.py" for step in range(1, 31)),
)
WORDY = TELLING.replace(
    "It is written in some language.",
    " ".join(f"Number {number} of what is known is that {number * 37} follows {number * 31}." for number in range(300)),
)
WORDS = re.findall(r"[A-Za-z]{2,}", " ".join((*wording.SHORT.values(), SYSTEM_INSTRUCTION, WORDY, TELLING)))
"""The words of the prompts are tokens of their own: spelled out they would take minutes to read."""
NOISE = "\n".join(" ".join(random.Random(line).choices(RANDOM_WORDS, k=9)) for line in range(6))


def main(folder: Path) -> None:
    """Write them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("noise", NOISE), ("wordy", WORDY), ("terse", TERSE), ("telling", TELLING)):
        write_parrot_gguf(folder / f"{name}.gguf", text, words=WORDS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
