/** Messages of the host, put where they belong: the shell's signals, the transcript, the live regions. */
import type { PageCommand } from "../../src/panel/contract.js";
import type { ShellMessage } from "../bridge.js";
import { setStrings, t } from "../strings.js";
import { openFind } from "./actions.js";
import type { DraftReporter } from "./draftReporter.js";
import { Announcer, type Announcement } from "./announcer.js";
import type { Shell } from "./shell.js";

export class Messages {
  readonly #announcer = new Announcer();

  constructor(
    private readonly shell: Shell,
    private readonly drafts: DraftReporter,
  ) {}

  take(message: ShellMessage): void {
    const { shell } = this;
    switch (message.type) {
      case "sync": {
        setStrings(message.strings);
        const before = shell.panel.peek()?.session?.sessionId;
        const isSameChat = before !== undefined && before === message.state.session?.sessionId;
        // The state first: the transcript reads its hidden runs and settings while it builds the rows.
        shell.setPanel(message.state);
        shell.total.value = message.total;
        shell.transcript?.setState(message.state);
        const scroll = this.drafts.restore(message);
        shell.transcript?.reset(message.total, message.from, message.rows, scroll);
        if (isSameChat) this.#announce(this.#announcer.catchUp(message.rows, message.state.settings));
        else this.#announcer.learn(message.rows);
        return;
      }
      case "state":
        shell.setPanel(message.state);
        shell.transcript?.setState(message.state);
        return;
      case "rows": {
        shell.total.value = message.total;
        shell.transcript?.setRows(message.total, message.from, message.rows);
        const settings = shell.panel.peek()?.settings;
        if (settings === undefined) return;
        this.#announce(this.#announcer.read(message.rows, settings));
        return;
      }
      case "delta":
        if (shell.transcript?.appendDelta(message) === false) shell.line.resync();
        return;
      case "output":
        shell.transcript?.setOutput(message);
        return;
      case "announce":
        shell.announce(message.text, message.assertive);
        return;
      case "command":
        this.#command(message.command);
        return;
    }
  }

  #announce(announcements: readonly Announcement[]): void {
    for (const assertive of [false, true]) {
      const texts = announcements.filter((item) => item.assertive === assertive).map(({ text }) => text);
      if (texts.length > 0) this.shell.announce(texts.join(". "), assertive);
    }
  }

  #command(command: PageCommand): void {
    const { shell } = this;
    switch (command.do) {
      case "focusComposer":
        shell.closePopup();
        shell.focusComposer();
        return;
      case "insert":
        shell.insertion.value = { text: command.text, send: command.send === true };
        return;
      case "setDraft":
        this.drafts.take(command);
        return;
      case "find":
        openFind(shell);
        return;
      case "openMeter":
        shell.openPopup("meter");
        return;
      case "openSessions":
        shell.searched.value = { query: command.query ?? "" };
        shell.openPopup("sessions");
        return;
      case "openRules":
        shell.openPopup("rules");
        return;
      case "openKept":
        shell.kept.value = { compressionId: command.compressionId };
        shell.openPopup("kept");
        return;
      case "openMemory":
        shell.openPopup("memory");
        return;
      case "openStatistics":
        shell.openPopup("statistics");
        return;
      case "openSkills":
        shell.openPopup("skills");
        return;
      case "openServers":
        shell.openPopup("servers");
        return;
      case "openMode":
        shell.openPopup("mode");
        return;
      case "openToolRules":
        shell.openPopup("toolRules");
        return;
      case "toQuestion":
        shell.closePopup();
        if (shell.transcript?.focusQuestion(command.row, command.callId) !== true)
          shell.announce(t("Nothing waits for an answer in this chat."));
        return;
      case "showPlace":
        shell.closePopup();
        shell.transcript?.showPlace(command);
        return;
      case "showRow":
        shell.transcript?.showRow(command.row, command.rowId);
        return;
    }
  }
}
