import { useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { Session } from "../api/types.ts";
import { plural } from "../model/format.ts";
import { Field } from "../parts/field.tsx";
import { Sheet } from "../parts/sheet.tsx";
import { attempt } from "../parts/toast.tsx";
import { useSelected } from "../state/cell.ts";
import { fleet } from "../state/fleet.ts";
import { closeSheet } from "../state/sheets.ts";

const MAX_AGENTS = 64;

/** Returns the kind of an agent: its name without its number. */
function kindOf(agent: string): string {
  return agent.replace(/-[1-9]\d*$/, "");
}

function numberOf(agent: string): number {
  return Number(/-([1-9]\d*)$/.exec(agent)?.[1] ?? 1);
}

/** Returns the names of the agents of a kind that there are now, in the order of their numbers. */
function agentsOf(sessions: Iterable<Session>, fleetName: string, kind: string): string {
  return [...sessions]
    .filter((it) => it.fleet === fleetName && it.agent && kindOf(it.agent) === kind)
    .filter((it) => it.status !== "ended" && !it.goes_on_as)
    .sort((a, b) => numberOf(a.agent ?? "") - numberOf(b.agent ?? ""))
    .map((it) => it.name)
    .join(" ");
}

/** Changes how many agents of a kind there are. */
export function ScaleSheet({ session }: { session: Session }) {
  const kind = kindOf(session.agent ?? "");
  const names = useSelected(fleet, ({ byId }) => agentsOf(byId.values(), session.fleet, kind))
    .split(" ")
    .filter(Boolean);
  const now = names.length;
  const [wanted, setWanted] = useState(now);
  const [isBusy, setBusy] = useState(false);
  const scale = async () => {
    setBusy(true);
    const isDone = await attempt(async () => {
      const report = await calls.scale(session.cwd, session.fleet, kind, wanted);
      const failed = report.agents.find((it) => it.outcome === "refused");
      if (failed) throw new Error(`${failed.address}: ${failed.note ?? "refused"}`);
    }, `${plural(wanted, "agent")} of the kind ${kind}`);
    setBusy(false);
    if (isDone) closeSheet();
  };
  return (
    <Sheet title={`Number of ${session.fleet}/${kind}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void scale();
        }}
      >
        <Field label={`Agents of the kind ${kind}`}>
          {(ids) => (
            <input
              {...ids}
              type="number"
              min={0}
              max={MAX_AGENTS}
              data-focus
              value={wanted}
              onInput={(event) => setWanted(event.currentTarget.valueAsNumber || 0)}
            />
          )}
        </Field>
        <p role="status">{consequence(names, wanted)}</p>
        <p class="row-of-buttons">
          <button class="button primary" disabled={isBusy || wanted === now || wanted > MAX_AGENTS}>
            {isBusy ? "Changing…" : `Have ${plural(wanted, "agent")}`}
          </button>
          <button class="button" type="button" onClick={closeSheet}>
            Cancel
          </button>
        </p>
      </form>
    </Sheet>
  );
}

function consequence(names: string[], wanted: number): string {
  const now = names.length;
  if (wanted === now) return `There are ${now} now.`;
  if (wanted > now) return `There are ${now} now: ${plural(wanted - now, "agent")} more will start.`;
  const stopped = names.slice(wanted).join(", ");
  return `There are ${now} now: ${stopped} will be stopped. The conversations stay.`;
}
