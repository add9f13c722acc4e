"""A workspace without any rule, for judging commands that only read."""

from __future__ import annotations

from pathlib import Path

from gemini_companion.adapters.processes.judging import DiskJudge
from gemini_companion.engine.history.tool_entries import Decision, ToolRule
from gemini_companion.tools.shell.verdict import LineVerdict
from gemini_companion.tools.tool import Touched

FILES = ("src/a.py", "src/b.py", "src/deep/c.ts", "docs/x.md", "README.md", "web/.env", "web/app.ts", "hidden/no.txt")


class ReadingDesk:
    """A workspace without any rule, and a folder beside it."""

    def __init__(self, home: Path) -> None:
        self.home = home.resolve()
        self.work = self.home / "work"
        for name in FILES:
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            (self.work / name).write_text("x\n")
        (self.home / "other").mkdir()
        (self.home / "other" / "key.txt").write_text("x\n")
        self.judge = DiskJudge(home=str(self.home), find_program=lambda name: f"/usr/bin/{name}")

    @classmethod
    def of(cls, work: Path) -> ReadingDesk:
        """One whose workspace is a folder that is there, as it is."""
        desk = cls.__new__(cls)
        desk.home, desk.work = work.resolve().parent, work.resolve()
        desk.judge = DiskJudge(home=str(desk.home), find_program=lambda name: f"/usr/bin/{name}")
        return desk

    @staticmethod
    def of_file(touched: Touched) -> Decision:
        if "/hidden/" in touched.path:
            return "deny"
        return "allow" if touched.how == "read" and not touched.secret else "ask"

    def judged(self, line: str, *rules: ToolRule) -> LineVerdict:
        root = str(self.work)
        return self.judge(line, cwd=root, roots=(root,), rules=rules, of_file=self.of_file)
