"""Finding file paths: POSIX, Windows, relative ones, bare names with an extension, and what tool arguments call a path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


EXTENSIONS: Final = _words(
    "adoc asm astro avi bash bat bib bmp bz2 bzl cc cfg cjs clj cmake cmd cpp crt cs csproj css csv cts cxx dart deb dll docx ejs elm eot "
    "erl exe exs fish gemspec gif gitignore go gql gradle graphql groovy gz h5 hbs hcl hh hpp hs htm html ico iml ini ipynb jar java jinja "
    "jinja2 jpeg jpg js json json5 jsonc jsonl jsx kt kts less lhs lua m4 markdown md mdx mjs mkv ml mli mm mp3 mp4 mts ndjson nim nix npy "
    "npz odt onnx otf parquet pbtxt pcap pdf pem php pickle pkl pl plist png pptx properties proto ps1 psd pxd py pyc pyi pyx rar rb rego "
    "rkt rlib rmd rpm rs rst rtf sass sbt scala scss sh sln so sql sqlite sqlite3 svelte svg swift tar tcl tex tf tfvars tgz tif tiff toml "
    "tsv ts tsx ttf txt unity vb vbs vsix vue war wasm wav webm webp whl woff woff2 xcodeproj xhtml xls xlsx xml xsd xsl xz yaml yml zig "
    "zip zsh"
)
"""Endings that make a bare name a file's."""

_MAYBE_EXTENSIONS: Final = _words(
    "a bak bin c conf config d dat data db def diff doc el env ex f fs h i in inc info j key lib lock log m mak map mk new o old orig out "
    "patch pid pt pub r rej s sass save sha256 swp templ tmp tpl user v"
)
"""Endings that a member access in code has as often as a file."""

_FILE_NAMES: Final = _words(
    "Makefile makefile Dockerfile Containerfile Jenkinsfile Vagrantfile Procfile Gemfile Rakefile Brewfile Justfile justfile LICENSE "
    "README CHANGELOG NOTICE AUTHORS CODEOWNERS CONTRIBUTING COPYING"
)
_DOTFILES: Final = _words("dockerenv editorconfig env envrc git gitattributes github gitmodules npmrc profile python-version ssh vscode")
_DIRECTORIES: Final = _words(
    "app apps bin build cmd conf config core dist docs doc etc examples home include internal lib libs node_modules opt packages pkg "
    "public scripts server spec src static test tests tmp tools usr util utils var vendor web www"
)
_NO_PATHS: Final = _words("and/or either/or he/she she/he he/him she/her his/her her/his him/her s/he w/o")
_ARGUMENT_KEYS: Final = _words(
    "path paths file files filename file_name filepath file_path absolute_path dir directory dir_path dirpath dirname folder cwd root "
    "target_file target_path old_path new_path source_path uri notebook_path image_path"
)

_CHARACTER: Final = r"[A-Za-z0-9_.@+~\u00c0-\u02af\u0370-\u1fff-]"
LONGEST: Final = 1_024
"""Characters; what is longer is no path."""


def paths_in(text: str) -> Iterator[tuple[str, bool]]:
    """Every path in `text`, word for word without `:line` or `#L` suffixes, and whether it surely is one. May repeat.

    An address (`https://…/a.py`) is not looked into: it is a fact of its own.
    """
    addresses = [match.span() for match in _address().finditer(text)] if "://" in text else []
    nearest = 0
    for match in _token().finditer(text):
        start, end = match.span()
        while nearest < len(addresses) and addresses[nearest][1] <= start:
            nearest += 1
        if end - start > LONGEST or (nearest < len(addresses) and addresses[nearest][0] <= start):
            continue
        if found := _judge(match.group(), before=text[start - 1 : start], after=text[end : end + 1]):
            yield found
    if "\\" in text or ":/" in text:
        for match in _windows().finditer(text):
            path = match.group().rstrip(".,:;")
            if len(path) <= LONGEST:
                yield path, path[1:2] in (":", "\\") or _judge_name(path.rpartition("\\")[2]) is not None
    if " " in text and ("/" in text or "\\" in text):
        for match in _quoted().finditer(text):
            path = match["fact"].rstrip()
            if " " in path:
                yield path, True


