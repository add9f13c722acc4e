/** Compressions in words. */
import type { Translate } from "../../chat/pure/words.js";
import { meterOf } from "../../chat/pure/panelState.js";
import { backgroundText } from "../../panel/sentences.js";
import { phaseLook } from "../../panel/statuses.js";
import { percent } from "../../status/pure/meterText.js";
import type { CompressionStatusReport } from "../../protocol.gen.js";

/** What a phase does, for a progress line. */
export function phaseText(phase: string, t: Translate, block?: number, blocks?: number): string {
  const text = t(phaseLook(phase).long);
  return block !== undefined && blocks !== undefined && blocks > 1
    ? t("{0}, block {1} of {2}", text, block, blocks)
    : text;
}

/** Where compression stands, in a few sentences. */
export function statusText(report: CompressionStatusReport, t: Translate, number: (value: number) => string): string {
  const share = percent(meterOf(report));
  const about =
    report.tokenCountSource === "estimate" ? t("about {0}", number(report.tokenCount)) : number(report.tokenCount);
  const sentences = [t("{0} of {1} tokens are used ({2}).", about, number(report.tokenLimit), share)];
  if (report.phase === "waiting") sentences.push(t("A compression waits for the answer to end."));
  else if (report.state === "running")
    sentences.push(t("A compression runs: {0}.", phaseText(report.phase ?? "summarising", t)));
  else if (report.tokensUntilCompression === null || report.mode === "off")
    sentences.push(t("Automatic compression is off."));
  else if (report.mode === "remind")
    sentences.push(
      report.isDue
        ? t("The chat is long enough to be compressed.")
        : t("You are reminded to compress in {0} tokens.", number(report.tokensUntilCompression)),
    );
  else if (report.tokensUntilCompression > 0)
    sentences.push(t("Compression starts by itself in {0} tokens.", number(report.tokensUntilCompression)));
  else sentences.push(t("Compression is due with the next prompt."));
  if (report.thresholdReason) sentences.push(report.thresholdReason);
  const ahead = backgroundText(meterOf(report), t, number);
  if (ahead !== "") sentences.push(ahead);
  if (report.hasFailedCompressionAttempt)
    sentences.push(
      t("The last automatic compression did not help, so only tool outputs are shortened until the chat has grown."),
    );
  sentences.push(
    report.compressions === 1
      ? t("This chat was compressed once.")
      : t("This chat was compressed {0} times.", report.compressions),
  );
  if (report.last?.message) sentences.push(report.last.message);
  if (report.verdict?.message) sentences.push(report.verdict.message);
  return sentences.join(" ");
}

/** What a compression hides, as a text that can be compared with its snapshot. */
export function comparison(
  contents: readonly { readonly role: "model" | "user"; readonly text: string }[],
  t: Translate,
): string {
  const blocks = contents
    .filter(({ text }) => text.trim() !== "")
    .map(({ role, text }) => `## ${role === "user" ? t("You") : "Gemini"}\n\n${text.trim()}\n`);
  return blocks.join("\n");
}
