import type { ComponentChildren } from "preact";
import type { DaemonView, ErrorView, PanelState } from "../../src/panel/contract.js";
import { t } from "../strings.js";
import { Icon } from "./icon.js";
import { useShell } from "./shell.js";

/** The middle of the panel while there is no row to show: starting, failed, or an invitation to ask. */
export function Blank({ panel }: { readonly panel: PanelState | undefined }) {
  const shell = useShell();
  const daemon = panel?.daemon;
  if (shell.broken.value) {
    const message = t(
      "A part of the panel could not be loaded. This happens when the extension was updated while the window was open.",
    );
    const reload = { id: "reloadWindow", label: t("Reload Window") } as const;
    return <Failure title={t("The panel is out of date")} error={{ message, hint: "", actions: [reload] }} />;
  }
  if (panel === undefined || daemon === undefined || daemon.kind === "starting")
    return (
      <Working title={t("Starting Gemini Companion…")}>
        {daemon?.kind === "starting" && daemon.detail !== "" ? <p class="quiet">{daemon.detail}</p> : null}
        {panel?.coming === undefined ? null : (
          <p class="quiet">{t("Your last chat opens then. What you send goes there.")}</p>
        )}
      </Working>
    );
  if (daemon.kind === "failed") return <Failure title={headline(daemon.reason)} error={daemon.error} />;
  if (panel.coming !== undefined && panel.session === undefined)
    return (
      <Working title={t("Your chat is being opened…")}>
        <p class="quiet">{t("What you send goes there.")}</p>
      </Working>
    );
  return <Empty panel={panel} />;
}

function Working({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="blank" role="status">
      <span class="progress" aria-hidden="true" />
      <p class="blank-title">{title}</p>
      {children}
    </div>
  );
}

function Failure({
  title,
  error,
}: {
  readonly title: string;
  readonly error: Pick<ErrorView, "message" | "hint" | "actions">;
}) {
  const shell = useShell();
  const { message, hint, actions } = error;
  const [first, ...others] = actions;
  return (
    <div class="blank">
      <span class="blank-icon error">
        <Icon name="error" />
      </span>
      <h2 class="blank-title">{title}</h2>
      <p>{message}</p>
      {hint === "" ? null : <p class="quiet">{hint}</p>}
      <div class="button-column">
        {first === undefined ? null : (
          <button type="button" class="button" onClick={() => shell.act(first)}>
            {first.label}
          </button>
        )}
        {others.map((action) => (
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
    </div>
  );
}

function headline(reason: (DaemonView & { readonly kind: "failed" })["reason"]): string {
  switch (reason) {
    case "noPython":
      return t("Python is needed");
    case "notFound":
      return t("The daemon was not found");
    case "versionMismatch":
      return t("Versions do not fit together");
    case "crashed":
      return t("The daemon ended unexpectedly");
    case "environment":
      return t("The daemon could not be set up");
  }
}

function Empty({ panel }: { readonly panel: PanelState }) {
  const shell = useShell();
  const readOnly = panel.session?.heldBy !== undefined;
  return (
    <div class="blank">
      <h2 class="blank-title">{t("Ask about your code")}</h2>
      {panel.providerHint === "" || !panel.isLocal || panel.banner !== undefined ? null : (
        <p class="quiet">{panel.providerHint}</p>
      )}
      {readOnly || panel.examples.length === 0 ? null : (
        <ul class="examples" aria-label={t("Examples")}>
          {panel.examples.map((example) => (
            <li key={example}>
              <button
                type="button"
                class="example"
                onClick={() => (shell.insertion.value = { text: example, send: false })}
              >
                {example}
              </button>
            </li>
          ))}
        </ul>
      )}
      <p class="quiet">{goesAlong(panel)}</p>
    </div>
  );
}

/** What of the editor a prompt takes along, in one sentence. */
function goesAlong(panel: Pick<PanelState, "chips">): string {
  const files = panel.chips.filter((chip) => chip.included && chip.withheld === undefined);
  const [first, ...others] = files;
  if (first === undefined) return t("Nothing of your editor goes along. Open a file, or name one with @.");
  if (others.length === 0)
    return first.sends === undefined
      ? t("{0} goes along with your prompt.", first.label)
      : t("{0} goes along with your prompt: {1}.", first.label, first.sends);
  return others.length === 1
    ? t("{0} and 1 other open file go along with your prompt.", first.label)
    : t("{0} and {1} other open files go along with your prompt.", first.label, others.length);
}
