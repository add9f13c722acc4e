"""Files that decide what runs or what a model is told: a change of one is always asked about, whatever the mode.

A file is free if its ending is that of a programming, markup, style, prose or data language, and nothing runs it, is
set up by it or obeys it because of its name or its place. What is not known is not free: an ending that is in no table,
a name without an ending, whatever begins with a dot. So a tool that nobody here has heard of keeps its settings.

Of what is known to decide, no stored rule allows a change. What is only not known to be free, a rule may allow: see
`may_be_allowed`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import Final, Protocol

from gemini_companion.tools.paths import parts_below


def _table(text: str) -> frozenset[str]:
    return frozenset(text.split())


# --- why

_UNKNOWN: Final = "what reads a file of this kind is not known"
_HIDDEN: Final = "tools take their settings from names that begin with a dot"
_NO_ENDING: Final = "builds and tools run files without an ending"
_AT_TOP: Final = "tools are set up by data at the top of a project"
_INSTALLED: Final = "it is installed code, which builds and tests run"
_LISTED: Final = "installations go by files of this name"
_PROGRAM: Final = "it is a program: its permissions say so"
_TOOL: Final = "a tool of the project runs it"
OBEYED: Final = "this program goes by what it says"
_TOLD: Final = "a model is told what it says"
_SETS_UP: Final = "tools are set up by files of this name"
_LOADED: Final = "tools load code that lies there, though nothing names it"
_NOT_KNOWN: Final = frozenset(
    (
        _UNKNOWN,
        _NO_ENDING,
        _AT_TOP,
        _INSTALLED,
        _LISTED,
        _PROGRAM,
        _SETS_UP,
        _LOADED,
        "it is a program",
        "a shell runs it",
    )
)

# --- what is free by its ending

_CODE: Final = _table(
    """
    ada adb ads al apex as asc asm asp aspx awk bas bb bf c c++ c3 cairo cbl cc ccp cfc cfm cjs cl clj cljc cljs cls
    cob cobol coffee cp cpp cppm cpy cr cs cshtml csx cts cu cuh cxx cypher d dart di dpr dylan e el elm erb erl ex exs
    f f03 f08 f77 f90 f95 fbs for fpp frag frm fs fsi fsx ftl gawk gd geom glsl gleam go gql graphql groovy h h++ hack
    haml hbs hh hlsl hpp hrl hs hx hxx i idr inc inl ino ipp ipynb ixx java jinja jinja2 j2 jl jq js jsp jsx kt kts lean
    less lfm lfe lhs liquid lisp lpr lsp lua luau m m4 magik mat metal mjs ml mli mll mly mm moon mts mustache nim njk
    nqp nut odin p6 pas php phtml pl pl6 plsql pm pm6 pony pp prisma pro proto ps psql pug purs pxd pxi py pyi pyx qml r
    raku rakumod razor rb re rei res resi rkt rktl rs s sas scala scm sig slim sml sol sps sql ss st stan sv svelte svh
    swift tcc tcl templ thrift tk tla tmpl tpl tpp trigger ts tsql tsx twig v vala vapi vb vbhtml vert vhd vhdl vim vue
    wat wgsl wit wl wren x10 xq xql xquery xqy xsl xslt yul zig
    """
)
_MARKUP: Final = _table("htm html xhtml svg mathml css sass scss styl stylus pcss postcss sss xaml resx xlf xliff wxml")
_PROSE: Final = _table(
    "adoc asciidoc bib creole diff feature fountain latex markdown md mdown mdx mkd mkdn myst org patch pod po pot qmd"
    " rd rdoc rest rmd rnw rst rtf srt strings tex texi texinfo textile tsv txt typ vtt wiki csv"
)
_DATA: Final = _table(
    "avsc edn geojson gpx ini json json5 jsonc jsonl jsonld kml ndjson ron topojson toml xml xsd yaml yml"
)
"""Languages of data, in which tools are set up, too: see `_of_data`."""
_SCRIPTED: Final = _table("js cjs mjs jsx ts cts mts tsx coffee")
_WITHOUT_ENDING: Final = _table(
    "authors changelog changes contributors copying history licence license maintainers news notice readme todo"
)
"""Names of prose that has no ending by custom."""

# --- what is not, by its folder

_FOLDERS: Final = {
    ".gemini": "it holds settings of this program",
    ".agents": "it holds skills and settings that agents obey",
    ".git": "it decides what git runs",
    ".husky": "git runs it",
    ".githooks": "git runs it",
    "githooks": "git runs it",
    "git-hooks": "git runs it",
    ".github": "a build server runs it",
    ".gitlab": "a build server runs it",
    ".circleci": "a build server runs it",
    ".buildkite": "a build server runs it",
    "ci": "a build server runs it",
    ".vscode": "it decides what the editor runs",
    ".idea": "it decides what the editor runs",
    ".zed": "it decides what the editor runs",
    ".helix": "it decides what the editor runs",
    ".devcontainer": "it decides what the editor runs",
    ".cargo": "it decides what cargo runs",
    ".mvn": "it decides what maven runs",
    ".yarn": "yarn runs it",
    "gradle": "gradle runs it",
    "buildsrc": "gradle runs it",
    "node_modules": _INSTALLED,
    "bower_components": _INSTALLED,
    "jspm_packages": _INSTALLED,
    "site-packages": _INSTALLED,
    "dist-packages": _INSTALLED,
    "__pycache__": "Python runs it",
    "__pypackages__": _INSTALLED,
    "venv": _INSTALLED,
    "virtualenv": _INSTALLED,
    "vendor": _INSTALLED,
    "third_party": _INSTALLED,
    "debian": "a package is built by it",
}
"""Everything in a folder of this name: why."""
_FOLDER_ENDINGS: Final = (".xcodeproj", ".xcworkspace", ".egg-info", ".dist-info", ".app", ".bundle", ".framework")
_ENVIRONMENTS: Final = _table("env envs virtualenvs")
_IN_ENVIRONMENT: Final = _table("bin scripts lib lib64 include")
_AGENTS: Final = _table(
    "agents agent skills skill commands prompts prompt rules instructions hooks steering memory memories memory-bank"
    " subagents chatmodes modes personas workflows playbooks"
)
"""Folders whose texts models are told, or tools obey; code in them is code."""
_DATA_FOLDERS: Final = _table(
    "tasks handlers workflows pipelines plugins extensions inventory group_vars host_vars settings config"
    " conf configs configuration"
)
"""Folders in whose data tools are set up."""

_LOADED_BY_PLACE: Final = _table(
    "ftplugin ftdetect mu-plugins initializers autostart conf.d profile.d xonsh rc.d startup autorun"
)
"""Folders from which all code is loaded, whatever its language."""
_OF_EDITORS: Final = _table("vim lua fnl el")
"""Languages in which editors are set up, by files at their places: code in them is elsewhere a module's."""
_EDITORS_FOLDERS: Final = _table(
    "plugin plugins after autoload syntax indent colors compiler keymap pack start config nvim vim vimfiles emacs"
    " site-lisp"
)
_EDITORS_STEMS: Final = _table(
    "init rc vimrc gvimrc ginit exrc early-init site-start default conf wezterm config options"
)
_SOURCES: Final = _table(
    "src lib app apps pkg internal lua test tests spec specs packages crates cmd modules docs server client"
)
"""Folders of sources, in which others are modules."""
_TESTS: Final = _table("test tests spec specs")
_TEST_RUNNERS: Final = _table("cypress features playwright wdio codecept codeceptjs cucumber behave")

