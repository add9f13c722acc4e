import { useState } from "preact/hooks";
import type { ChangedFile, PanelState } from "../../src/panel/contract.js";
import { t } from "../strings.js";
import { Icon } from "./icon.js";
import { IconButton } from "./iconButton.js";
import { formatCount } from "./numbers.js";
import { useShell } from "./shell.js";

/** The files that tools changed, over the composer: each can be looked at, kept, undone, and all at once. */
export function ChangesBar({ panel }: { readonly panel: PanelState }) {
  const shell = useShell();
  const [open, setOpen] = useState(false);
  const { files, note } = panel.work.changes;
  if (files.length === 0) return null;
  const { locale } = panel.settings;
  const isReadOnly = panel.session?.heldBy !== undefined;
  const send = (what: "keep" | "undo") => () => {
    shell.line.send({ type: "changes", do: what });
    shell.focusComposer();
  };
  return (
    <section class="bar" aria-label={t("Changed files")}>
      <div class="bar-line">
        <button type="button" class="bar-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? "chevronDown" : "chevronRight"} />
          <span class="bar-text">
            {files.length === 1 ? t("1 file changed") : t("{0} files changed", formatCount(files.length, locale))}
          </span>
          <Lines of={panel.work.changes} locale={locale} />
        </button>
        {isReadOnly ? null : (
          <>
            <button type="button" class="text-action" aria-label={t("Keep all changes")} onClick={send("keep")}>
              {t("Keep")}
            </button>
            <button type="button" class="text-action" aria-label={t("Undo all changes")} onClick={send("undo")}>
              {t("Undo")}
            </button>
          </>
        )}
      </div>
      {open ? (
        <ul class="changed-files">
          {files.map((file) => (
            <FileLine key={file.path} file={file} locale={locale} isReadOnly={isReadOnly} />
          ))}
          {note === "" ? null : <li class="changed-note">{note}</li>}
        </ul>
      ) : null}
    </section>
  );
}

function FileLine(props: { readonly file: ChangedFile; readonly locale: string; readonly isReadOnly: boolean }) {
  const { file, locale, isReadOnly } = props;
  const shell = useShell();
  const { path, label, note } = file;
  const send = (what: "keep" | "undo" | "diff") => () => shell.line.send({ type: "changes", do: what, path });
  const title = [t("Show what was changed in {0}", label), note].filter((line) => line !== "").join("\n");
  return (
    <li class="changed-file">
      <button type="button" class="bar-fold" title={title} onClick={send("diff")}>
        <Icon name="diff" />
        <span class="bar-text" dir="auto">
          {label}
        </span>
        <Lines of={file} locale={locale} />
        {kindText(file) === "" ? null : <span class="bar-count">{kindText(file)}</span>}
        {note === "" ? null : <span class="bar-count">{note}</span>}
      </button>
      {isReadOnly ? null : (
        <>
          <IconButton
            icon="check"
            label={t("Keep the changes of {0}", label)}
            title={t("Keep")}
            onClick={send("keep")}
          />
          <IconButton
            icon="undo"
            label={t("Undo the changes of {0}", label)}
            title={file.canRevert ? t("Undo") : note}
            aria-disabled={!file.canRevert}
            onClick={() => {
              if (file.canRevert) send("undo")();
            }}
          />
        </>
      )}
    </li>
  );
}

function kindText({ kind }: ChangedFile): string {
  if (kind === "created") return t("new");
  if (kind === "deleted") return t("deleted");
  return kind === "renamed" ? t("renamed") : "";
}

/** "+41 −7". */
function Lines({ of, locale }: { readonly of: Pick<ChangedFile, "added" | "removed">; readonly locale: string }) {
  const [added, removed] = [formatCount(of.added, locale), formatCount(of.removed, locale)];
  return (
    <span class="bar-lines" role="img" aria-label={t("{0} lines added, {1} removed", added, removed)}>
      <span class="lines-added">+{added}</span> <span class="lines-removed">−{removed}</span>
    </span>
  );
}
