import { vi } from "vitest";

/** Milliseconds after which a wait counts as a hang: it ends what will never come, and decides nothing by being short. */
const PATIENCE = 50_000;

// Vitest gives up after a second, which a busy machine may need, and has no setting for it.
const { waitFor, waitUntil } = vi;
vi.waitFor = (callback, options) => waitFor(callback, options ?? PATIENCE);
vi.waitUntil = (callback, options) => waitUntil(callback, options ?? PATIENCE);
