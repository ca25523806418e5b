// Decisions about plans. Each shows first what it changes.

import * as calls from "../api/calls.ts";
import type { Plan } from "../api/types.ts";
import { needing } from "../model/plan.ts";
import { plural } from "../model/format.ts";
import { GateWork } from "../parts/gate-card.tsx";
import { Sheet } from "../parts/sheet.tsx";
import { attempt } from "../parts/toast.tsx";
import { useCell } from "../state/cell.ts";
import { fleet, refreshAttention } from "../state/fleet.ts";
import { type PlanVerb, closeSheet } from "../state/sheets.ts";

export function ApproveSheet({ plan, task }: { plan: string; task: string }) {
  const { gates } = useCell(fleet);
  const gate = gates.find((it) => it.plan === plan && it.task === task);
  const approve = async () => {
    const done = await attempt(() => calls.approveGate(plan, task), `Approved ${task}`);
    if (!done) return;
    closeSheet();
    void refreshAttention();
  };
  return (
    <Sheet title={gate ? `Approve ${task} of ${gate.plan_name}` : `Approve ${task}`}>
      {gate ? (
        <GateWork gate={gate} />
      ) : (
        <p>The plan is held, so nothing starts before it goes on. The approval is kept.</p>
      )}
      <Decision words={`Approve ${task}`} run={approve} />
    </Sheet>
  );
}

function Decision({ words, run }: { words: string; run: () => Promise<void> }) {
  return (
    <p class="row-of-buttons">
      <button class="button primary" data-focus onClick={() => void run()}>
        {words}
      </button>
      <button class="button" onClick={closeSheet}>
        Back
      </button>
    </p>
  );
}

const DONE: Record<PlanVerb, string> = {
  pause: "The plan is paused",
  resume: "The plan goes on",
  cancel: "The plan is cancelled",
};
const TITLES: Record<PlanVerb, string> = { pause: "Pause", resume: "Resume", cancel: "Cancel" };

/** Pauses, resumes or cancels a plan. */
export function PlanSheet({ verb, plan }: { verb: PlanVerb; plan: Plan }) {
  const { id, name } = plan.plan;
  const decide = async () => {
    if (await attempt(() => calls.controlPlan(verb, id), DONE[verb])) closeSheet();
  };
  return (
    <Sheet title={`${TITLES[verb]} ${name}`}>
      <ul>
        {consequences(verb, plan).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <Decision words={`${TITLES[verb]} ${name}`} run={decide} />
    </Sheet>
  );
}

function consequences(verb: PlanVerb, { plan, tasks }: Plan): string[] {
  const named = (...statuses: string[]) => {
    const found = tasks.filter((it) => statuses.includes(it.status)).map((it) => it.name);
    const shown = found.slice(0, 5).join(", ");
    return found.length > 5 ? `${shown} and ${found.length - 5} more` : shown || "none";
  };
  switch (verb) {
    case "pause":
      return [
        `No further task starts. Queued: ${named("queued", "ready")}.`,
        `Running tasks finish: ${named("running", "waiting")}.`,
      ];
    case "resume":
      return [
        `${plural(plan.counts.open, "task")} of ${plan.counts.tasks} can still start.`,
        `First of all: ${named("ready", "queued")}.`,
      ];
    case "cancel":
      return [
        `Agents that work on it are ended: ${named("running", "waiting")}.`,
        `Tasks that never start: ${named("blocked", "approval", "ready", "queued")}.`,
        "Conversations, worktrees and results are kept. The plan can be resumed.",
      ];
  }
}

export function RetrySheet({ plan, task }: { plan: Plan; task: string }) {
  const after = needing(plan.tasks, task);
  const retry = async () => {
    const again = () => calls.retryPlanTask(plan.plan.id, task);
    if (await attempt(again, `${task} starts again`)) closeSheet();
  };
  return (
    <Sheet title={`Retry ${task}`}>
      <ul>
        <li>{task} starts again with the newest definition of the plan.</li>
        <li>{after.length > 0 ? `After it: ${after.join(", ")}.` : "No task needs it."}</li>
      </ul>
      <Decision words={`Retry ${task}`} run={retry} />
    </Sheet>
  );
}
