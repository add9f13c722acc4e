/** What a workspace that is not trusted means for who chats in it: one text, wherever it is said. */

type Translate = (text: string) => string;

export function untrustedHint(t: Translate): string {
  return t(
    "Until you trust it, its settings are ignored, and nothing in it is changed or run. Only paths and what you select go along with your prompts; Gemini may read files when it needs them, and its answer says what was read.",
  );
}
