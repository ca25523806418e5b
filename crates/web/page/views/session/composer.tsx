import { useState } from "preact/hooks";

import * as calls from "../../api/calls.ts";
import type { Session } from "../../api/types.ts";
import { Icon } from "../../parts/icon.tsx";
import { attempt } from "../../parts/toast.tsx";
import { useMay } from "../../state/identity.ts";

/** The line below a conversation, in which a person writes to the agent. */
export function Composer({ session }: { session: Session }) {
  const [text, setText] = useState("");
  const [isSending, setSending] = useState(false);
  const maySend = useMay("send");
  if (!maySend || session.goes_on_as) return null;
  const send = async () => {
    if (!text.trim()) return;
    setSending(true);
    const isIdle = session.status === "idle";
    const words = isIdle ? "Sent" : "Recorded. It arrives when the agent is idle";
    if (await attempt(() => calls.send(session.id, text, false), words)) setText("");
    setSending(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      void send();
    }
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        rows={Math.min(8, text.split("\n").length)}
        aria-label={`Message to ${session.name}`}
        placeholder={`Message to ${session.name}`}
        title="Enter sends, Shift+Enter begins a line"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <button class="button primary" disabled={isSending || !text.trim()}>
        <Icon name="send" size={16} /> Send
      </button>
    </form>
  );
}
