/** The model file of a person's own: another one is put in its place whenever a scene says so, and what it is asked is read. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { python, repository } from "./places.js";

/** What `local_models.py` writes. */
export type Writer = "noise" | "wordy" | "terse" | "telling";

/** One request to the model, as it goes to llama.cpp. */
export interface LocalRequest {
  /** `main` is the chat. */
  readonly role: string;
  /** All text of its messages, the system instruction included. */
  readonly text: string;
  /** The last message. */
  readonly prompt: string;
}

/** The command of a daemon that writes down what its local model is asked. */
export const RECORDED_DAEMON: readonly string[] = [python, join(import.meta.dirname, "local_daemon.py")];

/** The daemon's own modules and the tests' are those of this repository, whatever else is installed. */
export const OWN_MODULES = join(repository, "server");

export class LocalModel {
  readonly #written: string;
  readonly #file: string;

  /** Writes the models, and settings of a person who chose theirs, below the folder of a server's run. */
  constructor(private readonly folder: string) {
    this.#written = join(folder, "models");
    this.#file = join(folder, "own.gguf");
    const { status, stderr } = spawnSync(python, [join(import.meta.dirname, "local_models.py"), this.#written], {
      env: { ...process.env, PYTHONPATH: OWN_MODULES },
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`The models could not be written:\n${stderr}`);
    this.becomes("noise");
    mkdirSync(join(folder, "home/.gemini"), { recursive: true });
    const settings = { model: { name: "local", local: this.#file } };
    writeFileSync(join(folder, "home/.gemini/settings.json"), JSON.stringify(settings));
  }

  /** From the next request on, the file is another model. */
  becomes(writer: Writer): void {
    const next = `${this.#file}.next`;
    copyFileSync(join(this.#written, `${writer}.gguf`), next);
    renameSync(next, this.#file);
  }

  /** What it was asked, oldest first. */
  asked(role?: string): LocalRequest[] {
    const file = join(this.folder, "asked.jsonl");
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []; // the last one may be half written
    const all = lines.map((line) => JSON.parse(line) as LocalRequest); // our own script's
    return role === undefined ? all : all.filter((request) => request.role === role);
  }
}
