"""Histories to compress: talk, and an agent's run."""

from __future__ import annotations

from gemini_companion.engine.history.content import Content, model_text, user_text


def dialogue(rounds: int = 8, words: int = 200) -> list[Content]:
    contents: list[Content] = []
    for number in range(rounds):
        contents += [
            user_text(f"question {number} " + "word " * words),
            model_text(f"answer {number} " + "text " * words),
        ]
    return contents


def agent_run(rounds: int = 12, words: int = 200) -> list[Content]:
    contents = [user_text("Mend src/parser.py; never touch legacy/.")]
    for number in range(rounds):
        call = {
            "functionCall": {"id": f"c{number}", "name": "run", "args": {"command": f"pytest tests/test_{number}.py"}}
        }
        result = {
            "functionResponse": {
                "id": f"c{number}",
                "name": "run",
                "response": {"output": f"{number} " + "line " * words},
            }
        }
        contents += [
            Content(role="model", parts=({"text": f"step {number}"}, call)),
            Content(role="user", parts=(result,)),
        ]
    return contents
