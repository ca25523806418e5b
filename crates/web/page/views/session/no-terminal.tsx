import type { Session } from "../../api/types.ts";
import { isResumable } from "../../model/status.ts";
import { sessionPath } from "../../model/routes.ts";
import { Empty } from "../../parts/states.tsx";
import { useMay } from "../../state/identity.ts";
import { openSheet } from "../../state/sheets.ts";

export function NoTerminal({ session, why }: { session: Session; why: string }) {
  const mayWork = useMay("work");
  return (
    <Empty icon="terminal" title="No terminal">
      <p>{why}</p>
      <p class="row-of-buttons">
        {mayWork && isResumable(session) && (
          <button class="button primary" onClick={() => openSheet({ kind: "resume", sessions: [session] })}>
            Resume
          </button>
        )}
        <a class="button" href={sessionPath(session.id, "talk")}>
          Read the conversation
        </a>
      </p>
    </Empty>
  );
}
