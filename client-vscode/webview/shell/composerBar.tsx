import { useEffect, useState } from "preact/hooks";
import type { Mode, PanelState } from "../../src/panel/contract.js";
import { isOwnModel } from "../../src/panel/models.js";
import { MODES } from "../../src/panel/tools.js";
import { t } from "../strings.js";
import { stop } from "./actions.js";
import { Icon } from "./icon.js";
import { IconButton } from "./iconButton.js";
import { Menu, type MenuItem } from "./menu.js";
import { formatShort } from "./numbers.js";
import { opens } from "./popup.js";
import { useShell } from "./shell.js";
import { hindrance } from "./standing.js";
import { ToolRulesDialog } from "./toolRules.js";

interface ComposerBarProps {
  readonly panel: PanelState;
  readonly hasText: boolean;
  readonly addFile: () => void;
  /** Send into the turn that runs. */
  readonly steer: () => void;
}

/** What all the provider's names begin with: where there is little room, the rest tells them apart. */
const FAMILY = /^gemini-(?=.)/;

/** Below the text: what to add, which model, stop and send. */
export function ComposerBar({ panel, hasText, addFile, steer }: ComposerBarProps) {
  const shell = useShell();
  const running = panel.job.kind !== "idle";
  const hindered = hindrance(panel);
  const key =
    panel.settings.sendWith === "enter" ? "Enter" : panel.settings.platform === "mac" ? "⌘Enter" : "Ctrl+Enter";
  const sendTitle = hindered ?? (running ? t("Send when the answer is complete ({0})", key) : t("Send ({0})", key));
  const model = currentModel(panel);
  const [family = ""] = FAMILY.exec(model) ?? [];
  return (
    <div class="composer-bar">
      <IconButton icon="at" label={t("Add a file")} title={t("Add a file (@)")} onClick={addFile} />
      <button
        type="button"
        class="model-button"
        aria-label={model}
        title={t("Choose the model: {0}", model)}
        {...opens(shell, "model", "menu")}
      >
        <span class="model-name">
          <span class="model-family">{family}</span>
          {model.slice(family.length)}
        </span>
        <Icon name="chevronDown" />
      </button>
      <Menu name="model" label={t("Model")} items={modelItems(shell, panel)} class="popup-footer" />
      <ModeButton panel={panel} />
      <span class="composer-space" />
      {panel.work.canSteer ? (
        <IconButton
          icon="steer"
          label={t("Send into this answer")}
          title={t("Send into the answer that is being made ({0})", steerKey(panel))}
          aria-disabled={!hasText || hindered !== undefined}
          onClick={steer}
        />
      ) : null}
      {running ? <StopButton job={panel.job} /> : null}
      <button
        type="submit"
        class="send-button"
        aria-label={t("Send")}
        title={sendTitle}
        aria-disabled={!hasText || hindered !== undefined}
      >
        <Icon name="send" />
      </button>
    </div>
  );
}

/** What tools may do unasked; it can be changed while an answer is made. */
function ModeButton({ panel }: { readonly panel: PanelState }) {
  const shell = useShell();
  const { mode } = panel.work;
  const modes: readonly MenuItem[] = (Object.keys(MODES) as Mode[]).map((name) => ({
    label: t(MODES[name].label),
    detail: t(MODES[name].description),
    checked: name === mode,
    run: () => {
      shell.line.send({ type: "mode", mode: name });
      shell.focusComposer();
    },
  }));
  const toRules: MenuItem = {
    label: t("Tool Rules…"),
    detail: t("What is allowed, asked and refused beside the mode"),
    icon: "tasks",
    separated: true,
    run: () => shell.openPopup("toolRules"),
  };
  return (
    <>
      <button
        type="button"
        class="model-button"
        data-mode={mode}
        aria-label={t("Mode: {0}", t(MODES[mode].label))}
        title={t("{0}: {1}", t(MODES[mode].label), t(MODES[mode].description))}
        disabled={panel.session?.heldBy !== undefined}
        {...opens(shell, "mode", "menu")}
      >
        <Icon name="shield" />
        <span class="model-name mode-label">{t(MODES[mode].label)}</span>
        <span class="model-name mode-short">{t(MODES[mode].short)}</span>
        <Icon name="chevronDown" />
      </button>
      <Menu name="mode" label={t("Mode")} items={[...modes, toRules]} class="popup-footer" />
      <ToolRulesDialog />
    </>
  );
}

function steerKey({ settings: { platform, sendWith } }: PanelState): string {
  const control = platform === "mac" ? "⌘" : "Ctrl+";
  return sendWith === "ctrlEnter" ? `${control}Shift+Enter` : `${control}Enter`;
}

function StopButton({ job }: { readonly job: PanelState["job"] }) {
  const shell = useShell();
  const asked = job.kind !== "idle" && shell.stopAsked.value === job.id;
  const since = job.kind === "idle" ? undefined : job.stoppingSince;
  const stopping = asked || since !== undefined;
  const late = useLate(stopping);
  const label = !stopping ? t("Stop") : late ? t("Still stopping…") : t("Stopping…");
  return (
    <button
      type="button"
      class="stop-button"
      title={`${job.kind === "compression" ? t("Cancel the compression") : t("Stop the answer")} (Esc)`}
      onClick={() => stop(shell)}
    >
      <Icon name="stop" />
      <span class="stop-label">{label}</span>
    </button>
  );
}

/** How long stopping may take before it shows that it takes long, ms. */
const lateMs = 1_000;

function useLate(waiting: boolean): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (!waiting) return;
    const timer = setTimeout(() => setLate(true), lateMs);
    return () => clearTimeout(timer);
  }, [waiting]);
  return late && waiting;
}

function currentModel(panel: PanelState): string {
  if (panel.localModel !== undefined) return t("{0}, on this machine", panel.localModel);
  if (panel.isLocal) return t("Offline model");
  const name = panel.models.asked ?? panel.models.current;
  return name === "" ? t("Default model") : name;
}

function modelItems(shell: ReturnType<typeof useShell>, panel: PanelState): readonly MenuItem[] {
  const { asked, current } = panel.models;
  const choose = (name: string) => () => {
    shell.line.send({ type: "model", name });
    shell.focusComposer();
  };
  const bySettings: MenuItem = {
    label: t("As the settings say"),
    ...(current === "" ? {} : { detail: current }),
    checked: asked === undefined,
    run: choose(""),
  };
  const named = panel.models.list.map(({ name, description, tokenLimit }) => ({
    label: name,
    detail: [
      description,
      isOwnModel(name) && t("runs on this machine"),
      t("{0} tokens", formatShort(tokenLimit, panel.settings.locale)),
    ]
      .filter((part) => part !== "" && part !== false)
      .join(" · "),
    checked: name === asked,
    run: choose(name),
  }));
  return [bySettings, ...named];
}
