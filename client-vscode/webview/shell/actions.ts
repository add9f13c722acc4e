/** What the buttons, menus and slash commands of the shell do. */
import { t } from "../strings.js";
import type { Shell } from "./shell.js";
import { parseSlash, type SlashCall } from "./slash.js";
import { hindrance } from "./standing.js";

/** Sends a prompt, or carries out the command that it is. False if it has to wait: the text then stays where it is. */
export function submit(shell: Shell, text: string): boolean {
  if (text.trim() === "") return false;
  const command = parseSlash(text);
  if (command !== undefined) {
    runSlash(shell, command);
    return true;
  }
  const hindered = hindrance(shell.panel.peek());
  if (hindered !== undefined) {
    shell.announce(hindered, true);
    return false;
  }
  if (shell.panel.peek()?.job.kind === "idle") {
    shell.transcript?.promptSent();
    shell.sending.value = shell.total.peek();
  }
  shell.line.send({ type: "send", text });
  return true;
}

/** Stops what runs. The button says so at once; asking twice is harmless, and so it is sent again. */
export function stop(shell: Shell): void {
  const job = shell.panel.peek()?.job;
  if (job === undefined || (job.kind === "idle" && shell.sending.peek() === undefined)) return;
  if (job.kind !== "idle") shell.stopAsked.value = job.id;
  shell.line.send({ type: "stop" });
}

export function newChat(shell: Shell): void {
  shell.line.send({ type: "chat", do: "new" });
  shell.focusComposer();
}

export function openFind(shell: Shell, query = ""): void {
  shell.closePopup();
  shell.find.value = { query };
}

export function compress(shell: Shell, preview: boolean, guided: boolean): void {
  shell.line.send({ type: "compress", preview, guided });
}

/** The newest compression in force is the one whose snapshot the model reads, and the one that can be undone. */
async function newestCompression(shell: Shell): Promise<string | undefined> {
  const { compressions } = await shell.line.call({ do: "compressions" });
  return compressions
    .filter(({ state }) => state === "inForce")
    .reduce<{ time: number; compressionId: string } | undefined>(
      (newest, one) => (newest === undefined || one.time > newest.time ? one : newest),
      undefined,
    )?.compressionId;
}

export async function showSnapshot(shell: Shell): Promise<void> {
  try {
    const compressionId = await newestCompression(shell);
    if (compressionId === undefined) shell.announce(t("This chat has no snapshot: it was not compressed yet."), true);
    else shell.line.send({ type: "compression", do: "view", compressionId });
  } catch (error) {
    shell.show(error);
  }
}

export async function undoCompression(shell: Shell): Promise<void> {
  try {
    const compressionId = await newestCompression(shell);
    if (compressionId === undefined) {
      shell.announce(t("There is no compression to undo."), true);
      return;
    }
    const question = t("Undo the last compression? The turns that it folded go to the model again.");
    if (await shell.confirm(question, t("Undo Compression")))
      shell.line.send({ type: "compression", do: "undo", compressionId });
  } catch (error) {
    shell.show(error);
  }
}

function runSlash(shell: Shell, { name, argument }: SlashCall): void {
  switch (name) {
    case "new":
      newChat(shell);
      return;
    case "undo":
      void undoCompression(shell);
      return;
    case "context":
      shell.openPopup("meter");
      return;
    case "find":
      openFind(shell, argument);
      return;
    case "model":
      if (argument === "") shell.openPopup("model");
      else chooseModel(shell, argument);
      return;
    case "export":
      shell.line.send({ type: "chat", do: "export" });
      return;
    case "help":
      shell.openPopup("help");
      return;
  }
}

/** Models are named by the daemon's list: a name that is not in it would only fail with the next prompt. */
function chooseModel(shell: Shell, name: string): void {
  if (shell.panel.peek()?.models.list.some((model) => model.name === name) === true)
    shell.line.send({ type: "model", name });
  else shell.openPopup("model");
}
