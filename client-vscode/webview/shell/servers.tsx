import { useState } from "preact/hooks";
import type { McpServerInfo } from "../../src/protocol.gen.js";
import { exactText } from "../../src/panel/exact.js";
import { t } from "../strings.js";
import { DialogTitle, Problem, useListed } from "./dialog.js";
import { FaultLine } from "./faultLine.js";
import { useAsked } from "./hooks.js";
import { Icon } from "./icon.js";
import { Popup } from "./popup.js";
import { useShell } from "./shell.js";

type Action = "enable" | "disable" | "agree" | "restart" | "login" | "logout";

/** The MCP servers: where each stands, what it offers, what went wrong, and what can be done about it. */
export function ServersDialog() {
  return (
    <Popup name="servers" label={t("MCP Servers")} class="popup-header">
      <ServersBody />
    </Popup>
  );
}

function ServersBody() {
  const shell = useShell();
  const changes = shell.panel.value?.serverChanges ?? 0;
  // Asked anew when a server moves while it is open.
  const { value, error, pending, act } = useListed(`${changes}`, () => shell.line.call({ do: "servers" }));
  const servers = value?.servers ?? [];

  const run = ({ name, digest }: McpServerInfo, action: Action) =>
    act(() => shell.line.call({ do: "serverAction", server: name, action, ...(action === "agree" ? { digest } : {}) }));

  return (
    <>
      <DialogTitle>{t("MCP Servers")}</DialogTitle>
      {error === undefined ? null : <FaultLine error={error} />}
      {value !== undefined && servers.length === 0 ? (
        <p>{t("There are none yet. Name them under mcpServers in .gemini/settings.json.")}</p>
      ) : null}
      {servers.length === 0 ? null : (
        <ul class="rule-list" aria-label={t("MCP Servers")} aria-busy={pending}>
          {servers.map((server) => (
            <Server key={server.name} server={server} run={run} />
          ))}
        </ul>
      )}
      {(value?.problems ?? []).map((problem) => (
        <p key={problem} class="memory-problem">
          <Icon name="warning" />
          {problem}
        </p>
      ))}
    </>
  );
}

interface ServerProps {
  readonly server: McpServerInfo;
  readonly run: (server: McpServerInfo, action: Action) => Promise<boolean>;
}

function Server({ server, run }: ServerProps) {
  const [shown, setShown] = useState<"tools" | "log">();
  const { name, state, command, error, tools, title, warnings } = server;
  const commands = useShell().commands.value.filter(({ scope, owner }) => scope === "server" && owner === name);
  const toggle = (what: "tools" | "log") => () => setShown(shown === what ? undefined : what);
  return (
    <li>
      <span class="server-name">{exactText(name)}</span>
      <span class="memory-facts quiet" title={title}>
        {[stateText(state), ...(tools.length > 0 ? [countText(tools.length)] : [])].join(" · ")}
      </span>
      <code class="server-command" dir="ltr">
        {/* What is agreed to, as the daemon says it: nothing in it is unseen. */}
        {exactText(command)}
      </code>
      {warnings.map((warning) => (
        <Problem key={warning}>{exactText(warning)}</Problem>
      ))}
      {state === "consentNeeded" ? (
        <Problem>{t("This workspace wants to start it. Look at the command before you agree.")}</Problem>
      ) : null}
      {error === "" ? null : <Problem>{exactText(error)}</Problem>}
      <span class="rule-line">
        {actionsOf(server).map((action) => (
          <button
            key={action}
            type="button"
            class="text-action"
            aria-label={`${actionText(action)}: ${name}`}
            onClick={() => void run(server, action)}
          >
            {actionText(action)}
          </button>
        ))}
        {tools.length + commands.length === 0 ? null : (
          <button type="button" class="text-action" aria-expanded={shown === "tools"} onClick={toggle("tools")}>
            {t("What It Offers")}
          </button>
        )}
        <button type="button" class="text-action" aria-expanded={shown === "log"} onClick={toggle("log")}>
          {t("Log")}
        </button>
      </span>
      {shown === "tools" ? (
        <ul class="server-tools">
          {tools.map((tool) => (
            <li key={tool.name} title={tool.description}>
              <code dir="ltr">{tool.name}</code>
            </li>
          ))}
          {commands.map((command) => (
            <li key={command.name} title={command.description}>
              <code dir="ltr">/{command.name}</code>
            </li>
          ))}
        </ul>
      ) : null}
      {shown === "log" ? <Log name={name} /> : null}
    </li>
  );
}

function Log({ name }: { readonly name: string }) {
  const shell = useShell();
  const changes = shell.panel.value?.serverChanges ?? 0;
  const { value, error } = useAsked(`${name} ${changes}`, 0, () => shell.line.call({ do: "serverLog", server: name }));
  if (error !== undefined) return <FaultLine error={error} />;
  const lines = value?.lines ?? [];
  return (
    <pre class="server-log" dir="ltr" tabIndex={0} aria-label={t("Log")}>
      {lines.length === 0 ? t("Nothing was written yet.") : exactText(lines.join("\n"), "lines")}
    </pre>
  );
}

/** What can be done about a server where it stands. */
function actionsOf({ state, canLogIn, isPersonal }: McpServerInfo): readonly Action[] {
  const login: readonly Action[] = canLogIn ? ["login"] : [];
  switch (state) {
    case "consentNeeded":
      return ["agree", "disable"];
    case "disabled":
      return ["enable"];
    case "excluded":
    case "held":
    case "untrusted":
      return [];
    case "loginNeeded":
      return ["login", "disable"];
    case "ready":
      return ["restart", ...(canLogIn && isPersonal ? (["logout"] as const) : []), "disable"];
    default:
      return ["restart", ...login, "disable"];
  }
}

function actionText(action: Action): string {
  return {
    enable: t("Enable"),
    disable: t("Disable"),
    agree: t("Agree and Start"),
    restart: t("Restart"),
    login: t("Log In"),
    logout: t("Log Out"),
  }[action];
}

function stateText(state: McpServerInfo["state"]): string {
  return {
    off: t("starts with the next prompt"),
    starting: t("is being started"),
    ready: t("ready"),
    restarting: t("is being started again"),
    failed: t("failed"),
    loginNeeded: t("wants you to log in"),
    consentNeeded: t("waits for your consent"),
    disabled: t("disabled"),
    excluded: t("left out by the settings"),
    held: t("off until its settings file can be read"),
    untrusted: t("off, as the workspace is not trusted"),
  }[state];
}

function countText(count: number): string {
  return count === 1 ? t("1 tool") : t("{0} tools", count);
}
