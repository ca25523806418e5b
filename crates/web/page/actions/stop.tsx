import * as calls from "../api/calls.ts";
import type { Session, Worktree } from "../api/types.ts";
import { plural } from "../model/format.ts";
import { Sheet } from "../parts/sheet.tsx";
import { attempt } from "../parts/toast.tsx";
import { stopAfterTurn, stopNow } from "../state/later.ts";
import { clearMarks } from "../state/marks.ts";
import { useResource } from "../state/resource.ts";
import { closeSheet } from "../state/sheets.ts";
import { SheetTargets, targetsTitle } from "./targets.tsx";

const CUT_OFF_WORDS = '"Stop now" ends the process in the middle of its turn.';

/** Shows what a stop does, then stops sessions: now, or at the end of their turns. */
export function StopSheet({ sessions, isLater }: { sessions: Session[]; isLater: boolean }) {
  const hasWorktree = sessions.some((it) => it.worktree);
  const worktrees = useResource("stop", () =>
    hasWorktree ? calls.worktrees() : Promise.resolve<Worktree[]>([]),
  );
  const working = sessions.filter((it) => it.status === "working");
  const own = (worktrees.data ?? []).filter((tree) =>
    sessions.some((it) => it.worktree === tree.path),
  );
  const queued = sessions.reduce((sum, it) => sum + it.queued_messages, 0);
  const name = sessions.length === 1 ? sessions[0]?.name : plural(sessions.length, "session");
  const finish = () => {
    clearMarks();
    closeSheet();
  };
  const stop = async () => {
    const words = sessions.length === 1 ? `${name} is stopped` : `${name} are stopped`;
    if (await attempt(() => stopNow(sessions), words)) finish();
  };
  const stopLater = () => {
    for (const session of sessions) void stopAfterTurn(session);
    finish();
  };
  return (
    <Sheet title={targetsTitle("Stop", sessions)}>
      <SheetTargets sessions={sessions} />
      <ul>
        <li>
          {working.length === 0
            ? "No turn is cut off: the process ends between two turns."
            : `${working.map((it) => it.name).join(", ")} works: ${CUT_OFF_WORDS}`}
        </li>
        <li>The conversation stays. Resume brings it back.</li>
        {own.map((tree) => (
          <li key={tree.worktree}>{worktreeWords(tree)}</li>
        ))}
        {queued > 0 && <li>{plural(queued, "message")} stay queued until it is resumed.</li>}
        {working.length > 0 && (
          <li>"Stop after this turn" needs this page: keep it open until then.</li>
        )}
      </ul>
      <p class="row-of-buttons">
        {working.length > 0 && (
          <button
            class={isLater ? "button primary" : "button"}
            {...(isLater ? { "data-focus": true } : {})}
            onClick={stopLater}
          >
            Stop after this turn
          </button>
        )}
        <button
          class={isLater && working.length > 0 ? "button" : "button primary"}
          {...(isLater && working.length > 0 ? {} : { "data-focus": true })}
          onClick={() => void stop()}
        >
          {working.length > 0 ? "Stop now" : `Stop ${name}`}
        </button>
        <button class="button" onClick={closeSheet}>
          Cancel
        </button>
      </p>
    </Sheet>
  );
}

function worktreeWords({ branch, changes }: Worktree): string {
  const files = changes
    ? changes.staged + changes.modified + changes.untracked + changes.conflicted
    : 0;
  if (files === 0) return `The worktree ${branch} stays; nothing is uncommitted.`;
  return `The worktree ${branch} stays with ${plural(files, "uncommitted file")}.`;
}
