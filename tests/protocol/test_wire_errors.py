"""What a fault looks like to a client."""

from __future__ import annotations

import asyncio
import logging

import pytest

from gemini_companion.engine import errors as faults
from gemini_companion.protocol.errors import WIRE_ERRORS, RpcError, protocol_error, to_wire, wire_error_of

SPECIFIED = {
    1001: "sessionNotFound",
    1002: "sessionBusy",
    1003: "modelUnavailable",
    1004: "unauthenticated",
    1005: "contextOverflow",
    1006: "invalidSettings",
    1007: "untrustedWorkspace",
    1008: "staleVersion",
    1009: "compressionNotFound",
    1010: "blocked",
    1011: "overloaded",
}


def data_of(wire: RpcError) -> dict[str, object]:
    assert isinstance(wire.data, dict)
    return wire.data


def whole_tree(root: type[faults.CompanionError]) -> list[type[faults.CompanionError]]:
    return [root, *(found for child in root.__subclasses__() for found in whole_tree(child))]


@pytest.mark.parametrize(
    "fault", [kind for kind in whole_tree(faults.CompanionError) if kind.__module__ == faults.__name__]
)
def test_every_fault_of_the_tree_has_an_entry_of_its_own(fault: type[faults.CompanionError]):
    assert fault in WIRE_ERRORS


def test_the_codes_and_kinds_are_those_of_the_protocol():
    assert {wire.code: wire.kind for wire in WIRE_ERRORS.values() if wire.code > 0} == SPECIFIED


def test_a_fault_declared_elsewhere_is_sent_like_its_ancestor():
    class QuotaGone(faults.ModelUnavailable):
        pass

    assert wire_error_of(QuotaGone).code == 1003


def test_a_fault_keeps_its_message_hint_and_advice_on_retrying():
    wire = to_wire(faults.ModelUnavailable("Gemini does not answer.", hint="Try later.", retry_after_ms=1500))
    assert (wire.code, wire.message) == (1003, "Gemini does not answer.")
    assert wire.data == {
        "kind": "modelUnavailable",
        "message": "Gemini does not answer.",
        "hint": "Try later.",
        "retryable": True,
        "retryAfterMs": 1500,
    }


def test_invalid_input_names_its_path():
    wire = to_wire(faults.InvalidInput("$.text: missing.", path="$.text"))
    assert (wire.code, data_of(wire)["path"]) == (-32602, "$.text")


@pytest.mark.parametrize("error", [faults.Cancelled("A person stopped it."), asyncio.CancelledError()])
def test_a_cancel_is_sent_as_one_wherever_it_comes_from(error: BaseException):
    assert to_wire(error).code == -32800


def test_of_a_defect_the_client_learns_nothing_and_the_log_where_it_was_but_not_its_words(
    caplog: pytest.LogCaptureFixture,
):
    def deep_inside() -> None:
        raise KeyError("the user's secret prompt")

    def further_out() -> None:
        try:
            deep_inside()
        except KeyError as error:
            raise ValueError("quotes: the user's secret prompt") from error

    with pytest.raises(ValueError, match="quotes") as caught, caplog.at_level(logging.ERROR):
        further_out()
    wire = to_wire(caught.value, doing="gemini/chat")
    assert wire.code == -32603
    assert data_of(wire)["kind"] == "defect"
    assert "log" in str(data_of(wire)["hint"])
    assert "Traceback" not in str(wire.data)
    assert "secret" not in str(wire.data) + wire.message
    assert "gemini/chat" in caplog.text
    assert "deep_inside" in caplog.text
    assert "further_out" in caplog.text
    assert "builtins.KeyError" in caplog.text
    assert "the user's secret prompt" not in caplog.text.replace(
        'raise KeyError("the user\'s secret prompt")', ""
    ).replace('raise ValueError("quotes: the user\'s secret prompt")', "")


def test_the_log_of_a_defect_ends_where_its_causes_go_in_a_circle(caplog: pytest.LogCaptureFixture):
    first, second = ValueError(), KeyError()
    first.__cause__, second.__cause__ = second, first
    to_wire(first, doing="x")
    assert caplog.text.count("builtins.ValueError") == 1


def test_an_error_of_json_rpc_itself_goes_through_and_gets_the_data_that_all_errors_have():
    wire = to_wire(RpcError("no", code=-32010))
    assert (wire.code, wire.message, data_of(wire)["kind"]) == (-32010, "no", "failed")
    ours = protocol_error(WIRE_ERRORS[faults.Blocked], "A hook refused.")
    assert to_wire(ours) is ours
