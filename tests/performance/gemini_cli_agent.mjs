// A long agent run as the public package @google/gemini-cli-core sends it: its code truncates, masks and compresses.
// Arguments: the package's folder, a folder for its files. One JSON object a line comes in, one goes out.
// The order of the steps is that of its client: compress if due, mask, append what is pending, send.
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { createHash } from "node:crypto";
import { pathToFileURL } from "node:url";

const [packageFolder, filesFolder] = process.argv.slice(2);
for (const level of ["log", "info", "debug", "warn", "error"]) console[level] = () => {}; // stdout is for answers alone
fs.mkdirSync(filesFolder, { recursive: true });

const load = (module) => import(pathToFileURL(path.join(packageFolder, "dist/src", module)).href);
const { ChatCompressionService } = await load("context/chatCompressionService.js");
const masking = await load("context/toolOutputMaskingService.js");
const { ToolExecutor } = await load("scheduler/tool-executor.js");
const { CompressionStatus } = await load("core/turn.js");

const MODEL = "gemini-2.5-pro";
const TRUNCATED_AT = 40_000; // the default of its setting tools.truncateToolOutputThreshold
let history = [];
let summaryRequests = [];
let snapshot = "";
let hasFailed = false;
let truncated = 0;

// As much of the package's configuration as these three services ask for; the model that summarises answers at once.
const config = {
  getActiveModel: () => MODEL,
  getApprovedPlanPath: () => undefined,
  getBaseLlmClient: () => ({ generateContent: summarise }),
  getCompressionThreshold: async () => undefined,
  getContentGenerator: () => ({ countTokens: async () => ({ totalTokens: 1 }) }),
  getContentGeneratorConfig: () => undefined,
  getExperimentalDynamicModelConfiguration: () => false,
  getExperiments: () => undefined,
  getHookSystem: () => undefined,
  getIncludeDirectoryTree: () => false,
  getNextCompressionTruncationId: () => ++truncated,
  getSessionId: () => "bench",
  getSessionMemory: () => "",
  getToolOutputMaskingConfig: async () => ({
    protectionThresholdTokens: masking.DEFAULT_TOOL_PROTECTION_THRESHOLD,
    minPrunableThresholdTokens: masking.DEFAULT_MIN_PRUNABLE_TOKENS_THRESHOLD,
    protectLatestTurn: masking.DEFAULT_PROTECT_LATEST_TURN,
  }),
  getTruncateToolOutputThreshold: () => TRUNCATED_AT,
  getUsageStatisticsEnabled: () => false,
  isContextManagementEnabled: () => false, // its default
  isInteractive: () => false,
  storage: { getProjectTempDir: () => filesFolder },
};
config.config = config;

async function summarise(request) {
  summaryRequests.push(request.contents);
  return { candidates: [{ content: { parts: [{ text: snapshot }] } }] };
}

const told = new Set(); // what the other side knows by its digest

function described(contents) {
  const fresh = {};
  const ids = contents.map((content) => {
    const text = JSON.stringify(content);
    const id = createHash("sha256").update(text).digest("base64").slice(0, 22);
    if (!told.has(id)) {
      told.add(id);
      fresh[id] = content;
    }
    return id;
  });
  return { ids, fresh };
}

const chat = (lastPromptTokens) => ({ getHistory: () => history, getLastPromptTokenCount: () => lastPromptTokens });

const work = {
  async truncate({ id, name, output }) {
    const self = { config, context: { promptId: "bench" } };
    const call = { request: { name, callId: id, prompt_id: "bench" } };
    const { truncatedContent } = await ToolExecutor.prototype.truncateOutputIfNeeded.call(self, call, output);
    return { output: truncatedContent };
  },
  async send({ pending, lastPromptTokens }) {
    summaryRequests = [];
    const service = new ChatCompressionService();
    const done = await service.compress(chat(lastPromptTokens), "bench", false, MODEL, config, hasFailed);
    const status = CompressionStatus[done.info.compressionStatus];
    hasFailed = hasFailed || status.startsWith("COMPRESSION_FAILED");
    if (done.newHistory) history = done.newHistory;
    const masked = await new masking.ToolOutputMaskingService().mask(history, config);
    if (masked.maskedCount > 0) history = masked.newHistory;
    history = [...history, pending];
    return { status, masked: masked.maskedCount, request: described(history), summaries: summaryRequests.map(described) };
  },
  async answer({ content }) {
    history = [...history, content];
    return {};
  },
  async begin(request) {
    snapshot = request.snapshot;
    return {};
  },
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  let reply;
  try {
    const request = JSON.parse(line);
    reply = await work[request.do](request);
  } catch (error) {
    reply = { error: String(error?.message ?? error) };
  }
  process.stdout.write(JSON.stringify(reply) + "\n");
}
process.exit(0);
