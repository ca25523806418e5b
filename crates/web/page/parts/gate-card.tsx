// A task of a plan that waits for a person.

import type { Gate } from "../api/types.ts";
import { shortPath } from "../model/format.ts";
import { planPath } from "../model/routes.ts";
import { useMay } from "../state/identity.ts";
import { openSheet } from "../state/sheets.ts";
import { Icon } from "./icon.tsx";
import { Ago, ClockTime } from "./since.tsx";

export const gateKey = ({ plan, task }: Gate) => `gate ${plan} ${task}`;

export function GateCard({ gate }: { gate: Gate }) {
  const mayWork = useMay("work");
  const label = `gate-${gate.plan}-${gate.task}`;
  return (
    <article class="card question gate" aria-labelledby={label} tabIndex={-1}>
      <h2 id={label}>
        <span class="symbol tone-waiting" aria-hidden="true">
          ▲
        </span>{" "}
        {gate.task} of the plan {gate.plan_name} needs your approval
      </h2>
      <p class="dim">
        {gate.fleet} · <code>{shortPath(gate.folder)}</code> · since{" "}
        <ClockTime at={gate.since} /> (<Ago at={gate.since} />)
      </p>
      <GateWork gate={gate} />
      <p class="row-of-buttons">
        {mayWork && (
          <button
            class="button primary"
            data-command="approve-gate"
            onClick={() => openSheet({ kind: "approve", plan: gate.plan, task: gate.task })}
          >
            <Icon name="check" size={16} /> Approve…
          </button>
        )}
        <a class="button" href={planPath(gate.plan)}>
          Open the plan
        </a>
      </p>
    </article>
  );
}

/** What an approval starts. */
export function GateWork({ gate }: { gate: Gate }) {
  return (
    <>
      <p>The approval {gate.text}.</p>
      {gate.work && <pre class="gate-text">{gate.work}</pre>}
    </>
  );
}
