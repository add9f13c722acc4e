/** Limits that the host keeps and the page knows of. */

/** Most prompts that wait, as in the daemon. */
export const QUEUE_LIMIT = 16;
