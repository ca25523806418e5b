// Serves the built page and an invented fleet, for looking at the page without a daemon:
//   node tests/mock/server.mjs [PORT]
// It has the content security policy of the daemon, and no security.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";

import * as data from "./data.mjs";
import { accept } from "./socket.mjs";

const dist = new URL("../../dist/", import.meta.url);
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'";

function files() {
  const rows = readFileSync(new URL("files.tsv", dist), "utf8").trim().split("\n").map((line) => line.split("\t"));
  return new Map(rows.map(([path, type, file]) => [path, { type, gzip: readFileSync(new URL(file, dist)) }]));
}

const streams = new Set();

/** Sends an event to every open page. */
function emit(kind, session, text) {
  const event = data.event(kind, session, text);
  data.events.push(event);
  for (const stream of streams) stream.write(`id: ${event.seq}\nevent: ${kind}\ndata: ${JSON.stringify(event)}\n\n`);
}

const needs = (session) => ({ reason: session.waiting_for ?? session.status, text: session.status_detail ?? session.status, since: session.updated_at, session });
const attention = () => data.sessions.filter((it) => it.status === "waiting" || it.status === "lost").map(needs);
const byId = (id) => data.sessions.find((it) => it.id === id);

const ROUTES = [
  ["GET /v1/web/session", () => ({ scopes: ["admin"], expires_at: data.ago(-600), session: null })],
  ["POST /v1/web/login", (_, body) => { if (body.code !== "good") throw { status: 401 }; return { page_key: "p" }; }],
  ["GET /v1/sessions", () => ({ sessions: data.sessions, hidden: 0 })],
  ["GET /v1/attention", () => ({ sessions: attention(), gates: [] })],
  ["POST /v1/plans/list", () => ({ plans: [] })],
  ["GET /v1/sessions/([^/]+)", ([id]) => byId(id)],
  ["GET /v1/sessions/([^/]+)/screen", ([id]) => ({ rows: 24, columns: 80, lines: byId(id)?.pid ? data.screenLines : [], at: data.ago(0) })],
  ["GET /v1/sessions/([^/]+)/transcript", ([id]) => ({ session: id, vendor: "claude", vendor_session_id: "c", turns: data.turns })],
  ["GET /v1/sessions/([^/]+)/messages", () => ({ messages: data.messages, failed: [] })],
  ["POST /v1/sessions/([^/]+)/messages", ([id]) => { emit("message_queued", id, "queued"); return { message: data.messages[0], note: null }; }],
  ["POST /v1/answer", (_, body) => {
    const session = byId(body.session);
    Object.assign(session, { status: "working", dialog: null, waiting_for: null, updated_at: data.ago(0) });
    emit("answered", session.id, `answered ${body.answer}`);
    return { answered: true, dialog: null };
  }],
  ["POST /v1/resume", () => data.plan],
  ["POST /v1/handoff", () => data.handoff],
  ["POST /v1/stop", () => ({ stopped: [], failed: [] })],
  ["GET /v1/events", (_, __, url) => data.events.filter((it) => !url.searchParams.get("sessions") || it.session === url.searchParams.get("sessions"))],
  ["GET /v1/tasks", () => ({ tasks: data.tasks })],
  ["GET /v1/tasks/([^/]+)", ([id]) => ({ task: data.tasks.find((it) => it.id === id) })],
  ["POST /v1/tasks/([^/]+)/priority", ([id], body) => { data.tasks.find((it) => it.id === id).priority = body.priority; emit("task_changed", null, "priority"); return null; }],
  ["GET /v1/worktrees", () => ({ worktrees: data.worktrees })],
  ["GET /v1/worktrees/([^/]+)/diff", () => data.diff],
  ["POST /v1/deliveries", () => ({ deliveries: data.deliveries })],
  ["POST /v1/deliveries/show", (_, body) => ({ delivery: data.deliveries.find((it) => it.id === body.delivery), headers: [["x-event", "issues"]], body: '{"action":"assigned","issue":{"number":120}}' })],
  ["GET /v1/usage", (_, __, url) => data.usage(url.searchParams.get("by"))],
  ["GET /v1/vendors", () => ({ vendors: ["claude", "codex", "demo"].map((name) => ({ name, title: `the program of ${name}`, installed: true })) })],
  ["POST /v1/adopt", () => ({ candidates: [{ vendor: "claude", vendor_session_id: "c9", cwd: "/home/ada/src/shop", config_dir: "/home/ada/.claude", began_at: data.ago(90), updated_at: data.ago(60), begins: "Why is the build slow?", open_in: null }], adopted: [], skipped: [] })],
  ["GET /v1/disk", () => data.disk],
  ["POST /v1/sweep", () => data.sweep],
  ["GET /v1/findings", () => ({ findings: data.findings })],
  ["GET /v1/tokens", () => ({ tokens: data.tokens })],
  ["GET /v1/shares", () => ({ shares: data.shares })],
  ["POST /v1/shares", () => ({ ...data.shares[0], url_path: "/share#b3f9" })],
  ["GET /v1/sources", () => data.sources],
].map(([pattern, handler]) => [new RegExp(`^${pattern}$`), handler]);

