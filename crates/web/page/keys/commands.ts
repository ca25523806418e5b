// Every action of the page, for keys, the palette and the help.

import type { Scope, Session } from "../api/types.ts";
import { SESSION_TABS, sessionPath } from "../model/routes.ts";
import { SORT_WORDS, isLive, isResumable, nextOrder } from "../model/status.ts";
import { notify } from "../parts/toast.tsx";
import { fleet } from "../state/fleet.ts";
import { identity, may } from "../state/identity.ts";
import { markedSessions, toggleMark } from "../state/marks.ts";
import { currentRoute, go } from "../state/navigation.ts";
import { choose, preferences, switchAllFolds, switchFold } from "../state/preferences.ts";
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
  pressSelected,
  selectFleet,
  selectedFleet,
  selectedHas,
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

function hasLiveSession(): boolean {
  const session = currentSession();
  return session !== null && isLive(session);
}

const isWorking = () => currentSession()?.status === "working";

/** Returns the sessions that an action is for: those that are marked, or else the current one. */
function targets(): Session[] {
  const marked = currentRoute().view === "sessions" ? markedSessions() : [];
  if (marked.length > 0) return marked;
  const session = currentSession();
  return session ? [session] : [];
}

function withTargets(action: (sessions: Session[]) => void): () => void {
  return () => {
    const sessions = targets();
    if (sessions.length > 0) action(sessions);
  };
}

const hasDueSession = () => [...fleet.get().byId.values()].some((it) => it.comes_back);
const hasTargets = () => targets().length > 0;
const hasLiveTargets = () => targets().some(isLive);

const WORKTREE_WORDS = {
  salvage: "Salvage the selected worktree",
  remove: "Remove the folder of the selected worktree",
  restore: "Restore the selected worktree",
} as const;

function takeControl(session: Session): void {
  const route = currentRoute();
  const isThere = route.view === "session" && route.tab === "terminal";
  if (isThere) pressButton("take-control");
  else go(sessionPath(session.id, "terminal"));
}

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

function answer(which: "first" | "last" | null): () => void {
  return () => {
    const session = askingSession();
    if (!session?.dialog) return;
    const last = Math.max(0, session.dialog.choices.length - 1);
    const choice = which === null ? null : which === "first" ? 0 : last;
    openSheet({ kind: "answer", session, choice });
  };
}

/** Returns the current session if it asks a question, or else the most urgent one that asks. */
function askingSession(): Session | null {
  const current = currentSession();
  if (current) return current.dialog ? current : null;
  return fleet.get().attention.find((it) => it.session.dialog)?.session ?? null;
}

/** Asks for the approval of the selected gate, or of the one that waits longest. */
function approveGate(): void {
  if (selectedHas("approve-gate")) return pressSelected("approve-gate");
  const [gate] = fleet.get().gates;
  if (gate) openSheet({ kind: "approve", plan: gate.plan, task: gate.task });
}

const hasQuestion = () => askingSession() !== null;

function back(): void {
  const route = currentRoute();
  if (route.view === "session") go("/sessions");
  else if (route.view === "task") go("/tasks");
  else if (route.view === "plan") go("/plans");
  else if (route.view === "delivery") go("/deliveries");
  else if (route.view !== "needs-you") go("/");
}

const THEMES = ["system", "light", "dark"] as const;

function nextTheme(): void {
  const at = THEMES.indexOf(preferences.get().theme);
  choose({ theme: THEMES[(at + 1) % THEMES.length] ?? "system" });
}

