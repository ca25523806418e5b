// The sessions that are marked for an action on several of them.

import type { Session } from "../api/types.ts";
import { Cell, useCell } from "./cell.ts";
import { fleet } from "./fleet.ts";

const marks = new Cell<ReadonlySet<string>>(new Set());

export function toggleMark(id: string): void {
  marks.update((old) => {
    const next = new Set(old);
    if (!next.delete(id)) next.add(id);
    return next;
  });
}

export function clearMarks(): void {
  marks.set(new Set());
}

function existing(ids: ReadonlySet<string>): Session[] {
  const { byId } = fleet.get();
  return [...ids].flatMap((id) => byId.get(id) ?? []);
}

/** Returns the marked sessions that still exist. */
export function markedSessions(): Session[] {
  return existing(marks.get());
}

export function useMarked(): Session[] {
  useCell(fleet);
  return existing(useCell(marks));
}
