"""`activate_skill`: the instructions of a skill, or a file that they name. The person is asked, once for each skill."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from gemini_companion.engine.skills.telling import MAX_BODY, activated_skill
from gemini_companion.tools.counting import counted
from gemini_companion.tools.skills import SkillShelf, SkillText
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, ToolRefusal

ACTIVATE_SKILL: Final = "activate_skill"


class ActivateSkillArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `activate_skill` is called with."""

    name: Annotated[str, Meta(min_length=1, max_length=200, description="The skill's name, as it is listed.")]
    file: Annotated[
        str,
        Meta(
            max_length=4_096,
            description="A file of the skill that its instructions or its list of resources name, to be read in place"
            " of the instructions; relative to the skill's folder.",
        ),
    ] = ""


class ActivateSkill:
    """Reads what the person, the project or an extension wrote for one kind of work."""

    name: str = ACTIVATE_SKILL
    aliases: tuple[str, ...] = ()
    description: str = (
        "Get the instructions of one of the skills that are listed, before you begin work of its kind. The answer also"
        " names the files that come with the skill; call this again with `file` to read one. The person may be asked."
    )
    arguments: type[ActivateSkillArguments] = ActivateSkillArguments
    risk: Risk = "read"
    shape: Shape = "text"

    async def propose(self, args: ActivateSkillArguments, context: ToolContext) -> Proposal:
        """Find it. Raises `ToolRefusal`."""
        found = await _found(args, context)
        title = f"Read {args.file} of the skill {found.name}" if args.file else f"Use the skill {found.name}"
        warnings = () if found.is_active else (f"It is {found.whose}: {found.description}", f"It reads {found.path}.")
        return Proposal(
            title=title,
            warnings=warnings,
            asks="" if found.is_active else f"what the skill {found.name} says becomes part of this chat",
            state=found,
        )

    async def run(self, args: ActivateSkillArguments, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """What it says, as it was proposed."""
        found: SkillText = proposal.state
        lines = counted(found.text.count("\n") + 1, "line")
        if args.file:
            return ToolOutput(output=found.text or "(the file is empty)", summary=lines, source=found.path)
        if not found.text:
            raise ToolRefusal(f"The skill {found.name} has no instructions: its SKILL.md says nothing.")
        shown = f"{lines}, cut" if len(found.text) > MAX_BODY else lines
        return ToolOutput(
            output=activated_skill(found.name, found.text, found.resources, more=found.more), summary=shown
        )


async def _found(args: ActivateSkillArguments, context: ToolContext) -> SkillText:
    shelf: SkillShelf | None = context.ports.skills
    if shelf is None:
        raise ToolRefusal("There are no skills here.")
    return await (shelf.file(args.name, args.file) if args.file else shelf.skill(args.name))
