"""Least squares for the token model: on each unit's own tokens, and on the relative error of each text as a whole.

A unit is a piece, or a whole run of CJK pieces (which the tokenizer may merge). Both kinds of equations share the
unknowns: the first make good use of few texts, the second remove what is systematic about a kind of text. Solved by
conjugate gradients.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fitting.features import CJK_BLOCKS, FIXED, PUNCTUATION, Feature, features_of, least_price_of
from fitting.texts import CONVERSATIONS, Sample
from gemini_companion.engine.tokens.lexical import cut
from gemini_companion.engine.tokens.prices import BLOCKS, block_of

Vector = NDArray[np.floating[Any]]
Indexes = NDArray[np.int64]
CountTokens = Callable[[Sequence[str]], Sequence[int]]

WHOLE_TEXT_WEIGHT = 150.0
RIDGE = 1e-5
ROUNDS = 16
STEPS = 30
DAMPING = 0.85
LEAST_STEP = 0.2
KIND_WEIGHTS = {
    "english": 4.0,
    "python": 2.0,
    "markdown": 2.0,
    "escapes": 2.0,
    "tool_output": 2.0,
    "chinese": 2.0,
    "japanese": 2.0,
}
CONVERSATION_WEIGHT = 3.0
RARE_KIND_WEIGHT = 0.4
RARE_KINDS = (
    "turkish",
    "hungarian",
    "finnish",
    "czech",
    "vietnamese",
    "polish",
    "base64",
    "hex",
    "x_",
    "kazakh",
    "serbian",
    "bulgarian",
)
KNOWN_RUNS = 300
COMMON_CHARACTERS = 900
_CHARACTERS_OF_A_BLOCK = 150
_CHARACTER_WEIGHT = 1e-6


@dataclass(frozen=True, slots=True)
class Sparse:
    """A matrix by its entries."""

    rows: Indexes
    columns: Indexes
    values: Vector
    shape: tuple[int, int]

    def times(self, vector: Vector) -> Vector:
        """The matrix times a vector as long as a row."""
        return _sums(self.rows, vector[self.columns] * self.values, self.shape[0])

    def transposed_times(self, vector: Vector) -> Vector:
        """The transposed matrix times a vector as long as a column."""
        return _sums(self.columns, vector[self.rows] * self.values, self.shape[1])


class Problem:
    """All texts and their units with true counts: what can be solved for any selection of the texts."""

    def __init__(self, samples: Sequence[Sample], count_tokens: CountTokens) -> None:
        self.samples = samples
        flat = [text for sample in samples for text in sample.texts]
        counts = iter(count_tokens(flat))
        self.tokens = np.array([sum(next(counts) for _ in sample.texts) for sample in samples], float)
        units_of = [Counter(unit for text in sample.texts for unit in units(text)) for sample in samples]
        characters = list(_characters_of_each_block())
        self.units = sorted({unit for found in units_of for unit in found} | set(characters))
        place = {unit: index for index, unit in enumerate(self.units)}
        self._prior = np.zeros(len(self.units))
        self._prior[[place[character] for character in characters]] = _CHARACTER_WEIGHT
        self._in_texts = _sparse(
            [
                {place[unit]: n / all_ for unit, n in found.items()}
                for found, all_ in zip(units_of, self.tokens, strict=True)
            ],
            len(self.units),
        )
        true = np.array(count_tokens(self.units), float)
        self.features: dict[Feature, int] = {}
        self.known = self._known_pieces(true)
        fixed = np.zeros(len(self.units))
        rows: list[dict[int, float]] = []
        rows_of_features = [
            Counter({FIXED: self.known[unit]}) if unit in self.known else features_of(cut(unit)) for unit in self.units
        ]
        self._forget_rare_characters(rows_of_features)
        for index, found in enumerate(rows_of_features):
            fixed[index] = found[FIXED]
            rows.append(
                {
                    self.features.setdefault(feature, len(self.features)): float(n)
                    for feature, n in found.items()
                    if feature != FIXED
                }
            )
        self._of_units = _sparse(rows, len(self.features))
        self._fixed, self._to_fit = fixed, true - fixed
        self._at_least = np.array([least_price_of(features) for features in rows_of_features])
        # What merges over the borders of units, per text, as a share of its tokens; no coefficient can explain it.
        self._left_over = 1.0 - self._in_texts.times(true)

    def _known_pieces(self, true: Vector) -> dict[str, int]:
        """The commonest runs of punctuation, with their tokens. Conversations have no say in it."""
        texts = [index for index, sample in enumerate(self.samples) if not sample.kind.startswith(CONVERSATIONS)]
        weight = self._in_texts.transposed_times(self.weights(texts))
        known: dict[str, int] = {}
        for place in cast("list[int]", np.argsort(-weight).tolist()):
            unit = self.units[place]
            if len(unit) > 1 and unit.strip(" ") and set(unit.lstrip(" ")) <= set(PUNCTUATION):
                known[unit] = int(true[place])
            if len(known) == KNOWN_RUNS:
                break
        return known

    def _forget_rare_characters(self, rows: Sequence[Counter[Feature]]) -> None:
        """Leave only the commonest characters a coefficient of their own; the others share their block's."""
        weight = self._in_texts.transposed_times(self.weights(range(len(self.samples))))
        common: defaultdict[Feature, float] = defaultdict(float)
        for row, share in zip(rows, cast("list[float]", weight.tolist()), strict=True):
            for feature, n in row.items():
                if feature[0] == "character":
                    common[feature] += n * share
        kept = set(sorted(common, key=lambda feature: -common[feature])[:COMMON_CHARACTERS])
        for row in rows:
            for feature in [feature for feature in row if feature[0] == "character" and feature not in kept]:
                del row[feature]

    def weights(self, selected: Sequence[int]) -> Vector:
        """The weight of each text: shared out among those of its kind, 0 if it isn't selected."""
        of_kind = Counter(self.samples[index].kind for index in selected)
        weights = np.zeros(len(self.samples))
        weights[list(selected)] = [
            weight_of(self.samples[index].kind) / of_kind[self.samples[index].kind] for index in selected
        ]
        return weights / weights.sum()

    def solve(self, selected: Sequence[int]) -> Mapping[Feature, float]:
        """Fit the coefficients to the selected texts."""
        of_text = self.weights(selected)
        of_unit = self._in_texts.transposed_times(of_text)
        of_unit = of_unit / of_unit.sum() + self._prior
        free = np.ones(len(self.units))
        solution = np.zeros(len(self.features))
        target = self._to_fit
        for round_ in range(ROUNDS):
            if round_:
                price = self._of_units.times(solution) + self._fixed
                free = 1.0 - ((price < self._at_least) & (self._to_fit + self._fixed <= self._at_least))

            def apply(vector: Vector, free: Vector = free) -> Vector:
                prices = free * self._of_units.times(vector)
                whole = self._in_texts.transposed_times(of_text * self._in_texts.times(prices))
                return (
                    self._of_units.transposed_times(free * (of_unit * prices + WHOLE_TEXT_WEIGHT * whole))
                    + RIDGE * vector
                )

            whole_target = of_text * (self._in_texts.times(free * target) + self._left_over)
            right = self._of_units.transposed_times(
                free * (of_unit * target + WHOLE_TEXT_WEIGHT * self._in_texts.transposed_times(whole_target))
            )
            scale = _sums(
                self._of_units.columns, (free * of_unit)[self._of_units.rows] * self._of_units.values**2, len(solution)
            )
            solution += (_conjugate_gradients(apply, right, solution, scale * 4 + RIDGE) - solution) * max(
                LEAST_STEP, DAMPING**round_
            )
        return {feature: float(solution[index]) for feature, index in self.features.items()}

    def errors(self, price: Callable[[str], float]) -> Vector:
        """Each text's relative error, (estimated - true) / true, with the given price of pieces."""
        prices = np.array([sum(map(price, cut(unit))) for unit in self.units])
        return self._in_texts.times(prices) - 1.0


