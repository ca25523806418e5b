// How the status of a session is shown: a symbol, a word and a colour, never a colour alone.

import type { Session, Task } from "../api/types.ts";

export type Tone =
  | "waiting"
  | "working"
  | "idle"
  | "starting"
  | "interrupted"
  | "ended"
  | "failed"
  | "done";

export interface StatusLook {
  symbol: string;
  word: string;
  tone: Tone;
}

const LOOKS: Record<string, StatusLook> = {
  waiting: { symbol: "▲", word: "waiting", tone: "waiting" },
  working: { symbol: "●", word: "working", tone: "working" },
  idle: { symbol: "○", word: "idle", tone: "idle" },
  starting: { symbol: "◌", word: "starting", tone: "starting" },
  interrupted: { symbol: "◇", word: "interrupted", tone: "interrupted" },
  ended: { symbol: "·", word: "ended", tone: "ended" },
  lost: { symbol: "✕", word: "lost", tone: "failed" },
};

export const TASK_LOOKS: Record<string, StatusLook> = {
  queued: { symbol: "◌", word: "queued", tone: "starting" },
  running: { symbol: "●", word: "running", tone: "working" },
  waiting: { symbol: "▲", word: "waiting", tone: "waiting" },
  done: { symbol: "✓", word: "done", tone: "done" },
  failed: { symbol: "✕", word: "failed", tone: "failed" },
  cancelled: { symbol: "·", word: "cancelled", tone: "ended" },
};

/** A daemon that is newer than the page may send a status that the page does not know. */
export function unknownLook(word: string): StatusLook {
  return { symbol: "?", word, tone: "idle" };
}

export function statusLook(status: string): StatusLook {
  return LOOKS[status] ?? unknownLook(status);
}

export function taskLook(state: string): StatusLook {
  return TASK_LOOKS[state] ?? unknownLook(state);
}

/** Returns the words after the status: what is asked, how it ended, or what helps. */
export function statusDetail(session: Session): string {
  const { status, dialog } = session;
  if (status === "waiting" && dialog) return `${dialog.kind}: ${firstLine(dialog.question)}`;
  if (status === "waiting" && session.missing_variables.length > 0) {
    return `needs ${session.missing_variables.join(", ")}`;
  }
  if (status === "interrupted") return "resume brings it back";
  if (session.goes_on_as) return `goes on as ${session.goes_on_as}`;
  return session.status_detail ?? "";
}

export function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}

/** Whether the agent of the session runs, so that it can be interrupted and stopped. */
export function isLive(session: Session): boolean {
  return session.pid !== null || ["starting", "working", "idle"].includes(session.status);
}

/** Whether `resume` can bring the session back. */
export function isResumable(session: Session): boolean {
  return ["interrupted", "ended", "lost"].includes(session.status) && !session.goes_on_as;
}

export interface FleetGroup {
  name: string;
  folder: string;
  sessions: Session[];
}

/** The orders of the sessions of a fleet, as the screen in the terminal has them. */
export const SORT_ORDERS = ["status", "name", "recent"] as const;
export type SortOrder = (typeof SORT_ORDERS)[number];

export const SORT_WORDS: Record<SortOrder, string> = {
  status: "by status",
  name: "by name",
  recent: "newest first",
};

export function nextOrder(order: SortOrder): SortOrder {
  return SORT_ORDERS[(SORT_ORDERS.indexOf(order) + 1) % SORT_ORDERS.length] ?? "status";
}

const ORDER: Tone[] = ["waiting", "working", "starting", "idle", "interrupted", "failed", "ended"];

/** Groups sessions by fleet. By status, those that need a person come first. */
export function groupByFleet(
  sessions: Iterable<Session>,
  order: SortOrder = "status",
): FleetGroup[] {
  const groups = new Map<string, FleetGroup>();
  for (const session of sessions) {
    const group = groups.get(session.fleet) ?? {
      name: session.fleet,
      folder: session.cwd,
      sessions: [],
    };
    group.sessions.push(session);
    groups.set(session.fleet, group);
  }
  for (const group of groups.values()) group.sessions.sort(COMPARE[order]);
  return [...groups.values()].sort((a, b) => compareNames(a.name, b.name));
}

const rank = (session: Session) => ORDER.indexOf(statusLook(session.status).tone);
const byName = (a: Session, b: Session) => compareNames(a.name, b.name);

const COMPARE: Record<SortOrder, (a: Session, b: Session) => number> = {
  status: (a, b) => rank(a) - rank(b) || byName(a, b),
  name: byName,
  recent: (a, b) => compareNames(b.updated_at, a.updated_at) || byName(a, b),
};

/** Compares names by their characters, as the terminal does, and much faster than by language. */
function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether every word of the filter occurs in the session. */
export function matchesFilter(session: Session, filter: string): boolean {
  const { address, vendor, status, branch, cwd, status_detail } = session;
  const text = [address, vendor, status, branch, cwd, status_detail].join(" ").toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** The four columns of the board of tasks. */
export const BOARD_COLUMNS = [
  { title: "Queued", states: ["queued"] },
  { title: "Running", states: ["running"] },
  { title: "Waiting", states: ["waiting"] },
  { title: "Done", states: ["done", "failed", "cancelled"] },
] as const;

/** Sorts tasks as they start: by priority, then by age. Ended tasks: newest first. */
export function boardOrder(tasks: Task[], states: readonly string[]): Task[] {
  const own = tasks.filter((task) => states.includes(task.state));
  const ended = (task: Task) => task.ended_at ?? task.created_at;
  if (states.includes("done")) return own.sort((a, b) => ended(b).localeCompare(ended(a)));
  return own.sort(
    (a, b) => b.priority - a.priority || a.created_at.localeCompare(b.created_at),
  );
}
