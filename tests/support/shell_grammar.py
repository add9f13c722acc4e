"""Shell lines out of a grammar of their own: most are plain, and into many something is put that is not."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

PROGRAMS: Final = ("ls", "cat", "sort", "head", "wc", "grep", "npm test", "git status", "git log", "uniq", "tail")
"""What the usual rules let run."""
OTHERS: Final = ("id", "rm", "curl", "make", "./x", "x", "/bin/nothing")
"""What they do not."""
_WORDS: Final = (
    "a.py", "b", "src", "-l", "--", "-n", "5", "a\\ b", "'two words'", '"two words"', "''", '""', "a'b'c", 'a"b"c', "\\$x", "'$(id)'", '"\\$(id)"', "a#b",
    "'a;b'", '"a|b"', "\\;", "\\|", "\\#", "-", "a=b", "é", "'`id`'", "1", "2", "}", "if", "!", "id", "rm", "~", "~/x", "'\"'", "\"'\"", "a\\\\b", "'\n'", '"a\nb"',
    "a,b", "@", "%", "^", "+", ":", "in", "do", "then", "time", "[", "]", "=", "\\'", '\\"',
)  # fmt: skip
_STRANGE: Final = (
    "$x", "$HOME", '"$x"', "${x}", "${x:-$(id)}", '"${x:-`id`}"', "$(id)", '"$(id)"', "`id`", '"`id`"', "$((1+1))", "$[1]", "<(id)", ">(id)", "$'\\x69d'", '$"id"',
    "*", "?", "[a]", "{a,b}", "{1..2}", "~root", "a=~", "!!", "\\\n", "a\\\nb", "$", "a$", '"$"', "$$", "$?", "$!", "$#", "$@", "$*", "$-", "${!x}", "${x@P}",
    "<<<x", "x[$(id)]", "'", '"', "\\", "(", ")", "{", "`", "\t", "\r", "\u00a0", "#", "# id", "&", "|&", "<<E\n$(id)\nE\n", "<<'E'\n$(id)\nE\n", "<<E\nid\nE\n", "<<-E\n\tid\n\tE\n",
    "<<\\E\n`id`\nE\n", "<<E\n`id`\nE", "<<E;id\nx\nE\n", "<<A <<B\nA\nid\nB\n", "<<''\nid\n\n", "<<E\\\n\nid\nE\n",
)  # fmt: skip
_REDIRECTS: Final = (
    "2>&1", ">/dev/null", "2>/dev/null", "&>/dev/null", "<a.py", "1>&2", ">&2", "2>&1 >/dev/null", "<&0", "2>&-", "> out", ">>out", "2>out", ">|out", "&>>out",
    ">&out", "<>out", "3<a.py", "{fd}>out", "<<<id", ">'out'", ">$x", ">(id)",
)  # fmt: skip
_JOINTS: Final = (
    " && ",
    " || ",
    "; ",
    " | ",
    "\n",
    " |& ",
    "&&",
    "||",
    ";",
    "|",
    "\n\n",
    " &&\n",
    " |\n",
    " # note\n",
    " ;\n",
    " #;\n",
    "\t&&\t",
)
_BAD_JOINTS: Final = (
    " & ",
    "&",
    ";;",
    " &\n",
    ";&",
    "|;",
    " && && ",
    "\r\n",
    "&;",
    "\\\n",
    " \\\n",
    "\n)",
    "(\n",
    "|!",
    " ! ",
    "\v",
    "\f",
)
_FRONTS: Final = (
    "CI=1 ", "NO_COLOR=1 ", "CI=1 NO_COLOR=1 ", "timeout 5 ", "nice -n 5 ", "nohup ", "time ", "time -p ", "command ", "env CI=1 ", "timeout 5 nice ", "env ",
    "2>&1 ", ">/dev/null ", "<a.py ",
)  # fmt: skip
_BAD_FRONTS: Final = (
    "x=1 ", "PATH=. ", "x=$(id) ", "x=(id) ", "CI=(id) ", "CI=`id` ", "x[$(id)]=1 ", "CI[$(id)]=1 ", "CI+=1 ", "IFS=s ", "! ", "exec ", "eval ", "eval 'id;' ", "builtin ", "coproc ",
    "command -p ", "command -v ", "time -- ", "time ! ", "env -S ", "env -i ", "nice -5 ", "{ ", "if ", "while ", "for x in ", "case x in x) ", "function f { ", "f() { ", "f() ", "( ",
    "[[ x ", "(( ", "let ", "trap id EXIT; ", "alias ls=id; ", "ls() { id; }; ", "set -- id; $1 ", "x=id; $x ", "declare x=$(id) ", "export x=`id` ", "test -v ", "[ ", "source ", ". ",
    "printf -v ", "read ", "mapfile ", "select x in ", "until ", "enable ", "hash ", "shopt -s expand_aliases\nalias ls=id\n", "set -o histexpand\n", "exec <a.py; ", "cd src; ", "cd nowhere || ",
)  # fmt: skip
_BAD_ENDS: Final = (
    " &",
    ";",
    " ;",
    "\n",
    " |",
    " &&",
    " }",
    " )",
    "; fi",
    "; done",
    "; }",
    " ]]",
    "; esac",
    " #",
    " # id",
    "\\",
    " \\",
    "'",
    '"',
    " $(",
    " `",
    " <<E",
    " <<E\nid\n",
    " (",
    "()",
    "() id",
    " 2>",
    " & id",
    " &id",
)


def _often(plain: tuple[str, ...], strange: tuple[str, ...], *, of: int = 8) -> st.SearchStrategy[str]:
    return st.integers(0, of - 1).flatmap(lambda one: st.sampled_from(strange if one == 0 else plain))


_NOTHING: Final = ("",) * 4
_word = _often(_WORDS, _STRANGE, of=9)
_commands = st.builds(
    lambda front, program, words, redirects: f"{front}{' '.join((program, *words, *redirects))}",
    _often((*_NOTHING * 6, *_FRONTS), _BAD_FRONTS, of=10),
    _often(PROGRAMS, OTHERS, of=10),
    st.lists(_word, max_size=3),
    st.lists(_often(_REDIRECTS[:9], _REDIRECTS, of=4), max_size=1),
)
_grouped = st.one_of(
    _commands,
    _commands,
    _commands,
    _commands.map(lambda line: f"({line})"),
    st.tuples(_commands, _commands).map(lambda two: f"({two[0]}; {two[1]}) 2>&1"),
    _commands.map(lambda line: f"cd src && {line}"),
    _commands.map(lambda line: f"cat <<'E' | {line}\n$(id)\nE\n"),
    _commands.map(lambda line: f"{{ {line}; }}"),
    _commands.map(lambda line: f"! {line}"),
    _commands.map(lambda line: f"if {line}; then id; fi"),
)


@st.composite
def shell_lines(draw: st.DrawFn) -> str:
    """A line of one command or of some."""
    line = draw(_grouped)
    for _ in range(draw(st.integers(0, 3))):
        line += draw(_often(_JOINTS, _BAD_JOINTS, of=10)) + draw(_grouped)
    if draw(st.integers(0, 9)) == 0:
        line += draw(st.sampled_from(_BAD_ENDS))
    if draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(line)))
        line = line[:at] + draw(st.sampled_from((*_STRANGE, *_BAD_JOINTS, *_JOINTS))) + line[at:]
    return line
