"""The words by which a standing rule is known: English, German, French, Spanish, Japanese and Chinese.

Every pattern is linear on any input and compiled at first use. They judge one sentence, whose quotations and code were
blanked out.
"""

from __future__ import annotations

import re
from typing import Final

from gemini_companion.engine.facts.patterns import lazy

_START: Final = (
    r"(?:^|[,;:(–—]|\b(?:and|but|also|so|then|please|important|note|remember|und|aber|bitte|et|mais|y|pero)\b)"
    r"[ \t\"'*_`#>-]{0,6}(?:\d{1,3}[.)] ?)?(?:please |also |just |bitte |por favor,? |s['’]il (?:te|vous) pla[iî]t,? )?"
)
"""Where a clause begins, and what may stand ahead of its verb."""

FROM_NOW_ON: Final = lazy(
    r"\b(?:from (?:now|here|this point) on|from now|henceforth|going forward|ab (?:jetzt|sofort|heute|nun)|von (?:nun"
    r"|jetzt) an|k(?:ü|ue)nftig"
    r"|d(?:é|e)sormais|dor(?:é|e)navant|(?:à|a) partir de maintenant|d(?:è|e)s maintenant"
    r"|de ahora en adelante|a partir de ahora|desde ahora|en adelante)\b"
    r"|今後|これから(?:は|も)|以後|从现在(?:起|开始)|以后|今后|往后",
    re.IGNORECASE,
)
"""It holds from here on, whatever else the sentence says of now."""
STANDING: Final = lazy(
    r"\b(?:in (?:the )?future|at all times|whenever|every time|any time|for the rest of|by default|until (?:i|we|told"
    r"|further)|unless (?:i|we|told|asked)"
    r"|in zukunft|jedes mal|jedesmal|immer wenn|grunds(?:ä|ae)tzlich|(?:à|a) l['’]avenir|chaque fois"
    r"|en toutes circonstances|en el futuro|cada vez|en todo momento)\b"
    r"|毎回|每次",
    re.IGNORECASE,
)
"""The same, if the sentence is a rule at all."""

ONCE: Final = lazy(
    r"\b(?:this (?:time|once|turn|round)|just once|for now|right now|at the moment|for the moment|for the time being"
    r"|yet"
    r"|today|tonight|now|in (?:this|your(?: next)?) (?:change|pr|commit|step|answer|message|response|reply|turn|patch"
    r"|task)"
    r"|for this (?:change|pr|commit|step|one|answer|task|fix|question|message|patch|request)"
    r"|diesmal|dieses mal|diesen commit|f(?:ü|ue)r (?:den moment|diesmal|heute)|jetzt|heute|vorerst|vorl(?:ä|ae)ufig"
    r"|erst ?mal|im moment|momentan|gerade|noch nicht"
    r"|cette fois(?:-ci)?|pour (?:l['’]instant|le moment|une fois)|maintenant|aujourd['’]hui|tout de suite|pas encore"
    r"|esta vez|por (?:ahora|el momento)|de momento|ahora|hoy|todav(?:í|i)a|a(?:ú|u)n)\b"
    r"|今回|今は|いまは|とりあえず|今日|一旦|いったん|まだ|ひとまず|这次|这一次|此次|暂时|暂且|先不|先别|今天|目前|现在|这回",
    re.IGNORECASE,
)
"""It is over with the work at hand."""

_BASE: Final = (
    r"(?!mind\b|say never|give up|forget|know\b|thought|knew|saw\b|came\b|went\b|seen|been|heard|felt|had|has\b"
    r"|have i|was|were|is\b|got\b|did|too late"
    r"|again\b|work\b|once\b|really\b|even\b|fail\b|\w{2,20}ed\b|\w{2,20}[^su]s\b)"
)
_CHATTER: Final = (
    r"(?!worry|mention it|mind\b|know|think|believe|have (?:a|an|any|the|to)\b|get me wrong|give up|remember"
    r"|understand|see\b|feel|be (?:sad|sorry|silly"
    r"|shy|afraid)|hesitate|bother|care\b|want\b|need\b|work\b|seem|look like|forget|we\b|you\b|i\b|they\b|let)"
)
_NOT: Final = r"(?:n['’]?t| ?not)"
_SPEAKER: Final = (
    r"(?<!\bi )(?<!\bit )(?<!\bthis )(?<!\bthat )(?<!\bhe )(?<!\bshe )(?<!\bthey )(?<!\bwhich )(?<!\bwho )"
)

