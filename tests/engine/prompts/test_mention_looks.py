"""What of the words after an `@` can hardly be anything but a path."""

import pytest

from gemini_companion.engine.prompts.mentions import places_in, without_code


def looks(text: str) -> list[tuple[str, bool]]:
    return [(place.written, place.looks_like_a_path) for place in places_in(text)]


@pytest.mark.parametrize(
    "written", ["@nope/missing.py", "@/etc/passwd", "@missing.py", "@src/", '@"no such"', "@./x", "@.env", "@a\\b"]
)
def test_a_path_looks_like_one(written: str):
    assert looks(f"see {written} now") == [(written, True)]


@pytest.mark.parametrize("written", ["@dataclass", "@anna", "@pytest.fixture", '@app.route("/x")', "@media", "@3"])
def test_a_handle_or_a_decorator_does_not(written: str):
    assert [look for _, look in looks(f"see {written} now")] in ([False], [])


def test_what_ends_a_sentence_is_no_part_of_what_is_written():
    assert looks("Is it in @src/a.py, or (@src/b.py)?") == [("@src/a.py", True), ("@src/b.py", True)]


def test_fenced_code_is_left_out():
    text = "before @a.py\n```ts\nimport '@x/y.ts'\n```\nafter @b.py\n~~~\n@c.py"
    assert [written for written, _ in looks(without_code(text))] == ["@a.py", "@b.py"]
