"""What Gemini asks, in real editors in a terminal: it opens beside, and nothing that is typed elsewhere answers it."""

from __future__ import annotations

import json
import random
import shutil
import string
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.editors.running import PARSER, configuration, make_workspace
from tests.editors.terminal import SCRIPTS, Terminal
from tests.support.agent_story import Step, Worker
from tests.support.emulator import Emulator, Gate
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.e2e

CHANGED = PARSER.replace("split()", "split(',')")
LONG = "".join(f"LINE_{number} = {number}\n" for number in range(300)) + "LAST = '" + "x" * 3_000 + "!'\n"
EDIT = ("replace", {"file_path": "parser.py", "old_string": "split()", "new_string": "split(',')"})
TABS = {
    "header": "",
    "question": "Tabs or spaces?",
    "options": [{"label": "Tabs", "description": ""}, {"label": "Spaces", "description": ""}],
}
STORY: Mapping[str, tuple[Step, ...]] = {
    "Split at commas.": (Step("edit", (EDIT,)), Step("over", says="That was it.")),
    "Make it long.": (
        Step("write", (("write_file", {"file_path": "long.py", "content": LONG}),)),
        Step("over", says="That was it."),
    ),
    "Run it.": (Step("run", (("run_shell_command", {"command": "touch one"}),)), Step("over", says="That was it.")),
    "Run both.": (
        Step(
            "both",
            tuple(("invoke_agent", {"agent_name": "generalist", "prompt": f"Run {name}."}) for name in ("one", "two")),
        ),
        Step("over", says="That was it."),
    ),
    "Make it long and run two.": (
        Step(
            "both",
            tuple(
                ("invoke_agent", {"agent_name": "generalist", "prompt": prompt})
                for prompt in ("Make it long.", "Run two.")
            ),
        ),
        Step("over", says="That was it."),
    ),
    **{
        f"Run {name}.": (
            Step(f"agent {name}", (("run_shell_command", {"command": f"touch {name}"}),)),
            Step("over", says="It ran."),
        )
        for name in ("one", "two")
    },
    "Ask me twice.": (
        Step("ask", (("ask_user", {"questions": [TABS]}),)),
        Step("ask more", (("ask_user", {"questions": [{**TABS, "question": "Delete it all?"}]}),)),
        Step("over", says="That was it."),
    ),
    "Ask me.": (
        Step("ask", (("ask_user", {"questions": [TABS]}),)),
        Step("over", says="That was it."),
    ),
}


@dataclass(frozen=True)
class Kind:
    """An editor: how it is started, what is typed for a command, and expressions of its language."""

    command: Callable[[], Sequence[str]]
    question: str
    """The text of the question's buffer."""
    text: str
    """The text of the file's buffer."""
    here: str
    """Whether the file's window is the current one."""
    other_window: str
    """Keys that go to the question's window."""
    top: str
    """The first line that is to be seen of the question."""
    to_end: str
    """Keys that go to the end of what the window shows."""
    write: str
    """Keys that go to the end of the file and begin to write there."""
    stop_writing: str

    def run(self, command: str, words: str = "") -> str:
        """The keys of a command; `words` are what it asks for."""
        if self is EMACS:
            return f"\x1bx{command}\r" + (f"{words}\r" if words else "")
        name = "".join(part.capitalize() for part in command.split("-"))
        return f":{name} {words}\r"


