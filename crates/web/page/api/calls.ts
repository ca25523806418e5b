// One function for each request that the page sends.

import { FIRST_PATHS, PAGE_ITEMS } from "./first-answers.ts";
import { get, post, postWithoutLogin, remove } from "./http.ts";
import type { PlanVerb } from "../state/sheets.ts";
import { forgetPageKey, keepPageKey, pageKey } from "./page-key.ts";
import type {
  AdoptCandidate,
  AdoptReport,
  AgentKinds,
  AttentionList,
  CreatedShare,
  CreatedToken,
  Delivery,
  DeliveryContent,
  DiskReport,
  Finding,
  HandoffReport,
  HandoffRequest,
  Health,
  Identity,
  LogEvent,
  Message,
  Plan,
  PlanReport,
  PlanSummary,
  RestoreReport,
  RunRequest,
  ScaleReport,
  Scope,
  Screen,
  Selection,
  Session,
  Share,
  SourceList,
  StopReport,
  SweepReport,
  Task,
  TaskAddRequest,
  Token,
  TranscriptPage,
  UsageGrouping,
  UsageList,
  Vendor,
  WaitReport,
  WebLogin,
  Worktree,
  WorktreeAction,
  WorktreeDiff,
} from "./types.ts";

// Requests of this page name ids and whole addresses, which mean the same in every folder.
const ANY_FOLDER = "/";

const segment = encodeURIComponent;

/** Reads all pages of a list. */
async function allPages<T>(path: string, items: (page: unknown) => T[]): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | null = null;
  do {
    const separator = path.includes("?") ? "&" : "?";
    const after: string = cursor ? `&cursor=${segment(cursor)}` : "";
    const page: { next?: string | null } = await get(
      `${path}${separator}limit=${PAGE_ITEMS}${after}`,
    );
    all.push(...items(page));
    cursor = page.next ?? null;
  } while (cursor);
  return all;
}

// Login

/** Logs this browser in. The answer sets the cookie; this page keeps the other half. */
export async function login(code: string): Promise<void> {
  keepPageKey((await postWithoutLogin<WebLogin>("/v1/web/login", { code })).page_key);
}
/** Logs this browser out. */
export async function logout(): Promise<void> {
  const key = pageKey();
  await post<null>("/v1/web/logout");
  forgetPageKey(key);
}
export const identity = () => get<Identity>(FIRST_PATHS.identity);
export const health = () => get<Health>("/v1/health");

// Sessions

export const sessions = () =>
  allPages("/v1/sessions", (page) => (page as { sessions: Session[] }).sessions);
export const session = (id: string) => get<Session>(`/v1/sessions/${segment(id)}`);
export const screen = (id: string, signal?: AbortSignal) =>
  get<Screen>(`/v1/sessions/${segment(id)}/screen`, signal);

/** Returns the sessions that need a person, the most urgent first. */
export const attention = () => get<AttentionList>(FIRST_PATHS.attention);

/** Returns turns of the session, and of those from which handoffs led to it. */
export function transcript(id: string, before: string | null, limit: number) {
  const cursor = before ? `&before=${segment(before)}` : "";
  const path = `/v1/sessions/${segment(id)}/transcript`;
  return get<TranscriptPage>(`${path}?story=true&limit=${limit}${cursor}`);
}

export const messages = (id: string) =>
  allPages(
    `/v1/sessions/${segment(id)}/messages`,
    (page) => (page as { messages: Message[] }).messages,
  );
export const cancelMessage = (message: string) => post<Message>("/v1/cancel", { message });

export const run = (request: RunRequest) => post<Session>("/v1/run", request);

export const send = (id: string, text: string, interrupt: boolean) =>
  post<{ message: Message; note: string | null }>(`/v1/sessions/${segment(id)}/messages`, {
    text,
    interrupt,
    until: "recorded",
  });

export const answer = (session: string, given: string, question: string) =>
  post<{ answered: boolean }>("/v1/answer", {
    cwd: ANY_FOLDER,
    session,
    answer: given,
    question,
  });

export const stop = (addresses: string[]) =>
  post<StopReport>("/v1/stop", { cwd: ANY_FOLDER, selection: { named: addresses } });

/** Waits until the turn of a session has ended. */
export const waitUntilIdle = (session: string, signal: AbortSignal) =>
  post<WaitReport>("/v1/wait", { cwd: ANY_FOLDER, session, target: "idle" }, signal);

export const interrupt = (session: string) =>
  post<unknown>("/v1/interrupt", { cwd: ANY_FOLDER, session });
export const rename = (session: string, name: string) =>
  post<Session>("/v1/rename", { cwd: ANY_FOLDER, session, name });

/** Changes how many agents of a kind the project file of a folder has. */
export const scale = (cwd: string, fleet: string, agent: string, count: number) =>
  post<ScaleReport>("/v1/scale", { caller: { cwd }, agent, count, fleet });

const NO_ADOPTION = { vendor: null, id: null, name: null, all: false, since: null };

