// All sessions by fleet, with small pictures of their terminals.

import { useState } from "preact/hooks";

import type { Session } from "../api/types.ts";
import { count, plural } from "../model/format.ts";
import { sessionPath } from "../model/routes.ts";
import { groupByFleet, isResumable, matchesFilter } from "../model/status.ts";
import { tokensOf } from "../model/usage.ts";
import { Icon } from "../parts/icon.tsx";
import { Ago } from "../parts/since.tsx";
import { Empty, Failure, Skeleton } from "../parts/states.tsx";
import { StatusLine } from "../parts/status.tsx";
import { Thumbnail } from "../parts/thumbnail.tsx";
import { ViewHead } from "../parts/view-head.tsx";
import { useCell } from "../state/cell.ts";
import { fleet, loadFleet } from "../state/fleet.ts";
import { useMay } from "../state/identity.ts";
import { openSheet } from "../state/sheets.ts";
import { FirstSteps } from "./first-steps.tsx";

export function SessionsView() {
  const { byId, isLoaded, error } = useCell(fleet);
  const [filter, setFilter] = useState("");
  const mayWork = useMay("work");
  if (!isLoaded) {
    return error ? (
      <Failure error={error} retry={() => void loadFleet()} />
    ) : (
      <Skeleton lines={8} label="Loading the sessions" />
    );
  }
  if (byId.size === 0) return <FirstSteps />;
  const all = [...byId.values()];
  const shown = all.filter((session) => matchesFilter(session, filter));
  const hasResumable = all.some((session) => isResumable(session));
  return (
    <>
      <ViewHead title="Sessions">
        <input
          type="search"
          class="filter"
          placeholder="Filter"
          aria-label="Filter the sessions"
          data-filter
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        {mayWork && hasResumable && (
          <button class="button" onClick={() => openSheet({ kind: "resume", session: null })}>
            <Icon name="play" size={16} /> Resume all
          </button>
        )}
        {mayWork && (
          <button class="button primary" onClick={() => openSheet({ kind: "new-session" })}>
            <Icon name="plus" size={16} /> New session
          </button>
        )}
      </ViewHead>
      {shown.length === 0 && (
        <Empty icon="search" title="No session matches">
          <button class="button" onClick={() => setFilter("")}>
            Show all
          </button>
        </Empty>
      )}
      <div data-selectable>
        {groupByFleet(shown).map((group) => (
          <section key={group.name} class="fleet" aria-label={`Fleet ${group.name}`}>
            <h2>
              {group.name} <span class="dim">{plural(group.sessions.length, "session")}</span>
            </h2>
            <div class="grid">
              {group.sessions.map((session) => (
                <SessionCard key={session.id} session={session} />
              ))}
            </div>
          </section>
        ))}
      </div>
    </>
  );
}

function SessionCard({ session }: { session: Session }) {
  return (
    <a class="card session-card" href={sessionPath(session.id)} data-session={session.id}>
      <Thumbnail session={session} />
      <span class="session-card-head">
        <strong>{session.name}</strong>
        <span class="dim">{session.vendor}</span>
        <span class="spacer" />
        {session.queued_messages > 0 && (
          <span class="dim" title="queued messages">
            ✉ {session.queued_messages}
          </span>
        )}
        <span class="dim">
          <Ago at={session.updated_at} />
        </span>
      </span>
      <StatusLine session={session} />
      <span class="session-card-foot dim">
        {session.branch && <code>{session.branch}</code>}
        <span class="spacer" />
        {session.usage && <span>{count(tokensOf(session.usage))} tokens</span>}
      </span>
    </a>
  );
}
