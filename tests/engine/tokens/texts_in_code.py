"""Programs of our own, one of each language that people write much of, to be measured."""

from __future__ import annotations

from typing import Final

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
