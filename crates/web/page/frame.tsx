// What surrounds every view: the rail or the bottom bar, and the notice of a lost connection.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { Session } from "./api/types.ts";
import { clockTime, plural } from "./model/format.ts";
import { type Route, sessionPath } from "./model/routes.ts";
import { groupByFleet } from "./model/status.ts";
import { Icon, type IconName } from "./parts/icon.tsx";
import { StatusSymbol } from "./parts/status.tsx";
import { useCell } from "./state/cell.ts";
import { fleet } from "./state/fleet.ts";
import { useSharedSession } from "./state/identity.ts";
import { connection, retry } from "./state/live.ts";
import { useOrder } from "./state/preferences.ts";
import { openSheet } from "./state/sheets.ts";

interface Place {
  path: string;
  words: string;
  icon: IconName;
  views: Route["view"][];
}

const NEEDS_YOU: Place = { path: "/", words: "Needs you", icon: "bell", views: ["needs-you"] };
const SESSIONS: Place = {
  path: "/sessions",
  words: "Sessions",
  icon: "grid",
  views: ["sessions", "session"],
};
const TASKS: Place = { path: "/tasks", words: "Tasks", icon: "tasks", views: ["tasks", "task"] };
const PLANS: Place = { path: "/plans", words: "Plans", icon: "plan", views: ["plans", "plan"] };
const OTHERS: Place[] = [
  PLANS,
  { path: "/worktrees", words: "Worktrees", icon: "branch", views: ["worktrees"] },
  {
    path: "/deliveries",
    words: "Deliveries",
    icon: "inbox",
    views: ["deliveries", "delivery"],
  },
  { path: "/usage", words: "Usage", icon: "chart", views: ["usage"] },
  { path: "/settings", words: "Settings", icon: "gear", views: ["settings"] },
];

export function Frame({ route, children }: { route: Route; children: ComponentChildren }) {
  const shared = useSharedSession();
  useEffect(() => {
    // A new place is announced by its heading.
    document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
  }, [route.view]);
  if (shared) {
    return (
      <div class="frame is-shared">
        <main id="main" tabIndex={-1}>
          <ConnectionNotice />
          {children}
        </main>
      </div>
    );
  }
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Rail route={route} />
      <main id="main" tabIndex={-1}>
        <ConnectionNotice />
        {children}
      </main>
      <BottomBar route={route} />
    </div>
  );
}

function PlaceLink({ place, route, count }: { place: Place; route: Route; count?: number }) {
  const isHere = place.views.includes(route.view);
  return (
    <a class="place" href={place.path} aria-current={isHere ? "page" : undefined}>
      <Icon name={place.icon} />
      <span>{place.words}</span>
      {count ? (
        <span class="badge">
          {count}
          <span class="unseen"> need you</span>
        </span>
      ) : null}
    </a>
  );
}

function Rail({ route }: { route: Route }) {
  const { attention, gates, byId } = useCell(fleet);
  const order = useOrder();
  return (
    <nav class="rail" aria-label="Places">
      <div class="rail-head">
        <img src="/icon.svg" alt="" width={22} height={22} />
        <strong>Segue</strong>
        <span class="spacer" />
        <button
          class="button quiet small"
          title="All actions (Ctrl-P)"
          onClick={() => openSheet({ kind: "palette" })}
        >
          <Icon name="search" size={16} />
          <span class="unseen">All actions</span>
        </button>
      </div>
      <PlaceLink place={NEEDS_YOU} route={route} count={attention.length + gates.length} />
      <PlaceLink place={SESSIONS} route={route} />
      <div class="rail-sessions">
        {groupByFleet(byId.values(), order).map((group) => (
          <RailGroup key={group.name} name={group.name} sessions={group.sessions} route={route} />
        ))}
      </div>
      <PlaceLink place={TASKS} route={route} />
      {OTHERS.map((place) => (
        <PlaceLink key={place.path} place={place} route={route} />
      ))}
      <button class="place rail-keys" onClick={() => openSheet({ kind: "keys" })}>
        <Icon name="keyboard" />
        <span>Keys</span>
        <kbd>?</kbd>
      </button>
    </nav>
  );
}

function RailGroup(props: { name: string; sessions: Session[]; route: Route }) {
  const { name, sessions, route } = props;
  const isHere = (id: string) => route.view === "session" && route.id === id;
  return (
    <details open>
      <summary>
        {name} <span class="dim">{sessions.length}</span>
      </summary>
      <ul>
        {sessions.map((session) => (
          <li key={session.id}>
            <a
              href={sessionPath(session.id)}
              aria-current={isHere(session.id) ? "page" : undefined}
            >
              <StatusSymbol status={session.status} />
              <span class="rail-name">{session.name}</span>
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}

function BottomBar({ route }: { route: Route }) {
  const { attention, gates } = useCell(fleet);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [route]);
  const isOther = OTHERS.some((place) => place.views.includes(route.view));
  return (
    <nav class="bottom" aria-label="Places, bottom bar">
      {isOpen && (
        <div class="more-places">
          {OTHERS.map((place) => (
            <PlaceLink key={place.path} place={place} route={route} />
          ))}
          <button class="place" onClick={() => openSheet({ kind: "palette" })}>
            <Icon name="search" />
            <span>All actions</span>
          </button>
        </div>
      )}
      <PlaceLink place={NEEDS_YOU} route={route} count={attention.length + gates.length} />
      <PlaceLink place={SESSIONS} route={route} />
      <PlaceLink place={TASKS} route={route} />
      <button
        class={`place${isOther ? " is-here" : ""}`}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="more" />
        <span>More</span>
      </button>
    </nav>
  );
}

function ConnectionNotice() {
  const { isOnline, since, caughtUp } = useCell(connection);
  if (isOnline) {
    return (
      <p class="unseen" role="status">
        {caughtUp !== null && `connected again, ${plural(caughtUp, "event")} arrived meanwhile`}
      </p>
    );
  }
  return (
    <div class="offline" role="status">
      <span class="symbol" aria-hidden="true">
        ◇
      </span>
      <span>
        No connection to Segue. What you see is from{" "}
        {since ? clockTime(since.toISOString(), Date.now()) : "before"}. It continues by itself.
      </span>
      <button class="button small" onClick={() => void retry()}>
        Try now
      </button>
    </div>
  );
}
