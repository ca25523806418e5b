// Who uses this page, and what they may do.

import * as calls from "../api/calls.ts";
import { ApiError, whenUnauthorized } from "../api/http.ts";
import type { Identity, Scope } from "../api/types.ts";
import { Cell, useSelected } from "./cell.ts";

export type IdentityState =
  | { kind: "unknown" }
  | { kind: "none"; why: string; wasShared: boolean }
  | { kind: "unreachable" }
  | { kind: "known"; identity: Identity };

export const identity = new Cell<IdentityState>({ kind: "unknown" });

whenUnauthorized((error) => endLogin(error.message));

/** Shows the view that explains how to log in. */
export function endLogin(why: string): void {
  const known = identity.get();
  const isShared = known.kind === "known" && known.identity.session !== null;
  const wasShared = isShared || (known.kind === "none" && known.wasShared);
  identity.set({ kind: "none", why, wasShared });
}

/** Asks the daemon who this browser is. */
export async function loadIdentity(): Promise<IdentityState> {
  try {
    const known = await calls.identity();
    identity.set({ kind: "known", identity: known });
  } catch (error) {
    const isRefused = error instanceof ApiError && error.status === 401;
    if (!isRefused) identity.set({ kind: "unreachable" });
  }
  return identity.get();
}

/** Whether the login has a scope. `admin` includes all of them. */
export function may(state: IdentityState, scope: Scope): boolean {
  if (state.kind !== "known") return false;
  const { scopes } = state.identity;
  return scopes.includes("admin") || scopes.includes(scope);
}

export function useMay(scope: Scope): boolean {
  return useSelected(identity, (state) => may(state, scope));
}

/** Returns the only session that this browser may see, if it came through a share link. */
export function useSharedSession(): string | null {
  return useSelected(identity, (state) =>
    state.kind === "known" ? state.identity.session : null,
  );
}
