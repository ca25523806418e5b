// Which priorities give the queue a new order.

import type { Task } from "../api/types.ts";

export const MAX_PRIORITY = 9;

type Ranked = Pick<Task, "id" | "priority" | "created_at">;

export interface PriorityChange {
  id: string;
  priority: number;
}

/**
 * Returns the priorities that move a task to another place of its column. Tasks of the same priority
 * start by age, so that a neighbour may need another priority too. Tasks on the other side of the
 * place keep theirs. Empty if the limits of priorities do not allow the place.
 */
export function movedPriorities(column: Ranked[], task: Ranked, to: number): PriorityChange[] {
  const from = column.findIndex((it) => it.id === task.id);
  const place = Math.max(0, Math.min(column.length - 1, to));
  if (from < 0 || from === place) return [];
  const order = column.filter((it) => it.id !== task.id);
  order.splice(place, 0, task);
  return place < from ? raised(order, place) : lowered(order, place);
}

/** Raises the task at `place`, and those before it that would start after it. */
function raised(order: Ranked[], place: number): PriorityChange[] {
  const changes: PriorityChange[] = [];
  let below = order[place + 1];
  for (const task of order.slice(0, place + 1).reverse()) {
    if (!below || startsBefore(task, below)) break;
    const isOlder = task.created_at < below.created_at;
    below = { ...task, priority: isOlder ? below.priority : below.priority + 1 };
    changes.push({ id: below.id, priority: below.priority });
  }
  return withinLimits(changes);
}

/** Lowers the task at `place`, and those after it that would start before it. */
function lowered(order: Ranked[], place: number): PriorityChange[] {
  const changes: PriorityChange[] = [];
  let above = order[place - 1];
  for (const task of order.slice(place)) {
    if (!above || startsBefore(above, task)) break;
    const isYounger = task.created_at > above.created_at;
    above = { ...task, priority: isYounger ? above.priority : above.priority - 1 };
    changes.push({ id: above.id, priority: above.priority });
  }
  return withinLimits(changes);
}

function startsBefore(first: Ranked, second: Ranked): boolean {
  if (first.priority !== second.priority) return first.priority > second.priority;
  return first.created_at < second.created_at;
}

function withinLimits(changes: PriorityChange[]): PriorityChange[] {
  return changes.every(({ priority }) => Math.abs(priority) <= MAX_PRIORITY) ? changes : [];
}
