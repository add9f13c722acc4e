"""A rule is told from a request, a story and chatter, in four languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.facts.patterns import (
    COMMANDS,
    ERROR_HINTS,
    ERRORS,
    MARKED_TASKS,
    NUMBERS,
    SYMBOLS,
    URLS,
    found,
    hinted,
    numbers_in,
)
from gemini_companion.engine.facts.rules import (
    is_announcement,
    is_decision,
    is_plan,
    is_request,
    is_rule,
    may_hold,
    may_hold_rule,
)
from tests.engine.facts.fact_sources import texts

RULES = (
    "Never push to main.",
    "You must ask before you delete anything.",
    "Don't use globals.",
    "Use pnpm instead of npm.",
    "Only touch the tests.",
    "I prefer small functions.",
    "Make sure it builds on Windows.",
    "必ずテストを書いてください。",
    "直接コミットしないで。",
    "変更は src だけにすること。",
    "型を付けるべきです。",
    "グローバル変数は禁止。",
    "なるべく短く書く。",
    "Please don't rename it.",
    "I prefer tabs.",
    "1. Always test.",
    "必ず確認する",
    "消さないで",
    "All public functions must have type hints.",
    "The API should stay backwards compatible.",
    "We never commit generated files.",
    "We only use Postgres 16 in production.",
    "Keep functions under 30 lines.",
    "Use British spelling.",
    "Answer in German.",
    "No new dependencies.",
    "Tests must not touch the network.",
    "legacy/ is off-limits.",
    "From now on, run make lint before every commit.",
    "Please always explain your reasoning in one sentence.",
    "You can't use vim here.",
    "Do not edit files under vendor/.",
    "Every endpoint has to return JSON.",
    "I don't want any comments in the code.",
    "The budget must not exceed $500.",
    "Under no circumstances should you delete the database.",
    "Avoid regexes where a parser would do.",
    "Ask me before installing anything; never use sudo.",
    "Commit messages should be in the imperative mood.",
    "IMPORTANT: do not log tokens.",
    "Remember to never store passwords in plain text.",
    "Verwende niemals globale Variablen.",
    "Bitte antworte immer auf Deutsch.",
    "Keine neuen Abhängigkeiten.",
    "Die Tests dürfen nicht ins Netz gehen.",
    "Du darfst die Datei config.yml nicht ändern.",
    "Nutze pnpm statt npm.",
    "Alle Funktionen müssen Typen haben.",
    "Pushe nie direkt auf main.",
    "不要修改 vendor 目录。",
    "必须使用 TypeScript 严格模式。",
    "请始终用中文回答。",
    "禁止直接提交到主分支。",
    "只能改测试文件。",
    "尽量避免使用全局变量。",
    "依存は増やさないこと。",
    "コメントは日本語で書いてください。",
    "本番のDBには絶対に触らないでください。",
    "I want you to keep the public API stable.",
    "Nothing in src/legacy may be changed.",
    "Stick to the standard library.",
    "Whenever you change the schema, update the docs too.",
    "Please use tabs, not spaces.",
    "It must work on Python 3.11.",
)
NO_RULES = (
    "Never say never!",
    "Go ahead and book the flight.",
    "Yes, please go ahead and cancel it with the gift card.",
    "I've always liked horses.",
    "Can't wait!",
    "That must have been awesome.",
    "Don't worry!",
    "It was only once.",
    "We should navigate to that line in fields.py.",
    "I would expect that to work.",
    "Could you check why it must be called twice?",
    "Mental health's a priority, so make sure you take care of yourself.",
    "Please fix the failing test.",
    "Now add tests for dates.",
    "I can't find the file.",
    "I don't know what happened.",
    "It doesn't work on my machine.",
    "The build only fails on CI.",
    "You should be proud of yourself!",
    "4:EXTRAS_REQUIRE = {",
    "I never got an answer from them.",
    "Why don't we use Redis?",
    "It looks like the file should be in src.",
    "Thanks, that must be it.",
    "Let's only look at the first one.",
    "No problem.",
    "No, that is wrong.",
    "He should have called.",
    "I only have one suitcase.",
    "I need to cancel my reservation.",
    "Ich weiß nicht, warum das passiert.",
    "Ich habe nur eine Frage.",
    "Es war immer so.",
    "Wir sollten uns die Datei ansehen.",
    "昨日は必ず行くと言った。",
    "どこを直すべきですか？",
    "我不能登录。",
    "为什么不能运行？",
    "これはどう動きますか?",
    "The tests don't pass.",
    "The error says it cannot connect.",
    "My order should arrive tomorrow.",
    "I always forget the syntax.",
    "Never mind.",
    "The function returns None instead of raising.",
    "Always happy to help!",
    "I'd like to change my flight to May 20.",
    "Do you always run tests?",
    "The page does not load.",
    "The parser can't handle empty lines.",
)
DECISIONS = (
    "We decided to use Redis.",
    "Let's go with plan B.",
    "We'll use pnpm.",
    "Wir haben beschlossen, Rust zu nehmen.",
    "SQLite を使うことにした。",
    "决定采用方案二。",
)
PLANS = (
    "Next, I will run the tests.",
    "We still need to update the docs.",
    "The parser is not yet tested.",
    "残りはドキュメントです。",
    "接下来修复测试。",
    "Als nächstes folgen die Tests.",
)


@pytest.mark.parametrize("sentence", RULES)
def test_a_rule_binds(sentence: str):
    assert is_rule(sentence)


@pytest.mark.parametrize("sentence", NO_RULES)
def test_a_request_a_story_or_chatter_binds_nobody(sentence: str):
    assert not is_rule(sentence)


@pytest.mark.parametrize(
    "sentence", ["Make sure you take a break!", "You must see my new car.", "Never give up, you are close."]
)
def test_what_people_wish_each_other_binds_nobody(sentence: str):
    assert not is_rule(sentence, between_people=True)


@pytest.mark.parametrize("sentence", DECISIONS)
def test_a_decision_is_one(sentence: str):
    assert is_decision(sentence)
    assert may_hold(sentence.lower())


@pytest.mark.parametrize("sentence", ["What made you decide to move?", "Have we agreed on a date?"])
def test_who_asks_for_a_decision_has_made_none(sentence: str):
    assert not is_decision(sentence)


@pytest.mark.parametrize("sentence", PLANS)
def test_a_plan_is_one(sentence: str):
    assert is_plan(sentence)
    assert may_hold(sentence.lower())


@pytest.mark.parametrize(
    "sentence",
    [
        "Let's look at the file.",
        "Now I will run it.",
        "It looks like the file is there.",
        "I'll try again.",
        "This script will attempt to load the dataset.",
        "The next step is to find the handler.",
    ],
)
def test_what_somebody_is_about_to_do_is_announced(sentence: str):
    assert is_announcement(sentence)


def test_what_asks_for_something_once_is_a_request():
    assert is_request("Go ahead and book it.")
    assert is_request("Which one?")
    assert not is_request("My id is 7.")


@given(texts)
def test_any_text_can_be_judged_and_no_quick_look_hides_a_rule(text: str):
    assert may_hold_rule(text) or not is_rule(text)
    assert {is_decision(text), is_plan(text), is_announcement(text), is_request(text)} <= {True, False}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(
            (NUMBERS, text)
            for text in (
                "port 3000 is taken",
                "127.0.0.1:8080",
                "v1.2.3",
                "Python 3.11",
                "8 May, 2023",
                "PROJ-142",
                "see #77",
                "HAT229",
            )
        ),
        *(
            (NUMBERS, text)
            for text in (
                "gift_card_7480005",
                "commit ad388c7",
                "$1,239.50",
                "3,000円",
                "2024-05-27",
                "250 ms",
                "70%",
                "line 1474",
                "42行目",
                "端口是5432",
            )
        ),
        *(
            (ERRORS, text)
            for text in (
                "ValueError: bad literal",
                "java.io.IOException: gone",
                "src/a.c:12:5: error: expected ';'",
                "error[E0308]: mismatched",
            )
        ),
        *(
            (ERRORS, text)
            for text in (
                "npm ERR! code ELIFECYCLE",
                "sh: foo: command not found",
                "Exit Code: 1",
                "接続エラーが出ました",
                "FAILED tests/a.py::b - no",
                "错误：没有文件",
            )
        ),
        *(
            (COMMANDS, text)
            for text in (
                "$ make test",
                "me@host:~/src$ git log -1",
                r"PS C:\src> dir /b",
                "Run `npm test -- --watch` now.",
            )
        ),
        *((MARKED_TASKS, text) for text in ("- [ ] write the docs", "3. [TODO] add tests", "# FIXME(me) leaks")),
        *(
            (SYMBOLS, text)
            for text in ("call parse_tree()", "the openSocket helper", "`Server.start`", "class HttpServer")
        ),
        (URLS, "see https://example.com/a?b=1#c."),
    ],
)
def test_a_fact_is_found_and_its_hints_let_it_through(kind: object, text: str):
    assert list(found(kind(), text))  # pyright: ignore[reportCallIssue]
    assert kind is not ERRORS or hinted(text.lower(), ERROR_HINTS)


WITH_NUMBERS = st.lists(
    st.one_of(
        st.sampled_from(
            (
                "1",
                "port 8080",
                "v1.2.3-rc.1",
                "12 September",
                "gift_card_" * 2 + "_4711",
                "a" * 20 + "_" + "_".join(["b" * 20] * 4) + "_12",
                "abcdefab-cdef-abcd-efab-cdefabcdefab",
                "0123abcd-0123-0123-0123-0123456789ab",
                "deadbeef" * 4 + "0",
                "JIRA-17",
                "5 ms",
                "ポート 80",
                "#12",
                "$1,000.50",
            )
        ),
        st.integers(0, 300).map("x".__mul__),
        st.integers(0, 300).map("- ".__mul__),
        st.integers(0, 90).map("some words ".__mul__),
    ),
    max_size=8,
).map(" ".join)


@given(WITH_NUMBERS)
def test_looked_for_around_digits_alone_the_same_numbers_are_found(text: str):
    digit = next((place for place, character in enumerate(text) if character.isdigit()), None)
    everywhere = [] if digit is None else list(found(NUMBERS(), text, max(0, digit - 64)))
    assert list(numbers_in(text)) == everywhere
