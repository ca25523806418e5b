// All sessions, and those that need a person. Kept up to date by events.

import * as calls from "../api/calls.ts";
import { ApiError } from "../api/http.ts";
import type { Attention, AttentionList, Gate, Session } from "../api/types.ts";
import { Cell } from "./cell.ts";
import { identity } from "./identity.ts";

export interface Fleet {
  isLoaded: boolean;
  error: ApiError | null;
  byId: ReadonlyMap<string, Session>;
  /** The sessions that need a person, the most urgent first. */
  attention: Attention[];
  /** The gates of plans that wait for a person. */
  gates: Gate[];
}

const NO_ATTENTION: AttentionList = { sessions: [], gates: [] };

export const fleet = new Cell<Fleet>({
  isLoaded: false,
  error: null,
  byId: new Map(),
  attention: [],
  gates: [],
});

// Beyond this many changed sessions, one request for all is cheaper than one for each.
const MAX_SINGLE_LOADS = 8;

let changed = new Set<string>();
let isRefreshing = false;

export async function loadFleet(): Promise<void> {
  const known = identity.get();
  if (known.kind !== "known") return;
  const shared = known.identity.session;
  try {
    const [all, needs] = shared
      ? [[await calls.session(shared)], NO_ATTENTION]
      : await Promise.all([calls.sessions(), calls.attention()]);
    const byId = new Map(all.map((session) => [session.id, session]));
    const { sessions: attention, gates } = needs;
    fleet.set({ isLoaded: true, error: null, byId, attention, gates });
  } catch (error) {
    const shown = error instanceof ApiError ? error : new ApiError(0, String(error));
    fleet.update((old) => ({ ...old, error: shown }));
  }
}

/** Loads what needs a person again, after an event about the gate of a plan. */
export async function refreshAttention(): Promise<void> {
  const known = identity.get();
  if (known.kind !== "known" || known.identity.session) return;
  try {
    const { sessions: attention, gates } = await calls.attention();
    fleet.update((old) => ({ ...old, attention, gates }));
  } catch (error) {
    if (error instanceof ApiError) fleet.update((old) => ({ ...old, error }));
  }
}

/** Loads a session again after an event about it. Requests never overlap. */
export async function refreshSession(id: string): Promise<void> {
  changed.add(id);
  if (isRefreshing) return;
  isRefreshing = true;
  try {
    while (changed.size > 0) {
      // Events of one change arrive together.
      await new Promise((resolve) => setTimeout(resolve, 20));
      const ids = changed;
      changed = new Set();
      if (ids.size > MAX_SINGLE_LOADS) await loadFleet();
      else await loadSome([...ids]);
    }
  } finally {
    isRefreshing = false;
  }
}

async function loadSome(ids: string[]): Promise<void> {
  const known = identity.get();
  const isShared = known.kind === "known" && known.identity.session !== null;
  const needs = isShared ? Promise.resolve(NO_ATTENTION) : calls.attention();
  const loads = ids.map(async (id) => [id, await loadOne(id)] as const);
  try {
    const [loaded, { sessions: attention, gates }] = await Promise.all([
      Promise.all(loads),
      needs,
    ]);
    fleet.update((old) => {
      const byId = new Map(old.byId);
      for (const [id, session] of loaded) {
        if (session) byId.set(id, session);
        else byId.delete(id);
      }
      return { ...old, byId, attention, gates, error: null };
    });
  } catch (error) {
    if (error instanceof ApiError) fleet.update((old) => ({ ...old, error }));
  }
}

/** Returns a session, or `null` if it was removed. */
async function loadOne(id: string): Promise<Session | null> {
  try {
    return await calls.session(id);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
