"""Logs for tests of the pure engine: a `Book` writes entries as sessions do, and keeps the history that folds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from gemini_companion.engine.compression.strategies.registry import STRATEGIES
from gemini_companion.engine.compression.truncate import trim_outputs
from gemini_companion.engine.compression.types import LogState, Plan, Trim, ViewChange
from gemini_companion.engine.compression.undo import plan_undo
from gemini_companion.engine.history.constraint import Constraint, ConstraintState, digest_of
from gemini_companion.engine.history.content import Content, Part, user_text
from gemini_companion.engine.history.entries import Entries
from gemini_companion.engine.history.entry import Cut
from gemini_companion.engine.history.item import Item, Measure
from gemini_companion.engine.history.log import (
    CompressionEntry,
    CompressionResult,
    ConstraintEntry,
    Entry,
    IdeContextEntry,
    MaskEntry,
    PinEntry,
    PreviewEntry,
    PromptEntry,
    ReplyEntry,
    ResumeEntry,
    ToolResultEntry,
    TurnEndEntry,
    TurnOutcome,
    UndoEntry,
    UnpinEntry,
)
from gemini_companion.engine.history.tool_entries import Repeat, SteerEntry
from gemini_companion.engine.history.verdict import StrategyName
from gemini_companion.engine.history.view import History
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.engine.tokens.limits import DEFAULT_TOKEN_LIMIT

E = TypeVar("E", bound=Entry)

SNAPSHOT = "<state_snapshot>\n<overall_goal>Mend the parser.</overall_goal>\n</state_snapshot>"


class QuarterCounter:
    """A token for every four characters."""

    def count_text(self, text: str) -> float:
        return len(text) / 4


LEDGER = TokenLedger(QuarterCounter())


def call(name: str = "run", call_id: str | None = None, **args: Any) -> Part:
    body: dict[str, Any] = {"name": name, "args": args}
    return {"functionCall": body if call_id is None else {"id": call_id, **body}}


def result(name: str = "run", call_id: str | None = None, output: Any = "ok", **more: Any) -> Part:
    body: dict[str, Any] = {"name": name, "response": {"output": output}, **more}
    return {"functionResponse": body if call_id is None else {"id": call_id, **body}}


def model(*parts: Part) -> Content:
    return Content(role="model", parts=parts)


def user(*parts: Part) -> Content:
    return Content(role="user", parts=parts)


def outcome_of(status: str, before: int = 100, after: int = 50, **more: Any) -> CompressionResult:
    fields: dict[str, Any] = {
        "status": status,
        "trigger": "manual",
        "original_token_count": before,
        "new_token_count": after,
        "token_count_source": "estimate",
        "model_calls": 2,
        "duration_ms": 1,
        "message": "",
    }
    return CompressionResult(**{**fields, **more})


def item_of(content: Content, seq: int, kind: Any = "prompt", compression_id: str | None = None) -> Item:
    """An item by itself, measured."""
    return Item(
        content, seq=seq, entry_id=f"e{seq}", kind=kind, measure=LEDGER.measure(content), compression_id=compression_id
    )


class Book:
    """A log under way. `budget` (tokens) and `limit` (characters) are those of tool outputs, `window` the model's."""

    def __init__(
        self,
        *,
        budget: int = 50_000,
        limit: int = 40_000,
        window: int = DEFAULT_TOKEN_LIMIT,
        measure: Callable[[Content], Measure] = LEDGER.measure,
    ) -> None:
        self.history = History(measure)
        self.budget = budget
        self.limit = limit
        self.window = window
        self.turn = ""
        self.strategy: StrategyName = "split"
        self.reach: tuple[int, int] | None = None
        """What the next plan is asked to hide."""

    @property
    def entries(self) -> Entries[Entry]:
        return self.history.entries

    @property
    def view(self) -> list[Content]:
        """The curated view with open calls filled, IDE entries aside."""
        return [item.content for item in self.history.curated(close=True) if item.kind != "ide"]

    @property
    def results_shown(self) -> list[tuple[int, int]]:
        """The results in the view: numbers of their entries and parts."""
        items = [item for item in self.history.items if item.kind == "toolResult"]
        return [
            (item.seq, number)
            for item in items
            for number, part in enumerate(item.original.parts)
            if "functionResponse" in part
        ]

    def add(self, kind: type[E], /, **fields: Any) -> E:
        seq = self.history.version + 1
        entry = kind(id=f"e{seq}", seq=seq, time=seq, **fields)
        self.history.apply(entry)
        return entry

    # --- turns

    def prompt(self, *parts: Part | str, client: str = "editor") -> PromptEntry:
        """Begin a turn."""
        if not self.turn:
            self.begin()
        return self.add(PromptEntry, turn_id=self.turn, content=user(*_parts(parts)), client=client)

    def begin(self) -> None:
        self.turn = f"t{self.history.version + 1}"

    def reply(self, *parts: Part | str) -> ReplyEntry:
        return self.add(ReplyEntry, turn_id=self.turn, content=model(*_parts(parts)))

    def results(self, *parts: Part | str) -> ToolResultEntry:
        return self.add(ToolResultEntry, turn_id=self.turn, content=user(*_parts(parts)))

    def steer(self, text: str) -> SteerEntry:
        return self.add(SteerEntry, turn_id=self.turn, content=user({"text": text}))

    def ide(self, text: str = "[editor]", *, epoch: int | None = None) -> IdeContextEntry:
        if not self.turn:
            self.begin()
        epoch = self.history.epoch if epoch is None else epoch
        return self.add(
            IdeContextEntry, turn_id=self.turn, content=user_text(text), kind="full", client="editor", epoch=epoch
        )

    def end(self, outcome: TurnOutcome = "completed", *, kept_to: int | None = None) -> TurnEndEntry:
        kept_to = (self.history.version if outcome == "completed" else 0) if kept_to is None else kept_to
        ended = self.add(TurnEndEntry, turn_id=self.turn, outcome=outcome, kept_to=kept_to)
        self.turn = ""
        return ended

    def say(self, prompt: str, answer: str) -> None:
        """A whole turn without tools."""
        self.prompt(prompt)
        self.reply(answer)
        self.end()

    def anew(self, prompt: str, answer: str | None, *, between: Callable[[], object] = lambda: None) -> None:
        """Ask the newest turn's prompt anew; without an answer the turn fails. `between` happens before the prompt is
        written.
        """
        replaced = self.history.newest_turn or ""
        self.history.exclude(replaced)
        between()
        self.prompt(prompt)
        if answer is None:
            self.history.restore()
            self.end("failed")
            return
        self.reply(answer)
        self.end()
        self.add(TurnEndEntry, turn_id=replaced, outcome="replaced")

    def round(self, number: int, output: str = "ok", name: str = "run") -> None:
        """A call and its result."""
        self.reply(call(name, f"c{number}", number=number))
        self.results(result(name, f"c{number}", output))

    # --- changes of the view

    def trim(self) -> Trim:
        return trim_outputs(
            self.history.curated(),
            measure=self.history.measure,
            count_text=LEDGER.count_text,
            tag=f"tag{self.history.version}",
            path_of=lambda name: f"/private/{name}",
            limit=self.limit,
            budget=self.budget,
        )

    def plan(self) -> Plan | None:
        history = self.history
        log = LogState(
            history.version,
            tuple(history.in_force.values()),
            history.excluded_from,
            reach=self.reach,
            limit=self.window,
        )
        return STRATEGIES[self.strategy]().plan(self.trim(), log)

    def compression(self, plan: Plan, snapshot: str = SNAPSHOT) -> CompressionEntry:
        """The entry that would install `plan`, without a sequence number."""
        compression_id = f"c{self.history.version + 1}"
        strategy = STRATEGIES[self.strategy]()
        change = strategy.conclude(plan, strategy.finish(plan, snapshot))
        return change.entry(id="draft", time=0, compression_id=compression_id, result=outcome_of("COMPRESSED"))

    def install(self, entry: CompressionEntry) -> CompressionEntry:
        seq = self.history.version + 1
        entry = msgspec.structs.replace(entry, id=f"e{seq}", seq=seq, time=seq)
        self.history.apply(entry)
        return entry

    def compress(self, snapshot: str = SNAPSHOT) -> CompressionEntry | None:
        plan = self.plan()
        return None if plan is None else self.install(self.compression(plan, snapshot))

    def truncate(self) -> CompressionEntry | None:
        trim = self.trim()
        if not trim.cuts:
            return None
        compression_id, result = f"c{self.history.version + 1}", outcome_of("CONTENT_TRUNCATED")
        change = ViewChange(cuts=trim.cuts)
        return self.install(change.entry(id="draft", time=0, compression_id=compression_id, result=result))

    def mask(self, *places: tuple[int, int]) -> MaskEntry:
        """Mask these parts, numbers of entries and of parts."""
        cuts = tuple(
            Cut(seq=seq, part=part, output=f"[masked {seq}-{part}]", path="", tokens_saved=1) for seq, part in places
        )
        return self.add(MaskEntry, cuts=cuts)

    def repeat(self, of: tuple[int, int], *places: tuple[int, int]) -> MaskEntry:
        """Say that these parts repeat another."""
        repeats = tuple(
            Repeat(seq=seq, part=part, of_seq=of[0], of_part=of[1], output=f"[as {of[0]}-{of[1]}]", tokens_saved=1)
            for seq, part in places
        )
        return self.add(MaskEntry, cuts=(), repeats=repeats)

    def undo(self, compression_id: str | None = None) -> UndoEntry:
        undone = plan_undo(self.history, compression_id)
        return self.add(UndoEntry, undone=undone, result=outcome_of("UNDONE", compression_id=undone[-1], undone=undone))

    def preview(self, snapshot: str = SNAPSHOT) -> PreviewEntry | None:
        plan = self.plan()
        if plan is None:
            return None
        compression = self.compression(plan, snapshot)
        compression = msgspec.structs.replace(compression, preview_id=compression.compression_id)
        return self.add(
            PreviewEntry, compression_id=compression.compression_id, compression=compression, base_seq=plan.base_version
        )

    def pin(self, text: str) -> PinEntry:
        return self.add(PinEntry, pin_id=f"p{self.history.version + 1}", text=text)

    def unpin(self, pin_id: str) -> UnpinEntry:
        return self.add(UnpinEntry, pin_id=pin_id)

    def rule(self, text: str, state: ConstraintState = "inForce", **fields: Any) -> ConstraintEntry:
        """A rule that was set by hand, or with `by_turn` one that stands in that turn's prompt."""
        by_turn = fields.pop("by_turn", None)
        known = {
            "constraint_id": f"r{self.history.version + 1}",
            "scope": "session",
            "created_at": 0,
            "turn_id": by_turn,
        }
        fields = {**known, "source": "prompt" if by_turn else "client", **fields}
        return self.add(
            ConstraintEntry,
            constraint=Constraint(text=text, state=state, **fields),
            digest=digest_of(text),
            by_turn=by_turn,
        )

    def release(self, constraint_id: str) -> None:
        """Take a rule out of force, if there is one of this id."""
        one = self.history.constraints.get(constraint_id)
        if one is not None:
            released = msgspec.structs.replace(one, state="released")
            self.add(ConstraintEntry, constraint=released, digest=digest_of(one.text))

    def resume(self) -> ResumeEntry:
        return self.add(ResumeEntry)


def agent_run(
    book: Book, rounds: int, *, prompt: str = "Mend src/parser.py; never touch legacy/.", output: str = "line\n" * 40
) -> PromptEntry:
    """An agent's run under way: one prompt and many tool rounds."""
    first = book.prompt(prompt)
    for number in range(rounds):
        book.round(number, output)
    return first


def _parts(parts: Iterable[Part | str]) -> tuple[Part, ...]:
    return tuple({"text": part} if isinstance(part, str) else part for part in parts)
