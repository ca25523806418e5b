// Who uses this page, and what they may do.

import * as calls from "../api/calls.ts";
import { ApiError, setCsrf, whenUnauthorized } from "../api/http.ts";
import type { Identity, Scope } from "../api/types.ts";
import { Cell, useSelected } from "./cell.ts";

export type IdentityState =
  | { kind: "unknown" }
  | { kind: "none" }
  | { kind: "unreachable" }
  | { kind: "known"; identity: Identity };

export const identity = new Cell<IdentityState>({ kind: "unknown" });

whenUnauthorized(() => identity.set({ kind: "none" }));

/** Asks the daemon who this browser is. */
export async function loadIdentity(): Promise<IdentityState> {
  try {
    const known = await calls.identity();
    setCsrf(known.csrf);
    identity.set({ kind: "known", identity: known });
  } catch (error) {
    const isRefused = error instanceof ApiError && error.status === 401;
    identity.set({ kind: isRefused ? "none" : "unreachable" });
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
