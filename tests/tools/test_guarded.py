"""Which files may be changed unasked where edits are accepted: what is not known to be free is not."""

from __future__ import annotations

import json
import os
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.tools.guarded import guard_of, may_be_allowed
from tests.support.patience import PATIENCE

REPOSITORY = Path(__file__).parents[2]
CORPUS = Path(os.environ.get("COMPANION_CORPUS", REPOSITORY.parent / "shared" / "corpus"))

TOLD = """
    GEMINI.md AGENTS.md CLAUDE.md CLAUDE.local.md sub/dir/GEMINI.md docs/copilot-instructions.md x.instructions.md
    QWEN.md docs/WARP.md skills/deploy/SKILL.md prompts/review.txt rules/style.md agents/reviewer.md commands/fix.toml instructions/a.md
    system-prompt.md a.mdc llms.txt hooks/a.json memory/facts.md mcp.json a/mcp.json
"""
HIDDEN = """
    .agents/skills/x/SKILL.md .mcp.json .claude/settings.json .cursor/mcp.json .env.local .tool-versions .mise.toml
    .pnpmfile.cjs .babelrc .venv/bin/python node_modules/.bin/jest .ipython/x.py .github/a.md sub/.gemini/settings.json
    .some-tool-of-tomorrow/notes.md .rc.md
"""
BUILDS = """
    Makefile GNUmakefile Makefile.am justfile Rakefile Gemfile Gemfile.lock package.json package-lock.json yarn.lock
    pnpm-workspace.yaml pyproject.toml setup.py setup.cfg conftest.py tests/conftest.py requirements-dev.txt
    requirements/dev.txt uv.lock uv.toml poetry.lock noxfile.py tox.ini manage.py docs/conf.py Cargo.toml Cargo.lock
    build.rs rust-toolchain.toml go.mod go.sum go.work pom.xml build.gradle build.gradle.kts gradle/libs.versions.toml
    gradle.properties app.csproj Directory.Build.props global.json nuget.config App.sln composer.json artisan mix.exs
    mix.lock config/dev.exs rebar.config x.cabal stack.yaml cabal.project Setup.hs dune dune-project x.opam default.nix
    flake.nix BUILD BUILD.bazel WORKSPACE rules.bzl CMakeLists.txt CMakePresets.json x.cmake meson.build
    meson_options.txt build.sbt project/plugins.sbt project/Build.scala project/build.properties Package.swift
    Package.resolved Podfile App.xcodeproj/project.pbxproj pubspec.yaml build.zig build.zig.zon main.tf terragrunt.hcl
    playbook.yml roles/web/tasks/main.yml ansible.cfg Dockerfile Dockerfile.dev compose.yaml docker-compose.prod.yml
    Vagrantfile Tiltfile Procfile Jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml action.yml sub/action.yml
    ci/test.py scripts/test.sh run.sh deploy.ps1 a.bat Taskfile.yaml mise.toml turbo.json packages/a/turbo.json nx.json
    deno.json bunfig.toml tsconfig.json packages/a/tsconfig.build.json vite.config.ts vite.config.prod.mts jest-setup.js
    setupTests.ts eslint.config.mjs karma.conf.js gulpfile.js gunicorn.conf.py lint-staged.config.json phpunit.xml
    knexfile.ts tomorrowfile.mjs ember-cli-build.js codegen.ts prisma/schema.prisma lefthook.yml hooks/pre-commit hooks/pre_push.py node_modules/x/index.js venv/lib/x.py env/bin/activate.py
    bin/activate x.pth site-packages/a.py HEAD config x.code-workspace some-tool-of-tomorrow.toml tool.json a.unknown
    project.clj xmake.lua premake5.lua plopfile.js postinstall.js scripts/postinstall.js install.js _dir-locals.el
    a.xyz a.exe a.so lib.jar a.lnk a.desktop a.service
    cypress/support/e2e.js web/cypress/support/commands.ts features/support/env.rb e2e/support/hooks.ts init.lua
    nvim/init.lua plugin/x.vim plugin/x.lua after/ftplugin/python.lua after/plugin/x.vim ftplugin/c.vim lua/plugins/x.lua
    autoload/x.vim init.el early-init.el emacs/init.el nvim/lua/config/lazy.lua config/initializers/a.rb rc.lua
    wp-content/mu-plugins/a.php packages/web/cypress/support/e2e.ts src/cypress/support/a.ts e2e/support/a.ts runner/support/a.js
"""
FREE = """
    src/a.py src/config.ts src/settings.py app/models/user.rb lib/x.dart main.go src/main.rs index.html a.css b.scss
    README.md README CHANGELOG.md CONTRIBUTING.md LICENSE docs/guide.md docs/index.rst notes.txt data/people.csv
    data/people.json src/locales/de.json tests/data/answers.yaml fixtures/a.xml tests/test_a.py src/hooks/useUser.ts
    engine/prompts/system.py src/agents/loop.py src/App.vue src/a.tsx cmd/server/main.go db/0001_users.sql tools/copy.sh
    src/main/java/a/B.java a.kt a.swift a.ex lib/a.exs a.hs a.ml a.scala a.c a.h a.cpp a.lua a.jl a.r package.py
    src/plugin/a.ts src/plugins/a.py tests/support/desk.py src/support/index.ts lua/a/init.lua src/init.lua a.el a.vim
    lib/support/a.rb src/pages/support/b.ts test/e2e/support/a.ts tests/editors/vim/a.vim support/a.py docs/makefile.md src/env/index.ts src/bin/tool.rs pages/[id].tsx docs/deploy.md solve.py reproduce.py
    profile.py file.js src/datafile.py src/codegen.ts
"""


