// Choices of this browser.

import { Cell } from "./cell.ts";

export type Theme = "system" | "light" | "dark";

export interface Preferences {
  theme: Theme;
  /** Whether this browser shows a notification when an agent needs a person. */
  notifies: boolean;
  /** Whether a wide screen shows differences side by side. */
  isSideBySide: boolean;
}

const KEY = "segue.preferences";
const DEFAULTS: Preferences = { theme: "system", notifies: false, isSideBySide: true };

export const preferences = new Cell<Preferences>(load());

function load(): Preferences {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as object) };
  } catch {
    return DEFAULTS;
  }
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
