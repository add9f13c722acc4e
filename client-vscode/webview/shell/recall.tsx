import type { RecallHit } from "../../src/protocol.gen.js";
import { t } from "../strings.js";
import { excerpt } from "./marking.js";
import { formatWhen } from "./numbers.js";
import { useShell, type Shell } from "./shell.js";

/** Characters of a passage that are shown. */
const SHOWN = 220;

/** What was said about something, in whichever chat; each opens that chat at that place. */
export function RecallHits({ hits, query }: { readonly hits: readonly RecallHit[]; readonly query: string }) {
  const shell = useShell();
  const locale = shell.panel.value?.settings.locale ?? "en";
  const open = shell.panel.value?.session?.sessionId;
  return (
    <ul class="session-list" aria-label={t("Said in chats")}>
      {hits.map((hit) => (
        <li key={`${hit.sessionId} ${hit.entryId}`} class="session">
          <button type="button" class="session-open recall-open" onClick={() => openHit(shell, hit, query)}>
            <span class="recall-text" dir="auto">
              {excerpt(hit.text, query, SHOWN).map(({ text, isMatch }, index) =>
                isMatch ? <mark key={index}>{text}</mark> : text,
              )}
            </span>
            <span class="session-detail">
              {hit.role === "user" ? t("You") : hit.role === "tool" ? t("Tool output") : "Gemini"}
              {" · "}
              {formatWhen(hit.time, Date.now(), locale)}
              {hit.isHidden === true ? ` · ${t("folded")}` : ""}
              {" · "}
              {hit.sessionId === open ? t("This chat") : hit.sessionTitle || t("Untitled chat")}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Opens the chat of a hit, at its place. */
export function openHit(shell: Shell, { sessionId, turnId, entryId, text }: RecallHit, query: string): void {
  shell.closePopup("sessions");
  const near = excerpt(text, query, SHOWN)
    .map((piece) => piece.text)
    .join("");
  shell.line.send({ type: "place", sessionId, turnId, entryId, words: near });
}
