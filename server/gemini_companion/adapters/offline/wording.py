"""The offline model's own sentences, in English and Japanese. Everything else that it says is quoted."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import msgspec


class Wording(msgspec.Struct, frozen=True, kw_only=True):
    """One language. Names in braces are filled in with `str.format`."""

    first_note: str
    """In front of a conversation's first answer, where somebody chose this model."""
    first_note_standing_in: str
    """The same, where it answers for want of a key."""
    note: str
    """In front of every other one."""
    greeting: str
    thanks: str
    abilities: str
    open_files: str
    no_open_files: str
    active: str
    lines: str
    one_line: str
    your_message: str
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
    noted: str
    rules: str
    tasks: str
    no_tasks: str
    summary: str
    outline: str
    not_found: str
    not_found_name: str
    more: str
    earlier: str
    no_prompt: str


ENGLISH: Final = Wording(
    first_note=(
        "I am the built-in offline model. I cannot reason: I find and quote what stands in your open files and in this conversation. "
        "To talk to Gemini, choose another model."
    ),
    first_note_standing_in=(
        "I am the built-in offline model. I cannot reason: I find and quote what stands in your open files and in this conversation. "
        "To talk to Gemini, give me a key: your editor's command for it, or GEMINI_API_KEY in the server's environment."
    ),
    note="(offline model: quoted, not reasoned)",
    greeting="Hello. Ask me where something is defined, what a selection says, or what we settled on earlier.",
    thanks="You are welcome.",
    abilities=(
        "I can quote the file that you have open (“explain this”), find where a name is defined or used (“where is X?”), "
        "and find what was said in this conversation (“what did I decide about X?”). Anything that takes thought needs Gemini."
    ),
    open_files="Files that the editor shows ({count}):",
    no_open_files="No open file was shown to me.",
    active="active",
    lines="`{path}`, lines {first}–{last}",
    one_line="`{path}`, line {first}",
    your_message="your message",
    selection="You have selected {where}:",
    definition="`{name}` ({kind}) is defined in {where}:",
    says_of_itself="It says of itself: “{text}”",
    contents="In it:",
    defines="{kind} `{name}`, line {line}",
    used="It is named in {places}.",
    also="See also `{name}` in {where}.",
    passage="In {where}:",
    you_said="You said (message {number}):",
    was_answered="The answer to your message {number} said:",
    tool_said="A tool's result after your message {number}:",
    remembered="From the snapshot of the older part of this conversation ({section}):",
    requests="Your messages before this one ({count}):",
    first_request="Your first message was:",
    last_request="Before this you wrote (message {number}):",
    no_requests="You have not written anything before this.",
    noted="Noted, word for word; it stands in this conversation, and I find it when you ask:",
    rules="I find nothing by those words. These are the rules and decisions that you gave so far:",
    tasks="Open tasks, word for word:",
    no_tasks="I find no open task in this conversation.",
    summary="What stands out in this conversation, word for word:",
    outline="What {where} holds:",
    not_found="Nothing in the open files or in this conversation speaks of that.",
    not_found_name="I find no “{name}” in the open files or in this conversation.",
    more="… and {count} more",
    earlier="… {count} earlier",
    no_prompt="There is no question to answer here.",
)

JAPANESE: Final = Wording(
    first_note=(
        "内蔵のオフラインモデルです。推論はできません。開いているファイルとこの会話の中から、該当する箇所を探して引用します。"
        "Gemini と話すには、別のモデルを選んでください。"
    ),
    first_note_standing_in=(
        "内蔵のオフラインモデルです。推論はできません。開いているファイルとこの会話の中から、該当する箇所を探して引用します。"
        "Gemini と話すには GEMINI_API_KEY を設定して、サーバーを起動し直してください。"
    ),
    note="(オフラインモデル:推論ではなく引用です)",
    greeting="こんにちは。定義の場所、選択範囲の内容、以前に決めたことなどを聞いてください。",
    thanks="どういたしまして。",
    abilities=(
        "開いているファイルの引用(「これを説明して」)、名前の定義と使用箇所(「X はどこ?」)、"
        "この会話での発言(「X について何を決めた?」)を探せます。それ以上のことには Gemini が必要です。"
    ),
    open_files="エディタで開いているファイル({count}):",
    no_open_files="開いているファイルはありません。",
    active="アクティブ",
    lines="`{path}` の {first}–{last} 行目",
    one_line="`{path}` の {first} 行目",
    your_message="あなたのメッセージ",
    selection="選択範囲は {where} です:",
    definition="`{name}`({kind})は {where} で定義されています:",
    says_of_itself="説明文:「{text}」",
    contents="この中の定義:",
    defines="{kind} `{name}`({line} 行目)",
    used="使用箇所:{places}",
    also="関連:`{name}`({where})",
    passage="{where}:",
    you_said="あなたの発言({number} 番目):",
    was_answered="{number} 番目の発言への回答:",
    tool_said="{number} 番目の発言の後のツールの結果:",
    remembered="以前の会話のスナップショット({section})より:",
    requests="これまでの発言({count}):",
    first_request="最初の発言:",
    last_request="直前の発言({number} 番目):",
    no_requests="これより前の発言はありません。",
    noted="原文のまま会話に残りました。後で聞かれたら探します:",
    rules="その言葉では見つかりませんでした。これまでに決められたこと:",
    tasks="未完了の作業(原文のまま):",
    no_tasks="この会話に未完了の作業は見つかりませんでした。",
    summary="この会話の要点(原文のまま):",
    outline="{where} の内容:",
    not_found="開いているファイルにもこの会話にも、該当する箇所は見つかりませんでした。",
    not_found_name="「{name}」は、開いているファイルにもこの会話にも見つかりませんでした。",
    more="… ほか {count} 件",
    earlier="… それより前に {count} 件",
    no_prompt="質問がありません。",
)

_MARKS: Final = tuple(note for say in (ENGLISH, JAPANESE) for note in (say.first_note, say.first_note_standing_in, say.note))


def wording_for(prompt: str) -> Wording:
    """Japanese for a prompt with kana in it, else English."""
    return JAPANESE if _kana().search(prompt[:4_000]) else ENGLISH


def is_own_answer(text: str) -> bool:
    """True for what the offline model said."""
    return text.startswith(_MARKS)


def without_note(text: str) -> str:
    """An own answer without the note in front of it; any other text as it is."""
    mark = next((mark for mark in _MARKS if text.startswith(mark)), "")
    return text.removeprefix(mark).lstrip("\n") if mark else text


@cache
def _kana() -> re.Pattern[str]:
    return re.compile("[぀-ヿ]")
