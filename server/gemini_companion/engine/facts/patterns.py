"""The pattern table: how a fact worth keeping is recognised in text, English or Japanese.

Each `Row` says what it finds and shows it in examples; a test holds every row to them. Three rules hold for all: a pattern is linear
on any input (possessive or bounded repeats, nothing ambiguous), it is compiled at first use (importing this module costs nothing),
and what it finds is a substring of the text, word for word. What a pattern alone cannot tell (is `start/end` a path?) is told in
`paths` and `extract`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from gemini_companion.engine.facts.fact import FactKind


class Row(NamedTuple):
    """One way in which a kind of fact shows itself."""

    kind: FactKind
    pattern: str
    """A regular expression. The group `fact`, where there is one, is the fact; otherwise the whole match is."""
    examples: tuple[str, ...]
    """Texts in which it finds something."""
    certain: bool = True
    """False for what only may be one: kept after everything that surely is one."""
    flags: int = 0


# --- Directives: the cue that makes a user's sentence one. English cues are whole words, in any case. ---------------------------

DIRECTIVES: Final = (
    Row("directive", r"must(?:n['’]?t)?", ("You must ask first.", "It mustn't block.")),
    Row("directive", r"never", ("Never push to main.",)),
    Row("directive", r"always", ("ALWAYS run the tests",)),
    Row("directive", r"do(?:es)?(?:n['’]?t| not)", ("Don't touch it.", "do not rename it", "dont ask", "it doesn’t matter")),
    Row("directive", r"(?:should|shall)(?:n['’]?t)?|need(?:n['’]t| not)", ("It should stay private.", "You shouldn't.", "You needn't.")),
    Row("directive", r"only", ("Only in the tests.",)),
    Row("directive", r"prefer(?:s|red|ably|ence|ences)?", ("I prefer tabs.", "preferably in Rust")),
    Row("directive", r"avoid(?:s|ing)?", ("Avoid globals.",)),
    Row("directive", r"instead|rather than", ("Use pnpm instead.", "tabs rather than spaces")),
    Row("directive", r"(?:make|be) sure|ensur(?:e|es|ing)", ("Make sure it builds.", "Be sure to ask.", "Ensure that it is fast.")),
    Row("directive", r"can(?:['’]?t|not| not)", ("You cannot use vim.", "We can't break it.")),
    Row("directive", r"ha(?:ve|s) to", ("You have to ask.",)),
    Row("directive", r"(?:needs?|wants?) to", ("It needs to be fast.",), certain=False),
    Row("directive", r"(?:not|isn['’]t|aren['’]t) (?:be )?(?:allowed|permitted|acceptable)", ("It is not allowed.",)),
    Row("directive", r"forbid(?:den|s)?|prohibit(?:ed|s)?|disallow(?:ed)?|off(?: |-)limits", ("Globals are forbidden.", "legacy/ is off-limits")),
    Row("directive", r"required?|requires|mandatory|strictly|exactly", ("Types are required.",), certain=False),
    Row("directive", r"at (?:most|least)|no (?:more|less|fewer) than", ("at most 20 lines",), certain=False),
    Row("directive", r"without|unless|until|except", ("without new dependencies", "unless I say so"), certain=False),
    Row("directive", r"from now on|under no circumstances", ("From now on, use British spelling.",)),
    Row("directive", r"no longer|by default", ("We no longer support 3.8.",), certain=False),
    Row("directive", r"please", ("Could you please use the other card?",), certain=False),
    Row("directive", r"keep in mind|remember|important|note that", ("Remember the locks.",), certain=False),
    Row("directive", r"stick (?:to|with)", ("Stick to the standard library.",), certain=False),
)

JAPANESE_DIRECTIVES: Final = (
    Row("directive", r"必ず|絶対|常に|いつも|決して|けっして|かならず", ("必ずテストを書く。", "絶対に変えない")),
    Row("directive", r"(?:し|さ|せ|か|が|ま|ら|わ|ば|な|た|べ|え|け|げ|て|め|れ)ないで", ("直接コミットしないで。", "触らないでください")),
    Row("directive", r"ください|下さい|ほしい|欲しい|お願い|頼む", ("日本語で答えてください。", "短くしてほしい")),
    Row("directive", r"てはいけ|てはなら|ちゃ(?:だめ|ダメ|いけ)|(?:だめ|ダメ|駄目)", ("消してはいけない。", "触っちゃだめ")),
    Row("directive", r"なければ(?:なら|いけ)|なくては(?:なら|いけ)|ねばなら|なきゃ", ("確認しなければならない。",)),
    Row("directive", r"だけ|のみ|しか|以外|以内|まで(?:に|とする)", ("テストだけ実行して", "英語のみ")),
    Row("directive", r"べき|べから", ("型を付けるべきです。",)),
    Row("directive", r"禁止|厳禁|不可|必須|必要|厳守|限定", ("グローバル変数は禁止。", "型注釈は必須")),
    Row("directive", r"なるべく|できるだけ|可能な限り|極力|優先|避け", ("なるべく短く。", "依存は避ける")),
    Row("directive", r"代わりに|かわりに|ではなく|じゃなく|よりも", ("npm の代わりに pnpm を使う。",)),
    Row("directive", r"ように(?:して|する|しろ|お願い)|こと(?:。|$)", ("一行二十字までとすること。",), certain=False),
    Row("directive", r"(?:使|変え|触|消|足|増)(?:わ|え|ら|さ|やさ)?ない", ("新しい依存は使わない",), certain=False),
)

# --- Commands in prose. Whole command strings come from calls (see `extract`). ----------------------------------------------------

PROGRAMS: Final = (
    "apt apt-get awk aws az bash brew bun bundle cargo cat cd chmod chown clang cmake composer conda cp curl deno diff docker "
    "docker-compose dotnet echo emacs env eslint export find flutter gcc gcloud gem gh git go gradle grep gunzip head helm java javac jest "
    "journalctl jq kill kubectl less ln ls make mkdir mv mvn mypy ninja node npm npx openssl perl php pip pip3 pnpm poetry powershell "
    "prettier psql pwd pyright pytest python python3 rails rake redis-cli rg rm rsync ruby ruff rustc scp sed sh source sqlite3 ssh sudo "
    "swift systemctl tail tar tee terraform touch tox tsc unzip uv uvicorn uvx vim wget which xargs yarn zsh"
)

COMMANDS: Final = (
    Row(
        "command",
        r"^[ \t]*+(?:\(\w+\)[ ])?(?:[\w.-]+@[\w.-]+:?[^\s$#]{0,120}|[\w.-]{0,20})?[$][ \t]+(?P<fact>[A-Za-z_./~(\"'][^\n]*)",
        ("$ make test", "me@host:~/src$ git log -1", "bash-5.1$ ls", "  $ npm ci"),
        flags=re.MULTILINE,
    ),
    Row("command", r"^PS [^>\n]{0,200}>[ \t]*(?P<fact>\S[^\n]*)", (r"PS C:\src> dir /b",), flags=re.MULTILINE),
    Row(
        "command",
        rf"(?<!`)`(?P<fact>(?:(?:{PROGRAMS.replace(' ', '|')})[ \t][^`\n]{{1,400}}|\.{{0,2}}/[\w./-]{{1,200}}[ \t][^`\n]{{1,400}}))`(?!`)",
        ("Run `npm test -- --watch` now.", "`./configure --prefix=/usr`"),
    ),
)

SHELL_FENCE: Final = r"(?:ba|z|fi|c|k|tc)?sh|shell|console|terminal|shell-?session|powershell|ps1|pwsh|cmd|bat|batch"
"""Languages of a fenced block whose lines are commands."""

# --- Errors: a cue and, as the fact, the line of output around it. ---------------------------------------------------------------

ERRORS: Final = (
    Row(
        "error",
        r"^(?:[ \t>|E-]{0,8}(?:Caused by: |Uncaught |Unhandled |- E\d{3} )?)(?:[A-Za-z_]\w{0,60}\.){0,8}"
        r"[A-Z]\w{0,60}(?:Error|Exception|Failure|Fault|Interrupt)(?:: |:?$)",
        ("ValueError: bad literal", "E   AssertionError: no", "java.io.IOException: gone", "- E999 IndentationError: unexpected indent"),
        flags=re.MULTILINE,
    ),
    Row(
        "error",
        r"(?<![\w.])(?i:errors?|fatal|panic|failed|failure)(?:\[\w{1,20}\]|[ \t]\w{1,12}\d)?:[ \t]{0,4}(?=[^\s)])",
        ("src/a.c:12:5: error: expected ';'", "error[E0308]: mismatched types", "a.ts(1,2): error TS2345: no", "Error: no seats", "fatal: no repo"),
    ),
    Row(
        "error",
        r"^[ \t]{0,8}(?:FAILED|ERROR|FATAL|CRITICAL|npm ERR!|✗|✖)[ \t]\S",
        ("FAILED tests/test_a.py::test_b - boom", "npm ERR! code ELIFECYCLE"),
        flags=re.MULTILINE,
    ),
    Row(
        "error",
        r"(?i:command not found|no such file or directory|permission denied|segmentation fault|core dumped|is not recognized as an?"
        r"|connection refused|cannot find module|timed out|syntax error\(s\)|have not been applied|out of memory)"
        r"|\bE(?:CONNREFUSED|NOENT|ACCES|ADDRINUSE|PERM)\b",
        ("sh: foo: command not found", "cat: x: No such file or directory", "EXECUTION TIMED OUT"),
    ),
    Row(
        "error",
        r"(?i:\bexit(?:ed)?(?: with)?(?: (?:code|status|exit code))?[: ]{1,3}-?[1-9]\d{0,9}\b)",
        ("Exit Code: 1", "exited with code 127", "exit status 2"),
    ),
    Row("error", r"エラー(?=[が:：です発に\n]|$)|失敗しました|例外が|見つかりません|できませんでした", ("接続エラーが出ました",)),
)

# --- Numbers, tasks, addresses ---------------------------------------------------------------------------------------------------

NUMBERS: Final = (
    Row("number", r"\b(?i:ports?)[ \t]{0,3}(?:[=:]|is|to|on)?[ \t]{0,3}\d{2,5}\b", ("port 3000 is taken", "PORT=8080")),
    Row("number", r"(?:ポート(?:番号)?[ はを：:]{0,3}\d{2,5}|バージョン[ ]?\d{1,4}(?:\.\d{1,6}){0,3})", ("ポートは5432", "バージョン2")),
    Row("number", r"\b(?:localhost|(?:\d{1,3}\.){3}\d{1,3}):\d{2,5}\b", ("localhost:5173", "127.0.0.1:8080")),
    Row("number", r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", ("6f9619ff-8b86-d011-b42d-00cf4fc964ff",)),
    Row("number", r"\bv?\d{1,5}\.\d{1,5}\.\d{1,6}(?:[.-][0-9A-Za-z.-]{1,30}\b)?", ("v1.2.3", "2.0.0-rc.1")),
    Row(
        "number",
        r"\b(?i:version|release|python|node(?:\.js)?|java|ruby|php|perl|swift|kotlin|postgres(?:ql)?|mysql|redis|django|react|vue|angular|ubuntu|debian|windows"
        r"|macos|ios|android|cuda|gemini|issue|pr|ticket|step|phase|room|gate|flight|option|suite|v)[ \t-]?v?\d{1,5}(?:\.\d{1,6}){0,3}\b",
        ("Python 3.11", "version 2", "Node 22.1.0"),
    ),
    Row(
        "number",
        r"\b(?:\d{1,2}(?:st|nd|rd|th)?[ ])?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?[ ]\d{1,4}(?:st|nd|rd|th)?(?:, ?\d{4})?\b"
        r"|\b\d{1,2}(?:st|nd|rd|th)?[ ](?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\b(?:,? \d{4}\b)?",
        ("May 27", "8 May, 2023", "June 3rd, 2024"),
    ),
    Row("number", r"\b[A-Z]{2,10}-\d{1,7}\b", ("PROJ-142 is open",)),
    Row("number", r"(?<![\w&])#\d{1,7}\b", ("see #77",)),
    Row("number", r"\b(?=[A-Z0-9]{0,11}\d)(?=[A-Z0-9]{0,11}[A-Z])[A-Z0-9]{5,12}\b", ("HAT229", "reservation OBUT9V")),
    Row("number", r"\b[a-z]{2,20}(?:_[a-z]{1,20}){1,4}_\d{2,12}\b", ("gift_card_7480005", "sofia_kim_7287")),
    Row("number", r"\b(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b|\b0x[0-9a-fA-F]{2,32}\b", ("commit ad388c7", "0x5deece66d")),
    Row("number", r"[$€£¥]\d[\d,]{0,15}(?:\.\d{1,4})?|\d[\d,]{0,15}(?:円|万円|ドル)", ("$1,239.50", "3,000円")),
    Row("number", r"\b(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])\b", ("2024-05-27",)),
    Row("number", r"(?:19|20)\d\d年(?:\d{1,2}月(?:\d{1,2}日)?)?", ("2024年5月",)),
    Row("number", r"\b\d[\d,]{0,12}(?:\.\d{1,4})?[ \t]?(?:ms|kB|KB|MB|GB|TB|KiB|MiB|GiB|px|rem|Hz|fps|rpm|%)(?!\w)", ("250 ms", "16 KiB", "70%")),
    Row("number", r"(?i:\blines?)[ \t]\d{1,7}(?:[ \t]?[-–][ \t]?\d{1,7})?\b|\d{1,7}行目", ("line 1474", "lines 10-20", "42行目")),
)

TASKS: Final = (
    Row("task", r"^[ \t]*+(?:[-*+]|\d{1,3}[.)])[ \t]++(?P<fact>\[ \][ \t]++[^\n]{1,400})", ("- [ ] write the docs",), flags=re.MULTILINE),
    Row("task", r"(?P<fact>\[(?:TODO|IN PROGRESS|PENDING|BLOCKED|未完了|進行中)\][^\n]{1,400})", ("3. [TODO] add tests", "[IN PROGRESS] the parser")),
    Row("task", r"(?P<fact>\b(?:TODO|FIXME|XXX)\b[:( ][^\n]{1,400})", ("TODO: handle EOF", "# FIXME(me) leaks")),
)
"""Lines that say themselves that something is open."""

PLANS: Final = (
    Row(
        "task",
        r"\b(?:[Tt]asks?:|[Nn]ext(?: steps?)?(?:,|:| (?:is|are)\b)|[Rr]emaining (?:work|steps?|tasks?)\b|[Ss]till (?:needs?|ha(?:ve|s)) to\b"
        r"|[Ss]till (?:missing|open|to do)\b|[Ll]eft to do\b"
        r"|[Nn]ot (?:yet )?(?:implemented|done|finished|tested)(?: yet)?\b|[Ff]ollow[- ]ups?:)",
        ("Next, I will run the tests.", "We still need to update the docs.", "The parser is not yet tested."),
    ),
    Row("task", r"(?:次は|次に|残りは|残りの(?:作業|タスク)|未対応|未着手|やること|あとで|後で)", ("次は API を直します。",)),
)
"""Cues that make a sentence of a person or the model an open task."""

URLS: Final = (
    Row(
        "url",
        r"\b(?:https?|ftp|ssh|wss?|file|git)://[^\s<>\"'`{}|\\^()（）「」『』、。\[\]]{2,2000}",
        ("see https://example.com/a?b=1#c.", "http://localhost:3000/"),
    ),
)

TABLE: Final = (*DIRECTIVES, *JAPANESE_DIRECTIVES, *COMMANDS, *ERRORS, *NUMBERS, *TASKS, *PLANS, *URLS)
"""Every row. Paths need more than a pattern: see `paths`."""

GREETING: Final = r"(?i:hi|hello|hey|thanks?|thank\syou|good\s(?:morning|evening|night)|bye|sure|ok(?:ay)?|yes|no|great|wow|cool|awesome|congrats)\b"
"""How a sentence that says little begins."""


# --- Hints: if none of these stands in a text in small letters, no row of that kind can find anything. Plain searches are quicker. --


def _hints(text: str) -> tuple[str, ...]:
    return tuple(text.split("|"))


DIRECTIVE_HINTS: Final = _hints(
    "must|never|always|n't|n’t|dont|doesnt|cant|not|should|shall|only|prefer|avoid|instead|rather than|sure|ensur|have to|has to|need|want|"
    "forbid|prohibit|disallow|limits|requir|mandatory|strictly|exactly|at most|at least|no more|no less|no fewer|without|unless|until|"
    "except|no longer|from now|no circ|by default|please|in mind|remember|important|note that|stick to|stick with|必|絶対|常に|いつも|"
    "決して|けっして|かならず|ない|ください|下さい|ほしい|欲しい|お願い|頼む|てはいけ|てはなら|ちゃ|だめ|ダメ|駄目|なければ|なく|ねばなら|"
    "なきゃ|だけ|のみ|しか|以外|以内|まで|べき|べから|禁|不可|守|限|なるべく|できるだけ|優先|極力|避け|代わ|かわり|よりも|ように|こと"
)
ERROR_HINTS: Final = _hints(
    "err|exception|fail|fault|fatal|panic|interrupt|exit|not found|no such|denied|dumped|recognized|refused|cannot find|timed out|"
    "not been applied|out of memory|critical|✗|✖|econn|enoent|eacces|eaddr|eperm|エラー|失敗|例外|見つかり|できません"
)
TASK_HINTS: Final = _hints("[ ]|[todo|[in p|[pend|[block|[未|[進|todo|fixme|xxx")
PLAN_HINTS: Final = _hints("task|next|remaining|still|left to|not|follow|次|残り|未|やること|あとで|後で")


def hinted(lowered: str, hints: tuple[str, ...]) -> bool:
    """True if any hint stands in a text that is in small letters."""
    for hint in hints:  # noqa: SIM110, a loop takes half the time of `any` here
        if hint in lowered:
            return True
    return False


@cache
def directive_cue(*, certain: bool = False) -> re.Pattern[str]:
    """Any cue of `DIRECTIVES` or `JAPANESE_DIRECTIVES`, or any of those that leave no doubt."""
    english = "|".join(row.pattern for row in DIRECTIVES if row.certain or not certain).replace(" ", r"[ \n]")
    japanese = "|".join(row.pattern for row in JAPANESE_DIRECTIVES if row.certain or not certain)
    return re.compile(rf"(?<![A-Za-z])(?ai:{english})(?![A-Za-z])|{japanese}", re.MULTILINE)


@cache
def plan_cue() -> re.Pattern[str]:
    """Any cue of `PLANS`."""
    return re.compile("|".join(row.pattern for row in PLANS))


@cache
def binding_rule() -> re.Pattern[str]:
    """A sentence that bids or forbids, rather than one that merely holds a cue (`I've always liked horses`)."""
    return re.compile(
        r"(?ai:(?:^|[.!?:;,\-–—\n*(]|\b(?:please|and|but|so|then|also|remember|to))[ \n\"'*_`]{0,4}\d{0,3}[.)]?[ ]?(?:please |also |just )?"
        r"(?:never|always|do(?:n['’]?t| not)|avoid|prefer|only|make sure|be sure|ensure|under no|from now on)\b(?! wait\b| worry\b)"
        r"|\b(?:you|it|they|this|that|there|code|tests?|files?|names?|functions?|lines?|commits?|everything|nothing|we)[ \n](?:all )?"
        r"(?:must|should|shall|ha(?:ve|s) to|can(?:not|['’]t| not)|may not)(?:n['’]t)?\b(?! have\b|['’]ve\b| be (?:so|such|really|very)\b)"
        r"|\bi(?: would|['’]d)? (?:strongly )?(?:prefer|want you|need you|do(?:n['’]t| not) want)"
        r"|\b(?:not allowed|forbidden|prohibited|off[ -]limits|instead of|rather than)\b)"
        r"|必ず|絶対|決して|ないで|ください|下さい|いけ|なら(?:ない|ぬ)|べき|禁止|厳禁|不可|必須|なるべく|できるだけ|優先|極力|避け|代わりに|ではなく|のみ"
    )


@cache
def number() -> re.Pattern[str]:
    """Any row of `NUMBERS`, the first that fits where several do."""
    at_words = [row.pattern.removeprefix(r"\b") for row in NUMBERS if row.pattern.startswith(r"\b")]
    others = [row.pattern for row in NUMBERS if not row.pattern.startswith(r"\b")]
    return re.compile("|".join((rf"\b(?:{'|'.join(at_words)})", *others)))


@cache
def compiled(rows: tuple[Row, ...]) -> tuple[tuple[re.Pattern[str], bool], ...]:
    """The patterns of some rows of the table, each with whether it captures the group `fact`."""
    patterns = (re.compile(row.pattern, row.flags) for row in rows)
    return tuple((pattern, "fact" in pattern.groupindex) for pattern in patterns)
