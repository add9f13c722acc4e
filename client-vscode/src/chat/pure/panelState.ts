/** Everything around the transcript, as the page shows it: computed whole, from what the chat, the daemon and the editor say. */
import type { ReportedFile } from "../../context/port.js";
import type {
  Action,
  Chip,
  DaemonView,
  ErrorView,
  HiddenRun,
  MeterView,
  OtherChat,
  PanelSettings,
  PanelState,
  QueuedPrompt,
  WorkView,
} from "../../panel/contract.js";
import { cutText, extentText } from "../../panel/extents.js";
import { isOwnModel, OFFLINE_MODEL } from "../../panel/models.js";
import type { CompressionStatusReport, Constraint, ContextFile, ModelReport, SessionInfo } from "../../protocol.gen.js";
import type { HoldReason } from "./queue.js";
import type { Translate } from "./words.js";
import { untrustedHint } from "../../panel/sentences.js";

export interface PanelSources {
  readonly chat: number;
  readonly coming?: PanelState["coming"] | undefined;
  readonly others?: readonly OtherChat[];
  readonly daemon: DaemonView;
  readonly trusted: boolean;
  readonly info?: SessionInfo | undefined;
  readonly models?: ModelReport | undefined;
  readonly askedModel?: string | undefined;
  readonly status?: CompressionStatusReport | undefined;
  readonly job: PanelState["job"];
  readonly files: readonly ReportedFile[];
  /** What of the open files goes along, by URI. */
  readonly outlook: ReadonlyMap<string, ContextFile>;
  /** The path of a URI inside the workspace. */
  readonly relative: (uri: string) => string;
  /** Rules and pins of the chat. */
  readonly constraints: readonly Pick<Constraint, "state">[];
  /** A compression is due, and somebody wants to be told so. */
  readonly reminds: boolean;
  /** How often memory files have changed. */
  readonly sourceChanges?: number;
  /** How often MCP servers have moved. */
  readonly serverChanges?: number;
  readonly queue: readonly QueuedPrompt[];
  readonly work: WorkView;
  /** Why the queued prompts wait, if they would wait for ever. */
  readonly queueHeld?: HoldReason | undefined;
  readonly retryTurn?: string | undefined;
  readonly hidden: readonly HiddenRun[];
  readonly fault?: ErrorView | undefined;
  readonly settings: PanelSettings;
  /** Whether the person has put the hint about the offline model away. */
  readonly knowsOffline: boolean;
}

export function panelState(sources: PanelSources, t: Translate): PanelState {
  const { info, models, status } = sources;
  const banner = bannerOf(sources, t);
  const own = ownModel(sources);
  return {
    chat: sources.chat,
    ...(sources.coming === undefined ? {} : { coming: sources.coming }),
    ...(sources.others === undefined || sources.others.length === 0 ? {} : { others: [...sources.others] }),
    daemon: sources.daemon,
    trusted: sources.trusted,
    isLocal: answersOffline(sources) || own !== undefined,
    ...(own === undefined ? {} : { localModel: own }),
    providerHint: models?.hint ?? "",
    ...(models?.unread === undefined || models.unread.length === 0 ? {} : { unread: [...models.unread] }),
    job: sources.job,
    chips: sources.files.map((file) => chipOf(file, sources, t)),
    rules: { inForce: count(sources, "inForce"), proposed: count(sources, "proposed") },
    sourceChanges: sources.sourceChanges ?? 0,
    serverChanges: sources.serverChanges ?? 0,
    queue: sources.queue,
    work: sources.work,
    models: {
      current: models?.default ?? "",
      list: models?.models ?? [],
      ...(sources.askedModel === undefined ? {} : { asked: sources.askedModel }),
    },
    hidden: sources.hidden,
    canUndo: status?.canUndo ?? false,
    examples: examples(sources.files, sources, t),
    settings: sources.settings,
    ...(info
      ? {
          session: {
            sessionId: info.sessionId,
            title: info.title,
            ...(info.heldBy === undefined ? {} : { heldBy: info.heldBy }),
          },
        }
      : {}),
    ...(sources.retryTurn === undefined ? {} : { retryTurn: sources.retryTurn }),
    ...(status ? { meter: meterOf(status) } : {}),
    ...(banner ? { banner } : {}),
  };
}

function count({ constraints }: PanelSources, wanted: Constraint["state"]): number {
  return constraints.filter(({ state }) => state === wanted).length;
}

/** Whether the built-in model answers next: for want of anything else, or because it was chosen. */
function answersOffline({ models, askedModel }: PanelSources): boolean {
  if (models === undefined) return false;
  // With a hint, the daemon falls back on the offline model whatever is asked for.
  return models.hint === "" ? (askedModel ?? models.default) === OFFLINE_MODEL : models.isLocal;
}

/** The model of the person's own that answers next, if it is one. */
function ownModel(sources: PanelSources): string | undefined {
  const { models, askedModel } = sources;
  const name = askedModel ?? models?.default ?? "";
  return isOwnModel(name) && !answersOffline(sources) ? name : undefined;
}

