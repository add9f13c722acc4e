"""Which rule in force a new one contradicts.

Two rules contradict each other if they speak of the same and one bids or allows what the other forbids, if they are
the same but for a number or a language, or if the new one says that it holds instead of what the old one bids. What a
person takes back in so many words ("forget the limit") only has to be named, and so has what was forbidden "yet" or
"until" something and is allowed now. What lifts a rule speaks of nothing that the rule does not speak of: leave to push
to another branch, or to read what must not be changed, lifts nothing. Precise rather than eager: a condition that only
one of them has keeps both, and a permission with a condition, for once, or of what would be, ends nothing.

Words that name only some of what the rule speaks of, or permit what is to be asked about each time, may end it and may
not: the person is asked. That something is so or so ends nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from gemini_companion.engine.constraints import wording
from gemini_companion.engine.constraints.detect import detect
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.rules import has_cjk

SAME_OBJECT: Final = 0.6
"""The least share of the words of both rules that they have in common, the words for bidding and forbidding aside."""

_JUDGED: Final = 600
_COMPARED: Final = 50
"""The newest rules that a sentence is compared with where several prompts are read."""

_NOT_FORBIDDEN: Final = lazy(
    r"\b(?:no longer|not) (?:forbidden|off[ -]limits|prohibited|frozen)\b|\bnicht (?:mehr|länger) (?:verboten|tabu)\b"
    r"|\bкроме\b|\b(?:no|kein|pas de|sin|sem) (?:problem\w?|probl(?:è|e)me|problema)\b|^\W{0,3}(?:no|nein|non),",
    re.IGNORECASE,
)
"""What looks forbidding beside a permission, and is none."""
_FINE: Final = lazy(
    r"\b(?:is|are) (?:fine|ok(?:ay)?|all right)(?! (?:now|again|to|from now on|after all|by me|with me))\b"
    r"|\b(?:ist|sind) (?:ok(?:ay)?|in ordnung)\b|\b(?:va bene|d['’]accord|tudo bem)\b",
    re.IGNORECASE,
)
_UNASKED: Final = lazy(
    r"\b(?:without (?:asking|waiting|checking|my|me)|ohne (?:mein|mich|zu|r(?:ü|ue)ckfrag|nachfrag)"
    r"|sans (?:me|mon|ma)|(?:sin|sem) (?:mi|meu?|minha|pregunt|pergunt|avisar)|senza (?:il mio|chied)|zonder mij"
    r"|без мо)\w*",
    re.IGNORECASE,
)
"""The person is not asked, which is forbidden or allowed."""
_OF_THING: Final = lazy(
    r"(?<!\bit )\b(?:is|are|ist|sind|est|sont|est(?:á|a)n?|è|sono|zijn)\b(?! [\w ]{1,20}\bto\b)", re.IGNORECASE
)
_HEDGED: Final = lazy(
    r"\b(?:if|when|once|unless|until|till|as (?:soon|long) as|provided|after (?!all\b)|only|would|could|might"
    r"|this (?:once"
    r"|time|one)|just (?:once|for)|exceptions?|exceptionally"
    r"|wenn|falls|sobald|solange|erst|nachdem|bis|nur|w(?:ä|ae)re|k(?:ö|oe)nnte\w{0,2}|d(?:ü|ue)rfte\w{0,2}|diesmal"
    r"|ausnahm\w+"
    r"|si|quand|lorsque|d(?:è|e)s qu\w*|apr(?:è|e)s|jusqu\w*|seulement|pourrai\w{1,3}|serait|cette fois|exception\w*"
    r"|cuando|despu(?:é|e)s|hasta|s(?:ó|o)lo|podr(?:í|i)a\w{0,2}|ser(?:í|i)a|esta vez|excepci(?:ó|o)n"
    r"|quando|se|depois|at(?:é|e) que|somente|apenas|poderia\w?|seria|desta vez|dessa vez|exce(?:ç|c)(?:ã|a)o"
    r"|appena|dopo|solo|potrest\w|potrebbe|sarebbe|stavolta|questa volta|eccezione"
    r"|als|zodra|nadat|alleen|zou|deze keer|uitzondering"
    r"|если|когда|как только|после|только|бы|в этот раз|исключени\w+"
    r"|eğer|sonra(?! türkçe)|sadece|yalnızca|bu sefer|bu kez|\w{2,20}[iıuü]nca|agar|jab|sirf|is baar)\b"
    r"|場合|もし|たら|(?<!これ)から(?=[、])|今回|だけ|だろう|如果|等到?|除非|之后|这次|这一次|一次|只能|只有|만약"
    r"|(?:하|되|으)면(?! 안)|이번|때만|후에",
    re.IGNORECASE,
)
"""A permission that waits for something, holds for once, or tells of what would be."""
_CONDITION: Final = lazy(
    r"\b(?:if|when|unless|until|except|after|before|while|only|wenn|falls|au(?:ß|ss)er|bevor|nachdem|nur|si|quand"
    r"|sauf|apr(?:è|e)s|avant|seulement|cuando|salvo|excepto"
    r"|despu(?:é|e)s|antes|solo|s(?:ó|o)lo)\b|場合|とき|時は|たら|なら(?!ない|な)|以外|前に|後に|如果|除非|除了|之前"
    r"|之后|时候",
    re.IGNORECASE,
)
_EMPTY_WORDS: Final = frozenset(
    """
    a an the to of in on for with and or but so also then please just ever any all every each only really very that
    this these those it its you we i your our my me us be is are am will would should must shall may might can could
    do does did dont don t not no never always from now here henceforth again still anymore longer allowed permitted
    ok okay fine free feel go ahead right make sure ensure need have has let s future going forward by default
    strictly forbidden prohibited off limits avoid refrain without cannot cant mustn needn want like der die das den
    dem des ein eine einen einem einer und oder aber auch bitte nur noch mehr wieder ab jetzt sofort heute nun von
    immer stets nie niemals nicht kein keine keinen keiner keinem auf fall du ihr sie wir ich man darf darfst durfen
    durft musst muss mussen soll sollst sollen sollt kann kannst konnen ist sind erlaubt verboten untersagt im zu
    zum zur mit fur tabu unbedingt kunftig grundsatzlich le la les l un une de d et ou mais aussi ne n pas plus
    jamais toujours aucun aucune tu vous nous je il faut dois devez doit peux pouvez peut maintenant desormais au
    aux partir dorenavant est sont permis autorise interdit te plait en ce cette ces droit as sans dans el los las
    uno una unos unas y o pero tambien nunca jamas siempre usted nosotros yo debes debe deben puedes puede pueden
    hay que ahora adelante desde esta este permitido prohibido por favor ya sin se con al del encore bon c pronto
    nao ainda pode podem podes agora voce nem sem um em na da dos os ao tem ter mim isso abhi mat hai theek kar
    karna karo karenge nahi nahin ko mein pe ka ki ke bhi finger weg hand hands alone leave wait hold forget about
    change plan actually instead doch finalement stay stays remain remains keep stick switch goes bleibt bleiben
    nehmen wechseln reste restent rester passe passons garde sur quedan queda mejor ficar fica melhor alright said
    what told mind changed whatever after anything something thing things scratch rule limit rules regel regla regra
    regola safe stop table too better per time long before more mich mir dich vor bevor ja pour vas-y nichts ordnung
    mach draus vergiss geht klar rien vas bien regle lui donc nada vale olvida lo usarlo usarla hacer haz haga falta
    fazer faca faz esquece liberado liberada diante precisa non mai ora adesso puoi potete poi gli di e che più piu
    sul serve va bene fare sempre quindi niet nooit altijd graag nu wel mag kan kunt het een vanaf voortaan meer
    hoeft aan nodig moet mij naar ook не никогда всегда теперь уже можно можешь можете больше ладно ок отныне впредь
    на в из с и по от до нужно надо меня мне ничего перед пожалуйста обязательно нельзя это этот эту хорошо да будет
    разрешено разрешаю пока ещё еще все всё asla artik her zaman bundan sonra mutlaka lutfen bana once icin gerek
    yok sakin kesinlikle yap yapma yapabilirsin ver verme verebilirsin bir simdi tamam etme edebilirsin olmadan
    antes avant prima minha minhas peca pedir besoin hace hagas kabhi hamesha sakte sakti ho hoon main_ jao yaar hum
    tum aap
    """.split()  # noqa: SIM905
)
_KINDS: Final = frozenset(
    """
    fil fold directory branch dir packag functio functi project databas datei ord ordn verzeichni zweig paket fichi
    dossi depot paquet archiv carpet ram paqu bas arquiv pa past pacot tabel cartell map bestand папку папка папке
    фаил фаила фаилы ветку ветка dosy dosyasi dosyasin dosyasini klasor klasoru klasorun klasorunu dal dali dalin
    dalini
    """.split()  # noqa: SIM905
)
"""Stems of what kind of thing is meant, beside its name; told by four letters."""
_KIND: Final = frozenset(kind[:4] for kind in _KINDS)
_MEANT: Final = {
    "@ask": "ask ok approval approv permission permiss review confirm confirmation frag rucksprach zustimm demand"
    " accord"
    " autorisation pregunt permis aprobacion pergunt aprovacao aprova chied chieder vrag vragen toestemm"
    " wait spraw спраш спросит спрашиваи разреш sor sorma sormana onay onayim puch pucho visto",
    "change": "touch modify edit chang alter updat rewrit ander verander modifizier bearbeit anfass fass anruhr ruhr"
    " modifi modific modifiqu toc toqu cambi mex mexer mexa alter mud toccar tocc raak rak fas anpass aanpass трога"
    " трож"
    " меня измен редак dokunma dokunabilirsin degistir degistirme degistirebilirsin degistirebilirsiniz duzenle",
    "delete": "delet remov eras losch entfern supprim effac borr elimin apag cancell apagu verwijder удале удаля"
    " удали sil silme silmeden silebilirsin",
    "answer": "reply repli respond answer writ speak antwort schreib repond ecri ecriv escrib contest respond rispond"
    " antwoord отвеч пиши cevap yanit jawab yaz likh",
    "commit": "committ",
    "deploy": "deploi",
    "пуш": "пушит",
    "us": "benutz verwend nutz nutzt utilis emploi employ utilic utiliz emple gebruik испол kullan kullanma"
    " kullanabilirsin",
}
_SAME: Final = {stem: meant for meant, stems in _MEANT.items() for stem in stems.split()}
"""Stems of different words for the same doing."""
_ENDINGS: Final = """
    arlo erlo irlo arla erla irla arme erme irme armi ermi irmi ame imi ando iendo éis áis
    ing ons ent est ado ido ez er ir es as is en ed st ar os e s n a o
    """.split()  # noqa: SIM905
_LANGUAGES: Final = frozenset(
    """
    english german french spanish japanese chinese italian portuguese englisch deutsch franzosisch spanisch
    japanisch chinesisch anglais allemand francais espagnol japonais chinois ingles aleman frances espanol japones
    chino portuguesisch portugiesisch portugais portugues portoghese inglese italiano italienisch italien italiana
    tedesco francese spagnolo giapponese russian russisch russe ruso russo korean koreanisch coreen coreano turkish
    turkisch turc turco turkce ingilizce almanca fransizca hindi dutch nederlands engels duits frans spaans polish
    polnisch
    """.split()  # noqa: SIM905
)
_RUSSIAN_LANGUAGES: Final = ("русск", "англи", "немец", "франц", "испан", "китаи", "японс")
_CJK_LANGUAGE: Final = lazy(
    r"日本語|英語|中国語|한국어|영어|일본어|중국어|독일어|프랑스어|스페인어|ドイツ語|フランス語|スペイン語|中文|英文"
    r"|英语|日语|日文|德语|法语|西班牙语|汉语"
)
_CJK_EMPTY: Final = lazy(
    r"も?OK|前[にの]?|やっぱり|やはり|まだ|お願い(?:します)?|書い(?=て)|してはいけません|てはいけません|てはいけない"
    r"|てはならない|しないでください|しないで下さい|しないこと|しないで|ないでください|ないで"
    r"|しなくて(?:も)?|しても|しなければならない|してください|して下さい"
    r"|することは?|すること|する|した|して|ください|下さい"
    r"|いいです|良いです|よいです|構いません|かまいません|大丈夫です?|いい|良い|よい|です|ます|ません|絶対に?|決して"
    r"|必ず|常に|いつも|毎回|今後は?|これから(?:は|も)?|もう|再び|ないこと|禁止|厳禁"
    r"|使用|こと|[はをがにでもねよの]"
    r"|从现在(?:起|开始)|之前|以后|改[成为]|今后|现在|绝对|千万|永远|始终|总是|一律|每次都?|请|你们?|我们|大家|不要|不准|不许|不得"
    r"|不能|不可以?|切勿|请勿|别|勿|必须|务必|一定要?|可以|允许|应该|不用"
    r"|不必|先|我|吧|个|再|也|都|了|的|就|要|去|把|被"
)
_CJK_SAME: Final = {
    "触": "変更",
    "触る": "変更",
    "編集": "変更",
    "改": "修改",
    "动": "修改",
    "碰": "修改",
    "编辑": "修改",
    "用": "使用",
    "問": "@ask",
    "问": "@ask",
    "询问": "@ask",
    "确认": "@ask",
    "確認": "@ask",
    "相談": "@ask",
    "許可": "@ask",
    "同意": "@ask",
    "批准": "@ask",
    "물어": "@ask",
    "물어보": "@ask",
    "허락": "@ask",
    "확인": "@ask",
}
_KOREAN_EMPTY: Final = lazy(
    r"절대로?|이제는?|항상|언제나|반드시|무조건|앞으로는?|더 ?이상|괜찮\w*|주세요|마세요|마라|말아|말 것|됩니다|돼요?"
    r"|된다|않아도|전에는?|안"
    r"|(?<=\w)(?:하지|해도|하셔도|하기|세요|하면|하고|해서|해|할|한|하는|을|를|은|는|이|가|에서|에|으로|로|도|의|지|여도"
    r"|어도|아도)(?=[\s.,!?]|$)"
)
_HANGUL: Final = lazy(r"[가-힣]")
_CJK_USE: Final = lazy(r"使って|使い|使う")
_CJK_CHANGE: Final = lazy(r"[修更]?改(?![成为])")
_NOISE: Final = lazy(r"[\s,.;:!?\"'“”„«»()（）。、，！？「」『』`*]+")
_WORD: Final = lazy(r"[\w./-]+")
_VALUE: Final = lazy(r"\d+(?:[.,]\d+)*[a-z%]{0,3}")
_ENCLITIC: Final = lazy(r"['’]|-(?:moi|me|nous)\b")
_CLAUSE: Final = lazy(r"[,;:—–、，；：]")
_NAME: Final = lazy(r"[A-Za-z0-9_]*[/_.\d][A-Za-z0-9_/.-]*[A-Za-z0-9_]/?|[A-Za-z0-9_]+/", re.ASCII)
_ASIDE: Final = lazy(r"[\W_]+")


class Worded(Protocol):
    """A rule, whatever else is known of it."""

    @property
    def text(self) -> str:
        """Word for word."""
        ...


_AnyRule = TypeVar("_AnyRule", bound=Worded)


class Standing(NamedTuple):
    """A rule that nothing took back or replaced."""

    prompt: int
    """The number of the prompt that lays it down; -1 for one that was there before."""
    text: str


class Against(NamedTuple, Generic[_AnyRule]):
    """A rule in force that a person's later words bear on."""

    rule: _AnyRule
    is_plain: bool
    """They end it; otherwise they may, and only the person knows."""


