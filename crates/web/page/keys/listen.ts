// Keys of the whole page. A field or a terminal that has the focus gets its keys itself.

import { sheet, openSheet } from "../state/sheets.ts";
import { allCommands, currentSession, isAllowed } from "./commands.ts";
import { currentRoute } from "../state/navigation.ts";

export function startKeys(): void {
  document.addEventListener("keydown", onKey);
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "p" && !isInTerminal(event)) {
    event.preventDefault();
    openSheet({ kind: "palette" });
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event) || sheet.get() !== null) return;
  if (answerByNumber(event)) return;
  const command = allCommands().find((it) => it.key === event.key && isAllowed(it));
  if (!command) return;
  event.preventDefault();
  command.run();
}

/** On lists a number opens the answer with that choice; in a session it opens a tab. */
function answerByNumber(event: KeyboardEvent): boolean {
  if (!/^[1-9]$/.test(event.key) || currentRoute().view === "session") return false;
  const session = currentSession();
  const choice = Number(event.key) - 1;
  if (!session?.dialog || choice >= session.dialog.choices.length) return false;
  event.preventDefault();
  openSheet({ kind: "answer", session, choice });
  return true;
}

function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as Element | null;
  if (!target) return false;
  if (isInTerminal(event)) return true;
  const field = target.closest("input, textarea, select, [contenteditable]");
  if (field && event.key === "Escape" && field instanceof HTMLElement) field.blur();
  return field !== null;
}

function isInTerminal(event: KeyboardEvent): boolean {
  const host = (event.target as Element | null)?.closest<HTMLElement>("[data-terminal]");
  return host?.dataset.state === "control";
}
