"""The system instruction is made of sections that can be left out, and is worded for what the model can do."""

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.prompts.system import (
    OLDER_NAMES,
    SECTIONS,
    PromptFacts,
    prompt_sections,
    system_instruction,
)
from gemini_companion.engine.prompts.wording import family_of
from gemini_companion.engine.tokens.lexical import LexicalTokenCounter

TOOLS = [
    *("read_file", "grep_search", "glob", "replace", "write_file", "run_shell_command", "diagnostics"),
    *(
        "write_todos",
        "ask_user",
        "recall",
        "exit_plan_mode",
        "google_web_search",
        "web_fetch",
        "activate_skill",
        "invoke_agent",
    ),
]
READING = ("read_file", "grep_search", "ask_user", "exit_plan_mode")
FULL = PromptFacts(
    model="gemini-3-pro-preview",
    tools=tuple(TOOLS),
    subagents=(("investigator", "Finds out how code works."),),
    skills="# Skills\n- letters: How to write letters",
    memory="--- Global ---\nIndent by two.",
    git_state="# The repository\n- Branch: main",
)
WITHOUT_TOOLS = PromptFacts(model="gemini-3-pro-preview")
VARIANTS = [
    FULL,
    WITHOUT_TOOLS,
    PromptFacts(model="gemini-2.5-pro", tools=tuple(TOOLS)),
    PromptFacts(model="gemini-2.5-flash"),
    PromptFacts(model="gemini-2.5-pro", tools=READING, is_planning=True),
    PromptFacts(model="gemini-3-pro-preview", tools=READING, is_trusted=False),
    PromptFacts(model="qwen", is_local=True, tools=tuple(TOOLS)),
    PromptFacts(is_local=True),
]
names = st.sampled_from(sorted(SECTIONS))


def tokens(text: str) -> float:
    return LexicalTokenCounter().count_text(text)


def test_every_section_stands_in_it_by_default_in_order():
    assert list(prompt_sections(FULL, {}, {})) == list(SECTIONS)
    assert system_instruction(FULL, {}, {}) == "\n\n".join(prompt_sections(FULL, {}, {}).values())


@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.parametrize("value", ["0", "false", " FALSE "])
def test_each_section_can_be_turned_off_from_the_environment(name: str, value: str):
    found = prompt_sections(FULL, {}, {f"GEMINI_PROMPT_{name.upper()}": value})
    assert list(found) == [section for section in SECTIONS if section != name]


@given(st.dictionaries(names, st.booleans()), st.dictionaries(names, st.sampled_from(["0", "1", "false", "true", ""])))
def test_the_environment_goes_over_the_settings(sections: dict[str, bool], said: dict[str, str]):
    found = prompt_sections(FULL, sections, {f"GEMINI_PROMPT_{name.upper()}": value for name, value in said.items()})
    for name in SECTIONS:
        wanted = {"0": False, "false": False, "1": True, "true": True}.get(said.get(name, ""), sections.get(name, True))
        assert (name in found) is wanted


@pytest.mark.parametrize(("name", "older"), [(name, older) for name, all_ in OLDER_NAMES.items() for older in all_])
def test_a_sections_former_name_and_that_of_gemini_cli_switch_it_too(name: str, older: str):
    assert name not in prompt_sections(FULL, {older: False}, {})
    assert name not in prompt_sections(FULL, {}, {f"GEMINI_PROMPT_{older.upper()}": "0"})
    assert name in prompt_sections(FULL, {older: False}, {f"GEMINI_PROMPT_{name.upper()}": "1"})


def test_with_every_section_off_it_is_empty():
    assert system_instruction(FULL, dict.fromkeys(SECTIONS, False), {}) == ""


@pytest.mark.parametrize(
    ("model", "is_local", "family"),
    [
        ("gemini-2.5-pro", False, "legacy"),
        ("gemini-1.5-flash", False, "legacy"),
        ("projects/p/locations/l/publishers/google/models/gemini-2.0-flash", False, "legacy"),
        ("gemma-3-27b-it", False, "legacy"),
        ("gemini-3-pro-preview", False, "modern"),
        ("gemini-3.5-flash", False, "modern"),
        ("a-model-of-tomorrow", False, "modern"),
        ("gemini-2.5-pro", True, "short"),
    ],
)
def test_the_wording_goes_by_the_family_of_the_model(model: str, is_local: bool, family: str):
    assert family_of(model, is_local=is_local) == family


def test_modern_and_legacy_wording_say_the_same_things_in_their_own_way():
    legacy = PromptFacts(model="gemini-2.5-pro", tools=tuple(TOOLS))
    modern = PromptFacts(model="gemini-3-pro-preview", tools=tuple(TOOLS))
    assert list(prompt_sections(legacy, {}, {})) == list(prompt_sections(modern, {}, {}))
    assert prompt_sections(legacy, {}, {})["workflows"] != prompt_sections(modern, {}, {})["workflows"]


@pytest.mark.parametrize("facts", VARIANTS)
def test_only_tools_that_can_be_called_are_named(facts: PromptFacts):
    text = system_instruction(facts, {}, {})
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+|glob|recall|replace|diagnostics)`", text)) & set(TOOLS)
    assert named <= set(facts.tools)


def test_without_tools_it_promises_none():
    text = system_instruction(WITHOUT_TOOLS, {}, {})
    assert not re.search(
        r"\b(tools?|read_file|run_shell_command|you can (open|run|edit|search))\b", text, re.IGNORECASE
    )
    assert "ask for it" in text


def test_plan_mode_is_told_and_asks_for_no_change():
    text = system_instruction(PromptFacts(model="gemini-3-pro-preview", tools=READING, is_planning=True), {}, {})
    assert "plan mode" in text
    assert "`exit_plan_mode`" in text
    assert "plan mode" not in system_instruction(FULL, {}, {})


def test_it_is_told_that_a_workspace_is_not_trusted():
    untrusted = PromptFacts(model="gemini-3-pro-preview", tools=READING, is_trusted=False)
    assert "can be trusted" in prompt_sections(untrusted, {}, {})["trust"]
    assert "can be trusted" not in prompt_sections(FULL, {}, {})["trust"]


def test_it_explains_the_snapshot_and_that_its_constraints_and_pins_bind():
    for facts in VARIANTS:
        notice = prompt_sections(facts, {}, {})["compression_notice"]
        assert "<state_snapshot>" in notice
        assert "<active_constraints>" in notice
        assert "pinned" in notice


@pytest.mark.parametrize("facts", VARIANTS)
def test_no_sentence_stands_in_it_twice(facts: PromptFacts):
    sentences = re.findall(r"[A-Z][^.!?]{25,}[.!?]", system_instruction(facts, {}, {}))
    assert len(sentences) == len(set(sentences))


@pytest.mark.parametrize("facts", VARIANTS)
def test_it_stays_small_beside_a_conversation(facts: PromptFacts):
    assert tokens(system_instruction(facts, {}, {})) < (500 if facts.is_local else 2_500)


@pytest.mark.parametrize("facts", VARIANTS)
def test_the_same_facts_give_the_same_bytes(facts: PromptFacts):
    again = msgspec.json.decode(msgspec.json.encode(facts), type=PromptFacts)
    assert system_instruction(facts, {}, {}) == system_instruction(again, {}, {})
