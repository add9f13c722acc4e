/** Subagents in words: what each is for, where it comes from, and what is wrong with a file that defines none. */
import type { Translate } from "../../chat/pure/words.js";
import type { Requests } from "../../protocol.gen.js";

export type AgentInfo = Requests["gemini/agents/list"]["result"]["agents"][number];

const AGENT_SOURCES = {
  builtIn: { label: "built in" },
  workspace: { label: "this workspace" },
  user: { label: "your own" },
  extension: { label: "an extension" },
} as const satisfies Readonly<Record<NonNullable<AgentInfo["source"]>, { readonly label: string }>>;

export interface AgentRow {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  /** `path:line`: the file that defines it, or that is wrong. */
  readonly place?: string;
}

/** In the daemon's order: those that can be called first. */
export function agentRows(agents: readonly AgentInfo[], t: Translate): AgentRow[] {
  return agents.map((agent) => {
    const { name, displayName, description, path, problem, line, enabled, tools = [], model } = agent;
    const source = agent.source ?? "builtIn";
    const parts = [
      t(AGENT_SOURCES[source].label),
      ...(problem === undefined && enabled === false ? [t("turned off")] : []),
      ...(problem === undefined ? [t("tools: {0}", tools.length)] : []),
      ...(model === undefined || model === "" ? [] : [model]),
    ];
    return {
      label: problem === undefined ? (displayName ?? name) : `$(warning) ${name}`,
      description: parts.join(" · "),
      detail: problem ?? description ?? "",
      ...(path === undefined ? {} : { place: `${path}:${line === undefined || line === 0 ? 1 : line}` }),
    };
  });
}
