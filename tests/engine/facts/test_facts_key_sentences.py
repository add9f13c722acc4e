"""The sentences that say most come first, from all over the conversation."""

from __future__ import annotations

from hypothesis import given

from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.key_sentences import key_sentences, words_of
from tests.engine.facts.fact_sources import call, chat, result, sources, sources_of


def test_a_dated_fact_beats_a_greeting_and_a_question():
    said = key_sentences(
        chat(
            "Hey Mel! How have you been?",
            "Hey! I ran a charity race in Boston on May 27. What about you?",
            "Wow, that is great!",
        )
    )
    assert said[0].text == "I ran a charity race in Boston on May 27."


def test_the_speaker_is_the_name_that_a_line_opens_with_and_the_sentence_stands_without_it():
    (sentence, *_) = key_sentences(
        chat("[1:56 pm on 8 May, 2023] Ann: I went to a support group in Lisbon yesterday.", "ok")
    )
    assert (sentence.speaker, sentence.text) == ("Ann", "I went to a support group in Lisbon yesterday.")


def test_every_stretch_of_a_long_conversation_is_heard():
    turns = [f"I found bug number {number} in module_{number} on Monday." for number in range(200)]
    first = {sentence.index for sentence in key_sentences(chat(*turns))[:100]}
    assert all(any(start <= index < start + 10 for index in first) for start in range(0, 200, 10))


def test_chatter_is_left_out_even_where_there_is_room():
    turns = [
        "Wow, that's great!",
        "I moved to Lisbon on May 3 with Ann.",
        "Cool, sounds good!",
        "Bob bought a boat in Porto yesterday.",
    ] * 5
    found = {sentence.text for sentence in key_sentences(chat(*turns))}
    assert found == {"I moved to Lisbon on May 3 with Ann.", "Bob bought a boat in Porto yesterday."}


def test_guidance_comes_before_all_else():
    items = chat(
        "I bought a red car in Paris on May 3, 2024 for $9,000.",
        "The cache is small.",
        "My database runs on Postgres.",
        "We met Ann in Rome.",
    )
    assert key_sentences(items, guidance="keep all about the database")[0].text == "My database runs on Postgres."


def test_tool_outputs_and_the_editor_are_not_heard():
    editor = FactSource(9, chat("I moved to Boston on May 27.")[0].content, 9, ide_context=True)
    assert key_sentences([*sources_of([call("ls"), result("I found the answer in Boston on May 27.")]), editor]) == []


def test_japanese_is_compared_by_pairs_of_characters():
    assert words_of("東京タワー") == ["東京", "京タ", "タワ", "ワー"]
    assert words_of("Fix parse_tree now") == ["fix", "parse_tree", "now"]


@given(sources)
def test_key_sentences_stand_in_their_contents_and_come_once(items: list[FactSource]):
    found = key_sentences(items)
    by_index = {item.index: item for item in items}
    assert len({sentence.text for sentence in found}) == len(found)
    for sentence in found:
        said = [part["text"] for part in by_index[sentence.index].content.parts if isinstance(part.get("text"), str)]
        assert any(sentence.text in text for text in said)
    assert found == key_sentences(items)
