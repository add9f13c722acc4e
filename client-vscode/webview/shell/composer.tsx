import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { PanelState } from "../../src/panel/contract.js";
import type { Picture } from "../../src/panel/pictures.js";
import type { Enclosed } from "../../src/panel/written.js";
import { t } from "../strings.js";
import { stop, submit } from "./actions.js";
import { Chips } from "./chips.js";
import {
  CompletionList,
  completionListId,
  completionOptionId,
  useCompletion,
  type CompletionEntry,
} from "./completion.js";
import { ComposerBar } from "./composerBar.js";
import { useDoubts } from "./doubts.js";
import { Icon } from "./icon.js";
import { composerCommand } from "./keymap.js";
import { PasteChips } from "./pasteChips.js";
import { PictureChips } from "./pictures.js";
import { usePasting } from "./pasting.js";
import { leavesDownwards, leavesUpwards } from "./promptHistory.js";
import { previousPrompt } from "./queueEditing.js";
import { useShell } from "./shell.js";
import { replaceText } from "./textEdit.js";
import { usePromptHistory } from "./usePromptHistory.js";

/** Where prompts are written. It never takes the focus by itself but when the person asked for it. */
export function Composer({ panel }: { readonly panel: PanelState }) {
  const shell = useShell();
  const area = useRef<HTMLTextAreaElement>(null);
  const [caret, setCaret] = useState<number>();
  const text = shell.draft.value;
  const pictures = shell.pictures.value;
  const completion = useCompletion(text, caret);
  const doubts = useDoubts(text, caret);
  const history = usePromptHistory();
  const pasting = usePasting(area);

  const focusAsked = shell.composerFocus.value;
  useLayoutEffect(() => {
    if (focusAsked > 0) area.current?.focus();
  }, [focusAsked]);

  const readCaret = () => {
    const element = area.current;
    if (element !== null) setCaret(element.selectionStart === element.selectionEnd ? element.selectionEnd : undefined);
  };
  const setText = (prompt: string, enclosed: Enclosed = {}) => {
    const next = shell.folded(prompt, enclosed.pasted);
    shell.draft.value = next;
    const element = area.current;
    if (element === null) return;
    element.value = next;
    element.setSelectionRange(next.length, next.length);
    setCaret(undefined);
  };
  /** The pictures of an earlier prompt that stands in the place of what is written: they go with it again. */
  const borrowed = useRef<readonly Picture[]>([]);
  const recall = (prompt: string, enclosed: Enclosed) => {
    const own = pictures.filter((picture) => !borrowed.current.includes(picture));
    borrowed.current = own.length > 0 ? [] : (enclosed.pictures ?? []);
    shell.pictures.value = [...own, ...borrowed.current];
    setText(prompt, enclosed);
  };
  const asking = useRef(false);
  const send = (steers = false) => {
    if (asking.current) return;
    const [draft, attached] = [shell.draft.peek(), shell.pictures.peek()];
    const settle = (sent: boolean) => {
      asking.current = false;
      if (!sent) return;
      history.rest();
      if (shell.pictures.peek() === attached) shell.pictures.value = [];
      if (shell.draft.peek() === draft) setText(""); // it may have been written on while something was asked
    };
    const sent = submit(shell, shell.prompt, steers);
    if (typeof sent === "boolean") settle(sent);
    else {
      asking.current = true;
      void sent.then(settle);
    }
  };

  const insertion = shell.insertion.value;
  useLayoutEffect(() => {
    const element = area.current;
    if (insertion === undefined || element === null) return;
    const { selectionStart: start } = element;
    const glued = start > 0 && !/\s$/.test(element.value.slice(0, start));
    pasting.put(glued ? ` ${insertion.text}` : insertion.text);
    shell.insertion.value = undefined;
    if (insertion.send) send();
  }, [insertion, shell]);

  const accept = (entry: CompletionEntry, andSend: boolean) => {
    const element = area.current;
    if (element === null) return;
    // What stands right behind a word is not the rest of it if it is a marker.
    const { start, end, text: put } = entry.replacement;
    const marker = shell.pastes.placed(element.value).find((one) => one.start >= start);
    replaceText(element, { start, end: Math.min(end, marker?.start ?? end), text: put });
    shell.draft.value = element.value;
    readCaret();
    if (andSend && entry.complete) send();
  };

  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }) => {
    const { value, selectionStart: start, selectionEnd: end } = event.currentTarget;
    if (pasting.onKeyDown(event)) return;
    const recalled = history.isRecalled(shell.prompt);
    const command = composerCommand(event, {
      sendWith: panel.settings.sendWith,
      listOpen: completion.entries.length > 0,
      running: panel.job.kind !== "idle" || shell.sending.peek() !== undefined,
      historyUp: leavesUpwards(value, start, end, recalled),
      historyDown: leavesDownwards(value, start, end, recalled),
      hasQueue: panel.queue.length > 0,
      canSteer: panel.work.canSteer,
    });
    if (command === undefined || (command === "newestMessage" && shell.total.peek() === 0)) return;
    event.preventDefault();
    switch (command) {
      case "send":
        send();
        return;
      case "steer":
        send(true);
        return;
      case "newLine":
        replaceText(event.currentTarget, { start, end, text: "\n" });
        return;
      case "stop":
        stop(shell);
        return;
      case "older":
        history.older(shell.prompt, recall);
        return;
      case "newer":
        history.newer(shell.prompt, recall);
        return;
      case "editQueued":
        shell.editQueued(previousPrompt(panel.queue, undefined));
        return;
      case "newestMessage":
        shell.transcript?.focusNewest();
        return;
      case "listNext":
        completion.move(1);
        return;
      case "listPrevious":
        completion.move(-1);
        return;
      case "listAccept": {
        const entry = completion.entries[completion.active];
        if (entry !== undefined) accept(entry, event.key === "Enter");
        return;
      }
      case "listClose":
        completion.dismiss();
        return;
    }
  };

  const listOpen = completion.entries.length > 0;
  return (
    <form
      class="composer"
      aria-label={t("Prompt")}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <CompletionList completion={completion} accept={(entry) => accept(entry, true)} />
      <Chips panel={panel} />
      <textarea
        ref={area}
        class="prompt"
        rows={1}
        dir="auto"
        aria-label={t("Prompt")}
        aria-autocomplete="list"
        {...(listOpen
          ? { "aria-controls": completionListId, "aria-activedescendant": completionOptionId(completion.active) }
          : {})}
        placeholder={
          panel.session?.heldBy === undefined
            ? t("Ask Gemini, @ for files, / for commands")
            : t("This chat can only be read here")
        }
        value={text}
        onInput={(event) => {
          shell.draft.value = event.currentTarget.value;
          readCaret();
        }}
        onSelect={readCaret}
        onKeyUp={readCaret}
        onBlur={() => setCaret(undefined)}
        onKeyDown={onKeyDown}
        onPaste={pasting.onPaste}
        onCopy={pasting.onCopy}
        onCut={pasting.onCut}
        onDrop={pasting.onDrop}
      />
      <PasteChips text={text} pasting={pasting} locale={panel.settings.locale} />
      <PictureChips
        pictures={pictures}
        locale={panel.settings.locale}
        remove={(picture) => {
          shell.pictures.value = pictures.filter((one) => one !== picture);
          shell.focusComposer();
        }}
      />
      <Doubts doubts={doubts} />
      <ComposerBar
        panel={panel}
        hasText={text.trim() !== "" || pictures.length > 0}
        steer={() => send(true)}
        addFile={() => (shell.insertion.value = { text: "@", send: false })}
      />
    </form>
  );
}

/** What of the prompt goes nowhere, below it while it is written. */
function Doubts({ doubts }: { readonly doubts: readonly string[] }) {
  return (
    <div class="doubts" role="status" aria-label={t("Not clear")}>
      {doubts.map((doubt) => (
        <div key={doubt} class="doubt">
          <Icon name="warning" />
          <span>{doubt}</span>
        </div>
      ))}
    </div>
  );
}
