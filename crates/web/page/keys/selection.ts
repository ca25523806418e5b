// The selected item of a list is the one that has the focus, so that it is always visible and
// screen readers know it.

const ITEMS =
  "a[href], article[data-session], article[tabindex], li[data-task] a, button.line-number, " +
  "button.fleet-fold[aria-expanded=false]";

function items(): HTMLElement[] {
  const lists = document.querySelectorAll<HTMLElement>("main [data-selectable]");
  const all = [...lists].flatMap((list) => [...list.querySelectorAll<HTMLElement>(ITEMS)]);
  // A card is one item, also if it contains links.
  return all.filter((item) => {
    const card = item.parentElement?.closest("article[data-session], article[tabindex]");
    return !card || card === item;
  });
}

/** Returns the index of the item that has the focus, or else of the last item before the focus. */
function focusedIndex(all: HTMLElement[]): number {
  const focused = document.activeElement;
  if (!focused || focused.matches("body, main")) return -1;
  const at = all.findIndex((item) => item.contains(focused));
  if (at >= 0) return at;
  return all.findLastIndex(
    (item) => focused.compareDocumentPosition(item) & Node.DOCUMENT_POSITION_PRECEDING,
  );
}

export function moveSelection(to: "next" | "previous" | "first" | "last"): void {
  const all = items();
  if (all.length === 0) {
    const page = to === "next" || to === "last" ? 1 : -1;
    scrollBy({ top: (page * innerHeight) / 4 });
    return;
  }
  const at = focusedIndex(all);
  const targets = {
    next: Math.min(at + 1, all.length - 1),
    previous: Math.max(at - 1, 0),
    first: 0,
    last: all.length - 1,
  };
  const item = all[targets[to]];
  if (!item) return;
  if (item instanceof HTMLElement && item.tagName === "ARTICLE") item.tabIndex = -1;
  item.focus({ focusVisible: true } as FocusOptions);
  item.scrollIntoView({ block: "nearest" });
}

/** Goes to the next or the previous file of a review. */
export function moveToFile(step: 1 | -1): void {
  const files = [...document.querySelectorAll<HTMLElement>("main [data-file]")];
  const at = files.findIndex((file) => file.contains(document.activeElement));
  const file = files[at < 0 ? 0 : at + step];
  file?.focus();
  file?.scrollIntoView({ block: "start" });
}

/** Whether the page shows the differences of files. */
export function hasFiles(): boolean {
  return document.querySelector("main [data-file]") !== null;
}

/** Presses the button of the page that has this command, if there is one. */
export function pressButton(command: string): void {
  document.querySelector<HTMLElement>(`main [data-command="${command}"]`)?.click();
}

/** Returns the button of the selected card that has this command. */
function buttonOfSelected(command: string): HTMLElement | null {
  const card = document.activeElement?.closest("article");
  return card?.querySelector<HTMLElement>(`[data-command="${command}"]`) ?? null;
}

/** Whether the selected card has a button with this command. */
export function selectedHas(command: string): boolean {
  return buttonOfSelected(command) !== null;
}

export function pressSelected(command: string): void {
  buttonOfSelected(command)?.click();
}

/** Comments on the line of a review that has the focus. */
export function commentOnLine(): void {
  const { activeElement: line } = document;
  if (line instanceof HTMLElement && line.classList.contains("line-number")) line.click();
  else moveSelection("next");
}

/** Moves the selected task in its queue, as its arrows do. */
export function moveTask(to: "up" | "down"): void {
  const arrow = selectedTask()?.querySelector<HTMLElement>(`[data-move=${to}]`);
  arrow?.click();
}

/** Whether the selected item is a task that has not started. */
export function hasQueuedTask(): boolean {
  return selectedTask()?.querySelector("[data-move]") != null;
}

function selectedTask(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>("[data-task]") ?? null;
}

/** Returns the id of the session whose card has the focus. */
export function selectedSession(): string | null {
  const card = document.activeElement?.closest<HTMLElement>("[data-session]");
  return card?.dataset.session ?? null;
}

/** Returns the fleet that the focus is in. */
export function selectedFleet(): string | null {
  return document.activeElement?.closest<HTMLElement>("[data-fleet]")?.dataset.fleet ?? null;
}

/** Selects a fleet by its heading, because a folded fleet shows nothing else. */
export function selectFleet(name: string): void {
  const fleet = document.querySelector<HTMLElement>(`main [data-fleet="${CSS.escape(name)}"]`);
  fleet?.querySelector<HTMLElement>(".fleet-fold")?.focus();
}

export function focusFilter(): void {
  const field =
    document.querySelector<HTMLElement>("main [data-filter]") ??
    document.querySelector<HTMLElement>("main [role=search] input");
  if (field) field.focus();
}
