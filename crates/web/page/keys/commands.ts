// Every action of the page, for keys, the palette and the help.

import type { Scope, Session } from "../api/types.ts";
import { SESSION_TABS, sessionPath } from "../model/routes.ts";
import { isLive, isResumable } from "../model/status.ts";
import { fleet } from "../state/fleet.ts";
import { identity, may } from "../state/identity.ts";
import { currentRoute, go } from "../state/navigation.ts";
import { choose, preferences } from "../state/preferences.ts";
import { openSheet } from "../state/sheets.ts";
import {
  commentOnLine,
  focusFilter,
  hasFiles,
  hasQueuedTask,
  moveSelection,
  moveTask,
  moveToFile,
  pressButton,
  selectedSession,
} from "./selection.ts";

export interface PageCommand {
  /** The key, as `KeyboardEvent.key` reports it. Empty if the action has none. */
  key: string;
  words: string;
  scope?: Scope;
  /** Whether the action is possible now. */
  isPossible?: () => boolean;
  run: () => void;
  /** Whether the palette leaves it out. */
  isOnlyKey?: boolean;
}

/** Returns the session of the place, or the selected one. */
export function currentSession(): Session | null {
  const route = currentRoute();
  const id = route.view === "session" ? route.id : selectedSession();
  return (id && fleet.get().byId.get(id)) || null;
}

function withSession(action: (session: Session) => void): () => void {
  return () => {
    const session = currentSession();
    if (session) action(session);
  };
}

const hasSession = () => currentSession() !== null;

/** Goes to the next or the previous session that needs a person. */
function goToAttention(step: 1 | -1): void {
  const { attention } = fleet.get();
  if (attention.length === 0) {
    go("/");
    return;
  }
  const at = attention.findIndex((it) => it.session.id === currentSession()?.id);
  const next = at < 0 ? 0 : (at + step + attention.length) % attention.length;
  const session = attention[next]?.session;
  if (session) go(sessionPath(session.id, "terminal"));
}

function answer(choice: number | null): () => void {
  return () => {
    const session = askingSession();
    if (session) openSheet({ kind: "answer", session, choice });
  };
}

/** Returns the current session if it asks a question, or else the most urgent one that asks. */
function askingSession(): Session | null {
  const current = currentSession();
  if (current) return current.dialog ? current : null;
  return fleet.get().attention.find((it) => it.session.dialog)?.session ?? null;
}

const hasQuestion = () => askingSession() !== null;

function back(): void {
  const route = currentRoute();
  if (route.view === "session") go("/sessions");
  else if (route.view === "task") go("/tasks");
  else if (route.view === "delivery") go("/deliveries");
  else if (route.view !== "needs-you") go("/");
}

const THEMES = ["system", "light", "dark"] as const;

function nextTheme(): void {
  const at = THEMES.indexOf(preferences.get().theme);
  choose({ theme: THEMES[(at + 1) % THEMES.length] ?? "system" });
}

const PLACES: PageCommand[] = [
  { key: "i", words: "Needs you", run: () => go("/") },
  { key: "l", words: "Sessions", run: () => go("/sessions") },
  { key: "t", words: "Tasks", run: () => go("/tasks") },
  { key: "d", words: "Deliveries", run: () => go("/deliveries") },
  { key: "u", words: "Usage and disk", run: () => go("/usage") },
  { key: "w", words: "Worktrees", run: () => go("/worktrees") },
  { key: ",", words: "Settings", run: () => go("/settings") },
  { key: "q", words: "Back", run: back },
];

const TAB_WORDS = ["Terminal", "Conversation", "Review", "Messages", "Log"];

const TABS: PageCommand[] = SESSION_TABS.map((tab, index) => ({
  key: String(index + 1),
  words: `${TAB_WORDS[index]} of this session`,
  isPossible: () => currentRoute().view === "session",
  run: withSession((session) => go(sessionPath(session.id, tab))),
}));

