import type { PanelState } from "../../src/panel/contract.js";
import { t } from "../strings.js";
import { useCountdown } from "./hooks.js";
import { Icon } from "./icon.js";
import { IconButton } from "./iconButton.js";
import { useShell } from "./shell.js";
import { notices, type Notice } from "./standing.js";

/** What is wrong now and what mends it, above the composer. It is read out by the live regions, not from here. */
export function Notices({ panel, total }: { readonly panel: PanelState; readonly total: number }) {
  const shell = useShell();
  const note = shell.note.value;
  return (
    <>
      {notices(panel, total).map((notice) => (
        <NoticeStrip key={notice.key} notice={notice} />
      ))}
      {note === undefined ? null : (
        <NoticeStrip key="note" notice={{ key: "note", level: "error", ...note }} onClose={() => shell.dismissNote()} />
      )}
    </>
  );
}

function NoticeStrip({ notice, onClose }: { readonly notice: Notice; readonly onClose?: () => void }) {
  const shell = useShell();
  const seconds = useCountdown(notice.retryAt);
  return (
    <div class={`banner banner-${notice.level}`}>
      <Icon name={notice.level} />
      <div class="banner-body">
        <p class="banner-message">
          {notice.message}
          {seconds === undefined ? null : <span class="banner-countdown"> {t("Next try in {0} s.", seconds)}</span>}
        </p>
        {notice.hint === "" ? null : <p class="banner-hint">{notice.hint}</p>}
        {notice.actions.length === 0 ? null : (
          <div class="button-row">
            {notice.actions.map((action) => (
              <button
                key={`${action.id} ${action.argument ?? ""}`}
                type="button"
                class="button secondary"
                onClick={() => shell.act(action)}
              >
                {action.label}
              </button>
            ))}
          </div>
        )}
      </div>
      {onClose === undefined ? null : <IconButton icon="close" label={t("Dismiss")} onClick={onClose} />}
    </div>
  );
}
