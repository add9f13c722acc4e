/** The calls of tools at one place of an answer: a folded line for each, and one for neighbours that only looked. */
import type { ToolRow } from "../../../src/panel/contract.js";
import { exactText } from "../../../src/panel/exact.js";
import { TOOL_KINDS } from "../../../src/panel/tools.js";
import { element, setText } from "../element.js";
import { durationText, plural } from "../texts.js";
import type { RowContext } from "./rowView.js";
import { ToolView } from "./toolView.js";

/** So many of a group are named in its line. */
const MOST_NAMED = 4;

/** Neighbours of this many are put together. */
const GROUPED = 2;

interface Group {
  readonly element: HTMLDetailsElement;
  readonly summary: HTMLElement;
  readonly members: HTMLElement;
}

export class ToolList {
  readonly element = element("div", { class: "tools" });
  readonly #context: RowContext;
  readonly #views = new Map<string, ToolView>();
  /** By the id of the first call in it. */
  readonly #groups = new Map<string, Group>();
  #tools: readonly ToolRow[] = [];

  constructor(context: RowContext) {
    this.#context = context;
  }

  update(tools: readonly ToolRow[]): void {
    const isSame = tools.length === this.#tools.length && tools.every((tool, index) => tool === this.#tools[index]);
    if (isSame) return;
    this.#tools = tools;
    for (const tool of tools) this.#view(tool).update(tool);
    this.#arrange(tools);
  }

  dispose(): void {
    for (const view of this.#views.values()) view.dispose();
  }

  #view(tool: ToolRow): ToolView {
    const known = this.#views.get(tool.id);
    if (known !== undefined) return known;
    const made = new ToolView(tool, this.#context);
    this.#views.set(tool.id, made);
    return made;
  }

  #arrange(tools: readonly ToolRow[]): void {
    const ids = new Set(tools.map(({ id }) => id));
    for (const [id, view] of this.#views) {
      if (ids.has(id)) continue;
      view.dispose();
      this.#views.delete(id);
    }
    const focused = document.activeElement;
    const hadFocus = this.element.contains(focused);
    const runs = runsOf(tools);
    const shown = runs.map((run) => (run.length < GROUPED ? this.#elementOf(run[0]) : this.#group(run)));
    const firsts = new Set(runs.filter(({ length }) => length >= GROUPED).map(([first]) => first?.id));
    for (const id of this.#groups.keys()) if (!firsts.has(id)) this.#groups.delete(id);
    place(this.element, shown);
    // Who read a line that went into a group is at the group now.
    if (hadFocus && focused instanceof HTMLElement && document.activeElement !== focused) {
      const group = focused.closest<HTMLElement>("details.tool-group:not([open])");
      (group?.querySelector("summary") ?? focused).focus({ preventScroll: true });
    }
  }

  #elementOf(tool: ToolRow | undefined): HTMLElement {
    return this.#views.get(tool?.id ?? "")?.element ?? element("div");
  }

  #group(run: readonly ToolRow[]): HTMLElement {
    const id = run[0]?.id ?? "";
    const group = this.#groups.get(id) ?? makeGroup();
    this.#groups.set(id, group);
    const { language } = this.#context;
    const ms = run.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0);
    // What was read went to the model: it is named though the lines are folded.
    const named = run.slice(0, MOST_NAMED).map(({ title }) => exactText(title));
    const more = run.length - named.length;
    const names = more > 0 ? language.t("{0} and {1} more", named.join(", "), more) : named.join(", ");
    const looked = plural(run.length, "Looked at {0} thing", "Looked at {0} things", language);
    const parts = [`${looked}: ${names}`, ms > 0 && durationText(ms, language)];
    setText(group.summary, parts.filter((part) => part !== false).join(" · "));
    place(
      group.members,
      run.map((tool) => this.#elementOf(tool)),
    );
    return group.element;
  }
}

function makeGroup(): Group {
  const summary = element("summary", { tabindex: -1 });
  const members = element("div", { class: "tool-members" });
  return { element: element("details", { class: "tool-group" }, summary, members), summary, members };
}

/** Neighbours that only looked and are done, in one run; every other call in one of its own. */
function runsOf(tools: readonly ToolRow[]): ToolRow[][] {
  const runs: ToolRow[][] = [];
  for (const tool of tools) {
    const last = runs.at(-1);
    if (last !== undefined && isQuiet(tool) && last.every(isQuiet)) last.push(tool);
    else runs.push([tool]);
  }
  return runs;
}

function isQuiet({ kind, state }: ToolRow): boolean {
  return TOOL_KINDS[kind].isQuiet && state === "ok";
}

/** Makes these the children. What stands there already is not moved: that would scroll what is read in it back to its beginning. */
function place(parent: HTMLElement, children: readonly HTMLElement[]): void {
  const wanted = new Set<Element>(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  children.forEach((child, at) => {
    if (parent.children[at] !== child) parent.insertBefore(child, parent.children[at] ?? null);
  });
}
