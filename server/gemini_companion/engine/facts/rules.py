"""What a sentence does: lay down a rule, ask for something once, decide, plan, announce, or only sound like it.

A rule binds until it is taken back; a request is over when it was met. Only sentences are judged here, in English,
German, Japanese or Chinese.
"""

from __future__ import annotations

import re
from typing import Final

from gemini_companion.engine.facts.patterns import hinted, hints, lazy

_JUDGED: Final = 600
"""Characters of a sentence that are looked at."""

_NOT: Final = r"(?:n['’]?t| not)"
_STRONG: Final = (
    rf"never|always|do{_NOT}|avoid|refrain from|make sure|be sure|ensure|from now on|under no circumstances"
    rf"|by default"
    r"|no longer"
)

_CHATTER: Final = lazy(
    rf"\bnever (?:mind|say never|give up|thought|knew|seen|been|heard|felt|had|ceases?|forget|too late|(?!pass"
    rf"|process|access|us)\w{{2,20}}[^su]s)\b"
    rf"|\bdo{_NOT} (?:worry|mention it|mind|know|think|believe|have|get me wrong|give up|remember|understand|see"
    rf"|feel|ask(?! me\b| for\b)|say (?:it|that|so)"
    rf"|be (?:sad|sorry|silly|shy|afraid))\b|\bcan(?:['’]?t|not| not) (?:wait|believe|imagine|thank"
    r"|complain|help but|agree more|seem|remember|get enough|find|see|tell)\b|\balways (?:an? |the |this |that |up "
    r"|down |in |on"
    r" |at |for |so |too |very |wanted|been|loved|liked|happy|here for|there for|good|great|nice|fun)"
    r"|\b(?:must|should) (?:never|always) have \w{2,20}ed\b|\b(?:must|should|can['’]?t)(?: have (?:been|had|felt"
    r"|taken"
    r"|gone|come|\w{2,12}ed)\b|['’]ve\b| be (?:an?|the|so|such|really|very|down|gone|wrong|broken|proud|fun|hard"
    r"|nice|great|amazing|tough|exciting"
    r"|excited|careful what|it|that|why|him|her|them)\b| feel\b)|\bonly (?:one|once|a few|been|because|got|had"
    r"|just)\b"
    r"|\bmake sure (?:to |you )?(?:take care|have fun|rest|enjoy|get some)\b|\ba must\b|\bkeep (?:going"
    r"|staying motivated|it up|up|in touch|me posted|dreaming|smiling|believing)\b|\binstead of (?:me|you|us)\b",
    re.IGNORECASE,
)
_CHATTER_HINTS: Final = hints("never |n't|n’t|dont|not|can|always |must|should|only |make sure |keep |instead of")
"""If none of these stands in a text in small letters, `_CHATTER` finds nothing."""
_REQUEST: Final = lazy(
    r"\W*+(?:bitte|k(?:ö|oe)nnt(?:est|en)|kannst du|würdest du|请|麻烦|帮我|[^\n]{1,80}(?:てください|して下さい|てもらえ|お願い))"
    r"|\W*+(?:(?:yes|yeah|ok(?:ay)?|sure|great|perfect|thanks?(?: you)?|alright|good|fine|now|then|and|so|hi"
    r"|hello)\b[ ,.!–-]{0,4}){0,4}(?:please )?(?:go ahead|proceed|(?:could|can|would|will) you|let['’]?s|i(?:['’]d"
    r"| would) like|i (?:want|need|wish) to|book|cancel|check|show|tell|find|look|try|run|fix|add|write|build|create"
    r"|make(?! sure)|change|update|remove|delete|explain|give|send|start|stop|open|install|move|rename|refactor"
    r"|implement)\b",
    re.IGNORECASE,
)
_PERSISTENT: Final = lazy(
    rf"\b(?:never|always|do{_NOT}|must|only|from now on|under no|whenever|every time|every|in (?:the )?future|any"
    rf"|all|each|mustn['’]t|without|unless|until"
    r"|at (?:most|least)|no (?:more|fewer|less|longer)|instead of|rather than|keep)\b",
    re.IGNORECASE,
)
_OPENS: Final = (
    r"(?:^|[.!?:;,–—(*\n]|\b(?:please|and|but|so|then|also|remember|to|that|just|should)\b)"
    r"[ \n\"'*_`]{0,4}(?:\d{1,3}[.)] ?)?(?:please |also |just |try to |always |you )?"
)
_RULE_BEGINS: Final = lazy(
    r"\W{0,4}(?:(?:\d{1,3}[.)] ?)?(?:(?:please )?(?:use(?! (?:my|it|that|this|them|these|those)\b)|keep|leave|treat"
    r"|assume|answer|reply|respond|stick (?:to|with)|limit)\b(?!,)|no (?!(?:one|idea|problem"
    r"|worries|thanks|way|doubt|wonder|need|luck|reason|clue|rush|matter|longer)\b)(?![^\n]{0,80}\b(?:provided|found"
    r"|given|needed|available|left|yet)\b))|(?:use|write|put|place|name|call|prefer|choose|take)\b[^\n]{0,200}"
    r"\b(?:instead(?: of)?|rather than|not)\b)",
    re.IGNORECASE,
)
_DUTY: Final = hints("should|have to|has to|need")
_RULES: Final = (
    (
        hints(
            "never|always|n't|n’t|dont|not|avoid|refrain|make sure|be sure|ensure|from now|under no|by default|"
            "no longer|prefer|only"
        ),
        lazy(rf"{_OPENS}(?:{_STRONG}|prefer|only)\b", re.IGNORECASE),
    ),
    (
        hints("must|shall|may only|may not|shan"),
        lazy(
            r"\b(?!(?:i|he|she|that|who|what)\b)[\w`()./-]{1,40} (?:all |also |both )?"
            r"(?:must|shall|may only|may not|mustn['’]t|shan['’]t)\b",
            re.IGNORECASE,
        ),
    ),
    (
        hints("can|may"),
        lazy(
            r"\b(?:you|nobody|no one|nothing|anything) (?:[\w./`-]{1,40} ){0,3}(?:can(?:not|['’]t| not)|may)\b",
            re.IGNORECASE,
        ),
    ),
    (
        _DUTY,
        lazy(r"\b(?:every|each|all|any) [\w`./ -]{1,60} (?:ha(?:s|ve) to|needs? to|should)\b", re.IGNORECASE),
    ),
    (
        _DUTY,
        lazy(
            r"\b(?:you|it|this|that|there|everything|nothing|code|the [\w`./-]{2,40}(?: [\w`./-]{2,40})?"
            r"|[a-z`_./-]{3,40}s|[\w./-]{1,40}\.[a-z]{1,4}) (?:all |also |always )?(?:should(?:n['’]t)?|ha(?:ve|s) to"
            r"|needs? to be)\b",
            re.IGNORECASE,
        ),
    ),
    (
        hints("prefer|insist|want|need you|expect you|like you"),
        lazy(
            rf"\bi(?: would|['’]d| do)? (?:strongly |really |much |always |rather )?(?:prefer|insist|want you"
            rf"|need you|expect you|want (?:no|only|all|every)|do{_NOT} (?:want|like you))\b",
            re.IGNORECASE,
        ),
    ),
    (hints("we "), lazy(rf"\bwe (?:all )?(?:always|never|only|do{_NOT})\b", re.IGNORECASE)),
    (
        hints(
            "allowed|permitted|forbidden|prohibited|limits|mandatory|at all times|no more|no fewer|no less|at most|"
            "at least|strictly|unless i|until i|whenever you|every time you|required|my preference|the rule"
        ),
        lazy(
            r"\b(?:not allowed|not permitted|forbidden|prohibited|disallowed|off[ -]limits|mandatory|at all times"
            r"|no (?:more|fewer|less) than|at (?:most|least) \d|strictly|unless i|until i|whenever you"
            r"|every time you|(?:is|are) required|my preference|the rule)\b",
            re.IGNORECASE,
        ),
    ),
)
"""What a rule has in it, each with its hints: to search for all of it everywhere is slow."""
_NARRATED: Final = lazy(
    rf"\W*+(?:i(?! (?:would |['’]d |do |strongly |really )?(?:prefer|insist|want|need you|expect you|do{_NOT} (?:want"
    rf"|like)))(?!['’]d (?:rather|prefer|like))|he|she|who|what|why|how|where|wow|haha|my (?!preference|rule)|our"
    rf"|your"
    r"|we (?:are|were|have|had|should|can|could|can['’]t|cannot|will|need|found|see|saw|got|did|went|just|now|indeed)"
    r"|we['’](?:re|ve|ll|d)|it (?:looks|seems|appears|turns|was|is|does|took)|it['’]s (?!forbidden|not allowed)"
    r"|that['’]s|there['’]s|they['’]re|this is)(?:\b|['’ ])",
    re.IGNORECASE,
)
_CJK_RULE: Final = lazy(
    r"(?=[⺀-\U0010ffff])(?:必ず|絶対|常に|いつも|決して|けっして|かならず|(?:し|さ|せ|か|が|ま|ら|わ|ば|な|た|べ|え|け|げ|て|め|れ)ないで(?!す)|てはいけ|てはなら"
    r"|ちゃ(?:だめ|ダメ|いけ)|だめ|ダメ|駄目"
    r"|なければ(?:なら|いけ)|なくては(?:なら|いけ)|ねばなら|なきゃ|だけ(?:に|で|を|を?(?:使|変|触))|のみ|以外|以内|べき|禁止|厳禁|不可(?!欠)|必須|厳守|限定|なるべく|できるだけ"
    r"|可能な限り|極力|優先|避け|代わりに|かわりに|ではなく|じゃなく|今後|これから(?:は|も)|[でに](?:答え|返答し|回答し|書い)て(?:ください|下さい)|こと(?:。|$)|(?:使|変え|触|足"
    r"|増)(?:わ|え|ら|さ|やさ)ない(?:こと|。|$)|必须|务必|一定要|不要|不得|不能|不可以|不许|切勿|请勿|千万|别(?:再|用|改|碰|动|提交|删|在|把)|始终|总是|永远|只能|只(?:用|改|允许"
    r"|使用|在)|仅(?:限|使用|允许|在)|应该|应当|尽量|避免|优先|而不是|以后|今后|从现在|至少|最多|不超过|请(?:始终|总是|用中文|使用|保持))"
)
_CJK_NARRATED: Final = lazy(r"\W*+(?:私は|僕は|我(?!们)|昨日|今日|さっき)")
_GERMAN_RULE: Final = lazy(
    r"\b(?:nie(?:mals)?|immer|auf keinen fall|keinesfalls|unbedingt|ausschließlich|nur|darfst?|dürfen|dürft"
    r"|muss(?:t)?"
    r"|müssen|soll(?:en|st|te|ten)?|verboten|vermeide[nt]?|bevorzug\w{1,6}|statt|anstelle|ab (?:jetzt|sofort)|künftig"
    r"|höchstens|mindestens|bitte (?:kein|nicht|nur)\w{0,3})\b|^\W{0,4}(?:\d{1,3}[.)] ?)?(?:bitte )?(?:verwende"
    r"|benutze|nutze|kein\w{0,3}|nicht|schreib\w{0,2}|antworte|halte|lass)\b",
    re.IGNORECASE,
)
_GERMAN_NARRATED: Final = lazy(
    r"\W*+(?:ich (?!will|möchte|erwarte)|er |sie |es (?:war|ist|hat)|das (?:war|ist)|wir (?:sollten|haben|hatten"
    r"|waren|sind|können))",
    re.IGNORECASE,
)
_DECISION: Final = lazy(
    r"(?i:\b(?:we|i|you|they|team)(?:['’](?:ve|ll|d))?(?: (?:have|had|will|just|both|finally|all|also"
    r"|then)){0,2} (?:decided?|agreed?|chose|chosen|settled?|opted?|went with|picked)\b|\bdecision(?: is| was|:)"
    r"|^\W{0,3}let['’]?s (?:use|go with|keep|stick)\b|\bwe(?:['’]ll| will)? (?:use|go with)\b|\b(?:entschieden"
    r"|beschlossen|geeinigt|nehmen wir|wir (?:verwenden|nutzen|nehmen))\b)|(?:に|と)決(?:め|定)|決めた|決めました|ことにし|採用し"
    r"|を使(?:うこと"
    r"|います)|决定|采用|选定|就用|敲定"
)
_PLAN: Final = lazy(
    r"(?i:\btasks?:|\bnext(?: steps?)?(?:,|:| (?:is|are)\b)|\bremaining (?:work|steps?|tasks?)\b|\bstill (?:needs?"
    r"|ha(?:ve|s)) to\b|\bstill (?:missing|open|to do|fail(?:s|ing)?)\b|\bleft to do\b|\bnot (?:yet )?(?:implemented"
    r"|done|finished|tested|fixed)(?: yet)?\b|\bfollow[- ]ups?:|\bnächste[rn]? schritt|\bals nächstes\b"
    r"|\bnoch (?:nicht|offen|zu)\b|\bes fehl(?:t|en) noch\b|\bnext (?:steps?|tasks?|thing) (?:after|will be"
    r"|would be)\b"
    r"|(?:^|[.;] )\W{0,3}(?:later(?: on)?[,:]|afterwards\b|später[,:]?|danach[,:])|\bfor later\b|\b(?:when|once"
    r"|as soon as)"
    r" (?:this|that|it|you|we|all|everything)(?:['’](?:s|re))?(?: (?:is|are|have|has|all)){0,2} (?:done|finished"
    r"|ready|merged"
    r"|released)\b|\b(?:wenn|sobald) (?:das|dies|es|alles) (?:fertig|erledigt|getan) ist\b)|後ほど|稍后|以后再|次は|次に|残りは"
    r"|残りの(?:作業|タスク)|未対応|未着手|やること|あとで|後で|下一步|接下来|待办|尚未"
    r"|还没|还需要|剩下"
)
_ANNOUNCED: Final = lazy(
    r"\W*+(?:\w{1,20}, )?(?:(?:ok(?:ay)?|so|now|next|first|then|finally|great|good|alright|since [^,\n]{1,120}"
    r"|to [^,\n]{1,80}|before [^,\n]{1,80}),? )?(?:let['’]?s|let me|(?:i|we)(?:['’]ll|['’]d| will| can| could| should"
    r"| need to| want to| are going to| have to|['’]re going to|['’]m going to| am going to| must| would)|please"
    r"|could you|would you|can you|it (?:looks|seems|appears) (?:like|that)|the next step (?:is|will|would)"
    r"|this (?:\w{1,20} )?(?:will|should)|it (?:is likely|would be|might be)"
    r"|ich werde|ich schaue|lass(?:en sie)? mich|まず|では|次に|让我|我(?:将|会|来|先))(?=\W|$|[぀-鿿])",
    re.IGNORECASE,
)
GREETING: Final = lazy(
    r"\W*+(?:hi|hello|hey|thanks?(?: you)?|good (?:morning|afternoon|evening|night)|bye|sure|ok(?:ay)?|yes|no|great"
    r"|wow|cool|awesome|congrats|perfect|hallo|danke|guten (?:tag|morgen|abend)|こんにちは|ありがとう|你好|谢谢)(?!\w)",
    re.IGNORECASE,
)
"""How a sentence that says little begins."""

