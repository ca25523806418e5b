import { useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { PlanReport, RestoreReport, Selection, Session } from "../api/types.ts";
import { plural } from "../model/format.ts";
import { Sheet } from "../parts/sheet.tsx";
import { Hints, Loaded } from "../parts/states.tsx";
import { attempt } from "../parts/toast.tsx";
import { useResource } from "../state/resource.ts";
import { clearMarks } from "../state/marks.ts";
import { closeSheet } from "../state/sheets.ts";
import { targetsTitle } from "./targets.tsx";

const DECISIONS: Record<string, string> = {
  resume: "resume its conversation",
  restore: "restore its transcript, then resume",
  adopt: "resume the conversation that it was in",
  start: "start",
  fresh: "start with an empty conversation",
  running: "leave alone: it runs",
  waiting: "leave alone: it waits for you",
  rest: "leave alone",
  refuse: "refuse",
};

/** The button appears after the dialog, when the plan is there. */
function focus(button: HTMLButtonElement | null): void {
  button?.focus();
}

/** Shows the plan before it is carried out. Without sessions: for all of them. */
export function ResumeSheet({ sessions }: { sessions: Session[] | null }) {
  const selection: Selection = sessions ? { named: sessions.map((it) => it.address) } : "all";
  // A stopped session comes back only if it is named.
  const isStoppedIncluded = sessions !== null;
  const key = sessions?.map((it) => it.id).join(" ");
  const plan = useResource(`plan ${key}`, () =>
    calls.resumePlan(selection, isStoppedIncluded),
  );
  const [report, setReport] = useState<RestoreReport | null>(null);
  const [isBusy, setBusy] = useState(false);
  const carryOut = async () => {
    setBusy(true);
    await attempt(async () => {
      const result = await calls.resume(selection, isStoppedIncluded);
      clearMarks();
      if (result.complete) closeSheet();
      else setReport(result);
    }, "Resumed");
    setBusy(false);
  };
  return (
    <Sheet title={sessions ? targetsTitle("Resume", sessions) : "Resume all"} isWide>
      {report ? (
        <Outcomes report={report} />
      ) : (
        <Loaded of={plan}>
          {(data) => (
            <>
              <Plan plan={data} />
              <p class="row-of-buttons">
                <button
                  class="button primary"
                  ref={focus}
                  disabled={isBusy || data.to_bring_back === 0}
                  onClick={() => void carryOut()}
                >
                  {isBusy ? "Resuming…" : `Resume ${plural(data.to_bring_back, "session")}`}
                </button>
                <button class="button" onClick={closeSheet}>
                  Cancel
                </button>
              </p>
            </>
          )}
        </Loaded>
      )}
    </Sheet>
  );
}

type PlanRow = PlanReport["plan"][number];

/** The sessions that are left as they are. */
const UNTOUCHED = ["running", "waiting", "rest"];

function Plan({ plan }: { plan: PlanReport }) {
  const isUntouched = (row: PlanRow) => UNTOUCHED.includes(row.decision);
  const changed = plan.plan.filter((row) => !isUntouched(row));
  const untouched = plan.plan.filter(isUntouched);
  return (
    <>
      {changed.length === 0 && <p>There is nothing to bring back.</p>}
      <PlanRows rows={changed} />
      {untouched.length > 0 && (
        <details>
          <summary>{plural(untouched.length, "session")} stay as they are</summary>
          <PlanRows rows={untouched} />
        </details>
      )}
    </>
  );
}

function PlanRows({ rows }: { rows: PlanRow[] }) {
  return (
    <ul class="rows">
      {rows.map((row) => (
        <li key={row.address} class="row wrap">
          <strong>{row.address}</strong>
          <span class="dim">{row.vendor}</span>
          <span class={row.decision === "refuse" ? "tone-failed" : ""}>
            {row.decision === "refuse" && "✕ "}
            {DECISIONS[row.decision] ?? row.decision}
          </span>
          {row.note && row.note !== row.decision && (
            <span class="row-note dim">{row.note}</span>
          )}
          <Hints hints={row.hints} />
        </li>
      ))}
    </ul>
  );
}

function Outcomes({ report }: { report: RestoreReport }) {
  return (
    <>
      <p role="status">Not every conversation is back:</p>
      <ul class="rows">
        {report.agents.map((row) => (
          <li key={row.address} class="row wrap">
            <strong>{row.address}</strong>
            <span class={row.outcome === "refused" ? "tone-failed" : "tone-done"}>
              {row.outcome === "refused" ? "✕" : "✓"} {row.outcome.replace("_", " ")}
            </span>
            {row.note && <span class="row-note dim">{row.note}</span>}
            <Hints hints={row.hints} />
          </li>
        ))}
        {report.failed.map(({ target, error }) => (
          <li key={target} class="row wrap">
            <strong>{target}</strong>
            <span class="tone-failed">✕ {error.message}</span>
          </li>
        ))}
      </ul>
      <button class="button" onClick={closeSheet}>
        Close
      </button>
    </>
  );
}
