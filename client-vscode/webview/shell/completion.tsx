import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../strings.js";
import { useAsked } from "./hooks.js";
import { Icon } from "./icon.js";
import { insertMention, mentionAt, type Replacement } from "./mention.js";
import { useShell } from "./shell.js";
import { slashMatches } from "./slash.js";

/** How long typing may pause before files are searched, ms. */
const fileDelayMs = 120;

export interface CompletionEntry {
  readonly key: string;
  readonly label: string;
  readonly detail: string;
  readonly isFile: boolean;
  readonly replacement: Replacement;
  /** The whole of what was typed is this command, or it takes nothing more: Enter carries it out. */
  readonly complete: boolean;
}

export interface Completion {
  readonly entries: readonly CompletionEntry[];
  readonly active: number;
  move(by: 1 | -1): void;
  setActive(index: number): void;
  /** Closes the list until another word is begun. */
  dismiss(): void;
}

/** The files or commands for the word at the caret; `caret` is undefined while there is a selection. */
export function useCompletion(text: string, caret: number | undefined): Completion {
  const shell = useShell();
  const [active, setActive] = useState(0);
  const [dismissed, setDismissed] = useState<number>();

  useDaemonCommands();
  const commands = caret === undefined ? undefined : slashMatches(text, caret, shell.commands.value, t);
  const token = caret === undefined || commands !== undefined ? undefined : mentionAt(text, caret);
  const start = commands === undefined ? (token?.start ?? (text.startsWith("/") ? 0 : undefined)) : 0;
  const files = useAsked(
    token?.query,
    fileDelayMs,
    async () => (await shell.line.call({ do: "files", query: token?.query ?? "" })).files,
  );

  useEffect(() => setActive(0), [token?.query, commands?.length]);
  // Another word: what was dismissed is forgotten.
  useEffect(() => setDismissed(undefined), [start]);

  const found: readonly CompletionEntry[] =
    commands !== undefined && caret !== undefined
      ? commands.map(({ name, argument, description, isOpen, text: put }) => ({
          key: name,
          label: argument === "" ? `/${name}` : `/${name} [${argument}]`,
          detail: description,
          isFile: false,
          replacement: { start: 0, end: caret, text: put },
          complete: !isOpen || text === `/${name}`,
        }))
      : token !== undefined
        ? (files.value ?? []).map(({ path, label }) => ({
            key: path,
            label,
            detail: path === label ? "" : path,
            isFile: true,
            replacement: insertMention(text, token, path),
            complete: false,
          }))
        : [];
  const entries = start !== undefined && dismissed === start ? [] : found;
  const index = Math.min(active, Math.max(0, entries.length - 1));
  return {
    entries,
    active: index,
    move: (by) => setActive((index + by + entries.length) % entries.length),
    setActive,
    dismiss: () => setDismissed(start),
  };
}

/** Keeps the daemon's commands at hand, as soon as there is a daemon and whenever they change. */
function useDaemonCommands(): void {
  const shell = useShell();
  const panel = shell.panel.value;
  const isReady = panel?.daemon.kind === "ready";
  const { value } = useAsked(
    isReady ? `${panel.sourceChanges ?? 0} ${panel.trusted}` : undefined,
    0,
    async () => (await shell.line.call({ do: "commands" })).commands,
  );
  useEffect(() => {
    if (value !== undefined) shell.commands.value = value;
  }, [value]);
}

export const completionListId = "completion";
export function completionOptionId(index: number): string {
  return `completion-${index}`;
}

interface CompletionListProps {
  readonly completion: Completion;
  readonly accept: (entry: CompletionEntry) => void;
}

/** The list over the composer. The focus stays in the text: the text area names the active entry. */
export function CompletionList({ completion, accept }: CompletionListProps) {
  const list = useRef<HTMLUListElement>(null);
  const { entries, active } = completion;
  useEffect(() => {
    const option = list.current?.children[active];
    // Absent in a DOM without layout.
    if (option !== undefined && "scrollIntoView" in option) option.scrollIntoView({ block: "nearest" });
  }, [active, entries]);
  if (entries.length === 0) return null;
  return (
    <ul
      ref={list}
      id={completionListId}
      class="popup completion"
      role="listbox"
      aria-label={entries[0]?.isFile === true ? t("Files") : t("Commands")}
    >
      {entries.map((entry, index) => (
        <li
          key={entry.key}
          id={completionOptionId(index)}
          class="completion-entry"
          role="option"
          aria-selected={index === active}
          onPointerMove={() => completion.setActive(index)}
          onPointerDown={(event) => {
            // The text area keeps the focus.
            event.preventDefault();
            accept(entry);
          }}
        >
          {entry.isFile ? <Icon name="file" /> : null}
          <span class="completion-label">{entry.label}</span>
          <span class="completion-detail">{entry.detail}</span>
        </li>
      ))}
    </ul>
  );
}
