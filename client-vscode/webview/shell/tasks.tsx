import { useState } from "preact/hooks";
import type { PanelState, Task } from "../../src/panel/contract.js";
import { TASK_STATES } from "../../src/panel/tools.js";
import { t } from "../strings.js";
import { Icon } from "./icon.js";

/** The model's tasks over the composer: folded, the one that it works on. Gone when there is nothing left to do. */
export function Tasks({ panel }: { readonly panel: PanelState }) {
  const [open, setOpen] = useState(false);
  const { tasks } = panel.work;
  const left = tasks.filter(isLeft);
  if (left.length === 0) return null;
  const done = tasks.filter(({ status }) => status === "completed").length;
  const current = left.find(({ status }) => status === "in_progress") ?? left[0];
  return (
    <section class="bar" aria-label={t("Tasks")}>
      <button
        type="button"
        class="bar-fold"
        aria-expanded={open}
        title={open ? t("Show only the current task") : t("Show all tasks")}
        onClick={() => setOpen(!open)}
      >
        <Icon name={open ? "chevronDown" : "chevronRight"} />
        <span class="bar-text" dir="auto">
          {current?.description}
        </span>
        <span class="bar-count">{t("{0} of {1} done", done, tasks.length)}</span>
      </button>
      {open ? (
        <ol class="tasks">
          {tasks.map((task, index) => (
            <li key={index} data-state={task.status} {...(task === current ? { "aria-current": "step" as const } : {})}>
              <span class="task-mark" aria-hidden="true">
                {MARKS[task.status]}
              </span>
              <span dir="auto">{task.description}</span>
              <span class="unseen">{t(TASK_STATES[task.status])}</span>
            </li>
          ))}
        </ol>
      ) : null}
    </section>
  );
}

const MARKS: Readonly<Record<Task["status"], string>> = {
  pending: "○",
  in_progress: "◐",
  completed: "●",
  cancelled: "×",
};

function isLeft({ status }: Task): boolean {
  return status === "pending" || status === "in_progress";
}
