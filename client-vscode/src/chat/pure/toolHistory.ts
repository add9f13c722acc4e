/** The calls of tools as the log has them: from a reply its calls, from the results behind it what became of them. */
import type { ToolRow } from "../../panel/contract.js";
import type { CallRecord, HistoryItem } from "../../protocol.gen.js";
import { endedTool, toolRow, withArguments, withOutput, type Words } from "./toolRows.js";

type Part = Readonly<Record<string, unknown>>;

/** The calls of a reply; `at`: characters of the answer's text before them. A call without a result was cut short. */
export function callsOf(parts: readonly Part[], at: number, words: Words): ToolRow[] {
  return parts.flatMap((part, index): ToolRow[] => {
    const fields = objectOf(part["functionCall"]);
    if (fields === undefined) return [];
    const name = typeof fields["name"] === "string" ? fields["name"] : "tool";
    const id = typeof fields["id"] === "string" ? fields["id"] : placeholder(name, index);
    return [toolRow({ id, name, args: objectOf(fields["args"]) ?? {}, at }, "interrupted", words)];
  });
}

/**
 * The calls with one of them as it is now. After a reload, or in another window, one that waits is there by what the log has of it, for the
 * most part without an id; a new one comes last.
 */
export function withCall(tools: readonly ToolRow[], call: ToolRow): ToolRow[] {
  const isLogged = ({ id, name, state, title }: ToolRow): boolean =>
    state === "interrupted" && name === call.name && title === call.title && isPlaceholder(id, name);
  const same = tools.find(({ id }) => id === call.id) ?? tools.find(isLogged);
  if (same === undefined) return [...tools, call];
  return tools.map((tool) => (tool === same ? { ...call, at: same.at } : tool));
}

/** In the place of the id of a call that the model gave none, and that has no result yet. */
function placeholder(name: string, index: number): string {
  return `${name}-${index}`;
}

function isPlaceholder(id: string, name: string): boolean {
  return id.startsWith(`${name}-`) && /^\d+$/.test(id.slice(name.length + 1));
}

/**
 * The results of a round's calls: each by its id, else by its place, for the model need not name a call. A log of an earlier release has no
 * records: what has an answer is done. `from` is the round's first call among `tools`.
 */
export function withResults(
  tools: readonly ToolRow[],
  from: number,
  { parts, calls: records = [] }: Pick<HistoryItem, "parts" | "calls">,
  words: Words,
): ToolRow[] {
  const responses = parts.flatMap((part): Part[] => {
    const fields = objectOf(part["functionResponse"]);
    return fields === undefined ? [] : [fields];
  });
  return tools.map((tool, index) => {
    if (index < from) return tool;
    const place = index - from;
    const record = records.find(({ callId }) => callId === tool.id) ?? at(records, place, tool.name);
    const id = record?.callId ?? tool.id;
    const named = responses.find((one) => one["id"] === id || one["id"] === tool.id);
    const response = named ?? (responses[place]?.["name"] === tool.name ? responses[place] : undefined);
    if (record === undefined && response === undefined) return tool;
    const edited = record?.editedArgs === undefined ? tool : withArguments(tool, record.editedArgs, words);
    const body = objectOf(response?.["response"]) ?? {};
    const ended = endedTool({ ...edited, id }, record ?? { outcome: "error" in body ? "failed" : "ok" });
    // What people see of an output is asked for by the call's id; only of one that has none the log's own words are all there is.
    return record === undefined && response?.["id"] === undefined ? withOutput(ended, textOf(body)) : ended;
  });
}

function at(records: readonly CallRecord[], index: number, name: string): CallRecord | undefined {
  const record = records[index];
  return record?.name === name ? record : undefined;
}

function textOf(body: Part): string {
  const text = body["output"] ?? body["error"];
  if (typeof text === "string") return text;
  return Object.keys(body).length === 0 ? "" : JSON.stringify(body);
}

/** Whatever a model or a tool wrote there, if it is an object; every field of it is tested where it is read. */
function objectOf(value: unknown): Part | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return value as Part;
}
