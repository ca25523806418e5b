import * as calls from "../../api/calls.ts";
import type { Message, Session } from "../../api/types.ts";
import { Empty, Loaded } from "../../parts/states.tsx";
import { Ago } from "../../parts/since.tsx";
import { attempt } from "../../parts/toast.tsx";
import { useMay } from "../../state/identity.ts";
import { useResource } from "../../state/resource.ts";
import { Composer } from "./composer.tsx";

const STATES: Record<string, { symbol: string; tone: string; words: string }> = {
  queued: { symbol: "◌", tone: "starting", words: "queued" },
  typing: { symbol: "●", tone: "working", words: "being typed" },
  delivered: { symbol: "✓", tone: "done", words: "delivered" },
  uncertain: { symbol: "?", tone: "waiting", words: "typed, arrival not confirmed" },
  cancelled: { symbol: "·", tone: "ended", words: "cancelled" },
};

export function MessagesTab({ session }: { session: Session }) {
  const messages = useResource(
    `messages ${session.id}`,
    () => calls.messages(session.id),
    [`messages:${session.id}`],
  );
  return (
    <section aria-label="Messages">
      <Loaded of={messages}>
        {(data) =>
          data.length === 0 ? (
            <Empty icon="send" title="No messages">
              <p>Messages that Segue delivers to {session.name} are listed here.</p>
            </Empty>
          ) : (
            <ul class="rows">
              {[...data].reverse().map((message) => (
                <MessageRow key={message.id} message={message} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <Composer session={session} />
    </section>
  );
}

function MessageRow({ message }: { message: Message }) {
  const maySend = useMay("send");
  const look = STATES[message.state] ?? { symbol: "?", tone: "idle", words: message.state };
  const cancel = () => attempt(() => calls.cancelMessage(message.id), "Cancelled");
  return (
    <li class="row">
      <span class={`status tone-${look.tone}`}>
        <span class="symbol" aria-hidden="true">
          {look.symbol}
        </span>
        {look.words}
      </span>
      <span class="row-text">{message.text}</span>
      <span class="dim">
        <Ago at={message.created_at} />
      </span>
      {maySend && message.state === "queued" && (
        <button class="button quiet small" onClick={() => void cancel()}>
          Cancel
        </button>
      )}
    </li>
  );
}
