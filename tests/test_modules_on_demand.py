"""Modules that are run when they are first looked into: the very same ones, whenever and by whomever that is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.modules_on_demand import ON_DEMAND
from tests.support.patience import PATIENCE

SERVER = Path(__file__).resolve().parents[1] / "server"

INSTALLED = "from gemini_companion.modules_on_demand import install\ninstall()\n"
DESCRIBES = """import asyncio, importlib, json
found = {{}}
for name in {names}:
    module = importlib.import_module(name)
    found[name] = [
        [each, "module" if isinstance(value, type(json)) else type(value).__name__, getattr(value, "__qualname__", None)]
        for each, value in ((each, getattr(module, each)) for each in dir(module))
        if not each.startswith("__") or each == "__doc__"
    ]
print(json.dumps(found))
"""


def run(program: str) -> Any:
    """What a process of its own prints, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": str(SERVER)},
    )
    return json.loads(done.stdout)


@pytest.mark.process
def test_each_has_the_names_that_it_has_when_it_is_imported_as_ever():
    describes = DESCRIBES.format(names=sorted(ON_DEMAND))
    plain, on_demand = run(describes), run(INSTALLED + describes)
    assert set(plain) == ON_DEMAND
    assert on_demand == plain
    assert all(len(names) > 5 for names in plain.values())


@pytest.mark.process
def test_none_is_run_by_what_imports_it_alone():
    program = """import asyncio, json, sys
import hashlib, hmac, http.client, secrets, ssl, urllib.request
waiting = [name for name in ("_hashlib", "_ssl") if name not in sys.modules]
digest = hashlib.sha256(b"").hexdigest()
print(json.dumps([waiting, digest[:8], "_hashlib" in sys.modules, "_ssl" in sys.modules]))
"""
    assert run(INSTALLED + program) == [["_hashlib", "_ssl"], "e3b0c442", True, False]


@pytest.mark.process
def test_connections_of_asyncio_are_encrypted_as_ever():
    """What answers here speaks plain text, and is refused by the handshake itself."""
    program = """import asyncio, json, ssl
async def main():
    async def answer(reader, writer):
        writer.write(b"This is no greeting of TLS at all.\\n")
        writer.close()
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    context = ssl.create_default_context()
    try:
        await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="localhost")
    except ssl.SSLError as error:
        return [type(error).__module__, error.library]
    finally:
        server.close()
print(json.dumps(asyncio.run(main())))
"""
    assert run(INSTALLED + program) == ["ssl", "SSL"]


@pytest.mark.process
def test_many_threads_at_once_all_have_the_whole_module():
    program = """import json, sys, threading
import hashlib, secrets, ssl
sys.setswitchinterval(1e-6)
begin, found = threading.Barrier(12), []
def look(module, name):
    begin.wait(30)
    try:
        found.append(callable(getattr(module, name)))
    except Exception as error:
        found.append(repr(error))
wanted = [(ssl, "create_default_context"), (secrets, "token_urlsafe"), (hashlib, "file_digest"), (ssl, "SSLContext")] * 3
threads = [threading.Thread(target=look, args=one) for one in wanted]
for thread in threads: thread.start()
for thread in threads: thread.join(30)
print(json.dumps(found))
"""
    assert run(INSTALLED + program) == [True] * 12


@pytest.mark.process
def test_what_is_set_in_a_module_that_was_not_run_yet_stays_set():
    program = """import json
import ssl
ssl.SSLContext = "another"
print(json.dumps([ssl.SSLContext, "create_default_context" in dir(ssl)]))
"""
    assert run(INSTALLED + program) == ["another", True]


@pytest.mark.process
def test_one_that_cannot_be_run_says_so_each_time():
    program = """import json, sys
sys.modules["socket"] = None  # which `ssl` imports
import ssl
told = []
for _ in range(2):
    try:
        ssl.SSLContext
    except ImportError as error:
        told.append(type(error).__name__)
try:
    ssl.__path__
except AttributeError as error:
    told.append(str(error))
print(json.dumps(told))
"""
    told = run(INSTALLED + program)
    assert told == ["ModuleNotFoundError", "ModuleNotFoundError", "module 'ssl' has no attribute '__path__'"]


@pytest.mark.process
def test_without_openssl_asyncio_connects_as_ever_without_it():
    program = """import sys
sys.modules["_ssl"] = None
import asyncio, json
async def main():
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.close()
    server.close()
    try:
        import ssl
    except ImportError:
        return "no ssl"
print(json.dumps(asyncio.run(main())))
"""
    assert run(INSTALLED + program) == "no ssl"


@pytest.mark.process
def test_who_looks_into_a_module_that_another_thread_runs_waits_for_all_of_it():
    """`SSLContext` stands in the module long before what makes it work does."""
    program = """import json, sys, threading
import ssl
is_half, goes_on, found = threading.Event(), threading.Event(), []
def trace(frame, event, arg):
    if frame.f_globals.get("__name__") == "ssl" and "SSLContext" in frame.f_globals and not is_half.is_set():
        is_half.set()
        goes_on.wait(30)
    return trace
def first():
    sys.settrace(trace)
    ssl.CERT_NONE
def second():
    is_half.wait(30)
    threading.Timer(0.2, goes_on.set).start()
    found.append(ssl.SSLContext.sslobject_class is not None)
threads = [threading.Thread(target=one) for one in (first, second)]
for thread in threads: thread.start()
for thread in threads: thread.join(60)
print(json.dumps([is_half.is_set(), *found]))
"""
    assert run(INSTALLED + program) == [True, True]


@pytest.mark.process
def test_once_it_was_run_a_module_is_a_plain_one():
    program = """import importlib, json, types
import hashlib
before = type(hashlib) is types.ModuleType
found = ["sha256" in vars(hashlib), type(hashlib) is types.ModuleType]
hashlib.mine = 1
importlib.reload(hashlib)
print(json.dumps([before, *found, hashlib.mine, hashlib.sha256(b"").hexdigest()[:8]]))
"""
    assert run(INSTALLED + program) == [False, True, True, 1, "e3b0c442"]
