// What an event changes. Views name the topics that they show.

import type { LogEvent } from "../api/types.ts";

export type Topic =
  | "sessions"
  | `session:${string}`
  | `messages:${string}`
  | "tasks"
  | "plans"
  | "gates"
  | "worktrees"
  | "deliveries"
  | "sources"
  | "tokens"
  | "shares"
  | "disk"
  | "usage";

const SIMPLE: Record<string, Topic[]> = {
  task_changed: ["tasks"],
  plan_applied: ["tasks", "plans", "gates"],
  plan_changed: ["tasks", "plans", "gates"],
  plan_gate_reached: ["tasks", "plans", "gates"],
  plan_gate_approved: ["tasks", "plans", "gates"],
  report_dropped: ["tasks"],
  reply_changed: ["tasks"],
  worktree_made: ["worktrees"],
  worktree_removed: ["worktrees", "disk"],
  worktree_command: ["worktrees"],
  issue_cleaned_up: ["worktrees", "tasks"],
  issue_reset: ["tasks"],
  delivery_processed: ["deliveries"],
  source_changed: ["sources"],
  token_created: ["tokens"],
  token_revoked: ["tokens", "shares"],
  swept: ["disk", "worktrees"],
  archive_dropped: ["disk"],
  disk_level_changed: ["disk"],
};

/** Returns the topics whose data an event may have changed. */
export function topicsOf(event: LogEvent): Topic[] {
  const topics = new Set<Topic>(SIMPLE[event.kind] ?? []);
  if (event.session) {
    topics.add("sessions");
    topics.add(`session:${event.session}`);
    topics.add("usage");
    if (event.kind.startsWith("message_")) topics.add(`messages:${event.session}`);
  }
  return [...topics];
}
