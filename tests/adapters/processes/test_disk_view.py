"""How a sandbox shows the disk: in layers, and anew where something else is mounted below."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path
from tempfile import mkdtemp

from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.processes.disk_view import layered, mounts

NAMES = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="/"), min_size=1)


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_places_of_mounts_are_read_as_the_kernel_writes_them(names: list[str]) -> None:
    path = "/" + "/".join(names)
    written = path.replace("\\", "\\134").replace(" ", "\\040")
    assert mounts(f"36 35 98:0 / {written} rw,noatime master:1 - ext3 /dev/root rw\n") == {path: "ext3"}


@given(st.text())
def test_no_text_breaks_the_reading_of_mounts(text: str) -> None:
    assert isinstance(mounts(text), dict)


def test_a_folder_with_a_mount_below_is_built_of_files_links_and_layers_and_has_no_sockets() -> None:
    home = Path(mkdtemp(prefix="view-", dir=os.path.expanduser("~"))).resolve()  # not below /tmp, which is not shown
    top = home / "top"
    for name in ("mounted", "plain", "image"):
        (top / name).mkdir(parents=True)
    (top / "file").write_text("x")
    (top / "link").symlink_to("plain")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(top / "s"))
        kinds = {"/": "ext4", str(top / "mounted"): "ext4", str(top / "image"): "squashfs"}
        view = layered(kinds, "/empty", lambda folder: folder != "/usr")
    shutil.rmtree(home)
    shown = view.words
    layers = {str(top / "mounted"), str(top / "plain")}
    assert layers <= set(view.layers)
    assert str(top) not in view.layers
    assert shown[shown.index(f"{top}/file") - 1] == "--ro-bind-try"
    assert shown[shown.index(f"{top}/image") - 1] == "--ro-bind-try"
    assert shown[shown.index(f"{top}/link") - 1 :][:2] == ("plain", f"{top}/link")
    assert f"{top}/s" not in shown
    assert "/usr" not in view.layers
