"""Which rule in force a new one contradicts.

Two rules contradict each other if they speak of the same and one bids or allows what the other forbids, if they are
the same but for a number or a language, or if the new one says that it holds instead of what the old one bids. What a
person takes back in so many words ("forget the limit") only has to be named, and so has what was forbidden "yet" or
"until" something and is allowed now. Precise rather than eager: a condition that only one of them has keeps both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, Protocol, TypeVar

from gemini_companion.engine.constraints import wording
from gemini_companion.engine.constraints.detect import detect
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.rules import has_cjk

SAME_OBJECT: Final = 0.6
"""The least share of the words of both rules that they have in common, the words for bidding and forbidding aside."""

_JUDGED: Final = 600
_COMPARED: Final = 50
"""The newest rules that a sentence is compared with where several prompts are read."""

_LIFTS: Final = lazy(
    r"\b(?:no longer|not) (?:forbidden|off[ -]limits|prohibited|mandatory|required|necessary)|\bdon['’]?t (?:have"
    r"|need) to\b|\bneedn['’]?t\b"
    r"|\bno longer (?:have|need) to\b|\bmusst (?:[\w./`äöüß-]{1,30} ){0,6}nicht\b|\bya no (?:hace falta|es necesario"
    r"|tienes que)\b|しなくて|なくても|不用|不必",
    re.IGNORECASE,
)
"""What was bidden need not be done, or what was forbidden is not any more."""
_NEED_NOT: Final = lazy(
    r"\bnot? (?:longer )?(?:mandatory|required|necessary)|\bdon['’]?t (?:have|need) to\b|\bneedn['’]?t\b"
    r"|\bno longer (?:have|need) to\b"
    r"|\bmusst (?:[\w./`äöüß-]{1,30} ){0,6}nicht\b"
    r"|\bya no (?:hace falta|es necesario|tienes que)\b|しなくて|なくても|不用|不必",
    re.IGNORECASE,
)
_CONDITION: Final = lazy(
    r"\b(?:if|when|unless|until|except|after|before|while|only|wenn|falls|au(?:ß|ss)er|bevor|nachdem|nur|si|quand"
    r"|sauf|apr(?:è|e)s|avant|seulement|cuando|salvo|excepto"
    r"|despu(?:é|e)s|antes|solo|s(?:ó|o)lo)\b|場合|とき|時は|たら|なら(?!ない|な)|以外|前に|後に|如果|除非|除了|之前|之后|时候",
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
    durft musst muss mussen soll sollst sollen sollt kann kannst konnen ist sind erlaubt verboten untersagt im zu zum
    zur mit fur tabu unbedingt kunftig grundsatzlich le la les l un une de d et ou mais aussi ne n pas plus jamais
    toujours aucun aucune tu vous nous je il faut dois devez doit peux pouvez peut maintenant desormais au aux partir
    dorenavant est sont permis autorise interdit te plait en ce cette ces droit as sans dans el los las uno una unos
    unas y o pero tambien nunca jamas siempre usted nosotros yo debes debe deben puedes puede pueden hay que ahora
    adelante desde esta este permitido prohibido por favor ya sin se con al del encore bon c pronto nao ainda pode
    podem podes agora voce nem sem um em na da dos os ao tem ter mim isso abhi mat hai theek kar karna karo karenge
    nahi nahin ko mein pe ka ki ke bhi finger weg hand hands alone leave wait hold forget about change plan actually
    instead doch finalement stay stays remain remains keep stick switch goes bleibt bleiben nehmen wechseln reste
    restent rester passe passons garde sur quedan queda mejor ficar fica melhor
    """.split()  # noqa: SIM905
)
_MEANT: Final = {
    "change": "touch modify edit chang alter updat rewrit ander verander modifizier bearbeit anfass fass anruhr ruhr"
    " modifi modific modifiqu toc toqu cambi",
    "delete": "delet remov eras losch entfern supprim effac borr elimin",
    "answer": "reply repli respond answer writ speak antwort schreib repond ecri ecriv escrib contest",
    "us": "benutz verwend nutz nutzt utilis emploi employ utilic utiliz emple",
}
_SAME: Final = {stem: meant for meant, stems in _MEANT.items() for stem in stems.split()}
"""Stems of different words for the same doing."""
_ENDINGS: Final = """
    arlo erlo irlo arla erla irla ando iendo éis áis ing ons ent est ado ido ez er ir es as is en ed st ar os e s n a o
    """.split()  # noqa: SIM905
