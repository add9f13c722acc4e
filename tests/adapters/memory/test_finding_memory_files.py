"""Memory files on a disk that is not always friendly."""

import json
import os
from pathlib import Path

import msgspec
import pytest

from gemini_companion.adapters.memory.files import MAX_FILES, DiskMemoryFiles
from gemini_companion.adapters.memory.opening import MAX_BYTES
from gemini_companion.engine.errors import InvalidInput, StorageFault
from gemini_companion.engine.memory.tiers import MemoryFile
from gemini_companion.sessions.memory.port import MemoryWish


class Desk:
    """A home and a project with a git folder."""

    def __init__(self, base: Path) -> None:
        self.home, self.project = base / "home", base / "project"
        (self.project / ".git").mkdir(parents=True)
        (self.home / ".gemini").mkdir(parents=True)
        self.files = DiskMemoryFiles(self.home)
        self.wish = MemoryWish(
            folders=(str(self.project),), trusted=True, names=("GEMINI.md", "AGENTS.md"), form="tree", max_dirs=200
        )

    def write(self, name: str, text: str | bytes = "rules", *, base: Path | None = None) -> Path:
        path = (base or self.project) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    async def read(self, **wish: object) -> dict[str, MemoryFile]:
        """By path below the project, or absolute."""
        read = await self.files.read(msgspec.structs.replace(self.wish, **wish))
        return {file.path.removeprefix(f"{self.project}/"): file for file in read.files}

    async def around(self, *names: str) -> list[str]:
        found = await self.files.around([str(self.project / name) for name in names], self.wish)
        return [file.path.removeprefix(f"{self.project}/") for file in found]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(Path(os.path.realpath(tmp_path)))


async def test_below_is_searched_breadth_first_in_so_many_folders(desk: Desk):
    for name in ("a/b/c/GEMINI.md", "a/GEMINI.md", "b/AGENTS.md", "z/GEMINI.md"):
        desk.write(name)
    assert list(await desk.read()) == ["a/GEMINI.md", "b/AGENTS.md", "z/GEMINI.md", "a/b/c/GEMINI.md"]
    assert list(await desk.read(max_dirs=3)) == ["a/GEMINI.md", "b/AGENTS.md", "z/GEMINI.md"]
    assert await desk.read(max_dirs=0) == {}


async def test_other_markers_lead_up_to_the_top_but_never_to_the_home_folder_or_past_it(tmp_path: Path):
    desk = Desk(Path(os.path.realpath(tmp_path)))
    base, inner = desk.project.parent, desk.project / "apps/one"
    inner.mkdir(parents=True)
    os.rmdir(desk.project / ".git")
    desk.write(".top")
    desk.write("GEMINI.md", "@secrets.md")
    desk.write("secrets.md", "above")
    desk.write("GEMINI.md", "outside", base=base)
    found = await desk.read(folders=(str(inner),), markers=(".top",))
    assert list(found) == ["GEMINI.md"]
    assert "above" in found["GEMINI.md"].text
    assert await desk.read(folders=(str(inner),), markers=()) == {}
    for marker in ("home", "home/..", base.name, "/"):
        assert await desk.read(folders=(str(inner),), markers=(marker,)) == {}, marker
    own = Desk(base / "other")
    below = own.home / "code/one"
    below.mkdir(parents=True)
    own.write("GEMINI.md", "the person's", base=own.home)
    assert await own.read(folders=(str(below),), markers=(".gemini",)) == {}


async def test_what_ignore_files_hide_is_not_found_below_nor_around_what_is_touched(desk: Desk):
    desk.write(".gitignore", "node_modules/\n")
    desk.write(".geminiignore", "a/GEMINI.md\n")
    for name in ("node_modules/x/GEMINI.md", "a/GEMINI.md", "a/AGENTS.md", ".git/GEMINI.md"):
        desk.write(name)
    assert list(await desk.read()) == ["a/AGENTS.md"]
    assert await desk.around("node_modules/x/i.js", "a/x.py", ".git/config") == ["a/AGENTS.md"]


async def test_around_a_path_are_the_folders_below_the_workspace_folder_that_lead_to_it(desk: Desk):
    for name in ("GEMINI.md", "a/GEMINI.md", "a/b/GEMINI.md", "c/GEMINI.md"):
        desk.write(name)
    assert await desk.around("a/b/not/there.py") == ["a/GEMINI.md", "a/b/GEMINI.md"]
    assert await desk.around("x.py", "../outside.py", "\0") == []
    desk.wish = msgspec.structs.replace(desk.wish, trusted=False)
    assert await desk.around("a/b/x.py") == []


