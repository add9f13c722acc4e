import { useState } from "preact/hooks";
import type { Pin } from "../../src/protocol.gen.js";
import { t } from "../strings.js";
import { FaultLine } from "./faultLine.js";
import { useAsked } from "./hooks.js";
import { Icon } from "./icon.js";
import { Popup } from "./popup.js";
import { useShell } from "./shell.js";

/** What stands word for word in every snapshot, and how to let it go. */
export function PinsDialog() {
  return (
    <Popup name="pins" label={t("Pins")} class="popup-header">
      <PinsBody />
    </Popup>
  );
}

function PinsBody() {
  const shell = useShell();
  const [removed, setRemoved] = useState<readonly string[]>([]);
  // Asked anew when the number of pins changes while it is open.
  const { value, error } = useAsked(String(shell.panel.value?.pins), 0, () => shell.line.call({ do: "pins" }));
  const pins = value?.pins.filter(({ pinId }) => !removed.includes(pinId));

  const unpin = (pin: Pin) => {
    setRemoved((before) => [...before, pin.pinId]);
    shell.line.call({ do: "unpin", pinId: pin.pinId }).then(
      () => shell.announce(t("Pin removed")),
      (fault: unknown) => {
        setRemoved((before) => before.filter((id) => id !== pin.pinId));
        shell.show(fault);
      },
    );
  };

  return (
    <>
      <h2 class="popup-title" tabIndex={-1} data-first>
        {t("Pins")}
      </h2>
      <p class="quiet">{t("Pinned texts survive every compression word for word.")}</p>
      {error === undefined ? null : <FaultLine error={error} />}
      {pins?.length === 0 ? (
        <p>{t("Nothing is pinned. Pin a prompt of the chat, or a selection in the editor.")}</p>
      ) : null}
      {pins === undefined || pins.length === 0 ? null : (
        <ul class="pins">
          {pins.map((pin) => (
            <li key={pin.pinId}>
              <span class="pin-text" dir="auto">
                {pin.text}
              </span>
              <button
                type="button"
                class="icon-button"
                aria-label={t("Unpin {0}", shorten(pin.text))}
                title={t("Unpin")}
                onClick={() => unpin(pin)}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Enough of a text to tell it from others by ear. */
function shorten(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
}