def neovim() -> Sequence[str]:
    found = shutil.which("nvim", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("Neovim is not installed: run make e2e")
    return (found, "--clean", "-n", "-u", str(configuration("neovim")), "-S", str(SCRIPTS / "asked.vim"), "parser.py")


def vim() -> Sequence[str]:
    found = shutil.which("vim.nox") or shutil.which("vim")
    features = (
        subprocess.run([found, "--version"], capture_output=True, text=True, timeout=PATIENCE).stdout if found else ""
    )
    if found is None or "+channel" not in features or "+job" not in features:
        pytest.skip("no Vim with channels here: apt-get install vim-nox")
    own = str(configuration("vim"))
    return (found, "-N", "-n", "-i", "NONE", "-u", own, "-S", str(SCRIPTS / "asked.vim"), "parser.py")


def emacs() -> Sequence[str]:
    found = shutil.which("emacs")
    # Compiling packages beside the test would open a window of warnings in the midst of what is typed.
    calm = "(setq native-comp-deferred-compilation nil native-comp-async-report-warnings-errors nil)"
    activate = ("--eval", calm, "--funcall", "package-activate-all")
    has_eglot = (
        found is not None
        and subprocess.run(
            [found, "--batch", *activate, "--eval", "(require 'eglot)"], capture_output=True, timeout=PATIENCE
        ).returncode
        == 0
    )
    if found is None or not has_eglot:
        pytest.skip("no Emacs with eglot here: apt-get install emacs-nox elpa-eglot")
    own = ("-l", str(configuration("emacs")), "-l", str(SCRIPTS / "asked.el"))
    return (found, "-nw", "-q", "--no-splash", *activate, *own, "parser.py")


NEOVIM = Kind(
    command=neovim,
    question="join(getbufline(bufnr('gemini://question'), 1, '$'), \"\\n\")",
    text="join(getbufline(bufnr('parser.py'), 1, '$'), \"\\n\") .. \"\\n\"",
    here="expand('%') ==# 'parser.py'",
    other_window="\x17b",
    top="line('w0', bufwinid('gemini://question'))",
    to_end="G",
    write=":set paste\rGo",
    stop_writing="\x1b",
)
VIM = Kind(
    command=vim,
    question=NEOVIM.question.replace("gemini://question", r"\[Gemini asks"),
    text=NEOVIM.text,
    here=NEOVIM.here,
    other_window="\x17b",
    top=r"line('w0', bufwinid('\[Gemini asks'))",
    to_end="G",
    write=":set paste\rGo",
    stop_writing="\x1b",
)
EMACS = Kind(
    command=emacs,
    question='(if (get-buffer "*Gemini asks*") (with-current-buffer "*Gemini asks*" (buffer-string)) "")',
    text='(with-current-buffer "parser.py" (buffer-string))',
    here='(equal (buffer-name (window-buffer)) "parser.py")',
    other_window='\x1b:(select-window (get-buffer-window "*Gemini asks*"))\r',
    top='(with-current-buffer "*Gemini asks*" (line-number-at-pos (window-start (get-buffer-window))))',
    to_end="\x1b>",
    write="\x1b>\r",
    stop_writing="",
)


class Desk:
    """A person before an editor, with a model that does what the story says."""

    def __init__(self, kind: Kind, terminal: Terminal, worker: Worker, emulator: Emulator, workspace: Path) -> None:
        self.kind, self.terminal, self.worker, self.emulator = kind, terminal, worker, emulator
        self.workspace = workspace

    @property
    def disk(self) -> str:
        """The file."""
        return (self.workspace / "parser.py").read_text("utf-8")

    def prompt(self, prompt: str) -> None:
        """Ask for something."""
        self.terminal.type(self.kind.run("gemini", prompt))

    def is_asked(self, title: str) -> str:
        """The whole text of a question, once it is there."""
        return str(self.terminal.until(self.kind.question, lambda text: f"\n{title}\n" in text))

    def answer(self, keys: str) -> None:
        """Go to the question and press keys there."""
        self.terminal.type(self.kind.run("gemini-answer"))
        self.terminal.until(self.kind.question, lambda text: "q: later" in text)
        self.terminal.type(keys)

    def is_told(self, words: str) -> str:
        """What the model is told, once it is: the newest results of its calls with these words."""
        found: list[str] = []

        def look(_: object) -> bool:
            found[:] = [told for told in self.told() if words in told]
            return bool(found)

        self.terminal.until("1", look)
        self.terminal.until(self.kind.question, lambda text: "Gemini asks nothing now." in text)
        return found[-1]

    def told(self) -> list[str]:
        """The results of calls in the newest request that has some."""
        for request in reversed(self.emulator.asked("streamGenerateContent")):
            results = [
                json.dumps(part["functionResponse"]["response"], ensure_ascii=False)
                for content in request.contents
                for part in content["parts"]
                if "functionResponse" in part
            ]
            if results:
                return results
        return []


@contextmanager
def desk_of(
    kind: Kind, tmp_path: Path, settings: Mapping[str, Any] = {}, file: Sequence[str] = ("parser.py",)
) -> Generator[Desk]:
    """A desk with the editor of a kind."""
    worker, command, workspace = Worker(STORY), kind.command(), make_workspace(tmp_path)
    own = tmp_path / "home" / ".gemini" / "settings.json"
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps(settings), "utf-8")
    with Emulator(responder=worker) as emulator:
        environment = {
            "GEMINI_API_KEY": "emulator-key",
            "GOOGLE_GEMINI_BASE_URL": emulator.base_url,
            **{f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")},
        }
        with Terminal([*command[:-1], *file], workspace, environment) as terminal:
            if not file or file[0] != "parser.py":
                yield Desk(kind, terminal, worker, emulator, workspace)
                return
            terminal.until(kind.here)
            if kind is NEOVIM:
                terminal.until("luaeval('#vim.lsp.get_clients()')")
            yield Desk(kind, terminal, worker, emulator, workspace)


@pytest.fixture(params=["neovim", "vim", "emacs"])
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each editor."""
    return {"neovim": NEOVIM, "vim": VIM, "emacs": EMACS}[request.param]


@pytest.fixture
def desk(kind: Kind, tmp_path: Path) -> Generator[Desk]:
    """A desk with each editor."""
    with desk_of(kind, tmp_path) as one:
        yield one


# ---- typing


def typed_while_asked(desk: Desk, chance: random.Random) -> None:
    """Somebody writes text, 200 keys of it, while a question comes. Nothing of it answers, and nothing of it is lost."""
    kind, terminal = desk.kind, desk.terminal
    gate = desk.worker.gates["edit"] = Gate()
    desk.prompt("Split at commas.")
    terminal.type(kind.write)
    text = "".join(chance.choice("yyynnsaerq1234567890\r\r" + string.ascii_letters + " .,;(){}") for _ in range(200))
    for start in range(0, len(text), 10):
        if start == chance.randrange(0, 60, 10) or start == 60:
            gate.release()
        terminal.type(text[start : start + 10])
        terminal.until(kind.here)
    desk.is_asked("Edit parser.py?")
    terminal.type("yy\ry")
    written = PARSER + (text + "yy\ry").replace("\r", "\n") + "\n"
    if kind is EMACS:
        written = PARSER + "\n" + (text + "yy\ry").replace("\r", "\n")
    terminal.until(kind.text, lambda now: now == written)
    assert terminal.ask(kind.question).startswith("Gemini asks. To answer:")
    assert desk.disk == PARSER
    terminal.type(kind.stop_writing + kind.run("gemini-cancel"))
    terminal.until(kind.question, lambda now: "Gemini asks nothing now." in now)
    terminal.type("\x1bx" + "revert-buffer\ryes\r" if kind is EMACS else ":edit!\r")
    terminal.until(kind.text, lambda now: now == PARSER)
    assert desk.disk == PARSER


def test_what_is_typed_into_the_text_never_answers_a_question_nor_is_it_lost(desk: Desk) -> None:
    for seed in range(3):
        typed_while_asked(desk, random.Random(seed))


@pytest.mark.thorough
def test_what_is_typed_into_the_text_never_answers_a_hundred_questions(desk: Desk) -> None:
    for seed in range(100):
        typed_while_asked(desk, random.Random(1_000 + seed))


def test_keys_that_are_commands_of_the_editor_answer_nothing_in_another_window(desk: Desk) -> None:
    kind, terminal, chance = desk.kind, desk.terminal, random.Random(5)
    gate = desk.worker.gates["run"] = Gate()
    desk.prompt("Run it.")
    # In Vi's manner digits are counts, and in the midst of a command no timer of the test runs: one digit, and an end.
    digits, keys, end = ("0123456789", "ynsaerjkhlwb\r", "\x1b\x1b")
    if kind is EMACS:
        keys, end = "ynsaer0123456789\r\x0e\x10\x06\x02\x01\x05", ""
    for _ in range(20):
        terminal.type(chance.choice(digits) + "".join(chance.choice(keys) for _ in range(10)) + end)
        terminal.ask("1")
        gate.release()
    desk.is_asked("Run touch one?")
    terminal.until(kind.here)
    assert not (desk.workspace / "one").exists()
    assert terminal.ask(kind.question).startswith("Gemini asks. To answer:")


def test_whoever_only_walks_into_the_question_has_not_gone_to_it(desk: Desk) -> None:
    kind, terminal = desk.kind, desk.terminal
    desk.prompt("Split at commas.")
    desk.is_asked("Edit parser.py?")
    terminal.type(kind.other_window)
    terminal.until(kind.here, lambda here: not here)
    terminal.type("ysa1\ry")
    assert terminal.ask(kind.question).startswith("Gemini asks. To answer:")
    terminal.type("y")
    assert terminal.ask(kind.question).startswith("Gemini asks. To answer:")
    assert desk.disk == PARSER


# ---- answering


def test_a_question_that_is_gone_to_is_answered_there(desk: Desk) -> None:
    desk.prompt("Split at commas.")
    desk.is_asked("Edit parser.py?")
    desk.answer("y")
    desk.is_told("Applied")
    assert desk.disk == CHANGED
    desk.terminal.until(desk.kind.text, lambda text: text == CHANGED)
    desk.terminal.until(desk.kind.here)


@pytest.mark.parametrize("key", ["n", "\r"])
def test_no_and_a_bare_return_are_a_no(desk: Desk, key: str) -> None:
    desk.prompt("Split at commas.")
    desk.is_asked("Edit parser.py?")
    desk.answer(key)
    desk.is_told("The person said no")
    assert desk.disk == PARSER
    desk.terminal.until(desk.kind.text, lambda text: text == PARSER)


def test_a_reason_reaches_the_model(desk: Desk) -> None:
    desk.prompt("Split at commas.")
    desk.is_asked("Edit parser.py?")
    desk.answer("rsemicolons, please\r")
    desk.is_told("Their words: semicolons, please")
    assert desk.disk == PARSER


@pytest.mark.parametrize("key", ["s", "a"])
def test_a_yes_for_the_session_and_for_always_is_not_asked_about_again(desk: Desk, key: str) -> None:
    desk.prompt("Run it.")
    assert "a: yes, always" not in desk.is_asked("Run touch one?")
    desk.answer(key)
    desk.terminal.until("1", lambda _: (desk.workspace / "one").exists())
    desk.is_told("one")
    (desk.workspace / "one").unlink()
    desk.prompt("Run it.")
    desk.terminal.until("1", lambda _: (desk.workspace / "one").exists())


def test_a_text_that_the_person_corrects_is_what_is_written(desk: Desk) -> None:
    desk.prompt("Make it long.")
    desk.is_asked("Create long.py?")
    desk.answer("e")
    desk.terminal.type("FIRST = 1\r\x03\x03" if desk.kind is EMACS else "OFIRST = 1\x1b:write\r")
    desk.is_told("")
    desk.terminal.until("1", lambda _: (desk.workspace / "long.py").exists())
    assert (desk.workspace / "long.py").read_text("utf-8") == "FIRST = 1\n" + LONG
    desk.terminal.until(desk.kind.here)


def test_the_whole_change_is_shown_however_long(desk: Desk) -> None:
    desk.prompt("Make it long.")
    shown = desk.is_asked("Create long.py?")
    for line in LONG.splitlines():
        assert f"\n+{line}\n" in shown


def test_a_question_of_the_model_is_answered_by_a_number_or_in_words(desk: Desk) -> None:
    desk.prompt("Ask me.")
    desk.is_asked("Tabs or spaces?")
    desk.answer("2")
    desk.is_told("Spaces")
    desk.prompt("Ask me.")
    desk.is_asked("Tabs or spaces?")
    desk.answer("rneither\r")
    desk.is_told("neither")


def test_silence_is_a_no(kind: Kind, tmp_path: Path) -> None:
    with desk_of(kind, tmp_path, {"companion": {"tools": {"questionSeconds": 3}}}) as desk:
        desk.prompt("Split at commas.")
        desk.is_asked("Edit parser.py?")
        desk.is_told("did not answer in time")
        assert desk.disk == PARSER
        desk.terminal.until(kind.text, lambda text: text == PARSER)


def test_a_plugins_menu_is_not_what_asks_in_neovim(tmp_path: Path) -> None:
    with desk_of(NEOVIM, tmp_path) as desk:
        desk.terminal.ask(
            "execute('lua vim.ui.select = function() vim.g.menus = (vim.g.menus or 0) + 1 end vim.ui.input = vim.ui.select')"
        )
        desk.prompt("Split at commas.")
        desk.is_asked("Edit parser.py?")
        desk.answer("y")
        desk.is_told("Applied")
        assert desk.disk == CHANGED
        assert desk.terminal.ask("get(g:, 'menus', 0)") == 0


# ---- several, and what becomes of a question


def test_several_questions_queue_up_and_each_is_gone_to(desk: Desk) -> None:
    kind, terminal = desk.kind, desk.terminal
    first, second = (desk.worker.gates.setdefault(f"agent {name}", Gate()) for name in ("one", "two"))
    desk.prompt("Run both.")
    first.release()
    desk.is_asked("Run touch one?")
    second.release()
    terminal.until("1", lambda _: len(desk.emulator.asked("streamGenerateContent")) >= 3)
    desk.answer("y")
    terminal.until("1", lambda _: (desk.workspace / "one").exists())
    desk.is_asked("Run touch two?")
    terminal.until(kind.here)
    terminal.type("y\ry" + ("" if kind is EMACS else "\x1b"))
    assert terminal.ask(kind.question).startswith("Gemini asks. To answer:")
    assert not (desk.workspace / "two").exists()
    desk.answer("y")
    terminal.until("1", lambda _: (desk.workspace / "two").exists())
    terminal.until(kind.question, lambda text: "Gemini asks nothing now." in text)


@pytest.mark.parametrize("is_reached", [True, False])
def test_a_second_question_leaves_a_reader_where_they_are_and_says_that_it_waits(desk: Desk, is_reached: bool) -> None:
    kind, terminal = desk.kind, desk.terminal
    second = desk.worker.gates.setdefault("agent two", Gate())
    desk.prompt("Make it long and run two.")
    desk.is_asked("Create long.py?")
    if is_reached:
        desk.answer("")
    else:
        terminal.type(kind.other_window)
    terminal.until(kind.here, lambda here: not here)
    terminal.type(kind.to_end)
    place = terminal.until(kind.top, lambda top: top > 1)
    second.release()
    shown = terminal.until(kind.question, lambda text: "  (1 more after this)\n" in text)
    assert "\nCreate long.py?\n" in shown
    assert terminal.ask(kind.top) == place
    if is_reached:
        terminal.type("n")
    else:
        desk.answer("n")
    assert "more after this" not in desk.is_asked("Run touch two?")
    assert terminal.until(kind.top, lambda top: top == 1)
    assert not (desk.workspace / "long.py").exists()


def test_what_is_edited_after_a_question_is_known_when_it_is_answered(desk: Desk) -> None:
    kind, terminal = desk.kind, desk.terminal
    desk.prompt("Split at commas.")
    desk.is_asked("Edit parser.py?")
    terminal.type("\x1b>NEW = 1" if kind is EMACS else ":set paste\rGoNEW = 1\x1b")
    terminal.until(kind.text, lambda text: "NEW = 1" in text)
    desk.answer("y")
    # What would be done is another thing by now: it is asked about anew.
    terminal.until(kind.question, lambda text: text.startswith("Gemini asks. To answer:"))
    desk.is_asked("Edit parser.py?")
    desk.answer("y")
    if kind is VIM:
        desk.is_told("has unsaved edits in the editor, which did not take this one. Nothing was changed.")
    else:
        desk.is_told("with edits of their own that are not saved")
        terminal.until(kind.text, lambda text: "NEW = 1" in text and "split(',')" in text)
    assert desk.disk == PARSER


def test_a_question_that_is_withdrawn_takes_no_answer_and_the_next_one_is_gone_to_anew(desk: Desk) -> None:
    kind, terminal = desk.kind, desk.terminal
    desk.prompt("Run it.")
    desk.is_asked("Run touch one?")
    desk.answer("")
    terminal.type(kind.run("gemini-cancel"))
    terminal.until(kind.question, lambda text: "Gemini asks nothing now." in text)
    desk.prompt("Split at commas.")
    desk.is_asked("Edit parser.py?")
    terminal.type("y\ry" + ("" if kind is EMACS else "\x1b"))
    assert terminal.ask(kind.question).startswith("Gemini asks. To answer:")
    assert desk.disk == PARSER
    assert not (desk.workspace / "one").exists()


def test_a_question_comes_back_to_an_editor_whose_buffers_were_all_closed(desk: Desk) -> None:
    kind, terminal = desk.kind, desk.terminal
    for close in ("%bdelete", "%bwipeout"):
        desk.prompt("Run it.")
        desk.is_asked("Run touch one?")
        if kind is EMACS:
            terminal.type("\x1bxkill-buffer\r*Gemini asks*\r\x1bxkill-buffer\r*Gemini*\r")
        else:
            terminal.type(f":{close}!|edit parser.py\r")
        terminal.until(kind.here)
        desk.answer("y")
        terminal.until("1", lambda _: (desk.workspace / "one").exists())
        (desk.workspace / "one").unlink()
        terminal.until(kind.question, lambda text: "Gemini asks nothing now." in text)


@pytest.mark.parametrize("editor", [NEOVIM, VIM], ids=["neovim", "vim"])
def test_words_for_a_question_that_is_gone_answer_no_other_one(tmp_path: Path, editor: Kind) -> None:
    with desk_of(editor, tmp_path, {"companion": {"tools": {"questionSeconds": 6}}}) as desk:
        desk.prompt("Ask me twice.")
        desk.is_asked("Tabs or spaces?")
        desk.terminal.type(":GeminiReply go ahead")
        desk.is_asked("Delete it all?")
        desk.terminal.type("\r")
        desk.terminal.until(editor.question, lambda text: "Gemini asks nothing now." in text)
        desk.terminal.until("1", lambda _: len(desk.told()) == 2)
        assert "go ahead" not in json.dumps(desk.told())


@pytest.mark.parametrize("keys", [":wincmd t\r:wall\r", ":set autowriteall\r:quit\r"])
@pytest.mark.parametrize("editor", [NEOVIM, VIM], ids=["neovim", "vim"])
def test_a_corrected_text_that_is_written_from_elsewhere_is_no_yes(tmp_path: Path, editor: Kind, keys: str) -> None:
    with desk_of(editor, tmp_path) as desk:
        desk.prompt("Make it long.")
        desk.is_asked("Create long.py?")
        desk.answer("e")
        desk.terminal.type("OFIRST = 1\x1b" + keys)
        desk.terminal.until("bufname() !~# 'correct\\|text'")
        assert "Create long.py?" in desk.terminal.ask(editor.question)
        desk.answer("n")
        desk.is_told("The person said no")
        assert not (desk.workspace / "long.py").exists()


@pytest.mark.parametrize(
    "keys", [":wincmd t\r:qall\r", ":qall\r", ":hide\r:qall\r", ":wqall\r", ":set autowriteall\r:qall\r"]
)
@pytest.mark.parametrize("editor", [NEOVIM, VIM], ids=["neovim", "vim"])
def test_a_corrected_text_does_not_keep_an_editor_from_ending_and_is_no_yes(
    tmp_path: Path, editor: Kind, keys: str
) -> None:
    with desk_of(editor, tmp_path) as desk:
        desk.prompt("Make it long.")
        desk.is_asked("Create long.py?")
        desk.answer("e")
        desk.terminal.until("bufname() =~# 'correct\\|text'")
        desk.terminal.type("OFIRST = 1\x1b" + keys)
        desk.terminal.ends()
        assert not (desk.workspace / "long.py").exists()


# ---- modes and taking back


def test_a_mode_is_set_by_a_command(desk: Desk) -> None:
    desk.prompt("Split at commas.")
    desk.is_asked("Edit parser.py?")
    desk.answer("n")
    desk.is_told("The person said no")
    desk.terminal.type(desk.kind.run("gemini-set-mode" if desk.kind is EMACS else "gemini-mode", "acceptEdits"))
    desk.prompt("Split at commas.")
    desk.terminal.until(desk.kind.text, lambda text: text == CHANGED)
    desk.terminal.until("1", lambda _: desk.disk == CHANGED)


def test_a_change_is_taken_back_by_a_command(desk: Desk) -> None:
    desk.prompt("Split at commas.")
    desk.is_asked("Edit parser.py?")
    desk.answer("y")
    desk.is_told("Applied")
    desk.terminal.until(desk.kind.text, lambda text: text == CHANGED)
    desk.terminal.type(desk.kind.run("gemini-revert"))
    desk.terminal.until("1", lambda _: desk.disk == PARSER)
    desk.terminal.until(desk.kind.text, lambda text: text == PARSER)


@pytest.mark.parametrize("editor", [NEOVIM, EMACS], ids=["neovim", "emacs"])
def test_what_the_editor_refuses_leaves_the_disk_as_it_is(tmp_path: Path, editor: Kind) -> None:
    lock, free = "setbufvar('parser.py', '&modifiable', 0)", "setbufvar('parser.py', '&modifiable', 1)"
    if editor is EMACS:
        lock = "(progn (advice-add 'eglot--apply-text-edits :before #'refuse-edits) (defun refuse-edits (&rest _) (error \"No\")) 1)"
        free = "(progn (advice-remove 'eglot--apply-text-edits #'refuse-edits) 1)"
    with desk_of(editor, tmp_path) as desk:
        if editor is NEOVIM:
            desk.terminal.ask("execute('set cmdheight=10')")  # room for what it says, so that it waits for no key
        desk.prompt("Split at commas.")
        desk.is_asked("Edit parser.py?")
        desk.terminal.ask(lock)
        desk.answer("y")
        desk.is_told("Nothing was changed")
        assert desk.disk == PARSER
        desk.terminal.ask(free)
        desk.prompt("Split at commas.")
        desk.is_asked("Edit parser.py?")
        desk.answer("y")
        desk.is_told("Applied")
        assert desk.disk == CHANGED
        desk.terminal.ask(lock)
        desk.terminal.type(editor.run("gemini-revert"))
        desk.terminal.until(
            '(with-current-buffer "*Messages*" (buffer-string))' if editor is EMACS else "execute('messages')",
            lambda said: "Nothing was changed" in said,
        )
        assert desk.disk == CHANGED
        assert desk.terminal.ask(editor.text) == CHANGED


# ---- beside other servers


@pytest.mark.parametrize("editor", [NEOVIM, EMACS], ids=["neovim", "emacs"])
def test_another_server_stays_at_work_and_can_use_nothing_of_ours(tmp_path: Path, editor: Kind) -> None:
    own = (sys.executable, str(SCRIPTS / "other_server.py"), str(tmp_path / "other"))
    start = f"vim.lsp.config('other', {{ cmd = {{ '{own[0]}', '{own[1]}', '{own[2]}' }}, filetypes = {{ 'python' }} }})"
    with desk_of(editor, tmp_path) as desk:
        kind, terminal = desk.kind, desk.terminal

        def heard() -> list[str]:
            return (tmp_path / "other").read_text("utf-8").splitlines() if (tmp_path / "other").exists() else []

        terminal.type("\x1b>NEW = 1" if kind is EMACS else ":set paste\rGoNEW = 1\x1b")
        terminal.until(kind.text, lambda text: "NEW = 1" in text)
        if kind is EMACS:
            contact = " ".join(map(json.dumps, own))
            terminal.ask(f"(progn (setq eglot-server-programs '((python-mode . ({contact})))) 1)")
            terminal.type(kind.run("eglot"))
        else:
            terminal.ask(f"luaeval(\"(function() {start} vim.lsp.enable('other') return 1 end)()\")")
        terminal.until("1", lambda _: len(heard()) == 3)
        assert heard()[0] == "open"
        assert all(line.startswith(("refused ", "answered None")) for line in heard()[1:]), heard()
        assert "May I?" not in terminal.ask(kind.question)
        assert desk.disk == PARSER
        desk.prompt("Split at commas.")
        desk.is_asked("Edit parser.py?")
        assert desk.disk == PARSER
        desk.answer("y")
        desk.is_told("with edits of their own that are not saved")
        terminal.until(kind.text, lambda text: "NEW = 1" in text and "split(',')" in text)
        assert desk.disk == PARSER
        terminal.until(kind.text, lambda text: heard()[-1] == f"has {text!r}")


@pytest.mark.parametrize("file", ["main.c", "notes.txt", "LICENSE"])
def test_emacs_asks_in_a_buffer_of_any_mode(tmp_path: Path, file: str) -> None:
    with desk_of(EMACS, tmp_path, file=[file]) as desk:
        desk.terminal.until(f'(equal (buffer-name (window-buffer)) "{file}")')
        desk.terminal.type("split();")
        desk.prompt("Split at commas.")
        desk.is_asked("Edit parser.py?")
        assert desk.terminal.ask(f'(with-current-buffer "{file}" (buffer-string))') == "split();"
        desk.answer("y")
        desk.is_told("Applied")
        assert desk.disk == CHANGED
        desk.terminal.until(f'(equal (buffer-name (window-buffer)) "{file}")')


# ---- starting


def test_neovim_without_the_daemon_on_its_path_says_so(tmp_path: Path) -> None:
    command = [*neovim()[:5], "--headless", "-c", "Gemini hi", "-c", "qall!"]
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert "gemini-companion is not on Neovim's PATH: install Gemini Companion" in ended.stderr


_SAYING = '(condition-case problem (gemini "hi") (user-error (message "%s" (error-message-string problem))))'


def test_emacs_without_the_daemon_on_its_path_says_so(tmp_path: Path) -> None:
    found, own = emacs()[0], str(configuration("emacs"))
    command = [found, "--batch", "--funcall", "package-activate-all", "-l", own, "--eval", _SAYING]
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert "gemini-companion is not on Emacs" in ended.stderr
    assert "install Gemini Companion" in ended.stderr


@pytest.mark.parametrize("file", [[], ["notes"]])
def test_neovim_asks_without_a_file_and_in_one_of_no_type(tmp_path: Path, file: list[str]) -> None:
    with desk_of(NEOVIM, tmp_path, file=file) as desk:
        desk.prompt("Split at commas.")
        desk.is_asked("Edit parser.py?")
