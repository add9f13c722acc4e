"""The words by which a standing rule is known: English, German, French, Spanish, Portuguese, Japanese, Chinese, Korean,
Russian, Turkish, and Hindi in Latin letters. What takes one back is known in Italian and Dutch too.

Every pattern is linear on any input and compiled at first use. They judge one sentence, whose quotations and code were
blanked out.
"""

from __future__ import annotations

import re
from typing import Final

from gemini_companion.engine.facts.patterns import lazy

_START: Final = (
    r"(?:^|[,;:(–—]|\b(?:and|but|also|so|then|please|important|note|remember|actually|well|oh|ok(?:ay)?|wait|yes"
    r"|und|aber|bitte|ach|et|mais|y|pero|e|mas)\b)"
    r"[ \t\"'*_`#>-]{0,6}(?:\d{1,3}[.)] ?)?(?:please |also |just |bitte |por favor,? |s['’]il (?:te"
    r"|vous) pla[iî]t,? )?"
)
"""Where a clause begins, and what may stand ahead of its verb."""

FROM_NOW_ON: Final = lazy(
    r"\b(?:from (?:now|here|this point) on|from now|henceforth|going forward|ab (?:jetzt|sofort|heute|nun)|von (?:nun"
    r"|jetzt) an|k(?:ü|ue)nftig"
    r"|d(?:é|e)sormais|dor(?:é|e)navant|(?:à|a) partir de maintenant|d(?:è|e)s maintenant"
    r"|de ahora en adelante|a partir de ahora|desde ahora|en adelante"
    r"|daqui (?:pra|para) (?:a )?frente|de agora em diante|a partir de agora|doravante|ab se|aage se"
    r"|d['’]ora in (?:poi|avanti)|da (?:ora|adesso)(?: in (?:poi|avanti))?|vanaf nu|voortaan|from here on"
    r"|отныне|впредь|с этого момента|теперь всегда|bundan (?:sonra|böyle))\b"
    r"|앞으로|이제부터|지금부터|今後|これから(?:は|も)|以後|从现在(?:起|开始)|以后|今后|往后",
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
    r"\b(?:this (?:time|once|turn|round)|just once|right now|at the moment"
    r"|today|tonight|(?<!for )now|in (?:this|your(?: next)?) (?:change|pr|commit|step|answer|message|response|reply"
    r"|turn|patch"
    r"|task)"
    r"|for this (?:change|pr|commit|step|one|answer|task|fix|question|message|patch|request)"
    r"|diesmal|dieses mal|diesen commit|f(?:ü|ue)r (?:diesmal|heute)|jetzt|heute"
    r"|im moment|momentan|gerade"
    r"|cette fois(?:-ci)?|pour une fois|maintenant|aujourd['’]hui|tout de suite"
    r"|esta vez|(?<!por )ahora|hoy|desta vez|dessa vez|agora|hoje|is baar|aaj)\b"
    r"|今回|今は|いまは|今日|这次|这一次|此次|今天|目前|现在|这回",
    re.IGNORECASE,
)
"""It is over with the work at hand."""
MEANWHILE: Final = lazy(
    r"\b(?:yet|for (?:now|the moment|the time being)|noch (?:nicht|kein\w{0,2})|f(?:ü|ue)r den moment|vorerst"
    r"|vorl(?:ä|ae)ufig|erst ?mal"
    r"|pas encore|pour (?:l['’]instant|le moment)|todav(?:í|i)a|a(?:ú|u)n|por (?:ahora|el momento)|de momento"
    r"|ainda|por (?:enquanto|ora)|abhi|per ora|per il momento|voorlopig|пока|şimdilik)\b|아직|당분간"
    r"|まだ|とりあえず|一旦|いったん|ひとまず|暂时|暂且|先不|先别|还不",
    re.IGNORECASE,
)
"""What is asked with it is asked once; what is forbidden is forbidden until the person says otherwise."""
UNTIL: Final = lazy(
    r"\b(?:until|till|this (?:week|month|sprint)|hold off|wait (?:for|until)|frozen|freeze|bis|eingefroren"
    r"|jusqu|hasta|at(?:é|e) (?:que|eu)|congelad[oa]s?|jab tak|finché|totdat|пока)\b|까지|まで|直到",
    re.IGNORECASE,
)
"""It holds until something has happened, or the person says so."""
NEED_NOT: Final = lazy(
    r"\b(?:no longer|not?) (?:mandatory|required|necessary|need(?:ed)?)\b"
    r"|\b(?:don['’]?t|no longer) (?:have|need) to\b|\bneedn['’]?t\b|\bstop \w{2,20}ing\b"
    r"|\bmusst (?:[\w./`äöüß-]{1,30} ){0,6}nicht\b|\bbrauchst (?:[\w./`äöüß-]{1,30} ){0,6}nicht\b"
    r"|\b(?:plus|pas) (?:besoin|n(?:é|e)cessaire|obligatoire)\b|\bn['’]as plus (?:à|a)\b"
    r"|\bno (?:hace falta|es necesario|tienes que|necesitas)\b"
    r"|\bn(?:ã|a)o (?:precisa[ms]?|é (?:mais )?necess(?:á|a)rio)\b"
    r"|\bnon (?:serve|occorre|devi|c['’]è bisogno|è (?:più )?necessario)\b|\bhoe(?:ft|f) (?:[\w./`-]{1,30} ){0,6}niet\b"
    r"|\b(?:не (?:нужно|надо|обязательно|требуется)|необязательно)\b|\bgerek (?:yok|kalmadı)|\bgerekmiyor\b"
    r"|\bzaroorat nahi\b"
    r"|しなくて|なくても|不要です|必要(?:は|が)?(?:ない|ありません)|不用|不必|无需|않아도|필요 ?(?:가 )?없",
    re.IGNORECASE,
)
"""What was bidden need not be done."""
FORBIDS: Final = lazy(
    r"\b(?:never|do ?n['’]?t|not|no|cannot|can['’]t|mustn['’]t|without|avoid|refrain|forbidden|prohibited"
    r"|off[ -]limits"
    r"|frozen|alone|hands off|hold off|wait (?:for|until)|didn['’]t"
    r"|nie|niemals|nichts?|rien|nada|kein\w{0,2}|keinesfalls|auf keinen fall|verboten|untersagt|tabu|finger weg"
    r"|h(?:ä|ae)nde weg"
    r"|jamais|pas|plus|aucun\w{0,2}|interdit|en aucun cas"
    r"|nunca|jam(?:á|a)s|no|prohibid[oa]s?|ni se te ocurra"
    r"|non|mai|vietat[oa]|niet|nooit|geen|verboden|не|нельзя|никогда|ни в коем случае|запрещен\w{0,2}|asla|sakın"
    r"|kesinlikle|yasak"
    r"|n(?:ã|a)o|nada de|nem pense|proibid[oa]s?|congelad[oa]s?|mat|nahi|nahin)\b"
    r"|(?<!\w)\w{2,20}m[ae](?:y[iı]n(?:[iı]z)?)?[ .!]{0,4}$|지 ?마(?:세요|십시오|라|요)?|지 ?말|면 안|절대"
    r"|ない|なかれ|禁止|厳禁|するな|使うな|触るな|ません|不要|不准|不许|不得|不能|不可|别|勿|禁|绝不|永不|先不",
    re.IGNORECASE,
)

