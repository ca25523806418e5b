// Short notices about what an action did.

import { messageOf } from "../api/http.ts";
import { Cell, useCell } from "../state/cell.ts";

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

export function Toasts() {
  const shown = useCell(toasts);
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
