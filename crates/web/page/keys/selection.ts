// The selected item of a list is the one that has the focus, so that it is always visible and
// screen readers know it.

const ITEMS = "a[href], article[data-session], article[tabindex], li[data-task] a";

function items(): HTMLElement[] {
  const lists = document.querySelectorAll<HTMLElement>("main [data-selectable]");
  const all = [...lists].flatMap((list) => [...list.querySelectorAll<HTMLElement>(ITEMS)]);
  // A card is one item, also if it contains links.
  return all.filter((item) => {
    const card = item.parentElement?.closest("article[data-session], article[tabindex]");
    return !card || card === item;
  });
}

export function moveSelection(to: "next" | "previous" | "first" | "last"): void {
  const all = items();
  if (all.length === 0) {
    const page = to === "next" || to === "last" ? 1 : -1;
    scrollBy({ top: (page * innerHeight) / 4 });
    return;
  }
  const focused = document.activeElement;
  const at = all.findIndex((item) => item === focused || item.contains(focused));
  const targets = {
    next: Math.min(at + 1, all.length - 1),
    previous: Math.max(at - 1, 0),
    first: 0,
    last: all.length - 1,
  };
  const item = all[targets[to]];
  if (!item) return;
  if (item instanceof HTMLAnchorElement === false) item.tabIndex = -1;
  item.focus({ focusVisible: true } as FocusOptions);
  item.scrollIntoView({ block: "nearest" });
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

export function focusFilter(): void {
  const field =
    document.querySelector<HTMLElement>("main [data-filter]") ??
    document.querySelector<HTMLElement>("main [role=search] input");
  if (field) field.focus();
}