RULE_HINTS: Final = hints(
    "must|never|always|n't|n’t|dont|not|should|shall|only|prefer|avoid|instead|rather|sure|ensure|use|keep|"
    "have to|has to|need|want|forbid|prohibit|disallow|limit|requir|mandatory|strict|at most|at least|no |"
    "without|unless|until|by default|from now|stick|leave|treat|assume|answer|reply|respond|refrain|when|every|"
    "times|rule|expect|insist|nie|immer|keine|unbedingt|ausschließ|nur|darf|dürf|muss|müss|soll|verb|vermeid|"
    "bevorzug|statt|sofort|jetzt|künftig|höchst|mindest|verwend|benutz|nutze|nicht|schreib|halte|lass"
)
"""If none of these stands in an English or German text in small letters, no rule does."""
_GERMAN_HINTS: Final = hints(
    "nie|immer|auf kein|keinesfalls|unbedingt|ausschließ|nur|darf|dürf|muss|müss|soll|verb|vermeid|bevorzug|statt|"
    "anstelle|ab jetzt|ab sofort|künftig|höchst|mindest|bitte|verwend|benutz|nutze|kein|nicht|schreib|antwort|halte|lass"
)
"""If none of these does, `_GERMAN_RULE` finds nothing."""
_ODD_LETTERS: Final = hints("ı|ſ|\u0307")
"""What letters that a pattern takes for an `i` or an `s` in any case are in small letters: `İ` is an `i` with a dot."""
PLAN_HINTS: Final = hints(
    "decid|agre|chose|settl|opted|went with|decision|let's|let’s|we use|we'll|we will|go with|task|next|"
    "remaining|still|left to|not yet|not |follow|later|afterwards|done|finished|ready|merged|released|später|danach|fertig|"
    "erledigt|getan|後ほど|稍后|以后再|entsch|beschl|einig|nehmen wir|wir |nächst|noch |fehl|決|ことに|"
    "採用|使|次|残り|未|やること|あとで|後で|决|采用|选|就用|敲定|下一步|接下来|待办|尚未|还|剩"
)
"""The same for decisions and plans."""
_CJK_RULE_HINTS: Final = hints(
    "必|絶対|常に|いつも|決して|けっして|かならず|ないで|てはいけ|てはなら|ちゃいけ|だめ|ダメ|駄目|なければ|なくては|ねばなら|なきゃ|だけ|のみ|以外|以内|べき|禁止|厳禁|"
    "不可|厳守|限定|なるべく|できるだけ|可能な限り|極力|優先|避|代わりに|かわりに|ではなく|じゃなく|今後|これから|ください|下さい|こと|ない|务必|一定要|不要|不得|不能|"
    "不许|切勿|请|千万|别|始终|总是|永远|只|仅|应该|应当|尽量|优先|而不是|以后|今后|从现在|至少|最多|不超过"
)
"""If none of these does, `_CJK_RULE` finds nothing."""
RULE_PATTERN_HINTS: Final = (
    *dict.fromkeys(
        (
            *(hint for needed, _ in _RULES for hint in needed),
            *hints("use|keep|leave|treat|assume|answer|reply|respond|stick|limit|no |instead|rather|not"),
            *_GERMAN_HINTS,
            *_ODD_LETTERS,
            *_CJK_RULE_HINTS,
        )
    ),
)
"""If none of these stands in a text in small letters, no pattern for rules finds anything, whatever the language."""


