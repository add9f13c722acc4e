"""Files that decide what runs: a change of one is always asked about, and no stored rule allows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_NAMES: Final = {
    "makefile": "make runs what it says",
    "gnumakefile": "make runs what it says",
    "justfile": "just runs what it says",
    "taskfile.yml": "task runs what it says",
    "rakefile": "rake runs it",
    "package.json": "its scripts are run",
    "conftest.py": "pytest runs it",
    "setup.py": "an installation runs it",
    "setup.cfg": "it decides what builds and tests run",
    "pyproject.toml": "it decides what builds and tests run",
    "tox.ini": "tox runs what it says",
    "pytest.ini": "it decides what pytest runs",
    "noxfile.py": "nox runs it",
    "tasks.py": "invoke runs it",
    "sitecustomize.py": "Python runs it at every start",
    "usercustomize.py": "Python runs it at every start",
    "build.rs": "cargo runs it",
    "cargo.toml": "it decides what cargo builds and runs",
    "cmakelists.txt": "cmake runs it",
    "configure": "builds run it",
    "configure.ac": "builds run it",
    "meson.build": "meson runs it",
    "build": "bazel runs what it says",
    "build.bazel": "bazel runs what it says",
    "workspace": "bazel runs what it says",
    "module.bazel": "bazel runs what it says",
    ".bazelrc": "bazel runs what it says",
    "pom.xml": "it decides what maven runs",
    "gradlew": "builds run it",
    "gradlew.bat": "builds run it",
    "mvnw": "builds run it",
    "gulpfile.js": "gulp runs it",
    "gruntfile.js": "grunt runs it",
    "dockerfile": "an image is built by it",
    "containerfile": "an image is built by it",
    "docker-compose.yml": "it decides which containers run",
    "docker-compose.yaml": "it decides which containers run",
    "compose.yaml": "it decides which containers run",
    "jenkinsfile": "a build server runs it",
    ".gitlab-ci.yml": "a build server runs it",
    ".travis.yml": "a build server runs it",
    "azure-pipelines.yml": "a build server runs it",
    "bitbucket-pipelines.yml": "a build server runs it",
    "appveyor.yml": "a build server runs it",
    ".pre-commit-config.yaml": "it decides what runs at every commit",
    "lefthook.yml": "it decides what runs at every commit",
    ".gitattributes": "it names filters that git runs",
    ".gitmodules": "git fetches what it names",
    ".gitconfig": "it names programs that git runs",
    ".envrc": "direnv runs it",
    ".exrc": "an editor runs it",
    ".vimrc": "an editor runs it",
    ".nvim.lua": "an editor runs it",
    ".dir-locals.el": "an editor runs it",
    ".bashrc": "a shell runs it",
    ".bash_profile": "a shell runs it",
    ".profile": "a shell runs it",
    ".zshrc": "a shell runs it",
    ".zshenv": "a shell runs it",
    ".zprofile": "a shell runs it",
    ".npmrc": "it decides what npm runs and where packages come from",
    ".yarnrc.yml": "it decides what yarn runs and where packages come from",
    "pip.conf": "it decides where packages come from",
    "gemfile": "bundler runs it",
    "flake.nix": "nix builds by it",
    "shell.nix": "nix runs it",
}
"""By the name in small letters: why."""

_ENDINGS: Final = {
    ".mk": "make runs what it says",
    ".gradle": "gradle runs it",
    ".gradle.kts": "gradle runs it",
    ".cmake": "cmake runs it",
    ".csproj": "it decides what a build runs",
    ".vcxproj": "it decides what a build runs",
    ".targets": "it decides what a build runs",
    ".props": "it decides what a build runs",
    ".gemspec": "builds run it",
    ".pth": "Python runs it at every start",
    ".code-workspace": "it decides what the editor runs",
}

_FOLDERS: Final = {
    ".gemini": "it holds settings of this program",
    ".git": "it decides what git runs",
    ".husky": "git runs it",
    ".githooks": "git runs it",
    ".github": "a build server runs it",
    ".gitlab": "a build server runs it",
    ".circleci": "a build server runs it",
    ".buildkite": "a build server runs it",
    ".vscode": "it decides what the editor runs",
    ".idea": "it decides what the editor runs",
    ".zed": "it decides what the editor runs",
    ".helix": "it decides what the editor runs",
    ".devcontainer": "it decides what the editor runs",
    ".cargo": "it decides what cargo runs",
    ".mvn": "it decides what maven runs",
    ".yarn": "yarn runs it",
}
"""Everything in a folder of this name."""

_SCRIPTED: Final = ("js", "cjs", "mjs", "ts", "cts", "mts")


def guard_of(parts: Sequence[str]) -> str:
    """Why a file is guarded, by the names that lead to it from its workspace folder; empty if it is not."""
    *folders, name = [part.lower().rstrip(". ") for part in parts] or [""]
    for folder in folders:
        if reason := _FOLDERS.get(folder):
            return reason
    if reason := _NAMES.get(name):
        return reason
    pieces = name.split(".")
    if pieces[0] in ("dockerfile", "makefile") and pieces[-1] not in ("md", "rst", "txt", "html"):
        return "builds run it"
    if len(pieces) >= 3 and pieces[-1] in _SCRIPTED and pieces[-2] in ("config", "setup", "rc"):
        return "a tool of the project runs it"  # vite.config.ts, jest.setup.js
    if name.startswith(".") and len(pieces) == 3 and pieces[-1] in _SCRIPTED and pieces[1].endswith("rc"):
        return "a tool of the project runs it"  # .eslintrc.js
    return next((reason for ending, reason in _ENDINGS.items() if name.endswith(ending)), "")
