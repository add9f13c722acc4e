import { useEffect, useRef, useState } from "preact/hooks";
import type { OtherChat } from "../../src/panel/contract.js";
import { OTHER_CHATS } from "../../src/panel/statuses.js";
import type { SessionInfo } from "../../src/protocol.gen.js";
import { t } from "../strings.js";
import { newChat } from "./actions.js";
import { FaultLine } from "./faultLine.js";
import { useAsked } from "./hooks.js";
import { IconButton } from "./iconButton.js";
import { isComposing, rovingIndex } from "./keymap.js";
import { formatBytes, formatCount, formatDay, formatTurns, formatWhen } from "./numbers.js";
import { Popup } from "./popup.js";
import { openHit, RecallHits } from "./recall.js";
import { useShell } from "./shell.js";

/** How long typing may pause before the chats are searched, ms. */
const searchDelayMs = 200;
/** How long after the panel has the focus again the chats are read anew, ms. */
const settleDelayMs = 250;

/** All chats of this folder: opened, renamed, exported, deleted, and everything that was ever said in them found again. */
export function SessionsDialog() {
  return (
    <Popup name="sessions" label={t("Chats")} class="popup-header sessions">
      <SessionsBody />
    </Popup>
  );
}

function SessionsBody() {
  const shell = useShell();
  const searched = shell.searched.value;
  const [query, setQuery] = useState(searched.query);
  useEffect(() => setQuery(searched.query), [searched]);
  // Opened again by its button, it lists the chats.
  useEffect(() => () => void (shell.searched.value = { query: "" }), [shell]);
  const [round, setRound] = useState(0);
  const [more, setMore] = useState<{
    readonly key: string;
    readonly sessions: readonly SessionInfo[];
    readonly nextCursor?: string;
  }>();
  const box = useRef<HTMLDivElement>(null);
  // The open chat may get another title, or be deleted, while this is open.
  const open = shell.panel.value?.session;
  const key = `${round} ${open?.sessionId ?? ""} ${open?.title ?? ""} ${query.trim()}`;
  const first = useAsked(key, query === "" ? 0 : searchDelayMs, async () => ({
    key,
    ...(await shell.line.call({ do: "sessions", query: query.trim() })),
  }));

  const said = useAsked(query.trim() === "" ? undefined : query.trim(), searchDelayMs, async () => ({
    query: query.trim(),
    ...(await shell.line.call({ do: "recall", query: query.trim() })),
  }));
  const hits = query.trim() === "" ? [] : (said.value?.hits ?? []);

  // Renaming and deleting ask in the workbench: when the panel has the focus again, the list may be another, once the daemon has done it.
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = () => {
      timer = setTimeout(() => setRound((before) => before + 1), settleDelayMs);
    };
    window.addEventListener("focus", again);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("focus", again);
    };
  }, []);

  const extra = more !== undefined && more.key === first.value?.key ? more : undefined;
  const sessions = [...(first.value?.sessions ?? []), ...(extra?.sessions ?? [])];
  const nextCursor = extra === undefined ? first.value?.nextCursor : extra.nextCursor;

  const showMore = (cursor: string, forKey: string) => {
    shell.line.call({ do: "sessions", query: query.trim(), cursor }).then(
      (page) =>
        setMore({
          key: forKey,
          sessions: [...(extra?.sessions ?? []), ...page.sessions],
          ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
        }),
      (error: unknown) => shell.show(error),
    );
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const stops = [...(box.current?.querySelectorAll<HTMLElement>("input, .session-open") ?? [])];
    const at = stops.findIndex(
      (stop) => stop === document.activeElement || stop.parentElement?.contains(document.activeElement) === true,
    );
    const isText = event.target instanceof HTMLInputElement;
    if (isText && (event.key === "Home" || event.key === "End")) return;
    const next = rovingIndex(event.key, at, stops.length);
    if (next === undefined) return;
    event.preventDefault();
    stops[next]?.focus();
  };

  return (
    <div ref={box} role="presentation" onKeyDown={onKeyDown}>
      <div class="sessions-top">
        <input
          type="search"
          class="input"
          data-first
          aria-label={t("Search in all chats")}
          placeholder={t("Search in all chats")}
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={(event) => {
            const [best] = hits;
            // What is listed may still be the answer to something shorter.
            if (event.key !== "Enter" || isComposing(event) || best === undefined || said.value?.query !== query.trim())
              return;
            event.preventDefault();
            openHit(shell, best, query);
          }}
        />
        <IconButton
          icon="add"
          label={t("New chat")}
          onClick={() => {
            shell.closePopup("sessions");
            newChat(shell);
          }}
        />
      </div>
      {first.error === undefined ? null : <FaultLine error={first.error} />}
      {said.error === undefined ? null : <FaultLine error={said.error} />}
      {hits.length === 0 || said.value === undefined ? null : (
        <>
          <h2 class="list-title">{t("Said in chats")}</h2>
          <RecallHits hits={hits} query={said.value.query} />
          {sessions.length === 0 ? null : <h2 class="list-title">{t("Chats")}</h2>}
        </>
      )}
      {first.value === undefined && first.pending ? <p class="quiet popup-padding">{t("Searching…")}</p> : null}
      {first.value !== undefined && sessions.length === 0 && hits.length === 0 && !said.pending ? (
        <p class="quiet popup-padding">
          {query.trim() === "" ? t("There are no chats in this folder yet.") : t("No chat says “{0}”.", query.trim())}
        </p>
      ) : null}
      <ul class="session-list" aria-label={t("Chats")}>
        {sessions.map((session) => (
          <Session key={session.sessionId} session={session} changed={() => setRound((before) => before + 1)} />
        ))}
      </ul>
      {nextCursor === undefined ? null : (
        <button type="button" class="button secondary more-button" onClick={() => showMore(nextCursor, key)}>
          {t("Show More")}
        </button>
      )}
    </div>
  );
}

