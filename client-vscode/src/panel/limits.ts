/** Limits that the host keeps and the page knows of. */

/** Most prompts that wait, as in the daemon. */
export const QUEUE_LIMIT = 16;

/** Longest text that a page may post, characters: a prompt, or a code block. */
export const LONGEST_TEXT = 4_000_000;

/** Longest rule that is written in the panel, characters. */
export const LONGEST_RULE = 4_000;

/** Longest fact that is kept in a memory file, characters, as in the daemon. */
export const LONGEST_FACT = 2_000;
