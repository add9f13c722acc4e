"""Files that are no model, and files that say more than they hold: what is read of them, and what is told."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.local.catalogue import LocalCatalogue
from gemini_companion.adapters.local.file import LEAST_WINDOW, LocalFile, LocalOptions, check_memory, window_of
from gemini_companion.adapters.local.gguf import GgufFacts, NotGguf, read_control_tokens, read_facts
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.tokens.limits import DEFAULT_TOKEN_LIMIT
from tests.adapters.local.desk import Desk, ask, collect
from tests.support.tiny_gguf import CONTEXT_TOKENS, gguf_bytes, write_tiny_gguf

ONE_TENSOR = {"a": np.zeros(1, np.float32)}


def head(tensors: int = 1, entries: int = 0, version: int = 3, magic: bytes = b"GGUF") -> bytes:
    return magic + struct.pack("<IQQ", version, tensors, entries)


BROKEN: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "it is empty"),
    "one byte": (b"G", "it does not begin as a GGUF file does"),
    "a text": (b"# Weights\n\nGet them from ...\n", "it does not begin as a GGUF file does"),
    "a magic alone": (b"GGUF", "it ends in the middle of its head"),
    "an old version": (head(version=1), "it is of version 1"),
    "another byte order": (b"GGUF" + struct.pack(">IQQ", 3, 1, 1), "it is of version"),
    "more tensors than there can be": (head(tensors=2**63), "its head is damaged: 9,223,372,036,854,775,808 tensors"),
    "more entries than there can be": (head(entries=2**40), "its head is damaged"),
    "no tensors": (head(tensors=0), "it has no weights in it"),
    "entries that do not come": (head(entries=3), "it ends in the middle of its head"),
    "a key longer than the file": (head(entries=1) + struct.pack("<Q", 60_000), "its head is damaged: a text"),
    "a value of no kind": (head(entries=1) + struct.pack("<Q1sI", 1, b"k", 99), "its head is damaged: a value of kind"),
    "a list of lists": (
        head(entries=1) + struct.pack("<Q1sIIQ", 1, b"k", 9, 9, 3),
        "its head is damaged: a value of kind 9",
    ),
    "a list without end": (
        head(entries=1) + struct.pack("<Q1sIIQ", 1, b"k", 9, 4, 2**50),
        "its head is damaged: a list",
    ),
    "a list that breaks off": (head(entries=1) + struct.pack("<Q1sIIQ", 1, b"k", 9, 4, 9), "it ends in the middle"),
    "texts that break off": (head(entries=1) + struct.pack("<Q1sIIQ", 1, b"k", 9, 8, 9), "it ends in the middle"),
    "no architecture": (gguf_bytes({"general.name": "x"}, ONE_TENSOR), "it does not say what kind of model it is"),
    "no context": (gguf_bytes({"general.architecture": "clip"}, ONE_TENSOR), "it does not say how long a context"),
    "an adapter": (
        gguf_bytes({"general.architecture": "llama", "general.type": "adapter"}, ONE_TENSOR),
        "it holds no model, but 'adapter'",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_file_that_is_no_model_says_what_is_wrong_with_it(kind: str, tmp_path: Path) -> None:
    content, reason = BROKEN[kind]
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    with pytest.raises(NotGguf) as raised:
        read_facts(str(path))
    assert str(raised.value).startswith(reason)


@pytest.mark.parametrize("kind", ["nothing", "one byte", "a text", "more tensors than there can be", "no context"])
async def test_the_fault_of_a_file_names_it_and_says_what_to_do(kind: str, tmp_path: Path, desk: Desk) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(BROKEN[kind][0])
    with pytest.raises(ModelUnavailable, match=r"x\.gguf cannot be run: ") as raised:
        await collect(desk.provider(path), ask())
    assert "`model.local`" in raised.value.hint
    assert not raised.value.retryable


async def test_a_missing_file_a_folder_and_a_pipe_are_told_apart(tmp_path: Path, desk: Desk) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # to open it would wait for a writer
    for path, reason in ((tmp_path / "gone", "There is no file"), (tmp_path, "folder"), (pipe, "no regular file")):
        with pytest.raises(ModelUnavailable, match=reason):
            await collect(desk.provider(path), ask())


@given(flips=st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 255)), max_size=4), length=st.integers(0, 16_000))
def test_whatever_is_flipped_in_a_head_it_is_read_or_refused(
    flips: list[tuple[int, int]], length: int, tiny: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = bytearray(tiny.read_bytes()[:16_000])
    for at, value in flips:
        content[at] = value
    path = tmp_path_factory.getbasetemp() / "flipped.gguf"
    path.write_bytes(content[:length])
    for read in (read_facts, read_control_tokens):
        try:
            read(str(path))
        except NotGguf as refused:
            assert str(refused)  # noqa: PT017


def test_the_facts_are_those_of_the_file(tiny: Path) -> None:
    facts = read_facts(str(tiny))
    assert (facts.name, facts.architecture, facts.context_tokens) == ("Tiny Noise", "llama", CONTEXT_TOKENS)
    assert facts.size == tiny.stat().st_size
    assert facts.cache_bytes_per_token == 2 * 2 * 4 * (16 + 16)  # 16 bits, 2 layers, 4 heads, keys and values of 16
    assert {"<|im_start|>", "<|im_end|>", "</s>"} <= set(read_control_tokens(str(tiny)))


def test_what_steers_a_model_is_what_its_vocabulary_and_its_template_say(tmp_path: Path) -> None:
    tokens = ["<unk>", "<bos>", "<table>", "\t\t", "<tool_call>", "user", "<s>"]
    more = {
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": np.array([2, 3, 4, 4, 4, 4, 1], np.int32),
    }
    template = "{{ bos }}[INST] <<SYS>> user <|assistant|> <tool_call>{% if x[0] %}"
    path = str(write_tiny_gguf(tmp_path / "steered.gguf", template=template, more=more))
    assert set(read_control_tokens(path)) == {"<bos>", "<tool_call>", "[INST]", "<<SYS>>", "<|assistant|>"}
    bare = str(write_tiny_gguf(tmp_path / "bare.gguf", template=None, more=more))
    assert set(read_control_tokens(bare)) == {"<bos>", "<|im_start|>", "<|im_end|>"}


@pytest.mark.parametrize(
    ("context", "cache", "wished", "window"),
    [
        (4_096, 1_000, None, 4_096),
        (131_072, 1_000, None, 32_768),
        (131_072, 131_072, None, 8_192),
        (131_072, 10_000_000, None, LEAST_WINDOW),
        (131_072, 131_072, 60_000, 61_024),
        (4_096, 1_000, 60_000, 4_096),
        (4_096, 1_000, 1, LEAST_WINDOW),
        (512, 1_000, None, 512),
    ],
)
def test_the_window_is_what_memory_and_the_settings_allow(
    context: int, cache: int, wished: int | None, window: int
) -> None:
    facts = GgufFacts(name="", architecture="x", size=1, context_tokens=context, cache_bytes_per_token=cache)
    assert window_of(facts, wished) == window


def test_a_model_that_needs_more_memory_than_there_is_is_not_tried(tiny: Path) -> None:
    options = LocalOptions(str(tiny))
    model = LocalFile(lambda: options).model()
    check_memory(model, None)
    check_memory(model, model.memory_bytes)
    with pytest.raises(ModelUnavailable, match=r"needs about 0\.5 GB of memory, and 0\.1 GB are free") as raised:
        check_memory(model, 100_000_000)
    assert "`model.tokenLimit`" in raised.value.hint


def test_the_list_says_what_runs_here_and_what_cannot(tiny: Path, tmp_path: Path) -> None:
    options = LocalOptions()
    catalogue = LocalCatalogue(LocalFile(lambda: options))
    assert list(catalogue.models) == []
    options = LocalOptions(str(tiny))
    (listed,) = catalogue.models
    assert (listed.name, listed.title) == ("local", "Tiny Noise, on this machine")
    assert listed.token_limit == catalogue.token_limit("local") == CONTEXT_TOKENS * 7 // 8
    options = LocalOptions(str(tmp_path / "gone.gguf"))
    (listed,) = catalogue.models
    assert listed.title == "gone, on this machine (cannot be used)"
    assert catalogue.token_limit("local") == DEFAULT_TOKEN_LIMIT  # what is told is the file's fault, no overflow


def test_a_file_that_appears_or_changes_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "later.gguf"
    options = LocalOptions(str(path))
    file = LocalFile(lambda: options)
    with pytest.raises(ModelUnavailable):
        file.model()
    write_tiny_gguf(path, name="First")
    assert file.model().title == "First"
    write_tiny_gguf(path, name="The second one")
    assert file.model().title == "The second one"


def test_a_name_with_line_ends_and_control_characters_is_one_short_line(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "x.gguf", name="A\nB\x1b[31m" + "c" * 200)
    options = LocalOptions(str(path))
    assert LocalFile(lambda: options).model().title == ("A B [31m" + "c" * 200)[:60]


# --- what only llama.cpp sees


@pytest.mark.process
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
async def test_a_file_that_breaks_off_is_refused_with_its_reason(
    share: float, tiny: Path, tmp_path: Path, desk: Desk
) -> None:
    content = tiny.read_bytes()
    path = tmp_path / "half.gguf"
    path.write_bytes(content[: int(len(content) * share)])
    provider = desk.provider(path)
    with pytest.raises(ModelUnavailable, match="Tiny Noise cannot be loaded: ") as raised:
        await collect(provider, ask())
    assert "incomplete" in raised.value.hint
    assert provider.pid is None


@pytest.mark.process
async def test_weights_that_do_not_fit_their_head_are_refused_and_a_mended_file_runs(
    tmp_path: Path, desk: Desk
) -> None:
    path = write_tiny_gguf(tmp_path / "x.gguf", more={"llama.block_count": np.uint32(9)})
    provider = desk.provider(path)
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        await collect(provider, ask())
    write_tiny_gguf(path)
    assert (await collect(provider, ask()))[0].is_loading


@pytest.mark.process
async def test_an_unknown_architecture_is_refused_with_its_name(tmp_path: Path, desk: Desk) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(
        gguf_bytes({"general.architecture": "unheard", "unheard.context_length": np.uint32(512)}, ONE_TENSOR)
    )
    with pytest.raises(ModelUnavailable, match="unheard"):
        await collect(desk.provider(path), ask())


@pytest.mark.process
async def test_without_the_package_the_fault_has_the_command_that_installs_it(
    tiny: Path, tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xllamacpp.py").write_text("raise ImportError('No module named xllamacpp')\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    with pytest.raises(ModelUnavailable, match="is not installed") as raised:
        await collect(desk.provider(tiny), ask())
    assert "-m pip install xllamacpp" in raised.value.hint


CANNOT_LOAD_NOR_END = """
import shutil, threading
from unittest.mock import MagicMock

CommonParams = MagicMock
shutil.rmtree = lambda *_, **__: threading.Event().wait()

def Server(params):
    raise RuntimeError
"""


@pytest.mark.process
async def test_a_process_that_is_slow_to_end_is_not_taken_for_one_without_memory(
    tiny: Path, tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xllamacpp.py").write_text(CANNOT_LOAD_NOR_END, "utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    with pytest.raises(ModelUnavailable, match=r"cannot be loaded: llama\.cpp gives no reason"):
        await collect(desk.provider(tiny), ask())


@pytest.mark.process
async def test_a_module_in_the_folder_of_the_project_is_not_run(
    tiny: Path, tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "msgspec.py").write_text("raise SystemExit('run')\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert (await collect(desk.provider(tiny), ask()))[-1].usage is not None
