"""`.env` files: read as Gemini CLI reads them, and what of them counts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gemini_companion.settings.dotenv import parse_env
from gemini_companion.settings.env_files import EXCLUDED
from gemini_companion.settings.in_force import place_of, settings_in_force
from tests.support.settings_desk import Desk, only_problem, write

posix_only = pytest.mark.skipif(os.name != "posix", reason="there are no such bits here")

READ_BY_GEMINI_CLI: list[tuple[str, dict[str, str]]] = [
    ("A=1\nB=two words  \n\n# note\nC=three # note\nD=a#b", {"A": "1", "B": "two words", "C": "three", "D": "a"}),
    ("export A=1\nexport   B='2'\n  C = 3\nD: 4\nE:5", {"A": "1", "B": "2", "C": "3", "D": "4"}),
    (
        "A='single # kept'\nB=\"double # kept\" # gone\nC=`back # kept`",
        {"A": "single # kept", "B": "double # kept", "C": "back # kept"},
    ),
    (
        "A=\"one\\ntwo\"\nB='one\\ntwo'\nC=one\\ntwo\nD=\"a\\\"b\"\nE='it\\'s'",
        {"A": "one\ntwo", "B": "one\\ntwo", "C": "one\\ntwo", "D": 'a\\"b', "E": "it\\'s"},
    ),
    ('A="first\nsecond\nthird"\nB=after', {"A": "first\nsecond\nthird", "B": "after"}),
    ("A='first\nsecond' # note\nB=after", {"A": "first\nsecond", "B": "after"}),
    ('A="open\nB=next', {"A": '"open', "B": "next"}),
    ('A=\'it\'s here\'\nB="x" y\nC="x" "y"', {"A": "it's here", "B": '"x" y', "C": 'x" "y'}),
    ("A=\nB=''\nC=\"\"\nD", {"A": "", "B": "", "C": ""}),
    ("A=1\r\nB=2\rC=3", {"A": "1", "B": "2", "C": "3"}),
    ("A=1\nA=2", {"A": "2"}),
    ("A.b-c=1\n1X=2\nÄ=3\nA B=4\n=5", {"A.b-c": "1", "1X": "2"}),
    ("A=$HOME/${B}\nB=~/x", {"A": "$HOME/${B}", "B": "~/x"}),
    ("A='C:\\dir\\'\nB=1", {"A": "C:\\dir\\", "B": "1"}),
    ('A="trailing\\\\"\nB=2', {"A": "trailing\\\\", "B": "2"}),
    ('A = "  kept  "\nB=   bare   ', {"A": "  kept  ", "B": "bare"}),
    ("A=a=b=c\nB==x", {"A": "a=b=c", "B": "=x"}),
    ("#A=1\n  # B=2\nC=3#", {"C": "3"}),
    ('A=`multi\nline`\nB="it\'s"\nC=\'say "hi"\'', {"A": "multi\nline", "B": "it's", "C": 'say "hi"'}),
    ("A=-----BEGIN KEY-----\nabc\n-----END KEY-----\nB=1", {"A": "-----BEGIN KEY-----", "B": "1"}),
    ("exportA=1\nexport\nB=2", {"exportA": "1", "B": "2"}),
    ("A=\"x\"# tight\nB='y'z", {"A": "x", "B": "'y'z"}),
    ("A= \"x\"\nB=\t'y'\t\nC=x\ty", {"A": "x", "B": "y", "C": "x\ty"}),
]
"""Texts, and what Gemini CLI 0.61 reads of them, by its own parser."""


@pytest.mark.parametrize(("text", "expected"), READ_BY_GEMINI_CLI)
def test_a_text_is_read_as_gemini_cli_reads_it(text: str, expected: dict[str, str]):
    assert {variable.name: variable.value for variable in parse_env(text)} == expected


def test_a_variable_knows_its_line_also_behind_values_of_several_lines():
    text = "# first\nA='1\n2\n3'\n\nB=4\r\nC=5"
    assert [(one.name, one.line) for one in parse_env(text)] == [("A", 2), ("B", 6), ("C", 7)]


# --- which files count


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, {"FROM_PROCESS": "process", "EMPTY": ""})


def put(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, text)
    return path


def test_the_process_counts_before_the_project_and_that_before_the_persons_own_file(desk: Desk):
    put(desk.workspace / ".env", "FROM_PROCESS=x\nEMPTY=x\nBOTH=project\nPROJECT=1")
    put(desk.home / ".gemini/.env", "FROM_PROCESS=y\nBOTH=own\nOWN=1")
    found = desk.load().environment
    names = ("FROM_PROCESS", "EMPTY", "BOTH", "PROJECT", "OWN")
    assert [found.everything[name] for name in names] == ["process", "", "project", "1", "1"]
    assert (found["BOTH"], "PROJECT" in found) == ("own", False)
    assert len(found) == len(list(found)) == len({*desk.env, *names} - {"PROJECT"})


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        (["work/.env", "work/.gemini/.env", ".env"], "work/.gemini/.env"),
        (["work/.env", ".gemini/.env"], "work/.env"),
        ([".gemini/.env", ".env"], ".gemini/.env"),
        ([".env"], ".env"),
    ],
)
def test_the_nearest_file_upwards_counts_and_that_of_a_gemini_folder_first(
    tmp_path: Path, desk: Desk, there: list[str], expected: str
):
    for name in there:
        put(tmp_path / name, f"WHICH={name}")
    assert desk.load().environment.everything["WHICH"] == expected


def test_a_project_below_the_home_folder_never_takes_the_persons_own_file_for_its_own(tmp_path: Path):
    desk = Desk(tmp_path)
    project = desk.home / "code/project"
    put(desk.home / ".env", "WHICH=own")
    put(tmp_path / ".env", "WHICH=above")
    project.mkdir(parents=True)
    desk.loader.move_to([str(project)])
    assert desk.load().environment.everything["WHICH"] == "own"


def test_of_the_home_folder_the_file_of_the_gemini_folder_counts_alone(desk: Desk):
    put(desk.home / ".env", "A=plain\nB=plain")
    put(desk.home / ".gemini/.env", "A=own")
    found = desk.load().environment
    assert (found["A"], found.get("B")) == ("own", None)


def test_nothing_of_an_untrusted_project_is_read_and_everything_of_the_persons_own_file(desk: Desk):
    put(desk.workspace / ".gemini/.env", "GEMINI_API_KEY=theirs\nGOOGLE_CLOUD_PROJECT=theirs\nGEMINI_MODEL=theirs")
    put(desk.home / ".gemini/.env", "GEMINI_API_KEY=mine\nGOOGLE_GEMINI_BASE_URL=https://proxy.example")
    found = desk.load(trusted=False)
    assert found.environment["GEMINI_API_KEY"] == "mine"
    assert found.environment["GOOGLE_GEMINI_BASE_URL"] == "https://proxy.example"
    assert "GOOGLE_CLOUD_PROJECT" not in found.environment
    assert (found.settings.model_name, found.problems) == (None, ())


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("GOOGLE_GEMINI_BASE_URL=https://evil.example", "chooses who gets the conversation"),
        ("GOOGLE_VERTEX_BASE_URL=https://evil.example", "chooses who gets the conversation"),
        ("GEMINI_MODEL=projects/evil/locations/l/endpoints/1", "chooses who gets the conversation"),
        ("GEMINI_SYSTEM_MD=/home/me/.ssh/id_ed25519", "names a file"),
        ("GEMINI_WRITE_SYSTEM_MD=~/.bashrc", "names a file"),
    ],
)
def test_a_project_does_not_say_where_the_conversation_goes_even_a_trusted_one(desk: Desk, line: str, why: str):
    file = put(desk.workspace / ".env", f"# ours\n{line}\nOTHER=1")
    found = desk.load()
    name = line.partition("=")[0]
    problem = only_problem(found)
    assert problem.message.startswith(f"{file}:2: {name}: {why}")
    assert "~/.gemini/.env" in problem.hint
    assert name not in found.environment
    assert found.environment.everything["OTHER"] == "1"
    put(desk.home / ".gemini/.env", line)
    file.unlink()
    again = desk.load()
    assert (again.problems, name in again.environment) == ((), True)


def test_a_project_may_turn_its_own_system_prompt_on(desk: Desk):
    put(desk.workspace / ".env", "GEMINI_SYSTEM_MD=true")
    found = desk.load()
    assert (found.environment["GEMINI_SYSTEM_MD"], found.problems) == ("true", ())


def test_what_a_project_may_not_say_is_not_told_where_the_environment_says_it(tmp_path: Path):
    desk = Desk(tmp_path, {"GOOGLE_GEMINI_BASE_URL": "https://mine.example"})
    put(desk.workspace / ".env", "GOOGLE_GEMINI_BASE_URL=https://evil.example")
    found = desk.load()
    assert (found.environment["GOOGLE_GEMINI_BASE_URL"], found.problems) == ("https://mine.example", ())


def test_excluded_variables_count_in_a_gemini_folder_alone_and_the_lists_of_all_layers_are_united(desk: Desk):
    desk.user({"advanced": {"excludedEnvVars": ["MINE"]}})
    desk.work({"advanced": {"excludedEnvVars": ["THEIRS", 3]}})
    assert desk.load().environment.everything.get("MINE") is None
    desk.work({"advanced": {"excludedEnvVars": ["THEIRS"]}})
    text = "MINE=1\nTHEIRS=1\nOTHER=1\n" + "".join(f"{name}=1\n" for name in EXCLUDED)
    put(desk.workspace / ".env", text)
    found = desk.load()
    assert set(found.environment.everything) - desk.env.keys() == {"OTHER"}
    (desk.workspace / ".env").unlink()
    put(desk.workspace / ".gemini/.env", text)
    assert set(desk.load().environment.everything) - desk.env.keys() == {"MINE", "THEIRS", "OTHER", *EXCLUDED}


def test_a_projects_plain_file_can_be_passed_over_but_not_its_gemini_folders_nor_the_persons(desk: Desk):
    desk.user({"advanced": {"ignoreLocalEnv": True}})
    put(desk.workspace / ".env", "A=plain")
    put(desk.home / ".env", "A=own")
    assert desk.load().environment.everything["A"] == "own"
    put(desk.workspace / ".gemini/.env", "A=gemini")
    assert desk.load().environment.everything["A"] == "gemini"


@posix_only
@pytest.mark.parametrize("who", ["group", "others", "owner of the folder"])
def test_a_file_above_the_project_that_others_may_write_is_passed_over_and_told(tmp_path: Path, desk: Desk, who: str):
    file = put(tmp_path / "shared/.env", "A=1")
    project = tmp_path / "shared/project"
    project.mkdir()
    desk.loader.move_to([str(project)])
    assert desk.load().environment.everything["A"] == "1"
    if who == "owner of the folder":
        file.parent.chmod(0o777)
    else:
        file.chmod(0o620 if who == "group" else 0o602)
    found = desk.load()
    assert only_problem(found).message.startswith(f"{file}: is skipped, for ")
    assert "A" not in found.environment.everything


# --- broken files


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"A=\xff", ":1:3: is not UTF-8"), (b"A=1\n" * 400_000, ": is larger than"), (None, ": is not a regular file")],
)
def test_a_broken_file_is_told_with_its_place_and_what_it_held_counts_on(desk: Desk, content: bytes | None, why: str):
    file = put(desk.workspace / ".env", "A=1")
    assert desk.load().environment.everything["A"] == "1"
    if content is None:
        file.unlink()
        file.mkdir()
    else:
        file.write_bytes(content)
    found = desk.load()
    assert only_problem(found).message.startswith(f"{file}{why}")
    assert found.environment.everything["A"] == "1"
    assert "what it last held" in only_problem(found).hint


def test_values_with_a_nul_and_lines_that_say_nothing_are_passed_over(desk: Desk):
    put(desk.workspace / ".env", b"A=1\0\n=\nB\n\xef\xbb\xbf\nC=2\n")
    found = desk.load()
    assert set(found.environment.everything) - desk.env.keys() == {"C"}


# --- what they are for


def test_the_persons_settings_are_filled_in_from_their_own_file_and_the_model_is_named_by_a_projects(desk: Desk):
    put(desk.workspace / ".env", "TOKEN=theirs\nGEMINI_MODEL=gemini-9")
    put(desk.home / ".gemini/.env", "TOKEN=mine")
    desk.user({"mcpServers": {"s": {"command": "x", "env": {"T": "$TOKEN"}}}, "model": {"name": "gemini-8"}})
    (server,) = desk.load().settings.mcp.servers
    assert server.written is not None
    assert (dict(server.env), dict(server.written.env)) == ({"T": "mine"}, {"T": "$TOKEN"})
    assert [(one.name, one.origin) for one in server.references] == [("TOKEN", "your ~/.gemini/.env")]
    assert desk.load().settings.model_name == "gemini-9"
    assert dict(desk.load(trusted=False).settings.mcp.servers[0].env) == {"T": "mine"}


def test_a_setting_that_a_file_decides_names_the_file_and_the_line(desk: Desk):
    file = put(desk.workspace / ".gemini/.env", "# model\nGEMINI_MODEL=gemini-9\nGEMINI_PROMPT_GIT_STATE=0")
    listed = {one.key: one for one in settings_in_force(desk.load())}
    assert place_of(listed["model.name"]) == f"environment, GEMINI_MODEL, {file}:2"
    assert (listed["companion.prompt.gitState"].value, listed["companion.prompt.gitState"].line) == (False, 3)
    desk.env["GEMINI_MODEL"] = "gemini-7"
    listed = {one.key: one for one in settings_in_force(desk.load())}
    assert place_of(listed["model.name"]) == "environment, GEMINI_MODEL"


def test_a_secret_of_a_file_is_masked_wherever_a_setting_shows_it(desk: Desk):
    put(desk.workspace / ".env", "MY_TOKEN=correcthorse")
    desk.user({"telemetry": {"outfile": "/x/correcthorse/y"}})
    listed = {one.key: one.value for one in settings_in_force(desk.load())}
    assert listed["telemetry.outfile"] == "/x/••••/y"


def test_files_that_may_come_are_watched_and_the_one_that_was_found_above(tmp_path: Path, desk: Desk):
    above = put(tmp_path / ".env", "A=1")
    desk.load()
    assert {above, desk.workspace / ".env", desk.workspace / ".gemini/.env", desk.home / ".gemini/.env"} <= set(
        desk.loader.files
    )