# --- what is not, by its name

_NAMES: Final = {
    "makefile": "make runs what it says",
    "gnumakefile": "make runs what it says",
    "justfile": "just runs what it says",
    "rakefile": "rake runs it",
    "package.json": "its scripts are run",
    "conftest.py": "pytest runs it",
    "setup.py": "an installation runs it",
    "setup.hs": "an installation runs it",
    "project.clj": "lein runs what it says",
    "_dir-locals.el": "it decides what the editor runs",
    "build.jl": "an installation runs it",
    "configure.r": "an installation runs it",
    "pyproject.toml": "it decides what builds and tests run",
    "tox.ini": "tox runs what it says",
    "pytest.ini": "it decides what pytest runs",
    "mypy.ini": "it names plugins that mypy runs",
    "sitecustomize.py": "Python runs it at every start",
    "usercustomize.py": "Python runs it at every start",
    "tasks.py": "invoke runs it",
    "manage.py": "Django's commands run it",
    "wsgi.py": "a server runs it",
    "asgi.py": "a server runs it",
    "conf.py": "Sphinx runs it",
    "env.py": "Alembic runs it",
    "dodo.py": "doit runs it",
    "build.rs": "cargo runs it",
    "cargo.toml": "it decides what cargo builds and runs",
    "cmakelists.txt": "cmake runs it",
    "meson.build": "meson runs it",
    "pom.xml": "it decides what maven runs",
    "mix.exs": "mix runs it",
    "rebar.config": "rebar runs what it says",
    "package.swift": "swift builds by it",
    "build.zig": "zig runs it",
    "spec_helper.rb": "RSpec runs it",
    "rails_helper.rb": "RSpec runs it",
    "test_helper.rb": "tests run it",
    "server.xml": "a server runs what it says",
    "web.xml": "a server runs what it says",
    "magefile.go": "mage runs it",
    "action.yml": "a build server runs it",
    "action.yaml": "a build server runs it",
    "gemini.md": "every chat is told what it says",
    "agents.md": "every chat is told what it says",
    "skill.md": "a model is told what it says",
}
"""By the name in small letters: why. A name that is caught by a rule below is here for its better reason."""

