"""Finding file paths: POSIX, Windows, relative, bare names with an extension, and what tool arguments call a path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gemini_companion.engine.facts.patterns import lazy


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EXTENSIONS: Final = _words(
    "adoc asm astro avi bak bash bat bib bmp bz2 bzl c cc cfg cjs clj cmake cmd conf cpp crt cs csproj css csv cts cxx "
    "dart deb diff dll doc docx ejs elm eot erl exe exs fish gemspec gif gitignore go gql gradle graphql groovy gz h "
    "h5 hbs hcl hh hpp hs htm html ico iml in ini ipynb jar java jinja jinja2 jpeg jpg js json json5 jsonc jsonl jsx "
    "kt kts less lhs lock log lua m4 markdown md mdx mjs mkv ml mli mm mp3 mp4 mts ndjson nim nix npy npz odt onnx otf "
    "parquet patch pbtxt pcap pdf pem php pickle pkl pl plist png pptx properties proto ps1 psd pxd py pyc pyi pyx rar "
    "rb rego rkt rlib rmd rpm rs rst rtf sass sbt scala scss sh sln so sql sqlite sqlite3 svelte svg swift tar tcl tex "
    "tf tfvars tgz tif tiff toml tsv ts tsx ttf txt unity vb vbs vsix vue war wasm wav webm webp whl woff woff2 "
    "xcodeproj xhtml xls xlsx xml xsd xsl xz yaml yml zig zip zsh"
)
"""Endings that make a bare name a file's."""
_OBJECTS: Final = _words("self this cls math console logger np window document")
"""What a dot follows in code."""
_FILE_NAMES: Final = _words(
    "Makefile makefile Dockerfile Containerfile Jenkinsfile Vagrantfile Procfile Gemfile Rakefile Brewfile Justfile "
    "justfile LICENSE README CHANGELOG NOTICE AUTHORS CODEOWNERS CONTRIBUTING COPYING"
)
_DOTFILES: Final = _words(
    "dockerenv editorconfig env envrc git gitattributes github gitmodules npmrc profile python-version ssh vscode"
)
_DIRECTORIES: Final = _words(
    "app apps bin build cmd conf config core dist docs doc etc examples home include internal lib libs node_modules "
    "opt packages pkg public scripts server spec src static test tests tmp tools usr util utils var vendor web www"
)
_ARGUMENT_KEYS: Final = _words(
    "path paths file files filename file_name filepath file_path absolute_path dir directory dir_path dirpath dirname "
    "folder cwd root target_file target_path old_path new_path source_path uri notebook_path image_path"
)
LONGEST: Final = 1_024
"""Characters; what is longer is no path."""

_C: Final = r"[A-Za-z0-9_.@+~\u00c0-\u02af\u0370-\u1fff-]"
_PIECE: Final = r"[^\s\\/:*?\"'<>|`,;(){}\[\]]"
_TOKEN: Final = lazy(
    rf"(?<!{_C})(?<!/)(?<!\b[A-Za-z]:)(?:/?{_C}++(?:/{_C}*+)++|/{_C}++|{_C}*?[A-Za-z0-9_\-]\.[A-Za-z]{_C}*+"
    rf"|\.[A-Za-z]{_C}++|(?:{'|'.join(sorted(_FILE_NAMES))})(?!{_C}))"
)
"""Runs of path characters that hold a slash, an inner dot before a letter, or are a file's well-known name."""
_DOT: Final = lazy(r"\.[A-Za-z]")
_SUBSTITUTION: Final = lazy(r"[sy]/[^/]*+/[^/]*+/[a-zA-Z0-9]{0,4}")
_ADDRESS: Final = lazy(r"[a-z]://[^\s<>\"'`]*+")
_WINDOWS: Final = lazy(
    rf"(?<![A-Za-z0-9])[A-Za-z]:(?:\\{{1,2}}|/){_PIECE}++(?:(?:\\{{1,2}}|/){_PIECE}++)*+"
    rf"|(?<!\\)\\\\[\w.$-]++(?:\\{_PIECE}++)++|(?<![\w\\.-])[\w.-]++(?:\\(?![nrtbf0u\"'\\])[\w.-]++)++"
)
"""A path with a drive, a share, or backslashes between names; a JSON escape such as a line break's is no separator."""
_QUOTED: Final = lazy(r"(?<=[\"'`])(?P<fact>(?:(?:~|\.{1,2})?/|[A-Za-z]:[\\/]|\\\\)[^\"'`\n<>|*?]{1,260})(?=[\"'`])")
_DEPENDENCY: Final = lazy(
    r"/(?:usr|bin|sbin|lib\d*|proc|sys|dev|nix|snap|opt|var/(?:lib|cache|spool|run|log|mail|games))(?:/|$)|/etc/[^/]*$"
    r"|(?:.*/)?(?:site-packages|dist-packages|node_modules|\.cache|__pycache__|miniconda\d?|\.git|wheels)(?:/|$)"
    r"|/tmp/pip-"
)


