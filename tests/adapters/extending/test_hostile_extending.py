"""Command files and skills that are hostile: many, huge, linked elsewhere, oddly named, in circles."""

import os
import sys
from pathlib import Path

import pytest

from gemini_companion.adapters.extending.command_files import MAX_FILES, DiskCommandFiles
from gemini_companion.adapters.extending.skill_files import MAX_RESOURCES, DiskSkillFiles
from gemini_companion.adapters.extending.walking import MAX_ENTRIES
from gemini_companion.sessions.commands.files import CommandsRead, FileWish
from gemini_companion.sessions.skills.files import SkillFile
from gemini_companion.tools.tool import ToolRefusal

SKILL = "---\nname: {}\ndescription: d\n---\nB\n"


class Places:
    """A home and a project, in real folders."""

    def __init__(self, root: Path) -> None:
        self.home, self.project, self.elsewhere = (root / name for name in ("home", "project", "elsewhere"))
        for folder in (self.home, self.project, self.elsewhere):
            folder.mkdir()
        self.own = self.home / ".gemini" / "commands"
        self.theirs = self.project / ".gemini" / "commands"
        self.own.mkdir(parents=True)
        self.theirs.mkdir(parents=True)

    def wish(self, *, trusted: bool = True) -> FileWish:
        return FileWish(folders=(str(self.project),), trusted=trusted)

    async def commands(self) -> CommandsRead:
        return await DiskCommandFiles(str(self.home)).read(self.wish())

    async def skills(self) -> dict[str, SkillFile]:
        read = await DiskSkillFiles(str(self.home)).read(self.wish())
        return {skill.name: skill for skill in read.skills}


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(Path(os.path.realpath(tmp_path)))


async def test_of_ten_thousand_files_a_bounded_number_counts_and_that_is_told(places: Places) -> None:
    for number in range(10_000):
        (places.theirs / f"c{number:05d}.toml").write_bytes(b'prompt = "x"')
    (places.own / "mine.toml").write_bytes(b'prompt = "x"')
    read = await places.commands()
    assert len(read.files) <= MAX_FILES < MAX_ENTRIES
    assert "mine" in {file.name for file in read.files}
    assert len(read.problems) <= 2
    assert any("not this one" in one.message or "not all count" in one.message for one in read.problems)


