"""Endpoints, credentials and proxies; keys stay private, and the loop stays free."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from gemini_companion.adapters.gemini import GeminiOptions, GeminiProvider
from gemini_companion.engine.errors import ModelUnavailable, Unauthenticated
from gemini_companion.sessions.models.port import ModelProvider
from tests.adapters.gemini.calls import HI, collect, connected
from tests.support.emulator import (
    Emulator,
    faults,
)
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("bounded")


# ── endpoints and credentials
# ──────────────────────────────────────────────────────────────────────────────────────────


async def test_a_path_prefix_of_the_endpoint_is_kept():
    with Emulator(prefix="/gateway/gemini") as emulator:
        async with connected(base_url=emulator.base_url) as client:
            await collect(client)
            await client.generate(HI)
            await client.count_tokens(HI)
        assert [request.status for request in emulator.requests] == [200, 200, 200]


async def test_another_version_of_the_api_can_be_asked_for(emulator: Emulator):
    async with connected(base_url=emulator.base_url, api_version="v1beta") as client:
        await client.generate(HI)
    assert emulator.requests[0].path == "/v1beta/models/gemini-2.5-pro:generateContent"


async def test_vertex_with_a_key_needs_no_project(emulator: Emulator):
    async with connected(vertex=True, base_url=emulator.base_url) as client:
        assert (await collect(client))[-1].finish_reason == "STOP"
    assert emulator.requests[0].path.endswith("/publishers/google/models/gemini-2.5-pro:streamGenerateContent")
    assert emulator.requests[0].headers["x-goog-api-key"] == "k"


def service_account(folder: Path, token_uri: str) -> Path:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    account = {
        "type": "service_account",
        "client_email": "a@b.c",
        "private_key": pem,
        "token_uri": token_uri,
        "project_id": "p",
    }
    file = folder / "account.json"
    file.write_text(json.dumps(account), "utf-8")
    return file


async def test_vertex_with_a_project_signs_in_with_the_machines_credentials(
    emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(service_account(tmp_path, f"{emulator.base_url}/token")))
    async with connected(
        api_key=None, vertex=True, project="p", location="europe-west4", base_url=emulator.base_url
    ) as client:
        assert (await client.generate(HI)).finish_reason == "STOP"
    (request,) = emulator.requests
    assert (
        request.path
        == "/v1beta1/projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-pro:generateContent"
    )
    assert request.headers["authorization"] == "Bearer emulated"
    assert "x-goog-api-key" not in request.headers


async def test_vertex_without_usable_credentials_says_how_to_sign_in(
    emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "missing.json"))
    async with connected(api_key=None, vertex=True, project="p", location="l", base_url=emulator.base_url) as client:
        with pytest.raises(Unauthenticated) as caught:
            await client.generate(HI)
    assert "gcloud auth application-default login" in caught.value.hint
    assert emulator.requests == []


async def test_credentials_that_appear_later_are_found_without_a_restart(
    emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody is there: Google itself stays out of reach
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)
    async with connected(api_key=None, vertex=True) as client:
        with pytest.raises(Unauthenticated) as caught:
            await client.generate(HI)
        assert "gcloud" in caught.value.hint
        service_account(tmp_path, f"{emulator.base_url}/token")
        with pytest.raises(ModelUnavailable, match="could not be reached"):
            await client.generate(HI)


@pytest.mark.parametrize("key", [None, "two words", "schlüssel", "a\nb"])
async def test_a_key_that_is_missing_or_cannot_be_one_is_reported_without_asking_anybody(
    emulator: Emulator, key: str | None
):
    async with connected(api_key=key, base_url=emulator.base_url) as client:
        await client.warm_up()
        for attempt in (client.generate(HI), client.count_tokens(HI), collect(client)):
            with pytest.raises(Unauthenticated, match="key") as caught:
                await attempt
            assert "GEMINI_API_KEY" in caught.value.hint
            assert not key or key not in str(caught.value)
    assert emulator.requests == []


async def test_this_machine_is_never_reached_through_a_proxy(emulator: Emulator, monkeypatch: pytest.MonkeyPatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with connected(base_url=emulator.base_url) as client:
        assert (await client.generate(HI)).finish_reason == "STOP"


async def test_any_other_host_is_reached_through_the_environments_proxy(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(
        "http_proxy", emulator.base_url
    )  # asked for an absolute address, the emulator answers as that host would
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with connected(base_url="http://gemini.invalid") as client:
        assert (await client.generate(HI)).finish_reason == "STOP"
    assert emulator.requests[0].headers["host"] == "gemini.invalid"


async def test_the_environment_of_the_process_does_not_reach_past_the_options(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GOOGLE_API_KEY", "another")
    monkeypatch.setenv("GEMINI_API_KEY", "a-third")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")
    async with connected(base_url=emulator.base_url) as client:
        await client.generate(HI)
    assert emulator.requests[0].headers["x-goog-api-key"] == "k"
    assert not emulator.requests[0].vertex


async def test_without_an_endpoint_of_its_own_a_client_asks_google_whatever_the_process_was_told(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", emulator.base_url)
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody is there
    async with connected() as client:
        with pytest.raises(ModelUnavailable, match="could not be reached"):
            await client.generate(HI)
    assert emulator.requests == []


# ── keys stay private, the loop stays free
# ─────────────────────────────────────────────────────────────────────────────


def _everything(error: BaseException) -> str:
    seen: list[str] = []
    link: BaseException | None = error
    while link is not None:
        seen += [repr(link), str(link), repr(vars(link))]
        assert not type(link).__module__.startswith(("google", "httpx"))
        link = link.__cause__ or link.__context__
    return "".join(seen)


async def test_the_key_is_in_no_error_log_or_repr(emulator: Emulator, caplog: pytest.LogCaptureFixture):
    key = "sk-0123456789-very-secret"
    echoed = faults.internal()
    assert echoed.error is not None
    echoed.error.message = f"Key {key} broke us"
    caplog.set_level(logging.DEBUG)
    async with connected(api_key=key, base_url=emulator.base_url) as client:
        shown = repr(client) + repr(vars(client))
        for reply in (
            echoed,
            faults.invalid_key(),
            faults.drop_before_headers(),
            faults.malformed_event(),
            faults.error_event(),
        ):
            emulator.script(reply)
            with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever it is
                await collect(client)
            shown += _everything(caught.value)
    async with connected(api_key=key, base_url="http://127.0.0.1:9") as client:
        with pytest.raises(ModelUnavailable) as caught_here:
            await client.generate(HI)
        shown += _everything(caught_here.value)
    assert "[key] broke us" in shown
    assert key not in shown + caplog.text


async def test_the_environments_own_keys_cause_no_words_on_standard_error(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("GOOGLE_API_KEY", "a")
    monkeypatch.setenv("GEMINI_API_KEY", "b")
    async with connected(base_url=emulator.base_url) as client:
        await client.generate(HI)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.process
def test_warming_up_imports_the_sdk_builds_its_parsers_and_leaves_it_out_of_collections():
    script = """