class _Rule(NamedTuple):
    """What a rule says, as far as it is compared."""

    forbids: bool
    lifts: bool
    """It says that something need not be done, or may be done again."""
    words: frozenset[str]
    """What it speaks of: stems, and for Chinese and Japanese pairs of signs."""
    values: frozenset[str]
    """Numbers and languages in it."""
    is_conditional: bool
    gone: frozenset[str] | None
    """What it speaks of behind "instead of"; `None` if it has none."""
    ends: frozenset[str] | None
    """What it says to be over; `None` if it says nothing of the kind."""
    changes: bool
    """It says that something is other than before."""
    need_not: bool
    """It says that something need not be done."""
    asks: bool
    """It is about asking the person first."""
    holds_off: bool
    """It holds until something has happened, or the person says so."""
    hedged: bool
    """What it permits, it permits with a condition, for once, or not at all."""
    orders_now: bool
    """It asks for something now, which ends what was forbidden for the time being."""
    praises: bool
    """It says that a thing is fine, which permits its use at most, and no touching."""
    tells: bool
    """It says how something is, which may be no more than news."""
    of_thing: bool
    """It says of a thing that it is allowed, and not who may do what with it."""
    clause: frozenset[str]
    """What the clause that permits something speaks of."""
    lasts: bool
    """It says how something is to be from now on."""
    names: frozenset[str]
    """Paths, identifiers and numbers in it, as they are written."""