def paths_of_argument(key: str, value: str) -> Iterator[tuple[str, bool]]:
    """The path that an argument of a call is, going by its name, or the paths in its text."""
    if is_path_key(key) and value.strip() and len(value) <= LONGEST and "\n" not in value:
        yield value.strip(), True
    else:
        yield from paths_in(value)


def is_path_key(key: str) -> bool:
    """True if an argument of that name holds a path."""
    return key.lower() in _ARGUMENT_KEYS


def _judge(token: str, *, before: str, after: str) -> tuple[str, bool] | None:
    """What of a run of path characters is a path, if anything is; `before` and `after` are its neighbours."""
    token = token.rstrip(".-+@").lstrip("+")
    if token.startswith("-"):  # `-I/usr/include`, `--dir/x`
        token = token[token.find("/") :] if "/" in token else token.lstrip("-")
    if len(token) < 2:
        return None
    if "/" not in token:
        return None if after == "(" or "@" in token else _judge_name(token)
    pieces = [piece for piece in token.split("/") if piece]
    if not pieces or token.lower() in _NO_PATHS or all(piece.replace(".", "").isdigit() for piece in pieces):
        return None
    if _substitution().fullmatch(token):
        return None
    if before == "<" and (token[0] == "/" or token[-1] == "/"):  # a tag
        return None
    if token.startswith(("/", "~/", "./", "../")):
        return (token, True) if len(pieces) > 1 or len(pieces[0]) > 1 else None
    name = _judge_name(pieces[-1])
    sure = len(pieces) > 2 or (token[-1] == "/" and len(pieces[0]) > 1) or pieces[0].startswith(".") or pieces[0].lower() in _DIRECTORIES
    return token, sure or bool(name and name[1])


def _judge_name(name: str) -> tuple[str, bool] | None:
    """The same for a name without a slash."""
    stem, dot, extension = name.rpartition(".")
    if not dot:
        return (name, True) if name in _FILE_NAMES else None
    if not stem:
        return (name, True) if extension in _DOTFILES or extension.endswith(("rc", "ignore")) else None
    if not (extension.islower() or extension.isupper()):
        return None
    extension = extension.lower()
    if extension in EXTENSIONS:
        return name, True
    if extension in _MAYBE_EXTENSIONS and stem.lower() not in ("self", "this", "cls"):
        return name, False
    return None


@cache
def _token() -> re.Pattern[str]:
    """Runs of path characters that hold a slash, an inner dot before a letter, or are a file's well-known name."""
    c = _CHARACTER
    names = "|".join(sorted(_FILE_NAMES))
    return re.compile(
        rf"(?<!{c})(?<!/)(?<!\b[A-Za-z]:)(?:/?{c}++(?:/{c}*+)++|/{c}++|{c}*?[A-Za-z0-9_\-]\.[A-Za-z]{c}*+|\.[A-Za-z]{c}++|(?:{names})(?!{c}))"
    )


@cache
def _substitution() -> re.Pattern[str]:
    """What `sed` is told: `s/old/new/g`."""
    return re.compile(r"[sy]/[^/]*+/[^/]*+/[a-zA-Z0-9]{0,4}")


@cache
def _address() -> re.Pattern[str]:
    return re.compile(r"[a-z]://[^\s<>\"'`]*+")


@cache
def _windows() -> re.Pattern[str]:
    """A path with a drive, a share, or backslashes between names; a JSON escape such as a line break's is no separator."""
    piece = r"[^\s\\/:*?\"'<>|`,;(){}\[\]]"
    drive = rf"(?<![A-Za-z0-9])[A-Za-z]:(?:\\{{1,2}}|/){piece}++(?:(?:\\{{1,2}}|/){piece}++)*+"
    share = rf"(?<!\\)\\\\[\w.$-]++(?:\\{piece}++)++"
    relative = r"(?<![\w\\.-])[\w.-]++(?:\\(?![nrtbf0u\"'\\])[\w.-]++)++"
    return re.compile(f"{drive}|{share}|{relative}")


@cache
def _quoted() -> re.Pattern[str]:
    """A quoted path, which may hold blanks."""
    return re.compile(r"(?<=[\"'`])(?P<fact>(?:(?:~|\.{1,2})?/|[A-Za-z]:[\\/]|\\\\)[^\"'`\n<>|*?]{1,260})(?=[\"'`])")