import asyncio, gc, sys
import gemini_companion.adapters.gemini as adapter
heavy = {"google.genai", "google.auth", "httpx2", "pydantic", "aiohttp"}
options = adapter.from_environment({"GEMINI_API_KEY": "k"})
client = adapter.GeminiProvider(options)
print(sorted(heavy & sys.modules.keys()))
async def main():
    await client.warm_up()
    print(sorted(heavy & sys.modules.keys()))
    types = sys.modules["google.genai.types"]
    print([kind.__pydantic_complete__ for kind in (types.GenerateContentResponse, types.CountTokensResponse, types.HttpOptions)])
    print(gc.isenabled(), gc.get_freeze_count() > 50_000 > len(gc.get_objects()))
    await client.close()
    left_out = gc.get_freeze_count()
    other = adapter.GeminiProvider(options)
    await other.warm_up()
    await other.close()
    print(gc.get_freeze_count() <= left_out)
asyncio.run(main())
"""
    lines = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
        cwd=Path(__file__).parents[3] / "server",
    )
    before, after, parsers, collected, once = lines.stdout.splitlines()
    assert before == "[]"
    assert after == "['google.auth', 'google.genai', 'httpx2', 'pydantic']"
    assert parsers == "[True, True, True]"
    assert collected == "True True", "a collection that goes through all of the SDK holds up every stream"
    assert once == "True", "what a second one finds are other people's objects"
    assert lines.stderr == ""


async def test_many_callers_share_one_connection_and_a_cancelled_one_does_not_stop_it(
    emulator: Emulator, gemini: GeminiProvider
):
    impatient = asyncio.create_task(gemini.generate(HI))
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.gather(gemini.warm_up(), gemini.generate(HI), collect(gemini), gemini.count_tokens(HI))
    with pytest.raises(asyncio.CancelledError):
        await impatient
    assert len({request.headers["user-agent"] for request in emulator.requests}) == 1


def test_it_is_a_model_client_and_says_which():
    client: ModelProvider = GeminiProvider(GeminiOptions(api_key="k"))
    assert client.name == "gemini"
