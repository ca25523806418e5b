// A fleet as a person could have it, for looking at the page without a daemon.

const now = Date.now();
export const ago = (minutes) => new Date(now - minutes * 60_000).toISOString();
const id = (number) => `0198a000-0000-7000-8000-${String(number).padStart(12, "0")}`;

function session(number, fleet, name, vendor, status, minutes, more = {}) {
  const cwd = more.worktree ?? `/home/ada/src/${fleet}`;
  const isLive = ["waiting", "working", "idle", "starting"].includes(status);
  return {
    id: id(number), session: id(number), fleet, name, address: `${fleet}/${name}`, agent: name,
    vendor, vendor_session_id: `c0ffee00-${number}`, evidence: "preset", status,
    waiting_for: null, status_detail: null, open_in: null, goes_on_as: null, dialog: null,
    missing_variables: [], cwd, headless: false, pid: isLive ? 4000 + number : null,
    holder_pid: isLive ? 3000 + number : null, launches: 1, queued_messages: 0,
    created_at: ago(minutes + 400), updated_at: ago(minutes), worktree: null, branch: null,
    usage: { input: 180_000 * number, cached: 90_000 * number, output: 9_000 * number, cost_usd: null },
    task: null, ...more,
  };
}

const question = (number, kind, text, choices) => ({
  id: `7aad1b8${number}`, kind, question: text, choices, answer: "segue answer …",
});

export const sessions = [
  session(1, "shop", "coder", "claude", "waiting", 4, {
    waiting_for: "permission", status_detail: "permission", branch: "feat/login",
    worktree: "/home/ada/.segue/worktrees/shop/feat-login",
    dialog: question(1, "permission", "Bash command\n\nnpm test -- --watch=false --reporter=dot\nRun the unit tests of the checkout\n\nDo you want to proceed?",
      ["Yes", "Yes, and don't ask again for npm test commands", "No, and tell Claude what to do differently"]),
  }),
  session(2, "shop", "writer", "gemini", "waiting", 12, {
    waiting_for: "question", status_detail: "question",
    dialog: question(2, "question", "Which licence shall I put in the header of the new files?", ["MIT", "Apache-2.0", "None"]),
  }),
  session(3, "shop", "reviewer", "codex", "working", 2, { status_detail: "thinking", queued_messages: 1, branch: "review/cart" }),
  session(4, "shop", "tester", "claude", "idle", 31),
  session(5, "api", "coder", "claude", "interrupted", 300),
  session(6, "api", "planner", "pi", "ended", 1500, { status_detail: "quit" }),
  session(7, "api", "migrator", "opencode", "lost", 90, { status_detail: "the transcript is gone; run `segue resume api/migrator`" }),
  session(8, "api", "docs", "copilot", "starting", 0, { status_detail: "waits for its screen" }),
  session(9, "api", "<img src=x onerror=alert(1)>", "demo", "idle", 61),
];

export const tasks = [
  ["queued", "Add rate limiting to the login route", 3, 0], ["queued", "Update the dependencies of the web shop and run all tests", 0, 0],
  ["queued", "Write the release notes of 2.4", -1, 0], ["running", "Fix the flaky test `cart_survives_restart`", 5, 1],
  ["waiting", "Move invoices to the new tax table", 0, 2], ["done", "Remove the old theme", 0, 1],
  ["failed", "Upgrade PostgreSQL in the compose file", 0, 3],
].map(([state, prompt, priority, attempts], index) => ({
  id: `0198b000-0000-7000-8000-00000000000${index}`, key: null, state, prompt, priority, attempts,
  reason: state === "waiting" ? "the agent asks: which tax year?" : state === "failed" ? "the verify command failed: `make test`" : null,
  agent: ["coder", "reviewer", "tester"][index % 3], session: attempts ? sessions[index % 5].id : null,
  address: attempts ? sessions[index % 5].address : null, repository: "https://forge.example/ada/shop", issue: String(120 + index),
  parent: null, plan: null, worktree: null, branch: `issue-${120 + index}`,
  result: ["done", "failed"].includes(state) ? { answer: "I removed the theme and its **three** style sheets.\n\n- `theme.css`\n- `old.css`", duration_ms: 423_000, verify: { command: "make test", passed: state === "done", output: "1 failed", runs: 1 }, usage: { input: 120000, cached: 60000, output: 8000, cost_usd: 0.42 }, commits: [{ id: "1f0c2ab34de5", subject: "Remove the old theme" }], diff: { files: 4, insertions: 12, deletions: 340 }, note: null } : null,
  created_at: ago(200 - index * 10), started_at: attempts ? ago(100) : null, ended_at: ["done", "failed"].includes(state) ? ago(20 + index) : null,
}));