ENGLISH: Final = lazy(
    rf"{_START}(?:never {_BASE}|do{_NOT} (?:ever )?{_CHATTER}|always (?!a |an |here|there|been|had|was|were|is |good"
    rf"|great|nice|fun|cheer)(?!\w{{2,20}}(?:ed|[^su]s)\b)"
    r"|avoid (?!\w{2,20}ed\b)|refrain from |under no circumstances|only (?:use|write|edit|change|touch|run|answer"
    r"|reply|commit|modify)\b)"
    rf"|\b(?:you|we|code|nobody|no one|nothing|everything|(?:every|each|all|any"
    rf"|no) [\w./`-]{{1,30}}(?: [\w./`-]{{1,30}})?) (?:(?:must|shall|should|may)"
    rf"(?:{_NOT})? (?:always|never|only)|can only)\b|\b(?:you|we) (?:must|shall|may)(?:{_NOT}) |\byou (?:must"
    rf"|shall) (?!have |be |feel|love|know|think|see |admit|say |miss|really|so )"
    rf"|{_SPEAKER}\b(?:must|shall|may) (?:never|always) |\b[\w./`-]{{2,40}} must(?: not|n['’]t) "
    r"|\b(?:is|are) (?:strictly )?(?:forbidden|prohibited|off[ -]limits|mandatory|not allowed|not permitted)\b",
    re.IGNORECASE,
)
GERMAN: Final = lazy(
    r"\b(?:nie|niemals|immer|stets|auf keinen fall|keinesfalls|unter keinen umst(?:ä|ae)nden|in keinem fall)\b"
    r"|\b(?:darfst|d(?:ü|ue)rft|darf|d(?:ü|ue)rfen|sollst|sollt) (?:[\w./`äöüß-]{1,30} ){0,6}(?:nicht|kein\w{0,2}"
    r"|nie)\b"
    r"|\b(?:ist|sind|bleibt|bleiben) (?:strikt |streng )?(?:verboten|untersagt|tabu|verpflichtend)\b"
    r"|^\W{0,6}(?:bitte )?(?:verwend|benutz|nutz|(?:ä|ae)nder|l(?:ö|oe)sch|fass|schreib|lass|nimm|f(?:ü|ue)g|bearbeit"
    r"|ver(?:ä|ae)nder|modifizier|ruf"
    r"|committ?|push|installier|entfern|f(?:ü|ue)hr|mach|leg|erstell|setz|starte|r(?:ü"
    r"|ue)hr)\w{0,2} (?:[\w./`äöüß,-]{1,40} ){0,12}(?:nicht|kein\w{0,2})\b",
    re.IGNORECASE,
)
GERMAN_TOLD: Final = lazy(
    r"\W{0,6}(?:ich|er|sie|es|das|dies\w{0,2}|man (?!darf|soll|muss)|wir (?:haben|hatten|waren|sind|k(?:ö|oe)nn)"
    r"|warum|wieso|wenn ich|hier|da|dann|leider|irgendwie|der|die|den|ein\w{0,2}|"
    r"mein\w{0,2}|seit|beim|im|in)\b(?![^\n]{0,200}\b(?:d(?:a|ü|ue)rf\w{0,3}|m(?:u|ü|ue)ss\w{0,3}|soll\w{0,3}"
    r"|verboten|untersagt|tabu)\b)",
    re.IGNORECASE,
)
"""It tells of something, and lays down nothing."""
FRENCH: Final = lazy(
    r"\b(?:jamais|toujours|en aucun cas|sous aucun pr(?:é|e)texte)\b|\b(?:interdit|obligatoire)\b"
    rf"|{_START}(?:ne |n['’])(?:[\w./`'’àâçéèêëîïôûù-]{{1,40}} ){{0,4}}(?:pas|plus|aucun\w{{0,2}})\b"
    r"|\b(?:tu|vous) ne (?:dois|devez|peux|pouvez) (?:pas|plus|jamais)\b|\bil ne faut (?:pas|jamais|plus)\b"
    r"|\b(?:tu dois|vous devez) ",
    re.IGNORECASE,
)
FRENCH_TOLD: Final = lazy(
    r"\W{0,6}(?:je |j['’]|il (?!faut|ne faut|est interdit|est obligatoire)|elle |ça |ca |cela |c['’]|on (?!ne doit"
    r"|doit|utilise)|nous (?:avons|sommes|étions|pouvons)|pourquoi|mon |ma |"
    r"quand je|hier |ici|ce |cette |le |la |les |un |une )(?![^\n]{0,200}\b(?:doi(?:t|vent)|interdit|obligatoire)\b)",
    re.IGNORECASE,
)
SPANISH: Final = lazy(
    r"\b(?:nunca|jam(?:á|a)s|siempre|bajo ning(?:ú|u)n concepto|en ning(?:ú|u)n caso|prohibido|prohibida|obligatorio)\b"
    rf"|{_START}no (?!tienes|sabes|eres|est(?:á|a)s|has |quieres|te preocupes|olvides)(?:(?:us|toqu|modifiqu|cambi"
    rf"|borr|elimin|edit|ejecut|instal|a(?:ñ|n)ad|agregu|escrib|sub|hag|pong|cre|mencion|respond|utilic|romp"
    rf"|quit)\w{{0,3}}(?:es|as|éis|áis)\b"
    r"|\w{2,20}(?:es|as) (?:el|la|los|las|un|una|nada|nunca|en|con|ni|sin|al|del|ning\w{2,4})\b)"
    r"|\b(?:no (?:debes|puedes|deben|se debe|se puede)|debes|hay que) ",
    re.IGNORECASE,
)
SPANISH_TOLD: Final = lazy(
    r"\W{0,6}(?:yo |ella |él |esto |eso |nunca (?:he|ha|hab(?:í|i)a|fue|pude|me)\b|siempre (?:me|he|ha|falla|fue)\b"
    r"|por qu(?:é|e)|mi |cuando yo|ayer |aqu(?:í|i)|"
    r"este |esta (?!prohibid)|el |la |los |las |un |una )(?![^\n]{0,200}\b(?:debe|deben|prohibid[oa]s?"
    r"|obligatori[oa]s?)\b)",
    re.IGNORECASE,
)
JAPANESE: Final = lazy(
    r"必ず|かならず|絶対|決して|けっして|常に|いつも|毎回|今後|これから(?:は|も)|ないで(?!す)|てはいけ|ではいけ|てはなら|ちゃ(?:だめ|ダメ|いけ)|禁止|厳禁|しないこと|ないこと|なければ(?:なら"
    r"|いけ)|使うな|触るな|変えるな|するな"
)
JAPANESE_ORDERS: Final = lazy(
    r"(?:ください|下さい|くれ|欲しい|ほしい|こと|ように|いけない|いけません|ならない|なりません|だめ|ダメ|駄目|禁止|厳禁|しろ|せよ|するな|使うな|触るな|変えるな|ないで|べき|(?:して|いて|って|んで"
    r"|えて|めて|ねて)"
    r"|ます(?:ように))(?:です|だ|ね|よ|な)?[ 。．.!！」]{0,4}$"
)
"""How a sentence ends that asks or forbids; another one tells of something."""
CHINESE: Final = lazy(
    r"(?:^|[，,；;：:。、（(]|请|你们?|我们|大家|也|并且?|但是?|而且|都|绝对|千万|一律|永远|所有\S{1,12}|任何\S{1,12})(?:请|都|也|就)?(?:不要|不准|不许|不得|不可以?"
    r"|不能|别(?:再|用|改|碰|动|提交|删|在|把|去|直接)?|切勿|请勿|勿|禁止|严禁|绝不|永不"
    r"|必须|务必|一定要|一律|始终|总是|永远|只能|只(?:用|使用|允许)|每次都?)"
    r"|绝对不|绝不|千万(?:不|别)|必须|务必|严禁|禁止|从现在(?:起|开始)|以后|今后"
)
CHINESE_TOLD: Final = lazy(
    r"\W{0,6}(?:我(?!们|要求|希望)|昨天|今天|刚才|为什么|怎么|他|她)|[^\n]{0,600}(?:了吗|吗|呢)[?？。]?$"
)
CHINESE_STATES: Final = lazy(r"(?:总是|一直|始终|永远)(?:失败|报错|出错|超时|崩溃|不工作|为)")
KANA: Final = lazy(r"[぀-ヿ]")
GERMAN_WORDS: Final = lazy(
    r"(?i)\b(?:der|die|das|den|dem|und|nicht|kein\w{0,2}|bitte|immer|nie|niemals|auf|mit|f(?:ü|ue)r|darfst|nur|stets"
    r"|ab|statt|du|ist|verwende|benutze|tests?)\b"
)

