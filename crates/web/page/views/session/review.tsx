// The changes of a session's worktree, with comments that the agent gets as one message.

import { useMemo } from "preact/hooks";

import * as calls from "../../api/calls.ts";
import type { Session, WorktreeDiff } from "../../api/types.ts";
import {
  type DiffFile,
  type ReviewComment,
  hasLine,
  parseDiff,
  reviewMessage,
} from "../../model/diff.ts";
import { plural } from "../../model/format.ts";
import { Empty, Loaded } from "../../parts/states.tsx";
import { attempt } from "../../parts/toast.tsx";
import { useCell } from "../../state/cell.ts";
import { changeReviewDraft, dropReviewDraft, useReviewDraft } from "../../state/drafts.ts";
import { useMay } from "../../state/identity.ts";
import { choose, preferences } from "../../state/preferences.ts";
import { useResource } from "../../state/resource.ts";
import { useWide } from "../../state/width.ts";
import { FileDiff } from "./file-diff.tsx";
import { FileList } from "./file-list.tsx";

export function ReviewTab({ session }: { session: Session }) {
  const diff = useResource(
    `diff ${session.id}`,
    () => loadDiff(session),
    [`session:${session.id}`, "worktrees"],
  );
  if (!session.worktree) {
    return (
      <Empty icon="branch" title="No worktree">
        <p>
          This session works in <code>{session.cwd}</code> itself. Sessions with a worktree of their
          own can be reviewed here.
        </p>
      </Empty>
    );
  }
  return (
    <Loaded of={diff} lines={8}>
      {(data) =>
        data ? (
          <Review session={session} diff={data} />
        ) : (
          <Empty icon="branch" title="The worktree is gone">
            <p>Segue has removed it. Restore it from the page of worktrees.</p>
          </Empty>
        )
      }
    </Loaded>
  );
}

async function loadDiff(session: Session): Promise<WorktreeDiff | null> {
  if (!session.worktree) return null;
  const all = await calls.worktrees();
  const own = all.find((it) => it.path === session.worktree && it.state === "present");
  return own ? calls.worktreeDiff(own.worktree) : null;
}

function Review({ session, diff }: { session: Session; diff: WorktreeDiff }) {
  const files = useMemo(() => parseDiff(diff.patch ?? ""), [diff.patch]);
  const { comments } = useReviewDraft(session.id);
  const { isSideBySide: isWanted } = useCell(preferences);
  const isWide = useWide();
  const isSideBySide = isWanted && isWide;
  const maySend = useMay("send");
  if (diff.files.length === 0) {
    return (
      <Empty icon="check" title="No changes">
        <p>
          <code>{diff.branch}</code> is the same as its base.
        </p>
      </Empty>
    );
  }
  const add = (comment: ReviewComment) =>
    changeReviewDraft(session.id, (old) => ({ comments: [...old.comments, comment] }));
  const drop = (comment: ReviewComment) =>
    changeReviewDraft(session.id, (old) => ({
      comments: old.comments.filter((it) => it !== comment),
    }));
  const moved = comments.filter((it) => !files.some((file) => hasLine(file, it)));
  return (
    <section class="review" aria-label="Review">
      <FileList files={diff.files} comments={comments} />
      <div class="review-main" data-selectable>
        <ReviewBar
          diff={diff}
          isSideBySide={isSideBySide}
          onMode={() => choose({ isSideBySide: !isWanted })}
        />
        {files.map((file: DiffFile) => (
          <FileDiff
            key={file.path}
            file={file}
            isSideBySide={isSideBySide}
            comments={comments.filter((it) => it.path === file.path)}
            onComment={maySend ? add : null}
            onDrop={drop}
          />
        ))}
        {diff.is_cut && <p class="banner">The patch is too long: the rest is not shown.</p>}
        {moved.length > 0 && <MovedComments comments={moved} onDrop={drop} />}
        {maySend && <ReviewEnd session={session} />}
      </div>
    </section>
  );
}

function ReviewBar(props: { diff: WorktreeDiff; isSideBySide: boolean; onMode: () => void }) {
  const { diff } = props;
  const added = diff.files.reduce((sum, file) => sum + (file.added ?? 0), 0);
  const removed = diff.files.reduce((sum, file) => sum + (file.removed ?? 0), 0);
  return (
    <div class="review-bar">
      <span>
        <code>{diff.branch}</code>
        {diff.base && <span class="dim"> since {diff.base.slice(0, 9)}</span>}
      </span>
      <span class="counts">
        <span class="added-text">+{added}</span> <span class="removed-text">−{removed}</span>
      </span>
      <span class="spacer" />
      <button class="button quiet small only-wide" onClick={props.onMode}>
        {props.isSideBySide ? "Unified" : "Side by side"}
      </button>
    </div>
  );
}

/** Comments on lines that the agent has changed since. They are sent too. */
function MovedComments(props: {
  comments: ReviewComment[];
  onDrop: (comment: ReviewComment) => void;
}) {
  return (
    <section class="moved-comments" aria-label="Comments on lines that have changed">
      <p class="dim">These lines have changed since you commented on them:</p>
      {props.comments.map((comment) => (
        <div key={comment.text} class="comment">
          <p>
            <code>
              {comment.path}:{comment.line}
            </code>{" "}
            {comment.text}
          </p>
          <button class="button quiet small" onClick={() => props.onDrop(comment)}>
            Remove
          </button>
        </div>
      ))}
    </section>
  );
}

function ReviewEnd({ session }: { session: Session }) {
  const { comments, summary } = useReviewDraft(session.id);
  const isEmpty = comments.length === 0 && !summary.trim();
  const send = async () => {
    const text = reviewMessage(comments, summary);
    const isIdle = session.status === "idle";
    const words = isIdle ? "The review is sent" : "The review arrives when the agent is idle";
    if (await attempt(() => calls.send(session.id, text, false), words)) {
      dropReviewDraft(session.id);
    }
  };
  return (
    <div class="review-end">
      <label for="review-summary">
        Review of {session.name}:{" "}
        {comments.length === 0
          ? "click the number of a line to comment on it"
          : plural(comments.length, "comment")}
      </label>
      <textarea
        id="review-summary"
        rows={1}
        placeholder="What the whole change needs (optional)"
        value={summary}
        onInput={(event) => {
          const value = event.currentTarget.value;
          changeReviewDraft(session.id, () => ({ summary: value }));
        }}
      />
      <button
        class="button primary"
        data-command="send-review"
        disabled={isEmpty}
        onClick={() => void send()}
      >
        Send review <kbd>M</kbd>
      </button>
    </div>
  );
}
