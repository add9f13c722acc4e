/** What the buttons, menus and slash commands of the shell do. */
import { COMMAND } from "../../src/panel/written.js";
import { LONGEST_TEXT } from "../../src/panel/limits.js";
import { t } from "../strings.js";
import { confirmed } from "./doubts.js";
import { formatCount } from "./numbers.js";
import type { Shell } from "./shell.js";
import { readSlash, type SlashCall } from "./slash.js";
import { hindrance } from "./standing.js";

/**
 * Sends a prompt, or carries out the command that it is. False if it is not sent: the text then stays where it is. Where something has to
 * be looked up or asked before, the answer comes later. `steers`: it goes into the turn that runs.
 */
export function submit(shell: Shell, text: string, steers = false): boolean | Promise<boolean> {
  const pictures = shell.pictures.peek();
  if (text.trim() === "" && pictures.length === 0) return false;
  if (shell.attaching > 0) {
    shell.announce(t("The picture is still being read."), true);
    return false;
  }
  if (pictures.length > 0 && COMMAND.test(text)) {
    refusePictures(shell);
    return false;
  }
  const reading = readSlash(text, shell.commands.peek());
  if (reading.kind === "command") return runSlash(shell, reading.call);
  if (isHindered(shell)) return false;
  if (text.length > LONGEST_TEXT) {
    refuseLong(shell);
    return false;
  }
  const mayGo = confirmed(shell, text);
  if (mayGo === true) return sendPrompt(shell, text, steers);
  const [draft, session] = [shell.draft.peek(), sessionOf(shell)];
  return mayGo.then((goes) => {
    // What was written on meanwhile, or belongs to another chat by now, is not what was to be sent.
    if (
      !goes ||
      shell.pictures.peek() !== pictures ||
      shell.draft.peek() !== draft ||
      sessionOf(shell) !== session ||
      isHindered(shell)
    )
      return false;
    return sendPrompt(shell, text, steers);
  });
}

/** Whether nothing can be sent now; why is read out. */
function isHindered(shell: Shell): boolean {
  const hindered = hindrance(shell.panel.peek());
  if (hindered !== undefined) shell.announce(hindered, true);
  return hindered !== undefined;
}

/** Says that a prompt cannot be so long: the host would not take it. */
export function refuseLong(shell: Shell): void {
  const most = formatCount(LONGEST_TEXT, shell.panel.peek()?.settings.locale ?? "en");
  const message = t("That is too long: a prompt has at most {0} characters.", most);
  const hint = t("Name a file with @ instead.");
  shell.note.value = { kind: "tooLong", message, hint, retryable: false, actions: [] };
  shell.announce(`${message} ${hint}`, true);
}

/** Says that a command has no place for a picture. */
function refusePictures(shell: Shell): void {
  const message = t("A command takes no pictures.");
  const hint = t("Take them out, or write something before the command.");
  shell.note.value = { kind: "picture", message, hint, retryable: false, actions: [] };
  shell.announce(`${message} ${hint}`, true);
}

function sessionOf(shell: Shell): string | undefined {
  return shell.panel.peek()?.session?.sessionId;
}

function sendPrompt(shell: Shell, text: string, steers: boolean): true {
  if (shell.panel.peek()?.job.kind === "idle") {
    shell.transcript?.promptSent();
    shell.sending.value = shell.total.peek();
  }
  if (steers) shell.announce(t("Sent to the answer that is being made"));
  const enclosed = text === shell.prompt ? shell.enclosed : {};
  shell.line.send({ type: "send", text, ...enclosed, ...(steers ? { steer: true } : {}) });
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
  shell.leaveDraft();
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

/** False if it could not be carried out as it was written. */
function runSlash(shell: Shell, { name, argument }: SlashCall): boolean {
  switch (name) {
    case "new":
      newChat(shell);
      return true;
    case "undo":
      void undoCompression(shell);
      return true;
    case "context":
      shell.openPopup("meter");
      return true;
    case "find":
      openFind(shell, argument);
      return true;
    case "model":
      if (argument !== "") return chooseModel(shell, argument);
      shell.openPopup("model");
      return true;
    case "export":
      shell.line.send({ type: "chat", do: "export" });
      return true;
    case "help":
      shell.openPopup("help");
      return true;
  }
}

/** Models are named by the daemon's list: a name that is not in it would only fail with the next prompt. */
function chooseModel(shell: Shell, name: string): boolean {
  const known = shell.panel.peek()?.models.list ?? [];
  if (known.some((model) => model.name === name)) {
    shell.line.send({ type: "model", name });
    return true;
  }
  const message = t("There is no model {0} in the list.", name);
  const names = known.map((model) => model.name).join(", ");
  shell.note.value = {
    kind: "unknownModel",
    message,
    hint: names === "" ? t("Choose one from the list.") : t("There are: {0}.", names),
    retryable: false,
    actions: [],
  };
  shell.announce(message, true);
  return false;
}
