/** What the host answers about the numbers of the chat of `answers`. */
import type { PageResults } from "../../src/panel/contract.js";

export const stats: PageResults["stats"] = {
  sessionId: "s1",
  turns: 41,
  calls: 58,
  failures: 1,
  cachedShare: 0.7087,
  cost: 2.4172,
  isCostComplete: true,
  pricesAsOf: "2026-10",
  compressionCost: 0.3112,
  promptTokens: 4_402_118,
  cachedTokens: 3_120_004,
  thoughtTokens: 21_300,
  outputTokens: 98_700,
  compressions: 2,
  tokensSaved: 716_220,
  models: [
    {
      model: "gemini-2.5-pro",
      purpose: "answer",
      calls: 51,
      failures: 1,
      promptTokens: 3_980_118,
      cachedTokens: 3_120_004,
      thoughtTokens: 21_300,
      outputTokens: 90_700,
      uncounted: 0,
      cost: 2.106,
      first: { median: 1_240, p95: 4_800, calls: 50 },
      whole: { median: 8_100, p95: 31_000, calls: 50 },
    },
    {
      model: "gemini-2.5-flash",
      purpose: "compression",
      calls: 6,
      failures: 0,
      promptTokens: 421_900,
      cachedTokens: 0,
      thoughtTokens: 0,
      outputTokens: 7_960,
      uncounted: 0,
      cost: 0.3112,
      whole: { median: 14_200, p95: 22_000, calls: 6 },
    },
  ],
  tools: [
    { name: "read_file", calls: 31, ok: 30, declined: 0, failed: 1, durationMs: 812, tokens: 18_400 },
    { name: "run_shell_command", calls: 9, ok: 6, declined: 2, failed: 1, durationMs: 84_300, tokens: 6_120 },
  ],
  compressionList: [
    {
      time: 6_500,
      status: "COMPRESSED",
      tokensBefore: 92_000,
      tokensAfter: 31_000,
      modelCalls: 3,
      durationMs: 21_000,
      cost: 0.15,
      compressionId: "c1",
    },
  ],
  requests: Array.from({ length: 12 }, (_, index) => {
    const step = index < 6 ? index : index - 4;
    const byPart = {
      systemInstruction: 3_000,
      tools: 2_400,
      environment: 600,
      memory: 0,
      ideContext: 800,
      snapshot: index < 6 ? 0 : 2_200,
      constraints: 120,
      messages: 2_000 + step * 5_000,
      toolOutputs: step * 9_000,
    };
    const tokens = Object.values(byPart).reduce((sum, part) => sum + part, 0);
    return {
      time: 1_000 + index * 1_000,
      turnId: `t${index}`,
      tokens,
      cachedTokens: 0,
      byPart,
      tokenLimit: 1_048_576,
    };
  }),
};
