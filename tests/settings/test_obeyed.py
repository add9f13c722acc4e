"""What a command wrote of files that the daemon obeys counts for nothing before somebody agrees, whatever happens."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from gemini_companion.settings.obeyed import MAYBE_MADE, MOST_BYTES, NOT_AGREED, Gate, Watch, digest_of


class Bench:
    """A gate that keeps what it knows in a folder, and a workspace."""

    def __init__(self, folder: Path) -> None:
        self.kept, self.root = folder / "kept", folder / "root"
        self.root.mkdir()
        self.file = self.root / "GEMINI.md"
        self.changes = 0
        self.gate = self.started()

    def started(self) -> Gate:
        """The gate of another daemon, or of one that is started anew."""
        gate = Gate()
        gate.keep_in(str(self.kept))
        gate.on_changed = self._changed
        return gate

    def _changed(self) -> None:
        self.changes += 1

    def begin(self) -> Watch:
        return self.gate.begin([str(self.file)], [str(self.root)])

    def end(self, watch: Watch, *, goes_on: bool = False) -> list[str]:
        return [made.path for made in self.gate.end(watch, [str(self.file)], goes_on=goes_on)]

    def read(self, gate: Gate | None = None, file: Path | None = None) -> str:
        path = file or self.file
        data = path.read_bytes()
        return (gate or self.gate).refusal(path, data[:MOST_BYTES], len(data))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_what_was_there_before_a_command_counts_while_it_runs_and_after_it(bench: Bench):
    bench.file.write_text("mine\n")
    watch = bench.begin()
    assert bench.read() == ""
    assert bench.end(watch) == []
    assert bench.read() == ""


@pytest.mark.parametrize("before", [None, "mine\n"])
def test_what_a_command_wrote_counts_neither_while_it_runs_nor_after_it(bench: Bench, before: str | None):
    if before is not None:
        bench.file.write_text(before)
    watch = bench.begin()
    bench.file.write_text("the command's\n")
    assert bench.read() == MAYBE_MADE
    assert bench.end(watch) == [str(bench.file)]
    assert bench.read() == NOT_AGREED


def test_the_person_is_shown_what_was_there_before(bench: Bench):
    bench.file.write_text("mine\n")
    watch = bench.begin()
    bench.file.write_text("the command's\n")
    (made,) = bench.gate.end(watch, [str(bench.file)])
    assert (made.old, made.new) == (b"mine\n", b"the command's\n")


def test_it_counts_once_somebody_agrees_and_the_readers_are_told(bench: Bench):
    watch = bench.begin()
    bench.file.write_text("the command's\n")
    (made,) = bench.gate.end(watch, [str(bench.file)])
    bench.changes = 0
    bench.gate.agree(made.path, made.digest)
    assert bench.changes == 1
    assert bench.read() == bench.read(bench.started()) == ""


def test_agreeing_is_to_one_content_alone(bench: Bench):
    watch = bench.begin()
    bench.file.write_text("one\n")
    (made,) = bench.gate.end(watch, [str(bench.file)])
    again = bench.begin()
    bench.file.write_text("two\n")
    bench.end(again)
    bench.gate.agree(made.path, made.digest)
    assert bench.read() == NOT_AGREED


def test_a_change_while_no_command_runs_is_the_persons(bench: Bench):
    watch = bench.begin()
    bench.file.write_text("the command's\n")
    bench.end(watch)
    bench.file.write_text("mine\n")
    assert bench.read() == ""
    assert not list(bench.kept.iterdir())


def test_what_the_person_saved_while_a_command_runs_counts(bench: Bench):
    watch = bench.begin()
    bench.file.write_text("mine\n")
    bench.gate.wrote(bench.file, lambda data: data == b"mine\n")
    assert bench.read() == ""
    assert bench.end(watch) == []
    assert bench.read() == ""


def test_what_a_command_put_in_place_of_what_the_person_saved_does_not_count(bench: Bench):
    watch = bench.begin()
    bench.file.write_text("the command's\n")
    bench.gate.wrote(bench.file, lambda data: data == b"mine\n")
    assert bench.read() == MAYBE_MADE
    assert bench.end(watch) == [str(bench.file)]


def test_a_restart_does_not_forget(bench: Bench):
    watch = bench.begin()
    bench.file.write_text("the command's\n")
    bench.end(watch)
    assert bench.read(bench.started()) == NOT_AGREED


def test_another_daemon_knows_it_at_once_also_while_the_command_runs(bench: Bench):
    other = bench.started()
    watch = bench.begin()
    bench.file.write_text("the command's\n")
    assert bench.read(other) == MAYBE_MADE
    (made,) = bench.gate.end(watch, [str(bench.file)])
    assert bench.read(other) == NOT_AGREED
    bench.gate.agree(made.path, made.digest)
    assert bench.read(other) == ""


def test_a_daemon_that_was_killed_while_a_command_ran_leaves_what_the_files_were(bench: Bench):
    bench.file.write_text("mine\n")
    watch = bench.begin()
    bench.file.write_text("the command's\n")
    assert watch.file is not None
    watch.file.close()  # as the system does
    after = bench.started()
    assert bench.read(after) == NOT_AGREED
    assert [made.path for made in after.waiting()] == [str(bench.file)]
    assert len(list(bench.kept.iterdir())) == 1, "the command is over"


def test_a_command_that_goes_on_is_looked_at_again(bench: Bench):
    watch = bench.begin()
    assert bench.end(watch, goes_on=True) == []
    bench.file.write_text("late\n")
    assert bench.read() == MAYBE_MADE
    assert bench.end(bench.begin()) == [str(bench.file)], "with the end of another command"
    assert bench.read() == NOT_AGREED
    assert bench.end(watch) == []
    assert bench.read() == NOT_AGREED


def test_whoever_was_refused_while_a_command_ran_is_told_to_look_again(bench: Bench):
    watch = bench.begin()
    bench.file.write_text("x\n")
    bench.read()
    bench.end(watch)
    assert bench.changes == 1


def test_a_link_is_the_file_that_it_leads_to(bench: Bench):
    notes = bench.root / "notes.md"
    notes.write_text("mine\n")
    bench.file.symlink_to(notes)
    watch = bench.begin()
    notes.write_text("the command's\n")
    assert bench.read() == MAYBE_MADE
    bench.end(watch)
    assert bench.read() == bench.read(file=notes) == NOT_AGREED
    assert bench.gate.is_obeyed(str(notes))


def test_a_file_that_would_have_been_read_is_looked_at_too(bench: Bench):
    imported = bench.root / "docs" / "rules.md"
    bench.gate.expect(str(imported))
    watch = bench.begin()
    imported.parent.mkdir()
    imported.write_text("the command's\n")
    bench.end(watch)
    assert bench.read(file=imported) == NOT_AGREED


def test_what_is_behind_the_beginning_of_a_large_file_counts_by_its_size(bench: Bench):
    bench.file.write_bytes(b"x" * (MOST_BYTES + 10))
    watch = bench.begin()
    bench.file.write_bytes(b"x" * (MOST_BYTES + 11))
    assert bench.read() == MAYBE_MADE
    assert bench.end(watch) == [str(bench.file)]


def test_another_workspace_that_is_opened_while_a_command_runs_is_not_held_back(bench: Bench, tmp_path: Path):
    watch = bench.begin()
    other = tmp_path / "other.md"
    other.write_text("mine\n")
    assert bench.read(file=other) == ""
    bench.end(watch)


@pytest.mark.parametrize("junk", ["", "{", "[]", '{"path": 1}', '{"before": [], "scopes": 3}'])
def test_what_is_damaged_in_the_folder_is_passed_over(bench: Bench, junk: str):
    bench.kept.mkdir(exist_ok=True)
    for name in ("made-x.json", "running-x.json"):
        (bench.kept / name).write_text(junk)
    bench.file.write_text("mine\n")
    assert bench.read(bench.started()) == ""


def test_a_folder_that_cannot_be_written_costs_only_what_a_restart_would_know(bench: Bench):
    bench.kept.write_text("a file in its place")
    watch = bench.begin()
    bench.file.write_text("the command's\n")
    assert bench.end(watch) == [str(bench.file)]
    assert bench.read() == NOT_AGREED


def test_what_is_kept_has_digests_and_no_texts(bench: Bench):
    bench.file.write_text("a secret\n")
    watch = bench.begin()
    kept = [json.loads(path.read_text()) for path in bench.kept.iterdir()]
    assert kept == [{"before": {str(bench.file): digest_of(b"a secret\n", 9)}, "scopes": [str(bench.root)], "led": {}}]
    assert all(os.stat(path).st_mode & 0o077 == 0 for path in bench.kept.iterdir())
    bench.end(watch)


def test_what_is_behind_all_that_a_reader_takes_counts_for_a_program(bench: Bench):
    bench.file.write_bytes(b"#" * MOST_BYTES + b"mine")
    watch = bench.begin()
    bench.file.write_bytes(b"#" * MOST_BYTES + b"evil")
    (made,) = bench.gate.end(watch, [str(bench.file)])
    assert not made.can_be_shown
    assert bench.gate.refusal_of(str(bench.file)) == NOT_AGREED
    assert bench.read() == NOT_AGREED
    bench.gate.wrote(bench.file, lambda data: data.endswith(b"evil"))
    assert bench.gate.refusal_of(str(bench.file)) == ""


@pytest.mark.parametrize("is_new", [True, False])
def test_a_link_that_a_command_turned_elsewhere_does_not_count(bench: Bench, is_new: bool):
    elsewhere = bench.root.parent / "elsewhere.md"
    elsewhere.write_text("not for this\n")
    if not is_new:
        bench.file.write_text("mine\n")
    watch = bench.begin()
    bench.file.unlink(missing_ok=True)
    bench.file.symlink_to(elsewhere)
    assert bench.read() == MAYBE_MADE
    assert bench.end(watch) == [str(elsewhere)]
    assert bench.read() == NOT_AGREED
    assert bench.read(bench.started()) == NOT_AGREED


def test_a_program_does_not_count_that_a_running_command_changed_to_and_fro(bench: Bench):
    bench.file.write_text("mine\n")
    watch = bench.begin()
    assert bench.gate.refusal_of(str(bench.file)) == ""
    bench.file.write_text("the command's\n")
    bench.file.write_text("mine\n")
    assert bench.gate.refusal_of(str(bench.file)) == MAYBE_MADE
    assert bench.end(watch) == []
    assert bench.gate.refusal_of(str(bench.file)) == ""


def test_a_link_that_is_as_it_was_counts(bench: Bench):
    elsewhere = bench.root.parent / "elsewhere.md"
    elsewhere.write_text("mine\n")
    bench.file.symlink_to(elsewhere)
    watch = bench.begin()
    assert bench.read() == ""
    assert bench.end(watch) == []
    assert bench.read() == ""


def test_a_file_is_expected_though_somebody_swaps_its_folder_for_a_link_meanwhile(bench: Bench):
    folder, aside = bench.root / "a", bench.root / "aside"
    folder.mkdir()
    aside.mkdir()
    is_over = threading.Event()

    def swap() -> None:
        while not is_over.is_set():
            folder.rmdir()
            folder.symlink_to(aside)
            folder.unlink()
            folder.mkdir()

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(20_000):
            bench.gate.expect(str(folder / "GEMINI.md"))
    finally:
        is_over.set()
        thread.join()
    assert bench.gate.is_obeyed(str(folder / "GEMINI.md")) or bench.gate.is_obeyed(str(aside / "GEMINI.md"))
