/** How full the model's window is, as the last answer counted it. */
import type { CompressionStatusReport, UsageUpdated } from "../../protocol.gen.js";

export function withUsage(
  status: CompressionStatusReport,
  { tokenCount, tokenLimit, source, tokensUntilCompression }: UsageUpdated,
): CompressionStatusReport {
  return {
    ...status,
    tokenCount,
    tokenLimit,
    tokenCountSource: source,
    tokensUntilCompression: tokensUntilCompression ?? null,
    isDue: tokensUntilCompression !== undefined && tokensUntilCompression <= 0,
  };
}
