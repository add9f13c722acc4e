import type { PanelSettings } from "../../src/panel/contract.js";
import { t } from "../strings.js";
import { DialogTitle } from "./dialog.js";
import { Popup } from "./popup.js";
import { useShell } from "./shell.js";
import { slashCommands, slashMatches } from "./slash.js";

/** The commands of the composer and the keys of the panel. */
export function HelpDialog({ settings }: { readonly settings: PanelSettings }) {
  const shell = useShell();
  const all = slashMatches("/", 1, shell.commands.value, t) ?? [];
  const own = all.slice(slashCommands.length);
  return (
    <Popup name="help" label={t("Commands and Keys")} class="popup-footer help">
      <DialogTitle>{t("Commands and Keys")}</DialogTitle>
      <h3>{t("Commands")}</h3>
      <dl>
        {slashCommands.map((command) => (
          <div key={command.name}>
            <dt>
              /{command.name}
              {command.argument === "" ? "" : ` [${t(command.argument)}]`}
            </dt>
            <dd>{t(command.description)}</dd>
          </div>
        ))}
      </dl>
      {own.length === 0 ? null : (
        <>
          <h3>{t("From Files and Servers")}</h3>
          <dl>
            {own.map(({ name, argument, description }) => (
              <div key={name}>
                <dt>{argument === "" ? `/${name}` : `/${name} [${argument}]`}</dt>
                <dd>{description}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
      <h3>{t("Keys")}</h3>
      <dl>
        {keys(settings).map(([key, effect]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{effect}</dd>
          </div>
        ))}
      </dl>
    </Popup>
  );
}

function keys(settings: PanelSettings): readonly (readonly [string, string])[] {
  const control = settings.platform === "mac" ? "⌘" : "Ctrl";
  const enterSends = settings.sendWith === "enter";
  return [
    [enterSends ? "Enter" : `${control}+Enter`, t("Send; while an answer comes in, queue")],
    [enterSends ? "Shift+Enter" : "Enter", t("New line")],
    [enterSends ? `${control}+Enter` : `${control}+Shift+Enter`, t("Send into the answer that is being made")],
    ["Ctrl+Alt+Y", t("To what waits for your answer; then Y A N E D")],
    ["Esc", t("Close the list, else stop")],
    ["↑ ↓", t("Earlier prompts, from the first line")],
    ["Alt+↑", t("Edit the last queued prompt")],
    ["Shift+Tab", t("To the newest message")],
    ["PageUp PageDown", t("Message to message")],
    ["[ ]", t("Prompt to prompt")],
    [`${control}+F`, t("Find in chat")],
    ...(settings.messageKeys ? ([["C R F P", t("On a message: copy, retry, fork, pin")]] as const) : []),
  ];
}
