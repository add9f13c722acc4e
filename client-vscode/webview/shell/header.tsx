import type { PanelState } from "../../src/panel/contract.js";
import { t } from "../strings.js";
import { compress, newChat, openFind, showSnapshot, undoCompression } from "./actions.js";
import { Icon } from "./icon.js";
import { IconButton } from "./iconButton.js";
import { KeptDialog } from "./kept.js";
import { Menu, type MenuItem } from "./menu.js";
import { MemoryDialog } from "./memory.js";
import { Meter } from "./meter.js";
import { MeterDialog } from "./meterDialog.js";
import { opens } from "./popup.js";
import { RulesDialog } from "./rules.js";
import { ServersDialog } from "./servers.js";
import { SessionsDialog } from "./sessions.js";
import { useShell } from "./shell.js";
import { hindranceOfCompression } from "./standing.js";
import { SkillsDialog } from "./skills.js";
import { StatisticsDialog } from "./statistics.js";

export function Header({ panel }: { readonly panel: PanelState }) {
  const shell = useShell();
  const locale = panel.settings.locale;
  const title = titleOf(panel);
  const calls = callsOf(panel);
  const findHint = panel.settings.platform === "mac" ? "⌘F" : "Ctrl+F";
  return (
    <>
      <div class="toolbar" role="toolbar" aria-label={t("Chat")}>
        <button
          type="button"
          class="title-button"
          title={[t("{0} · show all chats", title), ...(calls === "" ? [] : [calls])].join("\n")}
          {...opens(shell, "sessions")}
        >
          <span class="title-text">{title}</span>
          {calls === "" ? null : (
            <span class="title-mark" role="img" aria-label={calls}>
              ●
            </span>
          )}
          <Icon name="chevronDown" />
        </button>
        <IconButton icon="add" label={t("New chat")} onClick={() => newChat(shell)} />
        <IconButton
          icon="search"
          label={t("Find in chat")}
          title={`${t("Find in chat")} (${findHint})`}
          onClick={() => openFind(shell)}
        />
        <IconButton icon="ellipsis" label={t("More")} {...opens(shell, "more", "menu")} />
        {panel.meter === undefined ? null : <Meter meter={panel.meter} locale={locale} />}
      </div>
      <SessionsDialog />
      <Menu name="more" label={t("More")} items={moreItems(shell, panel)} class="popup-header popup-end" />
      <MeterDialog locale={locale} />
      <RulesDialog />
      <KeptDialog locale={locale} />
      <MemoryDialog locale={locale} />
      <SkillsDialog locale={locale} />
      <ServersDialog />
      <StatisticsDialog locale={locale} />
    </>
  );
}

/** Why one would look at the other chats now; empty if there is no reason. */
function callsOf({ others = [] }: PanelState): string {
  const waiting = others.filter(({ state }) => state === "waiting").length;
  const news = others.filter(({ state }) => state === "answered" || state === "failed").length;
  if (waiting > 0)
    return waiting === 1 ? t("Another chat asks you something") : t("{0} other chats ask you something", waiting);
  if (news > 0) return news === 1 ? t("Another chat has news") : t("{0} other chats have news", news);
  return "";
}

function titleOf({ session, coming }: PanelState): string {
  if (coming !== undefined && coming.title !== "") return t("Opening {0}", coming.title);
  if (coming !== undefined) return t("Opening the chat…");
  return session === undefined || session.title === "" ? t("Untitled chat") : session.title;
}

function moreItems(shell: ReturnType<typeof useShell>, panel: PanelState): readonly MenuItem[] {
  const hasSession = panel.session !== undefined;
  const writable = hasSession && panel.session.heldBy === undefined;
  const hindrance = hindranceOfCompression(panel);
  const chat = (what: "openAsMarkdown" | "export" | "rename") => () => shell.line.send({ type: "chat", do: what });
  return [
    { label: t("Open as Markdown"), icon: "markdown", disabled: !hasSession, run: chat("openAsMarkdown") },
    { label: t("Export…"), icon: "exportFile", disabled: !hasSession, run: chat("export") },
    { label: t("Rename…"), icon: "edit", disabled: !writable, run: chat("rename") },
    {
      label: t("Compress…"),
      icon: "compress",
      disabled: !hasSession,
      hindrance,
      separated: true,
      run: () => compress(shell, false, false),
    },
    {
      label: t("Preview Compression…"),
      icon: "diff",
      disabled: !hasSession,
      hindrance,
      run: () => compress(shell, true, false),
    },
    {
      label: t("Show Snapshot"),
      icon: "file",
      disabled: !panel.canUndo && panel.hidden.length === 0,
      run: () => void showSnapshot(shell),
    },
    {
      label: t("Undo Last Compression…"),
      icon: "undo",
      disabled: !panel.canUndo,
      hindrance: panel.canUndo ? hindrance : undefined,
      run: () => void undoCompression(shell),
    },
    { label: rulesLabel(panel), icon: "pin", separated: true, run: () => shell.openPopup("rules") },
    { label: t("Memory"), icon: "memory", run: () => shell.openPopup("memory") },
    { label: t("Skills"), icon: "skills", run: () => shell.openPopup("skills") },
    { label: t("MCP Servers"), icon: "servers", run: () => shell.openPopup("servers") },
    { label: t("Statistics"), icon: "statistics", disabled: !hasSession, run: () => shell.openPopup("statistics") },
    { label: t("Commands and Keys"), icon: "help", run: () => shell.openPopup("help") },
  ];
}

/** "Rules", with how many there are. */
function rulesLabel({ rules: { inForce, proposed } }: PanelState): string {
  if (inForce + proposed === 0) return t("Rules");
  return proposed === 0 ? t("Rules ({0})", inForce) : t("Rules ({0}, {1} to be decided)", inForce, proposed);
}