_BASE: Final = (
    r"(?!mind\b|say never|give up|forget|know\b|thought|knew|saw\b|came\b|went\b|seen|been|heard|felt|had|has\b"
    r"|have\b|i\b|was|were|is\b|got\b|did|too late"
    r"|again\b|work\b|once\b|really\b|even\b|fail\b|\w{2,20}ed\b|\w{2,20}[^su]s\b)"
)
_CHATTER: Final = (
    r"(?!worry|mention it|mind\b|know|think|believe|have (?:a|an|any|the|to)\b|get me wrong|give up|remember"
    r"|understand|see\b|feel|ask(?! me\b| for\b)|say (?:it|that|so|no more)\b|be (?:sad|sorry|silly"
    r"|shy|afraid)|hesitate|bother|care\b|want\b|need\b|work\b|seem|look like|forget|we\b|you\b|i\b|they\b|let)"
)
_NOT: Final = r"(?:n['’]?t| ?not)"
_SPEAKER: Final = (
    r"(?<!\bi )(?<!\bit )(?<!\bthis )(?<!\bthat )(?<!\bhe )(?<!\bshe )(?<!\bthey )(?<!\bwhich )(?<!\bwho )"
)

_DOING: Final = (
    r"(?!(?:an?|the|this|that|these|those|my|your|his|her|its|our|their|some|one|more|less|such|so|too|very|here"
    r"|there"
    r"|up|down|in|on|at|for|from|with|to|of|by|about|as|like|been|had|was|were|is|are|am|good|great|nice|fun|happy"
    r"|glad"
    r"|sure|possible|true|likely|worth|cheer\w*|(?!bring|ping|appl|repl|rel|compl|enable|disable)\w{2,20}(?:ing|ly"
    r"|ful|ous"
    r"|able))\b)"
)
"""What follows "always" in an order is a verb: none of the words that mostly follow it elsewhere."""

