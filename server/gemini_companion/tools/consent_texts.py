r"""What a person reads before they agree: exact, whole, and with one reading.

Nothing here cuts or masks. `visible` writes out what a reader cannot see, so that no two texts are shown alike;
`quoted` writes a word as bash reads it back; `signs_of` and the functions beside it say what may deceive in spite of
that: signs that show nothing, and letters that look like others.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Final, cast

_BLANK_LETTERS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f\U00013441")
"""Letters and marks that show nothing."""
_PRINTED_AS_NOTHING: Final = re.compile(f"[{''.join(_BLANK_LETTERS)}\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""What Python takes for printable all the same."""
_NOT_BREAKS: Final = {ord("\n"): None, ord("\t"): None}
_PLAIN_BLANKS: Final = frozenset(" \t\n")
_ESCAPED: Final = re.compile(r"\\u\{([0-9A-F]{4,6})\}")
_JOINERS: Final = "\u200c\u200d"
_BYTE_ORDER_MARK: Final = "\ufeff"
_TEXT_VARIATION, _EMOJI_VARIATION = "\ufe0e", "\ufe0f"

# --- signs that cannot be seen


def is_deceptive(sign: str) -> bool:
    """Control signs, those that turn the direction of writing, that have no width, or are blanks but not the blank."""
    if sign in _PLAIN_BLANKS:
        return False
    return unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"} or (
        sign in _BLANK_LETTERS or "\ufe00" <= sign <= "\ufe0f" or "\U000e0100" <= sign <= "\U000e01ef"
    )


def deceptive(text: str) -> tuple[str, ...]:
    """The names of all such signs in a text, each once."""
    if _shows_all(text):
        return ()
    return tuple(dict.fromkeys(f"U+{ord(sign):04X}" for sign in text if is_deceptive(sign)))


def visible(text: str) -> str:
    r"""The text with such signs written out: `ls\u{00A0}-l`. No two texts are shown alike.

    Where a text itself has what a sign is written out as, its backslash is written out.
    """
    return _written_out(text, is_deceptive)


def visible_line(text: str) -> str:
    """The same on one line: tabs and line breaks are written out too."""
    return _written_out(text, lambda sign: sign in "\t\n" or is_deceptive(sign))


def visible_prose(text: str) -> str:
    """The same for what people write and files hold: the signs that such texts need stay as they are.

    That is an emoji's selector behind its sign, a joiner between letters or emojis, an odd blank, a private sign.
    """
    hidden = frozenset(_hidden_at(text))
    if not hidden and _ESCAPED.search(text) is None:
        return text
    return "".join(
        f"\\u{{{ord(sign):04X}}}" if at in hidden or (sign == "\\" and _is_escape(text, at, is_deceptive)) else sign
        for at, sign in enumerate(text)
    )


def hidden_in_prose(text: str) -> tuple[str, ...]:
    """The names of the signs that `visible_prose` writes out, each once."""
    return tuple(dict.fromkeys(f"U+{ord(text[at]):04X}" for at in _hidden_at(text)))


def _written_out(text: str, is_hidden: Callable[[str], bool]) -> str:
    if text.isascii() and text.isprintable() and "\\u{" not in text:
        return text
    return "".join(
        f"\\u{{{ord(sign):04X}}}" if is_hidden(sign) or (sign == "\\" and _is_escape(text, at, is_hidden)) else sign
        for at, sign in enumerate(text)
    )


def _is_escape(text: str, at: int, is_hidden: Callable[[str], bool]) -> bool:
    """Whether what begins there is what a sign would be written out as."""
    found = _ESCAPED.match(text, at)
    if found is None:
        return False
    number = int(found[1], 16)
    if number > 0x10FFFF or f"{number:04X}" != found[1]:
        return False
    return chr(number) == "\\" or is_hidden(chr(number))


def _hidden_at(text: str) -> Iterator[int]:
    if _shows_all(text):
        return
    for at, sign in enumerate(text):
        if sign.isascii() and sign.isprintable():
            continue
        if not is_deceptive(sign):
            continue
        before = text[at - 1] if at else ""
        if unicodedata.category(sign) in {"Zs", "Co", "Cn"} or (sign == _BYTE_ORDER_MARK and at == 0):
            continue
        if sign in (_TEXT_VARIATION, _EMOJI_VARIATION) and before and _takes_selector(before):
            continue
        if sign in _JOINERS and before and not before.isascii() and not _shows_nothing(before):
            continue
        yield at


