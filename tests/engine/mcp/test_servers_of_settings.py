"""The servers that settings name: who may name them, what is malformed, which are left out."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_companion.engine.mcp.config import ServerOptions, settled_servers

Layer = tuple[str, bool, dict[str, dict[str, Any]]]


def settled(*layers: Layer, **more: Any) -> ServerOptions:
    return settled_servers(layers, **more)


def test_the_peers_fields_are_read() -> None:
    (stdio, sse, http) = settled(
        (
            "user",
            True,
            {
                "a": {
                    "command": "npx",
                    "args": ["-y", "x"],
                    "env": {"TOKEN": "t"},
                    "cwd": "sub",
                    "timeout": 5_000,
                    "trust": True,
                    "includeTools": ["one", "two(x)"],
                    "excludeTools": ["two"],
                },
                "b": {"url": "http://h/sse", "type": "sse"},
                "c": {
                    "httpUrl": "https://h/mcp",
                    "url": "http://other",
                    "headers": {"X-A": "b"},
                    "oauth": {"scopes": ["s"]},
                },
            },
        )
    ).servers
    assert (stdio.command, stdio.args, stdio.env, stdio.cwd, stdio.seconds, stdio.is_trusted) == (
        "npx",
        ("-y", "x"),
        {"TOKEN": "t"},
        "sub",
        5.0,
        True,
    )
    assert [stdio.offers(tool) for tool in ("one", "two", "three")] == [True, False, False]
    assert (sse.transport, http.transport, http.url, http.oauth.scopes) == ("sse", "http", "https://h/mcp", ("s",))


@pytest.mark.parametrize("off", [{"disabled": True}, {"enabled": False}])
def test_a_server_that_is_switched_off_is_not_there_and_a_later_layer_switches_one_off(off: dict[str, Any]) -> None:
    one, other = {"command": "x"}, {"command": "y", "disabled": False, "enabled": True}
    options = settled(("user", True, {"a": {**one, **off}, "b": other}))
    assert ([server.name for server in options.servers], options.problems) == (["b"], ())
    assert settled(("user", True, {"a": one}), ("system", True, {"a": off})).servers == ()
    (mine,) = settled(("user", True, {"a": one}), ("workspace", False, {"a": off})).servers
    assert mine.source == "user"


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_what_neither_switches_on_nor_off_is_told(value: object) -> None:
    options = settled(("user", True, {"a": {"command": "x", "disabled": value}}))
    assert (options.servers == ()) == (value is not None)
    assert ("`disabled` must be true or false" in " ".join(options.problems)) == (value is not None)


def test_numbers_and_truths_in_the_environment_are_texts_of_it() -> None:
    (server,) = settled(
        ("user", True, {"a": {"command": "x", "env": {"PORT": 3000, "F": 1.5, "ON": True, "T": "t"}}})
    ).servers
    assert server.env == {"PORT": "3000", "F": "1.5", "ON": "true", "T": "t"}


def test_keys_that_nothing_uses_are_told_and_cost_nothing() -> None:
    options = settled(("user", True, {"a": {"command": "x", "autoApprove": ["y"], "tcp": "z"}}))
    assert [server.name for server in options.servers] == ["a"]
    assert options.problems == ("user settings: mcpServers.a: nothing uses autoApprove, tcp, so it has no effect.",)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "either a `command` or a `url`"),
        ({"command": "x", "url": "http://h"}, "either"),
        ({"url": "file:///etc/passwd"}, "http"),
        ({"command": "x", "args": "y"}, "`args`"),
        ({"command": "x", "args": [3]}, "`args`"),
        ({"command": "x", "env": {"LD_PRELOAD": "./evil.so"}}, "LD_PRELOAD"),
        ({"command": "x", "env": {"node_options": "--require ./evil"}}, "node_options"),
        ({"command": "x", "timeout": -1}, "`timeout`"),
        ({"command": "x\0y"}, "NUL"),
        ({"url": "http://h", "headers": {"A": "b\r\nC: d"}}, "`headers`"),
        ({"url": "http://h", "oauth": "yes"}, "`oauth`"),
        ({"url": "http://h", "type": "pigeon"}, "`type`"),
    ],
)
def test_what_is_malformed_is_left_out_and_named(fields: dict[str, Any], words: str) -> None:
    found = settled(("user", True, {"bad": fields, "good": {"command": "x"}}))
    assert [one.name for one in found.servers] == ["good"]
    assert len(found.problems) == 1
    assert "mcpServers.bad" in found.problems[0]
    assert words in found.problems[0]


def test_a_workspace_cannot_take_the_name_of_a_personal_server_nor_trust_itself() -> None:
    found = settled(
        ("user", True, {"git": {"command": "mine"}}),
        ("workspace", False, {"git": {"command": "theirs"}, "own": {"command": "x", "trust": True}}),
    )
    assert [(one.name, one.command, one.is_trusted) for one in found.servers] == [
        ("git", "mine", False),
        ("own", "x", False),
    ]
    assert "mcpServers.git" in found.problems[0]


def test_what_may_be_used_is_what_all_lists_allow_and_none_excludes() -> None:
    servers = {name: {"command": "x"} for name in "abcd"}
    found = settled(
        ("user", True, servers), allowed=[frozenset("abc"), None, frozenset("bcd")], excluded=["c", "unknown"]
    )
    assert [name for name in "abcd" if found.uses(name)] == ["b"]


def test_an_agreement_is_about_all_that_is_started_and_nothing_else() -> None:
    def digest(**fields: Any) -> str:
        return settled(("workspace", False, {"s": {"command": "x", **fields}})).servers[0].digest

    assert digest() == digest(description="new words", includeTools=["a"])
    others = [digest(args=["y"]), digest(env={"A": "b"}), digest(cwd="/"), digest(command="z")]
    assert len({digest(), *others}) == 5
