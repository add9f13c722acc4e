"""How many of the sentences that people labelled are read as they meant them.

`tests/data/rules_as_said.json` was written before anybody looked at the detector, in eight languages: rules as
developers say them, and as many traps. The conversations of `tests/data/natural` have labels of their own. `tests/data/rules_ended.json`, written before too, has
rules beside what ends them and beside what only sounds so, in thirteen languages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.constraints.contradiction import contradicted, weighed
from gemini_companion.engine.constraints.detect import Found, detect
from gemini_companion.engine.history.constraint import Constraint

DATA = Path(__file__).parents[2] / "data"
SAID: dict[str, list[dict[str, Any]]] = json.loads((DATA / "rules_as_said.json").read_text("utf-8"))
ENDED: dict[str, list[dict[str, Any]]] = json.loads((DATA / "rules_ended.json").read_text("utf-8"))
NATURAL: list[dict[str, Any]] = [
    json.loads(path.read_text("utf-8")) for path in sorted((DATA / "natural").glob("*.json"))
]


def rules_in(text: str) -> list[Found]:
    return [found for found in detect(text) if found.certainty != "permission"]


def labelled(kind: str) -> Iterator[tuple[str, list[Found]]]:
    """Each labelled span of a person, folded, and the rules that are found in its prompt."""
    for conversation in NATURAL:
        for label in conversation["gold"].get(kind, ()):
            content = conversation["history"][label["at"]]
            if content["role"] == "user":
                found = [one for part in content["parts"] for one in rules_in(part.get("text", ""))]
                yield fold(label["span"]), found


def fold(text: str) -> str:
    return " ".join(text.split()).casefold()


def is_of(found: Found, span: str) -> bool:
    return fold(found.text) in span or span in fold(found.text)


def share(hits: list[bool]) -> float:
    return sum(hits) / len(hits)


def test_of_what_is_no_rule_next_to_nothing_is_in_force_and_little_is_proposed():
    traps = [[found.certainty for found in rules_in(one["text"])] for one in SAID["sentences"] if not one["rule"]]
    assert share(["plain" in one for one in traps]) <= 0.03
    assert share([bool(one) for one in traps]) <= 0.12


def test_of_what_is_a_rule_most_is_in_force_or_proposed():
    rules = [[found.certainty for found in rules_in(one["text"])] for one in SAID["sentences"] if one["rule"]]
    assert share([bool(one) for one in rules]) >= 0.9
    assert share(["plain" in one for one in rules]) >= 0.6


def test_in_conversations_what_only_sounds_like_a_rule_is_not_in_force():
    none = [*labelled("not_rules"), *labelled("chatter")]
    wrong = [any(one.certainty == "plain" and is_of(one, span) for one in found) for span, found in none]
    assert len(wrong) >= 140
    assert share(wrong) <= 0.03


def test_in_conversations_rules_in_ordinary_words_are_found():
    hits = [any(is_of(one, span) for one in found) for span, found in labelled("rules")]
    assert share(hits) >= 0.4


def test_what_is_only_proposed_says_why():
    texts = [one["text"] for one in SAID["sentences"]] + [one["later"] for one in SAID["endings"]]
    everything = [found for text in texts for found in detect(text)]
    assert {one.certainty for one in everything} == {"plain", "probable", "permission"}
    assert all(bool(one.why) == (one.certainty == "probable") for one in everything)


def standing(text: str) -> list[Constraint]:
    return [
        Constraint(
            constraint_id=found.text, text=found.text, scope="session", state="inForce", created_at=0, source="prompt"
        )
        for found in rules_in(text)
    ]


def is_ended(rule: str, later: str) -> bool:
    return any(
        contradicted(found.text, standing(rule)) is not None for found in detect(later) if found.certainty != "probable"
    )


def may_end(rule: str, later: str) -> bool:
    """Whether it is ended, or the person is asked."""
    plainly = [found for found in detect(later) if found.certainty != "probable"]
    return any(weighed(found.text, in_force(rule)) is not None for found in plainly)


def test_a_rule_that_the_person_takes_back_or_replaces_in_ordinary_words_is_ended_or_asked_about():
    ending = [one for one in SAID["endings"] if one["ends"]]
    assert share([is_ended(one["rule"], one["later"]) for one in ending]) >= 0.8
    assert all(may_end(one["rule"], one["later"]) for one in ending)


def test_a_rule_stands_though_later_words_speak_of_the_same():
    assert not [one for one in SAID["endings"] if not one["ends"] and is_ended(one["rule"], one["later"])]


def in_force(text: str) -> list[Constraint]:
    return [
        Constraint(constraint_id=text, text=text, scope="session", state="inForce", created_at=0, source="prompt"),
    ]


def takes_back(later: str, rule: str) -> bool:
    plainly = [found for found in detect(later) if found.certainty != "probable"]
    return any(contradicted(found.text, in_force(rule)) is not None for found in plainly)


def test_in_thirteen_languages_what_permits_lifts_or_changes_a_rule_ends_it():
    assert len({one["language"] for one in ENDED["ends"]}) == 13
    assert share([takes_back(one["later"], one["rule"]) for one in ENDED["ends"]]) >= 0.95


def test_no_rule_is_ended_by_another_object_a_condition_an_exception_or_a_question():
    assert len(ENDED["stands"]) >= 60
    assert not [one for one in ENDED["stands"] if takes_back(one["later"], one["rule"])]


def test_words_that_may_end_a_rule_end_none_and_are_asked_about():
    assert len({one["language"] for one in ENDED["asked"]}) == 13
    assert not [one for one in ENDED["asked"] if takes_back(one["later"], one["rule"])]
    assert share([may_end(one["rule"], one["later"]) for one in ENDED["asked"]]) >= 0.95


def test_news_of_how_something_is_ends_no_rule_and_asks_nothing():
    assert len({one["language"] for one in ENDED["news"]}) == 13
    assert not [one for one in ENDED["news"] if may_end(one["rule"], one["later"])]


def test_what_only_sounds_like_the_end_of_a_rule_is_not_asked_about():
    assert share([not may_end(one["rule"], one["later"]) for one in ENDED["stands"]]) >= 0.95


def test_korean_russian_and_turkish_rules_are_found_and_their_traps_are_not():
    found = [(one["rule"], [rule.certainty for rule in rules_in(one["text"])]) for one in ENDED["sentences"]]
    assert share(["plain" in kinds for is_one, kinds in found if is_one]) >= 0.95
    assert not [kinds for is_one, kinds in found if not is_one and kinds]


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Never touch the auth module.", "The auth module is fine."),
        ("Never deploy without my approval.", "The deploy is fine."),
        ("Don't delete the users table.", "No, the users table is okay."),
    ],
)
def test_that_a_thing_is_fine_permits_nobody_to_touch_it(rule: str, later: str):
    assert not takes_back(later, rule)