export const deliveries = [["issues", "processed", [{ outcome: "task_added", task: tasks[0].id }], null], ["push", "ignored", [{ outcome: "no_rule" }], "no rule is about it"], ["issue_comment", "processed", [{ outcome: "refused", reason: "`mallory` may not start work" }], null]].map(([event, state, actions, reason], index) => ({
  id: `0198d000-0000-7000-8000-00000000000${index}`, source: "forge", forge_id: `f-${index}`, event, received_at: ago(60 - index * 9), bytes: 8123, state, reason, actions,
}));

const PATCH = `diff --git a/src/login.ts b/src/login.ts
index 1f0c2ab..9e8d7c6 100644
--- a/src/login.ts
+++ b/src/login.ts
@@ -10,8 +10,11 @@ export async function login(request: Request) {
   const { name, password } = await request.json();
-  const user = await users.find(name);
-  if (!user || user.password !== password) {
-    return new Response("wrong", { status: 401 });
+  const user = await users.find(name.trim().toLowerCase());
+  const isRight = user !== null && (await verify(user.hash, password));
+  if (!isRight) {
+    await limiter.count(request.ip);
+    return new Response("wrong name or password", { status: 401 });
   }
+  await limiter.forget(request.ip);
   const token = await sign({ sub: user.id });
   return Response.json({ token });
 }
diff --git a/src/limiter.ts b/src/limiter.ts
new file mode 100644
index 0000000..3b18e51
--- /dev/null
+++ b/src/limiter.ts
@@ -0,0 +1,6 @@
+const attempts = new Map<string, number>();
+
+/** Counts a failed attempt of an address. */
+export async function count(ip: string) {
+  attempts.set(ip, (attempts.get(ip) ?? 0) + 1);
+}
`;
export const diff = { worktree: "w1", path: sessions[0].worktree, branch: "feat/login", base: "5f1e2d3c4b5a", files: [{ path: "src/limiter.ts", added: 6, removed: 0 }, { path: "src/login.ts", added: 6, removed: 3 }], patch: PATCH, is_cut: false };

export const worktrees = [
  { worktree: "w1", path: sessions[0].worktree, branch: "feat/login", agent: "coder", repository: "https://forge.example/ada/shop", leased_to: { session: sessions[0].id, fleet: "shop", name: "coder", address: "shop/coder" }, state: "present", checked_out: null, head: "9e8d7c6", changes: { staged: 0, modified: 2, untracked: 1, conflicted: 0 }, operation: null, distance: { from: "origin/main", ahead: 2, behind: 5 }, size_bytes: null, port: 41000, salvage: null, error: null, created_at: ago(300) },
  { worktree: "w2", path: "/home/ada/.segue/worktrees/shop/review-cart", branch: "review/cart", agent: "reviewer", repository: "https://forge.example/ada/shop", leased_to: null, state: "present", checked_out: null, head: "1", changes: { staged: 0, modified: 0, untracked: 0, conflicted: 0 }, operation: null, distance: { from: "origin/main", ahead: 0, behind: 0 }, size_bytes: 213000000, port: 41001, salvage: null, error: null, created_at: ago(3000) },
  { worktree: "w3", path: "/home/ada/.segue/worktrees/api/tax", branch: "issue-124", agent: "coder", repository: "https://forge.example/ada/api", leased_to: null, state: "removed", checked_out: null, head: null, changes: null, operation: null, distance: null, size_bytes: null, port: 41002, salvage: "refs/segue/salvage/issue-124", error: null, created_at: ago(9000) },
];

