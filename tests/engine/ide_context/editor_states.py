"""Open files as hypothesis draws them: few paths, so that files stay open, change and come back."""

from hypothesis import strategies as st

from gemini_companion.engine.ide_context import Cursor, Diagnostic, LineRange, OpenFile

PATHS = ("/w/a.py", "/w/b.ts", "/w/c d.md", "/w/世界.txt", "/w/x.json")

texts = st.sampled_from(
    (
        "",
        "sel",
        'other "q"\n',
        "世界",
        "😀" * 3,
        "```\n}\n```\n",
        "\u2028\u0085\r\n",
        "x" * 40,
        "password = 'hunter2345'",
    )
)
cursors = st.builds(Cursor, line=st.integers(1, 5), character=st.integers(1, 5))
ranges = st.builds(
    lambda start, length: LineRange(start_line=start, end_line=start + length), st.integers(1, 5), st.integers(0, 5)
)
diagnostics = st.builds(
    Diagnostic,
    line=st.integers(1, 5),
    character=st.integers(1, 5),
    severity=st.sampled_from(("error", "warning", "information", "hint")),
    message=texts,
    source=st.sampled_from(("", "ruff")),
)
open_files = st.builds(
    OpenFile,
    path=st.sampled_from(PATHS),
    last_focused_at=st.integers(1, 9),
    is_active=st.booleans(),
    cursor=st.none() | cursors,
    selected_text=st.none() | texts,
    visible_range=st.none() | ranges,
    text=st.none() | texts,
    is_unsaved=st.booleans(),
    path_only=st.sampled_from(("", "not a text file")),
    selected_lines=st.none() | ranges,
    diagnostics=st.lists(diagnostics, max_size=3).map(tuple),
)
"""Files as an editor tells them, duplicates and all."""
editors = st.lists(open_files, max_size=7)
