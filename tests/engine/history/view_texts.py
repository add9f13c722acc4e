"""Small conversations for the tests of the view."""

from __future__ import annotations

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import visible_text
from tests.support.logs import Book


def texts(contents: list[Content]) -> list[str]:
    return [visible_text(content) for content in contents]


def talk(turns: int, *, book: Book | None = None, start: int = 0) -> Book:
    book = book or Book()
    for number in range(start, start + turns):
        book.say(f"question {number} " + "word " * 50, f"answer {number} " + "text " * 50)
    return book


def kinds(book: Book) -> list[str]:
    return [item.kind for item in book.history.items]
