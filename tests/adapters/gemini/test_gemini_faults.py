"""What the API's refusals mean. Pure: the same over HTTP is in test_gemini_client_faults.py."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.gemini.faults import VERTEX_HINT, ErrorResponse, fault_of, one_line
from gemini_companion.adapters.gemini.options import KEY_HINT
from gemini_companion.engine.errors import ContextOverflow, ModelFault, ModelUnavailable, Unauthenticated
from tests.support.examples import examples

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


def fault(
    code: int,
    message: str = "",
    *,
    details: Any = (),
    status: str = "",
    retry_after: str | None = None,
    vertex: bool = False,
) -> ModelFault:
    body = {"error": {"code": code, "message": message, "status": status, "details": list(details)}}
    response = ErrorResponse(code=code, status=status, message=message, body=body, retry_after=retry_after)
    return fault_of(response, model="gemini-2.5-pro", vertex=vertex, now=NOW)


@pytest.mark.parametrize(
    "refused",
    [
        fault(401, "Request had invalid authentication credentials."),
        fault(403, "The caller does not have permission."),
        fault(400, "API key not valid. Please pass a valid API key."),
        fault(400, "API key expired. Please renew the API key."),
        fault(400, "no", details=[{"@type": "x", "reason": "API_KEY_INVALID"}]),
    ],
)
def test_refused_credentials_say_where_to_put_a_key(refused: ModelFault):
    assert isinstance(refused, Unauthenticated)
    assert refused.hint == KEY_HINT
    assert not refused.retryable


def test_on_vertex_the_hint_is_about_google_credentials():
    assert fault(403, vertex=True).hint == VERTEX_HINT


@pytest.mark.parametrize(
    "message",
    [
        "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
        "The input token count exceeds the maximum number of tokens allowed 1048576.",
        (
            "Unable to submit request because the input token count is 1300000 but the model supports up to 1048576."
            " Reduce the input token count."
        ),
        "Request payload size exceeds the limit: 20971520 bytes.",
        "This model's maximum context length is 128000 tokens.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The prompt exceeds the context window of this model",
    ],
)
def test_a_request_that_is_too_large_is_an_overflow(message: str):
    overflow = fault(400, message, status="INVALID_ARGUMENT")
    assert isinstance(overflow, ContextOverflow)
    assert message.rstrip(".") in overflow.message


def test_a_payload_that_is_too_large_for_a_proxy_is_an_overflow():
    assert isinstance(fault(413, "<html>Request Entity Too Large</html>"), ContextOverflow)


@pytest.mark.parametrize(
    "message",
    [
        (
            "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from"
            " 1 to 65537."
        ),
        "Invalid JSON payload received. Unknown name \"callIndex\" at 'contents[0].parts[0]': Cannot find field.",
        "User location is not supported for the API use.",
    ],
)
def test_any_other_bad_request_is_not_retried_and_not_an_overflow(message: str):
    refused = fault(400, message)
    assert type(refused) is ModelUnavailable
    assert not refused.retryable
    assert message.rstrip(".") in refused.message


@pytest.mark.parametrize("code", [408, 409, 425, 429, 499, 500, 502, 503, 504, 529])
def test_what_may_pass_is_retryable(code: int):
    passing = fault(code)
    assert type(passing) is ModelUnavailable
    assert passing.retryable
    assert passing.retry_after_ms is None


@pytest.mark.parametrize("code", [204, 301, 302, 308, 405, 415])
def test_what_will_not_pass_is_not_retryable(code: int):
    assert not fault(code).retryable


def test_an_unknown_model_is_named_with_how_to_choose_another():
    missing = fault(404, "models/gemini-2.5-pro is not found for API version v1.", status="NOT_FOUND")
    assert type(missing) is ModelUnavailable
    assert not missing.retryable
    assert "gemini-2.5-pro" in missing.message
    assert "GEMINI_MODEL" in missing.hint


def test_a_404_that_no_gemini_api_wrote_points_at_the_address():
    assert (
        "GOOGLE_GEMINI_BASE_URL"
        in fault_of(ErrorResponse(code=404, status="Not Found", message="<html>"), model="m").hint
    )


@pytest.mark.parametrize(
    ("header", "delay", "expected"),
    [
        ("2", None, 2_000),
        ("0.25", None, 250),
        (" 7 ", "1s", 7_000),
        (None, "36s", 36_000),
        (None, "1.5s", 1_500),
        (None, "0.000001s", 1),
        ("Sat, 21 Nov 2026 12:00:30 GMT", None, 30_000),
        ("Sat, 21 Nov 2026 11:00:00 GMT", None, 0),
        ("soon", "3s", 3_000),
        ("Sat, 99 Nov 2026 12:00:30 GMT", "3s", 3_000),
        ("Sat, 21 Nov 2026 12:00:30 +9999999999999999999999", "3s", 3_000),
        ("٣", None, None),
        ("-5", None, None),
        ("999999999", None, 86_400_000),
        ("9" * 400, None, None),
        (None, "soon", None),
        (None, 5, None),
        ("", None, None),
    ],
)
def test_how_long_to_wait_comes_from_the_header_else_from_retry_info(
    header: str | None, delay: Any, expected: int | None
):
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}] if delay is not None else []
    for code in (429, 503):
        assert fault(code, details=details, retry_after=header).retry_after_ms == expected


def test_a_used_up_day_is_not_retried():
    quota = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
    used_up = fault(
        429, "You exceeded your current quota", details=[{"violations": [{"quotaId": quota}]}], retry_after="1"
    )
    assert not used_up.retryable
    assert "another" in used_up.hint
    assert fault(429, details=[{"violations": [{"quotaId": "GenerateRequestsPerMinute"}]}]).retryable


def test_somebody_elses_text_is_one_bounded_line():
    assert one_line("a\n\tb\x1b[31m\u2028c") == "a b [31m c"
    assert one_line("x" * 1000) == "x" * 399 + "…"
    assert one_line("  <!DOCTYPE html><p>Bad gateway") == ""


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["error", "details", "reason", "violations", "quotaId", "retryDelay"]) | st.text(), inner
        )
    ),
)


@given(
    st.integers(0, 999),
    st.text(),
    st.text(),
    st.none() | st.dictionaries(st.sampled_from(["error", "details"]), anything),
    st.none() | st.text(),
)
@settings(deadline=None, max_examples=examples(60))
def test_whatever_a_refusal_says_it_is_a_fault_with_a_sentence(
    code: int, status: str, message: str, body: Any, retry_after: str | None
):
    refused = fault_of(
        ErrorResponse(code=code, status=status, message=message, body=body, retry_after=retry_after), model="m"
    )
    assert isinstance(refused, ModelFault)
    assert refused.hint
    assert refused.message.endswith(").")
    assert refused.message.isprintable()
    assert refused.retry_after_ms is None or 0 <= refused.retry_after_ms <= 86_400_000


@pytest.mark.parametrize(
    ("retry_after", "when"), [(None, "in a moment"), ("20", "in a moment"), ("500", "in about 9 minutes")]
)
def test_a_long_wait_is_named_in_the_hint(retry_after: str | None, when: str) -> None:
    for code in (429, 503):
        assert when in fault(code, retry_after=retry_after).hint


@pytest.mark.parametrize(
    "wait",
    [
        *("-5", "nan", "inf", "1e9", "9" * 400, "999999999.999999999", "0", "5 5", "0x10", "", "\u0665"),
        *("Wed, 99 Nov 2026 99:99:99 GMT", "Thu, 01 Jan 0000 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"),
        *("Thu, 01 Jan 1970 00:00:00 GMT", "Xxx, 01 Xxx 2026 00:00:00 GMT"),
    ],
)
def test_a_wait_that_a_service_made_up_is_within_a_day_or_none(wait: str) -> None:
    detail = {"error": {"details": [{"retryDelay": f"{wait}s"}]}}
    for refused in (fault(429, retry_after=wait), fault_of(ErrorResponse(code=503, body=detail), model="m")):
        assert refused.retry_after_ms is None or 0 <= refused.retry_after_ms <= 86_400_000


@pytest.mark.parametrize(
    ("message", "limit"),
    [
        ("The input token count (1300000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
        ("The input token count exceeds the maximum number of tokens allowed 131072.", 131_072),
        ("the input token count is 1300000 but the model supports up to 1,048,576 tokens.", 1_048_576),
        ("This model's maximum context length is 32768 tokens. However, you requested 40000.", 32_768),
        ("prompt is too long: 213000 tokens > 200000 maximum", 200_000),
        ("The input token count exceeds the maximum number of tokens allowed.", None),
        ("The input token count exceeds the maximum number of tokens allowed (7).", None),
    ],
)
def test_a_window_that_a_refusal_names_is_read(message: str, limit: int | None):
    refused = fault(400, message)
    assert isinstance(refused, ContextOverflow)
    assert refused.limit == limit


def quota(quota_id: str, value: object) -> Any:
    return [{"violations": [{"quotaId": quota_id, "quotaValue": value}]}]


@pytest.mark.parametrize(
    ("quota_id", "value", "tokens"),
    [
        ("GenerateContentInputTokensPerModelPerMinute-FreeTier", "12000", 12_000),
        ("GenerateContentInputTokensPerModelPerMinute", 250_000, 250_000),
        ("GenerateRequestsPerMinutePerProjectPerModel", "5", None),
        ("GenerateContentInputTokensPerModelPerMinute", "many", None),
        ("GenerateContentInputTokensPerModelPerMinute", None, None),
    ],
)
def test_the_tokens_that_a_minute_may_have_are_read(quota_id: str, value: object, tokens: int | None):
    refused = fault(429, "quota", details=quota(quota_id, value))
    assert isinstance(refused, ModelUnavailable)
    assert (refused.token_quota, refused.retryable, refused.is_gone) == (tokens, True, False)


@pytest.mark.parametrize(
    "refused",
    [
        fault(429, "quota", details=quota("GenerateContentInputTokensPerModelPerMinute-FreeTier", "0")),
        fault(429, "Quota exceeded for metric: requests, limit: 0, model: gemini-2.5-pro"),
    ],
)
def test_a_model_without_any_quota_is_not_to_be_had(refused: ModelFault):
    assert isinstance(refused, ModelUnavailable)
    assert (refused.is_gone, refused.of_model, refused.retryable) == (True, True, False)
    assert "another model" in refused.hint


def test_a_declaration_that_is_refused_is_known_by_its_place():
    place = "* GenerateContentRequest.tools[0].function_declarations[17].parameters.properties[sort].enum[0]: cannot be"
    refused = fault(400, f"{place} empty\n")
    assert isinstance(refused, ModelUnavailable)
    assert (refused.tool_index, refused.retryable) == (17, False)


@pytest.mark.parametrize(
    ("message", "refused"),
    [
        ("Unable to process input image. Please retry or report in https://example.test/tools[0]/schema", "media"),
        ("Provided image is not valid.", "media"),
        ("Unsupported MIME type: image/x-icon", "media"),
        ("The document has no pages.", "media"),
        ("Invalid value at 'contents[2].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed", "media"),
        ("Unable to submit request because `x` functionDeclaration `parameters.image` schema has no type", "tools"),
        ("The specified schema produces a constraint that has too many states for serving.", "tools"),
        ("reference to undefined schema at properties.target_object.anyOf.1", "tools"),
        ("Request contains an invalid argument.", "request"),
    ],
)
def test_what_of_a_request_was_refused_is_read_from_the_words(message: str, refused: str):
    found = fault(400, message)
    assert isinstance(found, ModelUnavailable)
    assert (found.refused, found.words, found.retryable) == (refused, message, False)


def test_a_refusal_for_who_asks_is_none_of_the_request():
    response = ErrorResponse(code=400, status="FAILED_PRECONDITION", message="User location is not supported.")
    found = fault_of(response, model="m")
    assert isinstance(found, ModelUnavailable)
    assert found.refused is None


PAGE = "<!DOCTYPE html><html><head><title>Blocked &amp; logged by Filter</title></head><body>No.</body></html>"


@pytest.mark.parametrize("code", [400, 401, 403, 404, 407])
def test_a_web_page_in_place_of_an_answer_is_called_that(code: int):
    found = fault_of(ErrorResponse(code=code, message=PAGE, body={"message": PAGE}), model="m")
    assert isinstance(found, ModelUnavailable)
    assert 'a web page with the title "Blocked & logged by Filter"' in found.message
    assert "proxy" in found.hint
    assert "GEMINI_API_KEY" not in found.hint
    assert not found.retryable
