"""The command line as a person types it: exit codes, messages, files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.cli.main import run
from gemini_companion.engine.compression.strategies.registry import STRATEGIES
from tests.support.emulator import Emulator, Summariser
from tests.support.patience import PATIENCE
from tests.support.tiny_gguf import write_tiny_gguf


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "COMPANION_DATA_DIR": str(tmp_path / "data"), "PATH": os.environ["PATH"]}


def dialogue(rounds: int = 8) -> list[dict[str, Any]]:
    contents: list[dict[str, Any]] = []
    for number in range(rounds):
        contents.append({"role": "user", "parts": [{"text": f"Never touch legacy/{number}. " + "word " * 200}]})
        contents.append({"role": "model", "parts": [{"text": f"Mended src/file_{number}.py. " + "text " * 200}]})
    return contents


def write(path: Path, document: object) -> str:
    path.write_text(json.dumps(document), "utf-8")
    return str(path)


def test_compress_prints_the_result_and_the_new_history(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "chat.json", {"history": dialogue(), "systemInstruction": "Be brief."})
    output = tmp_path / "new.json"
    assert run(["compress", file, "--json", "--output", str(output)], environment) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["status"] == "COMPRESSED"
    assert printed["newTokenCount"] < printed["originalTokenCount"]
    assert printed["history"][2:] == dialogue()[printed["splitAt"] :]
    written = json.loads(output.read_text("utf-8"))
    assert written == {"history": printed["history"], "snapshotAt": 0, "systemInstruction": "Be brief."}


def test_what_compress_wrote_is_merged_when_it_is_compressed_again_and_its_rules_survive(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    ruled = [{"role": "user", "parts": [{"text": "Never touch the folder legacy/. Mend the parser."}]}, *dialogue()[1:]]
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    assert run(["compress", write(tmp_path / "chat.json", ruled), "--output", str(first)], environment) == 0
    document = json.loads(first.read_text("utf-8"))
    goal = document["history"][0]["parts"][0]["text"].partition("</overall_goal>")[0]
    longer = write(tmp_path / "longer.json", {**document, "history": [*document["history"], *dialogue()]})
    capsys.readouterr()
    assert run(["compress", longer, "--json", "--output", str(second)], environment) == 0
    snapshot = json.loads(capsys.readouterr().out)["snapshot"]
    assert "Never touch the folder legacy/." in snapshot.partition("</active_constraints>")[0]
    newest = r"legacy/\d"  # the goal is what was asked for last, here and there
    assert re.sub(newest, "", snapshot.partition("</overall_goal>")[0]).startswith(re.sub(newest, "", goal))
    assert "‹state_snapshot" not in snapshot
    history = json.loads(second.read_text("utf-8"))["history"]
    assert sum("<state_snapshot>" in content["parts"][0].get("text", "") for content in history) == 1


@pytest.mark.parametrize("strategy", ["split", "userMessages"])
def test_compress_takes_the_strategy_that_is_named(
    strategy: str, tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
):
    file = write(tmp_path / "chat.json", dialogue())
    assert run(["compress", file, "--json", "--strategy", strategy], environment) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["strategy"] == strategy
    assert result["status"] == "COMPRESSED"


def test_compress_names_the_strategies_if_it_knows_none_of_that_name(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
):
    file = write(tmp_path / "chat.json", dialogue())
    assert run(["compress", file, "--strategy", "Split"], environment) == 2
    told = capsys.readouterr().err
    assert "'Split' is no strategy" in told
    assert all(name in told for name in STRATEGIES)


def test_compress_says_in_words_what_it_did(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compress", write(tmp_path / "chat.json", dialogue())], environment) == 0
    out, err = capsys.readouterr()
    assert "Compressed the chat from" in out
    assert "Summarising" in err


def test_a_history_too_small_to_gain_says_so_and_stays(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(
        tmp_path / "chat.json",
        [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": "hello"}]}],
    )
    output = tmp_path / "out.json"
    assert run(["compress", file, "--json", "--output", str(output)], environment) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["status"] == "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT"
    assert "small" in printed["message"]
    assert "history" not in printed
    assert json.loads(output.read_text("utf-8"))["history"][0]["parts"] == [{"text": "hi"}]


def test_an_empty_history_is_fine_as_it_is(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compress", write(tmp_path / "chat.json", []), "--json"], environment) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "NOOP"


def test_auto_below_the_threshold_does_nothing(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "chat.json", dialogue())
    assert run(["compress", file, "--auto", "--json"], environment) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "NOOP"
    assert run(["compress", file, "--auto", "--json", "--token-limit", "4000", "--threshold", "0.2"], environment) == 0
    automatic = json.loads(capsys.readouterr().out)
    assert (automatic["status"], automatic["trigger"]) == ("COMPRESSED", "auto")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "empty"),
        (b"{", "line 1"),
        (b'{"history": 5}', "$.history"),
        (b'[{"role": "system", "parts": []}]', "role"),
        (b'[{"role": "user", "parts": [{"text": 5}]}]', "$[0].parts[0].text"),
        (b"\xff\xfe\x00broken", "UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_exits_with_2_and_says_where(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str], content: bytes, expected: str
) -> None:
    file = tmp_path / "bad.json"
    file.write_bytes(content)
    for command in ("compress", "tokens"):
        assert run([command, str(file)], environment) == 2
        err = capsys.readouterr().err
        assert "bad.json" in err
        assert expected.lower() in err.lower()
        assert "Traceback" not in err


def test_a_missing_file_a_folder_and_bad_usage_exit_with_2(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    usage = (["compress"], ["compress", "x", "--threshold", "7"], ["fly"])
    for arguments in (["compress", str(tmp_path / "nowhere")], ["tokens", str(tmp_path)], *usage):
        assert run(arguments, environment) == 2
        assert "Traceback" not in capsys.readouterr().err


def test_an_output_that_cannot_be_written_fails_and_leaves_nothing_half(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "chat.json", dialogue())
    assert run(["compress", file, "--output", str(tmp_path / "no" / "such" / "folder.json")], environment) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_a_refused_key_exits_with_3(
    tmp_path: Path, environment: dict[str, str], emulator: Emulator, capsys: pytest.CaptureFixture[str]
) -> None:
    emulator.keys = {"another-key"}
    online = {**environment, "GEMINI_API_KEY": "wrong", "GOOGLE_GEMINI_BASE_URL": emulator.base_url}
    assert run(["compress", write(tmp_path / "chat.json", dialogue())], online) == 3
    err = capsys.readouterr().err
    assert "key" in err.lower()
    assert "wrong" not in err


@pytest.mark.parametrize(
    ("mode", "status", "code"),
    [("empty", "EMPTY_SUMMARY", 1), ("garbage", "EMPTY_SUMMARY", 1), ("inflated", "INFLATED", 0)],
)
def test_summaries_that_come_to_nothing_have_their_exit_codes(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str], mode: Any, status: str, code: int
) -> None:
    with Emulator(responder=Summariser(mode)) as emulator:
        online = {**environment, "GEMINI_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": emulator.base_url}
        assert run(["compress", write(tmp_path / "chat.json", dialogue()), "--json"], online) == code
    assert status in json.loads(capsys.readouterr().out)["status"]


def test_tokens_adds_up_and_counts_the_system_instruction(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "chat.json", {"history": dialogue(2), "systemInstruction": "Be brief. " * 50})
    assert run(["tokens", file, "--json"], environment) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["source"] == "estimate"
    assert sum(printed["byPart"].values()) == printed["total"]
    assert printed["byPart"]["systemInstruction"] > 80
    assert run(["tokens", file], environment) == 0
    assert "total" in capsys.readouterr().out


@pytest.mark.parametrize("system", [None, "Be brief. " * 50])
def test_tokens_and_compress_say_the_same_number_of_one_file(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str], system: str | None
) -> None:
    document = {"history": dialogue(), **({} if system is None else {"systemInstruction": system})}
    file, shorter = write(tmp_path / "chat.json", document), str(tmp_path / "shorter.json")

    def total(name: str) -> int:
        assert run(["tokens", name, "--json"], environment) == 0
        return int(json.loads(capsys.readouterr().out)["total"])

    assert run(["compress", file, "--json", "--output", shorter], environment) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["status"] == "COMPRESSED"
    assert (result["originalTokenCount"], result["newTokenCount"]) == (total(file), total(shorter))


def test_sessions_can_be_imported_listed_shown_exported_and_deleted(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["sessions", "import", write(tmp_path / "chat.json", dialogue(2))], environment) == 0
    session_id = capsys.readouterr().out.split()[2].rstrip(":")
    assert run(["sessions", "list", "--json"], environment) == 0
    assert [info["sessionId"] for info in json.loads(capsys.readouterr().out)["sessions"]] == [session_id]
    assert run(["sessions", "show", session_id], environment) == 0
    assert "legacy/1" in capsys.readouterr().out
    assert run(["sessions", "export", session_id, "--format", "gemini-cli"], environment) == 0
    assert json.loads(capsys.readouterr().out)["messages"]
    assert run(["sessions", "delete", session_id], environment) == 0
    capsys.readouterr()
    assert run(["sessions", "show", session_id], environment) == 2
    assert run(["sessions", "list"], environment) == 0
    assert "No sessions" in capsys.readouterr().out


def test_doctor_says_in_which_file_a_key_stands_and_never_what_it_is(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "home" / ".gemini" / ".env"
    file.parent.mkdir(parents=True)
    file.write_text("# mine\nGEMINI_API_KEY=correct-horse\nGEMINI_MODEL=offline\n", "utf-8")
    assert run(["doctor"], environment) == 0
    told = capsys.readouterr().out
    assert f"GEMINI_API_KEY ({file}:2)" in told
    assert f"model.name = offline (environment, GEMINI_MODEL, {file}:3)" in told
    assert "correct-horse" not in told


def test_doctor_says_what_works_and_what_does_not(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["doctor", "--json"], environment) == 0
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["model"]["verdict"] == "warning"
    assert "GEMINI_API_KEY" in checks["model"]["hint"]
    assert checks["limits"]["detail"].startswith("at most 10 requests to models and ")
    settings = tmp_path / "home" / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"model": {"name": 5}}', "utf-8")
    assert run(["doctor"], environment) == 1
    assert "model.name" in capsys.readouterr().out


@pytest.mark.process
def test_doctor_loads_the_model_of_this_machine_and_says_what_is_wrong_with_its_file(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    weights = write_tiny_gguf(tmp_path / "x.gguf")
    settings = tmp_path / "home" / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"model": {"name": "local", "local": str(weights)}}), "utf-8")
    assert run(["doctor"], environment) == 0
    assert "local answers (model.name): Tiny Noise, on this machine" in capsys.readouterr().out
    weights.write_bytes(b"GGUF")
    assert run(["doctor"], environment) == 1
    assert "x.gguf cannot be run" in capsys.readouterr().out


@pytest.mark.process
def test_the_demo_tells_the_whole_story_without_a_key(tmp_path: Path, environment: dict[str, str]) -> None:
    server = str(Path(__file__).resolve().parents[2] / "server")
    run_ = subprocess.run(
        [sys.executable, "-m", "gemini_companion", "demo", "--json"],
        env={**environment, "PYTHONPATH": server},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert run_.returncode == 0, run_.stderr
    steps = [json.loads(line) for line in run_.stdout.splitlines()]
    kinds = [step["step"] for step in steps]
    for expected in (
        "started",
        "answered",
        "context",
        "pinned",
        "compressionProgress",
        "compressed",
        "snapshot",
        "status",
        "undone",
        "summary",
    ):
        assert expected in kinds
    sent = [step["kind"] for step in steps if step["step"] == "ideContextSent"]
    behind = [step["kind"] for step in steps[kinds.index("compressed") :] if step["step"] == "ideContextSent"]
    assert (sent[0], behind[0]) == ("full", "full")
    compressed = next(step for step in steps if step["step"] == "compressed")
    undone = next(step for step in steps if step["step"] == "undone")
    assert compressed["newTokenCount"] < compressed["originalTokenCount"] <= undone["newTokenCount"]


def test_the_system_prompt_of_a_chat_here_is_shown_with_its_tokens(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["tokens", "--system"], {**environment, "GEMINI_PROMPT_TRUST": "0"}) == 0
    shown = capsys.readouterr()
    assert "coding assistant" in shown.out
    assert "core mandates" in shown.err
    assert "trust" not in shown.err
    (tmp_path / "mine.md").write_text("Be brief.", "utf-8")
    assert run(["tokens", "--system", "--json"], {**environment, "GEMINI_SYSTEM_MD": str(tmp_path / "mine.md")}) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["text"], report["source"], report["sections"]) == ("Be brief.", "GEMINI_SYSTEM_MD", [])
