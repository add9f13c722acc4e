import { useState } from "preact/hooks";
import type { KeptReport, Statement } from "../../src/protocol.gen.js";
import { t } from "../strings.js";
import { DialogTitle, shorten, useListed } from "./dialog.js";
import { FaultLine } from "./faultLine.js";
import { Icon } from "./icon.js";
import { formatCount } from "./numbers.js";
import { Popup } from "./popup.js";
import { useShell } from "./shell.js";

/** How many sentences there are before there is a field to narrow them down. */
const fewSentences = 8;

/** What the person said that a compression keeps word for word, and what of it need not be. */
export function KeptDialog({ locale }: { readonly locale: string }) {
  return (
    <Popup name="kept" label={t("What is kept")} class="popup-header">
      <KeptBody locale={locale} />
    </Popup>
  );
}

function KeptBody({ locale }: { readonly locale: string }) {
  const shell = useShell();
  const [filter, setFilter] = useState("");
  const { compressionId } = shell.kept.value;
  const panel = shell.panel.value;
  const isReadOnly = panel?.session?.heldBy !== undefined;
  // A rule that is released meanwhile need not be kept any more, and another compression keeps something else.
  const key = `${compressionId ?? ""} ${panel?.rules.inForce ?? 0} ${panel?.job.kind ?? ""}`;
  const { value, error, act } = useListed(key, () =>
    shell.line.call({ do: "kept", ...(compressionId === undefined ? {} : { compressionId }) }),
  );
  const all = value?.statements ?? [];
  const wanted = filter.trim().toLowerCase();
  const shown = wanted === "" ? all : all.filter(({ text }) => text.toLowerCase().includes(wanted));

  const keep = ({ statementId }: Statement, isKept: boolean) =>
    void act(async () => {
      await shell.line.call({ do: "keepStatement", statementId, isKept });
      shell.announce(isKept ? t("Kept again") : t("Not kept any more"));
    });

  return (
    <>
      <DialogTitle>{t("What is kept")}</DialogTitle>
      {error === undefined ? null : <FaultLine error={error} />}
      {value === undefined ? null : value.compressionId === undefined ? (
        <p>{t("No compression of this chat keeps what you said: the strategy “Record” does.")}</p>
      ) : (
        <Sums report={value} locale={locale} />
      )}
      {value?.isOutdated === true && !isReadOnly ? <Outdated isPreview={value.isPreview === true} /> : null}
      {all.length > fewSentences ? (
        <input
          type="search"
          class="input kept-filter"
          aria-label={t("Filter the sentences")}
          placeholder={t("Filter the sentences")}
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      ) : null}
      {value?.omitted === undefined || value.omitted === 0 ? null : (
        <p class="quiet">{t("{0} older sentences are not listed.", formatCount(value.omitted, locale))}</p>
      )}
      {all.length > 0 && shown.length === 0 ? <p class="quiet">{t("No sentence says “{0}”.", filter.trim())}</p> : null}
      {shown.length === 0 ? null : (
        <ul class="rule-list" aria-label={t("What you said")}>
          {shown.map((statement) => (
            <Sentence
              key={statement.statementId}
              statement={statement}
              isPreview={value?.isPreview === true}
              keep={isReadOnly ? undefined : keep}
            />
          ))}
        </ul>
      )}
    </>
  );
}

function Sums({ report, locale }: { readonly report: KeptReport; readonly locale: string }) {
  const { whole = 0, tokens = 0, budget = 0, modelStatements = 0, calls = 0 } = report;
  const count = (value: number) => formatCount(value, locale);
  const all = (report.statements?.length ?? 0) + (report.omitted ?? 0);
  const others = [
    modelStatements === 1 ? t("1 sentence of the model") : t("{0} sentences of the model", count(modelStatements)),
    calls === 1 ? t("1 call") : t("{0} calls", count(calls)),
  ].filter((_, index) => [modelStatements, calls][index] !== 0);
  return (
    <p class="quiet">
      {t("{0} of your {1} sentences stand word for word beside the summary.", count(whole), count(all))}{" "}
      {t("They take {0} of {1} tokens.", count(tokens), count(budget))}{" "}
      {others.length === 0 ? null : t("Beside them: {0}.", others.join(", "))}
    </p>
  );
}

/** What was changed holds from the next compression on, which can be now. */
function Outdated({ isPreview }: { readonly isPreview: boolean }) {
  const shell = useShell();
  return (
    <p class="kept-outdated">
      {isPreview
        ? t("Your changes count when the preview is applied.")
        : t("Your changes count from the next compression on.")}{" "}
      {isPreview ? null : (
        <button
          type="button"
          class="text-action"
          onClick={() => {
            shell.closePopup("kept");
            shell.line.send({ type: "compress", preview: false, guided: false, strategy: "record" });
          }}
        >
          {t("Compress Again")}
        </button>
      )}
    </p>
  );
}

interface SentenceProps {
  readonly statement: Statement;
  readonly isPreview: boolean;
  readonly keep: ((statement: Statement, isKept: boolean) => void) | undefined;
}

function Sentence({ statement, isPreview, keep }: SentenceProps) {
  const shell = useShell();
  const { statementId, text, turnId, constraintId, isKept = true } = statement;
  const name = shorten(text);
  return (
    <li data-item={statementId}>
      <span class="rule-words" dir="auto" data-unwanted={isKept ? undefined : ""}>
        {text}
      </span>
      <span class="rule-line">
        <span class="quiet">
          {constraintId === undefined ? null : <Icon name="pin" />}
          {standing(statement, isPreview)}
        </span>
        <button
          type="button"
          class="text-action"
          aria-label={t("Show the prompt of: {0}", name)}
          onClick={() => {
            shell.closePopup("kept");
            shell.line.send({ type: "place", turnId, words: text });
          }}
        >
          {t("Show the Prompt")}
        </button>
        {constraintId !== undefined ? (
          <button
            type="button"
            class="text-action"
            aria-label={t("Show rules: {0}", name)}
            onClick={() => shell.openPopup("rules")}
          >
            {t("Show Rules")}
          </button>
        ) : keep === undefined ? null : (
          <button
            type="button"
            class="text-action"
            aria-label={isKept ? t("Don’t keep: {0}", name) : t("Keep again: {0}", name)}
            onClick={() => keep(statement, !isKept)}
          >
            {isKept ? t("Don’t Keep") : t("Keep Again")}
          </button>
        )}
      </span>
    </li>
  );
}

function standing({ constraintId, isKept, stands }: Statement, isPreview: boolean): string {
  if (constraintId !== undefined) return t("a rule in force");
  if (isKept === false) return stands === "no" || isPreview ? t("not kept") : t("goes with the next compression");
  return { whole: t("kept"), cut: t("kept in part"), no: t("left out") }[stands];
}
