/** What is tried with a compression. Its fault is told where it belongs: in the chat that it is for, or in a message that leads there. */
import type { Chat } from "../chat/chat.js";
import { viewOf } from "../chat/chatState.js";
import { DaemonFault } from "../daemon/port.js";
import { fail } from "../toasts.js";

export interface AttemptNeeds {
  readonly chat: Chat;
  /** Whether the chat is in sight: then its rows show the outcome, and nothing pops up. */
  readonly isChatVisible: () => boolean;
  /** Bring a chat into sight; without an id the one that is shown. Never rejects. */
  readonly openChat: (sessionId: string | undefined) => Promise<void>;
}

/** `of` is the chat that was asked for, as far as that is known before `session`, which the work is given. */
export async function attempt<Id extends string | undefined>(
  needs: AttemptNeeds,
  of: string | undefined,
  session: Id | Promise<Id>,
  work: (sessionId: Id) => Promise<void>,
): Promise<void> {
  const { chat, isChatVisible } = needs;
  let whose = of;
  try {
    const sessionId = await session;
    whose = sessionId;
    await work(sessionId);
  } catch (error) {
    if (error instanceof DaemonFault && error.data.kind === "cancelled") return;
    if (isChatVisible() && (whose === undefined || whose === chat.info?.sessionId)) chat.show(error);
    else await report(needs, error, whose);
  }
}

async function report({ chat, openChat }: AttemptNeeds, error: unknown, whose: string | undefined): Promise<void> {
  const view = viewOf(error, chat.t);
  const show = chat.t("Open Chat");
  const chosen = await fail([view.message, view.hint].filter(Boolean).join(" "), show);
  if (chosen === show) await openChat(whose);
}