async function answer(request, response) {
  const url = new URL(request.url, "http://mock");
  if (url.pathname === "/v1/events/stream") {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(": events\n\n");
    streams.add(response);
    request.on("close", () => streams.delete(response));
    return;
  }
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = chunks.length ? JSON.parse(Buffer.concat(chunks)) : null;
  const key = `${request.method} ${url.pathname}`;
  for (const [pattern, handler] of ROUTES) {
    const match = pattern.exec(key);
    if (!match) continue;
    try {
      const content = handler(match.slice(1).map(decodeURIComponent), body, url);
      if (content === undefined) throw { status: 404 };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(content));
    } catch (error) {
      const status = error.status ?? 500;
      response.writeHead(status, { "content-type": "application/problem+json" }).end(JSON.stringify({ status, detail: String(error.stack ?? "refused"), hints: [] }));
    }
    return;
  }
  if (url.pathname.startsWith("/v1/")) {
    response.writeHead(404, { "content-type": "application/problem+json" }).end(JSON.stringify({ detail: `the mock has no ${key}`, hints: [] }));
    return;
  }
  const all = files();
  const file = all.get(url.pathname) ?? all.get("/index.html");
  response.writeHead(200, { "content-type": file.type, "content-encoding": "gzip", "content-security-policy": POLICY, "x-content-type-options": "nosniff" }).end(file.gzip);
}

function terminal(request, socket) {
  const url = new URL(request.url, "http://mock");
  const size = { rows: 24, columns: 80 };
  const say = (message) => send(JSON.stringify(message));
  const colour = (text) => text.replace("✻", "\x1b[38;2;215;119;87m✻\x1b[0m").replace(/●/g, "\x1b[32m●\x1b[0m").replace("Running", "\x1b[1;33mRunning\x1b[0m");
  const paint = () => {
    say({ type: "snapshot", ...size });
    send(Buffer.from(`\x1b[2J\x1b[H${data.screenLines.map(colour).join("\r\n")}\x1b[19;5H`));
  };
  const send = accept(request, socket, (message) => {
    if (typeof message !== "string") {
      if (url.searchParams.get("access") === "control") send(message);
      return;
    }
    const { type, ...rest } = JSON.parse(message);
    if (type === "ping") say({ type: "pong", id: rest.id });
    if (type === "repaint") paint();
    if (type === "resize") { Object.assign(size, rest); paint(); }
    if (type === "scrollback") say({ type: "scrollback", first: 0, lines: Array.from({ length: 60 }, (_, index) => `older line ${index} of the agent`), total: 60, has_forgotten: false, alternate: false });
  });
  const isControl = url.searchParams.get("access") === "control";
  say({ type: "clients", controllers: isControl ? 1 : 0, viewers: isControl ? 1 : 2 });
  paint();
}

const port = Number(process.argv[2] ?? 8181);
const server = createServer((request, response) => void answer(request, response));
server.on("upgrade", (request, socket) => terminal(request, socket));
server.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
