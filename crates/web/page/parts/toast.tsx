// Short notices about what an action did.

import { messageOf } from "../api/http.ts";
import { Cell, useCell } from "../state/cell.ts";
import { sheet } from "../state/sheets.ts";

interface Toast {
  id: number;
  text: string;
  isError: boolean;
}

const toasts = new Cell<Toast[]>([]);
const SHOWN_MS = 5000;
let nextId = 1;

export function notify(text: string, isError = false): void {
  const toast = { id: nextId++, text, isError };
  toasts.update((old) => [...old.slice(-2), toast]);
  setTimeout(() => dismiss(toast.id), isError ? 2 * SHOWN_MS : SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.update((old) => old.filter((toast) => toast.id !== id));
}

/** Carries out an action, and shows its error if it fails. Returns whether it succeeded. */
export async function attempt(action: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await action();
    if (done) notify(done);
    return true;
  } catch (error) {
    notify(messageOf(error), true);
    return false;
  }
}

/** Notices. Errors are in the open dialog, because the page behind it is dim and cannot be used. */
export function Toasts() {
  const isBehind = useCell(sheet) !== null;
  const shown = useCell(toasts).filter((it) => !isBehind || !it.isError);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, isError }) => (
        <div key={id} class={isError ? "toast is-error" : "toast"}>
          <span>{text}</span>
          <button class="button quiet small" onClick={() => dismiss(id)} aria-label="Dismiss">
            ✕
          </button>
        </div>
      ))}
    </div>
  );
}

/** The errors of the actions of a dialog. */
export function SheetErrors() {
  const shown = useCell(toasts).filter((it) => it.isError);
  return (
    <div role="alert">
      {shown.map(({ id, text }) => (
        <p key={id} class="failure">
          <span class="symbol tone-failed" aria-hidden="true">
            ✕
          </span>{" "}
          {text}
        </p>
      ))}
    </div>
  );
}
