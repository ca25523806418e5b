import { useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { Session } from "../api/types.ts";
import { TextArea } from "../parts/field.tsx";
import { Sheet } from "../parts/sheet.tsx";
import { attempt } from "../parts/toast.tsx";
import { closeSheet } from "../state/sheets.ts";

export function SendSheet({ session, isInterrupt }: { session: Session; isInterrupt: boolean }) {
  const [text, setText] = useState("");
  const send = async () => {
    if (!text.trim()) return;
    const words = isInterrupt ? "Interrupted, and the message is recorded" : "Recorded";
    if (await attempt(() => calls.send(session.id, text, isInterrupt), words)) closeSheet();
  };
  return (
    <Sheet title={isInterrupt ? `Interrupt ${session.address}` : `Send to ${session.address}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {isInterrupt && (
          <p>The agent's current turn ends now. Then it gets this message.</p>
        )}
        <TextArea
          label="Message"
          value={text}
          onValue={setText}
          onSubmit={() => void send()}
          help={
            isInterrupt || session.status === "idle"
              ? "Ctrl+Enter sends."
              : `It arrives when ${session.name} is idle. Ctrl+Enter sends.`
          }
          isFocused
        />
        <p class="row-of-buttons">
          <button class="button primary" disabled={!text.trim()}>
            {isInterrupt ? "Interrupt and send" : "Send"}
          </button>
          <button class="button" type="button" onClick={closeSheet}>
            Cancel
          </button>
        </p>
      </form>
    </Sheet>
  );
}
