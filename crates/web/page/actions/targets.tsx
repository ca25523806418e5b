// The sessions that a dialog acts on.

import type { Session } from "../api/types.ts";
import { plural } from "../model/format.ts";
import { StatusMark } from "../parts/status.tsx";

/** Returns a title such as "Stop shop/coder" or "Stop 3 sessions". */
export function targetsTitle(verb: string, sessions: Session[]): string {
  const [only] = sessions;
  if (only && sessions.length === 1) return `${verb} ${only.address}`;
  return `${verb} ${plural(sessions.length, "session")}`;
}

/** Lists the sessions if there are several. */
export function SheetTargets({ sessions }: { sessions: Session[] }) {
  if (sessions.length < 2) return null;
  return (
    <ul class="rows" aria-label="The marked sessions">
      {sessions.map((session) => (
        <li key={session.id} class="row">
          <strong>{session.address}</strong>
          <StatusMark status={session.status} />
        </li>
      ))}
    </ul>
  );
}
