"""Who gets which name, and what a typed line is."""

import pytest

from gemini_companion.engine.commands.arguments import escaped_name, typed
from gemini_companion.engine.commands.naming import Named, flattened, name_of_path, name_of_prompt, resolved


def test_every_command_has_a_name_of_its_own_whoever_has_the_same():
    wanted = [
        Named("x", "server", "S"),
        Named("x", "extension", "e"),
        Named("x", "user"),
        Named("x", "workspace"),
        Named("help", "user"),
        Named("compress", "builtIn"),
        Named("compress", "workspace"),
        Named("alone", "extension", "e"),
    ]
    assert resolved(wanted) == [
        ("S.x",),
        ("e:x",),
        ("user.x",),
        ("x", "workspace.x"),
        ("user.help",),
        ("compress",),
        ("workspace.compress",),
        ("alone",),
    ]


def test_a_second_command_of_one_place_and_name_has_none():
    assert resolved([Named("x", "workspace"), Named("x", "workspace")]) == [("x", "workspace.x"), ()]


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (["git", "commit"], "git:commit"),
        (["a b"], "a_b"),
        (["x" * 60], "x" * 47 + "..."),
        (["-x"], "_x"),
        (["ü"], "_"),
    ],
)
def test_a_name_is_the_files_path(parts: list[str], name: str):
    assert name_of_path(parts) == name
    assert typed(f"/{name} a") is not None


@pytest.mark.parametrize(
    ("wire", "name"),
    [("write a poem", "write-a-poem"), ("git:log", "git:log"), ("a/b", "a_b"), ("é x", "_-x"), ("-x", "_x")],
)
def test_the_name_of_a_servers_prompt_can_be_typed(wire: str, name: str):
    assert name_of_prompt(wire) == name
    assert typed(f"/{name} a") is not None


def test_a_description_is_one_plain_line():
    assert flattened("one\ntwo\t\x1b[31mred\x1b]0;t\x07\u202e\u200bx") == "one two red0;t x"
    assert len(flattened("d" * 10**6)) == 100


@pytest.mark.parametrize("text", ["/etc/hosts", "// x", "/", "x /y", "/ü", "/-x", "", "/a/b c"])
def test_what_is_no_command(text: str):
    assert typed(text) is None


def test_a_command_and_what_follows_it():
    found = typed("  /git:commit.x  fix\nthis  ")
    assert found is not None
    assert (found.name, found.arguments) == ("git:commit.x", "fix\nthis")
    assert escaped_name("//git:commit now") == "git:commit"
    assert escaped_name("// comment") is None
