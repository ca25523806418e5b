import type { Session } from "../../api/types.ts";
import { count, shortPath } from "../../model/format.ts";
import { SESSION_TABS, type SessionTab, sessionPath } from "../../model/routes.ts";
import { isLive, isResumable } from "../../model/status.ts";
import { tokensOf } from "../../model/usage.ts";
import { Icon } from "../../parts/icon.tsx";
import { StatusLine } from "../../parts/status.tsx";
import { Ago } from "../../parts/since.tsx";
import { useMay, useSharedSession } from "../../state/identity.ts";
import { cancelStop, useStopsLater } from "../../state/later.ts";
import { openSheet } from "../../state/sheets.ts";

const TAB_NAMES: Record<SessionTab, string> = {
  terminal: "Terminal",
  talk: "Conversation",
  review: "Review",
  messages: "Messages",
  log: "Log",
};

export function SessionHeader({ session }: { session: Session }) {
  return (
    <header class="session-head">
      <div class="session-title">
        <h1>
          <span class="dim">{session.fleet}/</span>
          {session.name}
        </h1>
        <StatusLine session={session} />
        <StopsLater session={session} />
        <span class="dim">
          <Ago at={session.updated_at} />
        </span>
      </div>
      <SessionFacts session={session} />
      <SessionActions session={session} />
    </header>
  );
}

/** The session ends with its turn, unless the person changes their mind. */
function StopsLater({ session }: { session: Session }) {
  if (!useStopsLater(session.id)) return null;
  return (
    <span class="pill is-accent" role="status">
      stops after this turn
      <button class="button quiet small" onClick={() => cancelStop(session.id)}>
        Cancel
      </button>
    </span>
  );
}

function SessionFacts({ session }: { session: Session }) {
  return (
    <ul class="session-facts">
      <li>{session.vendor}</li>
      {session.branch && (
        <li>
          <Icon name="branch" size={14} /> <code>{session.branch}</code>
        </li>
      )}
      <li title={session.cwd}>
        <code>{shortPath(session.cwd)}</code>
      </li>
      {session.usage && <li>{count(tokensOf(session.usage))} tokens</li>}
      {session.queued_messages > 0 && <li>✉ {session.queued_messages} queued</li>}
    </ul>
  );
}

function SessionActions({ session }: { session: Session }) {
  const maySend = useMay("send");
  const mayWork = useMay("work");
  const mayShare = useMay("admin");
  const isShared = useSharedSession() !== null;
  if (isShared) return <p class="pill">read-only link</p>;
  return (
    <div class="session-actions">
      {maySend && (
        <button
          class="button"
          onClick={() => openSheet({ kind: "send", sessions: [session], isInterrupt: false })}
        >
          <Icon name="send" size={16} /> Send
        </button>
      )}
      {maySend && session.status === "working" && (
        <button class="button" onClick={() => openSheet({ kind: "interrupt", session })}>
          <Icon name="stop" size={16} /> Interrupt
        </button>
      )}
      {mayWork && isLive(session) && (
        <button class="button" onClick={() => openSheet({ kind: "stop", sessions: [session], isLater: false })}>
          <Icon name="close" size={16} /> Stop
        </button>
      )}
      {mayWork && isResumable(session) && (
        <button class="button" onClick={() => openSheet({ kind: "resume", sessions: [session] })}>
          <Icon name="play" size={16} /> Resume
        </button>
      )}
      {mayWork && !session.goes_on_as && (
        <button class="button" onClick={() => openSheet({ kind: "handoff", session })}>
          <Icon name="swap" size={16} /> Hand over
        </button>
      )}
      {mayShare && (
        <button class="button" onClick={() => openSheet({ kind: "share", session })}>
          <Icon name="share" size={16} /> Share
        </button>
      )}
      {mayWork && (
        <button class="button" onClick={() => openSheet({ kind: "rename", session })}>
          <Icon name="pencil" size={16} /> Rename
        </button>
      )}
      {mayWork && session.agent && (
        <button class="button" onClick={() => openSheet({ kind: "scale", session })}>
          <Icon name="plus" size={16} /> Scale
        </button>
      )}
    </div>
  );
}

export function SessionTabs({ session, tab }: { session: Session; tab: SessionTab }) {
  return (
    <nav class="tabs" aria-label="Parts of the session">
      {SESSION_TABS.map((it, index) => (
        <a
          key={it}
          href={sessionPath(session.id, it)}
          aria-current={it === tab ? "page" : undefined}
        >
          {TAB_NAMES[it]}
          <kbd>{index + 1}</kbd>
        </a>
      ))}
    </nav>
  );
}
