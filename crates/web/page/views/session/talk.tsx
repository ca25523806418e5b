// The conversation of a session as a chat. Pages are loaded backwards from its end.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import * as calls from "../../api/calls.ts";
import { ApiError, messageOf } from "../../api/http.ts";
import type { Session, Turn } from "../../api/types.ts";
import { type ChatItem, chatItems, itemContains, joinNewest } from "../../model/conversation.ts";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Failure, Skeleton } from "../../parts/states.tsx";
import { useMay } from "../../state/identity.ts";
import { openSheet } from "../../state/sheets.ts";
import { watchTopic } from "../../state/topics.ts";
import { ChatEntry } from "./chat-entry.tsx";
import { Composer } from "./composer.tsx";

const PAGE_TURNS = 60;

interface Loaded {
  turns: Turn[];
  /** The cursor of the page before. `null` at the beginning of the conversation. */
  before: string | null;
  error: ApiError | null;
  isReady: boolean;
}

function useTranscript(session: Session) {
  const [state, setState] = useState<Loaded>({
    turns: [],
    before: null,
    error: null,
    isReady: false,
  });
  const loadNewest = async () => {
    try {
      const page = await calls.transcript(session.id, null, PAGE_TURNS);
      setState((old) => {
        const joined = joinNewest(old.turns, page.turns);
        const before = joined ? old.before : (page.next ?? null);
        return { turns: joined ?? page.turns, before, error: null, isReady: true };
      });
    } catch (error) {
      const known = error instanceof ApiError ? error : new ApiError(0, messageOf(error));
      setState((old) => ({ ...old, error: known, isReady: true }));
    }
  };
  const loadOlder = async () => {
    if (!state.before) return;
    const page = await calls.transcript(session.id, state.before, PAGE_TURNS);
    setState((old) => ({
      ...old,
      turns: [...page.turns, ...old.turns],
      before: page.next ?? null,
    }));
  };
  useEffect(() => {
    void loadNewest();
    return watchTopic(`session:${session.id}`, () => void loadNewest());
  }, [session.id]);
  return { ...state, reload: () => void loadNewest(), loadOlder };
}

export function TalkTab({ session }: { session: Session }) {
  const { turns, before, error, isReady, reload, loadOlder } = useTranscript(session);
  const [search, setSearch] = useState("");
  const end = useRef<HTMLDivElement>(null);
  const items = useMemo(() => chatItems(turns), [turns]);
  const shown = search ? items.filter((item) => itemContains(item, search)) : items;
  const newest = items.at(-1)?.key;
  useScroll(newest, end);
  useLinkedTurn(items, before !== null, loadOlder);

  if (!isReady) return <Skeleton lines={6} label="Loading the conversation" />;
  if (error && turns.length === 0) return <Failure error={error} retry={reload} />;
  return (
    <section class="talk" aria-label="Conversation">
      <div class="talk-bar" role="search">
        <Icon name="search" size={16} />
        <input
          type="search"
          placeholder="Search in these turns"
          aria-label="Search in the conversation"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        {search && <span class="dim small-text">{shown.length} found</span>}
        <button
          class="button quiet small"
          onClick={() => end.current?.scrollIntoView({ block: "end" })}
        >
          Newest
        </button>
      </div>
      {before && (
        <button class="button older" onClick={() => void loadOlder()}>
          Load earlier turns
        </button>
      )}
      {items.length === 0 ? (
        <Empty icon="send" title="Nothing was said yet">
          <p>Send the first message below.</p>
        </Empty>
      ) : (
        <ol class="chat">
          {shown.map((item) => (
            <ChatEntry key={item.key} item={item} session={session} />
          ))}
        </ol>
      )}
      <StoryEnd session={session} />
      <Composer session={session} />
      <div ref={end} />
    </section>
  );
}

/** Scrolls to the turn of the address bar, or to the newest turn when a turn arrives. */
function useScroll(newest: ChatItem["key"] | undefined, end: { current: HTMLElement | null }) {
  const hasScrolled = useRef(false);
  useEffect(() => {
    if (!newest) return;
    const wanted = location.hash ? document.getElementById(location.hash.slice(1)) : null;
    if (wanted && !hasScrolled.current) wanted.scrollIntoView({ block: "center" });
    else {
      const fromEnd = document.documentElement.scrollHeight - innerHeight - scrollY;
      if (!hasScrolled.current || fromEnd < 400) end.current?.scrollIntoView({ block: "end" });
    }
    hasScrolled.current = true;
  }, [newest]);
}

/** Loads earlier turns until the turn of the address bar is there. */
function useLinkedTurn(items: ChatItem[], hasOlder: boolean, loadOlder: () => Promise<void>) {
  const wanted = useRef(location.hash.slice(1));
  useEffect(() => {
    if (!wanted.current || items.length === 0) return;
    if (!items.some((item) => item.key === wanted.current)) {
      if (hasOlder) void loadOlder();
      return;
    }
    document.getElementById(wanted.current)?.scrollIntoView({ block: "center" });
    wanted.current = "";
  }, [items]);
}

function StoryEnd({ session }: { session: Session }) {
  const mayWork = useMay("work");
  if (session.goes_on_as) {
    return (
      <p class="separator">
        <span>
          <Icon name="swap" size={14} /> handed over: goes on as {session.goes_on_as}
        </span>
      </p>
    );
  }
  if (!mayWork) return null;
  return (
    <p class="talk-end">
      <button class="button quiet small" onClick={() => openSheet({ kind: "handoff", session })}>
        <Icon name="swap" size={14} /> Hand over from here
      </button>
    </p>
  );
}
