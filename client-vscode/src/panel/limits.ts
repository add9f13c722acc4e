/** Limits that the host keeps and the page knows of. */

/** Most prompts that wait, as in the daemon. */
export const QUEUE_LIMIT = 16;

/** Longest rule that is written in the panel, characters. */
export const LONGEST_RULE = 4_000;
