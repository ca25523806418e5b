import { useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { Session } from "../api/types.ts";
import { sessionPath } from "../model/routes.ts";
import { TextArea, TextField } from "../parts/field.tsx";
import { Sheet } from "../parts/sheet.tsx";
import { attempt } from "../parts/toast.tsx";
import { VendorField } from "../parts/vendor-field.tsx";
import { useCell } from "../state/cell.ts";
import { fleet, refreshSession } from "../state/fleet.ts";
import { go } from "../state/navigation.ts";
import { closeSheet } from "../state/sheets.ts";

/** Returns the different values of a field, the most frequent one first. */
export function frequent(
  sessions: Iterable<Session>,
  of: (session: Session) => string | null,
): string[] {
  const counts = new Map<string, number>();
  for (const session of sessions) {
    const value = of(session);
    if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([value]) => value);
}

export function NewSessionSheet() {
  const { byId } = useCell(fleet);
  const usual = frequent(byId.values(), (it) => it.vendor);
  const folders = frequent(byId.values(), (it) => (it.worktree ? null : it.cwd));
  const [vendor, setVendor] = useState("");
  const [cwd, setCwd] = useState(folders[0] ?? "");
  const [name, setName] = useState("");
  const [branch, setBranch] = useState("");
  const [prompt, setPrompt] = useState("");
  const [isBusy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    await attempt(async () => {
      const session = await calls.run({
        caller: { cwd },
        cwd,
        vendor: vendor || null,
        name: name || null,
        prompt: prompt.trim() || null,
        worktree: branch ? { branch } : null,
      });
      closeSheet();
      await refreshSession(session.id);
      go(sessionPath(session.id));
    });
    setBusy(false);
  };
  return (
    <Sheet title="New session">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <div class="two">
          <VendorField
            label="Agent"
            value={vendor}
            onValue={setVendor}
            preferred={(names) => usual.find((it) => names.includes(it)) ?? names[0]}
          />
          <TextField
            label="Name"
            value={name}
            onValue={setName}
            placeholder="chosen by Segue if empty"
          />
        </div>
        <TextField
          label="Folder"
          help="A folder on the machine of the daemon."
          value={cwd}
          onValue={setCwd}
          list={folders}
          isRequired
        />
        <TextField
          label="Worktree branch"
          help="The agent gets a worktree of its own on this branch. Empty: it works in the folder."
          value={branch}
          onValue={setBranch}
        />
        <TextArea
          label="Prompt"
          value={prompt}
          onValue={setPrompt}
          onSubmit={() => void start()}
          rows={4}
        />
        <p class="row-of-buttons">
          <button class="button primary" disabled={isBusy || !vendor || !cwd}>
            {isBusy ? "Starting…" : "Start"}
          </button>
          <button class="button" type="button" onClick={closeSheet}>
            Cancel
          </button>
        </p>
      </form>
    </Sheet>
  );
}