_ENDINGS: Final = {
    "mk": "make runs what it says",
    "mak": "make runs what it says",
    "gradle": "gradle runs it",
    "gradle.kts": "gradle runs it",
    "cmake": "cmake runs it",
    "sbt": "sbt runs it",
    "bzl": "bazel runs what it says",
    "nix": "nix builds by it",
    "csproj": "it decides what a build runs",
    "vcxproj": "it decides what a build runs",
    "targets": "it decides what a build runs",
    "props": "it decides what a build runs",
    "gemspec": "builds run it",
    "rake": "rake runs it",
    "pth": "Python runs it at every start",
    "code-workspace": "it decides what the editor runs",
    "gitlab-ci.yml": "a build server runs it",
    **dict.fromkeys(
        _table("csh tcsh command ps1 psm1 psd1 bat cmd vbs vbe wsf hta reg scpt applescript"),
        "a shell runs it",
    ),
    **dict.fromkeys(_table("exe com dll so dylib jar war pyc pyd pyz whl node wasm o a class"), "it is a program"),
    "prisma": "generators run what it names",
    **dict.fromkeys(_table("tf tfvars hcl tofu"), "it decides what is built where it is applied"),
    **dict.fromkeys(
        _table("mdc prompt.md instructions.md chatmode.md agent.md mode.md"), "a model is told what it says"
    ),
}
"""By the ending in small letters, without its dot: a better reason than that it is in no table, or against a table."""

_SHELL: Final = _table("sh bash zsh fish ksh")
_BY_HAND: Final = _table("tools tool examples example samples src doc docs")
"""Folders whose scripts people start, if anybody does; elsewhere hooks, builds and servers start a shell's."""
_FREE: Final = _CODE | _SHELL | _MARKUP | _PROSE | _DATA
_SETUP_WORDS: Final = _table("config configs conf configuration setup rc preset presets plugin plugins workspace")
"""Of the last piece before a script's ending: `vite.config.ts`, `jest-setup.js`."""
_SCRIPTS: Final = _table(
    "gulpfile gruntfile jakefile cakefile jestfile noxfile fabfile rakefile conanfile locustfile pavement snakefile"
    " setuptests setupjest setupfiles setuptest globalsetup globalteardown sconstruct wscript versioneer hatch_build"
    " celeryconfig pelicanconf ez_setup karma testem brunch-config build esbuild webpack rollup vite artisan rector ecs"
    " server-setup middleware-setup mage profiles plopfile xmake premake premake4 premake5 preinstall postinstall"
    " install prepare prepublish prepack postpack uninstall"
)
"""Names of scripts that tools run, whatever the language's ending; at the top alone where sources are called so."""
_OF_A_TOOL: Final = re.compile(r"(?!(?:pro|log)?file\Z)[a-z]+file|[a-z]+(?:[-_][a-z]+)*[-_](?:build|codegen)|codegen")
"""How tools name scripts that they run at the top of a project: `knexfile.js`, `ember-cli-build.js`."""
_AT_TOP_ALONE: Final = _table("build esbuild webpack rollup vite mage profiles")

