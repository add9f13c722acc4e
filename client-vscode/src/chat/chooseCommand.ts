/** Choosing a slash command in the palette: it goes into the composer, where what follows it is written. */
import { window } from "vscode";
import type { Chat } from "./chat.js";
import type { ChatView } from "./chatView.js";

export async function chooseCommand(chat: Chat, view: ChatView): Promise<void> {
  await chat.daemon.start();
  const { commands, problems } = await chat.daemon.request("gemini/commands/list", {});
  const items = commands.map(({ name, description, path }) => ({
    label: `/${name}`,
    description,
    ...(path === undefined ? {} : { detail: path }),
    insert: `/${name} `,
  }));
  const bad = problems.map(({ path, line, message }) => ({
    label: `$(warning) ${path}:${line}`,
    description: message,
    insert: undefined,
  }));
  const chosen = await window.showQuickPick([...items, ...bad], {
    title: chat.t("Slash Commands"),
    matchOnDescription: true,
  });
  if (chosen?.insert === undefined) return;
  await view.command({ do: "insert", text: chosen.insert });
}
