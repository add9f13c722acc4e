"""The offline model's own sentences, in English and Japanese. Everything else that it says is quoted."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import msgspec


class Wording(msgspec.Struct, frozen=True, kw_only=True):
    """One language. Fields in braces are filled in with `str.format`."""

    first_note: str
    """Said once, in front of a conversation's first answer."""
    note: str
    greeting: str
    thanks: str
    abilities: str
    open_files: str
    no_open_files: str
    active: str
    lines: str
    one_line: str
    selection: str
    definition: str
    says_of_itself: str
    contents: str
    defines: str
    used: str
    also: str
    passage: str
    you_said: str
    was_answered: str
    tool_said: str
    remembered: str
    requests: str
    first_request: str
    last_request: str
    no_requests: str
    summary: str
    file_outline: str
    not_found: str
    not_found_term: str
    left_out: str
    no_prompt: str


ENGLISH: Final = Wording(
    first_note=(
        "I am the built-in offline model. I cannot reason: I find and quote what stands in your open files and in this conversation. "
        "To talk to Gemini, set GEMINI_API_KEY and start the server again."
    ),
    note="(offline model: quoted, not reasoned)",
    greeting="Hello. Ask me where something is defined, what a selection says, or what we settled on earlier.",
    thanks="You are welcome.",
    abilities=(
        "I can quote the file that you have open (“explain this”), find where a name is defined or used (“where is X?”), "
        "and find what was said in this conversation (“what did I decide about X?”). For anything that takes thought, set GEMINI_API_KEY."
    ),
    open_files="The editor shows {count}:",
    no_open_files="No open file was shown to me.",
    active="active",
    lines="`{path}`, lines {first}–{last}",
    one_line="`{path}`, line {first}",
    selection="You have selected {where}:",
    definition="`{name}` ({kind}) is defined in {where}:",
    says_of_itself="It says of itself: “{text}”",
    contents="In it:",
    defines="{kind} `{name}`, line {line}",
    used="It is named in {places}.",
    also="See also {where}.",
    passage="In {where}:",
    you_said="You said (message {number}):",
    was_answered="The answer to your message {number} said:",
    tool_said="A tool's result after your message {number}:",
    remembered="From the snapshot of the older part of this conversation ({section}):",
    requests="Before this you asked {count}:",
    first_request="Your first message was:",
    last_request="Before this you wrote (message {number}):",
    no_requests="You have not asked anything before this.",
    summary="What stands out in this conversation, word for word:",
    file_outline="An outline of {where}:",
    not_found="Nothing in the open files or in this conversation speaks of that.",
    not_found_term="I find no “{term}” in the open files or in this conversation.",
    left_out="… and {count} more",
    no_prompt="There is no question to answer here.",
)

JAPANESE: Final = Wording(
    first_note=(
        "内蔵のオフラインモデルです。推論はできません。開いているファイルとこの会話の中から、該当する箇所を探して引用します。"
        "Gemini と話すには GEMINI_API_KEY を設定して、サーバーを起動し直してください。"
    ),
    note="(オフラインモデル:推論ではなく引用です)",
    greeting="こんにちは。定義の場所、選択範囲の内容、以前に決めたことなどを聞いてください。",
    thanks="どういたしまして。",
    abilities=(
        "開いているファイルの引用(「これを説明して」)、名前が定義・使用されている場所(「X はどこ?」)、"
        "この会話での発言(「X について何を決めた?」)を探せます。それ以上のことには GEMINI_API_KEY を設定してください。"
    ),
    open_files="エディタで開いているファイル({count}):",
    no_open_files="開いているファイルはありません。",
    active="アクティブ",
    lines="`{path}` の {first}–{last} 行目",
    one_line="`{path}` の {first} 行目",
    selection="選択範囲は{where}です:",
    definition="`{name}`({kind})は{where}で定義されています:",
    says_of_itself="説明文:「{text}」",
    contents="この中の定義:",
    defines="{kind} `{name}`({line} 行目)",
    used="使用箇所:{places}",
    also="関連:{where}",
    passage="{where}:",
    you_said="あなたの発言({number} 番目):",
    was_answered="{number} 番目の発言への回答:",
    tool_said="{number} 番目の発言の後のツールの結果:",
    remembered="以前の会話のスナップショット({section})より:",
    requests="これまでの質問({count}):",
    first_request="最初の発言:",
    last_request="直前の発言({number} 番目):",
    no_requests="これより前の質問はありません。",
    summary="この会話の要点(原文のまま):",
    file_outline="{where}の構成:",
    not_found="開いているファイルにもこの会話にも、該当する箇所は見つかりませんでした。",
    not_found_term="「{term}」は、開いているファイルにもこの会話にも見つかりませんでした。",
    left_out="… ほか {count} 件",
    no_prompt="質問がありません。",
)

OFFLINE_MARKS: Final = (ENGLISH.first_note, ENGLISH.note, JAPANESE.first_note, JAPANESE.note)
"""By which an answer is known for the offline model's own."""


def wording_for(prompt: str) -> Wording:
    """Japanese for a prompt with kana in it, else English."""
    return JAPANESE if _kana().search(prompt) else ENGLISH


def is_own_answer(text: str) -> bool:
    """True for what the offline model said."""
    return text.startswith(OFFLINE_MARKS)


@cache
def _kana() -> re.Pattern[str]:
    return re.compile("[぀-ヿ]")
