import { useState } from "preact/hooks";
import type { Chip, PanelState } from "../../src/panel/contract.js";
import { t } from "../strings.js";
import { Icon } from "./icon.js";
import { opens } from "./popup.js";
import { useShell } from "./shell.js";

/** Chips shown before the rest is folded. */
const shown = 3;
/** Characters that are shown whole, however long the name beside them is. */
const longestShort = 14;

/** What of the editor goes along with the next prompt: each file is one click from being taken out, and one from coming back. */
export function Chips({ panel }: { readonly panel: PanelState }) {
  const [expanded, setExpanded] = useState(false);
  const shell = useShell();
  const chips = [...panel.chips].sort((a, b) => Number(b.isActive) - Number(a.isActive));
  const folded = chips.length - shown;
  // One chip more takes no more room than the button that would hide it.
  const visible = expanded || folded <= 1 ? chips : chips.slice(0, shown);
  const { inForce, proposed } = panel.rules;
  if (chips.length === 0 && inForce + proposed === 0) return null;
  const rules = inForce === 1 ? t("1 rule") : t("{0} rules", inForce);
  const name = proposed === 0 ? rules : t("{0}, {1} to be decided", rules, proposed);
  return (
    <div class="chips-row">
      <ul class="chips" aria-label={t("Goes along with your prompt")}>
        {visible.map((chip) => (
          <li key={chip.uri}>
            {chip.withheld === undefined ? (
              <ToggleChip chip={chip} />
            ) : (
              <WithheldChip chip={chip} reason={chip.withheld} />
            )}
          </li>
        ))}
        {folded <= 1 ? null : (
          <li>
            <button
              type="button"
              class="chip"
              aria-expanded={expanded}
              aria-label={expanded ? t("Show fewer files") : t("+{0} more files", folded)}
              onClick={() => setExpanded(!expanded)}
            >
              {expanded ? <Icon name="chevronUp" /> : `+${folded}`}
            </button>
          </li>
        )}
        {inForce + proposed === 0 ? null : (
          <li>
            <button
              type="button"
              class="chip"
              aria-label={name}
              title={t("{0}: kept word for word by every compression", name)}
              {...opens(shell, "rules")}
            >
              <Icon name="pin" />
              {proposed === 0 ? inForce : `${inForce > 0 ? inForce : proposed}?`}
            </button>
          </li>
        )}
      </ul>
    </div>
  );
}

function ToggleChip({ chip }: { readonly chip: Chip }) {
  const shell = useShell();
  const name = chip.included ? t("Take {0} out", chip.label) : t("Put {0} back", chip.label);
  return (
    <button
      type="button"
      class={`chip ${chip.included ? "" : "chip-out"}`}
      aria-pressed={chip.included}
      aria-label={name}
      title={[chip.detail, chip.sends, chip.note, name].filter(Boolean).join("\n")}
      onClick={() => shell.line.send({ type: "chip", uri: chip.uri, included: !chip.included })}
    >
      <Icon name="file" />
      <span class="chip-label">{chip.label}</span>
      {chip.sends === undefined ? null : <Reason text={chip.sends} />}
      <Icon name={chip.included ? "close" : "add"} />
    </button>
  );
}

function WithheldChip({ chip, reason }: { readonly chip: Chip; readonly reason: string }) {
  return (
    <span class="chip chip-withheld" title={`${chip.detail}\n${t("Not sent: {0}", reason)}`}>
      <Icon name="lock" />
      <span class="chip-label">{chip.label}</span>
      <Reason text={reason} />
    </span>
  );
}

function Reason({ text }: { readonly text: string }) {
  return <span class={text.length > longestShort ? "chip-reason" : "chip-reason chip-reason-short"}>{text}</span>;
}
