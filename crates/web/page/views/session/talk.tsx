// The conversation of a session as a chat, with the conversations from which handoffs led to it.
// Pages are loaded backwards from its end.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import * as calls from "../../api/calls.ts";
import { ApiError, messageOf } from "../../api/http.ts";
import type { Session } from "../../api/types.ts";
import {
  type ChatItem,
  type Story,
  type StorySection,
  chatItems,
  itemContains,
  withNewest,
  withOlder,
} from "../../model/conversation.ts";
import { plural } from "../../model/format.ts";
import { sessionPath } from "../../model/routes.ts";
import { Icon } from "../../parts/icon.tsx";
import { ClockTime } from "../../parts/since.tsx";
import { Empty, Failure, Skeleton } from "../../parts/states.tsx";
import { attempt } from "../../parts/toast.tsx";
import { useSelected } from "../../state/cell.ts";
import { fleet } from "../../state/fleet.ts";
import { useMay } from "../../state/identity.ts";
import { openSheet } from "../../state/sheets.ts";
import { watchTopic } from "../../state/topics.ts";
import { ChatEntry } from "./chat-entry.tsx";
import { Composer } from "./composer.tsx";

const PAGE_TURNS = 60;
// A shorter conversation is shown together with the one before it.
const ENOUGH_TURNS = 20;

interface LoadedStory {
  story: Story;
  error: ApiError | null;
  isReady: boolean;
}

function useStory(session: Session) {
  const [state, setState] = useState<LoadedStory>({
    story: { sections: [], before: null },
    error: null,
    isReady: false,
  });
  const isLoadingOlder = useRef(false);
  const loadNewest = async () => {
    try {
      const page = await calls.transcript(session.id, null, PAGE_TURNS);
      setState(({ story }) => ({ story: withNewest(story, page), error: null, isReady: true }));
    } catch (error) {
      const known = error instanceof ApiError ? error : new ApiError(0, messageOf(error));
      setState((old) => ({ ...old, error: known, isReady: true }));
    }
  };
  const { before, sections } = state.story;
  const loadOlder = async () => {
    if (!before || isLoadingOlder.current) return;
    isLoadingOlder.current = true;
    await attempt(async () => {
      const page = await calls.transcript(session.id, before, PAGE_TURNS);
      // The newest page may have begun anew meanwhile.
      setState((old) =>
        old.story.before === before ? { ...old, story: withOlder(old.story, page) } : old,
      );
    });
    isLoadingOlder.current = false;
  };
  useEffect(() => {
    void loadNewest();
    return watchTopic(`session:${session.id}`, () => void loadNewest());
  }, [session.id]);
  const turns = sections.reduce((sum, section) => sum + section.turns.length, 0);
  useEffect(() => {
    if (before && turns < ENOUGH_TURNS) void loadOlder();
  }, [before]);
  return { ...state, reload: () => void loadNewest(), loadOlder };
}

interface ShownSection {
  section: StorySection;
  items: ChatItem[];
}

export function TalkTab({ session }: { session: Session }) {
  const { story, error, isReady, reload, loadOlder } = useStory(session);
  const { sections, before } = story;
  const [search, setSearch] = useState("");
  const end = useRef<HTMLDivElement>(null);
  const all: ShownSection[] = useMemo(
    () =>
      sections.map((section) => ({
        section,
        items: chatItems(section.turns, section.part.number),
      })),
    [sections],
  );
  const items = all.flatMap((it) => it.items);
  const isFound = (item: ChatItem) => !search || itemContains(item, search);
  const newest = items.at(-1)?.key;
  useScroll(newest, end);
  const linked = useLinkedTurn(items, before !== null, loadOlder);

  if (!isReady) return <Skeleton lines={6} label="Loading the conversation" />;
  if (error && items.length === 0) return <Failure error={error} retry={reload} />;
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
        {search && <span class="dim small-text">{items.filter(isFound).length} found</span>}
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
      {items.length === 0 && all.length < 2 ? (
        <Empty icon="send" title="Nothing was said yet">
          <p>Send the first message below.</p>
        </Empty>
      ) : (
        all.map((shown) => (
          <SectionView
            key={shown.section.part.number}
            section={shown.section}
            items={shown.items.filter(isFound)}
            session={session}
            linked={linked}
            isAlone={all.length === 1 && !before}
          />
        ))
      )}
      <StoryEnd session={session} />
      <Composer session={session} />
      <div ref={end} />
    </section>
  );
}

/** The turns of one conversation. If there are several, a line above them names the session. */
function SectionView(props: {
  section: StorySection;
  items: ChatItem[];
  session: Session;
  /** The key of the turn that the address bar names. */
  linked: string;
  isAlone: boolean;
}) {
  const { section, items, session } = props;
  const { part, vendor } = section;
  const speaker = part.address.split("/").at(-1) || session.name;
  return (
    <section class="story-part" aria-label={`Conversation of ${part.address || session.address}`}>
      {!props.isAlone && <SectionHead section={section} session={session} />}
      {part.unreadable && (
        <p class="banner">
          <span class="tone-failed">✕</span> {part.unreadable}
        </p>
      )}
      {items.length === 0 && !part.unreadable && !props.isAlone && (
        <p class="dim story-empty">
          {section.turns.length > 0
            ? `${plural(section.turns.length, "turn")}, none of them found`
            : `Nothing was said to ${vendor} yet.`}
        </p>
      )}
      <ol class="chat">
        {items.map((item) => (
          <ChatEntry
            key={item.key}
            item={item}
            session={session}
            speaker={speaker}
            isLinked={item.key === props.linked}
          />
        ))}
      </ol>
    </section>
  );
}

function SectionHead({ section, session }: { section: StorySection; session: Session }) {
  const { part, vendor } = section;
  const { taken_over: taken } = part;
  const isHere = section.session === session.id;
  return (
    <h2 class="separator">
      <span>
        {taken && <Icon name="swap" size={14} />}
        {taken ? "handed over to " : "began as "}
        {isHere ? (
          <strong>{part.address}</strong>
        ) : (
          <a href={sessionPath(section.session, "talk")}>{part.address}</a>
        )}{" "}
        ({vendor}
        {taken && `, ${taken.mode}`}){taken && " "}
        {taken && <ClockTime at={taken.at} />}
      </span>
    </h2>
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

/** Loads earlier turns until the turn of the address bar is there. Returns the key of that turn. */
function useLinkedTurn(
  items: ChatItem[],
  hasOlder: boolean,
  loadOlder: () => Promise<void>,
): string {
  const [linked, setLinked] = useState(location.hash.slice(1));
  const wanted = useRef(linked);
  useEffect(() => {
    const change = () => setLinked(location.hash.slice(1));
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  useEffect(() => {
    if (!wanted.current || items.length === 0) return;
    if (!items.some((item) => item.key === wanted.current)) {
      if (hasOlder) void loadOlder();
      return;
    }
    document.getElementById(wanted.current)?.scrollIntoView({ block: "center" });
    wanted.current = "";
  }, [items.length]);
  return linked;
}

function StoryEnd({ session }: { session: Session }) {
  const mayWork = useMay("work");
  const next = useSelected(fleet, ({ byId }) =>
    [...byId.values()].find((it) => it.address === session.goes_on_as),
  );
  if (session.goes_on_as) {
    return (
      <p class="separator">
        <span>
          <Icon name="swap" size={14} /> handed over: goes on as{" "}
          {next ? <a href={sessionPath(next.id, "talk")}>{next.address}</a> : session.goes_on_as}
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
