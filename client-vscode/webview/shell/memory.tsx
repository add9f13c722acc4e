import { useRef, useState } from "preact/hooks";
import { LONGEST_FACT } from "../../src/panel/limits.js";
import type { MemoryFileInfo } from "../../src/protocol.gen.js";
import { t } from "../strings.js";
import { AddLine } from "./addLine.js";
import { DialogTitle, Problem, useListed } from "./dialog.js";
import { FaultLine } from "./faultLine.js";
import { formatCount } from "./numbers.js";
import { Popup } from "./popup.js";
import { useShell } from "./shell.js";

type Scope = "global" | "project";

/** The memory files: what goes along with every chat, what is wrong with it, and one more fact. */
export function MemoryDialog({ locale }: { readonly locale: string }) {
  return (
    <Popup name="memory" label={t("Memory")} class="popup-header">
      <MemoryBody locale={locale} />
    </Popup>
  );
}

function MemoryBody({ locale }: { readonly locale: string }) {
  const shell = useShell();
  const isReload = useRef(false);
  const isTrusted = shell.panel.value?.trusted ?? false;
  const changes = shell.panel.value?.sourceChanges ?? 0;
  // Asked anew when files change while it is open. Only the button has them read anew.
  const { value, error, pending, again, act } = useListed(`${changes} ${isTrusted}`, () => {
    const reload = isReload.current;
    isReload.current = false;
    return shell.line.call({ do: "memory", reload });
  });
  const files = value?.files ?? [];

  const add = (fact: string, scope: Scope) =>
    act(async () => {
      const { path } = await shell.line.call({ do: "addMemory", fact, scope });
      shell.announce(t("Kept in {0}", shortPath(path)));
    });

  return (
    <>
      <DialogTitle>{t("Memory")}</DialogTitle>
      <p class="quiet">
        {isTrusted
          ? t("What these files say goes along with every chat. A change counts from the next prompt on.")
          : t("This workspace is not trusted: only your own files go along.")}
      </p>
      {error === undefined ? null : <FaultLine error={error} />}
      {value !== undefined && files.length === 0 ? (
        <p>{t("There are no memory files yet. Write a GEMINI.md, or add a fact here.")}</p>
      ) : null}
      {files.length === 0 ? null : (
        <ul class="rule-list" aria-label={t("Memory files")} aria-busy={pending}>
          {files.map((file) => (
            <File key={file.path} file={file} locale={locale} />
          ))}
        </ul>
      )}
      {value === undefined ? null : (
        <p class="memory-sum">
          <span class="quiet">{t("{0} tokens in every request", formatCount(value.tokenCount, locale))}</span>
          <button
            type="button"
            class="text-action"
            onClick={() => {
              isReload.current = true;
              again();
            }}
          >
            {t("Read Again")}
          </button>
        </p>
      )}
      <NewFact add={add} isTrusted={isTrusted} />
    </>
  );
}

function File({ file, locale }: { readonly file: MemoryFileInfo; readonly locale: string }) {
  const shell = useShell();
  const { path, scope, tokenCount, imports, problem } = file;
  const name = shortPath(path);
  const facts = [
    scopeText(scope),
    t("{0} tokens", formatCount(tokenCount, locale)),
    ...(imports.length === 0 ? [] : [imports.length === 1 ? t("1 import") : t("{0} imports", imports.length)]),
  ];
  return (
    <li>
      <button
        type="button"
        class="text-action memory-path"
        title={path}
        aria-label={t("Open {0}", name)}
        onClick={() => shell.line.send({ type: "openMemory", path })}
      >
        <span dir="ltr">{name}</span>
      </button>
      <span class="memory-facts quiet" title={imports.join("\n")}>
        {facts.join(" · ")}
      </span>
      {problem === undefined ? null : <Problem>{problem}</Problem>}
    </li>
  );
}

interface NewFactProps {
  readonly add: (fact: string, scope: Scope) => Promise<boolean>;
  readonly isTrusted: boolean;
}

function NewFact({ add, isTrusted }: NewFactProps) {
  const [wanted, setScope] = useState<Scope>("project");
  const scope = isTrusted ? wanted : "global";
  return (
    <>
      <AddLine
        label={t("New fact")}
        placeholder={t("Add a fact: tests run with make test")}
        maxLength={LONGEST_FACT}
        add={(fact) => add(fact, scope)}
      />
      <div class="rule-line memory-scope" role="group" aria-label={t("Where it is kept")}>
        {(["project", "global"] as const).map((each) => (
          <button
            key={each}
            type="button"
            class="text-action"
            aria-pressed={scope === each}
            aria-disabled={each === "project" && !isTrusted}
            onClick={() => setScope(each)}
          >
            {each === "project" ? t("For This Project") : t("For All My Projects")}
          </button>
        ))}
      </div>
    </>
  );
}

function scopeText(scope: MemoryFileInfo["scope"]): string {
  return {
    global: t("yours, in every project"),
    extension: t("of an extension"),
    project: t("of this project"),
    subdirectory: t("of its folder, when that is touched"),
  }[scope];
}

/** The last names of a path, which tell it from others. */
function shortPath(path: string): string {
  const names = path.split(/[\\/]/).filter((name) => name !== "");
  return names.length <= 3 ? path : `…/${names.slice(-3).join("/")}`;
}
