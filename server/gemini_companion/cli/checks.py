"""The result of one check of `doctor`."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Verdict: TypeAlias = Literal["ok", "warning", "failed"]


class Check(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one check: a verdict, a sentence, and what to do."""

    name: str
    verdict: Verdict
    detail: str
    hint: str = ""
