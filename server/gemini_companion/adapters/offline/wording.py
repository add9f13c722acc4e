"""The offline model's own sentences, in English and Japanese. Everything else that it says is quoted."""

from __future__ import annotations

from typing import Final

import msgspec

from gemini_companion.engine.facts.patterns import lazy

_WHO: Final = (
    "I am the built-in offline model. I cannot reason: I find and quote what stands in your open files and in this "
    "conversation."
)
_WHO_JAPANESE: Final = "内蔵のオフラインモデルです。推論はできません。開いているファイルとこの会話の中から、該当する箇所を探して引用します。"


class Wording(msgspec.Struct, frozen=True, kw_only=True):
    """One language, English unless said otherwise. Names in braces are filled in with `str.format`.

    A note stands in front of each answer: `first_note` or, where the model answers for want of a key,
    `first_note_fallback` in front of a conversation's first.
    """

    first_note: str = f"{_WHO} To talk to Gemini, choose another model."
    first_note_fallback: str = f"{_WHO} Gemini answers as soon as an API key is set."
    note: str = "(offline model: quoted, not reasoned)"
    greeting: str = "Hello. Ask me where something is defined, what a selection says, or what we settled on earlier."
    thanks: str = "You are welcome."
    abilities: str = (
        "I can quote the file that you have open (“explain this”), find where a name is defined or used (“where is X?”), "
        "and find what was said in this conversation (“what did I decide about X?”). Anything that takes thought needs "
        "Gemini."
    )
    open_files: str = "Files that the editor shows ({count}):"
    no_open_files: str = "No open file was shown to me."
    active: str = "active"
    lines: str = "`{path}`, lines {first}–{last}"
    one_line: str = "`{path}`, line {first}"
    your_message: str = "your message"
    selection: str = "You have selected {where}:"
    definition: str = "`{name}` ({kind}) is defined in {where}:"
    says_of_itself: str = "It says of itself: “{text}”"
    contents: str = "In it:"
    defines: str = "{kind} `{name}`, line {line}"
    used: str = "It is named in {places}."
    also: str = "See also `{name}` in {where}."
    passage: str = "In {where}:"
    you_said: str = "You said (message {number}):"
    was_answered: str = "The answer to your message {number} said:"
    tool_said: str = "A tool's result after your message {number}:"
    remembered: str = "From the snapshot of the older part of this conversation ({section}):"
    requests: str = "Your messages before this one ({count}):"
    first_request: str = "Your first message was:"
    last_request: str = "Before this you wrote (message {number}):"
    no_requests: str = "You have not written anything before this."
    noted: str = "Noted, word for word; it stands in this conversation, and I find it when you ask:"
    rules: str = "These are the rules and decisions that you gave so far:"
    nothing_by_words: str = "I find nothing by those words."
    tasks: str = "Open tasks, word for word:"
    no_tasks: str = "I find no open task in this conversation."
    summary: str = "What stands out in this conversation, word for word:"
    outline: str = "What {where} holds:"
    not_found: str = "Nothing in the open files or in this conversation speaks of that."
    not_found_name: str = "I find no “{name}” in the open files or in this conversation."
    more: str = "… and {count} more"
    earlier: str = "… {count} earlier"
    no_prompt: str = "There is no question to answer here."


ENGLISH: Final = Wording()
JAPANESE: Final = Wording(
    first_note=f"{_WHO_JAPANESE}Gemini と話すには、別のモデルを選んでください。",
    first_note_fallback=f"{_WHO_JAPANESE}API キーを設定すると、Gemini が答えます。",
    note="(オフラインモデル:推論ではなく引用です)",
    greeting="こんにちは。定義の場所、選択範囲の内容、以前に決めたことなどを聞いてください。",
    thanks="どういたしまして。",
    abilities=(
        "開いているファイルの引用(「これを説明して」)、名前の定義と使用箇所(「X はどこ?」)、この会話での発言(「X について何を決めた?」)を探せます。それ以上のことには Gemini が必要です。"
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
    rules="これまでに決められたこと:",
    nothing_by_words="その言葉では見つかりませんでした。",
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

_KANA: Final = lazy("[぀-ヿ]")
_MARKS: Final = tuple(
    note for say in (ENGLISH, JAPANESE) for note in (say.first_note, say.first_note_fallback, say.note)
)


def wording_for(prompt: str) -> Wording:
    """Japanese for a prompt with kana in it, else English."""
    return JAPANESE if _KANA().search(prompt[:4_000]) else ENGLISH


def is_own_answer(text: str) -> bool:
    """True for what the offline model said."""
    return text.startswith(_MARKS)


def without_note(text: str) -> str:
    """An own answer without the note in front of it; any other text as it is."""
    mark = next((mark for mark in _MARKS if text.startswith(mark)), "")
    return text.removeprefix(mark).lstrip("\n") if mark else text
