// The dialog that is open, if any.

import type { Session } from "../api/types.ts";
import { Cell } from "./cell.ts";

export type OpenSheet =
  | { kind: "palette" }
  | { kind: "keys" }
  | { kind: "answer"; session: Session; choice: number | null }
  | { kind: "send"; session: Session; isInterrupt: boolean; text?: string }
  | { kind: "stop"; session: Session }
  | { kind: "resume"; session: Session | null }
  | { kind: "handoff"; session: Session }
  | { kind: "share"; session: Session }
  | { kind: "new-session" }
  | { kind: "new-task" };

export const sheet = new Cell<OpenSheet | null>(null);

export function openSheet(value: OpenSheet): void {
  sheet.set(value);
}

export function closeSheet(): void {
  sheet.set(null);
}
