// Reviews that are not sent yet. They stay while the page is open, also if another tab is shown.

import type { ReviewComment } from "../model/diff.ts";
import { Cell, useSelected } from "./cell.ts";

export interface ReviewDraft {
  comments: ReviewComment[];
  summary: string;
}

const EMPTY: ReviewDraft = { comments: [], summary: "" };
const drafts = new Cell<ReadonlyMap<string, ReviewDraft>>(new Map());

export function useReviewDraft(session: string): ReviewDraft {
  return useSelected(drafts, (all) => all.get(session) ?? EMPTY);
}

export function changeReviewDraft(
  session: string,
  change: (draft: ReviewDraft) => Partial<ReviewDraft>,
): void {
  drafts.update((all) => {
    const old = all.get(session) ?? EMPTY;
    return new Map(all).set(session, { ...old, ...change(old) });
  });
}

export function dropReviewDraft(session: string): void {
  drafts.update((all) => {
    const others = new Map(all);
    others.delete(session);
    return others;
  });
}
