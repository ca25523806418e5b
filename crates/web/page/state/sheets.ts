// The dialog that is open, if any.

import type { Plan, Session, Worktree } from "../api/types.ts";
import { Cell } from "./cell.ts";

export type WorktreeVerb = "salvage" | "restore" | "remove";

export type PlanVerb = "pause" | "resume" | "cancel";

export type OpenSheet =
  | { kind: "palette" }
  | { kind: "keys" }
  | { kind: "answer"; session: Session; choice: number | null }
  | { kind: "send"; sessions: Session[]; isInterrupt: boolean }
  | { kind: "interrupt"; session: Session }
  | { kind: "stop"; sessions: Session[]; isLater: boolean }
  /** Without sessions: all of them. */
  | { kind: "resume"; sessions: Session[] | null }
  | { kind: "rename"; session: Session }
  | { kind: "scale"; session: Session }
  | { kind: "adopt" }
  | { kind: "worktree"; action: WorktreeVerb; worktree: Worktree }
  | { kind: "handoff"; session: Session }
  | { kind: "share"; session: Session }
  | { kind: "approve"; plan: string; task: string }
  | { kind: "plan"; verb: PlanVerb; plan: Plan }
  | { kind: "plan-retry"; plan: Plan; task: string }
  | { kind: "new-session" }
  | { kind: "new-task" };

export const sheet = new Cell<OpenSheet | null>(null);

export function openSheet(value: OpenSheet): void {
  sheet.set(value);
}

export function closeSheet(): void {
  sheet.set(null);
}
