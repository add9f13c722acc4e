/** Everything around the transcript, as the page shows it: computed whole, from what the chat, the daemon and the editor say. */
import type { ReportedFile } from "../../context/port.js";
import type { Action, Chip, DaemonView, ErrorView, HiddenRun, MeterView, PanelSettings, PanelState, QueuedPrompt } from "../../panel/contract.js";
import type { CompressionStatusReport, ModelReport, SessionInfo } from "../../protocol.gen.js";
import type { Translate } from "./words.js";

export interface Around {
  readonly daemon: DaemonView;
  readonly trusted: boolean;
  readonly info?: SessionInfo | undefined;
  readonly models?: ModelReport | undefined;
  readonly askedModel?: string | undefined;
  readonly status?: CompressionStatusReport | undefined;
  readonly job: PanelState["job"];
  readonly files: readonly ReportedFile[];
  /** Why the daemon withholds a file, by its base name. */
  readonly withheld: ReadonlyMap<string, string>;
  /** The path of a URI inside the workspace. */
  readonly relative: (uri: string) => string;
  readonly pins: number;
  readonly queue: readonly QueuedPrompt[];
  readonly isQueueHeld: boolean;
  readonly hidden: readonly HiddenRun[];
  readonly fault?: ErrorView | undefined;
  readonly settings: PanelSettings;
  /** Whether the person has put the hint about the offline model away. */
  readonly knowsOffline: boolean;
}

export function panelState(around: Around, t: Translate): PanelState {
  const { info, models, status } = around;
  const provider = models?.provider ?? "gemini";
  const banner = bannerOf(around, provider, t);
  return {
    daemon: around.daemon,
    trusted: around.trusted,
    provider,
    providerHint: models?.hint ?? "",
    job: around.job,
    chips: around.files.map((file) => chipOf(file, around)),
    pins: around.pins,
    queue: around.queue,
    models: { current: models?.current ?? "", list: models?.models ?? [], ...(around.askedModel === undefined ? {} : { asked: around.askedModel }) },
    hidden: around.hidden,
    canUndo: status?.canUndo ?? false,
    examples: examples(around.files, around, t),
    settings: around.settings,
    ...(info ? { session: { sessionId: info.sessionId, title: info.title, ...(info.heldBy === undefined ? {} : { heldBy: info.heldBy }) } } : {}),
    ...(status ? { meter: meterOf(status) } : {}),
    ...(banner ? { banner } : {}),
  };
}

/** The meter's numbers; where compression starts is absent while it does not start by itself. */
export function meterOf(status: CompressionStatusReport): MeterView {
  const { tokenCount, tokenLimit, tokenCountSource, tokensUntilCompression } = status;
  const at = tokensUntilCompression === null ? undefined : Math.min(tokenLimit, Math.round(status.threshold * tokenLimit) || tokenCount + tokensUntilCompression);
  return { used: tokenCount, limit: tokenLimit, source: tokenCountSource, ...(at === undefined ? {} : { compressionAt: at }) };
}

function chipOf(file: ReportedFile, around: Around): Chip {
  const path = around.relative(file.uri);
  const name = path.split("/").at(-1) ?? path;
  const lines = file.selectedLines;
  const label = lines ? `${name}:${lines[0] === lines[1] ? lines[0] + 1 : `${lines[0] + 1}-${lines[1] + 1}`}` : name;
  const withheld = file.included ? around.withheld.get(name) : undefined;
  return { uri: file.uri, label, detail: path, isActive: file.isActive, included: file.included, ...(withheld === undefined ? {} : { withheld }) };
}

/** One thing above the composer: the most pressing one. What is wrong with the daemon or with who holds the session has its own place. */
function bannerOf(around: Around, provider: "gemini" | "offline", t: Translate): PanelState["banner"] {
  if (around.daemon.kind !== "ready") return undefined;
  if (around.fault) return { ...around.fault, level: "error" };
  if (around.isQueueHeld) {
    return note("info", "queueHeld", t("Queued prompts wait: the last answer was stopped or failed."), t("Send one now, edit it or remove it."), []);
  }
  if (!around.trusted) {
    return note("warning", "untrustedWorkspace", t("This workspace is not trusted."), t("Until you trust it, its settings are ignored and files named with @ are not read."), [
      { id: "manageTrust", label: t("Manage Trust") },
    ]);
  }
  if (provider === "offline" && around.models && !around.knowsOffline) {
    return note("info", "offline", t("The built-in offline model answers."), t("It needs no key and no network. Set an API key to talk to Gemini."), [
      { id: "setApiKey", label: t("Set API Key") },
      { id: "continueAnyway", label: t("Go On Offline") },
    ]);
  }
  return undefined;
}

function note(level: "info" | "warning", kind: string, message: string, hint: string, actions: readonly Action[]): PanelState["banner"] {
  return { level, kind, message, hint, retryable: false, actions };
}

function examples(files: readonly ReportedFile[], around: Around, t: Translate): string[] {
  const active = files.find((file) => file.isActive && file.included && !around.withheld.has(around.relative(file.uri).split("/").at(-1) ?? ""));
  if (!active) return [t("What can you do?"), t("How should I begin in this project?"), t("What should a good commit message say?")];
  const name = around.relative(active.uri).split("/").at(-1) ?? "";
  if (/\.(md|txt|rst|adoc)$/i.test(name)) return [t("What does {0} say?", name), t("What is unclear in {0}?", name), t("What is missing in {0}?", name)];
  return [t("What does {0} do?", name), t("What could go wrong in {0}?", name), t("Which tests are missing for {0}?", name)];
}