def _shows_all(text: str) -> bool:
    """Whether no sign of a text is hidden: a look that costs little, since most texts are long and plain."""
    return text.translate(_NOT_BREAKS).isprintable() and _PRINTED_AS_NOTHING.search(text) is None


def _takes_selector(sign: str) -> bool:
    return sign in "#*0123456789" or unicodedata.category(sign)[0] == "S" or (not sign.isascii() and not sign.isalpha())


def _shows_nothing(sign: str) -> bool:
    """An emoji's selector aside."""
    return is_deceptive(sign) and sign not in (_TEXT_VARIATION, _EMOJI_VARIATION)


# --- words that bash reads back

_SHORT: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\", "'": "\\'"}


def quoted(word: str) -> str:
    """A word as bash reads it back: plain, in quotes, or, with signs that cannot be seen, as `$'…'`."""
    if not any(sign in "\t\n" or is_deceptive(sign) for sign in word):
        return shlex.quote(word)
    return f"$'{''.join(_ansi(sign) for sign in word)}'"


def quoted_line(words: Iterable[str], env: Mapping[str, str] | None = None) -> str:
    """A program's words, with the variables that are set for it, as a line of bash."""
    program, *rest = words
    first = quoted(program)
    if first == program and ("=" in program or program in _SHELL_WORDS):
        first = f"'{program}'"  # bash would read it as a variable, or as a word of its own
    set_first = [f"{name}={quoted(value)}" for name, value in (env or {}).items()]
    return " ".join((*set_first, first, *map(quoted, rest)))


_SHELL_WORDS: Final = frozenset((
    "if", "then", "elif", "else", "fi", "for", "in", "while", "until", "do", "done", "case", "esac", "select",
    "function", "time", "coproc",
))  # fmt: skip


def _ansi(sign: str) -> str:
    if sign in _SHORT:
        return _SHORT[sign]
    if not is_deceptive(sign):
        return sign
    code = ord(sign)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# --- letters that look like others

_WORD: Final = re.compile(r"[^\W_]+(?:[\u0300-\u036f]+[^\W_]*)*")
_WRITTEN_ESCAPE: Final = re.compile(r"\\[a-z](?=[^\x00-\x7f])")
"""`\\nАвтор` of a `printf` is no word that begins with a Latin letter."""
_SET_APART: Final = ("<super>", "<sub>", "<circle>", "<fraction>", "<square>")
"""Forms that nobody takes for the plain letter: `m²`, `nº`."""
_HOST: Final = re.compile(r"(?:://|@)(?:[^\s/?#@'\"]*@)?([^\s/?#@'\"\\]+)")
_BARE_HOST: Final = re.compile(
    r"(?<![\w./@-])((?:[^\W_][\w-]*\.)+(?:com|net|org|edu|gov|io|dev|app|ai|co|cloud))(?![\w.-])", re.IGNORECASE
)


def look_alikes(text: str) -> tuple[str, ...]:
    """Words of a text that mix letters of two alphabets which look alike, and hosts that look like another one.

    A word in one alphabet says what it says, whichever that is; only as a host's name is it compared with ASCII.
    """
    if text.isascii():
        return ()
    found = [word for word in _WORD.findall(_WRITTEN_ESCAPE.sub(" ", text)) if _is_mixed(word)]
    found += [host for host in (*_HOST.findall(text), *_BARE_HOST.findall(text)) if _is_host_alike(host)]
    return tuple(dict.fromkeys(found))


def is_all_alike(word: str) -> bool:
    """Whether a word that is not ASCII looks as if it were, letter by letter."""
    return not word.isascii() and all(sign.isascii() or _ascii_like(sign) for sign in word)


_QUOTED: Final = re.compile(r""""[^"]*+"|'[^']*+'""")
_BLANK: Final = re.compile(r"\s")
_OF_PROSE: Final = "\u2013\u2019"
"""The dash and the apostrophe that people write within and between words."""


def alike_punctuation(text: str) -> tuple[str, ...]:
    """Signs of a command, a path or a name that look like those which part or join its words: `∕`, `‐`, `；`.

    They count among signs of ASCII, and alone if they look like what parts commands. Wide ones are what they seem in a
    word with letters of their kind.
    """
    if text.isascii():
        return ()
    words = _QUOTED.sub(_without_prose, text).split()
    return tuple(dict.fromkeys(sign for word in words for sign in _alike_punctuation_of(word)))


def _without_prose(quoted: re.Match[str]) -> str:
    """What is in quotes and has blanks goes: the words of a commit's message, not a path or an option."""
    return " " if _BLANK.search(quoted.group()) else quoted.group()