function Session({ session, changed }: { readonly session: SessionInfo; readonly changed: () => void }) {
  const shell = useShell();
  const panel = shell.panel.value;
  const locale = panel?.settings.locale ?? "en";
  const isOpen = panel?.session?.sessionId === session.sessionId;
  const title = titleOf(session);
  const other = panel?.others?.find(({ sessionId }) => sessionId === session.sessionId);
  const state = isOpen ? "" : stateOf(session, other);
  const chat = (what: "export" | "rename" | "delete") => () =>
    shell.line.send({ type: "chat", do: what, sessionId: session.sessionId });
  const isKept = session.isKept === true;
  const keep = () => {
    shell.line
      .call({ do: "keep", sessionId: session.sessionId, on: !isKept })
      .then(changed, (error: unknown) => shell.show(error));
  };
  return (
    <li class="session">
      <button
        type="button"
        class="session-open"
        {...(isOpen ? { "aria-current": true } : {})}
        onClick={() => {
          shell.closePopup("sessions");
          if (!isOpen || panel.coming !== undefined)
            shell.line.send({ type: "openSession", sessionId: session.sessionId });
          shell.focusComposer();
        }}
      >
        <span class="session-title" dir="auto">
          {title}
        </span>
        {state === "" ? null : <span class={`session-state session-${other?.state ?? "idle"}`}>{state}</span>}
        <span class="session-detail">
          {session.heldBy === undefined ? "" : `${t("in another window")} · `}
          {formatWhen(session.updatedAt, Date.now(), locale)} · {formatTurns(session.turns, locale)} ·{" "}
          {session.tokenCountSource === "api"
            ? t("{0} tokens", formatCount(session.tokenCount, locale))
            : t("about {0} tokens", formatCount(session.tokenCount, locale))}
          {session.size === undefined ? "" : ` · ${formatBytes(session.size, locale)}`}
          {isKept ? ` · ${t("is kept")}` : ""}
          {session.leavesAt === undefined ? "" : ` · ${t("goes {0}", formatDay(session.leavesAt, locale))}`}
        </span>
      </button>
      <span class="session-actions">
        <IconButton
          icon="pin"
          aria-pressed={isKept}
          label={t("Keep {0}", title)}
          title={isKept ? t("It stays until you delete it. Click to let it go as others do.") : t("Keep for good")}
          onClick={keep}
        />
        <IconButton icon="edit" label={t("Rename {0}", title)} title={t("Rename…")} onClick={chat("rename")} />
        <IconButton icon="exportFile" label={t("Export {0}", title)} title={t("Export…")} onClick={chat("export")} />
        <IconButton icon="trash" label={t("Delete {0}", title)} title={t("Delete…")} onClick={chat("delete")} />
      </span>
    </li>
  );
}

/** What happens in a chat that is not shown, and what waits there; empty if there is nothing to say. */
function stateOf({ runningTurn }: SessionInfo, other: OtherChat | undefined): string {
  const state = other?.state ?? (runningTurn === undefined ? "idle" : "running");
  const queued = other?.queued ?? 0;
  const said = [
    state === "idle" ? "" : t(OTHER_CHATS[state].label),
    queued === 0 ? "" : queued === 1 ? t("1 prompt waits") : t("{0} prompts wait", queued),
  ];
  return said.filter((text) => text !== "").join(" · ");
}

function titleOf(session: SessionInfo): string {
  return session.title === "" ? t("Untitled chat") : session.title;
}