const PLACES: PageCommand[] = [
  { key: "H", words: "Needs you", run: () => go("/") },
  { key: "l", words: "Sessions", run: () => go("/sessions") },
  { key: "t", words: "Tasks", run: () => go("/tasks") },
  { key: "P", words: "Plans", run: () => go("/plans") },
  { key: "w", words: "Worktrees", run: () => go("/worktrees") },
  { key: "V", words: "Deliveries", run: () => go("/deliveries") },
  { key: "U", words: "Usage and disk", run: () => go("/usage") },
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

const isAtSessions = () => currentRoute().view === "sessions";

function sortNext(): void {
  const order = nextOrder(preferences.get().order);
  choose({ order });
  notify(`Sorted ${SORT_WORDS[order]}`);
}

function foldSelected(): void {
  const name = selectedFleet();
  if (name === null) return;
  selectFleet(name);
  switchFold(name);
}

const LIST: PageCommand[] = [
  {
    key: "o",
    words: "Sort sessions by status, name or time",
    isPossible: isAtSessions,
    run: sortNext,
  },
  {
    key: "z",
    words: "Fold or unfold the fleet of the selected session",
    isPossible: () => isAtSessions() && selectedFleet() !== null,
    run: foldSelected,
  },
  {
    key: "Z",
    words: "Fold or unfold all fleets",
    isPossible: isAtSessions,
    run: () => switchAllFolds([...new Set([...fleet.get().byId.values()].map((it) => it.fleet))]),
  },
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
    run: answer("first"),
  },
  {
    key: "d",
    words: "Answer with the last choice, which denies",
    scope: "send",
    isPossible: hasQuestion,
    run: answer("last"),
  },
  {
    key: "p",
    words: "Approve the gate of a plan",
    scope: "work",
    isPossible: () => selectedHas("approve-gate") || fleet.get().gates.length > 0,
    run: approveGate,
  },
  {
    key: "e",
    words: "Take control of the terminal",
    scope: "send",
    isPossible: hasLiveSession,
    run: withSession(takeControl),
  },
  {
    key: "s",
    words: "Send a message",
    scope: "send",
    isPossible: hasTargets,
    run: withTargets((sessions) => openSheet({ kind: "send", sessions, isInterrupt: false })),
  },
  {
    key: "i",
    words: "Interrupt the turn",
    scope: "send",
    isPossible: isWorking,
    run: withSession((session) => openSheet({ kind: "interrupt", session })),
  },
  {
    key: "I",
    words: "Interrupt the turn with a message",
    scope: "send",
    isPossible: isWorking,
    run: withSession((session) =>
      openSheet({ kind: "send", sessions: [session], isInterrupt: true }),
    ),
  },
  {
    key: "x",
    words: "Stop now",
    scope: "work",
    isPossible: hasLiveTargets,
    run: withTargets((all) =>
      openSheet({ kind: "stop", sessions: all.filter(isLive), isLater: false }),
    ),
  },
  {
    key: "X",
    words: "Stop after this turn",
    scope: "work",
    isPossible: hasLiveTargets,
    run: withTargets((all) =>
      openSheet({ kind: "stop", sessions: all.filter(isLive), isLater: true }),
    ),
  },
  {
    key: "r",
    words: "Resume",
    scope: "work",
    isPossible: () => targets().some(isResumable),
    run: withTargets((all) =>
      openSheet({ kind: "resume", sessions: all.filter(isResumable) }),
    ),
  },
  {
    key: "R",
    words: "Resume all sessions",
    scope: "work",
    isPossible: hasDueSession,
    run: () => openSheet({ kind: "resume", sessions: null }),
  },
  {
    key: "h",
    words: "Hand over to another vendor",
    scope: "work",
    isPossible: hasSession,
    run: withSession((session) => openSheet({ kind: "handoff", session })),
  },
  {
    key: "F2",
    words: "Rename this session",
    scope: "work",
    isPossible: hasSession,
    run: withSession((session) => openSheet({ kind: "rename", session })),
  },
  {
    key: "+",
    words: "Change the number of agents of this kind",
    scope: "work",
    isPossible: () => Boolean(currentSession()?.agent),
    run: withSession((session) => openSheet({ kind: "scale", session })),
  },
  {
    key: " ",
    words: "Mark this session: s, x and r are for all marked ones",
    isPossible: () => selectedSession() !== null && currentRoute().view === "sessions",
    run: withSession((session) => toggleMark(session.id)),
    isOnlyKey: true,
  },
  {
    key: "c",
    words: "New session",
    scope: "work",
    run: () => openSheet({ kind: "new-session" }),
  },
  {
    key: "A",
    words: "Take in a conversation that was begun without Segue",
    scope: "admin",
    run: () => openSheet({ kind: "adopt" }),
  },
  { key: "T", words: "New task", scope: "work", run: () => openSheet({ kind: "new-task" }) },
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
  ...(["salvage", "remove", "restore"] as const).map(
    (verb): PageCommand => ({
      key: { salvage: "v", remove: "D", restore: "u" }[verb],
      words: WORKTREE_WORDS[verb],
      scope: "work",
      isPossible: () => selectedHas(`worktree-${verb}`),
      run: () => pressSelected(`worktree-${verb}`),
    }),
  ),
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
  { title: "List of sessions", commands: LIST },
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
