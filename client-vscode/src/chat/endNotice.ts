/** A message of an answer that ended out of sight. It may stand there for long, and leads to its own chat. */
import type { Chat } from "./chat.js";
import { inform } from "../toasts.js";

/** `show` brings the panel into sight. */
export async function tellOfEnd(
  chat: Chat,
  sessionId: string | undefined,
  well: boolean,
  show: () => Promise<void>,
): Promise<void> {
  const { t } = chat;
  const open = t("Open Chat");
  const title = (sessionId === undefined ? "" : chat.titleOf(sessionId)) || t("Untitled chat");
  const text = well ? t("Gemini has answered: {0}", title) : t("Gemini could not answer: {0}", title);
  if ((await inform(text, open)) === open) await openChat(chat, sessionId, show);
}

/** Bring a chat into sight, by default the one that is shown: the panel at once, which says why if the chat cannot be opened. */
export async function openChat(chat: Chat, sessionId: string | undefined, show: () => Promise<void>): Promise<void> {
  const isAnother = sessionId !== undefined && sessionId !== chat.info?.sessionId;
  await Promise.all([show(), isAnother && chat.open(sessionId)]);
}
