"""Files in other encodings than UTF-8: how they are known, that they stay what they are, and what is asked about."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.tools.tool import ToolRefusal
from tests.support.tool_contexts import Desk, write

TEXTS = {
    "gb18030": "// 在中国的软件项目里，很多旧的源文件仍然使用国标编码保存，注释里写着这段代码的作用。\nint y = 2;\n",
    "big5": "// 這個函式會讀取檔案並傳回內容，發生錯誤時會拋出例外。\nint y = 2;\n",
    "cp932": "// この関数はファイルを読み込んで、その内容を返します。\nint y = 2;\n",
    "cp949": "// 이 함수는 파일을 읽고 그 내용을 돌려줍니다. 오류가 나면 예외를 던집니다.\nint y = 2;\n",
    "koi8_r": "// Эта функция читает файл и возвращает его содержимое.\nint y = 2;\n",
    "cp1252": "// Größe für “Übung” – 5 €, naïve café.\nint y = 2;\n",
}
WORDS = {
    "gb18030": "编码",
    "big5": "檔案",
    "cp932": "関数",
    "cp949": "내용을",
    "koi8_r": "возвращает",
    "cp1252": "Größe",
}
encodings = pytest.mark.parametrize("encoding", TEXTS)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@encodings
@pytest.mark.parametrize("how", ["editorconfig", "coding line", "editor"])
async def test_a_file_in_a_known_encoding_is_shown_and_changed_in_it_without_a_question(
    root: Path, encoding: str, how: str
) -> None:
    desk = Desk(root)
    text, word = TEXTS[encoding], WORDS[encoding]
    if how == "coding line":
        text = f"// -*- coding: {encoding} -*-\n{text}"
    elif how == "editorconfig":
        write(root / ".editorconfig", f"root = true\n[*.{{c,h}}]\ncharset = {encoding}\n")
    path = write(root / "src" / "a.c", text.encode(encoding))
    if how == "editor":
        desk.editor.open(path, text, is_dirty=False)
        desk.editor.takes_edits = False
    assert (await desk.call("read_file", file_path="src/a.c")).output == text
    _, _, proposal = await desk.propose(
        "replace", file_path="src/a.c", old_string="y = 2;", new_string=f"y = 3; // {word}"
    )
    assert (proposal.asks, proposal.warnings) == ("", ())
    await desk.call("replace", file_path="src/a.c", old_string="y = 2;", new_string=f"y = 3; // {word}")
    assert path.read_bytes() == text.replace("y = 2;", f"y = 3; // {word}").encode(encoding)


@encodings
async def test_a_guessed_encoding_is_asked_about_once_for_its_folder(root: Path, encoding: str) -> None:
    desk = Desk(root)
    paths = [write(root / folder / name, TEXTS[encoding].encode(encoding)) for folder, name in
             (("src", "a.c"), ("src", "b.c"), ("lib", "c.c"))]  # fmt: skip
    assert (await desk.call("read_file", file_path="src/a.c")).output == TEXTS[encoding]

    async def asks(path: Path) -> tuple[str, str]:
        _, _, proposal = await desk.propose("replace", file_path=str(path), old_string="y = 2", new_string="y = 3")
        return proposal.asks, " ".join(proposal.warnings)

    for path in (paths[0], paths[2]):
        reason, warning = await asks(path)
        assert reason == "the file's encoding is guessed"
        assert f"is written as {encoding}, which is guessed" in warning
    await desk.call("replace", file_path="src/a.c", old_string="y = 2", new_string="y = 3")
    assert paths[0].read_bytes() == TEXTS[encoding].replace("y = 2", "y = 3").encode(encoding)
    assert await asks(paths[1]) == ("", "")
    assert (await asks(paths[2]))[0]


@pytest.mark.parametrize("encoding", [name for name in TEXTS if name != "gb18030"])
async def test_what_an_encoding_lacks_is_refused_with_the_sign_and_nothing_is_written(
    root: Path, encoding: str
) -> None:
    desk = Desk(root)
    path = write(root / "a.c", TEXTS[encoding].encode(encoding))
    sign = "\U0001d11e"
    with pytest.raises(ToolRefusal, match=r"U\+1D11E\)\. Nothing was written\."):
        await desk.call("replace", file_path="a.c", old_string="y = 2", new_string=f"y = 3 /* {sign} */")
    with pytest.raises(ToolRefusal, match="convert the file to UTF-8"):
        await desk.call("write_file", file_path="a.c", content=f"{sign}\n")
    assert path.read_bytes() == TEXTS[encoding].encode(encoding)


@pytest.mark.process
@encodings
async def test_letters_are_found_in_such_a_file(root: Path, encoding: str) -> None:
    write(root / "utf-8.c", TEXTS[encoding])
    write(root / "a.c", TEXTS[encoding].encode(encoding))
    write(root / "short.c", f"// {WORDS[encoding]}\nint y = 2;\n".encode(encoding))
    found = (await Desk(root).call("grep_search", pattern=WORDS[encoding])).output.split("\n")
    line = TEXTS[encoding].split("\n")[0]
    assert found[0].startswith("3 matches in 3 files")
    assert [found[at + 1] for at, one in enumerate(found) if one.endswith(".c")] == [
        f"1: {line}",
        f"1: // {WORDS[encoding]}",
        f"1: {line}",
    ]


@pytest.mark.process
async def test_text_in_iso_2022_jp_is_known_by_the_escapes_in_it(root: Path) -> None:
    path = write(root / "a.c", TEXTS["cp932"].encode("iso2022_jp"))
    desk = Desk(root)
    assert (await desk.call("read_file", file_path="a.c")).output == TEXTS["cp932"]
    assert f"1: {TEXTS['cp932'].splitlines()[0]}" in (await desk.call("grep_search", pattern="関数")).output
    _, _, proposal = await desk.propose("replace", file_path="a.c", old_string="y = 2", new_string="y = 3 /* 変更 */")
    assert (proposal.asks, proposal.warnings) == ("", ())
    await desk.call("replace", file_path="a.c", old_string="y = 2", new_string="y = 3 /* 変更 */")
    assert path.read_bytes() == TEXTS["cp932"].replace("y = 2", "y = 3 /* 変更 */").encode("iso2022_jp")


@pytest.mark.process
async def test_a_search_says_in_which_files_something_may_be_missing(root: Path) -> None:
    write(root / "a.c", TEXTS["gb18030"].encode("gb18030"))
    found = await Desk(root).call("grep_search", pattern="возвращает")
    assert "The encoding of these files is guessed, so something may be missing: a.c." in found.output


async def test_an_ascii_file_gets_letters_in_the_encoding_that_is_declared_for_it(root: Path) -> None:
    path = write(root / "a.py", b"# coding: gbk\nx = 1\n")
    await Desk(root).call("replace", file_path="a.py", old_string="x = 1", new_string="x = '变量'")
    assert path.read_bytes() == "# coding: gbk\nx = '变量'\n".encode("gbk")
    other = write(root / "b.txt", b"x = 1\n")
    await Desk(root).call("replace", file_path="b.txt", old_string="x = 1", new_string="x = '变量'")
    assert other.read_text("utf-8") == "x = '变量'\n"


async def test_utf_8_is_utf_8_whatever_is_declared(root: Path) -> None:
    write(root / ".editorconfig", "[*]\ncharset = latin1\n")
    path = write(root / "a.py", "# coding: latin-1\nx = 'é'\n".encode())
    assert (await Desk(root).call("read_file", file_path="a.py")).output == "# coding: latin-1\nx = 'é'\n"
    await Desk(root).call("replace", file_path="a.py", old_string="é", new_string="è→")
    assert path.read_bytes() == "# coding: latin-1\nx = 'è→'\n".encode()


@pytest.mark.parametrize(
    ("files", "charset"),
    [
        ({".editorconfig": "[*]\ncharset=cp1251\n"}, "cp1251"),
        ({".editorconfig": "[*]\ncharset=cp1251\n", "src/.editorconfig": "[*.c]\ncharset = KOI8-R ; old\n"}, "koi8-r"),
        ({".editorconfig": "[*]\ncharset=cp1251\n[src/**.c]\ncharset=koi8-r\n"}, "koi8-r"),
        ({".editorconfig": "[*]\ncharset=cp1251\n", "src/.editorconfig": "root = true\n"}, None),
        ({".editorconfig": "[*]\ncharset=no-such\n"}, None),
        ({".editorconfig": "[" + "*a" * 400 + "]\ncharset=cp1251\n"}, None),
        ({".editorconfig": "\ufeff# x\n[*.{h,c}]\nCharset = cp1251\n"}, "cp1251"),
    ],
)
async def test_the_nearest_editorconfig_names_the_encoding(
    root: Path, files: dict[str, str], charset: str | None
) -> None:
    for name, text in files.items():
        write(root / name, text)
    data = "привет, мир: это текст\n".encode("cp1251")
    write(root / "src" / "a.c", data)
    shown = (await Desk(root).call("read_file", file_path="src/a.c")).output
    if charset is not None:
        assert shown == data.decode(charset)
    _, _, proposal = await Desk(root).propose("replace", file_path="src/a.c", old_string=shown, new_string=f"x {shown}")
    assert bool(proposal.asks) == (charset is None)


@pytest.mark.parametrize("tool", ["write_file", "replace"])
@pytest.mark.parametrize(
    ("charset", "text", "data"),
    [
        ("cp1251", "привет\n", "привет\n".encode("cp1251")),
        ("utf-8-bom", "hé\n", codecs.BOM_UTF8 + "hé\n".encode()),
        ("utf-16le", "hé\n", codecs.BOM_UTF16_LE + "hé\n".encode("utf-16-le")),
        ("utf-16", "hé\n", codecs.BOM_UTF16_LE + "hé\n".encode("utf-16-le")),
        ("no-such", "hé\n", "hé\n".encode()),
        ("unset", "hé\n", "hé\n".encode()),
        ("cp1251", "# -*- coding: gbk -*-\n你好\n", "# -*- coding: gbk -*-\n你好\n".encode("gbk")),
    ],
)
async def test_a_new_file_is_written_in_the_encoding_that_is_declared_for_it(
    root: Path, tool: str, charset: str, text: str, data: bytes
) -> None:
    write(root / ".editorconfig", f"[*.txt]\ncharset = {charset}\n")
    how: dict[str, Any] = {"content": text} if tool == "write_file" else {"old_string": "", "new_string": text}
    desk = Desk(root)
    await desk.call(tool, file_path="new/a.txt", **how)
    assert (root / "new" / "a.txt").read_bytes() == data
    assert (await desk.call("read_file", file_path="new/a.txt")).output == text


async def test_a_new_file_with_a_letter_that_its_declared_encoding_lacks_is_refused(root: Path) -> None:
    write(root / ".editorconfig", "[*]\ncharset = latin1\n")
    with pytest.raises(ToolRefusal, match="iso8859-1"):
        await Desk(root).propose("write_file", file_path="a.txt", content="你好\n")
    assert not (root / "a.txt").exists()


STRAY = ("# Größe und Äpfel, Straße\n" * 5).encode() + b"caf\xe9 = 1\n" + "ende größe\n".encode()


async def test_utf_8_with_a_stray_byte_is_utf_8_and_keeps_the_byte(root: Path) -> None:
    desk = Desk(root)
    path = write(root / "a.py", STRAY)
    shown = (await desk.call("read_file", file_path="a.py")).output
    assert shown == STRAY.decode("utf-8", "surrogateescape")  # which a model gets as `caf\\udce9`
    _, _, proposal = await desk.propose("replace", file_path="a.py", old_string="ende größe", new_string="ende ü→")
    assert (proposal.asks, proposal.warnings) == ("", ())
    assert proposal.diff is not None
    proposal.diff.encode()
    assert "caf\\udce9 = 1\n" in (proposal.new_content or "")
    await desk.call("replace", file_path="a.py", old_string="ende größe", new_string="ende ü→")
    assert path.read_bytes() == STRAY.replace("größe\n".encode(), "ü→\n".encode())
    await desk.call("replace", file_path="a.py", old_string="caf", new_string="Ärger_caf")
    assert "\nÄrger_caf".encode() + b"\xe9 = 1\n" in path.read_bytes()
    await desk.call("replace", file_path="a.py", old_string="caf\\udce9 = 1", new_string="caf\\udce9 = 2")
    assert b"_caf\xe9 = 2\n" in path.read_bytes()
    await desk.call(
        "write_file",
        file_path="a.py",
        content=f"{STRAY.decode(errors='backslashreplace')}x\n".replace("\\xe9", "\\udce9"),
    )
    assert path.read_bytes() == STRAY + b"x\n"
    await desk.call("replace", file_path="a.py", old_string="caf\\udce9", new_string="café")
    assert path.read_bytes() == STRAY.replace(b"caf\xe9", "café".encode()) + b"x\n"


async def test_an_editor_that_has_no_stray_bytes_does_not_save_over_them(root: Path) -> None:
    desk = Desk(root)
    path = write(root / "a.py", STRAY)
    desk.editor.open(path, STRAY.decode("utf-8", "replace"), is_dirty=False)
    await desk.call("replace", file_path="a.py", old_string="ende größe", new_string="ende ü")
    assert path.read_bytes() == STRAY.replace("größe\n".encode(), "ü\n".encode())


@pytest.mark.process
@pytest.mark.parametrize("program", [None, "slow"])
async def test_letters_are_found_in_utf_8_with_a_stray_byte(root: Path, program: str | None) -> None:
    write(root / "a.py", STRAY)
    desk = Desk(root, find_program=(lambda: None) if program else None)
    found = (await desk.call("grep_search", pattern="größe|= 1")).output
    assert "guessed" not in found
    assert "ende größe" in found
    assert "caf\udce9 = 1" in found


@pytest.mark.parametrize("tool", ["write_file", "replace"])
@pytest.mark.parametrize(
    ("text", "was", "old", "new", "now"),
    [
        ('<?xml version="1.0" encoding="ISO-8859-1"?>\n<a>é</a>\n', "latin-1", "ISO-8859-1", "UTF-8", "utf-8"),
        ('<?xml version="1.0" encoding="UTF-8"?>\n<a>é</a>\n', "utf-8", "UTF-8", "ISO-8859-1", "latin-1"),
        ('<?xml version="1.0" encoding="UTF-8"?>\n<a>é</a>\n', "utf-8", "UTF-8", "UTF-16", "utf-16"),
        ('<?xml version="1.0" encoding="UTF-16"?>\n<a>é</a>\n', "utf-16", "UTF-16", "UTF-8", "utf-8"),
        ('<meta charset="windows-1252">\n<p>é€</p>\n', "cp1252", "windows-1252", "utf-8", "utf-8"),
        ("# -*- coding: utf-8 -*-\ns='é'\n", "utf-8", "utf-8", "latin-1", "latin-1"),
        ("# -*- coding: gbk -*-\ns='编码'\n", "gbk", "gbk", "utf-8", "utf-8"),
        ("# coding: latin-1\ns='é'\n", "latin-1", "# coding: latin-1\n", "", "utf-8"),
    ],
)
async def test_a_file_that_says_another_encoding_of_itself_is_written_in_that(
    root: Path, tool: str, text: str, was: str, old: str, new: str, now: str
) -> None:
    path = write(root / "a.txt", text.encode(was))
    desk, after = Desk(root), text.replace(old, new)
    await desk.call("read_file", file_path="a.txt")
    how: dict[str, Any] = {"content": after} if tool == "write_file" else {"old_string": old, "new_string": new}
    _, _, proposal = await desk.propose(tool, file_path="a.txt", **how)
    assert "changes its encoding" in " ".join(proposal.warnings)
    assert "as its text says" in (await desk.call(tool, file_path="a.txt", **how)).output
    assert path.read_bytes() == after.encode(now)
    assert (await desk.call("read_file", file_path="a.txt")).output == after


@pytest.mark.parametrize(
    ("data", "old", "new", "reason"),
    [
        ("# coding: utf-8\n# Ж\n".encode(), "utf-8", "latin-1", "which has no"),
        (f"x\n{TEXTS['cp1252']}".encode("cp1252"), "x", "// coding: utf-8", "is guessed"),
        (b"x\n", "x", "a\0b", "NUL"),
        ("Règle: x\n".encode("cp1252"), "x", "ß Ä Ö Ü", "the guess would be another"),
        (b"# coding: latin-1\ns='\xe9'\n", "\xe9", "Ã©", "would not be read as this text again"),
    ],
)
async def test_what_would_not_be_read_as_it_is_written_is_refused_with_the_reason(
    root: Path, data: bytes, old: str, new: str, reason: str
) -> None:
    path = write(root / "a.txt", data)
    with pytest.raises(ToolRefusal, match=reason):
        await Desk(root).call("replace", file_path="a.txt", old_string=old, new_string=new)
    assert path.read_bytes() == data


async def test_an_open_file_does_not_change_its_encoding_for_an_editor_would_not_know(root: Path) -> None:
    desk, text = Desk(root), "# coding: latin-1\ns='é'\n"
    path = write(root / "a.py", text.encode("latin-1"))
    desk.editor.open(path, text, is_dirty=False)
    with pytest.raises(ToolRefusal, match="close it"):
        await desk.call("replace", file_path="a.py", old_string="latin-1", new_string="utf-8")
    assert path.read_bytes() == text.encode("latin-1")


async def test_a_read_only_file_is_asked_about_and_stays_so(root: Path) -> None:
    desk = Desk(root)
    path = write(root / "locked.txt", "original\n")
    path.chmod(0o444)
    _, _, proposal = await desk.propose("replace", file_path="locked.txt", old_string="original", new_string="changed")
    assert proposal.asks == "it is read-only"
    assert proposal.warnings == ("locked.txt is read-only. It stays so, with the new text.",)
    assert "read-only" in (await desk.call("write_file", file_path="locked.txt", content="new\n")).output
    assert path.stat().st_mode & 0o777 == 0o444


async def test_a_file_of_nothing_is_filled_and_one_of_something_names_write_file(root: Path) -> None:
    desk = Desk(root)
    for name, text, old in (("empty.py", "", ""), ("blank.py", "\n", "\n"), ("spaces.py", " \r\n", "")):
        path = write(root / name, text.encode())
        await desk.call("replace", file_path=name, old_string=old, new_string="x = 1\n")
        assert path.read_text().strip() == "x = 1"
    write(root / "full.py", "y = 2\n")
    with pytest.raises(ToolRefusal, match="write_file"):
        await desk.call("replace", file_path="full.py", old_string="", new_string="x")


async def test_lines_that_carriage_returns_alone_end_are_replaced_and_written_anew(root: Path) -> None:
    desk = Desk(root)
    path = write(root / "mac.txt", b"one\rtwo\rthree\r")
    await desk.call("replace", file_path="mac.txt", old_string="one\ntwo", new_string="1\n2\n2b")
    assert path.read_bytes() == b"1\r2\r2b\rthree\r"
    await desk.call("replace", file_path="mac.txt", old_string="1\r2", new_string="1\r3")
    assert path.read_bytes() == b"1\r3\r2b\rthree\r"
    await desk.call("write_file", file_path="mac.txt", content="four\nfive\n")
    assert path.read_bytes() == b"four\rfive\r"
    with pytest.raises(ToolRefusal, match="1: four"):
        await desk.call("replace", file_path="mac.txt", old_string="four\nsix", new_string="x")


async def test_a_text_is_replaced_as_it_was_shown_with_its_escapes(root: Path) -> None:
    path = write(root / "a.log", b"\x1b[31mred\x1b[0m\n")
    await Desk(root).call("replace", file_path="a.log", old_string=r"\x1b[31mred", new_string=r"\x1b[32mgreen")
    assert path.read_bytes() == b"\x1b[32mgreen\x1b[0m\n"


@pytest.mark.process
@encodings
@pytest.mark.parametrize("program", [None, "slow"])
async def test_a_line_found_by_its_ascii_is_shown_in_the_files_encoding(
    root: Path, encoding: str, program: str | None
) -> None:
    text = TEXTS[encoding].replace("\n", " needle\n", 1)
    write(root / "a.c", text.encode(encoding))
    desk = Desk(root, find_program=(lambda: None) if program else None)
    found = (await desk.call("grep_search", pattern="needle")).output.split("\n")
    assert found[2] == f"1: {text.splitlines()[0]}"
