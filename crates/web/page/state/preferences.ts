// Choices of this browser.

import { SORT_ORDERS, type SortOrder } from "../model/status.ts";
import { Cell, useSelected } from "./cell.ts";

export type Theme = "system" | "light" | "dark";

export interface Preferences {
  theme: Theme;
  /** Whether this browser shows a notification when an agent needs a person. */
  notifies: boolean;
  /** Whether a wide screen shows differences side by side. */
  isSideBySide: boolean;
  /** The order of the sessions of a fleet. */
  order: SortOrder;
  /** The fleets whose sessions are not shown. */
  folded: string[];
}

const KEY = "segue.preferences";
const DEFAULTS: Preferences = {
  theme: "system",
  notifies: false,
  isSideBySide: true,
  order: "status",
  folded: [],
};

export const preferences = new Cell<Preferences>(load());

function load(): Preferences {
  try {
    return known({ ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as object) });
  } catch {
    return DEFAULTS;
  }
}

/** Replaces stored values that this version of the page does not know. */
function known(stored: Preferences): Preferences {
  const order = SORT_ORDERS.includes(stored.order) ? stored.order : DEFAULTS.order;
  return { ...stored, order, folded: Array.isArray(stored.folded) ? stored.folded : [] };
}

/** Hides or shows the sessions of a fleet. */
export function switchFold(fleet: string): void {
  const { folded } = preferences.get();
  const others = folded.filter((it) => it !== fleet);
  choose({ folded: others.length < folded.length ? others : [...folded, fleet] });
}

/** Hides the sessions of all fleets, or shows them again if all are hidden. */
export function switchAllFolds(fleets: string[]): void {
  const { folded } = preferences.get();
  choose({ folded: fleets.every((it) => folded.includes(it)) ? [] : fleets });
}

export function useOrder(): SortOrder {
  return useSelected(preferences, (it) => it.order);
}

export function useFolded(): string[] {
  return useSelected(preferences, (it) => it.folded);
}

export function choose(change: Partial<Preferences>): void {
  preferences.update((old) => ({ ...old, ...change }));
}

export function startPreferences(): void {
  const apply = (value: Preferences) => {
    const root = document.documentElement;
    if (value.theme === "system") delete root.dataset.theme;
    else root.dataset.theme = value.theme;
    try {
      localStorage.setItem(KEY, JSON.stringify(value));
    } catch {
      // A browser without storage forgets the choices.
    }
  };
  apply(preferences.get());
  preferences.watch(apply);
}