_LANGUAGES: Final = frozenset(
    """
    english german french spanish japanese chinese italian portuguese englisch deutsch franzosisch spanisch
    japanisch chinesisch anglais allemand francais espagnol japonais chinois ingles aleman frances espanol
    japones chino
    """.split()  # noqa: SIM905
)
_CJK_LANGUAGE: Final = lazy(
    r"日本語|英語|中国語|ドイツ語|フランス語|スペイン語|中文|英文|英语|日语|日文|德语|法语|西班牙语|汉语"
)
_CJK_EMPTY: Final = lazy(
    r"やっぱり|やはり|まだ|お願い(?:します)?|書い(?=て)|してはいけません|てはいけません|てはいけない|てはならない|しないでください|しないで下さい|しないこと|しないで|ないでください|ないで"
    r"|しなくて(?:も)?|しても|しなければならない|してください|して下さい"
    r"|することは?|すること|する|した|して|ください|下さい"
    r"|いいです|良いです|よいです|構いません|かまいません|大丈夫です?|いい|良い|よい|です|ます|ません|絶対に?|決して|必ず|常に|いつも|毎回|今後は?|これから(?:は|も)?|もう|再び|ないこと|禁止|厳禁"
    r"|使用|こと|[はをがにでもねよの]"
    r"|从现在(?:起|开始)|以后|今后|现在|绝对|千万|永远|始终|总是|一律|每次都?|请|你们?|我们|大家|不要|不准|不许|不得|不能|不可以?|切勿|请勿|别|勿|必须|务必|一定要?|可以|允许|应该|不用"
    r"|不必|再|也|都|了|的|就|要|去|把|被"
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
}
_CJK_USE: Final = lazy(r"使って|使い|使う")
_NOISE: Final = lazy(r"[\s,.;:!?\"'“”„«»()（）。、，！？「」『』`*]+")
_WORD: Final = lazy(r"[\w./-]+")
_VALUE: Final = lazy(r"\d+(?:[.,]\d+)*[a-z%]{0,3}")
_CLAUSE: Final = lazy(r"[,;:—–、，；：]")
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
    awaits: bool
    """It holds until something has happened, or the person agrees."""
    ends: frozenset[str] | None
    """What it says to be over; `None` if it says nothing of the kind."""
    changes: bool
    """It says that something is other than before."""


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
    """The newest rule in force that a new one contradicts, `None` if there is none."""
    new = _read(text)
    if not new.words:
        return None
    for one in reversed(standing):
        if one.text != text and len(one.text) <= _JUDGED and _contradict(new, _read(one.text)):
            return one
    return None


def _contradict(new: _Rule, old: _Rule) -> bool:
    if not old.words:
        return False
    if new.gone and not old.forbids and new.gone & old.words and new.gone >= old.words - _DOING:
        return True
    if new.ends and _named(new.ends, old.words | old.values) >= SAME_OBJECT:
        return True
    if new.is_conditional != old.is_conditional and not (new.lifts or new.changes):
        return False
    if new.values != old.values and not (new.lifts and old.awaits):
        same = new.forbids == old.forbids and bool(new.values) == bool(old.values)
        share = _named(new.words, old.words) if new.changes else _share(new.words, old.words)
        return same and share >= (SAME_OBJECT if new.changes else 1)
    if new.forbids == old.forbids:
        return False
    return _is_about_same(new.words, old.words, share=_named if new.lifts and old.awaits else _share)


_DOING: Final = frozenset(("us", "change", "answer", "delete"))


def _is_about_same(
    new: frozenset[str], old: frozenset[str], share: Callable[[frozenset[str], frozenset[str]], float]
) -> bool:
    """They speak of doing the same to mostly the same things."""
    things, others = new - _DOING, old - _DOING
    doing, done = new & _DOING, old & _DOING
    return bool(things & others) and share(things, others) >= SAME_OBJECT and not (doing and done and not doing & done)


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
    lifts = allows or _LIFTS().search(kept) is not None
    need_not = _NEED_NOT().search(kept) is not None
    forbids = need_not or (not lifts and wording.FORBIDS().search(kept) is not None)
    return _Rule(
        forbids,
        lifts,
        words,
        values,
        _CONDITION().search(kept) is not None,
        gone,
        (wording.AWAITS().search(text) or wording.MEANWHILE().search(text)) is not None,
        _ended(text),
        wording.CHANGES().search(text) is not None,
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
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    words: set[str] = set()
    values: set[str] = set()
    for found in _WORD().findall(plain.replace("'", " ").replace("’", " ")):
        word = found.rstrip(".-")
        if word in _LANGUAGES or _VALUE().fullmatch(word):
            values.add(word)
        elif word not in _EMPTY_WORDS:
            words.add(_stem(word))
    return frozenset(words), frozenset(values)


def _stem(word: str) -> str:
    """The word without its ending, as far as it is one that changes; names of files and folders as they are."""
    if not word.isalpha():
        return word.strip("/.")
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= (2 if len(word) <= 5 else 3):
            word = word.removesuffix(ending)
            break
    return _SAME.get(word, word)


def _signs(text: str) -> tuple[frozenset[str], frozenset[str]]:
    values = frozenset((*_CJK_LANGUAGE().findall(text), *re.findall(r"\d+", text)))
    bare = re.sub(r"\d+", "", _CJK_LANGUAGE().sub("", text))
    signs: set[str] = set()
    bare = _CJK_USE().sub(" ", bare)
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
                signs.update(_pairs(_CJK_SAME.get(run) or run))
    return frozenset(signs - {""}), values


def _pairs(signs: str) -> set[str]:
    return {signs[at : at + 2] for at in range(max(1, len(signs) - 1))}
