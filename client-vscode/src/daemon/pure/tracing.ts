/** What of a message may stand in a log: its method, its id and its size. */

const LONGEST = 300;

/** The first line, cut to 300 characters, without control characters. */
export function firstLine(text: string): string {
  const end = /[\r\n]/.exec(text)?.index ?? text.length;
  return text.slice(0, Math.min(end, LONGEST)).replace(/\p{Cc}/gu, " ");
}

/** As in `gemini/chat #12, 1834 bytes`. */
export function describeMessage(message: unknown, bytes: number): string {
  const { method, id } =
    typeof message === "object" && message !== null ? (message as { method?: unknown; id?: unknown }) : {}; // read only after a check
  const name = typeof method === "string" ? firstLine(method) : "answer";
  return `${name}${typeof id === "string" || typeof id === "number" ? ` #${firstLine(String(id))}` : ""}, ${bytes} bytes`;
}
