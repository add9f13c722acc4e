"""Which of a person's words name a file that is withheld."""

import pytest

from gemini_companion.engine.prompts.naming import MAX_READ, names_path

ENV = "/home/me/my project/config/.env"


@pytest.mark.parametrize(
    "text",
    [
        "read .env",
        "Read .env, please.",
        "What is in config/.env?",
        "see ./config/.env",
        "`.env`",
        "(.env)",
        '@"my project/config/.env"',
        r"@my\ project/config/.env",
        r"config\.env",
        "/home/me/my project/config/.env is wrong",
        "~/my project/config/.env",
        "READ .ENV",
        "read .env ...",
        "read .env...",
        ".envを読んで",
        "次の.envです",
    ],
)
def test_a_name_a_path_and_the_end_of_a_path_name_a_file(text: str):
    assert names_path(["Hello.", text], ENV)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the environment",
        "prod.env",
        ".env.local",
        "other/.env",
        "../.env",
        ".envrc",
        ".env-old",
        ".env/secrets",
        "my.env",
        "process.env.HOME",
        "config/ .envs",
    ],
)
def test_a_longer_name_or_another_folder_names_another_file(text: str):
    assert not names_path([text], ENV)


def test_a_word_of_letters_alone_is_a_name_only_where_it_is_marked_as_one():
    path = "/project/build"
    assert not names_path(["Please build it, and look at the build."], path)
    assert all(
        names_path([text], path) for text in ("list `build`", "@build", "list build/", "list build/.", "/project/build")
    )
    assert not names_path(["look at build/out.txt"], path)


def test_names_are_compared_as_signs_not_as_bytes():
    assert names_path(["lies gro\u0308ße.pem"], "/project/größe.pem")


def test_of_a_long_text_the_beginning_and_the_end_are_read():
    filler = "x " * MAX_READ
    assert names_path([f".env {filler}"], ENV)
    assert names_path([f"{filler} .env"], ENV)
    assert not names_path([f"{filler} .env {filler}"], ENV)
