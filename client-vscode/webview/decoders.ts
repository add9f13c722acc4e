/** Checks of what comes from outside the page. A chunk of its own: nothing comes before the transcript can take it. */
import * as v from "valibot";
import { decodeResult, decodeToPage } from "../src/panel/toPage.js";
import type { PageDraft } from "./shell/ports.js";

const draftSchema = v.object({ sessionId: v.optional(v.string()), draft: v.string() });

/** What the page kept of a draft, if that is what it kept. */
function decodeDraft(value: unknown): PageDraft | undefined {
  const parsed = v.safeParse(draftSchema, value);
  return parsed.success ? { sessionId: parsed.output.sessionId, draft: parsed.output.draft } : undefined;
}

export const decoders = { toPage: decodeToPage, result: decodeResult, draft: decodeDraft } as const;

export type Decoders = typeof decoders;
