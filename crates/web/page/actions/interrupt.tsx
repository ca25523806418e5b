import * as calls from "../api/calls.ts";
import type { Session } from "../api/types.ts";
import { Sheet } from "../parts/sheet.tsx";
import { attempt } from "../parts/toast.tsx";
import { closeSheet, openSheet } from "../state/sheets.ts";

/** Ends the current turn of an agent. */
export function InterruptSheet({ session }: { session: Session }) {
  const interrupt = async () => {
    const words = `${session.name} was told to end its turn`;
    if (await attempt(() => calls.interrupt(session.id), words)) closeSheet();
  };
  return (
    <Sheet title={`Interrupt ${session.address}`}>
      <ul>
        <li>The agent's current turn ends now. What it was doing may be half done.</li>
        <li>The agent keeps running, and waits for a message.</li>
      </ul>
      <p class="row-of-buttons">
        <button class="button primary" data-focus onClick={() => void interrupt()}>
          Interrupt {session.name}
        </button>
        <button
          class="button"
          onClick={() => openSheet({ kind: "send", sessions: [session], isInterrupt: true })}
        >
          Interrupt with a message…
        </button>
        <button class="button" onClick={closeSheet}>
          Cancel
        </button>
      </p>
    </Sheet>
  );
}
