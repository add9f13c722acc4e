"""Five hundred random import graphs on a real file system: cycles, links, loops of links, and every way out."""

import os
import random
import threading
from pathlib import Path

import pytest

from gemini_companion.adapters.memory.importing import load
from gemini_companion.engine.memory.assembling import CUT, MAX_CHARACTERS, Format

GRAPHS = 500
SECRET = "OUTSIDE-OF-THE-PROJECT"
FILES = 8


class World:
    """A project with random files and links, and files outside that nothing may reach."""

    def __init__(self, base: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.base = base
        self.project = base / "home" / "project"
        self.outside = [base / "out.md", base / "home" / "out.md", base / "home" / "project-2" / "out.md"]
        self.project.mkdir(parents=True)
        for path in self.outside:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{SECRET}\n", "utf-8")
        self.folders = [self.project, *(self.project / name for name in ("a", "b", "a/c", "a/c/d"))]
        for folder in self.folders:
            folder.mkdir(exist_ok=True)
        self.paths = [self.random.choice(self.folders) / f"f{number}.md" for number in range(FILES)]
        self.names = list(self.paths)
        """What imports may name: files, links, and what lies behind links."""
        self._link()
        for path in (self.project / "GEMINI.md", *self.paths):
            if not path.is_symlink():
                path.write_text(self._text(path), "utf-8")

    def _link(self) -> None:
        for number in range(self.random.randint(0, 4)):
            target = self.random.choice(
                [*self.outside, *self.paths, self.base, self.base / "home", Path("/etc/passwd")]
            )
            path = self.random.choice(self.folders) / f"l{number}{self.random.choice(['', '.md'])}"
            if not path.is_symlink():
                path.symlink_to(target if self.random.random() < 0.5 else os.path.relpath(target, path.parent))
                self.names += [path, path / "out.md", path / "home" / "out.md"]

    def _text(self, path: Path) -> str:
        imports = " ".join(f"@{self._import(path.parent)}" for _ in range(self.random.randint(0, 5)))
        return f"{path.name} says {imports}\n```\n@{self._import(path.parent)}\n```\n"

    def _import(self, folder: Path) -> str:
        target = self.random.choice([*self.names, *self.paths, self.project / "GEMINI.md", *self.outside])
        match self.random.randint(0, 7):
            case 0:
                return str(target)
            case 1:
                return os.path.relpath(target, folder).replace("/", "%2f")
            case 2:
                return os.path.relpath(target, folder).replace("..", "%2e%2e").replace("%", "%25")
            case 3:
                return f"file://{target}"
            case 4:
                up = "/".join([".."] * self.random.randint(1, 12))
                return f"a/c/../../{up}/{os.path.relpath(target, '/')}"
            case 5:
                return f"{os.path.relpath(target, folder)},"
            case _:
                return f"./{os.path.relpath(target, folder)}"


@pytest.mark.parametrize("form", ["tree", "flat"])
@pytest.mark.parametrize("first", range(0, GRAPHS, 50))
def test_no_import_leaves_the_project(tmp_path: Path, first: int, form: Format):
    imported = 0
    for seed in range(first, first + 50):
        world = World(Path(os.path.realpath(tmp_path)) / str(seed), seed)
        loaded = load(str(world.project / "GEMINI.md"), str(world.project), "project", form)
        assert SECRET not in loaded.file.text, seed
        assert "root:" not in loaded.file.text, seed
        assert len(loaded.file.text) <= MAX_CHARACTERS + len(CUT) + 1
        for path in loaded.file.imports:
            assert os.path.realpath(path).startswith(f"{world.project}/"), seed
        assert "GEMINI.md says" in loaded.file.text
        imported += len(loaded.file.imports)
    assert imported > 50  # the graphs are graphs


def test_a_folder_that_is_swapped_for_a_link_meanwhile_leads_nowhere(tmp_path: Path):
    base = Path(os.path.realpath(tmp_path))
    project, outside = base / "project", base / "outside"
    for folder, text in ((project / "a", "inside"), (outside, SECRET)):
        folder.mkdir(parents=True)
        (folder / "x.md").write_text(text, "utf-8")
    (project / "GEMINI.md").write_text("@a/x.md " * 20, "utf-8")
    is_over = threading.Event()

    def swap() -> None:
        while not is_over.is_set():
            (project / "a").rename(project / "kept")
            (project / "a").symlink_to(outside)
            (project / "a").unlink()
            (project / "kept").rename(project / "a")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(100):
            assert SECRET not in load(str(project / "GEMINI.md"), str(project), "project", "tree").file.text
    finally:
        is_over.set()
        thread.join()
