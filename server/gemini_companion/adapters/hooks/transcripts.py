"""Writes the transcripts that hooks read. Secrets are masked in them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gemini_companion.adapters.private_files import close_to_others, make_private_directory
from gemini_companion.adapters.vault.masking import Masking

if TYPE_CHECKING:
    from gemini_companion.sessions.hooks.transcript import News

_MODE: Final = 0o600


class PrivateTranscripts:
    """Files that only their owner may read, masked by `masking`."""

    def __init__(self, masking: Masking | None = None) -> None:
        self._masking = masking or Masking()

    def write(self, path: str, news: News) -> bool:
        """Bring a private file up to date; false, with nothing done, if it is to be added to and is not there.

        Raises `OSError`.
        """
        folder = os.path.dirname(path)
        flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        if news.is_whole:
            make_private_directory(folder)
            close_to_others(folder)
            flags |= os.O_CREAT | os.O_TRUNC
        try:
            descriptor = os.open(path, flags, _MODE)
        except FileNotFoundError:
            if news.is_whole:
                raise
            return False
        with open(descriptor, "ab") as file:
            if hasattr(os, "fchmod"):
                os.fchmod(descriptor, _MODE)  # it may have been there, with other rights
            file.write(_encoded(news, self._masking))
        return True

    def make_folder(self, path: str) -> None:
        """Make a private folder, if it is not there. Raises `OSError`."""
        make_private_directory(path)


def _encoded(news: News, masking: Masking) -> bytes:
    from gemini_companion.sessions.interchange.gemini_cli_export import header_for_gemini_cli, messages_for_gemini_cli

    records: list[Any] = [header_for_gemini_cli(news.meta)] if news.is_whole else []
    records += [{"$rewindTo": news.back_to}] if news.back_to is not None else []
    records += messages_for_gemini_cli(news.meta, news.entries, news.contents, news.ids)
    return b"".join(masking.document(msgspec.json.encode(record)) + b"\n" for record in records)
