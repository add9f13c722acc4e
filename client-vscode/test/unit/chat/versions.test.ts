/** The versions of rows, by which the page knows what it shows already. */
import { expect, it } from "vitest";
import { ScriptedEvents } from "./scriptedEvents.js";

it("never gives a row of one chat the version or the notice of a row of another", () => {
  const told = [new ScriptedEvents(), new ScriptedEvents()].map((chat) => chat.started("t1", "a").completed("t1"));
  for (const { chat } of told) chat.notice("info", "Something happened.");
  const rows = told.flatMap((each) => each.rows);
  expect(new Set(rows.map(({ version }) => version)).size).toBe(rows.length);
  const notices = rows.filter(({ kind }) => kind === "notice");
  expect(new Set(notices.map(({ id }) => id)).size).toBe(notices.length);
});