const turn = (minutes, role, text, tool = null) => ({ role, text, at: ago(minutes), model: role === "assistant" ? "sonnet" : null, usage: null, tool });
export const turns = [
  turn(60, "user", "The login accepts any password that begins right. Please fix it, and **limit** failed attempts."),
  turn(59, "assistant", "I will look at `src/login.ts` first."),
  turn(59, "tool_call", '{"command":"rg -n password src"}', { id: "t1", name: "Bash", failed: false }),
  turn(58.9, "tool_result", "src/login.ts:12:  if (!user || user.password !== password) {\nsrc/login.ts:13:    return …", { id: "t1", name: "Bash", failed: false }),
  turn(50, "assistant", "The comparison is on the clear text. I suggest:\n\n1. store only a **hash**\n2. count failed attempts by address\n\n```ts\nconst isRight = user !== null && (await verify(user.hash, password));\nif (!isRight) await limiter.count(request.ip);\n```\n\n| file | change |\n|---|---|\n| `src/login.ts` | verify the hash |\n| `src/limiter.ts` | new |\n\nSee https://owasp.example/limits for the limits. <script>alert(1)</script>"),
  turn(45, "summary", "The user wants hashed passwords and a limit for failed attempts."),
  turn(40, "user", "Good. Write the tests, too."),
  turn(39, "tool_call", '{"file_path":"src/limiter.ts"}', { id: "t2", name: "Write", failed: false }),
  turn(38, "tool_result", "written", { id: "t2", name: "Write", failed: false }),
  turn(37, "tool_call", '{"command":"npm test"}', { id: "t3", name: "Bash", failed: false }),
  turn(36.5, "tool_result", "1 failing\n  login › counts attempts", { id: "t3", name: "Bash", failed: true }),
  turn(5, "assistant", "One test fails because the clock is not mocked. I will run it again after the change:\n\n- [x] limiter\n- [ ] mocked clock"),
];

export const messages = [["delivered", "Good. Write the tests, too.", 40], ["uncertain", "Use the fake clock of the test kit", 20], ["queued", "Then open a pull request", 3]].map(([state, text, minutes], index) => ({ id: `m${index}`, session: sessions[2].id, fleet: "shop", name: "reviewer", address: "shop/reviewer", state, text, created_at: ago(minutes), updated_at: ago(minutes) }));

let seq = 1000;
export const event = (kind, session, text, minutes = 0, data = null) => ({ seq: ++seq, at: ago(minutes), kind, session, launch: null, text, data });
export const events = [event("session_created", sessions[0].id, "created as shop/coder", 400), event("launch_started", sessions[0].id, "process 4001 started", 400, { pid: 4001 }), event("bound", sessions[0].id, "is conversation c0ffee00-1 (preset)", 399), event("status_changed", sessions[0].id, "working (hook)", 60, { status: "working" }), event("status_changed", sessions[0].id, "waits for permission (screen)", 4, { status: "waiting" })];

const vendors = ["claude", "codex", "gemini"];
export const usage = (by) => {
  const rows = [];
  const empty = { agent: null, fleet: null, vendor: null, day: null, sessions: 1, cost_usd: null };
  if (by.startsWith("day")) for (let day = 0; day < 30; day++) {
    const date = new Date(now - day * 86_400_000).toISOString().slice(0, 10);
    vendors.forEach((vendor, index) => { const tokens = Math.round(Math.abs(Math.sin(day * 1.3 + index)) * (day % 7 < 2 ? 200_000 : 1_400_000)); rows.push({ ...empty, day: date, vendor, input: tokens, cached: tokens / 2, output: Math.round(tokens / 20) }); });
  } else sessions.slice(0, 6).forEach((it, index) => rows.push({ ...empty, fleet: it.fleet, agent: it.agent, vendor: it.vendor, sessions: index + 1, input: 2_100_000 / (index + 1), cached: 1e6 / (index + 1), output: 90_000 / (index + 1), cost_usd: index % 2 ? null : 3.2 / (index + 1) }));
  const sum = (field) => Math.round(rows.reduce((total, row) => total + row[field], 0));
  return { usage: rows.map((row) => ({ ...row, input: Math.round(row.input), cached: Math.round(row.cached), output: Math.round(row.output) })), total: { ...empty, sessions: 9, input: sum("input"), cached: sum("cached"), output: sum("output"), cost_usd: 5.71 } };
};

