"""A piece of work over stdio with the real tools: reading, searching, an edit that the person corrects, commands.

The daemon is killed at every place of it, and the work goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_story import BROKEN, CORRECTED, MENDED, RUN, Person, Studio, Worker
from tests.support.editor_client import Editor
from tests.support.emulator import Emulator, Gate
from tests.support.patience import PATIENCE

WORK, NOTE, ENDLESS = "Make `double` right.", "Write a note about it.", "Wait for ever."
CHECKED = f"Run {RUN}"

Begin = Callable[["Stage"], Awaitable[None]]


class Stage:
    """A daemon on which the story has begun."""

    def __init__(self, studio: Studio, worker: Worker, person: Person, spoken: Editor) -> None:
        self.studio, self.worker, self.person, self.spoken = studio, worker, person, spoken

    async def held_at(self, step: str) -> None:
        """Begin, and wait until the model is asked for this step."""
        gate = self.worker.gates[step] = Gate()
        self.spoken.start("gemini/chat", {"prompt": WORK})
        await gate.wait_reached()

    async def asked_to(self, title: str) -> None:
        """Begin, and wait until the person is asked this; they say nothing."""
        self.person.silent_at.add(title)
        self.spoken.start("gemini/chat", {"prompt": WORK})
        await self.person.is_asked(title)

    async def running(self) -> None:
        """Begin, and wait until the command runs."""
        self.studio.hold.touch()
        self.spoken.start("gemini/chat", {"prompt": WORK})
        await self.spoken.wait_for("toolCallProgress")


@pytest.fixture
def worker(emulator: Emulator) -> Worker:
    emulator.responder = worker = Worker()
    return worker


@pytest.fixture
def studio(tmp_path: Path, gemini_environment: dict[str, str]) -> Studio:
    return Studio(tmp_path, gemini_environment)


def results_of(emulator: Emulator) -> dict[str, dict[str, Any]]:
    """What the model was told last of each call."""
    asked = emulator.asked("streamGenerateContent")
    return {one["id"]: one["response"] for request in asked for one in request.responses}


async def test_the_model_reads_edits_as_corrected_runs_sees_it_fail_and_mends(
    studio: Studio, worker: Worker, emulator: Emulator
) -> None:
    person = Person()
    async with studio.daemon(person) as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": WORK})
        assert result["text"].endswith("It doubles now.")
        told = results_of(emulator)
        assert told["look/0"]["output"] == BROKEN
        assert "4: def double(number):" in told["look/1"]["output"]
        assert "+    return number * 3" in told["edit/0"]["note"]
        assert "double(2) is 6" in told["check/0"]["output"]
        assert "Exit code: 1" in told["check/0"]["output"]
        assert "all is well" in told["check again/0"]["output"]
        assert [one["title"] for one in person.asked] == ["Overwrite calc.py", CHECKED, "Edit calc.py", CHECKED]
        assert studio.calc.read_text("utf-8") == MENDED
        assert await studio.records(spoken) == [
            *(("read_file", "ok"), ("grep_search", "ok"), ("write_file", "ok")),
            *(("run_shell_command", "failed"), ("replace", "ok"), ("run_shell_command", "ok")),
        ]
    assert emulator.malformed == []


PLACES: dict[str, tuple[Begin, str, set[tuple[str, str]]]] = {
    "behind what was read": (lambda stage: stage.held_at("edit"), BROKEN, set()),
    "asked about an edit": (lambda stage: stage.asked_to("Overwrite calc.py"), BROKEN, set()),
    "behind an edit": (lambda stage: stage.held_at("check"), CORRECTED, set()),
    "asked about a command": (lambda stage: stage.asked_to(CHECKED), CORRECTED, set()),
    "while a command runs": (lambda stage: stage.running(), CORRECTED, {("run_shell_command", "interrupted")}),
    "behind a command that failed": (lambda stage: stage.held_at("mend"), CORRECTED, set()),
    "asked to mend": (lambda stage: stage.asked_to("Edit calc.py"), CORRECTED, set()),
    "before the last words": (lambda stage: stage.held_at("done"), MENDED, set()),
}
"""Where the daemon is killed: how to get there, what the file holds then, calls that are known to be interrupted."""


IN_SHORT = ("asked about a command", "while a command runs", "behind a command that failed")
"""After a change: with a question open, with a command under way, with nothing open; the rest is thorough."""


@pytest.mark.parametrize(
    "place", [pytest.param(place, marks=[] if place in IN_SHORT else [pytest.mark.thorough]) for place in PLACES]
)
async def test_the_work_goes_on_where_the_daemon_was_killed(
    place: str, studio: Studio, worker: Worker, emulator: Emulator
) -> None:
    begin, text, interrupted = PLACES[place]
    person = Person()
    async with studio.daemon(person) as spoken:
        await begin(Stage(studio, worker, person, spoken))
        await spoken.kill()
    assert studio.calc.read_text("utf-8") == text
    studio.hold.unlink(missing_ok=True)
    emulator.release()
    again = Person()
    async with studio.daemon(again) as spoken:
        if person.silent_at:  # an open question comes again by itself
            await spoken.wait_for("turnCompleted")
        else:
            await spoken.ask("gemini/chat/resume")
        assert studio.calc.read_text("utf-8") == MENDED
        records = await studio.records(spoken)
        assert set(records) - interrupted == {
            *(("read_file", "ok"), ("grep_search", "ok"), ("write_file", "ok")),
            *(("run_shell_command", "failed"), ("replace", "ok"), ("run_shell_command", "ok")),
        }
        assert [name for name, _ in records].count("write_file") == 1
        assert [name for name, _ in records].count("replace") == 1
        items = await studio.transcript(spoken)
        assert [item["kind"] for item in items][-1] == "reply"
        assert [item["kind"] for item in items].count("prompt") == 1
    answered = person.asked[:-1] if person.silent_at else person.asked
    once = [one["title"] for one in (*answered, *again.asked)]
    assert once.count("Overwrite calc.py") == 1
    assert once.count(CHECKED) == 2 + len(interrupted)
    assert emulator.malformed == []


async def test_a_prompt_whose_answer_had_not_begun_when_the_daemon_was_killed_is_asked_anew(
    studio: Studio, worker: Worker, emulator: Emulator
) -> None:
    person = Person()
    async with studio.daemon(person) as spoken:
        await Stage(studio, worker, person, spoken).held_at("look")
        await spoken.kill()
    emulator.release()
    async with studio.daemon(person) as spoken:
        await spoken.ask("gemini/chat", {"prompt": WORK})
        assert studio.calc.read_text("utf-8") == MENDED
    assert emulator.malformed == []


async def test_work_that_was_stopped_half_way_is_taken_back_with_its_files_two_turns_at_once(
    studio: Studio, worker: Worker, emulator: Emulator
) -> None:
    async with studio.daemon(Person()) as spoken:
        first = await spoken.ask("gemini/chat", {"prompt": WORK})
        await spoken.ask("gemini/chat", {"prompt": NOTE})
        stopped = spoken.start("gemini/chat", {"prompt": ENDLESS})
        count = len(spoken.of("toolCallProgress"))
        await spoken.wait_for("toolCallProgress", count + 1)
        assert (await spoken.ask("gemini/cancel", {}))["cancelled"]
        with pytest.raises(Exception, match="cancelled"):
            await stopped
        async with asyncio.timeout(PATIENCE):
            while (await spoken.ask("gemini/commands"))["commands"]:
                pass
        await spoken.kill()
    async with studio.daemon(Person()) as spoken:
        assert (await studio.records(spoken))[-1] == ("run_shell_command", "interrupted")
        changed = {Path(one["path"]).name for one in (await spoken.ask("gemini/changes"))["changes"]}
        assert changed == {"calc.py", "NOTES.md"}
        reverted = await spoken.ask("gemini/changes/revert", {"since": first["turnId"]})
        assert reverted["conflicts"] == []
        assert {Path(path).name for path in reverted["reverted"]} == changed
        assert studio.calc.read_text("utf-8") == BROKEN
        assert not (studio.workspace / "NOTES.md").exists()
        await spoken.kill()
    async with studio.daemon(Person()) as spoken:
        again = await spoken.ask("gemini/changes/revert", {"changeId": reverted["changeId"]})
        assert again["conflicts"] == []
        assert studio.calc.read_text("utf-8") == MENDED
        assert (studio.workspace / "NOTES.md").exists()
    assert emulator.malformed == []
