/** What a scripted model answers that is asked for a snapshot. */
import type { ScriptedReply } from "./emulator.js";

const SECTIONS = {
  overall_goal: "The user mends the tokenizer",
  active_constraints: "None.",
  key_knowledge: "- The tokenizer keeps its buffer until a space comes.",
  artifact_trail: "- src/tokenizer.py",
  file_system_state: "- Nothing was changed.",
  recent_actions: "- Questions were answered.",
  task_state: "1. [IN PROGRESS] Find out why the last word is lost.",
};

/** A snapshot of a chat about the tokenizer, but for these sections. */
export function snapshot(sections: Partial<typeof SECTIONS> = {}): string {
  const written = Object.entries({ ...SECTIONS, ...sections }).map(
    ([name, text]) => `    <${name}>\n${text.replace(/^/gm, "        ")}\n    </${name}>`,
  );
  return `<state_snapshot>\n${written.join("\n")}\n</state_snapshot>`;
}

/** The first answer and those to the requests that may follow: for a final version, and for what it left out. */
export function summarised(text: string, times = 3): ScriptedReply[] {
  return Array.from({ length: times }, () => ({ pieces: [text] }));
}
