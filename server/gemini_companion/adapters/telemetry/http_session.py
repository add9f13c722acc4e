"""The HTTP session of the exporters: a collector's answer is not read, and no password is sent unasked."""

from __future__ import annotations

from typing import Any

import requests
from requests.utils import get_environ_proxies


class BoundedSession(requests.Session):
    """A session that takes an answer's status and leaves its body, however long that is.

    Of the environment only proxies count: a `.netrc` would give its passwords to whatever host is configured.
    """

    def __init__(self, endpoint: str) -> None:
        super().__init__()
        self.trust_env = False
        self.proxies.update(get_environ_proxies(endpoint))

    def request(self, method: str, url: str | bytes, *args: Any, **more: Any) -> requests.Response:
        """Send a request. Raises `requests.RequestException`, for a redirection too: it would lose what was sent."""
        more["stream"] = True
        with super().request(method, url, *args, **more) as answer:
            if 300 <= answer.status_code < 400:
                raise requests.RequestException("redirected")
            bare = requests.Response()
            bare.status_code, bare.reason, bare.headers = answer.status_code, answer.reason[:100], answer.headers
            return bare
