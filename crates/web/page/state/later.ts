// Sessions that this page stops at the end of their turn. The page waits for the end, so that
// closing the page keeps the agents running.

import * as calls from "../api/calls.ts";
import { messageOf } from "../api/http.ts";
import type { Session } from "../api/types.ts";
import { notify } from "../parts/toast.tsx";
import { Cell, useSelected } from "./cell.ts";

const waits = new Cell<ReadonlyMap<string, AbortController>>(new Map());

export function useStopsLater(id: string): boolean {
  return useSelected(waits, (all) => all.has(id));
}

/** Stops a session when its turn has ended. */
export async function stopAfterTurn(session: Session): Promise<void> {
  if (waits.get().has(session.id)) return;
  const aborter = new AbortController();
  waits.update((old) => new Map(old).set(session.id, aborter));
  try {
    const { reached, status } = await calls.waitUntilIdle(session.id, aborter.signal);
    if (!reached) throw new Error(`${session.name} was not stopped: it is ${status}`);
    await stopNow([session]);
    notify(`${session.name} has ended its turn and is stopped`);
  } catch (error) {
    if (!aborter.signal.aborted) notify(messageOf(error), true);
  } finally {
    forget(session.id);
  }
}

export function cancelStop(id: string): void {
  waits.get().get(id)?.abort();
  forget(id);
}

function forget(id: string): void {
  waits.update((old) => {
    const others = new Map(old);
    others.delete(id);
    return others;
  });
}

/** Stops sessions. Fails with the first reason if one of them could not be stopped. */
export async function stopNow(sessions: Session[]): Promise<void> {
  const { failed } = await calls.stop(sessions.map((it) => it.address));
  const [failure] = failed;
  if (failure) throw new Error(`${failure.target}: ${failure.error.message}`);
}
