/** What a prompt means that may not be meant: a mention that nothing goes along for, a command that is none. */
import type { PageResults } from "../../src/panel/contract.js";
import { t } from "../strings.js";
import { useAsked } from "./hooks.js";
import { mentionAt } from "./mention.js";
import { useShell, type Shell } from "./shell.js";
import { readSlash, slashMatches } from "./slash.js";

/** How long typing may pause before mentions are looked up, ms. */
const checkDelayMs = 250;
/** Longest that a prompt waits for the look-up of its mentions before it is sent without, ms. */
const longestWaitMs = 1_500;
/** Longest prompt whose mentions are looked up, characters; a longer one is a paste. */
const longestChecked = 900_000;
/** Doubts of one prompt that are named. */
const mostNamed = 3;

type Mention = PageResults["check"]["mentions"][number];

/** Why nothing goes along for a mention, in one sentence. */
function mentionDoubt({ written, reason = "" }: Mention): string {
  return t("{0}: {1}", written, reason);
}

function slashDoubt(shell: Shell, prompt: string): string | undefined {
  const reading = readSlash(prompt, shell.commands.peek());
  if (reading.kind === "unknown") return t("{0} is no command.", reading.command);
  if (reading.kind === "extra") return t("{0} takes nothing behind it.", reading.command);
  return undefined;
}

function mayMention(prompt: string): boolean {
  return prompt.includes("@") && prompt.length <= longestChecked;
}

/** What the person should know of the prompt while writing it (`text` as the composer shows it), but for the word at the caret, which is not finished. */
export function useDoubts(text: string, caret: number | undefined): readonly string[] {
  const shell = useShell();
  const prompt = shell.pastes.expanded(text);
  const checked = useAsked(mayMention(prompt) ? prompt : undefined, checkDelayMs, () =>
    shell.line.call({ do: "check", prompt }),
  );
  const token = caret === undefined ? undefined : mentionAt(text, caret);
  const unfinished = token === undefined ? undefined : text.slice(token.start, token.end);
  const mentions = (checked.value?.mentions ?? [])
    .filter(({ found, written }) => found === "nothing" && written !== unfinished && prompt.includes(written))
    .map(mentionDoubt);
  const reading = readSlash(prompt, shell.commands.value);
  if (reading.kind === "escaped") return [t("Goes as text that begins with {0}.", reading.shown), ...mentions];
  const isTyped =
    caret !== undefined && (slashMatches(text, caret, shell.commands.value, t) !== undefined || text.trim() === "/");
  const slash = isTyped ? undefined : slashDoubt(shell, prompt);
  return [...(slash === undefined ? [] : [slash]), ...mentions].slice(0, mostNamed);
}

/**
 * Whether a prompt is to be sent as it is; what is doubtful is asked. True at once where nothing can be: then sending waits for nothing.
 * What was sent all the same is not asked again.
 */
export function confirmed(shell: Shell, prompt: string): true | Promise<boolean> {
  const doubt = slashDoubt(shell, prompt);
  if (doubt !== undefined)
    return shell.confirm(`${doubt} ${t("Send it to the model as a prompt?")}`, t("Send as Prompt"));
  return mayMention(prompt) ? mentionsConfirmed(shell, prompt) : true;
}

async function mentionsConfirmed(shell: Shell, prompt: string): Promise<boolean> {
  const mentions = await lookedUp(shell, prompt); // where nothing is known, the receipt will say what went along
  const doubtful = mentions.filter(({ found, written }) => found === "nothing" && !shell.sentAnyway.has(written));
  if (doubtful.length === 0) return true;
  const named = doubtful.slice(0, mostNamed).map(mentionDoubt).join("; ");
  const question =
    doubtful.length === 1
      ? t("{0}. Send the prompt without it?", named)
      : t("{0}. Send the prompt without these {1}?", named, doubtful.length);
  if (!(await shell.confirm(question, t("Send Anyway")))) return false;
  for (const { written } of doubtful) shell.sentAnyway.add(written);
  return true;
}

/** The mentions of a prompt; none if that takes too long or cannot be found out. */
async function lookedUp(shell: Shell, prompt: string): Promise<readonly Mention[]> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<{ mentions: readonly Mention[] }>((resolve) => {
    timer = setTimeout(() => resolve({ mentions: [] }), longestWaitMs);
  });
  try {
    return (await Promise.race([shell.line.call({ do: "check", prompt }), tooLong])).mentions;
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
  }
}
