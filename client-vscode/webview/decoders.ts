/** Checks of what comes from outside the page. A chunk of its own: nothing comes before the transcript can take it. */
import * as v from "valibot";
import { pictureSchema } from "../src/panel/pictures.js";
import { pastedSchema } from "../src/panel/written.js";
import { decodeResult, decodeToPage } from "../src/panel/toPage.js";
import type { PageDraft } from "./shell/ports.js";

const draftSchema = v.object({
  sessionId: v.optional(v.string()),
  draft: v.string(),
  pasted: v.optional(v.array(pastedSchema), []),
  pictures: v.optional(v.array(pictureSchema), []),
});

/** What the page kept of a draft, if that is what it kept. */
function decodeDraft(value: unknown): PageDraft | undefined {
  const parsed = v.safeParse(draftSchema, value);
  if (!parsed.success) return undefined;
  const { sessionId, draft, pasted, pictures } = parsed.output;
  return { sessionId, draft, pasted, pictures };
}

export const decoders = { toPage: decodeToPage, result: decodeResult, draft: decodeDraft } as const;

export type Decoders = typeof decoders;
