import { CallError } from "../bridge.js";
import { t } from "../strings.js";
import { Icon } from "./icon.js";
import { useShell } from "./shell.js";

/** Why something inside a pop-up cannot be shown, with what mends it. */
export function FaultLine({ error }: { readonly error: unknown }) {
  const shell = useShell();
  const view = error instanceof CallError ? error.view : undefined;
  return (
    <div class="fault-line" role="alert">
      <Icon name="warning" />
      <span>
        {view === undefined ? t("This could not be read.") : view.message} {view?.hint}
      </span>
      {view?.actions.map((action) => (
        <button key={action.id} type="button" class="button secondary" onClick={() => shell.act(action)}>
          {action.label}
        </button>
      ))}
    </div>
  );
}
