import { useLayoutEffect, useRef } from "preact/hooks";
import type { PanelState, QueuedPrompt } from "../../src/panel/contract.js";
import { enclosedIn, piecesOf } from "../../src/panel/written.js";
import { t } from "../strings.js";
import { IconButton } from "./iconButton.js";
import { PictureChips } from "./pictures.js";
import { linesText } from "./pastes.js";
import { queueEditCommand } from "./keymap.js";
import { previousPrompt, savedText, type QueueEdit } from "./queueEditing.js";
import { useShell } from "./shell.js";
import { hindranceOfTaken } from "./standing.js";

/** Prompts that wait for what runs. Each can be changed, sent at once, or taken away. */
export function Queue({ panel }: { readonly panel: PanelState }) {
  const shell = useShell();
  if (panel.queue.length === 0) return null;
  const edit = shell.queueEdit.value;
  return (
    <section class="queue" aria-label={t("Queued prompts")}>
      <h2 class="queue-title">
        {panel.queue.length === 1 ? t("1 prompt queued") : t("{0} prompts queued", panel.queue.length)}
      </h2>
      <ol>
        {panel.queue.map((prompt) => (
          <li key={prompt.id} class="queued">
            {edit?.id === prompt.id ? (
              <QueueEditor edit={edit} panel={panel} />
            ) : (
              <QueueItem prompt={prompt} panel={panel} />
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** As much of a long prompt as can be seen: one line of it stands here, and its editor has all of it. */
function clipped(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}…`;
}

function QueueItem({ prompt, panel }: { readonly prompt: QueuedPrompt; readonly panel: PanelState }) {
  const shell = useShell();
  const taken = hindranceOfTaken(panel);
  const { locale } = panel.settings;
  const text = piecesOf(prompt)
    .map((piece) => (piece.isPasted ? `[${t("Pasted text")}: ${linesText(piece.text, locale)}]` : piece.text))
    .join("");
  const run = (what: "sendNow" | "remove") => () => {
    if (what === "sendNow" && taken !== undefined) {
      shell.announce(taken, true);
      return;
    }
    shell.line.send({ type: "queue", do: what, id: prompt.id });
    shell.focusComposer();
  };
  return (
    <>
      <span class="queued-text" dir="auto" title={clipped(text, 1_000)}>
        {clipped(text.trimStart(), 300)}
      </span>
      <PictureChips pictures={prompt.pictures ?? []} locale={locale} />
      <span class="queued-actions">
        <IconButton
          icon="edit"
          label={t("Edit queued prompt")}
          title={`${t("Edit")} (Alt+↑)`}
          onClick={() => shell.editQueued(prompt)}
        />
        <IconButton
          icon="send"
          label={t("Send now")}
          title={taken ?? t("Send now: what runs is stopped")}
          aria-disabled={taken !== undefined}
          onClick={run("sendNow")}
        />
        <IconButton icon="close" label={t("Remove queued prompt")} title={t("Remove")} onClick={run("remove")} />
      </span>
    </>
  );
}

function QueueEditor({ edit, panel }: { readonly edit: QueueEdit; readonly panel: PanelState }) {
  const shell = useShell();
  const input = useRef<HTMLTextAreaElement>(null);

  useLayoutEffect(() => {
    const element = input.current;
    if (element === null) return;
    element.focus();
    element.setSelectionRange(element.value.length, element.value.length);
  }, [edit.id]);

  const leave = () => {
    shell.editQueued(undefined);
    shell.focusComposer();
  };
  const save = () => {
    const text = savedText(edit);
    if (text !== undefined) {
      const { pictures = [] } = edit;
      const enclosed = enclosedIn({ pasted: shell.pastes.ranges(text), pictures });
      shell.line.send({ type: "queue", do: "edit", id: edit.id, text: shell.pastes.expanded(text), ...enclosed });
      shell.announce(t("Queued prompt changed"));
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const command = queueEditCommand(event, panel.settings.sendWith);
    if (command === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (command === "previous") {
      const previous = previousPrompt(panel.queue, edit);
      if (previous === undefined) return;
      save();
      shell.editQueued(previous);
      return;
    }
    if (command !== "cancel") save();
    leave();
  };

  return (
    <div class="queue-editor">
      <textarea
        ref={input}
        class="input"
        rows={1}
        aria-label={t("Queued prompt")}
        value={edit.text}
        onInput={(event) => (shell.queueEdit.value = { ...edit, text: event.currentTarget.value })}
        onKeyDown={onKeyDown}
      />
      <PictureChips pictures={edit.pictures ?? []} locale={panel.settings.locale} />
      <div class="button-row">
        <button
          type="button"
          class="button"
          onClick={() => {
            save();
            leave();
          }}
        >
          {t("Save")}
        </button>
        <button type="button" class="button secondary" onClick={leave}>
          {t("Cancel")}
        </button>
      </div>
    </div>
  );
}
