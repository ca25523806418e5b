// The stream of events. It continues after the last event that arrived, so that none is missed.

import * as calls from "../api/calls.ts";
import { followEvents } from "../api/events.ts";
import { watchPageKey } from "../api/page-key.ts";
import type { LogEvent } from "../api/types.ts";
import { topicsOf } from "../model/topics.ts";
import { Cell } from "./cell.ts";
import { loadFleet, refreshAttention, refreshSession } from "./fleet.ts";
import { identity, loadIdentity } from "./identity.ts";
import { announce, watchTopic } from "./topics.ts";

export interface Connection {
  isOnline: boolean;
  /** When the connection was lost. */
  since: Date | null;
  /** How many events arrived after the last loss, for the notice that everything is up to date. */
  caughtUp: number | null;
}

export const connection = new Cell<Connection>({ isOnline: true, since: null, caughtUp: null });

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;

let cursor = 0;
let stop: (() => void) | null = null;
let retryMs = FIRST_RETRY_MS;
let retryTimer: ReturnType<typeof setTimeout> | undefined;
/** How many events happened between the loss of the connection and its return. */
let missedEvents = 0;

/** Returns the sequence number of the newest event. `null` if it cannot be read. */
export async function newestSequence(): Promise<number | null> {
  try {
    return (await calls.newestEvents(null, 1)).at(-1)?.seq ?? 0;
  } catch {
    return null;
  }
}

/** Loads everything, then follows the events after it. */
export async function startLive(newest: Promise<number | null> = newestSequence()): Promise<void> {
  try {
    // The cursor is older than the lists, so that a change between them arrives as an event.
    const sequence = await newest;
    if (sequence === null) return lose();
    cursor = sequence;
    await loadFleet();
    connect();
  } catch {
    lose();
  }
}

function connect(): void {
  stop?.();
  stop = followEvents(cursor, { opened: restored, event: receive, closed: lose });
}

function receive(event: LogEvent): void {
  if (event.seq <= cursor) return;
  cursor = event.seq;
  announce(topicsOf(event));
  if (event.session) void refreshSession(event.session);
}

function restored(): void {
  retryMs = FIRST_RETRY_MS;
  if (connection.get().isOnline) return;
  connection.set({ isOnline: true, since: null, caughtUp: missedEvents });
  // What has no events, such as an open transcript, loads again.
  announce(["sessions", "tasks", "plans", "worktrees", "deliveries", "disk", "usage"]);
  void loadFleet();
}

function lose(): void {
  stop?.();
  stop = null;
  const old = connection.get();
  if (old.isOnline) connection.set({ isOnline: false, since: new Date(), caughtUp: null });
  clearTimeout(retryTimer);
  retryTimer = setTimeout(() => void retry(), retryMs);
  retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
}

/** Connects again, and counts the events that the stream sends first. */
async function catchUp(): Promise<void> {
  try {
    const newest = await calls.newestEvents(null, 1);
    missedEvents = Math.max(0, (newest.at(-1)?.seq ?? 0) - cursor);
    connect();
  } catch {
    lose();
  }
}

/** Tries to connect now. */
export async function retry(): Promise<void> {
  clearTimeout(retryTimer);
  const before = identity.get();
  const now = await loadIdentity();
  if (now.kind === "none") {
    stop?.();
    stop = null;
    return;
  }
  if (now.kind === "known") {
    if (cursor === 0) await startLive();
    else await catchUp();
    return;
  }
  // The page stays visible while the daemon is away.
  if (before.kind === "known") identity.set(before);
  lose();
}

export function startWatchingNetwork(): void {
  addEventListener("online", () => void retry());
  watchTopic("gates", () => void refreshAttention());
  watchPageKey((key) => {
    // Another login may see something else, so that nothing of the earlier one stays.
    if (key) location.reload();
    else void retry();
  });
  // A daemon on this machine can be reached without a network, so this asks it.
  addEventListener("offline", () => void retry());
  document.addEventListener("visibilitychange", () => {
    const isBack = document.visibilityState === "visible" && !connection.get().isOnline;
    if (isBack) void retry();
  });
}
