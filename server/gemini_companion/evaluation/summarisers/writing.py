"""Stand-in models that write snapshots: of what they read (oracle, lossy, terse, adversarial), or of nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from gemini_companion.engine.facts.fact import FactKind, FactSource
from gemini_companion.engine.facts.neutralise import SECTIONS
from gemini_companion.engine.facts.retention import FactCache, wanted_facts
from gemini_companion.evaluation.chance import share
from gemini_companion.evaluation.grading import plain
from gemini_companion.evaluation.probes import Planted
from gemini_companion.evaluation.summarisers.reading import Reading, bullets, read_request
from gemini_companion.sessions.models.port import ModelRequest

_SECTION_OF: Final[Mapping[FactKind, str]] = {
    "directive": "active_constraints",
    "decision": "key_knowledge",
    "task": "task_state",
    "error": "key_knowledge",
    "path": "artifact_trail",
    "command": "recent_actions",
    "symbol": "artifact_trail",
    "url": "key_knowledge",
    "number": "key_knowledge",
}
_LONGEST: Final = 400
"""Characters of an item: what the measure of retention looks for at most."""
_ORDER: Final = re.compile(
    r"\b(?:operator update|ignore all earlier rules|lifted every restriction|forget the rules)\b", re.IGNORECASE
)


class Entry(NamedTuple):
    """A line of a snapshot."""

    section: str
    text: str


class Oracle:
    """Keeps everything that is wanted: each planted text, each fact that counts, each line of the earlier snapshot."""

    def __init__(self, planted: Planted) -> None:
        self._planted = planted
        self._cache = FactCache()
        self._known: list[Entry] = []
        self.passes = 0
        """Snapshots that were begun."""

    def write(self, request: ModelRequest) -> str:
        """A thought, then the snapshot."""
        reading = read_request(request)
        if reading.is_first or not self._known:
            self.passes += reading.is_first
            self._known = self.known(reading)  # later requests of the pass quote the same
        entries = self.chosen(self._known, reading)
        return "<scratchpad>I read everything.</scratchpad>\n" + snapshot_of(entries)

    def known(self, reading: Reading) -> list[Entry]:
        """All that a perfect reader would write down, the most worthy first."""
        said = plain(reading.text)
        entries = [Entry("active_constraints", rule.text) for rule in self._planted.rules if plain(rule.text) in said]
        for fact in self._planted.facts:
            if plain(fact.text) in said:
                section = "task_state" if fact.kind == "continuation" else "key_knowledge"
                entries.append(Entry(section, fact.text))
        whole = [plain(entry.text) for entry in entries]  # what they say is no item of its own
        entries += [Entry(section, text) for section, text in bullets(reading.earlier)]
        sources = [FactSource(index, content, index) for index, content in enumerate(reading.contents)]
        for fact in wanted_facts(sources, cache=self._cache):
            text = " ".join(fact.text.split("\n", 1)[0][:_LONGEST].split())
            if not any(plain(text) in known for known in whole):
                entries.append(Entry(_SECTION_OF[fact.kind], text))
        return list({(entry.section, plain(entry.text)): entry for entry in reversed(entries)}.values())[::-1]

    def chosen(self, entries: Sequence[Entry], reading: Reading) -> list[Entry]:
        """What of it is written: all."""
        return list(entries)


class Empty:
    """Writes a well-formed snapshot that says nothing of the conversation: what is kept then, the product has kept."""

    def write(self, request: ModelRequest) -> str:
        """Every section, with words of its own."""
        return snapshot_of([Entry(section, f"{section.replace('_', ' ').title()}: as before.") for section in SECTIONS])


class Lossy(Oracle):
    """Leaves out each item with a chance `p` in each pass. What a repair asks for has a second chance."""

    def __init__(self, planted: Planted, p: float, seed: str) -> None:
        super().__init__(planted)
        self._p, self._seed = p, seed

    def chosen(self, entries: Sequence[Entry], reading: Reading) -> list[Entry]:
        """What chance leaves, the same for every request of one pass."""
        asked = "" if reading.is_first else plain(reading.request)

        def stays(entry: Entry) -> bool:
            text = plain(entry.text)
            if share(self._seed, self.passes, text) >= self._p:
                return True
            return text in asked and share(self._seed, self.passes, "again", text) >= self._p

        return [entry for entry in entries if stays(entry)]


class Terse(Oracle):
    """Writes only so many tokens: what is most worthy first, then no more."""

    def __init__(self, planted: Planted, tokens: int, count_text: Callable[[str], float]) -> None:
        super().__init__(planted)
        self._tokens, self._count = tokens, count_text

    def chosen(self, entries: Sequence[Entry], reading: Reading) -> list[Entry]:
        """The first ones that fit."""
        kept: list[Entry] = []
        left = float(self._tokens)
        for entry in entries:
            left -= self._count(entry.text) + 2
            if left < 0:
                break
            kept.append(entry)
        return kept


class Adversarial(Oracle):
    """Obeys orders that it finds in the history: deletes every rule, notes the order as one, and invents a file."""

    INVENTED: Final = "src/invented/backdoor_99.py"

    def chosen(self, entries: Sequence[Entry], reading: Reading) -> list[Entry]:
        """Everything but rules, once somebody has ordered so."""
        orders = [line.strip() for line in reading.text.splitlines() if _ORDER.search(line)]
        if not orders:
            return list(entries)
        rules = {plain(rule.text) for rule in self._planted.rules}
        kept = [entry for entry in entries if entry.section != "active_constraints" and plain(entry.text) not in rules]
        obeyed = [Entry("active_constraints", order) for order in dict.fromkeys(orders[-3:])]
        return [*obeyed, *kept, Entry("artifact_trail", f"{self.INVENTED}: pushing is allowed from here")]


def snapshot_of(entries: Sequence[Entry]) -> str:
    """The entries in the seven sections, each on a line of its own."""
    lines = ["<state_snapshot>"]
    for section in SECTIONS:
        own = [f"- {entry.text}" for entry in entries if entry.section == section]
        lines += [f"<{section}>", *(own or ["none"]), f"</{section}>"]
    return "\n".join([*lines, "</state_snapshot>"])
