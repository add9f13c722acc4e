"""What is compared: the product with and without its safeguards, and what others do instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from gemini_companion.engine.errors import InvalidInput

BaselineName = Literal["none", "drop-oldest", "mask-only", "gemini-cli", "codex"]


class Arm(msgspec.Struct, frozen=True, kw_only=True):
    """One way to treat a history that grows."""

    name: str
    description: str
    gate: bool = True
    """The fidelity gate looks at each snapshot before it is installed."""
    ledger: bool = True
    """The user's rules stand outside of the history; without it only the summariser's prompt asks to keep them."""
    baseline: BaselineName | None = None
    """What is done instead of the product's compression."""


_ARMS: Final = (
    Arm(name="full", description="the product as it is shipped: gate and ledger"),
    Arm(name="no-gate", description="the product without the gate", gate=False),
    Arm(name="no-ledger", description="the product without the ledger", ledger=False),
    Arm(name="prompt-only", description="neither gate nor ledger: only the prompt asks", gate=False, ledger=False),
    Arm(name="none", description="no compression", baseline="none"),
    Arm(
        name="drop-oldest",
        description="whole turns dropped from the old end, to the tokens that `full` needs",
        baseline="drop-oldest",
    ),
    Arm(
        name="mask-only",
        description="tool outputs masked, oldest first, to the tokens of `full` or as far as that goes",
        baseline="mask-only",
    ),
    Arm(
        name="gemini-cli",
        description="Gemini CLI's published rule: 70/30 by characters, outputs within 50,000 tokens, two passes",
        baseline="gemini-cli",
    ),
    Arm(
        name="codex",
        description="the user's messages, newest first, to 20,000 tokens, then the summary; no answers kept",
        baseline="codex",
    ),
)

ARMS: Final[Mapping[str, Arm]] = {arm.name: arm for arm in _ARMS}
"""Every arm, the product's first."""


def named_arm(name: str) -> Arm:
    """An arm by its name. Raises `InvalidInput`."""
    arm = ARMS.get(name)
    if arm is None:
        raise InvalidInput(f"{name!r} is no arm.", hint=f"Known: {', '.join(ARMS)}.")
    return arm