async def test_a_memory_file_that_is_a_link_out_of_the_project_is_not_read(desk: Desk):
    outside = desk.write("passwords.txt", "hunter2", base=desk.home)
    (desk.project / "GEMINI.md").symlink_to(outside)
    (desk.project / "a").mkdir()
    (desk.project / "a" / "GEMINI.md").symlink_to(outside)
    found = await desk.read()
    assert [file.text for file in found.values()] == [""]  # one file by two names
    assert "link that leads out" in found["GEMINI.md"].problem
    assert await desk.around("a/x") == []


async def test_the_persons_own_file_may_be_a_link_to_wherever_they_keep_it(desk: Desk):
    kept = desk.write("dotfiles/gemini.md", "mine", base=desk.home)
    (desk.home / ".gemini" / "GEMINI.md").symlink_to(kept)
    assert [file.text for file in (await desk.read(trusted=False)).values()] == ["mine"]
    edit = await desk.files.edit("fact", "global", desk.wish)
    await desk.files.write(edit)
    assert "- fact" in kept.read_text("utf-8")
    assert (desk.home / ".gemini" / "GEMINI.md").is_symlink()


@pytest.mark.parametrize("kind", ["pipe", "folder", "binary", "secret", "unreadable"])
async def test_what_is_no_text_file_is_not_read(desk: Desk, kind: str):
    path = desk.project / "GEMINI.md"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "binary":
            path.write_bytes(bytes(range(256)) * 40)
        case "secret":
            desk.write("id_rsa", "-----BEGIN")
            path.write_text("@id_rsa", "utf-8")
        case _:
            if os.geteuid() == 0:
                pytest.skip("everything may be read here")
            path.write_text("x", "utf-8")
            path.chmod(0)
    found = (await desk.read()).get("GEMINI.md")
    assert found is None or found.problem
    assert found is None or "BEGIN" not in found.text


async def test_a_file_that_is_too_long_is_cut_at_a_line_and_that_is_told(desk: Desk):
    desk.write("GEMINI.md", "a line\n" * 100_000)
    file = (await desk.read())["GEMINI.md"]
    assert file.text.startswith("a line\na line")
    assert len(file.text) < MAX_BYTES
    assert "only the first 256 KB of GEMINI.md" in file.problem
    assert "cut" in file.problem


async def test_only_so_many_files_are_read_and_that_is_told(desk: Desk):
    for number in range(MAX_FILES + 10):
        desk.write(f"d{number}/GEMINI.md")
    *read, first_left_out = (await desk.read(max_dirs=10_000)).values()
    assert (len(read), {file.problem for file in read}) == (MAX_FILES, {""})
    assert "more than 400 memory files" in first_left_out.problem


async def test_only_so_many_imports_of_a_file_are_read_and_that_is_told(desk: Desk):
    desk.write("x.md", "X")
    desk.write("GEMINI.md", "@x.md\n" * 300)
    file = (await desk.read())["GEMINI.md"]
    assert file.text.count("Imported from") == 200
    assert "at most 200 imports" in file.problem


async def test_secrets_in_memory_files_are_masked(desk: Desk):
    key = "AIza" + "Sy0123456789abcdefghijklmnopqrstuvw"[:35]
    desk.write("GEMINI.md", f"Use {key} for it.")
    file = (await desk.read())["GEMINI.md"]
    assert key not in file.text
    assert "masked" in file.problem


def extension(desk: Desk, name: str, manifest: object, **files: str) -> None:
    folder = desk.home / ".gemini" / "extensions" / name
    desk.write("gemini-extension.json", manifest if isinstance(manifest, str) else json.dumps(manifest), base=folder)
    for file, text in files.items():
        desk.write(f"{file}.md", text, base=folder)


