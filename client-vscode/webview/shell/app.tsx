import { useState } from "preact/hooks";
import { t } from "../strings.js";
import { Blank } from "./blank.js";
import { ChangesBar } from "./changesBar.js";
import { Composer } from "./composer.js";
import { ConfirmDialog } from "./confirm.js";
import { carriesBytes, carriesFiles, droppedFiles, droppedUris } from "./drop.js";
import { Feed } from "./feed.js";
import { FindBar } from "./findBar.js";
import { Header } from "./header.js";
import { HelpDialog } from "./help.js";
import { LiveRegions } from "./liveRegions.js";
import { Notices } from "./notices.js";
import { attachFiles } from "./pictures.js";
import { Queue } from "./queue.js";
import { useShell } from "./shell.js";
import { isBlank } from "./standing.js";
import { Tasks } from "./tasks.js";

/** The whole panel. `onFeed` gets the element of the transcript, once; nothing here touches what is inside it. */
export function App({ onFeed }: { readonly onFeed: (feed: HTMLElement) => void }) {
  const shell = useShell();
  const [dropping, setDropping] = useState(false);
  const panel = shell.panel.value;
  const total = shell.total.value;
  const blank = isBlank(panel, total);
  // A question makes the rest of the panel inert: it is the one thing to be answered.
  const inert = shell.confirmation.value === undefined ? {} : { inert: true };

  return (
    <div
      class={`app ${dropping ? "dropping" : ""}`}
      onDragOver={(event) => {
        if (!carriesFiles(event.dataTransfer) && !carriesBytes(event.dataTransfer)) return;
        event.preventDefault();
        setDropping(true);
      }}
      onDragLeave={(event) => {
        if (event.relatedTarget === null) setDropping(false);
      }}
      onDrop={(event) => {
        setDropping(false);
        const { dataTransfer } = event;
        const [files, uris] =
          dataTransfer === null ? [[], []] : [droppedFiles(dataTransfer), droppedUris(dataTransfer)];
        if (files.length > 0) {
          event.preventDefault();
          void attachFiles(shell, files);
          return;
        }
        if (uris.length === 0) return;
        event.preventDefault();
        shell.line.send({ type: "drop", uris });
      }}
    >
      <header class="header" {...inert}>
        <h1 class="unseen">{t("Gemini chat")}</h1>
        {panel === undefined ? null : <Header panel={panel} />}
        {panel === undefined ? null : <FindBar />}
      </header>
      <main class={`main ${blank ? "main-blank" : ""}`} {...inert}>
        {blank ? <Blank panel={panel} /> : null}
        <Feed onFeed={onFeed} />
      </main>
      <footer class="footer" {...inert}>
        {panel === undefined ? null : (
          <>
            <Notices panel={panel} total={total} />
            <Tasks panel={panel} />
            <ChangesBar panel={panel} />
            <Queue panel={panel} />
            <Composer panel={panel} />
            <HelpDialog settings={panel.settings} />
          </>
        )}
      </footer>
      {dropping ? <p class="drop-hint">{t("Drop to name the files in your prompt")}</p> : null}
      <ConfirmDialog />
      <LiveRegions />
    </div>
  );
}
