/** Small versions of pictures: each is asked of the host once, and what is kept of it is small, however often it is shown. */
import type { PageResults } from "../src/panel/contract.js";

/** Pixels of the longer side: twice what is shown. */
const SIDE = 160;

export class Thumbnails {
  readonly #known = new Map<string, Promise<string | undefined>>();

  constructor(private readonly ask: (digest: string) => Promise<PageResults["picture"]>) {}

  /** Its address for an `img`; `undefined` for one that is gone, or that this browser cannot show, as HEIC. */
  of(digest: string): Promise<string | undefined> {
    const known = this.#known.get(digest);
    if (known !== undefined) return known;
    const made = this.ask(digest)
      .then(({ type, data }) => (data === null ? undefined : small(type, data)))
      .catch(() => undefined);
    this.#known.set(digest, made);
    return made;
  }
}

async function small(type: string, data: string): Promise<string | undefined> {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  const whole = await createImageBitmap(new Blob([bytes], { type }));
  const scale = Math.min(1, SIDE / Math.max(whole.width, whole.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(whole.width * scale));
  canvas.height = Math.max(1, Math.round(whole.height * scale));
  canvas.getContext("2d")?.drawImage(whole, 0, 0, canvas.width, canvas.height);
  whole.close();
  return canvas.toDataURL("image/png");
}