def left_standing(prompts: Iterable[str], before: Iterable[str] = ()) -> list[Standing]:
    """What prompts, in order, plainly lay down as rules, without what later ones take back or replace; so too of the
    rules that were there before.
    """
    rules = {key_of(text): Standing(-1, text) for text in before}
    for number, prompt in enumerate(prompts):
        for found in detect(prompt):
            against = contradicted(found.text, list(rules.values())[-_COMPARED:])
            if found.certainty != "probable" and against is not None:
                del rules[key_of(against.text)]
            if found.certainty == "plain":
                rules[key_of(found.text)] = Standing(number, found.text)
    return list(rules.values())


def key_of(text: str) -> str:
    """What of a text tells it from another rule."""
    return _ASIDE().sub(" ", text).strip().casefold()


def contradicted(text: str, standing: Sequence[_AnyRule]) -> _AnyRule | None:
    """The newest rule in force that a new one plainly contradicts, `None` if there is none."""
    against = weighed(text, standing)
    return against.rule if against is not None and against.is_plain else None


def weighed(text: str, standing: Sequence[_AnyRule]) -> Against[_AnyRule] | None:
    """The newest rule in force that a new one plainly contradicts, or else may contradict; `None` if there is none."""
    new = _read(text)
    if not (new.words or new.values):
        return None
    unsure: Against[_AnyRule] | None = None
    for one in reversed(standing):
        if one.text != text and len(one.text) <= _JUDGED:
            old = _read(one.text)
            is_plain = _contradict(new, old)
            # Whatever else is said: something about the very thing is over, or needs no word of the person's any more.
            is_over = new.ends is not None or (new.need_not and new.asks)
            if is_plain is None and is_over and not new.is_conditional and new.names & old.names:
                is_plain = False
            if is_plain:
                return Against(one, is_plain=True)
            if is_plain is not None:
                unsure = unsure or Against(one, is_plain=False)
    return unsure