@pytest.mark.parametrize("line", ["a." * 60_000 + "a = 1", "[" + "a." * 60_000 + "a]", '"a" . ' * 20_000 + "a = 1"])
async def test_a_key_of_thousands_of_parts_costs_its_own_file_and_is_not_parsed(
    places: Places, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tomllib

    seen: list[int] = []
    parse = tomllib.loads
    monkeypatch.setattr("tomllib.loads", lambda text: seen.append(len(text)) or parse(text))
    (places.theirs / "slow.toml").write_text(f'prompt = "x"\n{line}\n')
    (places.theirs / "long.toml").write_text('prompt = "' + "One sentence. Another, e.g. this. " * 200 + '"')
    read = await places.commands()
    assert [file.name for file in read.files] == ["long"]
    assert [one.message for one in read.problems if "too many parts" in one.message]
    assert max(seen) < 10_000


async def test_a_file_of_a_hundred_megabytes_is_not_opened(places: Places) -> None:
    with (places.theirs / "huge.toml").open("wb") as file:
        file.truncate(100 * 2**20)
    read = await places.commands()
    assert read.files == ()
    assert [one.message for one in read.problems] == ["it is larger than 256 KB"]


async def test_no_link_leads_out_of_a_project_and_the_persons_own_links_are_followed(places: Places) -> None:
    (places.elsewhere / "x.toml").write_bytes(b'prompt = "secret"')
    (places.elsewhere / "more").mkdir()
    (places.elsewhere / "more" / "y.toml").write_bytes(b'prompt = "secret"')
    for folder in (places.theirs, places.own):
        (folder / "x.toml").symlink_to(places.elsewhere / "x.toml")
        (folder / "more").symlink_to(places.elsewhere / "more")
    read = await places.commands()
    assert {(file.scope, file.name) for file in read.files} == {("user", "x"), ("user", "more:y")}


async def test_a_projects_folder_that_is_a_link_itself_has_no_commands(places: Places) -> None:
    (places.elsewhere / "x.toml").write_bytes(b'prompt = "secret"')
    places.theirs.rmdir()
    places.theirs.symlink_to(places.elsewhere)
    assert (await places.commands()).files == ()


async def test_folders_in_a_circle_are_gone_through_once(places: Places) -> None:
    (places.own / "a").mkdir()
    (places.own / "a" / "back").symlink_to(places.own)
    (places.own / "a" / "c.toml").write_bytes(b'prompt = "x"')
    assert [file.name for file in (await places.commands()).files] == ["a:c"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
async def test_names_with_signs_that_control_or_are_no_text_are_plain_where_they_are_shown(places: Places) -> None:
    for name in (b"red\x1b[31m.toml", b"line\nbreak.toml", b"\xff\xfe.toml", b"-dash.toml", "\u202egpj.toml".encode()):
        Path(os.fsdecode(os.fsencode(places.own) + b"/" + name)).write_bytes(b'prompt = "x"\ndescription = "a\\u001bb"')
    read = await places.commands()
    assert len(read.files) == 5
    for file in read.files:
        assert (file.name + file.path + file.description).isprintable()
        (file.name + file.path + file.description).encode()
        assert set(file.name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")


async def test_what_is_wrong_with_a_file_is_told_with_its_line(places: Places) -> None:
    texts = {
        "syntax": ('description = "d"\nprompt = "x\n', 2, "no TOML"),
        "none": ('description = "d"\n', 1, "no prompt"),
        "number": ('description = "d"\nprompt = 3\n', 2, "no text"),
        "blank": ('\nprompt = "  "\n', 2, "empty"),
        "braces": ('prompt = """\nfirst\nR !{echo {a}\n"""\n', 3, "not closed"),
        "binary": ("\x00\x01\x02", 1, "no"),
        "secret": ("prompt = 'x'" * 30_000, 1, "larger"),
    }
    for name, (text, _, _) in texts.items():
        (places.own / f"{name}.toml").write_text(text, "utf-8")
    (places.own / "good.toml").write_text("prompt = 'x'", "utf-8")
    read = await places.commands()
    assert [file.name for file in read.files] == ["good"]
    told = {Path(one.path).stem: one for one in read.problems}
    assert told.keys() == texts.keys()
    for name, (_, line, words) in texts.items():
        assert (name, told[name].line) == (name, line)
        assert words in told[name].message


async def test_a_skills_files_are_read_from_its_folder_alone(places: Places) -> None:
    folder = places.project / ".agents" / "skills" / "letters"
    (folder / "deep").mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL.format("letters"), "utf-8")
    (folder / "deep" / "a.md").write_text("A", "utf-8")
    (folder / ".env").write_text("KEY=1", "utf-8")
    (places.elsewhere / "b.md").write_text("B", "utf-8")
    (folder / "out.md").symlink_to(places.elsewhere / "b.md")
    (folder / "out").symlink_to(places.elsewhere)
    files = DiskSkillFiles(str(places.home))
    (skill,) = (await files.read(places.wish())).skills
    assert (await files.resources(skill)).paths == ("deep/a.md",)
    assert await files.resource(skill, "deep/a.md") == "A"
    for path in (
        "out.md",
        "out/b.md",
        "../../../x",
        "/etc/passwd",
        "",
        ".",
        "deep",
        ".env",
        "a\0b",
        "deep/../../letters",
    ):
        with pytest.raises(ToolRefusal):
            await files.resource(skill, path)


async def test_of_many_resources_some_are_named_and_the_others_counted(places: Places) -> None:
    folder = places.home / ".gemini" / "skills" / "many"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL.format("many"), "utf-8")
    for number in range(MAX_RESOURCES + 7):
        (folder / f"{number}.md").touch()
    files = DiskSkillFiles(str(places.home))
    (skill,) = (await files.read(places.wish())).skills
    found = await files.resources(skill)
    assert (len(found.paths), found.more) == (MAX_RESOURCES, 7)


async def test_the_later_place_of_a_skill_wins_and_without_trust_only_the_persons_own_count(places: Places) -> None:
    for place in (places.home / ".gemini", places.home / ".agents", places.project / ".gemini"):
        folder = place / "skills" / "s"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: s\ndescription: {folder}\n---\n", "utf-8")
    assert (await places.skills())["s"].scope == "workspace"
    read = await DiskSkillFiles(str(places.home)).read(places.wish(trusted=False))
    assert [(skill.scope, ".agents" in skill.path) for skill in read.skills] == [("user", True)]


async def test_a_file_is_parsed_again_only_after_it_has_changed(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tomllib

    parsed: list[str] = []
    real = tomllib.loads

    def loads(text: str) -> dict[str, object]:
        parsed.append(text)
        return real(text)

    monkeypatch.setattr(tomllib, "loads", loads)
    file = places.own / "a.toml"
    file.write_text("prompt = 'x'", "utf-8")
    files = DiskCommandFiles(str(places.home))
    await files.read(places.wish())
    await files.read(places.wish())
    assert len(parsed) == 1
    file.write_text("prompt = 'yy'", "utf-8")
    assert (await files.read(places.wish())).files[0].prompt == "yy"
    assert len(parsed) == 2


async def test_a_nul_does_not_cost_a_command_or_a_skill(places: Places) -> None:
    (places.own / "odd.toml").write_bytes(b'prompt = "a\0b"\n')
    folder = places.home / ".gemini" / "skills" / "odd"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(SKILL.format("odd").encode() + b"a\0b\n")
    read = await places.commands()
    assert ([one.name for one in read.files], read.problems) == (["odd"], ())
    assert r"a\x00b" in (await places.skills())["odd"].body
