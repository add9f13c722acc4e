/** Shows the hooks of the settings and how they last ran; choosing one leads to where it is set, its button turns it on and off. */
import { l10n, ThemeIcon, window, type QuickInputButton, type QuickPickItem } from "vscode";
import { hookRows, type HookList, type HookRow } from "./pure/hookRows.js";
import { isDaemonFault, type DaemonPort } from "./port.js";
import { openPlace } from "./settingsFile.js";
import { fail, warn } from "../toasts.js";

interface Item extends QuickPickItem {
  readonly row?: HookRow;
}

const translate = (text: string, ...args: (string | number)[]): string => l10n.t(text, ...args);

export async function showHooks(daemon: DaemonPort): Promise<void> {
  const list = await asked(() => daemon.request("gemini/hooks", {}));
  if (list === undefined) return;
  const picker = window.createQuickPick<Item>();
  picker.title = l10n.t("Hooks");
  picker.matchOnDescription = true;
  picker.matchOnDetail = true;
  show(list);
  picker.onDidTriggerItemButton(({ item: { row } }) => {
    if (row !== undefined) void turn(row);
  });
  picker.onDidAccept(() => {
    const place = picker.selectedItems[0]?.row?.place;
    picker.hide();
    if (place !== undefined) void opened(place);
  });
  picker.onDidHide(() => {
    picker.dispose();
  });
  picker.show();

  function show(now: HookList): void {
    const active = picker.activeItems[0]?.row;
    const rows = hookRows(now, translate, Date.now());
    picker.items = rows.length === 0 ? [none()] : rows.map(item);
    picker.placeholder =
      now.problems[0] ??
      (now.enabled ? l10n.t("Choose a hook to open where it is set") : l10n.t("Hooks are turned off in the settings"));
    const again = picker.items.find((one) => active !== undefined && same(one.row, active));
    if (again !== undefined) picker.activeItems = [again];
  }

  async function turn(row: HookRow): Promise<void> {
    picker.busy = true;
    const now = await asked(() => daemon.request("gemini/hooks/set", { name: row.name, enabled: !row.isOn }));
    picker.busy = false;
    if (now === undefined) return;
    show(now);
    if (!row.isOn && now.hooks.some((hook) => hook.name === row.name && hook.state === "off"))
      void warn(l10n.t("{0} stays off: another settings file turns it off, or all hooks.", row.name.slice(0, 80)));
  }
}

function item(row: HookRow): Item {
  const { label, description, detail } = row;
  return { label, description, detail, row, buttons: [button(row)], alwaysShow: false };
}

function none(): Item {
  return { label: l10n.t("No hooks are set."), detail: l10n.t("`hooks` in .gemini/settings.json sets them.") };
}

function button({ isOn }: HookRow): QuickInputButton {
  return isOn
    ? { iconPath: new ThemeIcon("circle-slash"), tooltip: l10n.t("Turn off") }
    : { iconPath: new ThemeIcon("play"), tooltip: l10n.t("Turn on") };
}

function same(one: HookRow | undefined, other: HookRow): boolean {
  return (
    one?.name === other.name &&
    one.place === other.place &&
    one.description.split(" ")[0] === other.description.split(" ")[0]
  );
}

/** What was asked for; nothing if the daemon refused, which the person is told then. */
async function asked<Result>(ask: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!isDaemonFault(error)) throw error;
    void fail(error.data.message);
    return undefined;
  }
}

async function opened(place: string): Promise<void> {
  try {
    await openPlace(place);
  } catch {
    void warn(l10n.t("{0} cannot be opened.", place));
  }
}