def may_hold(lowered: str) -> bool:
    """False if no sentence of a text in small letters decides or plans something: a quick look."""
    return hinted(lowered, PLAN_HINTS)


def has_cjk(text: str) -> bool:
    """True if a character of the text is Chinese, Japanese or the like."""
    return not text.isascii() and max(text) >= "⺀"


def may_hold_rule(text: str) -> bool:
    """False if no sentence of the text can be a rule: a quick look."""
    return hinted(text.lower(), RULE_HINTS) or has_cjk(text)


def is_rule(sentence: str, *, between_people: bool = False) -> bool:
    """True for a user's sentence that bids or forbids from now on, rather than asks for something once or talks.

    Args:
        sentence: One sentence.
        between_people: It stands in the transcript of a talk between people (`Ann: …`), where most of what sounds so
            is kindness.
    """
    if not may_hold_rule(sentence):
        return False
    text = sentence[:_JUDGED]
    is_odd = not text.isascii() and hinted(text.lower(), _ODD_LETTERS)
    if is_odd or hinted(text.lower(), _CHATTER_HINTS):
        text = _CHATTER().sub(" ", text)
    if is_question(text):
        return False
    if between_people and (
        text.rstrip().endswith("!")
        or re.search(r"(?i)\b(?:you|your(?:self|selves)?|i|my|me|we|our(?:selves)?|us|it['’]s)\b", text)
    ):
        return False
    if has_cjk(text) and _CJK_RULE().search(text) and not _CJK_NARRATED().match(text):
        return True
    lowered = text.lower()
    may_be_german = is_odd or hinted(lowered, _GERMAN_HINTS)
    if may_be_german and _GERMAN_RULE().search(text) and not _GERMAN_NARRATED().match(text):
        return True
    rules = (pattern for needed, pattern in _RULES if is_odd or hinted(lowered, needed))
    if _NARRATED().match(text) or not (_RULE_BEGINS().match(text) or any(rule().search(text) for rule in rules)):
        return False
    return _REQUEST().match(text) is None or _PERSISTENT().search(text) is not None


def is_question(sentence: str) -> bool:
    """True for what asks to be answered."""
    return sentence.rstrip(" \"'”’)*_").endswith(("?", "？", "か。", "吗。"))


def is_request(sentence: str) -> bool:
    """True for what asks for something once."""
    return is_question(sentence) or _REQUEST().match(sentence[:_JUDGED]) is not None


def is_work(sentence: str) -> bool:
    """True for a request for work to be done: no question, and nothing to be written down for later."""
    return _REQUEST().match(sentence[:_JUDGED]) is not None and not _PLAN().search(sentence[:_JUDGED])


def is_decision(sentence: str) -> bool:
    """True if somebody decided something; a question does not."""
    return not is_question(sentence) and _DECISION().search(sentence[:_JUDGED]) is not None


def is_plan(sentence: str) -> bool:
    """True if it says what is next, or still to be done; a question does not."""
    return not is_question(sentence) and _PLAN().search(sentence[:_JUDGED]) is not None


def is_announcement(sentence: str) -> bool:
    """True for what somebody is about to do, asks or supposes: narration, which calls and their results say better."""
    return sentence[-1:] in "?？:：" or _ANNOUNCED().match(sentence[:_JUDGED]) is not None
