"""What a person is shown of an MCP server before they agree to it: all of it, in one reading."""

from __future__ import annotations

import shlex
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.mcp.config import ServerDefinition, settled_servers
from gemini_companion.engine.variables import Reference
from gemini_companion.sessions.mcp.listing import shown_server, warnings_of_server

VARIABLES = {
    "KEY": Reference(name="KEY", value="s3cret-key", origin="your environment"),
    "TOKEN": Reference(name="TOKEN", value="s3cret-token", origin="your ~/.gemini/.env"),
}
WORDS = st.text(st.sampled_from("ab= '\"\\$;&|\n\t\u202e\u200b\u0430éAIza-•/:"), max_size=6)
NAMES = st.sampled_from(["PATH", "A", "B"])
STDIO = st.fixed_dictionaries(
    {"command": WORDS.filter(bool), "args": st.lists(WORDS, max_size=3), "env": st.dictionaries(NAMES, WORDS)},
    optional={"cwd": WORDS},
)
HEADER = st.text(st.sampled_from("ab=: '\"\u202e•"), max_size=6)
REMOTE = st.fixed_dictionaries(
    {"url": WORDS.map(lambda word: f"https://h{word}"), "headers": st.dictionaries(NAMES, HEADER)},
    optional={
        "type": st.sampled_from(["sse", "http"]),
        "oauth": st.fixed_dictionaries(
            {}, optional={"clientId": WORDS, "clientSecret": WORDS, "scopes": st.lists(WORDS)}
        ),
    },
)


def server(fields: dict[str, Any], *, personal: bool = False) -> ServerDefinition:
    layer = ("user" if personal else "workspace", personal, {"s": fields})
    (found,) = settled_servers([layer], variables=VARIABLES.get).servers
    return found


def same(one: ServerDefinition, other: ServerDefinition) -> bool:
    """Whether two servers are started, or reached, alike."""

    def order(values: Any) -> list[tuple[str, str]]:
        return list(values.items())

    return one.digest == other.digest and (order(one.env), order(one.headers)) == (
        order(other.env),
        order(other.headers),
    )


@given(st.one_of(STDIO, REMOTE), st.one_of(STDIO, REMOTE))
def test_no_two_servers_are_shown_alike(one: dict[str, Any], other: dict[str, Any]) -> None:
    first, second = server(one), server(other)
    assert (shown_server(first) == shown_server(second)) == same(first, second)


@given(STDIO)
def test_a_shell_reads_the_very_words_back_wherever_they_can_be_seen(fields: dict[str, Any]) -> None:
    shown = shown_server(server(fields))
    if "$'" in shown:
        return
    words = [*(f"{name}={value}" for name, value in fields["env"].items()), fields["command"], *fields["args"]]
    start = ["cd", fields["cwd"], "&&"] if fields.get("cwd") else []
    assert shlex.split(shown) == start + words


def test_what_a_workspace_wrote_is_never_masked() -> None:
    words = ["Bearer ;touch x", "https://;touch x;@h", "--token=touch x", "--token", "touch x", "AIza" + "x" * 30]
    shown = shown_server(server({"command": "bash", "args": words, "env": {"API_KEY": "touch y", "PATH": "/evil"}}))
    assert shlex.split(shown) == ["API_KEY=touch y", "PATH=/evil", "bash", *words]


def test_the_persons_own_is_shown_by_where_it_comes_from_and_never_with_a_value() -> None:
    fields = {
        "command": "npx",
        "args": ["-y", "server", "--token", "s3cret-arg", "--key=$KEY", "--api-key", "$TOKEN"],
        "env": {"TOKEN": "$TOKEN", "PASSWORD": "s3cret-env"},
    }
    one = server(fields, personal=True)
    assert one.args[-3:] == ("--key=s3cret-key", "--api-key", "s3cret-token")
    shown = shown_server(one)
    assert "s3cret" not in shown
    assert "TOKEN='$TOKEN'" in shown
    assert "PASSWORD='(written in your ~/.gemini/settings.json)'" in shown
    assert "'(argument 4 written in your ~/.gemini/settings.json)' '--key=$KEY' --api-key '$TOKEN'" in shown
    assert shown.endswith("# $KEY from your environment, $TOKEN from your ~/.gemini/.env")
    remote = {"url": "https://me:s3cret@h/x?token=$KEY", "headers": {"Authorization": "Bearer $TOKEN", "X": "s3cret"}}
    shown = shown_server(server(remote, personal=True))
    assert "s3cret" not in shown
    assert "header 'Authorization: Bearer $TOKEN'" in shown
    assert "https://h (written in your ~/.gemini/settings.json)" in shown


def test_a_secret_that_becomes_an_argument_is_warned_of_and_in_the_environment_it_is_not() -> None:
    in_args = warnings_of_server(server({"command": "x", "args": ["$KEY"], "env": {"T": "$TOKEN"}}, personal=True))
    assert [warning.split()[0] for warning in in_args] == ["$KEY"]
    assert "Put it into `env`" in in_args[0]


def test_signs_that_cannot_be_seen_and_letters_that_look_like_others_are_warned_of() -> None:
    hidden = warnings_of_server(server({"command": "\u0455\u0441\u043e\u0440\u0435", "args": ["a\u202eb"]}))
    assert any("U+202E" in warning for warning in hidden)
    assert any("\u0455\u0441\u043e\u0440\u0435" in warning for warning in hidden)
    address = warnings_of_server(server({"url": "https://g\u043e\u043egle.com"}))
    assert any("g\u043e\u043egle" in warning for warning in address)
    assert warnings_of_server(server({"command": "uvx", "args": ["mcp-server-git"]})) == ()
