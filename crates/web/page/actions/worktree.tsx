import { useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { Worktree } from "../api/types.ts";
import { plural, shortPath, size } from "../model/format.ts";
import { Sheet } from "../parts/sheet.tsx";
import { attempt } from "../parts/toast.tsx";
import { type WorktreeVerb, closeSheet } from "../state/sheets.ts";
import { announce } from "../state/topics.ts";

interface Look {
  title: string;
  button: string;
  done: string;
  act: (path: string) => Promise<unknown>;
}

const LOOKS: Record<WorktreeVerb, Look> = {
  salvage: {
    title: "Salvage",
    button: "Salvage",
    done: "Everything is stored in a git ref",
    act: calls.salvage,
  },
  restore: {
    title: "Restore",
    button: "Restore",
    done: "The worktree is restored",
    act: calls.restoreWorktree,
  },
  remove: {
    title: "Remove",
    button: "Salvage and remove",
    done: "The worktree is salvaged and removed",
    act: calls.removeWorktree,
  },
};

/** Shows what an action does to a worktree, then carries it out. */
export function WorktreeSheet(props: { action: WorktreeVerb; worktree: Worktree }) {
  const { action, worktree } = props;
  const [isBusy, setBusy] = useState(false);
  const look = LOOKS[action];
  const carryOut = async () => {
    setBusy(true);
    const isDone = await attempt(() => look.act(worktree.path), look.done);
    announce(["worktrees", "disk"]);
    setBusy(false);
    if (isDone) closeSheet();
  };
  return (
    <Sheet title={`${look.title} ${worktree.branch}`}>
      <ul>
        {consequences(action, worktree).map((words) => (
          <li key={words}>{words}</li>
        ))}
      </ul>
      <p class="row-of-buttons">
        <button class="button primary" data-focus disabled={isBusy} onClick={() => void carryOut()}>
          {isBusy ? "Working…" : look.button}
        </button>
        <button class="button" onClick={closeSheet}>
          Cancel
        </button>
      </p>
    </Sheet>
  );
}

function uncommitted({ changes }: Worktree): string {
  if (!changes) return "everything in it";
  const { staged, modified, untracked, conflicted } = changes;
  const files = staged + modified + untracked + conflicted;
  return files === 0 ? "nothing is uncommitted" : plural(files, "uncommitted file");
}

function consequences(action: WorktreeVerb, worktree: Worktree): string[] {
  const folder = shortPath(worktree.path);
  const space = worktree.size_bytes === null ? "" : ` and frees ${size(worktree.size_bytes)}`;
  switch (action) {
    case "salvage":
      return [
        `Stores the whole state in a git ref: ${uncommitted(worktree)}, and the commits.`,
        "The folder and its branch stay as they are. The agent goes on.",
      ];
    case "remove":
      return [
        `First stores the whole state in a git ref: ${uncommitted(worktree)}, and the commits.`,
        `Then removes the folder ${folder}${space}.`,
        `The branch ${worktree.branch} and the session stay. Restore makes the folder again.`,
        "A worktree in which an agent runs is refused.",
      ];
    case "restore":
      return [
        `Makes the folder ${folder} again, on the branch ${worktree.branch}.`,
        worktree.salvage
          ? "Its index and its files come from the salvage, also those that were not committed."
          : "It has the files of the branch: there is no salvage.",
        "No agent starts.",
      ];
  }
}
