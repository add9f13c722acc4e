/** What the composer does with long texts: they come as attachments, and their markers are passed, copied and deleted as one. */
import type { RefObject } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { LONGEST_TEXT } from "../../src/panel/limits.js";
import { isLongPaste } from "../../src/panel/written.js";
import { t } from "../strings.js";
import { refuseLong } from "./actions.js";
import { carriesBytes, carriesFiles } from "./drop.js";
import { isComposing } from "./keymap.js";
import { formatBytes } from "./numbers.js";
import { attachFiles } from "./pictures.js";
import { besideMarker, markerDeletion, type Paste, type Span } from "./pastes.js";
import { useShell, type Shell } from "./shell.js";
import { replaceText } from "./textEdit.js";

type AreaEvent<E> = E & { readonly currentTarget: HTMLTextAreaElement };

export interface Pasting {
  readonly onPaste: (event: AreaEvent<ClipboardEvent>) => void;
  readonly onCopy: (event: AreaEvent<ClipboardEvent>) => void;
  readonly onCut: (event: AreaEvent<ClipboardEvent>) => void;
  readonly onDrop: (event: AreaEvent<DragEvent>) => void;
  /** The selection may have come into a marker. A browser tells of that a frame late: keys ask for it themselves. */
  readonly keepOutOfMarkers: () => void;
  /** A word or a line is to be deleted, a text was dropped: a marker goes as a whole, and nothing gets into it. */
  readonly onBeforeInput: (event: InputEvent) => void;
  /** True if the key is taken. */
  readonly onKeyDown: (event: AreaEvent<KeyboardEvent>) => boolean;
  /** Puts a text in the place of the selection, a long one as an attachment. */
  readonly put: (text: string) => void;
  /** Puts its text in the place of its marker. */
  readonly insertAsText: (paste: Paste) => void;
  readonly remove: (paste: Paste) => void;
}

