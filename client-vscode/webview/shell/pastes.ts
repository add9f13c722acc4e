/**
 * Long texts that were pasted. In the composer each is a marker of one line, `[Pasted text 1: 1,200 lines]`, which stands where the text
 * belongs; everywhere else (host, draft, history, what is sent) the prompt is plain text with the pasted texts in it, word for word.
 * No DOM is touched.
 */
import type { PastedRange } from "../../src/panel/contract.js";
import { fitting, lineCount } from "../../src/panel/written.js";
import { t } from "../strings.js";
import type { Replacement } from "./mention.js";
import { formatCount } from "./numbers.js";

/** Texts that are kept for undo and for prompts that come back, characters in all; what stands in the composer is kept whatever it takes. */
const MOST_KEPT = 16_000_000;

export interface Paste {
  /** `Pasted text 1` */
  readonly name: string;
  /** What stands for it in the composer. No two texts of a page ever have the same one, so that undo brings back what was there. */
  readonly marker: string;
  readonly text: string;
  /** `1,200 lines` */
  readonly lines: string;
  readonly bytes: number;
}

/** A marker in the composer's text, from `start` to before `end`. */
export interface PlacedPaste {
  readonly paste: Paste;
  readonly start: number;
  readonly end: number;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

export class Pastes {
  /** By marker, oldest first. */
  readonly #known = new Map<string, Paste>();
  /** Texts that the person wanted in the prompt itself: they are not folded again. */
  readonly #unfolded = new Set<string>();
  #lastNumber = 0;
  #expanded = { shown: "", full: "" };

  /** The attachment for a text that goes into the composer, where `shown` stands. */
  add(text: string, shown: string, locale: string): Paste {
    this.#unfolded.delete(text);
    for (const paste of this.#known.values()) if (paste.text === text && !shown.includes(paste.marker)) return paste;
    const paste = this.#made(text, shown, locale);
    this.#known.set(paste.marker, paste);
    this.#forgetOldest(shown);
    return paste;
  }

  /** Its text is put in its place: it stays known for undo, but the text is not folded again. */
  unfold({ text }: Paste): void {
    this.#unfolded.add(text);
  }

  /** The markers in the composer's text, in their order. */
  placed(shown: string): readonly PlacedPaste[] {
    const found: PlacedPaste[] = [];
    for (const paste of this.#known.values())
      for (const start of places(shown, paste.marker)) found.push({ paste, start, end: start + paste.marker.length });
    return found.sort((a, b) => a.start - b.start);
  }

  /** The prompt that the composer's text means. */
  expanded(shown: string): string {
    if (this.#expanded.shown !== shown) this.#expanded = { shown, full: this.#expand(shown) };
    return this.#expanded.full;
  }

  /** Where the pasted texts stand in the prompt. */
  ranges(shown: string): readonly PastedRange[] {
    let shift = 0;
    return this.placed(shown).map(({ paste, start, end }) => {
      const range = { start: start + shift, length: paste.text.length };
      shift += paste.text.length - (end - start);
      return range;
    });
  }

  /** What the composer shows for a prompt. Without ranges, the pasted texts that are known are looked for in it. */
  folded(full: string, ranges: readonly PastedRange[], locale: string): string {
    // What looks like a marker in it was written so: it means itself.
    for (const marker of this.#known.keys()) if (full.includes(marker)) this.#known.delete(marker);
    this.#expanded = { shown: "", full: "" };
    const found = ranges.length > 0 ? fitting(full, ranges) : this.#found(full);
    let shown = "";
    let at = 0;
    for (const { start, length } of found) {
      shown += full.slice(at, start);
      shown += this.add(full.slice(start, start + length), `${shown}\n${full}`, locale).marker;
      at = start + length;
    }
    return shown + full.slice(at);
  }

  #expand(shown: string): string {
    let full = "";
    let at = 0;
    for (const { paste, start, end } of this.placed(shown)) {
      full += shown.slice(at, start) + paste.text;
      at = end;
    }
    return full + shown.slice(at);
  }

  #found(full: string): readonly PastedRange[] {
    const found: PastedRange[] = [];
    const texts = new Set([...this.#known.values()].map(({ text }) => text));
    for (const text of [...texts].sort((a, b) => b.length - a.length)) {
      if (this.#unfolded.has(text)) continue;
      for (const start of places(full, text))
        if (found.every((other) => start + text.length <= other.start || other.start + other.length <= start))
          found.push({ start, length: text.length });
    }
    return found.sort((a, b) => a.start - b.start);
  }

  #made(text: string, shown: string, locale: string): Paste {
    const lines = linesText(text, locale);
    for (;;) {
      const name = t("Pasted text {0}", (this.#lastNumber += 1));
      const marker = `[${name}: ${lines}]`;
      if (shown.includes(marker) || text.includes(marker)) continue;
      return { name, marker, text, lines, bytes: new TextEncoder().encode(text).length };
    }
  }

  #forgetOldest(shown: string): void {
    const newest = [...this.#known.keys()].at(-1);
    let kept = [...this.#known.values()].reduce((sum, { text }) => sum + text.length, 0);
    for (const [marker, { text }] of this.#known) {
      if (kept <= MOST_KEPT) return;
      if (marker === newest || shown.includes(marker)) continue;
      this.#known.delete(marker);
      this.#unfolded.delete(text);
      kept -= text.length;
    }
  }
}

/** `1,200 lines` */
export function linesText(text: string, locale: string): string {
  const count = lineCount(text);
  return count === 1 ? t("1 line") : t("{0} lines", formatCount(count, locale));
}

/** Where `part` begins in `text`, without overlaps. */
function places(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) found.push(at);
  return found;
}

/** What Backspace or Delete takes away at the caret, if that is a marker: half of one would mean nothing. */
export function markerDeletion(placed: readonly PlacedPaste[], key: string, caret: number): Replacement | undefined {
  const isMeant = ({ start, end }: Span) =>
    key === "Backspace" ? start < caret && caret <= end : key === "Delete" && start <= caret && caret < end;
  const found = placed.find(isMeant);
  return found && { start: found.start, end: found.end, text: "" };
}

/** Where the caret goes that came into a marker from `before`: on over it, or to its nearer end. */
export function besideMarker(placed: readonly PlacedPaste[], caret: number, before: number): number {
  const inside = placed.find(({ start, end }) => start < caret && caret < end);
  if (inside === undefined) return caret;
  const { start, end } = inside;
  if (before === start) return end;
  if (before === end) return start;
  return caret - start < end - caret ? start : end;
}
