// The time for "3 min ago". It changes once a minute, and only while the page is visible.

import { Cell, useCell } from "./cell.ts";

const now = new Cell(Date.now());
let timer: ReturnType<typeof setTimeout> | undefined;

function schedule(): void {
  clearTimeout(timer);
  if (document.visibilityState !== "visible") return;
  const untilNextMinute = 60_000 - (Date.now() % 60_000);
  timer = setTimeout(() => {
    now.set(Date.now());
    schedule();
  }, untilNextMinute);
}

export function startClock(): void {
  schedule();
  document.addEventListener("visibilitychange", () => {
    now.set(Date.now());
    schedule();
  });
}

export function useNow(): number {
  // A value that has just arrived is never in the future.
  useCell(now);
  return Date.now();
}
