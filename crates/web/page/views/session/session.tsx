import type { SessionTab } from "../../model/routes.ts";
import { QuestionCard } from "../../parts/question-card.tsx";
import { Empty, Failure, Skeleton } from "../../parts/states.tsx";
import { useSelected } from "../../state/cell.ts";
import { fleet, loadFleet } from "../../state/fleet.ts";
import { SessionHeader, SessionTabs } from "./header.tsx";
import { LogTab } from "./log.tsx";
import { MessagesTab } from "./messages.tsx";
import { ReviewTab } from "./review.tsx";
import { TalkTab } from "./talk.tsx";
import { TerminalTab } from "./terminal.tsx";

const TABS = {
  terminal: TerminalTab,
  talk: TalkTab,
  review: ReviewTab,
  messages: MessagesTab,
  log: LogTab,
} as const;

export function SessionView({ id, tab }: { id: string; tab: SessionTab }) {
  const session = useSelected(fleet, (it) => it.byId.get(id));
  const isLoaded = useSelected(fleet, (it) => it.isLoaded);
  const error = useSelected(fleet, (it) => it.error);
  if (!session) {
    if (error && !isLoaded) return <Failure error={error} retry={() => void loadFleet()} />;
    if (!isLoaded) return <Skeleton lines={6} />;
    return (
      <Empty icon="search" title="There is no such session">
        <p>It was removed, or the link is wrong.</p>
        <a class="button" href="/sessions">
          All sessions
        </a>
      </Empty>
    );
  }
  const Tab = TABS[tab];
  return (
    <article class="session" data-tab={tab}>
      <SessionHeader session={session} />
      {session.dialog && <QuestionCard session={session} isInside />}
      <SessionTabs session={session} tab={tab} />
      <Tab key={session.id} session={session} />
    </article>
  );
}