/** The meter's numbers; where compression starts is absent while it does not start by itself. */
export function meterOf(status: CompressionStatusReport): MeterView {
  const { tokenCount, tokenLimit, tokenCountSource, compressionAt, state, preparedSaves } = status;
  return {
    used: tokenCount,
    limit: tokenLimit,
    source: tokenCountSource,
    mode: status.mode,
    ...(compressionAt === undefined ? {} : { compressionAt: Math.min(tokenLimit, compressionAt) }),
    ...(state === "preparing" || state === "prepared" ? { background: state } : {}),
    ...(state === "prepared" && preparedSaves !== undefined ? { saves: preparedSaves } : {}),
  };
}

function chipOf(file: ReportedFile, sources: PanelSources, t: Translate): Chip {
  const detail = sources.relative(file.uri);
  const name = detail.split("/").at(-1) ?? detail;
  const ahead = file.included ? sources.outlook.get(file.uri) : undefined;
  const cut = ahead?.selectionCut;
  const selected = file.selectedLines;
  const lines = cut?.sent ?? (selected && ([selected[0] + 1, selected[1] + 1] as const));
  const label = lines ? `${name}:${lines[0] === lines[1] ? lines[0] : `${lines[0]}-${lines[1]}`}` : name;
  const chip = { uri: file.uri, label, detail, isActive: file.isActive, included: file.included };
  if (ahead === undefined) return chip;
  if (ahead.extent === "none") return { ...chip, withheld: ahead.reason ?? "" };
  const { reason = "", unsaved = false } = ahead;
  const sends = [extentText(ahead, t) + (ahead.extent === "path" && reason !== "" ? `: ${reason}` : "")];
  if (cut) sends.push(cutText(cut, t));
  const notes = [
    ...(unsaved ? [t("unsaved text")] : []),
    ...(ahead.extent === "path" || reason === "" ? [] : [reason]),
  ];
  return { ...chip, sends: sends.join(", "), ...(notes.length === 0 ? {} : { note: notes.join(", ") }) };
}

/** One thing above the composer: the most pressing one. What is wrong with the daemon or with who holds the session has its own place. */
function bannerOf(sources: PanelSources, t: Translate): PanelState["banner"] {
  if (sources.daemon.kind !== "ready") return undefined;
  if (sources.fault) return { ...sources.fault, level: "error" };
  // Of a chat that another window has the page says so: nothing can be sent now.
  if (sources.queueHeld !== undefined && sources.info?.heldBy === undefined) {
    return note(
      "info",
      "queueHeld",
      sources.queueHeld === "restored"
        ? t("Prompts that were queued before the window was opened anew are waiting.")
        : t("Queued prompts wait: the last answer was stopped or failed."),
      t("Send one now, edit it or remove it."),
      [],
    );
  }
  if (sources.reminds) {
    return note(
      "info",
      "compressionDue",
      t("This chat is long enough to be compressed."),
      sources.status?.verdict?.message ?? t("Each further prompt sends all of it again."),
      [
        { id: "compress", label: t("Compress") },
        { id: "remindLater", label: t("Later") },
      ],
    );
  }
  if (!sources.trusted) {
    return note("warning", "untrustedWorkspace", t("This workspace is not trusted."), untrustedHint(t), [
      { id: "manageTrust", label: t("Manage Trust") },
    ]);
  }
  if (answersOffline(sources) && sources.models?.hint === "" && !sources.knowsOffline) {
    return note(
      "info",
      "offline",
      t("The built-in offline model answers: it is the one that was chosen."),
      t("Choose another model below to talk to Gemini."),
      [{ id: "continueAnyway", label: t("Go On Offline") }],
    );
  }
  // Where a settings file cannot be read, that is why: the page says so.
  if (answersOffline(sources) && !sources.knowsOffline && (sources.models?.unread ?? []).length === 0) {
    return note(
      "info",
      "offline",
      t("The built-in offline model answers."),
      t("It needs no key and no network. Set an API key to talk to Gemini."),
      [
        { id: "setApiKey", label: t("Set API Key") },
        { id: "continueAnyway", label: t("Go On Offline") },
      ],
    );
  }
  return undefined;
}

function note(
  level: "info" | "warning",
  kind: string,
  message: string,
  hint: string,
  actions: readonly Action[],
): PanelState["banner"] {
  return { level, kind, message, hint, retryable: false, actions };
}

function examples(files: readonly ReportedFile[], sources: PanelSources, t: Translate): string[] {
  const active = files.find((file) => {
    const extent = file.isActive && file.included ? sources.outlook.get(file.uri)?.extent : undefined;
    return extent === "whole" || extent === "lines" || extent === "part";
  });
  if (!active)
    return [
      t("What can you do?"),
      t("How should I begin in this project?"),
      t("What should a good commit message say?"),
    ];
  const name = sources.relative(active.uri).split("/").at(-1) ?? "";
  if (/\.(md|txt|rst|adoc)$/i.test(name))
    return [t("What does {0} say?", name), t("What is unclear in {0}?", name), t("What is missing in {0}?", name)];
  return [
    t("What does {0} do?", name),
    t("What could go wrong in {0}?", name),
    t("Which tests are missing for {0}?", name),
  ];
}
