"""The sections of the settings that say what models may cost, and what answers while one cannot."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

_Tokens: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000_000_000)]
_Dollars: TypeAlias = Annotated[float, Meta(ge=0, le=1_000_000)]


class RoutingSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What happens while a model cannot answer."""

    fallback: bool = True
    """While the model's quota is used up or it is overloaded, a smaller one of its generation answers, and you are told
    so.
    """


class BudgetSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How much may be spent. You are told at 80 %; at 100 % nothing more is sent to a paid model. 0: no limit."""

    session_tokens: _Tokens = 0
    """Tokens of all requests of one chat and their answers. Read only from the user's own file, as the next three."""
    session_cost: _Dollars = 0.0
    """US dollars of one chat, by list prices."""
    day_tokens: _Tokens = 0
    """Tokens of all chats of a project in one day, midnight to midnight where you are."""
    day_cost: _Dollars = 0.0
    """US dollars of all chats of a project in one day, by list prices."""
