"""Which files a hook's or a server's command may run."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemini_companion.settings.programs import expect_run, files_run

FILES = (
    "hooks/x.sh",
    "my hooks/y z.sh",
    "server.js",
    "index.js",
    "lib/index.js",
    "pkg/__main__.py",
    "pkg/tool.py",
    "package.json",
    "Makefile",
)


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("./hooks/x.sh", "hooks/x.sh"),
        ("hooks/x.sh --quick", "hooks/x.sh"),
        ("node server.js", "server.js"),
        ("node ./server", "server.js"),
        ("node .", "index.js"),
        ("node lib", "lib/index.js"),
        ("python -m pkg", "pkg/__main__.py"),
        ("python -m pkg.tool", "pkg/tool.py"),
        ("python3 -Im pkg.tool", "pkg/tool.py"),
        ("$GEMINI_PROJECT_DIR/hooks/x.sh", "hooks/x.sh"),
        ('"${GEMINI_PROJECT_DIR}"/hooks/x.sh', "hooks/x.sh"),
        ('"$(git rev-parse --show-toplevel)/hooks/x.sh"', "hooks/x.sh"),
        ("cd hooks && ./x.sh", "hooks/x.sh"),
        ("cd hooks; exec ./x.sh", "hooks/x.sh"),
        ("bash -c 'node server.js; true'", "server.js"),
        ("sh -c \"bash './hooks/x.sh'\"", "hooks/x.sh"),
        ("node --require=./server.js -e 1", "server.js"),
        ("node -r./server.js -e 1", "server.js"),
        ("env A=b ./hooks/x.sh", "hooks/x.sh"),
        (". hooks/x.sh", "hooks/x.sh"),
        ("cat < hooks/x.sh | sh", "hooks/x.sh"),
        ("sh <hooks/x.sh", "hooks/x.sh"),
        ("for f in hooks/*.sh; do sh $f; done", "hooks/x.sh"),
        ("'my hooks/y z.sh'", "my hooks/y z.sh"),
        ("my\\ hooks/y\\ z.sh", "my hooks/y z.sh"),
        ("npm start", "package.json"),
        ("/usr/bin/make -s check", "Makefile"),
        ("echo 'unclosed; hooks/x.sh", "hooks/x.sh"),
    ],
)
def test_a_file_that_a_word_names_is_found(tmp_path: Path, line: str, file: str) -> None:
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("", "utf-8")
    assert str(tmp_path / file) in files_run(line, [str(tmp_path)])


def test_a_file_in_another_workspace_folder_is_found(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    script = other / "x.sh"
    script.write_text("", "utf-8")
    expect_run([str(script)], [str(one), str(other)])
    assert str(script) in files_run(str(script), [str(one)])


@pytest.mark.parametrize(
    "line",
    [
        "jq -c .a >> hooks/x.sh",
        'cat > "$GEMINI_PROJECT_DIR"/hooks/x.sh',
        "true 2>'my hooks/y z.sh'",
        "true &>server.js",
        "mcp-server-sqlite --db-path app.db",
        "tee -a hooks/run.log",
    ],
)
def test_what_is_only_written_to_is_not_found(tmp_path: Path, line: str) -> None:
    for name in (*FILES, "app.db", "hooks/run.log"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("", "utf-8")
    found = files_run(line, [str(tmp_path)])
    assert [path for path in found if Path(path).exists()] == []


@pytest.mark.parametrize("line", ["/usr/bin/env sh ../x.sh", "~/x.sh", "grep -r x .", "sh -c 'cd /; ls etc'", ""])
def test_what_is_outside_of_the_folder_is_not_found(tmp_path: Path, line: str) -> None:
    found = files_run(line, [str(tmp_path)])
    assert all(path.startswith(f"{tmp_path}/") for path in found)
