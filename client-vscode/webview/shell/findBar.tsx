import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../strings.js";
import { useAsked } from "./hooks.js";
import { IconButton } from "./iconButton.js";
import { isComposing } from "./keymap.js";
import { formatCount } from "./numbers.js";
import type { FindMatch } from "./ports.js";
import { useShell } from "./shell.js";

const findDelayMs = 150;

/** Finds in the open chat. The host searches, since most rows are not in the document; the transcript shows the match. */
export function FindBar() {
  const shell = useShell();
  const open = shell.find.value;
  return open === undefined ? null : <OpenFindBar key="find" opened={open} />;
}

function OpenFindBar({ opened }: { readonly opened: { readonly query: string } }) {
  const shell = useShell();
  const [query, setQuery] = useState(opened.query);
  const [caseSensitive, setCaseSensitive] = useState(false);
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const opener = useRef<Element | null>(null);
  const locale = shell.panel.value?.settings.locale ?? "en";

  // New rows may hold more matches, and another chat has its own.
  const chat = shell.panel.value?.session?.sessionId ?? "";
  const key = query === "" ? undefined : `${chat} ${shell.total.value} ${caseSensitive ? "C" : "c"} ${query}`;
  const { value, error, pending } = useAsked(
    key,
    findDelayMs,
    async () => (await shell.line.call({ do: "find", query, caseSensitive })).matches,
  );
  const matches = value ?? noMatches;

  useLayoutEffect(() => {
    opener.current ??= document.activeElement;
    if (opened.query !== "") setQuery(opened.query);
    // One key opens it twice: here at once, and by way of the editor, a while after. What was typed by then is not to be selected.
    else if (document.activeElement === input.current) return;
    input.current?.focus();
    input.current?.select();
  }, [opened]);

  useEffect(() => {
    const first = firstMatch(matches, shell.transcript?.anchor());
    setAt(first);
    shell.transcript?.highlightMatches(matches);
    show(matches, first);
  }, [matches]);

  useEffect(() => () => shell.transcript?.clearMatches(), [shell]);

  const show = (all: readonly FindMatch[], index: number) => {
    const match = all[index];
    if (match !== undefined) shell.transcript?.revealMatch(match);
  };
  const step = (by: 1 | -1) => {
    if (matches.length === 0) return;
    const next = (at + by + matches.length) % matches.length;
    setAt(next);
    show(matches, next);
    shell.announce(t("{0} of {1}", formatCount(next + 1, locale), formatCount(matches.length, locale)));
  };
  const close = () => {
    const back = opener.current;
    shell.find.value = undefined;
    if (back instanceof HTMLElement && back.isConnected && back !== document.body) back.focus();
    else shell.focusComposer();
  };

  const count = countText(query, error, pending && value === undefined, matches.length, at, locale);
  return (
    <div
      class="find-bar"
      role="search"
      aria-label={t("Find in chat")}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || isComposing(event)) return;
        event.preventDefault();
        event.stopPropagation();
        close();
      }}
    >
      <input
        ref={input}
        type="text"
        class="input"
        role="searchbox"
        aria-label={t("Find in chat")}
        placeholder={t("Find")}
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || isComposing(event)) return;
          event.preventDefault();
          step(event.shiftKey ? -1 : 1);
        }}
      />
      <span class="find-count" role="status">
        {count}
      </span>
      <button
        type="button"
        class="icon-button text-button"
        aria-pressed={caseSensitive}
        aria-label={t("Match case")}
        title={t("Match case")}
        onClick={() => setCaseSensitive(!caseSensitive)}
      >
        <span aria-hidden="true">Aa</span>
      </button>
      <IconButton
        icon="arrowUp"
        label={t("Previous match")}
        title={`${t("Previous match")} (Shift+Enter)`}
        aria-disabled={matches.length === 0}
        onClick={() => step(-1)}
      />
      <IconButton
        icon="arrowDown"
        label={t("Next match")}
        title={`${t("Next match")} (Enter)`}
        aria-disabled={matches.length === 0}
        onClick={() => step(1)}
      />
      <IconButton icon="close" label={t("Close")} title={`${t("Close")} (Esc)`} onClick={close} />
    </div>
  );
}

const noMatches: readonly FindMatch[] = [];

function countText(query: string, error: unknown, pending: boolean, count: number, at: number, locale: string): string {
  if (query === "" || pending) return "";
  if (error !== undefined) return t("Not searched");
  return count === 0 ? t("No results") : t("{0} of {1}", formatCount(at + 1, locale), formatCount(count, locale));
}

/** The match to begin with: the first in the row that is being read, or the newest one. */
function firstMatch(matches: readonly FindMatch[], anchor: { readonly rowId: string } | "end" | undefined): number {
  const inRow =
    anchor === undefined || anchor === "end" ? -1 : matches.findIndex(({ rowId }) => rowId === anchor.rowId);
  return inRow >= 0 ? inRow : Math.max(0, matches.length - 1);
}
