import { LONGEST_RULE } from "../../src/panel/limits.js";
import { ruleStanding, RULE_STANDINGS } from "../../src/panel/rules.js";
import type { Constraint } from "../../src/protocol.gen.js";
import { t } from "../strings.js";
import { AddLine } from "./addLine.js";
import { DialogTitle, shorten, useListed } from "./dialog.js";
import { FaultLine } from "./faultLine.js";
import { Icon } from "./icon.js";
import { Popup } from "./popup.js";
import { useShell } from "./shell.js";

/** What stands word for word through every compression: rules of prompts, pins, and rules that are written here. */
export function RulesDialog() {
  return (
    <Popup name="rules" label={t("Rules")} class="popup-header">
      <RulesBody />
    </Popup>
  );
}

interface Change {
  readonly constraintId?: string;
  readonly state: Constraint["state"];
  readonly scope?: Constraint["scope"];
  readonly text?: string;
}

function RulesBody() {
  const shell = useShell();
  const { inForce, proposed } = shell.panel.value?.rules ?? { inForce: 0, proposed: 0 };
  const isReadOnly = shell.panel.value?.session?.heldBy !== undefined;
  // Asked anew when the number of rules changes while it is open, and after each change of one.
  const { value, error, act } = useListed(`${inForce} ${proposed}`, () => shell.line.call({ do: "rules" }));
  const rules = value?.constraints ?? [];
  const texts = new Map(rules.map(({ constraintId, text }) => [constraintId, text]));
  const of = (state: Constraint["state"]) => rules.filter((rule) => rule.state === state);

  const change = (wanted: Change, said: string): Promise<boolean> =>
    act(async () => {
      await shell.line.call({ do: "setRule", ...wanted });
      shell.announce(said);
    });

  const list = (shown: readonly Constraint[], label: string) => (
    <ul class="rule-list" aria-label={label}>
      {shown.map((rule) => (
        <Rule
          key={rule.constraintId}
          rule={rule}
          endedBy={texts.get(rule.replacedBy ?? "")}
          ends={rule.state === "proposed" ? texts.get(rule.replaces ?? "") : undefined}
          isReadOnly={isReadOnly}
          change={change}
        />
      ))}
    </ul>
  );
  const released = of("released");
  return (
    <>
      <DialogTitle>{t("Rules")}</DialogTitle>
      <p class="quiet">{t("Rules and pinned texts go to the model word for word, through every compression.")}</p>
      {error === undefined ? null : <FaultLine error={error} />}
      {value !== undefined && rules.length === 0 ? (
        <p>{t("There are no rules yet. Write “Always …” or “Never …” in a prompt, pin one, or add a rule here.")}</p>
      ) : null}
      {of("proposed").length === 0 ? null : (
        <>
          <h3>{t("Keep as a rule?")}</h3>
          {list(of("proposed"), t("Proposed rules"))}
        </>
      )}
      {of("inForce").length === 0 ? null : (
        <>
          <h3>{t("In force")}</h3>
          {list(of("inForce"), t("Rules in force"))}
        </>
      )}
      {released.length === 0 ? null : (
        <details>
          <summary>{t("Not in force ({0})", released.length)}</summary>
          {list(released, t("Rules not in force"))}
        </details>
      )}
      {isReadOnly ? null : (
        <AddLine
          label={t("New rule")}
          placeholder={t("Add a rule: never touch generated/")}
          maxLength={LONGEST_RULE}
          add={(text) => change({ text, state: "inForce" }, t("Rule added"))}
        />
      )}
    </>
  );
}

interface RuleProps {
  readonly rule: Constraint;
  /** The later words that took its place. */
  readonly endedBy: string | undefined;
  /** The rule whose place it would take. */
  readonly ends: string | undefined;
  readonly isReadOnly: boolean;
  readonly change: (wanted: Change, said: string) => Promise<boolean>;
}

function Rule({ rule, endedBy, ends, isReadOnly, change }: RuleProps) {
  const shell = useShell();
  const { constraintId, text, scope, state, source, turnId, note } = rule;
  const name = shorten(text);
  const isPin = source === "pin";
  const actions = isReadOnly ? [] : RULE_STANDINGS[ruleStanding(rule)].actions;
  const isProject = scope === "project";
  return (
    <li data-item={constraintId}>
      <span class="rule-words" dir="auto">
        {text}
      </span>
      {note === undefined ? null : <span class="rule-why quiet">{note}</span>}
      {endedBy === undefined ? null : (
        <span class="rule-why quiet" dir="auto">
          {t("Replaced by: {0}", endedBy)}
        </span>
      )}
      {ends === undefined ? null : (
        <span class="rule-why quiet" dir="auto">
          {t("Would replace: {0}", ends)}
        </span>
      )}
      <span class="rule-line">
        <span class="quiet">
          {isPin ? <Icon name="pin" /> : null}
          {sourceText(rule)}
        </span>
        {turnId === undefined ? null : (
          <button
            type="button"
            class="text-action"
            aria-label={t("Show the prompt of: {0}", name)}
            onClick={() => {
              shell.closePopup("rules");
              shell.line.send({ type: "place", turnId, words: text });
            }}
          >
            {t("Show the Prompt")}
          </button>
        )}
        {isReadOnly || isPin || state !== "inForce" ? null : (
          <button
            type="button"
            class="text-action"
            aria-pressed={isProject}
            aria-label={t("In all chats of this project: {0}", name)}
            title={isProject ? t("It holds in all chats of this project") : t("It holds in this chat alone")}
            onClick={() =>
              void change(
                { constraintId, state, scope: isProject ? "session" : "project" },
                isProject ? t("It holds in this chat alone") : t("It holds in all chats of this project"),
              )
            }
          >
            {t("In All Chats")}
          </button>
        )}
        {actions.map((action) => {
          const label = isPin && action.state === "released" ? t("Unpin") : labelOf(action);
          return (
            <button
              key={action.label}
              type="button"
              class="text-action"
              aria-label={`${label}: ${name}`}
              onClick={() => void change({ constraintId, state: action.state }, said(action.state))}
            >
              {label}
            </button>
          );
        })}
      </span>
    </li>
  );
}

function labelOf({ label }: { readonly label: string }): string {
  return t(label);
}

function said(state: Constraint["state"]): string {
  return state === "inForce" ? t("Rule kept") : t("Rule released");
}

/** Where a rule comes from, and where it holds. */
function sourceText({ source, scope }: Constraint): string {
  const from = {
    prompt: t("from a prompt"),
    pin: t("pinned"),
    client: t("added by you"),
    memory: t("from a memory file"),
  }[source];
  return scope === "project" ? t("{0}, all chats", from) : from;
}
