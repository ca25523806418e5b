import { useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { Session } from "../api/types.ts";
import { TextField } from "../parts/field.tsx";
import { Sheet } from "../parts/sheet.tsx";
import { attempt } from "../parts/toast.tsx";
import { refreshSession } from "../state/fleet.ts";
import { closeSheet } from "../state/sheets.ts";

export function RenameSheet({ session }: { session: Session }) {
  const [name, setName] = useState<string>(session.name);
  const isReady = name.trim() !== "" && name.trim() !== session.name;
  const rename = async () => {
    if (!isReady) return;
    const isDone = await attempt(
      () => calls.rename(session.id, name.trim()),
      `${session.name} is called ${name.trim()} now`,
    );
    if (!isDone) return;
    closeSheet();
    await refreshSession(session.id);
  };
  return (
    <Sheet title={`Rename ${session.address}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void rename();
        }}
      >
        <TextField
          label="Name"
          help="The agent goes on. Commands and links with the old name do not find it any more."
          value={name}
          onValue={setName}
          isFocused
          isRequired
        />
        <p class="row-of-buttons">
          <button class="button primary" disabled={!isReady}>
            Rename
          </button>
          <button class="button" type="button" onClick={closeSheet}>
            Cancel
          </button>
        </p>
      </form>
    </Sheet>
  );
}