def _alike_punctuation_of(word: str) -> Iterator[str]:
    if word.isascii():
        return
    has_wide_letters = any(sign.isalpha() and unicodedata.east_asian_width(sign) == "W" for sign in word)
    for at, sign in enumerate(word):
        alike = _ascii_like(sign)
        if not alike or any(one.isalnum() for one in alike):
            continue
        if has_wide_letters and unicodedata.east_asian_width(sign) in "FW":
            continue
        after = word[at + 1 : at + 2]
        if sign in _OF_PROSE:
            is_odd = at == 0 and after.isascii() and after.isalpha()
        else:
            beside = word[max(at - 1, 0) : at] + after
            is_odd = (
                any(one in ";|&<>" for one in alike)
                if len(word) == 1
                else not any(one.isalpha() and not one.isascii() for one in beside)
            )
        if is_odd:
            yield sign


def _is_mixed(word: str) -> bool:
    if word.isascii() or not any(sign.isascii() and sign.isalpha() for sign in word):
        return False
    return any(not sign.isascii() and _is_foreign(sign) for sign in word)


def _is_foreign(sign: str) -> bool:
    """Whether a sign looks like a letter or a digit of ASCII, and is of another alphabet."""
    alike = _ascii_like(sign)
    if not any(one.isalnum() for one in alike):
        return False
    from confusable_homoglyphs import categories

    alphabet_of = cast("Callable[[str], str]", vars(categories)["alias"])  # the library has no types
    return alphabet_of(sign) != "LATIN" or _folded(sign) != ""


def _is_host_alike(host: str) -> bool:
    return not host.isascii() and (any(map(_is_like_a_separator, host)) or any(map(is_all_alike, host.split("."))))


def _is_like_a_separator(sign: str) -> bool:
    return any(not one.isalnum() for one in _ascii_like(sign))


@cache
def _ascii_like(sign: str) -> str:
    """The signs of ASCII that a sign looks like, by Unicode's tables; empty if there are none."""
    if sign.isascii():
        return ""
    if folded := _folded(sign):
        return folded
    from confusable_homoglyphs import confusables

    # The library reads Unicode's tables once, some 30 ms, with the first sign that is asked about.
    data = cast("Mapping[str, list[Mapping[str, str]]]", confusables.confusables_data)
    return "".join(one["c"] for one in data.get(sign, ()) if len(one["c"]) == 1 and one["c"].isascii())


def _folded(sign: str) -> str:
    """What a sign is another form of, where that is one of ASCII: wide letters, those of mathematics."""
    if sign.isascii() or unicodedata.decomposition(sign).startswith(_SET_APART):
        return ""
    folded = unicodedata.normalize("NFKC", sign)
    return folded if len(folded) == 1 and folded.isascii() and not folded.isspace() else ""


# --- what to say of it


def signs_of(text: str, programs: Iterable[str] = ()) -> list[str]:
    """What is to be warned of in a command, a path or a name; `programs` are those that it starts."""
    warnings = [f"It has signs that cannot be seen: {', '.join(found)}."] if (found := deceptive(text)) else []
    if signs := alike_punctuation(text):
        told = ", ".join(f"{sign} ({_numbers(sign)})" for sign in signs)
        warnings.append(f"It has signs that look like others: {told}.")
    return warnings + alike_in(text, programs)


def signs_of_prose(text: str) -> list[str]:
    """What is to be warned of in what people write and files hold."""
    found = hidden_in_prose(text)
    return [f"Its text has signs that cannot be seen: {', '.join(found)}."] if found else []


def alike_in(text: str, programs: Iterable[str] = ()) -> list[str]:
    """A warning that letters look like others, with their numbers."""
    named = {program: program.rpartition("/")[2].partition(".")[0] for program in programs}
    words = [*look_alikes(text), *(program for program, name in named.items() if is_all_alike(name))]
    if not words:
        return []
    told = ", ".join(f"{visible_line(word)} ({_numbers(word)})" for word in dict.fromkeys(words))
    return [f"It has letters that look like others: {told}."]


def texts_in(value: object) -> Iterator[str]:
    """Every text in a JSON value, names of fields too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, held in cast("Mapping[str, object]", value).items():
            yield name
            yield from texts_in(held)
    elif isinstance(value, list | tuple):
        for held in cast("list[object]", value):
            yield from texts_in(held)


def _numbers(word: str) -> str:
    return " ".join(dict.fromkeys(f"U+{ord(sign):04X}" for sign in word if _ascii_like(sign)))