_DATA_WORDS: Final = _table(
    "config configs conf cfg configuration configurations settings setup rc package packages lock lockfile manifest"
    " workspace workspaces project projects solution plugin plugins hook hooks task tasks taskfile launch build builds"
    " buildspec appspec deps dependencies requirements constraints pipeline pipelines workflow workflows ci cd compose"
    " playbook playbooks action actions preset presets mcp agent agents skill skills prompt prompts rule rules"
    " instructions memory toolchain extension extensions    runner   deploy"
    " deployment nuget tsconfig jsconfig eslint eslintrc prettier babel jest karma mocha nodemon turbo lerna angular"
    " biome deno bunfig rush vercel netlify wrangler serverless skaffold mkdocs lefthook precommit composer phpunit"
    " phpstan psalm pubspec melos gleam stack cabal dune gradle maven ivy cargo clippy rustfmt mise uv ruff pixi poetry"
    " pdm tox pytest noxfile pants buck bazel cmakepresets cmakeuserpresets conan vcpkg meson nx tslint stylelint"
    " commitlint semgrep sonar codecov renovate dependabot release releaserc goreleaser cloudbuild wercker bitrise"
    " codemagic appveyor travis drone woodpecker jenkins docker kustomization helmfile  tiltfile devspace garden"
    " pulumi cdk samconfig firebase capacitor ionic electron  eas xcode log4j log4j2 logback  claude gemini"
    " codex cursor copilot windsurf aider cline roo devcontainer inventory ansible vagrant packer procfile pm2"
    " ecosystem launchsettings appsettings runtimeconfig tasks makefile justfile     earthly dagger"
    " shard dub elm spago esy bower jspm    formatter  tests"
)
"""Of the names of data: tools are known to take what they run from files that are called so, in whichever folder."""
_PROSE_WORDS: Final = _table(
    "prompt prompts instruction instructions rule rules skill skills agent agents memory memories persona personas"
    " claude gemini copilot cursor codex windsurf cline aider roo qwen iflow warp crush jules goose junie kiro amp"
    " opencode trae augment conventions guidelines llms system steering chatmode"
)
"""Of the names of prose: models are told what files say that are called so."""
_LISTS: Final = _table(
    "requirement requirements constraint constraints dependencies deps conanfile packages manifest lock plugins options"
)
"""Of the names of texts that installations go by: `requirements-dev.txt`."""
_GIT_HOOKS: Final = re.compile(
    r"(?:pre|post)-(?:commit|push|merge|checkout|rewrite|receive|applypatch|auto-gc|rebase|update|merge-commit)"
    r"|applypatch-msg|prepare-commit-msg|commit-msg|update|fsmonitor.*|sendemail-validate|proc-receive|p4-.*"
)
_RUN_BY_NAME: Final = re.compile(
    r"(?:docker|container|make|jenkins|vagrant|proc|gem|rake|cap|fast|pod|tilt|earth|just|task)file"
)
_WORDS: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SHORT_NAME: Final = re.compile(r"~[0-9]")


def guard_of(parts: Sequence[str], *, memory: Collection[str] = (), is_executable: bool = False) -> str:
    """Why a file is guarded, by the names that lead to it from its workspace folder; empty if it is not.

    `memory` are further names of memory files, relative to any folder. Names are read as the most lenient file system
    reads them: whatever the case, the width of letters, and what stands behind the last one.
    """
    names: list[str] = []
    for part in parts:
        for piece in re.split(r"[/\\]", unicodedata.normalize("NFKC", part)):
            if unseen := [sign for sign in piece if unicodedata.category(sign) in ("Cf", "Cc", "Cs", "Co", "Cn")]:
                shown = ", ".join(dict.fromkeys(f"U+{ord(sign):04X}" for sign in unseen[:5]))
                return f"its name has signs that cannot be seen: {shown}"
            if ":" in piece or _SHORT_NAME.search(piece):
                return "some systems read its name as that of another file"
            if piece.rstrip(". ") or piece == "..":
                names.append(piece.rstrip(". ").lstrip(" ") or piece)
    if not names:
        return _UNKNOWN
    folded = [unicodedata.normalize("NFKC", name.casefold()) for name in names]
    return (
        _of_folders(folded[:-1])
        or _of_memory(folded, memory)
        or _of_name(folded, names[-1])
        or (_PROGRAM if is_executable else "")
    )


def may_be_allowed(reason: str) -> bool:
    """Whether a file is guarded for want of knowing more of it, so that a rule of the person's may allow its change."""
    return reason in _NOT_KNOWN


class Guard(Protocol):
    """Says why a file is guarded."""

    def __call__(self, path: str, root: str, *, is_executable: bool = False) -> str:
        """Of a real path in a workspace folder; empty if it is not."""
        ...


def guard_of_path(path: str, root: str, *, is_executable: bool = False) -> str:
    """Why a file is guarded, by its names and permissions alone; see `Guard`."""
    return guard_of(parts_below(path, root), is_executable=is_executable)


def _of_folders(folders: Sequence[str]) -> str:
    for at, folder in enumerate(folders):
        if reason := _FOLDERS.get(folder):
            return reason
        if folder.startswith("."):
            return _HIDDEN
        if folder.endswith(_FOLDER_ENDINGS):
            return "it decides what a build runs"
        if folder in _ENVIRONMENTS and _IN_ENVIRONMENT.intersection(folders[at + 1 : at + 3]):
            return _FOLDERS["venv"]
    return ""


