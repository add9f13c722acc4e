/** Editing a prompt that waits, while the queue goes on moving under the editor. */
import type { Picture } from "../../src/panel/pictures.js";
import type { QueuedPrompt } from "../../src/panel/contract.js";

export interface QueueEdit {
  readonly id: string;
  /** As it was when the editor opened. */
  readonly original: string;
  /** As it stands in the editor. */
  readonly text: string;
  readonly pictures?: readonly Picture[];
}

export function beginEdit(prompt: QueuedPrompt): QueueEdit {
  const { id, text, pictures = [] } = prompt;
  return { id, original: text, text, ...(pictures.length > 0 ? { pictures } : {}) };
}

/** The prompt before the one that is edited, or the last one if none is; undefined at the first. */
export function previousPrompt(queue: readonly QueuedPrompt[], edit: QueueEdit | undefined): QueuedPrompt | undefined {
  if (edit === undefined) return queue.at(-1);
  const at = queue.findIndex(({ id }) => id === edit.id);
  return at > 0 ? queue[at - 1] : undefined;
}

/** What saving means: `nothing` if the text is blank or as it was, for neither is worth a message. */
export function savedText(edit: QueueEdit): string | undefined {
  const text = edit.text.trim();
  return text === "" || text === edit.original ? undefined : text;
}

export interface Reconciled {
  readonly edit: QueueEdit | undefined;
  /** Text that was changed but whose prompt went off before it was saved: it must not be lost. */
  readonly rescued?: string;
}

/** What becomes of the edit when the queue changes. */
export function reconcileEdit(edit: QueueEdit | undefined, queue: readonly QueuedPrompt[]): Reconciled {
  if (edit === undefined || queue.some(({ id }) => id === edit.id)) return { edit };
  const rescued = savedText(edit);
  return rescued === undefined ? { edit: undefined } : { edit: undefined, rescued };
}

/** The draft with a rescued text behind it. */
export function withRescued(draft: string, rescued: string): string {
  return draft.trim() === "" ? rescued : `${draft.trimEnd()}\n\n${rescued}`;
}
