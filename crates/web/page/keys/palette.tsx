// Finds every action and every session by a few letters.

import { useState } from "preact/hooks";

import { sessionPath } from "../model/routes.ts";
import { bestMatches } from "../model/search.ts";
import { statusLook } from "../model/status.ts";
import { Sheet } from "../parts/sheet.tsx";
import { fleet } from "../state/fleet.ts";
import { go } from "../state/navigation.ts";
import { closeSheet } from "../state/sheets.ts";
import { allCommands, isAllowed } from "./commands.ts";

interface Entry {
  words: string;
  key: string;
  run: () => void;
}

const SHOWN = 12;

/** Collected before the palette takes the focus, because the actions depend on the selection. */
function collect(): Entry[] {
  const actions = allCommands().filter((it) => !it.isOnlyKey && isAllowed(it));
  const sessions = [...fleet.get().byId.values()].map((session) => ({
    words: `${statusLook(session.status).symbol} ${session.address} ${session.vendor}`,
    key: "",
    run: () => go(sessionPath(session.id)),
  }));
  return [...actions, ...sessions];
}

export function Palette() {
  const [entries] = useState(collect);
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const shown = bestMatches(query, entries, (entry) => entry.words).slice(0, SHOWN);
  const choose = (entry: Entry | undefined) => {
    if (!entry) return;
    closeSheet();
    // The dialog gives the focus back first, so that the action finds the selected session.
    setTimeout(entry.run);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(shown.length - 1, at + step)));
    }
    if (event.key === "Enter") {
      event.preventDefault();
      choose(shown[at]);
    }
  };
  return (
    <Sheet title="All actions" isBare>
      <div class="palette">
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={shown[at] ? `palette-${at}` : undefined}
          aria-label="Find an action or a session"
          placeholder="Find an action or a session"
          autocomplete="off"
          data-focus
          value={query}
          onInput={(event) => {
            setQuery(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <ul id="palette-list" role="listbox" aria-label="Actions">
          {shown.map((entry, index) => (
            <li
              key={entry.words}
              id={`palette-${index}`}
              role="option"
              aria-selected={index === at}
              onMouseDown={(event) => {
                event.preventDefault();
                choose(entry);
              }}
            >
              {entry.words}
              {entry.key && <kbd>{entry.key}</kbd>}
            </li>
          ))}
        </ul>
        {shown.length === 0 && <p class="dim pad">Nothing matches.</p>}
      </div>
    </Sheet>
  );
}