def _contradict(new: _Rule, old: _Rule) -> bool | None:
    """Whether it does so plainly; `None` if it does not at all."""
    if not old.words:
        return None
    if new.gone and not old.forbids and new.gone & old.words:
        if new.gone >= old.words - _DOING:
            return True
        if new.gone <= old.words and (new.words - _DOING) & old.words:
            return False
    if new.ends and not new.need_not and _named(new.ends, old.words | old.values) >= SAME_OBJECT:
        is_same = new.ends <= old.words | old.values
        if is_same or not new.tells:
            return is_same and not new.tells
    if (new.changes or new.lasts or new.lifts) and not new.hedged and _sets_other_value(new, old):
        return not new.tells
    if new.lifts or new.orders_now:
        return _lifts(new, old)
    if new.is_conditional != old.is_conditional and not new.changes:
        return None
    if new.values != old.values:
        same = new.forbids == old.forbids and bool(new.values) == bool(old.values)
        share = _named(new.words, old.words) if new.changes else _share(new.words, old.words)
        return not new.tells if same and share >= (SAME_OBJECT if new.changes else 1) else None
    is_bidding = new.ends is None and new.forbids != old.forbids
    return True if is_bidding and _is_about_same(new.words, old.words) else None


def _sets_other_value(new: _Rule, old: _Rule) -> bool:
    """It names another number or language for what the old one has one for, and nothing else."""
    if not new.values or not old.values or new.values & old.values or not new.words <= old.words:
        return False
    if _are_numbers(new.values) != _are_numbers(old.values):
        return False
    return bool(new.words & old.words) or (not _are_numbers(new.values) and old.words <= _ANSWERING)


