import * as calls from "../../api/calls.ts";
import type { LogEvent, Session } from "../../api/types.ts";
import { Empty, Loaded } from "../../parts/states.tsx";
import { ClockTime } from "../../parts/since.tsx";
import { useResource } from "../../state/resource.ts";

const SHOWN_EVENTS = 300;

/** The events of a session: why it has its status. */
export function LogTab({ session }: { session: Session }) {
  const events = useResource(
    `log ${session.id}`,
    () => calls.newestEvents(session.id, SHOWN_EVENTS),
    [`session:${session.id}`],
  );
  return (
    <section aria-label="Log">
      <dl class="facts">
        <Fact name="Session" value={session.id} />
        <Fact name="Conversation" value={session.vendor_session_id} />
        <Fact name="Known by" value={session.evidence} />
        <Fact name="Folder" value={session.cwd} />
        <Fact name="Process" value={session.pid?.toString() ?? null} />
        <Fact name="Launches" value={String(session.launches)} />
      </dl>
      <Loaded of={events} lines={8}>
        {(data) =>
          data.length === 0 ? (
            <Empty icon="inbox" title="No events" />
          ) : (
            <ol class="log">
              {[...data].reverse().map((event) => (
                <LogRow key={event.seq} event={event} />
              ))}
            </ol>
          )
        }
      </Loaded>
    </section>
  );
}

function Fact({ name, value }: { name: string; value: string | null }) {
  if (!value) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <code>{value}</code>
      </dd>
    </div>
  );
}

function LogRow({ event }: { event: LogEvent }) {
  const { seq, at, kind, text, data } = event;
  return (
    <li>
      <details>
        <summary>
          <ClockTime at={at} />
          <span class="kind">{kind.replaceAll("_", " ")}</span>
          <span class="row-text">{text}</span>
        </summary>
        <pre tabIndex={0} aria-label={`Event ${seq}`}>
          {`event ${seq}\n${JSON.stringify(data, null, 2)}`}
        </pre>
      </details>
    </li>
  );
}
