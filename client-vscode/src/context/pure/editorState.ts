/** What is open in the editor, as it is reported to the daemon. Which of it goes to a model is the daemon's decision. */
import type { IdeContextParams, OpenFileReport, Range, VisibleRange } from "../../protocol.gen.js";
import type { ReportedFile } from "../port.js";

/**
 * Most UTF-16 units of a selection that are reported: more than the daemon sends of any, so that it knows when it cuts one. What it has
 * open it reads itself.
 */
export const MAX_SELECTED = 4 * 16_384;
/** Longest text of an untitled document or a cell that is reported, UTF-16 units; of a longer one it is said that it does not go along. */
export const LONGEST_OWN_TEXT = 400_000;
/** Most files that may be taken out; the oldest is forgotten. */
const MAX_EXCLUDED = 1_000;

/** One look at the editor. */
export interface EditorReading {
  /** URIs of the files, notebooks and untitled texts with a tab, each once. */
  readonly tabs: readonly string[];
  /** The file whose tab is the active one. */
  readonly active?: string;
  /** What the text editors show that are in sight; one per file, the focused one if a file is shown twice. */
  readonly shown: readonly ShownFile[];
  /** The texts of untitled documents with a tab, by their URIs. */
  readonly untitled?: ReadonlyMap<string, string>;
  readonly isTrusted: boolean;
}

export interface ShownFile {
  readonly uri: string;
  readonly cursor: Range["start"];
  /** Absent if nothing is selected. */
  readonly selection?: Range;
  /** At most a little more than `MAX_SELECTED`; absent if nothing is selected. */
  readonly selectedText?: string;
  readonly visible?: Range;
  /** Of a notebook the cell that is worked in, from 1; cursor and selection are in it. */
  readonly cell?: { readonly number: number; readonly text: string };
}

export interface EditorState {
  readonly reading: EditorReading;
  /** When a file last became the active one, Unix milliseconds; of files with a tab only. */
  readonly focusedAt: ReadonlyMap<string, number>;
  /** Taken out by the person, oldest first. A file stays so when it is closed and opened again. */
  readonly excluded: readonly string[];
}

export const NOTHING_OPEN: EditorState = {
  reading: { tabs: [], shown: [], isTrusted: false },
  focusedAt: new Map(),
  excluded: [],
};

/**
 * The state after another look.
 *
 * @param now Unix milliseconds
 */
export function withReading(state: EditorState, reading: EditorReading, now: number): EditorState {
  const focusedAt = new Map<string, number>();
  for (const uri of reading.tabs) focusedAt.set(uri, state.focusedAt.get(uri) ?? 0);
  const newest = Math.max(0, ...focusedAt.values());
  // At the first look the files in sight are the newest that is known. Times rise strictly, also when the clock does not.
  for (const { uri } of reading.shown) if (focusedAt.get(uri) === 0) focusedAt.set(uri, Math.max(1, now - 1));
  const { active } = reading;
  if (
    active !== undefined &&
    focusedAt.has(active) &&
    (active !== state.reading.active || focusedAt.get(active) === 0)
  ) {
    focusedAt.set(active, Math.max(now, newest + 1));
  }
  return { ...state, reading, focusedAt };
}

export function withIncluded(state: EditorState, uri: string, included: boolean): EditorState {
  const others = state.excluded.filter((other) => other !== uri);
  return { ...state, excluded: included ? others : [...others, uri].slice(-MAX_EXCLUDED) };
}

export function withExcluded(state: EditorState, uris: readonly string[]): EditorState {
  return { ...state, excluded: [...new Set(uris)].slice(-MAX_EXCLUDED) };
}

/** The files for the composer's chips, the last focused first. */
export function filesOf(state: EditorState): ReportedFile[] {
  const { reading, excluded } = state;
  return byFocus(state).map((uri) => {
    const selection = reading.shown.find((shown) => shown.uri === uri)?.selection;
    const lines = selection === undefined ? undefined : selectedLines(selection);
    return {
      uri,
      isActive: uri === reading.active,
      included: !excluded.includes(uri),
      ...(lines === undefined ? {} : { selectedLines: lines }),
    };
  });
}

/** The notice for the daemon. Of a file that was taken out it says only that. */
export function noticeOf(state: EditorState): IdeContextParams {
  const { reading, excluded, focusedAt } = state;
  const shown = new Map(reading.shown.map((file) => [file.uri, file]));
  const openFiles = byFocus(state).map((uri): OpenFileReport => {
    const isOut = excluded.includes(uri);
    const file = isOut ? undefined : shown.get(uri);
    const text = isOut ? undefined : (file?.cell?.text ?? reading.untitled?.get(uri));
    const base = {
      uri,
      lastFocusedAt: focusedAt.get(uri) ?? 0,
      isActive: uri === reading.active,
      ...(text === undefined ? {} : { text }),
      ...(text === undefined || file?.cell === undefined ? {} : { cell: file.cell.number }),
    };
    if (file === undefined) return base;
    const { cursor, selection, selectedText } = file;
    if (selection === undefined) return { ...base, cursor };
    return { ...base, cursor, selection, ...(selectedText === undefined ? {} : { selectedText: cut(selectedText) }) };
  });
  const visibleRanges = reading.shown.flatMap(({ uri, visible }): VisibleRange[] =>
    visible === undefined || excluded.includes(uri) ? [] : [{ uri, range: visible }],
  );
  return { openFiles, isTrusted: reading.isTrusted, visibleRanges, ...(excluded.length === 0 ? {} : { excluded }) };
}

function byFocus({ reading, focusedAt }: EditorState): string[] {
  return [...reading.tabs].sort((one, other) => (focusedAt.get(other) ?? 0) - (focusedAt.get(one) ?? 0));
}

/** The lines that hold something selected: an end at the beginning of a line leaves that line out. */
function selectedLines({ start, end }: Range): readonly [number, number] {
  return [start.line, end.character === 0 && end.line > start.line ? end.line - 1 : end.line];
}

/** The first part of a text, never half a character. */
function cut(text: string): string {
  if (text.length <= MAX_SELECTED) return text;
  const isHalved = /[\uD800-\uDBFF]/.test(text.charAt(MAX_SELECTED - 1));
  return text.slice(0, isHalved ? MAX_SELECTED - 1 : MAX_SELECTED);
}