def _lifts(new: _Rule, old: _Rule) -> bool | None:
    """It permits what the old one forbids, or lifts what that one demands, and speaks of nothing else: plainly if it
    names all of it, or gives the word that was waited for.
    """
    if new.hedged or (new.orders_now and not new.lifts and not old.holds_off):
        return None
    if new.need_not:
        if old.forbids and not (new.asks and old.asks):
            return None
    elif not (old.forbids or old.asks or old.holds_off):
        return None
    if not new.values <= old.values or (new.praises and "us" not in old.words):
        return None
    meant = old.words
    if old.holds_off and len(new.words & meant) > 1 and _named(new.words, meant) >= SAME_OBJECT:
        return True
    in_passing = not new.words <= meant | _ASIDES
    said = new.clause if in_passing else new.words
    doing, done = said & _DOING, meant & _DOING
    if not said & meant or not said <= meant | _ASIDES or (doing and done and not doing & done):
        return None
    if in_passing or new.praises:
        return False
    if old.holds_off:
        return True
    left = meant - said - _KIND - _ASIDES
    if old.asks and not (new.asks or new.lasts or new.need_not):
        return False
    return not left or (new.of_thing and len(left) == 1 and bool(said - _KIND))


_DOING: Final = frozenset(("us", "change", "answer", "delete", "使用"))
_ASIDES: Final = _DOING | {"@ask"}
_ANSWERING: Final = frozenset(("answer", "@ask"))


