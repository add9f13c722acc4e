/** A small project to work in, made anew for every run. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const FILES: Readonly<Record<string, string>> = {
  "README.md": "# Tally\n\nCounts words in texts. The tokenizer splits, the report prints.\n",
  "src/tokenizer.py": `"""Splits a text into tokens."""


def tokens(text):
    """The words of a text, in order."""
    buffer = []
    for character in text:
        if character.isspace():
            if buffer:
                yield "".join(buffer)
            buffer = []
        else:
            buffer.append(character)
`,
  "src/report.py": `"""Prints how often each word occurs."""

from collections import Counter

from tokenizer import tokens


def report(text, limit=10):
    for word, count in Counter(tokens(text)).most_common(limit):
        print(f"{count:6} {word}")
`,
  "src/parser.py": `"""Reads the command line."""


def parse(arguments):
    options = {"limit": 10}
    for argument in arguments:
        if argument.startswith("--limit="):
            options["limit"] = int(argument.partition("=")[2])
    return options
`,
  "notes/a file with spaces.md": "The budget of the tokenizer is nine milliseconds.\n",
  ".env": "TALLY_TOKEN=hunter2-hunter2\n",
  ".gitignore": "build/\n",
};

/** Writes it into `folder`. */
export function makeProject(folder: string): void {
  for (const [path, text] of Object.entries(FILES)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
