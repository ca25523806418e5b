// All sessions by fleet, with small pictures of their terminals.

import { useState } from "preact/hooks";

import type { Session } from "../api/types.ts";
import { count, plural } from "../model/format.ts";
import { sessionPath } from "../model/routes.ts";
import {
  type FleetGroup,
  SORT_ORDERS,
  SORT_WORDS,
  type SortOrder,
  groupByFleet,
  isLive,
  isResumable,
  matchesFilter,
} from "../model/status.ts";
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
import { clearMarks, toggleMark, useMarked } from "../state/marks.ts";
import { choose, switchFold, useFolded, useOrder } from "../state/preferences.ts";
import { openSheet } from "../state/sheets.ts";
import { FirstSteps } from "./first-steps.tsx";

export function SessionsView() {
  const { byId, isLoaded, error } = useCell(fleet);
  const [filter, setFilter] = useState("");
  const order = useOrder();
  const folded = useFolded();
  const marked = useMarked();
  const mayWork = useMay("work");
  const mayAdopt = useMay("admin");
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
  const isDue = all.some((session) => session.comes_back);
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
        <OrderChoice order={order} />
        {mayWork && isDue && (
          <button class="button" onClick={() => openSheet({ kind: "resume", sessions: null })}>
            <Icon name="play" size={16} /> Resume all
          </button>
        )}
        {mayAdopt && (
          <button class="button" onClick={() => openSheet({ kind: "adopt" })}>
            <Icon name="inbox" size={16} /> Take in
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
        {groupByFleet(shown, order).map((group) => (
          <FleetSection
            key={group.name}
            group={group}
            marked={marked}
            isFolded={!filter && folded.includes(group.name)}
          />
        ))}
      </div>
      <MarkedBar marked={marked} />
    </>
  );
}

function OrderChoice({ order }: { order: SortOrder }) {
  return (
    <select
      class="order"
      aria-label="Order of the sessions"
      title="Order (o)"
      value={order}
      onChange={(event) => choose({ order: event.currentTarget.value as SortOrder })}
    >
      {SORT_ORDERS.map((it) => (
        <option key={it} value={it}>
          {SORT_WORDS[it]}
        </option>
      ))}
    </select>
  );
}

function FleetSection(props: { group: FleetGroup; marked: Session[]; isFolded: boolean }) {
  const { group, marked, isFolded } = props;
  const { name, sessions } = group;
  return (
    <section class="fleet" aria-label={`Fleet ${name}`} data-fleet={name}>
      <h2>
        <button
          class="fleet-fold"
          aria-expanded={!isFolded}
          title="Fold or unfold this fleet (z)"
          onClick={() => switchFold(name)}
        >
          <span aria-hidden="true">{isFolded ? "▸" : "▾"}</span> {name}{" "}
          <span class="dim">{plural(sessions.length, "session")}</span>
        </button>
      </h2>
      {!isFolded && (
        <div class="grid">
          {sessions.map((session) => (
            <SessionCard key={session.id} session={session} isMarked={marked.includes(session)} />
          ))}
        </div>
      )}
    </section>
  );
}

function SessionCard({ session, isMarked }: { session: Session; isMarked: boolean }) {
  return (
    <div class={`card session-card${isMarked ? " is-marked" : ""}`} data-session={session.id}>
      <label class="mark" title="Mark for an action on several sessions (Space)">
        <input type="checkbox" checked={isMarked} onChange={() => toggleMark(session.id)} />
        <span class="unseen">Mark {session.name}</span>
      </label>
      <a class="session-link" href={sessionPath(session.id)}>
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
    </div>
  );
}

/** What can be done with all marked sessions. */
function MarkedBar({ marked }: { marked: Session[] }) {
  const maySend = useMay("send");
  const mayWork = useMay("work");
  if (marked.length === 0) return null;
  const live = marked.filter(isLive);
  const resumable = marked.filter(isResumable);
  return (
    <div class="marked-bar" role="region" aria-label="Marked sessions">
      <strong role="status">{plural(marked.length, "session")} marked</strong>
      {maySend && (
        <button
          class="button"
          onClick={() => openSheet({ kind: "send", sessions: marked, isInterrupt: false })}
        >
          <Icon name="send" size={16} /> Send
        </button>
      )}
      {mayWork && resumable.length > 0 && (
        <button class="button" onClick={() => openSheet({ kind: "resume", sessions: resumable })}>
          <Icon name="play" size={16} /> Resume {resumable.length}
        </button>
      )}
      {mayWork && live.length > 0 && (
        <button
          class="button"
          onClick={() => openSheet({ kind: "stop", sessions: live, isLater: false })}
        >
          <Icon name="close" size={16} /> Stop {live.length}
        </button>
      )}
      <button class="button quiet" onClick={clearMarks}>
        Clear
      </button>
    </div>
  );
}
