/** Which key does what in the composer, in a queued prompt's editor, and anywhere on the page. Pure: no DOM is touched. */

/** What the map reads of a `KeyboardEvent`. */
export interface KeyPress {
  readonly key: string;
  /** 229 while an input method composes, even where `isComposing` is not set. */
  readonly keyCode: number;
  readonly isComposing: boolean;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** Whether the key belongs to an input method: Enter then takes a proposal, Esc gives it up. */
export function isComposing(press: Pick<KeyPress, "isComposing" | "keyCode">): boolean {
  return press.isComposing || press.keyCode === 229;
}

export interface ComposerSituation {
  readonly sendWith: "enter" | "ctrlEnter";
  /** A list of files or commands with at least one entry is open. */
  readonly listOpen: boolean;
  /** A turn or a compression runs. */
  readonly running: boolean;
  /** A turn runs that a prompt can be sent into. */
  readonly canSteer: boolean;
  /** ↑ would leave the text and go to an older prompt. */
  readonly historyUp: boolean;
  /** A prompt of the history is shown and the caret is in its last line. */
  readonly historyDown: boolean;
  readonly hasQueue: boolean;
}

export type ComposerCommand =
  | "send"
  | "steer"
  | "newLine"
  | "stop"
  | "older"
  | "newer"
  | "editQueued"
  | "newestMessage"
  | "listNext"
  | "listPrevious"
  | "listAccept"
  | "listClose";

/** The command of a key in the composer; undefined leaves the key to the text area. */
export function composerCommand(press: KeyPress, situation: ComposerSituation): ComposerCommand | undefined {
  if (isComposing(press)) return undefined;
  const plain = !press.shiftKey && !press.ctrlKey && !press.metaKey && !press.altKey;
  if (situation.listOpen && plain) {
    const inList = listCommand(press.key);
    if (inList !== undefined) return inList;
  }
  switch (press.key) {
    case "Enter":
      return isSteering(press, situation) ? "steer" : enterCommand(press, situation.sendWith);
    case "Escape":
      return plain && situation.running ? "stop" : undefined;
    case "ArrowUp":
      if (onlyAlt(press)) return situation.hasQueue ? "editQueued" : undefined;
      return plain && situation.historyUp ? "older" : undefined;
    case "ArrowDown":
      return plain && situation.historyDown ? "newer" : undefined;
    case "Tab":
      return press.shiftKey && !press.ctrlKey && !press.metaKey && !press.altKey ? "newestMessage" : undefined;
    default:
      return undefined;
  }
}

function listCommand(key: string): ComposerCommand | undefined {
  switch (key) {
    case "ArrowDown":
      return "listNext";
    case "ArrowUp":
      return "listPrevious";
    case "Enter":
    case "Tab":
      return "listAccept";
    case "Escape":
      return "listClose";
    default:
      return undefined;
  }
}

/** Enter sends and Shift+Enter breaks the line, or Ctrl+Enter (⌘ on a Mac) sends and Enter breaks it; the text area breaks lines itself. */
function enterCommand(press: KeyPress, sendWith: "enter" | "ctrlEnter"): "send" | "newLine" | undefined {
  if (press.altKey) return undefined;
  const withControl = press.ctrlKey || press.metaKey;
  if (sendWith === "ctrlEnter") return withControl && !press.shiftKey ? "send" : undefined;
  if (press.shiftKey) return undefined;
  // A text area does nothing on Ctrl+Enter; people who come from the other setting expect a new line, never a lost key.
  return withControl ? "newLine" : "send";
}

/** Ctrl+Enter (⌘ on a Mac) goes into the turn that runs; with Shift too where Ctrl+Enter is the key that sends. */
function isSteering(press: KeyPress, { canSteer, sendWith }: ComposerSituation): boolean {
  const withControl = (press.ctrlKey || press.metaKey) && !press.altKey;
  return canSteer && withControl && press.shiftKey === (sendWith === "ctrlEnter");
}

function onlyAlt(press: KeyPress): boolean {
  return press.altKey && !press.shiftKey && !press.ctrlKey && !press.metaKey;
}

export type QueueEditCommand = "save" | "cancel" | "previous" | "leave";

/** The command of a key in the editor of a queued prompt: it is saved with the key that sends, left with Alt+↓, given up with Esc. */
export function queueEditCommand(press: KeyPress, sendWith: "enter" | "ctrlEnter"): QueueEditCommand | undefined {
  if (isComposing(press)) return undefined;
  if (press.key === "Escape") return "cancel";
  if (onlyAlt(press) && press.key === "ArrowDown") return "leave";
  if (onlyAlt(press) && press.key === "ArrowUp") return "previous";
  return press.key === "Enter" && enterCommand(press, sendWith) === "send" ? "save" : undefined;
}

/** Ctrl+F, or ⌘F on a Mac, and nothing else held. */
export function isFindKey(press: KeyPress, platform: "mac" | "other"): boolean {
  const control = platform === "mac" ? press.metaKey && !press.ctrlKey : press.ctrlKey && !press.metaKey;
  return control && !press.shiftKey && !press.altKey && press.key.toLowerCase() === "f";
}

/** Where arrows, Home and End lead among `count` entries; undefined for any other key or if there is nowhere to go. */
export function rovingIndex(key: string, index: number, count: number): number | undefined {
  if (count === 0) return undefined;
  switch (key) {
    case "ArrowDown":
      return (index + 1) % count;
    case "ArrowUp":
      return (index - 1 + count) % count;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}
