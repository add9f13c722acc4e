"""An MCP server over stdio with nothing but the standard library: `python mcp_server.py BEHAVIOUR…`.

Each behaviour is something that servers do, or should not.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

TOOLS: list[dict[str, Any]] = [
    {
        "name": "echo",
        "description": "Says it again.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    },
    {"name": "environment", "inputSchema": {"type": "object"}},
]
LARGE_PIECE = 65_520
"""Bytes: whole words of `send_large`, so that no escape is cut in two."""
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Server:
    def __init__(self, behaviours: list[str]) -> None:
        self.does = set(behaviours)
        self.tools = list(TOOLS)
        self.lists = 0
        self.cancelled: list[Any] = []
        self.held: tuple[Any, Any] = (None, None)
        """The number of the call that hangs, and its token for progress."""

    def run(self) -> None:
        if "exits-at-start" in self.does:
            print("cannot find my configuration", file=sys.stderr)
            sys.exit(3)
        if "marked" in self.does:
            sys.stdout.buffer.write(b"\xef\xbb\xbf")
        if "child" in self.does:
            subprocess.Popen(["sleep", "7654"], start_new_session=True)
        if "banner" in self.does:
            sys.stdout.buffer.write(b"Welcome! caf\xe9\n[]\n7\n")
            sys.stdout.buffer.flush()
        if "silent" in self.does:
            threading.Event().wait()
        for line in sys.stdin.buffer:
            threading.Thread(target=self.take, args=(json.loads(line),), daemon=True).start()

    def send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        os.write(1, data) if len(data) < 4096 else (sys.stdout.buffer.write(data), sys.stdout.buffer.flush())

    def take(self, message: dict[str, Any]) -> None:
        method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
        if method == "notifications/cancelled":
            print(f"cancelled {params.get('requestId') is not None}", file=sys.stderr, flush=True)
        if number is None:
            return
        if method == "initialize":
            offers: dict[str, Any] = {"tools": {"listChanged": True}}
            if "no-extras" not in self.does:
                offers |= {"prompts": {}, "resources": {}}
            result: Any = {
                "protocolVersion": "2099-01-01" if "future" in self.does else params["protocolVersion"],
                "capabilities": offers,
                "serverInfo": {"name": "tester", "version": "1"},
            }
        elif method == "tools/list":
            result = self.listed(params)
        elif method == "tools/call":
            result = self.call(number, params)
        elif method == "prompts/list":
            arguments = [{"name": "topic", "required": True}, {"name": "tone"}]
            result = {"prompts": [{"name": "write a poem", "description": "A poem.", "arguments": arguments}]}
        elif method == "prompts/get":
            words = f"Write about {params['arguments']}. You must always use tabs." + os.environ.get("SAYS", "")
            result = {"messages": [{"role": "user", "content": {"type": "text", "text": words}}]}
        elif method == "resources/list":
            result = {"resources": [{"uri": "memo://one", "name": "The first memo", "mimeType": "text/plain"}]}
        elif method == "resources/read":
            if params["uri"] != "memo://one":
                self.send({"id": number, "error": {"code": -32002, "message": "no such memo"}})
                return
            result = {
                "contents": [
                    {"uri": params["uri"], "mimeType": "text/plain", "text": "Buy milk." + os.environ.get("SAYS", "")}
                ]
            }
        else:
            self.send({"id": number, "error": {"code": -32601, "message": "unknown"}})
            return
        if result is not None:
            self.send({"id": number, "result": result})

    def send_large(self, number: Any, kind: str, size: int) -> None:
        """A result of so many bytes, none of which are held here; numbered lines, or base64."""
        head = {"an image": '{"type": "image", "mimeType": "image/png", "data": "'}.get(
            kind, '{"type": "text", "text": "'
        )
        sys.stdout.buffer.write(f'{{"jsonrpc": "2.0", "id": {number}, "result": {{"content": [{head}'.encode())
        for begin in range(0, size, LARGE_PIECE):
            word = "A" * 20 if kind == "an image" else f"piece {begin // LARGE_PIECE:08} of a text\\n"
            sys.stdout.buffer.write((word * (LARGE_PIECE // len(word) + 1))[: min(LARGE_PIECE, size - begin)].encode())
        sys.stdout.buffer.write(b'"}]}}\n')
        sys.stdout.buffer.flush()

    def listed(self, params: dict[str, Any]) -> dict[str, Any]:
        self.lists += 1
        if "bad-tools" in self.does:
            deep: dict[str, Any] = {"type": "object"}
            for _ in range(200):
                deep = {"type": "object", "properties": {"x": deep}}
            node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
            bad: list[Any] = [
                {"name": "no schema"},
                {"name": "echo", "inputSchema": {"type": "object"}},
                {"name": "text schema", "inputSchema": "string"},
                {"name": "cyclic", "inputSchema": {**node, "$defs": {"node": node}}},
                {"name": "deep", "inputSchema": deep},
                {"name": "huge", "description": "x" * 1_000_000, "inputSchema": {"type": "object"}},
                {
                    "name": "out",
                    "inputSchema": {"type": "object"},
                    "outputSchema": {"type": "object", "required": ["no"]},
                },
                {"description": "nameless"},
                {"name": ["list"]},
                "a text",
                None,
            ]
            return {"tools": [*self.tools, *bad]}
        if "endless-list" in self.does:
            return {
                "tools": [{"name": f"t{self.lists}", "inputSchema": {"type": "object"}}],
                "nextCursor": str(self.lists),
            }
        if "many" in self.does:
            schema = TOOLS[0]["inputSchema"]
            return {
                "tools": [{"name": f"tool_{n}", "description": "d" * 200, "inputSchema": schema} for n in range(50)]
            }
        return {"tools": self.tools}

    def nudge(self) -> None:
        """Tell that the call that is held is getting on."""
        if self.held[1] is not None:
            progress = {"progressToken": self.held[1], "progress": 1, "total": 3, "message": "thinking"}
            self.send({"method": "notifications/progress", "params": progress})

    def call(self, number: Any, params: dict[str, Any]) -> dict[str, Any] | None:
        text = params.get("arguments", {}).get("text", "")
        kind, _, size = str(text).partition(" of ")
        match kind:
            case "a text" | "an image":
                self.send_large(number, kind, int(size))
                return None
            case _:
                pass
        match text:
            case "half":
                os.write(1, b'{"jsonrpc": "2.0", "id": %d, "result": {"content": [{"type": "text", "te' % number)
                os.kill(os.getpid(), signal.SIGKILL)
            case "crash":
                print("about to fail", file=sys.stderr, flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
            case "hang":
                self.held = number, (params.get("_meta") or {}).get("progressToken")
                self.nudge()
                return None
            case "nudge":
                self.nudge()
                return {"content": [{"type": "text", "text": "nudged"}]}
            case "let go":
                self.send({"id": self.held[0], "result": {"content": [{"type": "text", "text": "done at last"}]}})
                return {"content": [{"type": "text", "text": "let go"}]}
            case "flood":
                block = b"x" * 2**20
                for _ in range(1024):
                    os.write(1, block)
                os.write(1, b"\n")
            case "flood lines":
                block = (
                    json.dumps(
                        {
                            "jsonrpc": "2.0",
                            "method": "notifications/message",
                            "params": {"level": "info", "data": "x" * 900},
                        }
                    )
                    + "\n"
                ).encode() * 64
                while True:
                    os.write(1, block)
            case "flood errors":
                for _ in range(256):
                    os.write(2, b"e" * 2**20)
            case "change":
                self.tools = [{**TOOLS[0], "name": "other", "description": "Another."}]
                self.send({"method": "notifications/tools/list_changed"})
                return {"content": [{"type": "text", "text": "changed"}]}
            case "bad utf-8":
                os.write(
                    1,
                    b'{"jsonrpc": "2.0", "id": '
                    + str(number).encode()
                    + b', "result": {"content": [{"type": "text", "text": "caf\xe9 \\ud800"}]}}\n',
                )
                return None
            case "malformed":
                return {"content": "no list"}
            case "no object":
                self.send({"id": number, "result": 42})
                return None
            case "own fields":
                return {"messages": [{"text": "hm"}]}
            case "long number":
                os.write(1, b'{"jsonrpc": "2.0", "id": %d, "result": {"n": %s}}\n' % (number, b"9" * 5_000))
                return None
            case "odd pieces":
                return {"content": [{"type": "text", "text": "before"}, {"type": "video"}, {"type": "text", "text": 4}]}
            case "wrong id":
                self.send({"id": 999_999, "result": {"content": []}})
                self.send({"id": "x", "result": {}})
            case "fails":
                return {"content": [{"type": "text", "text": "no such thing"}], "isError": True}
            case "ask":
                self.send({"id": "s1", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}})
                self.send({"id": "r1", "method": "roots/list"})
            case "media":
                return {
                    "content": [
                        {"type": "image", "data": PIXEL, "mimeType": "image/png"},
                        {"type": "resource_link", "uri": "memo://one", "name": "memo"},
                        {"type": "resource", "resource": {"uri": "memo://two", "text": "inside"}},
                    ],
                    "structuredContent": {"n": 1},
                }
            case _:
                pass
        if params["name"] == "environment":
            return {"content": [{"type": "text", "text": json.dumps(dict(os.environ))}]}
        if params["name"] not in [tool["name"] for tool in self.tools] and "many" not in self.does:
            return {"content": [{"type": "text", "text": f"unknown tool {params['name']}"}], "isError": True}
        return {"content": [{"type": "text", "text": f"echo: {text}"}]}


if __name__ == "__main__":
    Server(sys.argv[1:]).run()
