import type { FileProblem, SkillInfo } from "../../src/protocol.gen.js";
import { t } from "../strings.js";
import { DialogTitle, Problem, useListed } from "./dialog.js";
import { FaultLine } from "./faultLine.js";
import { formatCount } from "./numbers.js";
import { Popup } from "./popup.js";
import { useShell } from "./shell.js";

/** The skills: what the model is told of, what it reads when it fits, and turning each on and off. */
export function SkillsDialog({ locale }: { readonly locale: string }) {
  return (
    <Popup name="skills" label={t("Skills")} class="popup-header">
      <SkillsBody locale={locale} />
    </Popup>
  );
}

function SkillsBody({ locale }: { readonly locale: string }) {
  const shell = useShell();
  const isTrusted = shell.panel.value?.trusted ?? false;
  const changes = shell.panel.value?.sourceChanges ?? 0;
  const { value, error, pending, act } = useListed(`${changes} ${isTrusted}`, () => shell.line.call({ do: "skills" }));
  const skills = value?.skills ?? [];

  const enable = ({ name }: SkillInfo, enabled: boolean) =>
    act(async () => {
      await shell.line.call({ do: "enableSkill", name, enabled });
      shell.announce(enabled ? t("{0} is on", name) : t("{0} is off", name));
    });

  return (
    <>
      <DialogTitle>{t("Skills")}</DialogTitle>
      <p class="quiet">
        {isTrusted
          ? t("The model knows their names and descriptions, and asks you before it reads one.")
          : t("This workspace is not trusted: there are only your own skills.")}
      </p>
      {error === undefined ? null : <FaultLine error={error} />}
      {value?.isEnabled === false ? <p>{t("Skills are off in the settings: skills.enabled.")}</p> : null}
      {value !== undefined && skills.length === 0 ? (
        <p>{t("There are no skills yet. Write a SKILL.md in a folder of .gemini/skills.")}</p>
      ) : null}
      {skills.length === 0 ? null : (
        <ul class="rule-list" aria-label={t("Skills")} aria-busy={pending}>
          {skills.map((skill) => (
            <Skill key={skill.name} skill={skill} enable={enable} canChange={value?.isEnabled !== false} />
          ))}
        </ul>
      )}
      <Problems problems={value?.problems ?? []} />
      {value === undefined || value.tokenCount === 0 ? null : (
        <p class="quiet">{t("{0} tokens in every request", formatCount(value.tokenCount, locale))}</p>
      )}
    </>
  );
}

interface SkillProps {
  readonly skill: SkillInfo;
  readonly enable: (skill: SkillInfo, enabled: boolean) => Promise<boolean>;
  readonly canChange: boolean;
}

function Skill({ skill, enable, canChange }: SkillProps) {
  const shell = useShell();
  const { name, description, path } = skill;
  return (
    <li>
      <span class="skill-line">
        <label class="skill-name">
          <input
            type="checkbox"
            role="switch"
            aria-label={name}
            checked={skill.isEnabled}
            disabled={!canChange}
            onChange={(event) => void enable(skill, event.currentTarget.checked)}
          />
          <span dir="auto">{name}</span>
        </label>
        <button
          type="button"
          class="text-action"
          title={path}
          aria-label={t("Open {0}", name)}
          onClick={() => shell.line.send({ type: "openSource", path })}
        >
          {t("Open")}
        </button>
      </span>
      <span class="memory-facts quiet" dir="auto">
        {`${description} · ${scopeText(skill)}`}
      </span>
    </li>
  );
}

/** Files that are skipped, each with what is wrong and where. */
function Problems({ problems }: { readonly problems: readonly FileProblem[] }) {
  const shell = useShell();
  if (problems.length === 0) return null;
  return (
    <ul class="rule-list" aria-label={t("Skipped files")}>
      {problems.map(({ path, line, message }) => (
        <li key={`${path}:${line}`}>
          <button
            type="button"
            class="text-action memory-path"
            title={path}
            onClick={() => shell.line.send({ type: "openSource", path })}
          >
            <span dir="ltr">{`${path}:${line}`}</span>
          </button>
          <Problem>{message}</Problem>
        </li>
      ))}
    </ul>
  );
}

function scopeText({ scope, owner = "" }: SkillInfo): string {
  return {
    user: t("yours, in every project"),
    workspace: t("of this project"),
    extension: t("of {0}", owner),
  }[scope];
}
