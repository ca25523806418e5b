// All plans, with their states and counts.

import * as calls from "../api/calls.ts";
import type { PlanSummary } from "../api/types.ts";
import { shortPath } from "../model/format.ts";
import { planPath } from "../model/routes.ts";
import { Ago } from "../parts/since.tsx";
import { Command, Empty, Loaded } from "../parts/states.tsx";
import { PlanMark } from "../parts/status.tsx";
import { ViewHead } from "../parts/view-head.tsx";
import { useResource } from "../state/resource.ts";

export function PlansView() {
  const plans = useResource("plans", calls.plans, ["plans"]);
  return (
    <>
      <ViewHead title="Plans" />
      <Loaded of={plans} lines={6}>
        {(data) =>
          data.length === 0 ? (
            <Empty icon="plan" title="No plans">
              <p>A plan is a file with tasks and the order in which they start.</p>
              <Command text="segue plan apply FILE" />
            </Empty>
          ) : (
            <ul class="plan-list" data-selectable>
              {data.toReversed().map((plan) => (
                <PlanRow key={plan.id} plan={plan} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </>
  );
}

function PlanRow({ plan }: { plan: PlanSummary }) {
  const { counts } = plan;
  return (
    <li>
      <a class="card plan-row" href={planPath(plan.id)}>
        <strong>
          {plan.fleet}/{plan.name}
        </strong>
        <PlanMark state={plan.state} />
        <PlanCounts plan={plan} />
        <span class="spacer" />
        <code class="dim">{shortPath(plan.folder)}</code>
        <span class="dim">
          <Ago at={plan.updated_at} />
        </span>
        {counts.failed > 0 && <span class="tone-failed">✕ {counts.failed} failed</span>}
      </a>
    </li>
  );
}

export function PlanCounts({ plan }: { plan: PlanSummary }) {
  const { tasks, open, released } = plan.counts;
  return (
    <span class="dim">
      {tasks - open} of {tasks} ended{released > 0 && `, ${released} queued or running`}
    </span>
  );
}
