"""Which certificates our own requests trust: the system's, or those of SSL_CERT_FILE, and those that a company adds."""

from __future__ import annotations

import functools
import logging
import os
import ssl
from typing import Final

import httpx2

logger = logging.getLogger(__name__)

ADDED: Final = "NODE_EXTRA_CA_CERTS"
"""The variable of Node, and so of Gemini CLI, for a file of certificates beside the system's."""


@functools.cache
def tls_context() -> ssl.SSLContext:
    """The trusted certificates, loaded once: it takes 25 ms."""
    context = httpx2.create_ssl_context()
    if file := os.environ.get(ADDED, "").strip():
        try:
            context.load_verify_locations(cafile=file)
        except (OSError, ValueError) as fault:  # as Node has it: the others are trusted all the same
            logger.warning("%s: no certificates could be read of %r (%s)", ADDED, file[:500], fault)
    return context