ENGLISH: Final = lazy(
    rf"{_START}(?:never {_BASE}|do{_NOT} (?:ever )?{_CHATTER}|always {_DOING}(?!\w{{2,20}}(?:ed|[^su]s)\b)"
    r"|avoid (?!\w{2,20}ed\b)|refrain from |under no circumstances|only (?:use|write|edit|change|touch|run|answer"
    r"|reply|commit|modify)\b)"
    rf"|\b(?:you|we|code|nobody|no one|nothing|everything|(?:every|each|all|any"
    rf"|no) [\w./`-]{{1,30}}(?: [\w./`-]{{1,30}})?) (?:(?:must|shall|should|may)"
    rf"(?:{_NOT})? (?:always|never|only)(?! (?:have )?been\b| have \w{{2,20}}ed\b)|can only)\b|\b(?:you|we) (?:must"
    rf"|shall|may)(?:{_NOT}) |\byou (?:must"
    rf"|shall) (?!have |be |feel|love|know|think|see |admit|say |miss|really|so )"
    rf"|{_SPEAKER}\b(?:must|shall|may) (?:never|always) (?!(?:have )?been |have \w{{2,20}}ed\b)"
    rf"|\b[\w./`-]{{2,40}} must(?: not|n['’]t) "
    r"|\b(?:is|are|stays?|remains?) (?:strictly )?(?:forbidden|prohibited|off[ -]limits|mandatory|not allowed"
    r"|not permitted)\b"
    rf"|{_START}(?:(?:keep your )?hands off (?!to\b)|(?:stay|keep) (?:away from|out of|off) |steer clear of "
    rf"|hold off (?:on )?\w{{2,20}}ing\b"
    r"|wait (?:for|until) (?:my|i|me|we) |(?:ask|tell|warn|check with|consult) me (?:first|before)\b|no [^\n,.]{2,80}"
    r" without (?:asking|my|me|telling)\b|don['’]?t you dare (?:to )?"
    rf"|leave (?!it\b|that\b|this\b|me\b|him\b|her\b|them\b|us\b)[^\n,.]{{2,60}} (?:alone|as (?:it|they) (?:is"
    rf"|are))\b)"
    r"|\bbefore you [^\n,.]{2,80}(?:ask|tell|warn|check with|consult) me\b",
    re.IGNORECASE,
)
GERMAN_ALWAYS: Final = lazy(r"\b(?:nie|niemals|immer|stets)\b", re.IGNORECASE)
"""An order, if one of `GERMAN_ORDERS` is there too."""
GERMAN_ORDERS: Final = lazy(
    r"\b(?:bitte|darfst|d(?:ü|ue)rft|darf|d(?:ü|ue)rfen|sollst|sollt|soll|sollen|musst|muss|m(?:ü|ue)ssen)\b"
    r"|^\W{0,6}(?:und |aber )?(?:(?!(?:all|ein|kein|dies|jed|mein|dein|sein|ihr|unser|viel|einig|beid|manch|solch)e\b"
    r"|(?:heute|gerade|die|sie|wie)\b)\w{2,20}e|nimm|gib|lass|lies|schreib|nutz|mach|geh|f(?:ü|ue)hr|pr(?:ü|ue)f|ruf"
    r"|setz|leg|l(?:ö|oe)sch|benutz|verwend|antwort|halt)\b (?!\w{2,30}(?:(?<!nich)t|en)\b)"
    r"|\b(?-i:[a-zäöü]\w{1,30}(?:en|ern|eln))\W{0,4}$",
    re.IGNORECASE,
)
"""Bids: politely, with a modal verb, with an imperative ahead or an infinitive behind."""
GERMAN: Final = lazy(
    r"\b(?:auf keinen fall|keinesfalls|unter keinen umst(?:ä|ae)nden|in keinem fall)\b"
    r"|\b(?:darfst|d(?:ü|ue)rft|darf|d(?:ü|ue)rfen|sollst|sollt) (?:[\w./`äöüß-]{1,30} ){0,6}(?:nicht|kein\w{0,2}"
    r"|nie)\b"
    r"|\b(?:ist|sind|bleibt|bleiben) (?:strikt |streng )?(?:verboten|untersagt|tabu|verpflichtend)\b"
    r"|^\W{0,6}(?:bitte )?(?:verwend|benutz|nutz|(?:ä|ae)nder|l(?:ö|oe)sch|fass|schreib|lass|nimm|f(?:ü|ue)g|bearbeit"
    r"|ver(?:ä|ae)nder|modifizier|ruf"
    r"|committ?|push|installier|entfern|f(?:ü|ue)hr|mach|leg|erstell|setz|starte|r(?:ü"
    r"|ue)hr)\w{0,2} (?:[\w./`äöüß,-]{1,40} ){0,12}(?:nicht|kein\w{0,2})\b"
    r"|^\W{0,6}(?:bitte )?(?:finger|h(?:ä|ae)nde) weg von\b|\bbitte (?:noch )?(?:nichts?\b|kein\w{0,2} )"
    r"|\b(?:frag|sag|gib|meld)\w{0,2} (?:(?:du|mir|mich|vorher|bitte|erst|zuerst) ){0,4}(?:bescheid,? )?(?:bevor"
    r"|vorher|erst)\b"
    r"|\bbevor du [^\n.]{2,80}\b(?:frag|sag|meld)\w{0,3}\b|\bohne (?:r(?:ü|ue)cksprache|(?:mich )?zu fragen)\b",
    re.IGNORECASE,
)
GERMAN_TOLD: Final = lazy(
    r"\W{0,6}(?:ich|er|sie|es|das|dies\w{0,2}|man (?!darf|soll|muss)|wir (?:haben|hatten|waren|sind|k(?:ö|oe)nn)"
    r"|warum|wieso|wenn ich|hier|da|dann|leider|irgendwie|der|die|den|ein\w{0,2}|"
    r"mein\w{0,2}|seit|beim|im|in|wird|werden|war|waren|hat|hatten|hab|habe|passt"
    r"|alle \d{1,9})\b(?![^\n]{0,200}\b(?:d(?:a|ü|ue)rf\w{0,3}|m(?:u|ü|ue)ss\w{0,3}|soll\w{0,3}"
    r"|verboten|untersagt|tabu|bleib(?:t|en))\b)",
    re.IGNORECASE,
)
"""It tells of something, and lays down nothing."""
FRENCH: Final = lazy(
    r"\b(?:en aucun cas|sous aucun pr(?:é|e)texte)\b|\b(?:interdit|obligatoire)\b"
    rf"|{_START}(?:(?:ne |n['’])[^\n]{{0,60}}\bjamais\b|(?!(?:toujours|c['’]est|ça|elle|il|je|on)\b)"
    r"\w{2,20}(?:e|s|z|is|ds|ts)(?:-\w{2,4})? (?:[\w'’-]{1,30} ){0,3}toujours\b|toujours \w{2,20}(?:er|ir|re)\b)"
    rf"|{_START}(?:ne |n['’])(?:[\w./`'’àâçéèêëîïôûù-]{{1,40}} ){{0,4}}(?:pas|plus|aucun\w{{0,2}})\b"
    r"|\b(?:tu|vous) ne (?:dois|devez|peux|pouvez) (?:pas|plus|jamais)\b|\bil ne faut (?:pas|jamais|plus)\b"
    r"|\b(?:tu dois|vous devez) "
    r"|\b(?:demande|pr(?:é|e)viens|consulte|demandez|pr(?:é|e)venez)-moi (?:d['’]abord|avant)\b"
    rf"|{_START}pas (?:de |d['’])(?!probl|souci|panique|quoi|chance|bol)[^\n]{{2,80}}\bsans (?:me |mon |m['’])",
    re.IGNORECASE,
)
FRENCH_TOLD: Final = lazy(
    r"\W{0,6}(?:je |j['’]|il (?!faut|ne faut|est interdit|est obligatoire)|elle |ça |ca |cela |c['’]|on (?!ne doit"
    r"|doit|utilise|garde|reste|n['’]utilise)|nous (?:avons|sommes|étions|pouvons)|pourquoi|mon |ma |"
    r"quand je|hier |ici|ce |cette |le |la |les |un |une )(?![^\n]{0,200}\b(?:doi(?:t|vent)|interdit|obligatoire"
    r"|reste(?:nt)? (?:en|tel\w{0,3}|comme))\b)",
    re.IGNORECASE,
)
_TOLD_VERB: Final = (
    r"(?:(?:me|te|se|nos|lo|la|los|las|le|les|a|o|os|as) )?(?:\w{0,20}(?:[oóéíuú]|aba|aban|ía|iam?|ado|ido|ava|avam"
    r"|ou|eu|iu"
    r"|ei|i|ste|ron|ram)|h[ae]|has|hay|fue|fui|era|foi|tem|tiene|falla|falha|pasa|passa|est(?:á|a)n?|the|a|el|la|o)\b"
)
"""What follows "nunca" and "siempre" where something is told: a verb in the past, or of the first person."""
SPANISH: Final = lazy(
    r"\b(?:bajo ning(?:ú|u)n concepto|en ning(?:ú|u)n caso|prohibido|prohibida|obligatorio|ni se te ocurra"
    r"|(?:av(?:í|i)s|preg(?:ú|u)nt|cons(?:ú|u)lt)\w{1,2}me antes)\b"
    rf"|{_START}(?:nunca|jam(?:á|a)s) (?!{_TOLD_VERB})|{_START}(?:siempre \w{{2,20}}[aei]r\b"
    rf"|\w{{2,20}}[ae]\w? siempre\b)"
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
    r"este |esta (?!prohibid)|el |la |los |las |un |una |no pasa )(?![^\n]{0,200}\b(?:debe|deben|se quedan?"
    r"|tienen? que|prohibid[oa]s?"
    r"|obligatori[oa]s?)\b)",
    re.IGNORECASE,
)
PORTUGUESE: Final = lazy(
    r"\b(?:em hip(?:ó|o)tese (?:alguma|nenhuma)|de jeito nenhum|proibid[oa]s?|obrigat(?:ó|o)ri[oa]s?|nem pense em)\b"
    rf"|{_START}(?:nunca|jamais) (?!{_TOLD_VERB})\w|{_START}(?:sempre \w{{2,20}}[aei]r\b|\w{{2,20}}[ae]\w? sempre\b)"
    rf"|{_START}n(?:ã|a)o (?:me(?:xe|xa|xas)|mud[ae]|alter[ae]|apag(?:a|ue)|us[ae]|fa(?:ç|c)a|faz|toc(?:a|que)"
    rf"|cri[ae]"
    r"|sob[ea]|sub[ae]|commit\w{0,3}|remov[ae]|delet[ae]|rod[ae]|coloc(?:a|que)|adicion[ae]|quebr[ae]|instal[ae]"
    r"|renome\w{1,3}"
    r"|edit[ae]|toqu[ae]|public(?:a|que)|envi[ae])\b(?! (?:mais )?(?:com|quando|desde)\b)"
    r"|\bvoc(?:ê|e) (?:n(?:ã|a)o )?(?:deve|tem que|pode) "
    rf"|{_START}(?:nada de |nenhum\w? )[^\n.]{{2,80}}|\bsem (?:falar comigo|me (?:avisar|perguntar|consultar))\b"
    r"|\b(?:me (?:pergunt|avis|consult)\w{1,3}|(?:pergunte|avise|consulte)-me) antes\b"
    r"|\bantes de [^\n,.]{2,60}, (?:me )?(?:avis|pergunt|consult|fal)\w{1,3}\b"
    r"|\bdeixa\w? [^\n,.]{2,60} como est(?:á|a)o?\b",
    re.IGNORECASE,
)
PORTUGUESE_TOLD: Final = lazy(
    r"\W{0,6}(?:eu |ele |ela |isso |esse |essa |a gente |meu |minha |ontem |aqui |por que|quando eu|n(?:ã|a)o sei"
    r"|nada de mais)",
    re.IGNORECASE,
)
PORTUGUESE_WORDS: Final = lazy(
    r"(?i)\b(?:n(?:ã|a)o|nunca|sempre|jamais|nada|nenhum\w?|deixa\w?|sem|antes|voc(?:ê|e)|em|proibid[oa]s?|nem"
    r"|obrigat\w{4,8})\b"
)
HINDI: Final = lazy(
    r"\b(?:\w{2,20}na mat|mat \w{2,20}(?:na|o|iye|do|dena)|(?:change|delete|push|deploy|touch|edit|merge|commit"
    r"|use) mat)\b"
    r"|\b(?:nahi|nahin) (?:\w{2,20}na|chalega|karenge)\b|\b\w{2,20}na (?:nahi|nahin)\b(?! (?:pata|aata|hai|hota|tha))"
    r"|\bsirf\b[^\n]{1,80}\b\w{2,20}(?:na|karo|rakho)\b|\bhaath nahi\b"
    r"|\bbina (?:mujhse |mujhe |mere )[^\n]{2,40}|\bpehle (?:mujhe|mujhse) \w{2,20}na\b|\b(?:har"
    r"|hamesha)\b[^\n]{1,80}\b(?:chahiye|\w{2,20}na|karo)\b",
    re.IGNORECASE,
)
HINDI_WORDS: Final = lazy(
    r"(?i)\b(?:mein|mei|ko|ka|ki|ke|hai|hain|nahin?|karna|karo|kar|karenge|mujhe|mujhse|bina|bhi|abhi|yaar|sirf|tum"
    r"|aap|kuch"
    r"|wahan|yahan|usme|isme|uske|chahiye|pehle|warna|kahin|hamesha)\b"
)
HINDI_TOLD: Final = lazy(
    r"(?i)\b(?:kyun|kyon|pata nahi|nahi pata|nahi aata|ho gaya|hota hai|raha hai|rahi hai|raha tha)\b"
)
"""It tells of something, wherever these stand."""
JAPANESE: Final = lazy(
    r"必ず|かならず|絶対|決して|けっして|常に|いつも|毎回|今後|これから(?:は|も)|ないで(?!す)|てはいけ|ではいけ"
    r"|てはなら|ちゃ(?:だめ|ダメ|いけ)|禁止|厳禁|しないこと|ないこと|なければ(?:なら"
    r"|いけ)|使うな|触るな|変えるな|するな"
)
JAPANESE_ORDERS: Final = lazy(
    r"(?:ください|下さい|くれ|欲しい|ほしい|こと|ように|いけない|いけません|ならない|なりません|だめ|ダメ|駄目|禁止"
    r"|厳禁|しろ|せよ|するな|使うな|触るな|変えるな|ないで|べき|(?:して|いて|って|んで"
    r"|えて|めて|ねて)"
    r"|ます(?:ように))(?:です|だ|ね|よ|な)?[ 。．.!！」]{0,4}$"
)
"""How a sentence ends that asks or forbids; another one tells of something."""
CHINESE: Final = lazy(
    r"(?:^|[，,；;：:。、（(]|请|先|暂时|你们?|我们|大家|也|并且?|但是?|而且|都|绝对|千万|一律|永远|所有\S{1,12}"
    r"|任何\S{1,12})(?:请|都|也|就)?(?:不要|不准|不许"
    r"|不得|不可以?"
    r"|不能|别(?:再|用|改|碰|动|提交|删|在|把|去|直接)?|切勿|请勿|勿|禁止|严禁|绝不|永不"
    r"|必须|务必|一定要|一律|始终|总是|永远|只能|只(?:用|使用|允许)|每次都?)"
    r"|绝对不|绝不|千万(?:不|别)|必须|务必|严禁|禁止|从现在(?:起|开始)|以后|今后"
)
CHINESE_TOLD: Final = lazy(
    r"\W{0,6}(?:我(?!们|要求|希望)|昨天|今天|刚才|为什么|怎么|他|她)|[^\n]{0,600}(?:了吗|吗|呢)[?？。]?$"
)
CHINESE_STATES: Final = lazy(r"(?:总是|一直|始终|永远)(?:失败|报错|出错|超时|崩溃|不工作|为)")
HANGUL: Final = lazy(r"[가-힣]")
KOREAN: Final = lazy(
    r"지 ?(?:마(?:세요|십시오|라|요)?|말(?:아 ?(?:주세요|주십시오|요|라)|아라|것|고|자| 것))[ .!。]{0,4}$"
    r"|면 안 ?(?:됩니다|돼요?|된다|되요)[ .!。]{0,4}$"
    r"|(?:절대로?|항상|언제나|반드시|무조건|꼭|앞으로는?|이제부터|지금부터|매번)[^\n]{0,200}"
    r"(?:주세요|주십시오|하세요|하십시오|보세요|할 것|야 (?:합니다|해요|한다|돼요?|됩니다)"
    r"|(?<=[\d개줄칸])(?:으)?로)[ .!。]{0,4}$",
)
KOREAN_TOLD: Final = lazy(
    r"(?:걱정|신경 ?쓰|오해|미안해|실망|포기|놀라|부담 ?(?:갖|가지))[가-힣]{0,4} ?(?:마|말)|\W{0,6}(?:저는|제가|나는"
    r"|내가) "
)
"""Kind words, and what is told."""
RUSSIAN: Final = lazy(
    r"(?<![\w-])не (?!(?:беспокой|волнуй|пережива|забыва|забуд|обращай|думай|стесня|спеши|торопи|сомнева|понимай"
    r"|унывай|бойся"
    r"|парь|трать)\w*)(?:\w{2,20}[аяую]й(?:те)?|пушь(?:те)?|лезь(?:те)?|ставь(?:те)?|пиши(?:те)?|клади(?:те)?"
    r"|бери(?:те)?"
    r"|удали(?:те)?|мержи(?:те)?|коммить(?:те)?|деплой(?:те)?|сноси(?:те)?|вноси(?:те)?|трожь)\b"
    r"|\b(?:никогда|всегда|обязательно|впредь|отныне|каждый раз)\b[^\n.!?]{0,200}\b(?:\w{2,20}[аяую]й(?:те)?"
    r"|пиши(?:те)?|держи(?:те)?|делай(?:те)?|ставь(?:те)?|проверь(?:те)?|спроси(?:те)?|говори(?:те)?|пушь(?:те)?)\b"
    r"|\b(?:\w{2,20}[аяую]й(?:те)?|пиши(?:те)?|держи(?:те)?) (?:[\w./`-]{1,40} ){0,4}(?:всегда|только)\b"
    r"|^\W{0,6}(?:\w{2,20} ){0,3}(?:нельзя|запрещено|ни в коем случае)\b|\bдолж(?:ен|на|но|ны) быть (?:не |до "
    r"|меньше |короче )"
    r"|\bбез (?:моего|моей|меня) [^\n.]{0,60}\bне ",
    re.IGNORECASE,
)
RUSSIAN_TOLD: Final = lazy(
    r"\W{0,6}(?:я|он|она|оно|они|это|здесь|тут|там|почему|зачем|эт(?:а|от|и) \w{2,30}|вчера|мой|моя|у меня|мне) "
    r"(?![^\n]{0,200}(?:\bдолж(?:ен|на|но|ны) быть\b|\bнельзя\b|\bзапрещен\w{0,2}\b))",
    re.IGNORECASE,
)
TURKISH: Final = lazy(
    r"\b(?:asla|sakın|kesinlikle|hiçbir zaman"
    r"|lütfen)\b[^\n.!?]{0,200}\b\w{2,20}m[ae](?:y[iı]n(?:[iı]z)?)?(?: lütfen)?[ .!]{0,4}$"
    r"|\b\w{2,20}m[ae]y[iı]n(?:[iı]z)?(?: lütfen)?[ .!]{0,4}$|\b\w{2,20}m[ae] lütfen[ .!]{0,4}$"
    r"|\b(?:dokunma|elleme|değiştirme|silme|kullanma|onayım olmadan [^\n.!?]{0,80}m[ae])[ .!]{0,4}$"
    r"|\b(?:asla|sakın|kesinlikle) (?!\w{0,30}(?:d[ıiuü]m|t[ıiuü]m|yorum|maz|mez)\b)[^\n.!?]{0,120}\b(?:yapma|etme"
    r"|ekleme)[ .!]{0,4}$"
    r"|\b(?:her zaman|mutlaka|daima|bundan (?:sonra|böyle)|sadece|yalnızca|her seferinde)\b[^\n.!?]{0,200}\b(?:ver"
    r"|yaz|kullan"
    r"|çalıştır|yap|et|sor|ekle|koy|tut|bırak|iste|göster|oluştur)(?:[iıuü]n(?:[iıuü]z)?)?[ .!]{0,4}$"
    r"|\b\w{2,20}m[ae]m[ae]l[iı](?:d[ıi]r)?[ .!]{0,4}$|\b(?:yasak(?:tır)?)[ .!]{0,4}$",
    re.IGNORECASE,
)
TURKISH_TOLD: Final = lazy(
    r"(?:merak etme|endişelenme|üzülme|unutma|korkma|dert etme|takma kafana|boş ?ver|kusura bakma)\w{0,6}[ .!]{0,4}$"
    r"|\W{0,6}(?:ben|o|bu \w{2,20} (?:asla|her zaman)|burada|neden|niye|bunu"
    r"|şunu) (?![^\n]{0,200}\b\w{2,20}m[ae]y[iı]n)",
    re.IGNORECASE,
)
KANA: Final = lazy(r"[぀-ヿ]")
GERMAN_WORDS: Final = lazy(
    r"(?i)\b(?:der|die|das|den|dem|und|nicht|kein\w{0,2}|bitte|immer|nie|niemals|auf|mit|f(?:ü|ue)r|darfst|nur|stets"
    r"|ab|statt|du|ist|verwende|benutze|tests?)\b"
)

