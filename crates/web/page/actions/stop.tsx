import * as calls from "../api/calls.ts";
import type { Session, Worktree } from "../api/types.ts";
import { plural } from "../model/format.ts";
import { Sheet } from "../parts/sheet.tsx";
import { attempt } from "../parts/toast.tsx";
import { useResource } from "../state/resource.ts";
import { closeSheet } from "../state/sheets.ts";

export function StopSheet({ session }: { session: Session }) {
  const worktrees = useResource("stop", () =>
    session.worktree ? calls.worktrees() : Promise.resolve<Worktree[]>([]),
  );
  const own = worktrees.data?.find((it) => it.path === session.worktree);
  const stop = async () => {
    const isDone = await attempt(async () => {
      const { failed } = await calls.stop(session.address);
      const [failure] = failed;
      if (failure) throw new Error(failure.error.message);
    }, `${session.name} is stopped`);
    if (isDone) closeSheet();
  };
  return (
    <Sheet title={`Stop ${session.address}`}>
      <ul>
        <li>
          The agent's process ends{session.status === "working" && " in the middle of its turn"}.
        </li>
        <li>The conversation stays. Resume brings it back.</li>
        {own && <li>{worktreeWords(own)}</li>}
        {session.queued_messages > 0 && (
          <li>{plural(session.queued_messages, "message")} stay queued until it is resumed.</li>
        )}
      </ul>
      <p class="row-of-buttons">
        <button class="button primary" data-focus onClick={() => void stop()}>
          Stop {session.name}
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
