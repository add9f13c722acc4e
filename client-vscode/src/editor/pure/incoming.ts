/** What the daemon asks of the editor, decoded. */
import type { Translate } from "../../chat/pure/words.js";
import { DaemonFault } from "../../daemon/port.js";
import { ErrorCode, type ConfirmToolParams, type OpenDiffParams } from "../../protocol.gen.js";

/** Most characters of a text that is shown to somebody. */
const MAX_SHOWN = 8 << 20;

/** @throws DaemonFault `invalidParams` that names the field */
export function readConfirmTool(params: unknown, t: Translate): ConfirmToolParams {
  const read = new Fields(params, t);
  const diff = read.optionalText("diff");
  return {
    sessionId: read.text("sessionId"),
    toolCallId: read.text("toolCallId"),
    name: read.text("name"),
    title: read.text("title"),
    risk: read.text("risk"),
    args: read.object("args"),
    ...(diff === undefined ? {} : { diff }),
  };
}

/** @throws DaemonFault `invalidParams` that names the field */
export function readOpenDiff(params: unknown, t: Translate): OpenDiffParams {
  const read = new Fields(params, t);
  return { path: read.text("path"), newContent: read.text("newContent") };
}

/** Tool arguments that a person edited as JSON; nothing if they are no object. */
export function readArguments(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

class Fields {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(
    params: unknown,
    private readonly t: Translate,
  ) {
    this.#fields = isObject(params) ? params : {};
  }

  text(name: string): string {
    const value = this.#fields[name];
    return typeof value === "string" && value.length <= MAX_SHOWN ? value : this.#refuse(name);
  }

  optionalText(name: string): string | undefined {
    const value = this.#fields[name];
    return value === undefined || value === null ? undefined : this.text(name);
  }

  object(name: string): Readonly<Record<string, unknown>> {
    const value = this.#fields[name];
    return isObject(value) ? value : this.#refuse(name);
  }

  #refuse(name: string): never {
    const message = this.t("The field {0} is missing or of the wrong kind.", `$.${name}`);
    throw new DaemonFault(ErrorCode.invalidParams, { kind: "invalidParams", message, hint: "", retryable: false, path: `$.${name}` });
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
