"""What the fit reads: folders of texts by kind and source, conversations, and a few texts made on the spot."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from gemini_companion.engine.tokens.json_text import json_text

CONVERSATIONS = "conversation: "
"""How the kind of a conversation begins; the folder's name follows."""

_MADE_SIZE = 4_000
_MADE_OF_EACH = 4


_JAPANESE_PROSE = (
    "駅前の商店街を抜けると、小さな本屋がある。店主は七十を過ぎた男で、朝から晩まで帳場に座って本を読んでいる。客が入ってきても"
    "顔を上げない。ところが、こちらが一冊を手に取ると、必ず「それは面白いよ」と声をかけてくるのだ。どの本を選んでも同じことを言う。",
    "「明日の試合、見に行く？」と彼女が聞いた。「行きたいけど、母が風邪をひいてしまって、今夜から看病しないといけないんだ」"
    "「そうか、残念だね。じゃあ終わったら電話するよ」「ありがとう。頑張ってと伝えておいて。雨が降らないといいけどね」",
    "市は十二日、老朽化が進む中央図書館を建て替える方針を明らかにした。新しい建物は三階建てで、子ども向けの広場や学習室を設ける。"
    "費用はおよそ四十億円を見込み、来年度から設計を始める。市民からは、駐車場を広げてほしいという声が多く寄せられていた。",
    "冬になると祖父は山へ入り、炭を焼いた。雪の深い日には何日も帰らず、私は窓から白い煙を探したものだ。煙が見えれば祖父は元気で、"
    "見えなければ眠っている。そう母に教えられて育った。ある朝、煙はどこにも見えず、父は黙って外套を着て出ていった。",
)
"""General Japanese, of which translated manuals have too little. Our own."""


class Sample(NamedTuple):
    """One text, or one conversation as the texts of its parts."""

    kind: str
    source: str
    """What must not be split between fitting and checking: a project, a translation, a conversation."""
    texts: tuple[str, ...]


def read_texts(folder: Path) -> Iterator[Sample]:
    """Yield the files of `folder`, laid out as `kind/source/…`. What is not UTF-8 is replaced."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        kind, source, *_ = path.relative_to(folder).parts
        yield Sample(kind, source, (path.read_bytes().decode("utf-8", "replace"),))


def read_conversations(folder: Path) -> Iterator[Sample]:
    """Yield the conversations under `folder` as the ledger counts them: system instruction and history, per part."""
    for path in sorted(folder.rglob("*.json")):
        document: object = json.loads(path.read_text("utf-8"))
        if _is_object(document) and "history" in document:
            yield Sample(CONVERSATIONS + path.parent.name, path.stem, tuple(_parts_of(document)))


def make_texts() -> Iterator[Sample]:
    """Yield what folders have too little of, always the same: random base64 and hexadecimal, and plain Japanese."""
    yield from (Sample("japanese prose", f"made{index}", (text,)) for index, text in enumerate(_JAPANESE_PROSE))
    chance = random.Random(0)  # not for secrets
    for index in range(_MADE_OF_EACH):
        data = chance.randbytes(_MADE_SIZE)
        yield Sample("base64", f"made{index % 2}", (base64.b64encode(data).decode(),))
        yield Sample("base64", f"lines{index % 2}", (base64.encodebytes(data).decode(),))
        yield Sample("hex", f"made{index % 2}", (data.hex(),))


def _parts_of(document: Mapping[str, Any]) -> Iterator[str]:
    instruction = document.get("systemInstruction")
    if isinstance(instruction, str):
        yield instruction
    elif _is_object(instruction):
        yield from _texts_of(instruction)
    for content in document["history"]:
        yield from _texts_of(content)


def _texts_of(content: Mapping[str, Any]) -> Iterator[str]:
    for part in content["parts"]:
        yield part["text"] if "text" in part else json_text(part.get("functionCall") or part.get("functionResponse"))


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)
