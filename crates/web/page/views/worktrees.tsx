import * as calls from "../api/calls.ts";
import type { Worktree } from "../api/types.ts";
import { plural, shortPath, size } from "../model/format.ts";
import { sessionPath } from "../model/routes.ts";
import { Empty, Loaded } from "../parts/states.tsx";
import { ViewHead } from "../parts/view-head.tsx";
import { useMay } from "../state/identity.ts";
import { useResource } from "../state/resource.ts";
import { type WorktreeVerb, openSheet } from "../state/sheets.ts";

export function WorktreesView() {
  const worktrees = useResource("worktrees", calls.worktrees, ["worktrees"]);
  return (
    <>
      <ViewHead title="Worktrees" />
      <Loaded of={worktrees} lines={6}>
        {(data) =>
          data.length === 0 ? (
            <Empty icon="branch" title="No worktrees">
              <p>An agent with a worktree has a branch and a folder of its own.</p>
            </Empty>
          ) : (
            <div class="grid" data-selectable>
              {data.map((worktree) => (
                <WorktreeCard key={worktree.worktree} worktree={worktree} />
              ))}
            </div>
          )
        }
      </Loaded>
    </>
  );
}

const STATES: Record<string, [string, string]> = {
  present: ["○", "idle"],
  removed: ["·", "ended"],
  missing: ["✕", "failed"],
};

function WorktreeCard({ worktree }: { worktree: Worktree }) {
  const { leased_to, distance } = worktree;
  const [symbol, tone] = STATES[worktree.state] ?? ["?", "idle"];
  return (
    <article class="card worktree" tabIndex={-1}>
      <h2>
        <code>{worktree.branch}</code>
      </h2>
      <p>
        <span class={`status tone-${tone}`}>
          <span class="symbol" aria-hidden="true">
            {symbol}
          </span>
          {worktree.state}
        </span>{" "}
        <span class="dim">{worktree.agent}</span>
      </p>
      <p class="worktree-facts">
        {worktree.changes && <Changes worktree={worktree} />}
        {distance && (distance.ahead > 0 || distance.behind > 0) && (
          <span title={`compared with ${distance.from}`}>
            ↑{distance.ahead} ↓{distance.behind}
          </span>
        )}
        {worktree.operation && <span class="tone-waiting">▲ {worktree.operation}</span>}
        {worktree.size_bytes !== null && <span>{size(worktree.size_bytes)}</span>}
      </p>
      {worktree.error && <p class="tone-failed">✕ {worktree.error}</p>}
      {leased_to?.session && (
        <p>
          <a href={sessionPath(leased_to.session, "review")}>{leased_to.address}</a> works here
        </p>
      )}
      <p class="dim">
        <code title={worktree.path}>{shortPath(worktree.path)}</code>
      </p>
      <WorktreeActions worktree={worktree} />
    </article>
  );
}

function Changes({ worktree }: { worktree: Worktree }) {
  const { changes } = worktree;
  if (!changes) return null;
  const { staged, modified, untracked, conflicted } = changes;
  const all = staged + modified + untracked + conflicted;
  if (all === 0) return <span>nothing uncommitted</span>;
  return (
    <span class={conflicted > 0 ? "tone-failed" : "tone-waiting"}>
      {plural(all, "uncommitted file")}
      {conflicted > 0 && `, ${plural(conflicted, "conflict")}`}
    </span>
  );
}

function WorktreeActions({ worktree }: { worktree: Worktree }) {
  const mayWork = useMay("work");
  if (!mayWork) return null;
  const isThere = worktree.state === "present";
  return (
    <p class="row-of-buttons">
      {isThere ? (
        <>
          <WorktreeButton action="salvage" words="Salvage" worktree={worktree} />
          <WorktreeButton action="remove" words="Remove" worktree={worktree} />
        </>
      ) : (
        <WorktreeButton action="restore" words="Restore" worktree={worktree} />
      )}
      {worktree.salvage && <code class="dim">{worktree.salvage}</code>}
    </p>
  );
}

function WorktreeButton(props: { action: WorktreeVerb; words: string; worktree: Worktree }) {
  const { action, words, worktree } = props;
  return (
    <button
      class="button small"
      data-command={`worktree-${action}`}
      aria-label={`${words} ${worktree.branch}`}
      onClick={() => openSheet({ kind: "worktree", action, worktree })}
    >
      {words}
    </button>
  );
}