/** Lists the conversations that were begun without Segue. */
export const adoptable = () => post<AdoptReport>("/v1/adopt", NO_ADOPTION);
export const adopt = ({ vendor, vendor_session_id: id }: AdoptCandidate) =>
  post<AdoptReport>("/v1/adopt", { ...NO_ADOPTION, vendor, id });

export const resumePlan = (selection: Selection, stopped: boolean) =>
  post<PlanReport>("/v1/resume", { plan: true, selection, fresh: [], stopped });
export const resume = (selection: Selection, stopped: boolean) =>
  post<RestoreReport>("/v1/resume", { plan: false, selection, fresh: [], stopped });

export const handoff = (request: HandoffRequest) => post<HandoffReport>("/v1/handoff", request);

// Events

export async function newestEvents(session: string | null, limit: number): Promise<LogEvent[]> {
  const filter = session ? `&sessions=${segment(session)}` : "";
  return get<LogEvent[]>(`/v1/events?newest=true&limit=${limit}${filter}`);
}

// Tasks

export const tasks = () => allPages("/v1/tasks", (page) => (page as { tasks: Task[] }).tasks);
export const task = async (id: string) =>
  (await get<{ task: Task }>(`/v1/tasks/${segment(id)}`)).task;
export const addTask = async (request: TaskAddRequest) =>
  (await post<{ task: Task }>("/v1/tasks", request)).task;
export const cancelTask = (id: string) => post<{ task: Task }>(`/v1/tasks/${segment(id)}/cancel`);
export const retryTask = (id: string) =>
  post<{ task: Task }>(`/v1/tasks/${segment(id)}/retry`, {});
export const setPriority = (id: string, priority: number) =>
  post<unknown>(`/v1/tasks/${segment(id)}/priority`, { priority });

/** Lists the agents of the project file around a folder. */
export const agentKinds = (folder: string) => post<AgentKinds>("/v1/agents", { folder });

// Plans

export async function plans(): Promise<PlanSummary[]> {
  return (await post<{ plans: PlanSummary[] }>("/v1/plans/list", { all: true })).plans;
}
export const plan = (id: string) => post<Plan>("/v1/plans/show", { plan: id, folder: null });
export const controlPlan = (verb: PlanVerb, id: string) =>
  post<Plan>(`/v1/plans/${verb}`, { plan: id, folder: null });
export const approveGate = (id: string, task: string) =>
  post<Plan>("/v1/plans/approve", { plan: id, folder: null, task });
export const retryPlanTask = (id: string, task: string) =>
  post<Plan>("/v1/plans/retry", { plan: id, folder: null, task });

// Worktrees

export const worktrees = () =>
  allPages("/v1/worktrees", (page) => (page as { worktrees: Worktree[] }).worktrees);
export const worktreeDiff = (id: string) =>
  get<WorktreeDiff>(`/v1/worktrees/${segment(id)}/diff`);
export const salvage = (path: string) => worktreeAction("salvage", path);
export const restoreWorktree = (path: string) => worktreeAction("restore", path);
export const removeWorktree = (path: string) => worktreeAction("remove", path);

function worktreeAction(action: string, path: string): Promise<WorktreeAction> {
  return post<WorktreeAction>(`/v1/worktrees/${action}`, { cwd: ANY_FOLDER, name: path });
}

// Deliveries and sources

export async function deliveries(): Promise<Delivery[]> {
  const limit = { limit: PAGE_ITEMS };
  return (await post<{ deliveries: Delivery[] }>("/v1/deliveries", limit)).deliveries;
}
export const delivery = (id: string) =>
  post<DeliveryContent>("/v1/deliveries/show", { delivery: id });
export const replayDelivery = (id: string) =>
  post<Delivery>("/v1/deliveries/replay", { delivery: id });
export const sources = () => get<SourceList>("/v1/sources");

// Usage and disk

export const usage = (by: UsageGrouping) => get<UsageList>(`/v1/usage?by=${by}`);
export const disk = () => get<DiskReport>("/v1/disk");
export const sweep = (isDryRun: boolean) =>
  post<SweepReport>("/v1/sweep", { dry_run: isDryRun });

// Settings

/** Returns the vendors that this machine can start, and those that it could. */
export async function vendors(): Promise<Vendor[]> {
  return (await get<{ vendors: Vendor[] }>("/v1/vendors")).vendors;
}

export async function findings(): Promise<Finding[]> {
  return (await get<{ findings: Finding[] }>("/v1/findings")).findings;
}
export async function tokens(): Promise<Token[]> {
  return (await get<{ tokens: Token[] }>("/v1/tokens")).tokens;
}
export const createToken = (name: string, scopes: Scope[], expires_at: string | null) =>
  post<CreatedToken>("/v1/tokens", { name, scopes, expires_at });
export const revokeToken = (name: string) => post<Token>("/v1/tokens/revoke", { name });
export async function shares(): Promise<Share[]> {
  return (await get<{ shares: Share[] }>("/v1/shares")).shares;
}
export const createShare = (session: string, seconds: number) =>
  post<CreatedShare>("/v1/shares", { session, expires_in_seconds: seconds });
export const revokeShare = (id: string) => remove<null>(`/v1/shares/${segment(id)}`);
