"""What a turn's requests have of memory: told once, told again when it left the view, and never at a call's expense."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.adapters.memory.files import DiskMemoryFiles
from gemini_companion.engine.history.log import ResumeEntry
from gemini_companion.engine.memory.tiers import MemoryFile
from gemini_companion.sessions.memory.port import MemoryRead, MemoryWish
from gemini_companion.sessions.memory.service import MemoryService
from gemini_companion.sessions.models.port import ModelRequest
from gemini_companion.tools.tool import Proposal, ToolContext, Touched
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import calls
from tests.support.sessions import Studio


class Touching(SampleTool):
    """A read that touches the file it is given."""

    async def propose(self, args: SampleArgs, context: ToolContext) -> Proposal:
        return Proposal(title="Read", touched=(Touched(path=args.file_path, how="read"),))


class Failing(DiskMemoryFiles):
    """A disk that fails."""

    async def around(self, paths: Iterable[str], wish: MemoryWish) -> tuple[MemoryFile, ...]:
        raise OSError(5, "I/O error")

    async def read(self, wish: MemoryWish) -> MemoryRead:
        raise OSError(5, "I/O error")


class Desk:
    """A studio with memory files in a folder below the project."""

    def __init__(self, base: Path, files: type[DiskMemoryFiles] = DiskMemoryFiles) -> None:
        self.project = base / "project"
        self.folder = self.project / "docs"
        self.folder.mkdir(parents=True)
        self.rules = self.folder / "GEMINI.md"
        self.rules.write_text("Short answers.", "utf-8")
        (self.project / "GEMINI.md").write_text("Four spaces.", "utf-8")
        self.read = Touching("read_file", "read")
        self.studio = Studio(base, tools=[self.read], tooling=allowing())
        services = self.studio.services
        self.memory = services.memory = MemoryService(
            files(base / "home"),
            settings=services.settings,
            folders=lambda: [str(self.project)],
            trusted=services.trusted,
        )

    def call(self, *names: str) -> Any:
        return calls(*(("read_file", {"file_path": str(self.folder / name)}) for name in names))

    @property
    def requests(self) -> list[ModelRequest]:
        return self.studio.model.main()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def told(request: ModelRequest) -> list[str]:
    """The memory in each function response of a request that has some."""
    found = [
        part["functionResponse"]["response"]
        for content in request.contents
        for part in content.parts
        if "functionResponse" in part
    ]
    return [each["text"] for response in found for each in response.get("memory", [])]


async def test_reads_side_by_side_tell_a_file_once(desk: Desk):
    desk.studio.model.streams = [desk.call("a", "b", "c"), "Done."]
    await desk.studio.chat("Look.")
    assert told(desk.requests[-1]) == ["Short answers."]


async def test_a_later_turn_is_not_told_again_but_of_a_change(desk: Desk):
    desk.studio.model.streams = [desk.call("a"), "Done.", desk.call("b"), "Done.", desk.call("c"), "Done."]
    await desk.studio.chat("Look.")
    await desk.studio.chat("Look.")
    assert told(desk.requests[-1]) == ["Short answers."]
    desk.rules.write_text("Long answers.", "utf-8")
    await desk.studio.chat("Look.")
    assert told(desk.requests[-1]) == ["Short answers.", "Long answers."]


async def test_what_a_turn_was_told_that_is_replaced_is_told_again(desk: Desk):
    desk.studio.model.streams = [desk.call("a"), "Done.", desk.call("a"), "Done."]
    first = await desk.studio.chat("Look.")
    await desk.studio.chat("Look.", replaces=first.turn_id)
    assert told(desk.requests[-1]) == ["Short answers."]


async def test_a_session_that_is_opened_again_knows_what_its_model_was_told(desk: Desk):
    desk.studio.model.streams = [desk.call("a"), "Done.", desk.call("b"), "Done."]
    result = await desk.studio.chat("Look.")
    fork = await desk.studio.app.fork(desk.studio.client, result.session_id, None)
    await desk.studio.chat("Look.", session_id=fork.session_id)
    assert told(desk.requests[-1]) == ["Short answers."]


async def test_a_call_has_its_result_though_memory_cannot_be_read(tmp_path: Path):
    desk = Desk(tmp_path, Failing)
    desk.studio.model.streams = [desk.call("a"), "Done."]
    result = await desk.studio.chat("Look.")
    assert result.text.strip() == "Done."
    (response,) = [part["functionResponse"] for part in desk.requests[-1].contents[-1].parts]
    assert response["response"] == {"output": f"read_file {desk.folder / 'a'}"}


async def test_a_model_without_tools_has_all_of_it_in_the_environment(desk: Desk):
    desk.studio.services.ports = None
    desk.studio.model.streams = ["Yes."]
    await desk.studio.chat("Look.")
    first = str(desk.requests[0].contents[0].parts[0]["text"])
    assert ("Four spaces." in first, "Short answers." in first) == (True, True)


async def test_an_own_system_instruction_stays_as_it_is(desk: Desk):
    own = desk.project.parent / "home" / ".gemini" / "GEMINI.md"
    own.parent.mkdir(parents=True)
    own.write_text("Likes tea.", "utf-8")
    await desk.studio.app.new_session(desk.studio.client, system_instruction="Be a pirate.")
    await desk.studio.chat("Hi.")
    assert desk.requests[0].system_instruction == "Be a pirate."
    await desk.studio.app.new_session(desk.studio.client)
    await desk.studio.chat("Hi.")
    assert "Likes tea." in (desk.requests[1].system_instruction or "")


async def test_the_epoch_rises_once_for_a_change_and_never_without_one(desk: Desk):
    for _ in range(3):
        await desk.studio.chat("Hi.")
    session = await desk.studio.session()
    before = session.history.epoch
    (desk.project / "GEMINI.md").write_text("Two spaces.", "utf-8")
    (desk.project / "AGENTS.md").write_text("And no tabs.", "utf-8")
    for _ in range(3):
        await desk.studio.chat("Hi.")
    assert session.history.epoch == before + 1
    entries = [entry for entry in session.history.entries if isinstance(entry, ResumeEntry)]
    assert [entry.reason for entry in entries] == ["memory"]
    assert desk.requests[-1].contents[0] == desk.requests[-3].contents[0]
    assert "And no tabs." in str(desk.requests[-1].contents[0])


async def test_the_breakdown_counts_memory_by_itself_and_the_sum_stays(desk: Desk):
    await desk.studio.chat("Hi.")
    session = await desk.studio.session()
    (desk.project / "GEMINI.md").write_text("Four spaces. " * 500, "utf-8")
    before = session.parts()
    await desk.studio.chat("Hi.")
    after = session.parts()
    assert after.memory - before.memory > 1_000
    assert abs(after.environment - before.environment) < 20
    assert after.surroundings == after.system_instruction + after.tools + after.environment + after.memory