def units(text: str) -> Iterator[str]:
    """The pieces of `text`, but with CJK pieces that touch each other joined."""
    if text.isascii():
        yield from cut(text)
        return
    run = ""
    for piece in cut(text):
        if block_of(piece[0]) in CJK_BLOCKS:
            run += piece
            continue
        if run:
            yield run
            run = ""
        yield piece
    if run:
        yield run


def weight_of(kind: str) -> float:
    """How much a kind of text matters, all its texts together."""
    if kind.startswith(CONVERSATIONS):
        return CONVERSATION_WEIGHT
    return RARE_KIND_WEIGHT if kind.startswith(RARE_KINDS) else KIND_WEIGHTS.get(kind, 1.0)


def _characters_of_each_block() -> Iterator[str]:
    """Some assigned characters of each block, so that no coefficient is without evidence."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    ends = [start for start, _ in BLOCKS[1:]] + [0x30000]
    for (start, name), end in zip(BLOCKS, ends, strict=True):
        if name not in CJK_BLOCKS:
            found[name] += [
                chr(point)
                for point in range(max(start, 0xA0), end)
                if unicodedata.category(chr(point)) not in ("Cn", "Cs", "Cc")
            ]
    for characters in found.values():
        yield from characters[:: len(characters) // _CHARACTERS_OF_A_BLOCK + 1]


def _sums(places: Indexes, values: Vector, size: int) -> Vector:
    """The sum of `values` at each place."""
    return cast("Vector", np.bincount(places, values, size))  # with weights it is never of integers


def _sparse(rows: Sequence[Mapping[int, float]], width: int) -> Sparse:
    lengths = [len(row) for row in rows]
    columns = np.fromiter((column for row in rows for column in row), np.int64, sum(lengths))
    values = np.fromiter((value for row in rows for value in row.values()), float, sum(lengths))
    return Sparse(np.repeat(np.arange(len(rows)), lengths), columns, values, (len(rows), width))


def _conjugate_gradients(apply: Callable[[Vector], Vector], right: Vector, start: Vector, scale: Vector) -> Vector:
    solution = start
    residual = right - apply(solution)
    scaled = residual / scale
    direction = scaled.copy()
    size = float(residual @ scaled)
    for _ in range(STEPS):
        image = apply(direction)
        step = size / float(direction @ image)
        solution = solution + step * direction
        residual = residual - step * image
        scaled = residual / scale
        size, former = float(residual @ scaled), size
        direction = scaled + size / former * direction
    return solution