/** What a text area makes of a text: its lines end with a line feed. */
function asTyped(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** `1,200 lines · 174 kB` */
export function sizeText({ lines, bytes }: Paste, locale: string): string {
  return `${lines} · ${formatBytes(bytes, locale)}`;
}

export function usePasting(area: RefObject<HTMLTextAreaElement | null>): Pasting {
  const shell = useShell();
  const pasting = useMemo(() => pastingInto(shell, area), [shell]);
  useEffect(() => {
    document.addEventListener("selectionchange", pasting.keepOutOfMarkers);
    document.addEventListener("beforeinput", pasting.onBeforeInput);
    return () => {
      document.removeEventListener("selectionchange", pasting.keepOutOfMarkers);
      document.removeEventListener("beforeinput", pasting.onBeforeInput);
    };
  }, [pasting]);
  return pasting;
}

/** Moves the ends of the selection out of markers. Returns where the end that moves is. */
function keepOutOfMarkers(shell: Shell, area: HTMLTextAreaElement, before: number): number {
  const { selectionStart: start, selectionEnd: end, selectionDirection: direction } = area;
  const placed = shell.pastes.placed(area.value);
  const backward = direction === "backward";
  const moving = besideMarker(placed, backward ? start : end, before);
  const other = start === end ? moving : besideMarker(placed, backward ? end : start, backward ? end : start);
  const [from, to] = moving < other ? [moving, other] : [other, moving];
  if (from !== start || to !== end) area.setSelectionRange(from, to, direction);
  return moving;
}

/** By what part of a deletion's name: how far it reaches, where it is not one character. */
const REACHES = [
  ["Word", "word"],
  ["SoftLine", "lineboundary"],
  ["HardLine", "paragraphboundary"],
] as const;

/** What of the text a deletion at the caret takes. Only the browser knows where its words and lines end. */
function reachOf(inputType: string, area: HTMLTextAreaElement): Span | undefined {
  const reach = REACHES.find(([name]) => inputType === `delete${name}Backward` || inputType === `delete${name}Forward`);
  const caret = area.selectionStart;
  const selection = area.ownerDocument.getSelection();
  if (reach === undefined || selection === null) return undefined;
  selection.modify("extend", inputType.endsWith("Forward") ? "forward" : "backward", reach[1]);
  const taken = { start: area.selectionStart, end: area.selectionEnd };
  area.setSelectionRange(caret, caret);
  return taken;
}

function pastingInto(shell: Shell, area: RefObject<HTMLTextAreaElement | null>): Pasting {
  const locale = () => shell.panel.peek()?.settings.locale ?? "en";
  const edit = (start: number, end: number, text: string) => {
    const element = area.current;
    if (element === null) return;
    replaceText(element, { start, end, text });
    shell.draft.value = element.value;
  };
  const put = (text: string) => {
    const element = area.current;
    if (element === null) return;
    const { selectionStart: start, selectionEnd: end, value } = element;
    if (!isLongPaste(text)) {
      edit(start, end, text);
      return;
    }
    if (shell.prompt.length + text.length > LONGEST_TEXT) {
      refuseLong(shell);
      return;
    }
    const paste = shell.pastes.add(text, value, locale());
    edit(start, end, paste.marker);
    shell.announce(t("Attached: {0}, {1}", paste.name, sizeText(paste, locale())));
  };
  const takeOver = (event: Event, text: string) => {
    event.preventDefault();
    put(text);
  };
  /** The selected text as it will be sent, if a marker is in it. */
  const copy = (event: AreaEvent<ClipboardEvent>): boolean => {
    const { value, selectionStart: start, selectionEnd: end } = event.currentTarget;
    const shown = value.slice(start, end);
    const full = shell.pastes.expanded(shown);
    if (full === shown || event.clipboardData === null) return false;
    event.preventDefault();
    event.clipboardData.setData("text/plain", full);
    return true;
  };
  const replacePlace = (paste: Paste, text: string) => {
    const element = area.current;
    const place = shell.pastes.placed(element?.value ?? "").find((one) => one.paste === paste);
    if (place !== undefined) edit(place.start, place.end, text);
  };
  let caret = 0;
  const keepOut = () => {
    const element = area.current;
    if (element !== null && document.activeElement === element) caret = keepOutOfMarkers(shell, element, caret);
  };
  return {
    put,
    keepOutOfMarkers: keepOut,
    onBeforeInput: (event) => {
      const element = area.current;
      if (element === null || event.target !== element || !event.cancelable) return;
      const { selectionStart: caret, selectionEnd, value } = element;
      const placed = shell.pastes.placed(value);
      if (placed.length === 0 || caret !== selectionEnd) return;
      const outside = besideMarker(placed, caret, -1);
      if (outside !== caret && event.data !== null) {
        event.preventDefault();
        edit(outside, outside, event.data);
        return;
      }
      const taken = reachOf(event.inputType, element);
      if (taken === undefined) return;
      const hit = placed.filter(({ start, end }) => start < taken.end && taken.start < end);
      if (hit.length === 0) return;
      event.preventDefault();
      const start = Math.min(taken.start, ...hit.map((one) => one.start));
      edit(start, Math.max(taken.end, ...hit.map((one) => one.end)), "");
    },
    onPaste: (event) => {
      const text = asTyped(event.clipboardData?.getData("text/plain") ?? "");
      if (isLongPaste(text)) takeOver(event, text);
      // A copy of text from a spreadsheet is a picture, too: that one is not missed.
      else if (text === "" && carriesBytes(event.clipboardData)) {
        event.preventDefault();
        void attachFiles(shell, [...(event.clipboardData?.files ?? [])]);
      }
    },
    onCopy: (event) => void copy(event),
    onCut: (event) => {
      const { selectionStart: start, selectionEnd: end } = event.currentTarget;
      if (copy(event)) edit(start, end, "");
    },
    onDrop: (event) => {
      if (carriesFiles(event.dataTransfer)) return;
      const text = asTyped(event.dataTransfer?.getData("text/plain") ?? "");
      if (!isLongPaste(text)) return;
      const element = event.currentTarget;
      const place = document.caretPositionFromPoint(event.clientX, event.clientY);
      if (place?.offsetNode === element) {
        const caret = besideMarker(shell.pastes.placed(element.value), place.offset, -1);
        element.setSelectionRange(caret, caret);
      }
      takeOver(event, text);
    },
    onKeyDown: (event) => {
      if (!isComposing(event)) keepOut();
      const { value, selectionStart: start, selectionEnd: end } = event.currentTarget;
      if (start !== end || isComposing(event)) return false;
      const deletion = markerDeletion(shell.pastes.placed(value), event.key, start);
      if (deletion === undefined) return false;
      event.preventDefault();
      edit(deletion.start, deletion.end, "");
      return true;
    },
    insertAsText: (paste) => {
      shell.pastes.unfold(paste);
      replacePlace(paste, paste.text);
      shell.announce(t("{0} is in the text now", paste.name));
    },
    remove: (paste) => {
      replacePlace(paste, "");
      shell.announce(t("{0} was taken out", paste.name));
    },
  };
}
