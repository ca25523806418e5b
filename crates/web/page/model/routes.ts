// The places of the page, and their paths.

export const SESSION_TABS = ["terminal", "talk", "review", "messages", "log"] as const;
export type SessionTab = (typeof SESSION_TABS)[number];

export type Route =
  | { view: "needs-you" }
  | { view: "sessions" }
  | { view: "session"; id: string; tab: SessionTab }
  | { view: "tasks" }
  | { view: "task"; id: string }
  | { view: "plans" }
  | { view: "plan"; id: string }
  | { view: "deliveries" }
  | { view: "delivery"; id: string }
  | { view: "usage" }
  | { view: "worktrees" }
  | { view: "settings" }
  | { view: "login" }
  | { view: "unknown"; path: string };

const SIMPLE: Record<string, Route> = {
  "": { view: "needs-you" },
  sessions: { view: "sessions" },
  tasks: { view: "tasks" },
  plans: { view: "plans" },
  deliveries: { view: "deliveries" },
  usage: { view: "usage" },
  worktrees: { view: "worktrees" },
  settings: { view: "settings" },
  login: { view: "login" },
  share: { view: "login" },
};

export function parsePath(path: string): Route {
  const unknown: Route = { view: "unknown", path };
  let parts: string[];
  try {
    parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return unknown;
  }
  const [first = "", id, tab, ...rest] = parts;
  if (rest.length > 0) return unknown;
  if (id === undefined) return SIMPLE[first] ?? unknown;
  if (first === "sessions") return sessionRoute(id, tab) ?? unknown;
  if (tab !== undefined) return unknown;
  if (first === "tasks") return { view: "task", id };
  if (first === "plans") return { view: "plan", id };
  if (first === "deliveries") return { view: "delivery", id };
  return unknown;
}

function sessionRoute(id: string, tab: string | undefined): Route | null {
  if (tab === undefined) return { view: "session", id, tab: "terminal" };
  const known = SESSION_TABS.find((it) => it === tab);
  return known ? { view: "session", id, tab: known } : null;
}

export function sessionPath(id: string, tab: SessionTab = "terminal"): string {
  return `/sessions/${encodeURIComponent(id)}/${tab}`;
}

export function taskPath(id: string): string {
  return `/tasks/${encodeURIComponent(id)}`;
}

export function planPath(id: string): string {
  return `/plans/${encodeURIComponent(id)}`;
}

export function deliveryPath(id: string): string {
  return `/deliveries/${encodeURIComponent(id)}`;
}
