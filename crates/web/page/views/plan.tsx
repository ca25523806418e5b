// A plan: its tasks as a picture in layers, and as a list with everything that can be done.

import { useMemo } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { Plan, PlanTask } from "../api/types.ts";
import { MAX_DRAWN_TASKS, NODE, drawPlan, needing, planTaskLook, shortName } from "../model/plan.ts";
import { plural } from "../model/format.ts";
import { taskPath } from "../model/routes.ts";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/states.tsx";
import { PlanMark, PlanTaskMark } from "../parts/status.tsx";
import { ViewHead } from "../parts/view-head.tsx";
import { useMay } from "../state/identity.ts";
import { go } from "../state/navigation.ts";
import { useResource } from "../state/resource.ts";
import { type PlanVerb, openSheet } from "../state/sheets.ts";
import { PlanCounts } from "./plans.tsx";

export function PlanView({ id }: { id: string }) {
  const plan = useResource(`plan ${id}`, () => calls.plan(id), ["plans", "tasks"]);
  return (
    <Loaded of={plan} lines={8}>
      {(data) => (
        <>
          <PlanHead plan={data} />
          <PlanGraph tasks={data.tasks} />
          <TaskList plan={data} />
        </>
      )}
    </Loaded>
  );
}

const VERBS: Record<string, PlanVerb[]> = {
  running: ["pause", "cancel"],
  waiting: ["pause", "cancel"],
  failed: ["cancel"],
  paused: ["resume", "cancel"],
  cancelled: ["resume"],
};
const VERB_WORDS: Record<PlanVerb, string> = {
  pause: "Pause",
  resume: "Resume",
  cancel: "Cancel the plan",
};

function PlanHead({ plan }: { plan: Plan }) {
  const mayWork = useMay("work");
  const { fleet, name, state, max_parallel: most } = plan.plan;
  return (
    <>
      <ViewHead title={`${fleet}/${name}`}>
        <PlanMark state={state} />
        <PlanCounts plan={plan.plan} />
        {most !== null && <span class="dim">at most {most} at once</span>}
        <span class="spacer" />
        {mayWork &&
          (VERBS[state] ?? []).map((verb) => (
            <button
              key={verb}
              class="button"
              data-command={`plan-${verb}`}
              onClick={() => openSheet({ kind: "plan", verb, plan })}
            >
              {VERB_WORDS[verb]}
            </button>
          ))}
      </ViewHead>
    </>
  );
}

/** The list below has the same for people who do not see the picture. */
function PlanGraph({ tasks }: { tasks: PlanTask[] }) {
  const picture = useMemo(() => drawPlan(tasks), [tasks]);
  if (tasks.length > MAX_DRAWN_TASKS) {
    return (
      <p class="dim">
        A plan with more than {MAX_DRAWN_TASKS} tasks has no picture here. `segue plan graph --dot`
        writes one for Graphviz.
      </p>
    );
  }
  const room = 8;
  const [width, height] = [picture.width + 2 * room, picture.height + 2 * room];
  return (
    <div class="plan-graph" tabIndex={0} role="group" aria-label="Picture of the plan">
      <svg width={width} height={height} viewBox={`${-room} ${-room} ${width} ${height}`}>
        <g aria-hidden="true">
          {picture.arrows.map(({ key, path, isMet }) => (
            <path key={key} class={isMet ? "arrow is-met" : "arrow"} d={path} />
          ))}
        </g>
        {picture.nodes.map(({ task, x, y }) => (
          <PlanNode key={task.name} task={task} x={x} y={y} />
        ))}
      </svg>
    </div>
  );
}

/** A task in the picture. It leads to the task, or to its row in the list if it has not started. */
function PlanNode({ task, x, y }: { task: PlanTask; x: number; y: number }) {
  const { symbol, word, tone } = planTaskLook(task.status);
  const open = (event: MouseEvent) => {
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    if (!isPlain) return;
    // The page follows only links of HTML by itself.
    event.preventDefault();
    if (task.task) return go(taskPath(task.task));
    const row = document.getElementById(rowId(task));
    row?.focus();
    row?.scrollIntoView({ block: "center" });
  };
  return (
    <g transform={`translate(${x} ${y})`}>
      <a
        class={`plan-node tone-${tone}`}
        href={task.task ? taskPath(task.task) : `#${rowId(task)}`}
        onClick={open}
      >
        <rect width={NODE.width} height={NODE.height} rx={8} />
        <text class="node-name" x={12} y={18}>
          {shortName(task.name)}
        </text>
        <text class="node-status" x={12} y={35}>
          {`${symbol} ${word}`}
        </text>
        {task.has_gate && (
          <text class="node-gate" x={NODE.width - 12} y={35}>
            gate
          </text>
        )}
      </a>
    </g>
  );
}

const rowId = (task: PlanTask) => `plan-task-${task.name}`;

function TaskList({ plan }: { plan: Plan }) {
  return (
    <section aria-label="Tasks of the plan">
      <h2>{plural(plan.tasks.length, "task")}</h2>
      <div class="plan-tasks" data-selectable>
        {plan.tasks.map((task) => (
          <TaskRow key={task.name} plan={plan} task={task} />
        ))}
      </div>
    </section>
  );
}

function TaskRow({ plan, task }: { plan: Plan; task: PlanTask }) {
  const mayWork = useMay("work");
  const after = needing(plan.tasks, task.name);
  const canRetry = ["failed", "cancelled"].includes(task.status) && !task.is_removed;
  return (
    <article class="card plan-task" id={rowId(task)} tabIndex={-1}>
      <h3>{task.task ? <a href={taskPath(task.task)}>{task.name}</a> : task.name}</h3>
      <PlanTaskMark status={task.status} />
      {task.agent && <span class="dim">{task.agent}</span>}
      {!task.agent && <span class="dim">gate without work</span>}
      {task.is_removed && <span class="dim">not in the newest file</span>}
      {task.attempts > 1 && <span class="dim">{plural(task.attempts, "attempt")}</span>}
      <span class="spacer" />
      {mayWork && task.status === "approval" && (
        <button
          class="button primary"
          data-command="approve-gate"
          onClick={() => openSheet({ kind: "approve", plan: plan.plan.id, task: task.name })}
        >
          <Icon name="check" size={16} /> Approve
        </button>
      )}
      {mayWork && canRetry && (
        <button
          class="button"
          onClick={() => openSheet({ kind: "plan-retry", plan, task: task.name })}
        >
          Retry
        </button>
      )}
      {task.reason && <p class="plan-reason">{task.reason}</p>}
      <p class="dim">
        {task.needs.length > 0 ? `needs ${task.needs.join(", ")}` : "needs nothing"}
        {after.length > 0 && `; needed by ${after.join(", ")}`}
      </p>
    </article>
  );
}
