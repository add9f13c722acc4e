"""Which directory a project's sessions are in."""

from __future__ import annotations

import os
from collections.abc import Sequence


def project_key(folders: Sequence[str]) -> str:
    """The name of a project's directory: a hash of its workspace folders' real paths, in any order, or `default`."""
    if not folders:
        return "default"
    import hashlib

    paths = sorted({os.path.realpath(folder) for folder in folders})
    return hashlib.sha256("\0".join(paths).encode(errors="surrogatepass")).hexdigest()[:32]