def _are_numbers(values: frozenset[str]) -> bool:
    return any(value[0].isdigit() for value in values)


def _is_about_same(new: frozenset[str], old: frozenset[str]) -> bool:
    """They speak of doing the same to mostly the same things."""
    things, others = new - _DOING, old - _DOING
    doing, done = new & _DOING, old & _DOING
    return bool(things & others) and _share(things, others) >= SAME_OBJECT and not (doing and done and not doing & done)


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def _named(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of what the one with fewer words speaks of the other one has."""
    return len(one & other) / max(1, min(len(one), len(other)))


@lru_cache(maxsize=1_024)
def _read(text: str) -> _Rule:
    text = text[:_JUDGED]
    instead = wording.INSTEAD().search(text)
    gone: frozenset[str] | None = None
    kept = text
    if instead is not None:
        behind, ahead = text[instead.end() :], text[: instead.start()]
        kept, other = (behind, ahead) if instead["ja"] else (ahead, behind)
        gone = _words(other)[0]
    words, values = _words(kept)
    allows = wording.PERMISSION().search(kept) is not None
    need_not = wording.NEED_NOT().search(kept) is not None
    without = kept
    for seeming in (wording.NEED_NOT(), _NOT_FORBIDDEN(), _UNASKED()):
        without = seeming.sub(" ", without)
    is_refused = wording.FORBIDS().search(without) is not None
    lifts = need_not or ((allows or without != kept) and not is_refused)
    forbids = need_not or (not lifts and wording.FORBIDS().search(kept) is not None)
    return _Rule(
        forbids,
        lifts,
        words,
        values,
        _CONDITION().search(kept) is not None,
        gone,
        _ended(text),
        wording.CHANGES().search(text) is not None,
        need_not,
        "@ask" in words or _UNASKED().search(text) is not None,
        (wording.UNTIL().search(text) or wording.MEANWHILE().search(text)) is not None,
        is_refused or _HEDGED().search(kept) is not None,
        wording.NOW().match(text) is not None,
        _FINE().search(kept) is not None,
        wording.TELLS().search(text) is not None and wording.LIMIT().search(text) is None,
        _OF_THING().search(kept) is not None,
        _words(next(filter(wording.PERMISSION().search, _CLAUSE().split(kept)), ""))[0],
        wording.FROM_NOW_ON().search(text) is not None,
        frozenset(name.strip("./").casefold() for name in _NAME().findall(kept)),
    )


def _ended(text: str) -> frozenset[str] | None:
    """What a clause speaks of that says that something is over."""
    for clause in _CLAUSE().split(text):
        if (match := wording.ENDS().search(clause)) is not None:
            words, values = _words(f"{clause[: match.start()]} {clause[match.end() :]}")
            return words | values
    return None


def _words(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """What a text speaks of, and the numbers and languages in it."""
    if has_cjk(text):
        return _signs(text)
    plain = _bare(text)
    words: set[str] = set()
    values: set[str] = set()
    for found in _WORD().findall(_ENCLITIC().sub(" ", plain)):
        word = found.rstrip(".-")
        if word in _LANGUAGES or _VALUE().fullmatch(word):
            values.add(word)
        elif word.startswith(_RUSSIAN_LANGUAGES):
            values.add(word[:5])
        elif word not in _EMPTY_WORDS:
            stem = _stem(word)
            words.add(stem[:4] if stem in _KINDS else stem)
    return frozenset(words - {""}), frozenset(values)


def _bare(text: str) -> str:
    """In small letters, without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in plain if not unicodedata.combining(sign)).replace("ı", "i")