def _of_memory(names: Sequence[str], memory: Iterable[str]) -> str:
    path = "/" + "/".join(names)
    for each in memory:
        wanted = unicodedata.normalize("NFKC", each).casefold().strip("/")
        if wanted and path.endswith(f"/{wanted}"):
            return _NAMES["gemini.md"]
    return ""


def _of_name(path: Sequence[str], spelt: str) -> str:
    *folders, name = path
    if name.startswith("."):
        return _HIDDEN
    if reason := _NAMES.get(name):
        return reason
    pieces = name.split(".")
    for begin in range(1, len(pieces)):
        if reason := _ENDINGS.get(".".join(pieces[begin:])):
            return reason
    if len(pieces) == 1:
        return "" if name in _WITHOUT_ENDING else _NO_ENDING
    ending = pieces[-1]
    if ending not in _FREE:
        return _UNKNOWN
    if _RUN_BY_NAME.fullmatch(pieces[0]) and ending not in _PROSE | _MARKUP:
        return "builds run it"
    if "hooks" in folders and _GIT_HOOKS.fullmatch(pieces[0].replace("_", "-")):
        return "git runs it"
    words = _words(spelt[: len(spelt) - len(ending) - 1])
    if ending in _DATA:
        return _of_data(folders, words)
    if ending in _PROSE:
        return _of_prose(folders, words)
    return _of_code(folders, pieces, spelt)


def _words(text: str) -> frozenset[str]:
    """The words of a name, in small letters: of `jestSetup.ts` and of `jest-setup.ts` the same."""
    folded = unicodedata.normalize("NFKC", text)
    found = {word.casefold() for word in _WORDS.findall(folded)}
    return frozenset(found | {word.casefold() for word in _WORDS.findall(_HUMP.sub(" ", folded))})


def _of_data(folders: Sequence[str], words: frozenset[str]) -> str:
    if not folders:
        return _AT_TOP
    if words & _DATA_WORDS or _DATA_FOLDERS.intersection(folders[-2:]):
        return _SETS_UP
    return _TOLD if _AGENTS.intersection(folders) else ""


def _of_prose(folders: Sequence[str], words: frozenset[str]) -> str:
    if words & _PROSE_WORDS or _AGENTS.intersection(folders):
        return _TOLD
    is_list = words & _LISTS or {"requirements", "constraints"}.intersection(folders)
    return _LISTED if is_list else ""


def _is_of_a_test_runner(folders: Sequence[str]) -> bool:
    """`cypress/support`, `features/support`; of what is not known to run tests, too, but where sources lie."""
    if "support" not in folders[1:]:
        return False
    before = folders[: folders.index("support", 1)]
    return before[-1] in _TEST_RUNNERS or _SOURCES.isdisjoint(before)


def _of_code(folders: Sequence[str], pieces: Sequence[str], spelt: str) -> str:
    stem = pieces[0]
    if pieces[-1] in _SHELL and not _BY_HAND.intersection(folders):
        return "a shell runs it"
    if stem in _SCRIPTS and not (folders and stem in _AT_TOP_ALONE):
        return _TOOL
    if pieces[-1] in _SCRIPTED:
        if not folders and _OF_A_TOOL.fullmatch(stem):
            return _TOOL
        last = _words(spelt.rsplit(".", 1)[0].rsplit(".", 1)[-1])
        if (len(pieces) > 2 or len(last) > 1) and last & _SETUP_WORDS:  # vite.config.ts, jest-setup.js
            return _TOOL
        if len(pieces) > 2 and _SETUP_WORDS.intersection(pieces[1:-1]):  # vite.config.prod.ts
            return _TOOL
        if stem in ("webpack", "karma", "protractor", "wdio"):
            return _TOOL
    if len(pieces) > 2 and _SETUP_WORDS.intersection(pieces[1:-1]):  # gunicorn.conf.py
        return _TOOL
    if _LOADED_BY_PLACE.intersection(folders):
        return _LOADED
    if _is_of_a_test_runner(folders):
        return _LOADED
    if pieces[-1] in _OF_EDITORS and _TESTS.isdisjoint(folders):
        is_module = not _SOURCES.isdisjoint(folders)
        if _EDITORS_FOLDERS.intersection(folders) or (stem in _EDITORS_STEMS and not is_module):
            return _LOADED
    if pieces[-1] == "exs" and folders[-1:] == ["config"]:
        return "mix runs it"
    if pieces[-1] == "scala" and folders == ["project"]:
        return "sbt runs it"
    if pieces[-1] == "rb" and folders[:1] == ["config"]:
        return "Rails runs it at every start"
    return ""
