// The start page: a card for each session that needs a person.

import type { Session } from "../api/types.ts";
import { plural } from "../model/format.ts";
import { GateCard, gateKey } from "../parts/gate-card.tsx";
import { Icon } from "../parts/icon.tsx";
import { QuestionCard } from "../parts/question-card.tsx";
import { Empty, Failure, Skeleton } from "../parts/states.tsx";
import { StatusMark } from "../parts/status.tsx";
import { useCell } from "../state/cell.ts";
import { fleet, loadFleet } from "../state/fleet.ts";
import { useMay } from "../state/identity.ts";
import { openSheet } from "../state/sheets.ts";
import { ViewHead } from "../parts/view-head.tsx";
import { FirstSteps } from "./first-steps.tsx";

export function NeedsYou() {
  const { attention, gates, byId, isLoaded, error } = useCell(fleet);
  if (!isLoaded) {
    return error ? (
      <Failure error={error} retry={() => void loadFleet()} />
    ) : (
      <Skeleton lines={5} label="Loading the questions of agents" />
    );
  }
  if (byId.size === 0 && gates.length === 0) return <FirstSteps />;
  return (
    <>
      <ViewHead title="Needs you">
        {attention.length > 0 && <span class="dim">{plural(attention.length, "session")}</span>}
        {gates.length > 0 && <span class="dim">{plural(gates.length, "gate")}</span>}
      </ViewHead>
      {error && <Failure error={error} retry={() => void loadFleet()} />}
      <Interrupted sessions={[...byId.values()]} />
      {attention.length === 0 && gates.length === 0 ? (
        <NobodyWaits />
      ) : (
        <div class="cards" data-selectable>
          {attention.map(({ session, ...need }) => (
            <QuestionCard key={session.id} session={session} need={need} />
          ))}
          {gates.map((gate) => (
            <GateCard key={gateKey(gate)} gate={gate} />
          ))}
        </div>
      )}
    </>
  );
}

/** Sessions whose agents ended without a clean end, as after a crash of the machine. */
function Interrupted({ sessions }: { sessions: Session[] }) {
  const mayWork = useMay("work");
  const own = sessions.filter((it) => it.status === "interrupted" && !it.goes_on_as);
  if (own.length === 0) return null;
  return (
    <div class="banner interrupted" role="region" aria-label="Interrupted sessions">
      <p>
        <StatusMark status="interrupted" /> The agents of {plural(own.length, "session")} have ended
        without a clean end: {own.map((it) => it.name).join(", ")}. The conversations are kept.
      </p>
      {mayWork && (
        <button class="button primary" onClick={() => openSheet({ kind: "resume", sessions: null })}>
          <Icon name="play" size={16} /> Bring them back
        </button>
      )}
    </div>
  );
}

function NobodyWaits() {
  const { byId } = useCell(fleet);
  const counts = new Map<string, number>();
  for (const { status } of byId.values()) counts.set(status, (counts.get(status) ?? 0) + 1);
  return (
    <Empty icon="check" title="Nobody needs you">
      <p class="row-of-buttons">
        {[...counts].map(([status, number]) => (
          <span key={status}>
            {number} <StatusMark status={status} />
          </span>
        ))}
      </p>
      <a class="button" href="/sessions">
        All sessions
      </a>
    </Empty>
  );
}
