import { useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../strings.js";
import { useShell, type Confirmation } from "./shell.js";

/** A question that has to be answered before anything else in the panel; what is around it is inert meanwhile. */
export function ConfirmDialog() {
  const confirmation = useShell().confirmation.value;
  return confirmation === undefined ? null : <OpenConfirm confirmation={confirmation} />;
}

function OpenConfirm({ confirmation }: { readonly confirmation: Confirmation }) {
  const shell = useShell();
  const no = useRef<HTMLButtonElement>(null);
  // What had the focus is remembered while rendering: `inert` takes the focus away before any effect runs.
  const opener = useRef(document.activeElement);

  useLayoutEffect(() => {
    no.current?.focus(); // the answer that changes nothing
    const back = opener.current;
    return () => {
      if (back instanceof HTMLElement && back.isConnected && back !== document.body) back.focus();
      else shell.focusComposer();
    };
  }, [shell]);

  return (
    <div class="scrim">
      <div
        class="confirm"
        role="alertdialog"
        aria-modal="true"
        aria-labelledby="confirm-question"
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          event.stopPropagation();
          confirmation.answer(false);
        }}
      >
        <p id="confirm-question">{confirmation.question}</p>
        <div class="button-row">
          <button type="button" class="button secondary" onClick={() => confirmation.answer(true)}>
            {confirmation.confirmLabel}
          </button>
          <button ref={no} type="button" class="button" onClick={() => confirmation.answer(false)}>
            {t("Cancel")}
          </button>
        </div>
      </div>
    </div>
  );
}