export const disk = { total: 7.4e9, budget: 10e9, level: "warning", items: [["clone", "ada/shop", 3.1e9], ["worktree", "feat/login", 1.9e9], ["worktree", "review/cart", 0.9e9], ["archive", "claude", 0.7e9], ["store", "segue.db", 0.2e9], ["session", "shop/coder", 0.1e9]].map(([kind, name, bytes]) => ({ kind, name, bytes, path: null, repository: null, session: null })), repositories: [], unreadable: [] };
export const sweep = { dry_run: true, failed: [], removed: [{ kind: "worktree", name: "issue-101", reason: "unused for 30 days", salvage: "refs/segue/salvage/issue-101" }, { kind: "archive", name: "codex 0198…", reason: "older than 180 days", salvage: null }] };
export const findings = [{ severity: "warning", what: "the git of this machine is older than 2.40", cure: "install a newer git: `apt-get install git`", curable: false, fixed: false }, { severity: "note", what: "two launch folders have no session", cure: null, curable: true, fixed: false }];
export const tokens = [{ id: "t1", name: "dashboard", scopes: ["read"], created_at: ago(9000), expires_at: ago(-90000), last_used_at: ago(3) }];
export const shares = [{ id: "s1", name: "share-1", session: sessions[2].id, address: "shop/reviewer", created_at: ago(10), expires_at: ago(-50), last_used_at: null }];
export const sources = { sources: [{ name: "forge", forge: "forgejo", interval_seconds: 300, is_polled: false, has_token: true }, { name: "mirror", forge: "gitlab", interval_seconds: 900, is_polled: true, has_token: false }], problems: ["the rule 2 of `config.toml` names no agent"] };
export const plan = { plan: [{ address: "api/coder", fleet: "api", name: "coder", session: sessions[4].id, vendor: "claude", vendor_session_id: "c0ffee00-5", decision: "resume", note: null, hints: [] }, { address: "api/migrator", fleet: "api", name: "migrator", session: sessions[6].id, vendor: "opencode", vendor_session_id: "x", decision: "refuse", note: "its transcript is gone, and no archive has it", hints: ["run `segue resume --fresh api/migrator` to start it empty"] }], to_bring_back: 1, left_alone: [], failed: [] };
export const handoff = { from: "shop/coder", to: "shop/coder-2", session: null, fleet: "shop", name: "coder-2", address: "shop/coder-2", vendor: "codex", headless: false, mode: "native", turns_carried: 42, turns_left_out: 3, chars: 81_200, note: null, hints: [], dialog: null, redacted: { "API key": 1 }, turns: turns.slice(0, 6).map((it) => ({ role: it.role, text: it.text, tool: it.tool?.name ?? null })) };

export const screenLines = [
  "╭──────────────────────────────────────────────────────────────╮", "│ ✻ Welcome to Claude Code!                                    │", "│   cwd: ~/src/shop                                            │", "╰──────────────────────────────────────────────────────────────╯", "",
  "> limit failed attempts, too", "", "● I will look at src/login.ts first.", "", "● Bash(rg -n password src)", "  ⎿  src/login.ts:12: if (!user || …", "", "● Update(src/login.ts)", "  ⎿  Updated with 6 additions and 3 removals", "", "✻ Running the tests… (12s · esc to interrupt)", "", "╭──────────────────────────────────────────────────────────────╮", "│ >                                                            │", "╰──────────────────────────────────────────────────────────────╯",
];