const MOVES: PageCommand[] = [
  { key: "j", words: "Next item", run: () => moveSelection("next"), isOnlyKey: true },
  { key: "k", words: "Previous item", run: () => moveSelection("previous"), isOnlyKey: true },
  { key: "g", words: "First item", run: () => moveSelection("first"), isOnlyKey: true },
  { key: "G", words: "Last item", run: () => moveSelection("last"), isOnlyKey: true },
  { key: "/", words: "Filter or search", run: focusFilter },
  { key: "n", words: "Next session that needs you", run: () => goToAttention(1) },
  { key: "N", words: "Previous session that needs you", run: () => goToAttention(-1) },
];

const REVIEW: PageCommand[] = [
  { key: "]", words: "Next file", isPossible: hasFiles, run: () => moveToFile(1) },
  { key: "[", words: "Previous file", isPossible: hasFiles, run: () => moveToFile(-1) },
  {
    key: "m",
    words: "Comment on the selected line",
    scope: "send",
    isPossible: hasFiles,
    run: commentOnLine,
  },
  {
    key: "M",
    words: "Send the review",
    scope: "send",
    isPossible: hasFiles,
    run: () => pressButton("send-review"),
  },
];

const ACTIONS: PageCommand[] = [
  {
    key: "a",
    words: "Answer the question",
    scope: "send",
    isPossible: hasQuestion,
    run: answer(null),
  },
  {
    key: "y",
    words: "Answer with the first choice",
    scope: "send",
    isPossible: hasQuestion,
    run: answer(0),
  },
  {
    key: "s",
    words: "Send a message",
    scope: "send",
    isPossible: hasSession,
    run: withSession((session) => openSheet({ kind: "send", session, isInterrupt: false })),
  },
  {
    key: "I",
    words: "Interrupt the turn and send",
    scope: "send",
    isPossible: () => currentSession()?.status === "working",
    run: withSession((session) => openSheet({ kind: "send", session, isInterrupt: true })),
  },
  {
    key: "h",
    words: "Hand over to another vendor",
    scope: "work",
    isPossible: hasSession,
    run: withSession((session) => openSheet({ kind: "handoff", session })),
  },
  {
    key: "r",
    words: "Resume this session",
    scope: "work",
    isPossible: () => {
      const session = currentSession();
      return session !== null && isResumable(session);
    },
    run: withSession((session) => openSheet({ kind: "resume", session })),
  },
  {
    key: "R",
    words: "Resume all sessions",
    scope: "work",
    run: () => openSheet({ kind: "resume", session: null }),
  },
  {
    key: "x",
    words: "Stop this session",
    scope: "work",
    isPossible: () => {
      const session = currentSession();
      return session !== null && isLive(session);
    },
    run: withSession((session) => openSheet({ kind: "stop", session })),
  },
  {
    key: "c",
    words: "New session",
    scope: "work",
    run: () => openSheet({ kind: "new-session" }),
  },
  {
    key: "K",
    words: "Start this task earlier",
    scope: "work",
    isPossible: hasQueuedTask,
    run: () => moveTask("up"),
  },
  {
    key: "J",
    words: "Start this task later",
    scope: "work",
    isPossible: hasQueuedTask,
    run: () => moveTask("down"),
  },
  { key: "T", words: "New task", scope: "work", run: () => openSheet({ kind: "new-task" }) },
  {
    key: "",
    words: "Share this session",
    scope: "admin",
    isPossible: hasSession,
    run: withSession((session) => openSheet({ kind: "share", session })),
  },
  { key: "", words: "Next theme: system, light, dark", run: nextTheme },
];

const HELP: PageCommand[] = [
  {
    key: ":",
    words: "All actions (also Ctrl-P)",
    run: () => openSheet({ kind: "palette" }),
    isOnlyKey: true,
  },
  { key: "?", words: "Keys", run: () => openSheet({ kind: "keys" }) },
];

export const COMMAND_GROUPS: readonly { title: string; commands: PageCommand[] }[] = [
  { title: "Places", commands: PLACES },
  { title: "Session", commands: TABS },
  { title: "Move", commands: MOVES },
  { title: "Review", commands: REVIEW },
  { title: "Actions", commands: ACTIONS },
  { title: "Help", commands: HELP },
];

export function isAllowed(command: PageCommand): boolean {
  const hasScope = !command.scope || may(identity.get(), command.scope);
  return hasScope && (command.isPossible?.() ?? true);
}

export function allCommands(): PageCommand[] {
  return COMMAND_GROUPS.flatMap((group) => group.commands);
}
