import { markBidiControls } from "./bidi.js";
import { sanitiseHighlighted } from "./sanitise.js";

/** Longer code stays plain, characters. */
const LONGEST = 30_000;

let languages: Promise<typeof import("./languages.js")> | undefined;

/**
 * Colours the words of a block of code, once it is whole. Its nodes are replaced, so it waits while a selection reaches into it. Resolves
 * when that is done or there is nothing to do; never rejects, since code without colours is code all the same.
 */
export async function highlight(code: HTMLElement, language: string): Promise<void> {
  const text = code.textContent;
  if (language === "" || text.length > LONGEST || text.trim() === "") return;
  try {
    languages ??= import("./languages.js");
    const markup = (await languages).highlightedMarkup(text, language);
    if (markup === undefined) return;
    await unselected(code);
    // The block can have been taken over by another text meanwhile.
    if (code.textContent !== text) return;
    const nodes = sanitiseHighlighted(markup);
    if (nodes.textContent !== text) return;
    markBidiControls(nodes);
    code.replaceChildren(nodes);
  } catch {
    languages = undefined;
  }
}

function unselected(node: Node): Promise<void> {
  const selected = (): boolean => {
    const selection = document.getSelection();
    return selection !== null && !selection.isCollapsed && selection.containsNode(node, true);
  };
  if (!selected()) return Promise.resolve();
  return new Promise((resolve) => {
    const look = (): void => {
      if (selected()) return;
      document.removeEventListener("selectionchange", look);
      resolve();
    };
    document.addEventListener("selectionchange", look);
  });
}
