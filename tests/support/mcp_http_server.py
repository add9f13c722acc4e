"""An MCP server over HTTP, with an authorisation server of its own at the same address, on threads of this process."""

from __future__ import annotations

import base64
import hashlib
import json
import queue
import secrets
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.support.mcp_server import Server

ENDS = {
    "nothing": b"",
    "half": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{",
    "half a piece": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{",
    "half an event": b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: message\ndata: {",
    "no HTTP": b"\0\1 hello\r\n\r\n",
    "refused": b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops",
    "forgotten": b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
}
"""What comes, before the connection ends, of the answer to a call with the text `ends as …`."""


class Answers(Server):
    """The same server, whose messages are collected in place of being written."""

    def __init__(self, behaviours: list[str]) -> None:
        super().__init__(behaviours)
        self.sent: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append({"jsonrpc": "2.0", **message})


class HttpServer:
    """What happens at the address, and what was asked of it."""

    def __init__(self, *behaviours: str, with_login: bool = False) -> None:
        self.does = set(behaviours)
        self.with_login = with_login
        self.url = ""
        self.clients: dict[str, dict[str, Any]] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.tokens: set[str] = set()
        self.refreshes: set[str] = set()
        self.lifetime = 3600
        self.grants: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.answers = Answers(list(behaviours))
        self.events: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.lock = threading.Lock()

    def message(self, message: dict[str, Any]) -> dict[str, Any] | None:
        with self.lock:
            self.answers.sent.clear()
            self.answers.take(message)
            return next((one for one in self.answers.sent if one.get("id") == message.get("id")), None)

    def token(self, fields: dict[str, str]) -> tuple[int, dict[str, Any]]:
        self.grants.append(fields["grant_type"])
        if fields["grant_type"] == "refresh_token":
            if fields["refresh_token"] not in self.refreshes:
                return 400, {"error": "invalid_grant"}
        else:
            asked = self.codes.pop(fields["code"], None)
            digest = hashlib.sha256(fields["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            if asked is None or asked["code_challenge"] != challenge or asked["redirect_uri"] != fields["redirect_uri"]:
                return 400, {"error": "invalid_grant"}
            if asked.get("resource") != f"{self.url}/mcp":
                return 400, {"error": "invalid_target"}
        token, refresh = secrets.token_hex(8), secrets.token_hex(8)
        self.tokens.add(token)
        self.refreshes.add(refresh)
        return 200, {
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": self.lifetime,
            "refresh_token": refresh,
        }

    def authorize(self, fields: dict[str, str]) -> str | None:
        """Where the browser is sent to; `None` for a request that is refused."""
        client = self.clients.get(fields["client_id"])
        if client is None or fields["redirect_uri"] not in client["redirect_uris"]:
            return None
        code = secrets.token_hex(8)
        self.codes[code] = fields
        return f"{fields['redirect_uri']}?{urlencode({'code': code, 'state': fields['state']})}"


@contextmanager
def http_server(*behaviours: str, with_login: bool = False) -> Generator[HttpServer]:
    """A server at `url`/mcp while the block runs."""
    state = HttpServer(*behaviours, with_login=with_login)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def reply(self, status: int, value: Any = None, *, is_event: bool = False, **headers: str) -> None:
            data = b"" if value is None else json.dumps(value).encode()
            data = b"event: message\ndata: %s\n\n" % data if is_event else data
            self.send_response(status)
            self.send_header("Content-Type", "text/event-stream" if is_event else "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, text in headers.items():
                self.send_header(name.replace("_", "-"), text)
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/sse":
                return self.events()
            fields = {name: given[0] for name, given in parse_qs(parts.query).items()}
            if parts.path.startswith("/.well-known/oauth-protected-resource") and state.with_login:
                self.reply(200, {"resource": f"{state.url}/mcp", "authorization_servers": [state.url]})
            elif parts.path == "/.well-known/oauth-authorization-server" and state.with_login:
                self.reply(
                    200,
                    {
                        "issuer": state.url,
                        "authorization_endpoint": f"{state.url}/authorize",
                        "token_endpoint": f"{state.url}/token",
                        "registration_endpoint": f"{state.url}/register",
                        "response_types_supported": ["code"],
                        "grant_types_supported": ["authorization_code", "refresh_token"],
                        "code_challenge_methods_supported": ["S256"],
                        "token_endpoint_auth_methods_supported": ["none"],
                    },
                )
            elif parts.path == "/authorize" and (where := state.authorize(fields)) is not None:
                self.reply(302, None, Location=where)
            else:
                self.reply(405 if parts.path == "/mcp" else 404)

        def do_DELETE(self) -> None:
            self.reply(200)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/register":
                client = {**json.loads(body), "client_id": secrets.token_hex(4), "token_endpoint_auth_method": "none"}
                state.clients[client["client_id"]] = client
                return self.reply(201, client)
            if self.path == "/token":
                return self.reply(*state.token({name: given[0] for name, given in parse_qs(body.decode()).items()}))
            state.headers.append(dict(self.headers))
            bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if state.with_login and bearer not in state.tokens:
                found = f'Bearer resource_metadata="{state.url}/.well-known/oauth-protected-resource/mcp"'
                return self.reply(401, {"error": "invalid_token"}, WWW_Authenticate=found)
            if "flood" in state.does:
                return self.flood()
            message = json.loads(body)
            text = message.get("params", {}).get("arguments", {}).get("text")
            if (end := ENDS.get(str(text).removeprefix("ends as "))) is not None:
                self.wfile.write(end)
                self.close_connection = True
                return None
            answer = state.message(message)
            if self.path == "/messages":
                self.reply(202)
                return state.events.put(answer) if answer is not None else None
            session = {"Mcp_Session_Id": "s"} if "session" in state.does else {}
            self.reply(202) if answer is None else self.reply(200, answer, is_event="events" in state.does, **session)

        def events(self) -> None:
            """As older servers have it: the answers to all messages, which go to the address that comes first."""
            self.close_connection = True
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b"event: endpoint\ndata: /messages\n\n")
            while (answer := state.events.get()) is not None:
                self.wfile.write(b"event: message\ndata: %s\n\n" % json.dumps(answer).encode())

        def flood(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(2**30))
            self.end_headers()
            try:
                for _ in range(1024):
                    self.wfile.write(b"x" * 2**20)
            except OSError:
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.events.put(None)
        server.shutdown()
        server.server_close()
        thread.join()
