// Which priority a task gets when it is dropped at a place of its column.

import type { Task } from "../api/types.ts";

export const MAX_PRIORITY = 9;

type Ranked = Pick<Task, "id" | "priority" | "created_at">;

/** Returns the priority with which `task` starts before the task that is now at `index`. */
export function dropPriority(column: Ranked[], task: Ranked, index: number): number {
  const target = column[index];
  if (!target || target.id === task.id) return task.priority;
  const from = column.findIndex((it) => it.id === task.id);
  if (from < index) {
    // Dragged down: it starts after the target, so before whatever follows.
    const startsLater = task.created_at > target.created_at;
    return clamp(startsLater ? target.priority : target.priority - 1);
  }
  const startsEarlier = task.created_at < target.created_at;
  return clamp(startsEarlier ? target.priority : target.priority + 1);
}

function clamp(priority: number): number {
  return Math.max(-MAX_PRIORITY, Math.min(MAX_PRIORITY, priority));
}
