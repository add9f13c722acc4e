/** The heaviest messages that people have: a pasted log, a long table, a whole file of code. */
import { numbers } from "./rows.js";

const NAMES = ["queue", "writer", "parser", "token", "buffer", "retry", "flush", "session"] as const;

function nameOf(next: () => number): string {
  return NAMES[Math.floor(next() * NAMES.length)] ?? "";
}

/** A log of 174 kB, as one pastes it into a prompt. */
export function longPrompt(): string {
  const next = numbers(11);
  let text = "What is wrong here?\n\n";
  for (let line = 0; text.length < 174_000; line++)
    text += `2026-11-23T10:${String(line % 60).padStart(2, "0")} ${nameOf(next)}[${line}]: ${nameOf(next)} waits for ${nameOf(next)}, which holds /srv/${nameOf(next)}/${line}.log\n`;
  return text.slice(0, 174_000);
}

/** An answer with a table of `rows` rows, with text before and behind it. */
export function longTable(rows: number): string {
  const next = numbers(12);
  const lines = Array.from(
    { length: rows },
    (_, row) =>
      `| ${row} | \`${nameOf(next)}\` | **${nameOf(next)}** waits for ${nameOf(next)} | ${Math.floor(next() * 9_999)} |`,
  );
  return `All of them:\n\n| no. | name | what | size |\n| --- | --- | --- | ---: |\n${lines.join("\n")}\n\nThe last one is the worst.\n`;
}

/** An answer with one block of `count` lines of Python, with text before and behind it. */
export function longCode(count: number): string {
  const next = numbers(13);
  const lines = Array.from({ length: count }, (_, line) =>
    line % 10 === 0
      ? `def ${nameOf(next)}_${line}(${nameOf(next)}):`
      : `    ${nameOf(next)} = ${nameOf(next)}("${nameOf(next)}", ${line})  # ${nameOf(next)}`,
  );
  return `The whole file:\n\n\`\`\`python\n${lines.join("\n")}\n\`\`\`\n\nThat is all of it.\n`;
}
