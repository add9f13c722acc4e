/** What is said of a budget that is nearly or wholly used. */
import type { BudgetUsed } from "../../protocol.gen.js";
import type { ConversationRows } from "./conversationRows.js";

export function budgetUsed(chat: ConversationRows, { scope, unit, spent, limit, outcome, setting }: BudgetUsed): void {
  const shown = (amount: number): string =>
    unit === "cost" ? `$${amount.toFixed(2)}` : chat.t("{0} tokens", Math.round(amount).toLocaleString("en"));
  const used = [shown(spent), shown(limit), setting] as const;
  const text =
    outcome === "stopped"
      ? scope === "session"
        ? chat.t("The budget of this chat is used up: {0} of {1}. Raise {2} in your settings to go on.", ...used)
        : chat.t("Today's budget is used up: {0} of {1}. Raise {2} in your settings to go on.", ...used)
      : scope === "session"
        ? chat.t("Most of this chat's budget is used: {0} of {1} ({2}).", ...used)
        : chat.t("Most of today's budget is used: {0} of {1} ({2}).", ...used);
  chat.notice("warning", text);
}