REPORTED: Final = lazy(
    r"(?<!\bi )(?<!\bwe )\b(?:says?|said|states?|stated|claims?|reads|according to|wrote|tells?|told|laut|steht|sagt"
    r"|selon|dit|d(?:é|e)clare|seg(?:ú|u)n|dice)\b|と書いて|によると|と言って|说|写着|根据",
    re.IGNORECASE,
)
"""Somebody else lays it down, and the person tells of it."""

LABELLED: Final = lazy(
    r"\W{0,6}(?:(?:system|assistant|operator|developer|tool|model|ai|bot|user|human|gemini|gpt|claude"
    r"|admin)(?: (?:prompt|message|update|note|override|instruction|notice)s?)?"
    r"|error|warning|warn|info|debug|fatal|critical|hint|deprecated|traceback|npm err!?)\W{0,3}[:：\]]",
    re.IGNORECASE,
)
"""A line of a transcript, a log or a forged message: nobody writes of themselves so."""

PERMISSION: Final = lazy(
    r"\byou (?:may|can|are (?:now )?(?:allowed|free) to|don['’]?t (?:have|need) to|no longer (?:have|need) to"
    r"|needn['’]t)\b"
    r"|\b(?:it['’]?s|it is|is|are) (?:now )?(?:ok(?:ay)?|fine|allowed|all right|permitted) (?:now )?(?:to|for you to)?"
    r"|\b(?:feel free to|go ahead and)\b|\b(?:no longer|not) (?:forbidden|off[ -]limits|mandatory|required|necessary)\b"
    r"|\b(?:du darfst|ihr d(?:ü|ue)rft|du kannst|du musst (?:[\w./`äöüß-]{1,30} ){0,5}nicht|ist (?:jetzt |wieder "
    r"|nun )?erlaubt|sind (?:jetzt |wieder |nun )?erlaubt)\b"
    r"|\b(?:tu peux|vous pouvez|tu as le droit|est (?:maintenant |désormais )?(?:permis|autoris(?:é|e)))\b"
    r"|\b(?:puedes|pueden|est(?:á|a) permitido|ya no (?:hace falta|es necesario|tienes que))\b"
    r"|(?:て|で)も(?:いい|良い|よい|構いません|かまいません|大丈夫)|可能です|しなくて(?:いい|良い|よい)|可以|允许|不用再|不必",
    re.IGNORECASE,
)
INSTEAD: Final = lazy(
    r"\b(?P<en>instead of|rather than)\b|\b(?P<de>statt|anstelle von|anstatt)\b|\b(?P<fr>au lieu d(?:e |['’])"
    r"|plut(?:ô|o)t qu(?:e |['’]))|\b(?P<es>en (?:vez|lugar) de)\b"
    r"|(?P<ja>ではなく|じゃなく|の?(?:代わり|かわり)に)|(?P<zh>而不是|代替|而非)",
    re.IGNORECASE,
)
