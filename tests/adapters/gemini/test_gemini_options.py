from __future__ import annotations

import pytest

from gemini_companion.adapters.gemini import GeminiOptions, from_environment
from gemini_companion.adapters.gemini.transport import is_loopback

VERTEX = {"GOOGLE_GENAI_USE_VERTEXAI": "true"}


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, None),
        ({"GEMINI_API_KEY": ""}, None),
        ({"GEMINI_API_KEY": "  "}, None),
        ({"GOOGLE_GEMINI_BASE_URL": "http://localhost:1"}, None),
        ({"GEMINI_API_KEY": " a "}, GeminiOptions(api_key="a")),
        ({"GOOGLE_API_KEY": "b"}, GeminiOptions(api_key="b")),
        ({"GEMINI_API_KEY": "a", "GOOGLE_API_KEY": "b"}, GeminiOptions(api_key="b")),
        ({"GEMINI_API_KEY": "a", "GOOGLE_API_KEY": " "}, GeminiOptions(api_key="a")),
        (
            {"GEMINI_API_KEY": "a", "GOOGLE_GEMINI_BASE_URL": "http://x/y"},
            GeminiOptions(api_key="a", base_url="http://x/y"),
        ),
        (
            {"GEMINI_API_KEY": "a", "GOOGLE_GENAI_USE_VERTEXAI": "false", "GOOGLE_CLOUD_PROJECT": "p"},
            GeminiOptions(api_key="a"),
        ),
        (VERTEX, None),
        ({**VERTEX, "GOOGLE_CLOUD_LOCATION": "us-central1"}, None),
        ({**VERTEX, "GOOGLE_CLOUD_PROJECT": "p"}, GeminiOptions(vertex=True, project="p", location="global")),
        (
            {**VERTEX, "GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "l", "GOOGLE_API_KEY": "b"},
            GeminiOptions(vertex=True, project="p", location="l"),
        ),
        ({**VERTEX, "GOOGLE_API_KEY": "b", "GOOGLE_CLOUD_LOCATION": "l"}, GeminiOptions(vertex=True, api_key="b")),
        ({"GOOGLE_GENAI_USE_VERTEXAI": "1", "GOOGLE_API_KEY": "b"}, GeminiOptions(vertex=True, api_key="b")),
        ({**VERTEX, "GOOGLE_GENAI_USE_ENTERPRISE": "0", "GOOGLE_API_KEY": "b"}, GeminiOptions(api_key="b")),
        (
            {
                **VERTEX,
                "GOOGLE_API_KEY": "b",
                "GOOGLE_GEMINI_BASE_URL": "http://g",
                "GOOGLE_VERTEX_BASE_URL": "http://v",
            },
            GeminiOptions(vertex=True, api_key="b", base_url="http://v"),
        ),
        (
            {**VERTEX, "GOOGLE_API_KEY": "b", "GOOGLE_GEMINI_BASE_URL": "http://g"},
            GeminiOptions(vertex=True, api_key="b", base_url="http://g"),
        ),
    ],
)
def test_the_environment_names_credentials_and_endpoint(env: dict[str, str], expected: GeminiOptions | None):
    assert from_environment(env) == expected


def test_options_never_show_their_key():
    options = GeminiOptions(api_key="sk-very-secret", project="p")
    assert "sk-very-secret" not in f"{options} {options!r} {options.__rich_repr__()}"
    assert "api_key='***'" in repr(options)
    assert "api_key=None" in repr(GeminiOptions())


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8080/x", True),
        ("http://127.8.9.1", True),
        ("http://[::1]:80", True),
        ("https://localhost/gateway", True),
        ("http://gemini.localhost", True),
        ("https://generativelanguage.googleapis.com/", False),
        ("http://127.0.0.1.example.com", False),
        ("http://192.168.0.1", False),
        ("http://[", False),
        ("localhost:80", False),
        ("", False),
    ],
)
def test_only_this_machine_is_loopback(url: str, expected: bool):
    assert is_loopback(url) is expected
