import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { RULE_DECISIONS, RULE_SOURCES, ruleFolder, ruleSubject, type StoredRule } from "../../src/panel/toolRules.js";
import { MODES } from "../../src/panel/tools.js";
import { t } from "../strings.js";
import { DialogTitle } from "./dialog.js";
import { FaultLine } from "./faultLine.js";
import { useAsked } from "./hooks.js";
import { Popup } from "./popup.js";
import { useShell } from "./shell.js";

/** What tools may do by the rules of consent, where each comes from, and taking those back that the person gave. */
export function ToolRulesDialog() {
  return (
    <Popup name="toolRules" label={t("Tool rules")} class="popup-footer">
      <ToolRulesBody />
    </Popup>
  );
}

type Decision = StoredRule["rule"]["decision"];

function ToolRulesBody() {
  const shell = useShell();
  const box = useRef<HTMLDivElement>(null);
  const [revoked, setRevoked] = useState<readonly StoredRule[] | undefined>(undefined);
  const isFocusDue = useRef(false);
  const panel = shell.panel.value;
  const isReadOnly = panel?.session?.heldBy !== undefined;
  const sessionId = panel?.session?.sessionId ?? "";
  // A question that was answered with "always" adds a rule while the list is open.
  const key = `${sessionId} ${panel?.work.questions ?? 0}`;
  const { value, error } = useAsked(key, 0, () => shell.line.call({ do: "toolRules" }));
  useEffect(() => setRevoked(undefined), [value]);
  const rules = revoked ?? value?.rules;

  // The button that was pressed went with its rule.
  useLayoutEffect(() => {
    if (!isFocusDue.current) return;
    isFocusDue.current = false;
    if (document.activeElement !== document.body) return;
    const next = box.current?.querySelector<HTMLElement>("li button");
    (next ?? box.current?.querySelector<HTMLElement>("[data-first]"))?.focus();
  }, [rules]);

  const revoke = async (ruleId: string, name: string) => {
    try {
      const { rules: left } = await shell.line.call({ do: "revokeToolRule", ruleId });
      isFocusDue.current = true;
      setRevoked(left);
      shell.announce(t("Rule revoked: {0}", name));
    } catch (fault) {
      shell.show(fault);
    }
  };

  const { label, description } = MODES[panel?.work.mode ?? "ask"];
  return (
    <div ref={box} role="presentation">
      <DialogTitle>{t("Tool rules")}</DialogTitle>
      <p class="quiet">{t("{0}: {1}", t(label), t(description))}</p>
      {error === undefined ? null : <FaultLine error={error} />}
      {rules === undefined || rules.length > 0 ? null : (
        <p>{t("There are no rules beside it. “Yes for This Chat” and “Always…” make one when Gemini asks.")}</p>
      )}
      {(Object.keys(RULE_DECISIONS) as Decision[]).map((decision) => (
        <Rules
          key={decision}
          decision={decision}
          rules={rules?.filter(({ rule }) => rule.decision === decision) ?? []}
          revoke={isReadOnly ? undefined : revoke}
        />
      ))}
    </div>
  );
}

type Revoke = ((ruleId: string, name: string) => Promise<void>) | undefined;

interface RulesProps {
  readonly decision: Decision;
  readonly rules: readonly StoredRule[];
  readonly revoke: Revoke;
}

function Rules({ decision, rules, revoke }: RulesProps) {
  const { title, description } = RULE_DECISIONS[decision];
  if (rules.length === 0) return null;
  return (
    <>
      <h3>{t(title)}</h3>
      <p class="quiet">{t(description)}</p>
      <ul class="rule-list" aria-label={t(title)}>
        {rules.map((one) => (
          <Rule key={one.ruleId ?? JSON.stringify([one.source, one.rule])} stored={one} revoke={revoke} />
        ))}
      </ul>
    </>
  );
}

interface RuleProps {
  readonly stored: StoredRule;
  readonly revoke: Revoke;
}

function Rule({ stored: { rule, source, ruleId }, revoke }: RuleProps) {
  const { title, code } = ruleSubject(rule);
  const folder = ruleFolder(rule);
  const name = [t(title), code, folder ?? ""].filter((part) => part !== "").join(" ");
  return (
    <li>
      <span class="rule-words">
        {t(title)}
        {code === "" ? null : (
          <>
            {" "}
            <code dir="ltr">{code}</code>
          </>
        )}
      </span>
      <span class="rule-line">
        <span class="quiet">
          {t(RULE_SOURCES[source].label)}
          {folder === undefined ? null : (
            <>
              {" · "}
              {t("only in")} <code dir="ltr">{folder}</code>
            </>
          )}
        </span>
        {ruleId === undefined || revoke === undefined ? null : (
          <button
            type="button"
            class="text-action"
            aria-label={t("Revoke: {0}", name)}
            onClick={() => void revoke(ruleId, name)}
          >
            {t("Revoke")}
          </button>
        )}
      </span>
    </li>
  );
}
