import { useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import { messageOf } from "../api/http.ts";
import type { Session } from "../api/types.ts";
import { plural } from "../model/format.ts";
import { TextArea } from "../parts/field.tsx";
import { Sheet } from "../parts/sheet.tsx";
import { notify } from "../parts/toast.tsx";
import { clearMarks } from "../state/marks.ts";
import { closeSheet } from "../state/sheets.ts";
import { SheetTargets, targetsTitle } from "./targets.tsx";

/** Writes a message to sessions. */
export function SendSheet(props: { sessions: Session[]; isInterrupt: boolean }) {
  const { sessions, isInterrupt } = props;
  const [text, setText] = useState("");
  // Those that have not got the message yet: a second try sends it to nobody twice.
  const [left, setLeft] = useState(sessions);
  const [isBusy, setBusy] = useState(false);
  const send = async () => {
    if (!text.trim() || isBusy) return;
    setBusy(true);
    const failed: Session[] = [];
    for (const session of left) {
      try {
        await calls.send(session.id, text, isInterrupt);
      } catch (error) {
        failed.push(session);
        notify(`${session.name}: ${messageOf(error)}`, true);
      }
    }
    setBusy(false);
    setLeft(failed);
    if (failed.length > 0) return;
    const to = sessions.length > 1 ? ` for ${plural(sessions.length, "session")}` : "";
    notify(isInterrupt ? `Interrupted, and the message is recorded${to}` : `Recorded${to}`);
    clearMarks();
    closeSheet();
  };
  const busy = sessions.filter((it) => it.status !== "idle");
  return (
    <Sheet title={targetsTitle(isInterrupt ? "Interrupt" : "Send to", sessions)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <SheetTargets sessions={sessions} />
        {isInterrupt && (
          <p>The agent's current turn ends now. Then it gets this message.</p>
        )}
        <TextArea
          label="Message"
          value={text}
          onValue={setText}
          onSubmit={() => void send()}
          help={
            isInterrupt || busy.length === 0
              ? "Ctrl+Enter sends."
              : `It arrives when ${busy.map((it) => it.name).join(", ")} is idle. Ctrl+Enter sends.`
          }
          isFocused
        />
        <p class="row-of-buttons">
          <button class="button primary" disabled={!text.trim() || isBusy}>
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
