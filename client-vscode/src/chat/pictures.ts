/**
 * The bytes of pictures, by their digest: a prompt that is being written, waits or stands in a chat names them, and nothing holds them twice.
 * What was sent is in the daemon's log, from which it comes back; so what no draft names goes with the next start.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DaemonFault } from "../daemon/port.js";
import { PICTURE_TYPES, PICTURES_BYTES, pictureType, type Picture } from "../panel/pictures.js";
import type { Written } from "../panel/written.js";
import { pictureIn, type Part } from "./pure/promptParts.js";
import type { Translate } from "./pure/words.js";

/** Bytes of all pictures that are kept; the oldest go first. */
const MOST_BYTES = 100 * 1024 * 1024;

/** JSON-RPC's code for what a method does not take. */
const INVALID_PARAMS = -32_602;

interface Kept {
  readonly type: string;
  readonly data: Buffer;
}

export class Pictures {
  /** Oldest first. Where there is no folder, this is all; else what is on its way to it. */
  readonly #held = new Map<string, Kept>();
  #writing: Promise<void> = Promise.resolve();

  /** @param folder where this window's workspace keeps things; `undefined` without a workspace. */
  constructor(
    folder: string | undefined,
    private readonly t: Translate,
  ) {
    this.#folder = folder === undefined ? undefined : join(folder, "pictures");
    this.#drafts = folder === undefined ? undefined : join(folder, "drafts");
  }

  readonly #folder: string | undefined;
  readonly #drafts: string | undefined;

  /** Takes one over. Throws a `DaemonFault` for what Gemini does not take. */
  add(name: string, base64: string): Picture {
    const data = Buffer.from(base64, "base64");
    const type = pictureType(data);
    if (type === undefined || data.length > PICTURES_BYTES)
      throw this.#fault(
        "picture",
        this.t("{0} is no picture that Gemini takes.", name),
        this.t("Save it as PNG, JPEG, WebP, HEIC or HEIF."),
      );
    const digest = createHash("sha256").update(data).digest("hex");
    this.#hold(digest, { type, data });
    return { digest, name: name.slice(0, 255), type, bytes: data.length };
  }

  /** Takes over those of a prompt that the daemon tells of. */
  learn(parts: readonly Part[]): void {
    for (const part of parts) {
      const found = pictureIn(part);
      if (found && !this.#held.has(found.picture.digest))
        this.#hold(found.picture.digest, { type: found.picture.type, data: Buffer.from(found.data, "base64") });
    }
  }

  /** The bytes in base64; `undefined` where they are gone. */
  async read(digest: string): Promise<{ readonly type: string; readonly data: string } | undefined> {
    const held = this.#held.get(digest) ?? (await this.#onDisk(digest));
    return held && { type: held.type, data: held.data.toString("base64") };
  }

  /** The part of a prompt that it is. Rejects with a `DaemonFault` where its bytes are gone. */
  async part({ digest, name }: Picture): Promise<Part> {
    const found = await this.read(digest);
    if (found)
      return { inlineData: { mimeType: found.type, data: found.data, ...(name === "" ? {} : { displayName: name }) } };
    throw this.#fault(
      "pictureGone",
      this.t("The picture {0} is not kept any more.", name),
      this.t("Take it out, and paste or drop it again."),
    );
  }

  /** Where it can be opened from. */
  async path(digest: string): Promise<string | undefined> {
    await this.#writing;
    return this.#file(digest);
  }

  /** Remove what no draft and no queue names, nor a prompt that is `shown`. */
  async sweep(shown: readonly Written[] = []): Promise<void> {
    const [folder, drafts] = [this.#folder, this.#drafts];
    if (folder === undefined || drafts === undefined) return;
    await this.#inOrder(async () => {
      const names = await readdir(drafts).catch(() => []);
      const texts = await Promise.all(names.map((name) => readFile(join(drafts, name), "utf8").catch(() => "")));
      texts.push(JSON.stringify(shown.map(({ pictures }) => pictures)));
      for (const name of await readdir(folder).catch(() => []))
        if (!texts.some((text) => text.includes(name.slice(0, 64)))) await rm(join(folder, name), { force: true });
    });
  }

  #hold(digest: string, kept: Kept): void {
    this.#held.delete(digest);
    this.#held.set(digest, kept);
    let sum = [...this.#held.values()].reduce((all, { data }) => all + data.length, 0);
    for (const [old, { data }] of this.#held) {
      if (sum <= MOST_BYTES || old === digest) break;
      this.#held.delete(old);
      sum -= data.length;
    }
    const folder = this.#folder;
    if (folder === undefined) return;
    void this.#inOrder(async () => {
      await write(folder, digest, kept);
      await bound(folder);
      this.#held.delete(digest);
    });
  }

  async #onDisk(digest: string): Promise<Kept | undefined> {
    const path = await this.path(digest);
    const data = path === undefined ? undefined : await readFile(path).catch(() => undefined);
    const type = data && pictureType(data);
    return data && type && { type, data };
  }

  async #file(digest: string): Promise<string | undefined> {
    const folder = this.#folder;
    const names = folder === undefined ? [] : await readdir(folder).catch(() => []);
    const name = names.find((one) => one.startsWith(digest) && !one.endsWith(".tmp"));
    return folder === undefined || name === undefined ? undefined : join(folder, name);
  }

  /** One after the other; a disk that refuses disturbs no chat: what could not be written is held. */
  #inOrder(work: () => Promise<void>): Promise<void> {
    this.#writing = this.#writing.then(work).catch(() => undefined);
    return this.#writing;
  }

  #fault(kind: string, message: string, hint: string): DaemonFault {
    return new DaemonFault(INVALID_PARAMS, { kind, message, hint, retryable: false });
  }
}

async function write(folder: string, digest: string, { type, data }: Kept): Promise<void> {
  const ending = Object.entries(PICTURE_TYPES).find(([name]) => name === type)?.[1] ?? "png";
  const path = join(folder, `${digest}.${ending}`);
  if (await stat(path).catch(() => undefined)) return;
  await mkdir(folder, { recursive: true });
  await writeFile(`${path}.tmp`, data, { mode: 0o600 });
  await rename(`${path}.tmp`, path);
}

async function bound(folder: string): Promise<void> {
  const files = await Promise.all(
    (await readdir(folder)).map(async (name) => ({
      path: join(folder, name),
      ...sizeOf(await stat(join(folder, name))),
    })),
  );
  files.sort((a, b) => b.time - a.time);
  let sum = 0;
  for (const { path, size } of files) {
    sum += size;
    if (sum > MOST_BYTES) await rm(path, { force: true });
  }
}

function sizeOf({ size, mtimeMs }: { readonly size: number; readonly mtimeMs: number }) {
  return { size, time: mtimeMs };
}
