"""The twelve steps, loaded with the first compression of a process: what needs none of them has none in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemini_companion.sessions.threads import load

if TYPE_CHECKING:
    from gemini_companion.engine.errors import ModelFault
    from gemini_companion.engine.history.log import CompressionResult, Trigger
    from gemini_companion.sessions.compression_state import Compression
    from gemini_companion.sessions.models.registry import ModelChoice
    from gemini_companion.sessions.session import Session


async def execute(session: Session, compression: Compression, choice: ModelChoice | None = None) -> CompressionResult:
    """`run.CompressionRun.execute`."""
    await load("gemini_companion.sessions.compression.run")
    from gemini_companion.sessions.compression.run import CompressionRun

    return await CompressionRun(session=session, compression=compression).execute(choice)


async def install_preview(
    session: Session,
    compression_id: str,
    client: str,
    at_safe_point_of: ModelChoice | None = None,
    *,
    trigger: Trigger | None = None,
    work: CompressionResult | None = None,
) -> CompressionResult:
    """`preview.install_preview`."""
    await load("gemini_companion.sessions.compression.preview")
    from gemini_companion.sessions.compression import preview

    return await preview.install_preview(session, compression_id, client, at_safe_point_of, trigger=trigger, work=work)


async def hand_on(
    session: Session, failed: CompressionResult, fault: ModelFault | None, choice: ModelChoice | None
) -> CompressionResult:
    """`handing_on.hand_on`."""
    await load("gemini_companion.sessions.compression.handing_on")
    from gemini_companion.sessions.compression import handing_on

    return await handing_on.hand_on(session, failed, fault, choice)


async def cut_alone(session: Session, choice: ModelChoice) -> CompressionResult | None:
    """`handing_on.cut_alone`."""
    await load("gemini_companion.sessions.compression.handing_on")
    from gemini_companion.sessions.compression import handing_on

    return await handing_on.cut_alone(session, choice)
