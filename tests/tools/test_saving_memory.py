"""`save_memory`: always asked, with the diff; nothing is written over what changed meanwhile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from gemini_companion.engine.history.tool_entries import Mode, ToolRule
from gemini_companion.tools.memory import KeptFact
from gemini_companion.tools.notes.save_memory import SaveMemory, SaveMemoryArgs, Scope
from gemini_companion.tools.policy.decide import Asked, decide
from gemini_companion.tools.policy.rules import SourcedRule
from gemini_companion.tools.tool import Proposal, ToolContext, ToolRefusal
from tests.support.policy import situation
from tests.support.tool_contexts import Desk


class Notebook:
    """A `MemoryKeeper` that keeps facts in a list."""

    file_name = "GEMINI.md"

    def __init__(self) -> None:
        self.kept: list[object] = []

    async def propose(self, fact: str) -> KeptFact:
        return KeptFact(path="/home/me/.gemini/GEMINI.md", diff=f"+- {fact}", edit=fact)

    async def keep(self, fact: KeptFact) -> None:
        self.kept.append(fact.edit)


class Case:
    """The tool in a workspace."""

    def __init__(self, root: Path) -> None:
        self.root, self.desk, self.notebook, self.tool = root, Desk(root), Notebook(), SaveMemory()
        self.file = root / "GEMINI.md"

    @property
    def context(self) -> ToolContext:
        context = self.desk.context()
        context.ports = replace(context.ports, keeper=self.notebook)
        return context

    async def propose(self, scope: Scope, fact: str = "Likes tea.") -> Proposal:
        return await self.tool.propose(SaveMemoryArgs(fact=fact, scope=scope), self.context)

    async def run(self, proposal: Proposal, scope: Scope) -> str:
        output = await self.tool.run(SaveMemoryArgs(fact="Likes tea.", scope=scope), proposal, self.context)
        return output.output


@pytest.fixture
def case(tmp_path: Path) -> Case:
    root = tmp_path / "app"
    root.mkdir()
    return Case(root.resolve())


@pytest.mark.parametrize("mode", get_args(Mode))
@pytest.mark.parametrize("scope", get_args(Scope))
async def test_no_mode_and_no_rule_keeps_a_fact_unasked(case: Case, scope: Scope, mode: Mode):
    proposal = await case.propose(scope)
    allowing = [
        SourcedRule(rule=ToolRule(tool=tool, decision="allow", path=path), source="user")
        for tool in ("save_memory", "*")
        for path in (None, "GEMINI.md", "*")
    ]
    ruling = decide(Asked(names=("save_memory",), risk="edit", proposal=proposal), situation(*allowing, mode=mode))
    assert ruling.decision == ("deny" if mode == "plan" else "ask")
    assert "+- Likes tea." in (proposal.diff or "")


async def test_the_projects_file_is_changed_and_can_be_taken_back(case: Case):
    case.file.write_text("# Rules\n", "utf-8")
    proposal = await case.propose("project")
    assert [(touched.path, touched.how) for touched in proposal.touched] == [(str(case.file), "write")]
    assert await case.run(proposal, "project") == "Kept in GEMINI.md."
    assert case.file.read_text("utf-8") == "# Rules\n\n## Gemini Added Memories\n- Likes tea.\n"


async def test_a_file_that_is_open_with_unsaved_edits_gets_the_fact_there(case: Case):
    case.file.write_text("# Rules\n", "utf-8")
    case.desk.editor.open(case.file, "# Rules, edited\n")
    await case.run(await case.propose("project"), "project")
    assert case.desk.editor.buffers[str(case.file)].text.startswith("# Rules, edited\n")
    assert "- Likes tea." in case.desk.editor.buffers[str(case.file)].text
    assert case.file.read_text("utf-8") == "# Rules\n"


async def test_a_file_that_changed_while_the_question_was_open_is_left_alone(case: Case):
    case.file.write_text("old\n", "utf-8")
    proposal = await case.propose("project")
    case.file.write_text("new\n", "utf-8")
    with pytest.raises(ToolRefusal, match="has changed"):
        await case.run(proposal, "project")
    assert case.file.read_text("utf-8") == "new\n"


async def test_the_persons_own_file_is_left_to_the_keeper(case: Case):
    assert await case.run(await case.propose("global"), "global") == "Kept for every project."
    assert case.notebook.kept == ["Likes tea."]


async def test_an_empty_fact_and_a_place_without_memory_are_refused(case: Case):
    with pytest.raises(ToolRefusal, match="no fact"):
        await case.propose("global", " - ")
    with pytest.raises(ToolRefusal, match="no memory files"):
        await case.tool.propose(SaveMemoryArgs(fact="x"), case.desk.context())


@pytest.mark.parametrize("scope", get_args(Scope))
async def test_a_fact_with_a_secret_is_not_kept(case: Case, scope: Scope) -> None:
    with pytest.raises(ToolRefusal, match="holds a secret"):
        await case.propose(scope, "The token is ghp_" + "Zx9Kq2LmT7vBn4RwYc8Hd3Jf6Gs1Pa5Ue0Xi")
    assert not case.file.exists()
