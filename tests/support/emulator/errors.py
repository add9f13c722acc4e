"""Google's error answers: the status words, the JSON and the details that clients read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class ApiError(Exception):
    """An error answer of the API."""

    def __init__(
        self,
        code: int,
        message: str,
        *,
        status: str | None = None,
        details: Sequence[Mapping[str, Any]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status or STATUS.get(code, "UNKNOWN")
        self.details = tuple(details)
        self.headers = dict(headers or {})

    def json(self) -> dict[str, Any]:
        """The body."""
        error: dict[str, Any] = {"code": self.code, "message": self.message, "status": self.status}
        return {"error": {**error, "details": list(self.details)} if self.details else error}

    def body(self) -> bytes:
        """The body as bytes."""
        return json.dumps(self.json(), indent=2).encode()


def error_info(reason: str) -> dict[str, Any]:
    """google.rpc.ErrorInfo."""
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"}


def retry_info(delay: str) -> dict[str, Any]:
    """google.rpc.RetryInfo; `delay` as in `1.5s`."""
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


def quota_failure(quota_id: str) -> dict[str, Any]:
    """google.rpc.QuotaFailure."""
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota_id}]}


def too_large(count: int, limit: int) -> ApiError:
    """The refusal of a request for its size."""
    return ApiError(400, f"The input token count ({count}) exceeds the maximum number of tokens allowed ({limit}).")
