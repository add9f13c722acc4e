// Times functions that the public package @google/gemini-cli-core exports, on the conversation that conversation.py describes.
// Arguments: the package's folder, a folder for its files, the description as JSON. One JSON object a line comes in, one goes out.
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";
import { createHash } from "node:crypto";

const [packageFolder, filesFolder, descriptionText] = process.argv.slice(2);
const description = JSON.parse(descriptionText);
for (const level of ["log", "info", "debug", "warn", "error"]) console[level] = () => {}; // stdout is for answers alone

const load = (module) => import(pathToFileURL(path.join(packageFolder, "dist/src", module)).href);
const { ChatCompressionService, findCompressSplitPoint } = await load("context/chatCompressionService.js");
const { estimateTokenCountSync } = await load("utils/tokenCalculation.js");

const MODEL = "gemini-2.5-pro";
const SNAPSHOT = "<state_snapshot>done</state_snapshot>";
const COMPRESSED = 1;

let contents = [];
let contentsAsJson = "";

function makeTexts() {
  const { words, characters } = description;
  let state = description.seed;
  const chance = () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
  return Array.from({ length: description.texts }, () => {
    let said = "";
    while (said.length < characters) {
      const word = words[Math.floor(chance() * words.length)];
      said += word + (chance() < description.lineBreaks ? "\n" : " ");
    }
    return said.slice(0, characters);
  });
}

function makeContents(count, block = description.block) {
  const texts = makeTexts();
  const { tool, characters } = description;
  return Array.from({ length: count }, (_, index) => {
    const text = `${index} ${texts[index % texts.length]}`.slice(0, characters);
    const id = `call-${Math.floor(index / block.length)}`;
    const kind = block[index % block.length];
    if (kind === "call") return { role: "model", parts: [{ functionCall: { id, name: tool, args: { command: text } } }] };
    if (kind === "output") return { role: "user", parts: [{ functionResponse: { id, name: tool, response: { output: text } } }] };
    return { role: kind === "prompt" ? "user" : "model", parts: [{ text }] };
  });
}

// As much of the package's configuration as a compression asks for; the model answers at once.
function configuration() {
  let truncated = 0;
  const answer = { candidates: [{ content: { parts: [{ text: SNAPSHOT }] } }] };
  const config = {
    getActiveModel: () => MODEL,
    getApprovedPlanPath: () => undefined,
    getBaseLlmClient: () => ({ generateContent: async () => answer }),
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
    getTruncateToolOutputThreshold: () => 40_000,
    getUsageStatisticsEnabled: () => false,
    isInteractive: () => false,
    storage: { getProjectTempDir: () => filesFolder },
  };
  config.config = config;
  return config;
}

async function compress(history) {
  const chat = { getHistory: () => history, getLastPromptTokenCount: () => 1e9 };
  const { info } = await new ChatCompressionService().compress(chat, "bench", true, MODEL, configuration(), false);
  if (info.compressionStatus !== COMPRESSED) throw new Error(`compression ended with status ${info.compressionStatus}`);
}

const work = {
  split: () => findCompressSplitPoint(contents, 0.7),
  estimate: () => estimateTokenCountSync(contents.flatMap((content) => content.parts)),
  compress: () => compress(contents),
  cold: () => compress(JSON.parse(contentsAsJson)),
};

function countFiles(folder) {
  if (!fs.existsSync(folder)) return 0;
  return fs.readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile()).length;
}

async function time(name, calls) {
  const taken = [];
  const processor = [];
  let files = 0;
  for (let call = 0; call < calls; call++) {
    fs.rmSync(filesFolder, { recursive: true, force: true }); // not timed
    fs.mkdirSync(filesFolder, { recursive: true });
    const used = process.cpuUsage();
    const started = performance.now();
    await work[name]();
    taken.push(performance.now() - started);
    const { user, system } = process.cpuUsage(used);
    processor.push((user + system) / 1000);
    files = countFiles(filesFolder);
  }
  return { ms: taken, processor, files };
}

async function answer(request) {
  if (request.make === undefined) return time(request.time, request.calls);
  contents = makeContents(request.make, request.block);
  contentsAsJson = JSON.stringify(contents);
  return { fingerprint: createHash("sha256").update(JSON.stringify(contents.slice(0, 1000))).digest("hex") };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = await answer(JSON.parse(line));
  } catch (error) {
    reply = { error: String(error?.message ?? error) };
  }
  process.stdout.write(JSON.stringify(reply) + "\n");
}
process.exit(0);