def paths_in(text: str) -> Iterator[str]:
    """Every path in `text`, word for word without `:line` or `#L` suffixes. May repeat.

    An address (`https://…/a.py`) is not looked into: it is a fact of its own. A word with a slash (`start/end`) is no
    path.
    """
    if not may_hold_path(text):
        return
    addresses = [match.span() for match in _ADDRESS().finditer(text)] if "://" in text else []
    nearest = 0
    for match in _TOKEN().finditer(text):
        start, end = match.span()
        while nearest < len(addresses) and addresses[nearest][1] <= start:
            nearest += 1
        if end - start > LONGEST or (nearest < len(addresses) and addresses[nearest][0] <= start):
            continue
        if path := _judge(match.group(), before=text[start - 1 : start], after=text[end : end + 1]):
            yield path
    if "\\" in text or ":/" in text:
        for match in _WINDOWS().finditer(text):
            path = match.group().rstrip(".,:;")
            if len(path) <= LONGEST and (path[1:2] in (":", "\\") or _is_name(path.rpartition("\\")[2])):
                yield path
    if " " in text and ("/" in text or "\\" in text):
        for match in _QUOTED().finditer(text):
            path = match["fact"].rstrip()
            if " " in path and (path[0] != "/" or path.count("/") > 1):
                yield path


def may_hold_path(text: str) -> bool:
    """False if no path stands in a text: a quick look."""
    if "/" in text or "\\" in text or _DOT().search(text):
        return True
    return any(name in text for name in _FILE_NAMES)


def paths_of_argument(key: str, value: str) -> Iterator[str]:
    """The path that an argument of a call is, going by its name, or the paths in its text."""
    if is_path_key(key) and value.strip() and len(value) <= LONGEST and "\n" not in value:
        yield value.strip()
    else:
        yield from paths_in(value)


def is_path_key(key: str) -> bool:
    """True if an argument of that name holds a path."""
    return key.lower() in _ARGUMENT_KEYS


def is_dependency(path: str) -> bool:
    """True for what belongs to the system or to installed packages: nobody's work, where only an output names it."""
    return _DEPENDENCY().match(path) is not None


def _judge(token: str, *, before: str, after: str) -> str | None:
    """What of a run of path characters is a path, if anything is; `before` and `after` are its neighbours."""
    token = token.rstrip(".-+@").lstrip("+")
    if token.startswith("-"):  # `-I/usr/include`, `--dir/x`
        token = token[token.find("/") :] if "/" in token else token.lstrip("-")
    if len(token) < 2:
        return None
    if "/" not in token:
        return None if after == "(" or "@" in token or not _is_name(token) else token
    pieces = [piece for piece in token.split("/") if piece]
    if not pieces or all(piece.replace(".", "").isdigit() for piece in pieces) or _SUBSTITUTION().fullmatch(token):
        return None
    if token.startswith("//") or (before == "<" and (token[0] == "/" or token[-1] == "/")):  # a comment, a tag
        return None
    if token.startswith(("/", "~/", "./", "../")):
        return token if len(pieces) > 1 or len(pieces[0]) > 1 else None
    known = (
        len(pieces) > 2
        or (token[-1] == "/" and len(pieces[0]) > 1)
        or pieces[0].startswith(".")
        or pieces[0].lower() in _DIRECTORIES
    )
    return token if known or _is_name(pieces[-1]) else None


def _is_name(name: str) -> bool:
    """True if a name without a slash is a file's."""
    stem, dot, extension = name.rpartition(".")
    if not dot:
        return name in _FILE_NAMES
    if not stem:
        return extension in _DOTFILES or extension.endswith(("rc", "ignore"))
    return (
        (extension.islower() or extension.isupper())
        and extension.lower() in _EXTENSIONS
        and stem.lower() not in _OBJECTS
    )