def _stem(word: str) -> str:
    """The word without its ending, as far as it is one that changes; names of files and folders as they are."""
    if not word.isalpha():
        return word.strip("/.")
    if word in _SAME:
        return _SAME[word]
    if not word.isascii():
        return _SAME.get(word) or _SAME.get(word[:5]) or _SAME.get(word[:4]) or word.rstrip("ьи")[:5]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= (2 if len(word) <= 5 else 3):
            word = word.removesuffix(ending)
            break
    return _SAME.get(word, word)


def _signs(text: str) -> tuple[frozenset[str], frozenset[str]]:
    values = frozenset((*_CJK_LANGUAGE().findall(text), *re.findall(r"\d+", text)))
    bare = re.sub(r"\d+", " ", _CJK_LANGUAGE().sub("", text))
    signs: set[str] = set()
    bare = _CJK_CHANGE().sub(" 修改 ", _CJK_USE().sub(" ", bare))
    if _HANGUL().search(bare):
        bare = _KOREAN_EMPTY().sub(" ", bare)
    for word in _NOISE().split(_CJK_EMPTY().sub(" ", bare)):
        if not word:
            continue
        if word.isascii():
            signs.add(word.casefold().strip("/."))
            continue
        for run in re.findall(r"[A-Za-z0-9_./-]+|[^A-Za-z0-9_./-]+", word):
            if run.isascii():
                signs.add(run.casefold().strip("/."))
            else:
                meant = _CJK_SAME.get(run) or run
                signs.update((meant,) if meant[0] == "@" else _pairs(meant))
    return frozenset(signs - {""}), values


def _pairs(signs: str) -> set[str]:
    return {signs[at : at + 2] for at in range(max(1, len(signs) - 1))}