def guarded(path: str) -> str:
    return guard_of(path.split("/"))


@pytest.mark.parametrize("path", (TOLD + HIDDEN + BUILDS).split())
def test_what_decides_or_is_not_known_is_asked_about(path: str):
    assert guarded(path)


@pytest.mark.parametrize("path", FREE.split())
def test_code_and_prose_that_nothing_obeys_is_free(path: str):
    assert guarded(path) == ""


@pytest.mark.parametrize("path", ["Makefile", "GEMINI.md", "package.json", ".vscode/tasks.json", "vite.config.ts"])
def test_what_is_known_to_decide_is_allowed_by_no_rule(path: str):
    assert not may_be_allowed(guarded(path))


@pytest.mark.parametrize("path", ["out/x", "data.foo", "vendor/a.py", "people.json", "scripts/a.sh"])
def test_what_is_only_not_known_to_be_free_may_be_allowed_by_a_rule(path: str):
    assert may_be_allowed(guarded(path))


def test_a_name_that_the_settings_give_memory_files_is_guarded_wherever_it_stands():
    assert guard_of(["sub", "Notes.TXT"], memory=["notes.txt"])
    assert guard_of(["a", "docs", "RULES2.md"], memory=["docs/rules2.md"])
    assert guard_of(["RULES2.md"], memory=["docs/rules2.md"]) == ""


def test_a_program_is_guarded_whatever_it_is_called():
    assert guard_of(["tools", "copy.py"]) == ""
    assert guard_of(["tools", "copy.py"], is_executable=True)


SPELLINGS = {
    "capitals": str.upper,
    "small": str.lower,
    "fullwidth": lambda name: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" and c != "/" else c for c in name),
    "decomposed": lambda name: unicodedata.normalize("NFD", name),
    "trailing dot": lambda name: name + ".",
    "trailing blanks": lambda name: name + "  ",
    "a stream": lambda name: name + "::$DATA",
    "an unseen sign": lambda name: name[:2] + "\u200c" + name[2:],
    "a soft hyphen": lambda name: name[:2] + "\u00ad" + name[2:],
    "a backslash": lambda name: "x\\" + name,
    "a long s": lambda name: name.replace("s", "\u017f"),
    "a Kelvin sign": lambda name: name.replace("k", "\u212a"),
    "a ligature": lambda name: name.replace("fi", "\ufb01"),
}  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("path", ["GEMINI.md", "Makefile", "package.json", ".git/config", "sub/.vscode/tasks.json"])
def test_a_name_is_read_as_the_most_lenient_file_system_reads_it(path: str, spelling: str):
    assert guard_of([SPELLINGS[spelling](part) for part in path.split("/")])


@pytest.mark.parametrize("path", ["GIT~1/config.md", "GEMINI~1.MD", "a.py:b.py", "..", "", "docs/a\u202etxt.md"])
def test_a_name_that_may_be_that_of_another_file_is_guarded(path: str):
    assert guarded(path)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1), min_size=1, max_size=4))
def test_any_name_has_an_answer_and_a_dot_in_front_is_never_free(parts: list[str]):
    guard_of(parts)
    assert guard_of([*parts, ".x", "a.py"])
    assert guard_of([*parts, ".a.py"])


@given(st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=6, max_size=12))
def test_an_ending_that_is_in_no_table_is_never_free(ending: str):
    assert guard_of(["src", f"a.{ending}"])


# --- how often one is asked


def _edits(folder: Path) -> Iterator[str]:
    """The files that the agents of the corpus wrote and edited, one for each edit."""
    for file in sorted(folder.rglob("*.json")):
        at = ""
        contents = json.loads(file.read_text())["history"]
        for call in (
            part["functionCall"] for content in contents for part in content["parts"] if "functionCall" in part
        ):
            args, words = call["args"], str(call["args"].get("command", "")).split()
            named = args.get("file_path") or args.get("path") or args.get("filename")
            if call["name"] in ("write_file", "replace"):
                yield named
            elif call["name"] in ("create", "open"):
                at = named
            elif call["name"] == "run_shell_command" and words[:1] in (["create"], ["open"]):
                at = words[1]
            elif at and (call["name"] in ("edit", "insert") or words[:1] == ["edit"]):
                yield at


def test_of_the_edits_of_real_chats_at_most_a_twentieth_is_asked_about():
    folders = [CORPUS / "swe-agent", CORPUS.parent / "natural"]
    if not all(folder.is_dir() for folder in folders):
        pytest.skip(f"{CORPUS} is missing; set COMPANION_CORPUS to its folder")
    edits = [path for folder in folders for path in _edits(folder)]
    asked = [path for path in edits if guarded(path.lstrip("/"))]
    assert edits
    assert len(asked) <= len(edits) / 20, f"{len(asked)} of {len(edits)}: {asked}"


@pytest.mark.process
def test_of_the_files_of_this_projects_last_commits_at_most_a_twentieth_is_asked_about():
    command = [
        "git",
        "-c",
        "core.quotePath=false",
        "log",
        "-500",
        "--no-merges",
        "--no-renames",
        "--name-only",
        "--format=",
    ]
    try:
        found = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=PATIENCE)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("there is no history here")
    changed = found.stdout.split("\n")
    changed = [path for path in changed if path]
    if len(changed) < 1_000:
        pytest.skip("the history here is too short to tell")
    asked = [path for path in changed if guarded(path)]
    assert len(asked) <= len(changed) / 20, f"{len(asked)} of {len(changed)}"