REPORTED: Final = lazy(
    r"(?<!\bi )(?<!\bwe )\b(?:says?|said|states?|stated|claims?|reads|according to|wrote|tells?|told|insists?|swears?"
    r"|posted|laut|steht|sagte?|meinte?|behauptete?|selon|dit|disait|pr(?:é|e)tend(?:ait)?|d(?:é|e)clare|seg(?:ú|u)n"
    r"|dice|dec(?:í|i)a|dijo|diz|dizia|disse)\b|と書いて|によると|と言って|说|写着|根据",
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

NOW: Final = lazy(
    r"\W*(?:(?:ok(?:ay)?|alright|good|so|fine|right|great|and|gut|bien|bon|vale|bueno|pronto|bem"
    r"|allora)[ ,.!]{1,3}){1,3}"
    r"(?:now (?!(?:an?|the|this|that|these|those|it|its|we|they|he|she|i|you|my|your|our|there|is|are|was|what|why"
    r"|how|if"
    r"|when|and|or|only|with|for|in|on|at)\b)\w{2,20} |jetzt \w{2,20}(?:e|er)? (?:die|den|das|es|alles) )",
    re.IGNORECASE,
)
"""It begins with an order for now."""
PERMISSION: Final = lazy(
    r"\b(?:you (?:may|can|are (?:now )?(?:allowed|free) to)|feel free to|go ahead and"
    r"|(?:it['’]?s|is|are) (?:now )?(?:ok(?:ay)?|fine|all right|safe|allowed|permitted)"
    r"|(?:no longer|not) (?:forbidden|off[ -]limits)"
    r"|darfst|ihr d(?:ü|ue)rft|kannst|in ordnung|(?:ist|sind) (?:jetzt |wieder |nun )?erlaubt"
    r"|tu peux|vous pouvez|tu as le droit|c['’]est bon|d['’]accord|est (?:maintenant |désormais )?permis"
    r"|autoris(?:é|e)e?s?|puedes|pueden|permitid[oa]s?|liberad[oa]s?|no hay problema|tudo bem"
    r"|(?:j(?:á|a)|agora|pronto,?) (?:pode|d(?:á|a))|pode[ms]?(?: agora)? \w{2,20}[aei]r"
    r"|puoi|potete|(?:è|sono) (?:ora |adesso )?(?:permess[oiae]|consentit[oiae]|liber[oiae])|va bene"
    r"|je (?:mag|kunt)|(?:mag|kun) je|mogen nu|toegestaan"
    r"|можно|можешь|можете|разрешаю|разрешен\w{1,2}|\w{1,20}[ae]bilirsin(?:iz)?|serbest(?:sin)?"
    r"|kar (?:sakte|do|lo|dena)|chalega ab|theek hai)\b"
    r"|[てで]も?(?:いい|良い|よい|構いません|かまいません|大丈夫|OK|ok|オッケー)|もOK|可能です|可以|允许"
    r"|(?:해|하셔|아|어|여|써)도 (?:됩니다|돼요?|된다|되요|괜찮|좋)|허용",
    re.IGNORECASE,
)
ENDS: Final = lazy(
    r"(?<!n['’]t )(?<!not )(?<!never )\b(?:forget(?: about)?|ignore|scrap|drop) (?:the|that|my|what)\b"
    r"|\b(?:no longer|not) (?:applies|apply|valid"
    r"|a (?:limit|rule|must)|frozen|needed)\b|\b(?:goes away|is lifted|are lifted|is over|is open again|is free)\b"
    r"|\b(?:is|are) off the table\b|\bscratch (?:the|that|my)\b"
    r"|\b(?:gilt|gelten) nicht mehr\b|\bkannst du vergessen\b|\bvergiss\b|\bfällt weg\b|\baufgehoben\b"
    r"|\boublie\b|\bne s['’]applique plus\b|\bn['’]est plus\b|\bolv(?:í|i)date\b|\bolvida\b|\bya no\b"
    r"|\besquec[ea]\b|\bn(?:ã|a)o vale mais\b"
    r"|\bdescongel\w{2,4}\b|\bbhool ja\w?\b"
    r"|忘れて|気にしなくて|無しで(?:いい|大丈夫)|なくなりました|解除|忘了"
    r"|取消|不再",
    re.IGNORECASE,
)
"""A rule is taken back in other words than those of a permission."""
CHANGES: Final = lazy(
    r"\b(?:change of plans?|after all|is now|doch|(?:ist|gilt) jetzt|finalement|est maintenant|mejor"
    r"|ahora es|finalmente|agora é|mudou|melhor"
    r"|make (?:that|it|them) \d{1,9}|mach \d{1,9} [\w -]{0,30}draus|mets (?:plutôt )?\d|que sean \d|coloca \d|fai \d"
    r"|maak er \d)\b|やっぱり|やはり|に変更します|に変えます|改成|改为",
    re.IGNORECASE,
)
"""Something is other than before: it may replace an earlier rule, and is none by itself."""
TELLS: Final = lazy(
    r"\b(?:is now|ist jetzt|est maintenant|ahora es|agora é|is over|is free|is open again|goes away|n['’]est plus|ya no"
    r")\b|なくなりました|不再",
    re.IGNORECASE,
)
"""It says how something is. A report does so too, unless it is about a limit."""
LIMIT: Final = lazy(
    r"\b(?:limit\w{0,2}|rules?|r(?:è|e)gle|reg[eo]la?|regra|max\w{0,4}|norma|valable|g(?:ü|ue)ltig)\b", re.IGNORECASE
)
INSTEAD: Final = lazy(
    r"\b(?P<en>instead of|rather than)\b|\b(?P<de>statt|anstelle von|anstatt)\b|\b(?P<fr>au lieu d(?:e |['’])"
    r"|plut(?:ô|o)t qu(?:e |['’]))|\b(?P<es>en (?:vez|lugar) de)\b"
    r"|(?P<ja>ではなく|じゃなく|の?(?:代わり|かわり)に)|(?P<zh>而不是|代替|而非)",
    re.IGNORECASE,
)
MAY_BE: Final = lazy(
    r"\b(?:ask|tell|warn|consult) me (?:first|before)\b|\bcheck with me\b|\bhold off\b|\bwait (?:for|until|till)\b"
    r"|\bi['’]?d (?:much |really )?(?:rather|prefer)\b|\bi would rather\b|\bwe (?:settled on|agreed (?:on|to)"
    r"|stick (?:to|with))\b"
    r"|\blet['’]?s stick (?:to|with)\b|\bstick (?:to|with)\b|\bwhatever you do\b"
    r"|\bstays? (?:as|where|the way|put|relative|below|under|within|at)\b|\b(?:is|are|stays?) (?:frozen|sacred"
    r"|untouched)\b"
    r"|\b(?:as long as|until) [^\n,]{2,80}, no \w|, so no \w|\bnothing (?:in|under|but|goes)\b|\bfrom here on\b"
    r"|\b(?:cap|limit|keep|plan|stay)\b[^\n]{0,40}\b(?:at|to|below|under|within|at most|with)\b[^\n]{0,20}\d"
    r"|\b(?:must|has to|have to|needs? to|should|may)\b[^\n]{0,40}\b(?:under|below|within|at most|no more than"
    r"|up to|by)\b"
    r"[^\n]{0,12}\d|^\W{0,4}(?:max(?:imum)?\.?|at most|no more than|up to|only (?:one|two|three|\d)) "
    r"|\b(?:every|each) [\w.`-]{1,30}(?: [\w.`-]{1,30})?(?: gets?| needs?)\b"
    r"|^\W{0,4}(?:please )?(?:run|write|add|use|put|commit|name|test|check|make|log|format|document|sign|squash"
    r"|rebase)\b"
    r"[^\n]{0,80}\b(?:every|each|any|all)\b|^\W{0,4}[\w -]{2,30}\bonly\b[,.]"
    r"|^(?!\W{0,4}(?:yes|no|ok(?:ay)?|it|that|this|i|we|he|she|they)\b)(?![^\n,]{0,120}\b(?:is|was|are|were|ist|war"
    r"|sind|est|es|é)\b)"
    r"[^\n,]{8,120}, (?:not|nicht|pas|n(?:ã|a)o|no)(?: [\w./`-]{1,40}){1,5}\W{0,3}$"
    r"|\b(?:am liebsten|lieber|bleib(?:t|en) (?:wie|auf|bei|unver)|h(?:ö|oe)chstens|maximal|nicht mehr als)\b"
    r"|\bbitte (?:immer|nur|auf|in|kein)|\bbis auf weiteres\b|\bgeh(?:ö|oe)r(?:t|en) einem anderen\b"
    r"|\bwir bleiben (?:bei|auf)\b"
    r"|\b(?:on (?:garde|reste sur|reste en|n['’]utilise|ne \w{2,20} pas)|je pr(?:é|e)f(?:è|e)re|au (?:plus|maximum)"
    r"|pas plus de"
    r"|reste(?:nt)? (?:en|tel|comme)|sans (?:mon accord|me demander|m['’]en parler))\b"
    rf"|{_START}pas (?:de |d['’])(?!probl|souci|panique|quoi|chance|bol)"
    r"|\b(?:prefiero|mejor (?:en|con|sin)|como m(?:á|a)ximo|no m(?:á|a)s de|se quedan?|sin (?:preguntar|avisar"
    r"|consultar|mi)"
    r"|preg(?:ú|u)ntame|av(?:í|i)same|tienen? que|no (?:quiero|queremos))\b"
    r"|\b(?:prefiro|no m(?:á|a)ximo|t(?:e|ê)m que|deve[m]? |fica[m]? (?:em|como|de fora|fora)|segue[m]? (?:em|como)"
    r"|tem que|nada de"
    r"|n(?:ã|a)o (?:rola|pode[m]?|deve[m]?|se pode)|congelad[oa]s?|s(?:ó|o) depois de|precisa[m]? ser|(?:s(?:ó|o)"
    r"|somente|apenas) \w{2,20}a\b)\b"
    r"|\b(?:hona chahiye|hone chahiye|mat karna|zyada nahi|tak hi|hi rehne do|karna hoga|permission|dhyan rakhna)\b"
    r"|上限|以内|以下に|統一|語で|方向で|形で|ままで|そのまま|相談|確認してから|触らない|崩さない|方針|派(?:な|で"
    r"|です)|先(?:问|跟我|和我|经过)|保持",
    re.IGNORECASE,
)
"""What is often a rule, and often none: an order to ask first, a limit, what stays as it is, a wish."""
