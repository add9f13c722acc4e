"""A title is found anew once the chat is about something else, and never taken from a person."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from gemini_companion.sessions.events import TitleChanged
from gemini_companion.sessions.turn.topic import FEWEST_TURNS, has_moved, words_of
from tests.support.scripted_model import ScriptedModel
from tests.support.sessions import Studio

PARSER = "The parser in the tokenizer module splits identifiers wrongly where underscores stand before digits there"
DEPLOY = "Write deployment manifests for the staging cluster: replicas, probes, secrets, ingress, autoscaling, quotas"


@pytest.mark.parametrize(
    ("before", "since", "moved"),
    [
        ([PARSER], [DEPLOY] * 4, True),
        ([PARSER], [PARSER] * 4, False),
        ([PARSER], [DEPLOY, DEPLOY, PARSER, DEPLOY], False),
        ([PARSER], ["go on", "yes", "and now?", "good"], False),
        ([PARSER], [], False),
        (["解析器把标识符分错了"], ["为预发布集群编写部署清单，包括副本、探针、密钥和入口"], True),
        (["解析器把标识符分错了"], ["解析器把标识符分错了，再看看解析器把标识符分错"], False),
        ([DEPLOY.upper()], [DEPLOY], False),
        ([PARSER], [f"{DEPLOY} {'x' * 10_000} {PARSER}"] * 4, True),
    ],
)
def test_a_topic_has_moved_where_the_newest_prompts_share_hardly_a_word(
    before: list[str], since: list[str], moved: bool
) -> None:
    assert has_moved(words_of(before), since) is moved


def titles_of(studio: Studio) -> list[str]:
    return [event.title for event in studio.heard.of(TitleChanged)]


async def asked(studio: Studio) -> int:
    """How often a title was asked for, once what is under way is done."""
    session = await studio.session()
    await session.write_left()
    return sum(request.role == "utility_title" for request in studio.model.requests)


async def test_a_title_follows_the_topic_and_is_not_asked_for_before(studio: Studio) -> None:
    await studio.chat(PARSER)
    await studio.heard.wait_for(TitleChanged)
    for _ in range(FEWEST_TURNS - 1):
        await studio.chat(DEPLOY)
    assert await asked(studio) == 1
    studio.heard.events.clear()
    studio.model.title = "デプロイの設定"
    await studio.chat(DEPLOY)
    await studio.heard.wait_for(TitleChanged)
    assert titles_of(studio) == ["デプロイの設定"]
    assert (await studio.session()).meta.title == "デプロイの設定"
    request = next(request for request in reversed(studio.model.requests) if request.role == "utility_title")
    assert "autoscaling" in str(request.contents)
    await studio.chat(DEPLOY)
    assert await asked(studio) == 2


async def test_what_the_title_was_made_of_is_read_once_and_not_with_every_turn(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3 * FEWEST_TURNS):
        await studio.chat(PARSER)
    read: list[int] = []

    def counted(texts: Iterable[str]) -> frozenset[str]:
        said = list(texts)
        read.append(len(said))
        return words_of(said)

    monkeypatch.setattr("gemini_companion.sessions.turn.titles.words_of", counted)
    await studio.chat(PARSER)
    assert read == [1], "the title alone"


async def test_on_the_same_topic_the_title_stays(studio: Studio) -> None:
    for _ in range(2 * FEWEST_TURNS):
        await studio.chat(PARSER)
    assert await asked(studio) == 1


async def test_a_title_that_a_person_gave_stays_whatever_is_talked_about(studio: Studio) -> None:
    await studio.chat(PARSER)
    await studio.heard.wait_for(TitleChanged)
    session = await studio.session()
    await studio.app.rename(studio.client, session.session_id, "Mine")
    for _ in range(2 * FEWEST_TURNS):
        await studio.chat(DEPLOY)
    assert await asked(studio) == 1
    assert session.meta.title == "Mine"


async def test_a_title_that_cannot_be_found_anew_leaves_the_earlier_one(studio: Studio) -> None:
    await studio.chat(PARSER)
    await studio.heard.wait_for(TitleChanged)
    studio.model.title = ""
    for _ in range(2 * FEWEST_TURNS):
        await studio.chat(DEPLOY)
    assert await asked(studio) == 2, "not again at once"
    assert (await studio.session()).meta.title == "A title"
    assert isinstance(studio.model, ScriptedModel)