async def test_extensions_say_what_their_manifest_names_unless_they_are_disabled_here(desk: Desk):
    extension(desk, "a", {"name": "a"}, GEMINI="of a")
    extension(desk, "b", {"name": "b", "contextFileName": ["X.md", "../a/GEMINI.md", 7, ""]}, X="of b")
    extension(desk, "c", {"name": "c"}, GEMINI="of c")
    extension(desk, "d", "{broken", GEMINI="of d")
    enablement = {"c": {"overrides": ["/*", f"!{desk.project}/*"]}, "a": {"overrides": ["!/elsewhere/*"]}, "b": 1}
    desk.write(".gemini/extensions/extension-enablement.json", json.dumps(enablement), base=desk.home)
    found = (await desk.read()).values()
    assert [(file.scope, file.text) for file in found] == [("extension", "of a"), ("extension", "of b")]
    assert await desk.read(trusted=False) == {}


async def test_names_of_a_folder_are_read_in_the_order_of_the_setting_and_may_have_folders(desk: Desk):
    for name in ("AGENTS.md", "GEMINI.md", ".ai/RULES.md"):
        desk.write(name)
    assert list(await desk.read()) == ["GEMINI.md", "AGENTS.md"]
    assert list(await desk.read(names=("AGENTS.md", ".ai/RULES.md"))) == ["AGENTS.md", ".ai/RULES.md"]


async def test_a_fact_makes_the_file_and_its_folders(desk: Desk):
    (desk.home / ".gemini").rmdir()
    for scope, path in (("global", desk.home / ".gemini" / "GEMINI.md"), ("project", desk.project / "GEMINI.md")):
        edit = await desk.files.edit("fact", scope, desk.wish)  # pyright: ignore[reportArgumentType]
        assert not path.exists()
        await desk.files.write(edit)
        assert path.read_text("utf-8").endswith("- fact\n")
        assert "+- fact" in edit.diff
    wish = msgspec.structs.replace(desk.wish, names=(".ai/RULES.md",))
    await desk.files.write(await desk.files.edit("fact", "project", wish))
    assert (desk.project / ".ai" / "RULES.md").exists()


async def test_a_fact_is_not_written_over_what_changed_meanwhile(desk: Desk):
    path = desk.write("GEMINI.md", "old\n")
    edit = await desk.files.edit("fact", "project", desk.wish)
    path.write_text("new\n", "utf-8")
    with pytest.raises(StorageFault, match="changed"):
        await desk.files.write(edit)
    assert path.read_text("utf-8") == "new\n"


async def test_a_fact_keeps_encoding_and_line_ends(desk: Desk):
    path = desk.write("GEMINI.md", "é\r\n".encode("utf-16"))
    await desk.files.write(await desk.files.edit("tea", "project", desk.wish))
    assert path.read_bytes().decode("utf-16").split("\r\n")[0] == "é"
    assert "\r\n- tea\r\n" in path.read_bytes().decode("utf-16")


async def test_a_fact_goes_into_no_file_outside_of_the_project(desk: Desk):
    outside = desk.write("out.md", "out", base=desk.home)
    (desk.project / "GEMINI.md").symlink_to(outside)
    with pytest.raises(InvalidInput, match="no file of the project"):
        await desk.files.edit("fact", "project", desk.wish)
    with pytest.raises(InvalidInput, match="no workspace folder"):
        await desk.files.edit("fact", "project", msgspec.structs.replace(desk.wish, folders=()))
    assert outside.read_text("utf-8") == "out"


async def test_a_few_signs_that_are_no_text_do_not_cost_a_memory_file(desk: Desk):
    desk.write("GEMINI.md", b"a\0b: use tabs\n")
    letters = "Größe, Äpfel, Straße: " * 3
    desk.write("a/GEMINI.md", f"{letters}caf".encode() + b"\xe9\n")
    desk.write("b/GEMINI.md", b"\x7fELF\0\0\0\0\0\0\0\0 x\n")
    found = await desk.read()
    assert r"a\x00b: use tabs" in found["GEMINI.md"].text
    assert rf"{letters}caf\udce9" in found["a/GEMINI.md"].text
    assert found["b/GEMINI.md"].problem == "not read: it is no text"


async def test_a_fact_with_which_a_file_would_be_guessed_otherwise_makes_it_utf_8(desk: Desk):
    path = desk.write("GEMINI.md", "Règle: utiliser des tabulations\n".encode("cp1252"))
    await desk.files.write(await desk.files.edit("ß Ä Ö Ü", "project", desk.wish))
    assert "Règle" in path.read_text("utf-8")
    assert "ß Ä Ö Ü" in (await desk.read())["GEMINI.md"].text
