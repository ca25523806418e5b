// A program of an agent serves a page at another port of the same address. The browser sends it the
// cookie of the login. Neither its page nor its process can use the cookie.

import assert from "node:assert/strict";
import { createServer, request as httpRequest } from "node:http";

import { Scenario, segueJson, startAgent } from "./support.mjs";

/** What the page of the program tries. It sends the results to the program. */
async function attack(daemon, session) {
  const results = {};
  const attempt = async (name, action) => {
    try {
      results[name] = String(await action());
    } catch (error) {
      results[name] = `failed: ${error.name}`;
    }
  };
  const text = async (path, options) => (await fetch(daemon + path, options)).text();
  const withCookie = { credentials: "include" };
  const ask = (url) =>
    new Promise((resolve) => {
      const socket = new WebSocket(url, ["segue.terminal"]);
      socket.onopen = () => resolve("opened");
      socket.onerror = () => resolve("failed: refused");
    });
  const stream = () =>
    new Promise((resolve) => {
      const source = new EventSource(`${daemon}/v1/events/stream?after=0`, { withCredentials: true });
      source.onmessage = source.onopen = () => resolve("opened");
      source.onerror = () => resolve("failed: refused");
    });
  const frame = () =>
    new Promise((resolve, reject) => {
      const element = document.createElement("iframe");
      element.onload = () => {
        try {
          resolve(element.contentWindow.localStorage.getItem("segue.page-key"));
        } catch (error) {
          reject(error);
        }
      };
      element.src = daemon;
      document.body.append(element);
    });
  results.storage = JSON.stringify({ ...localStorage });
  await attempt("read", () => text("/v1/sessions", withCookie));
  await attempt("read with a header", () =>
    text("/v1/sessions", { ...withCookie, headers: { "segue-page-key": "x" } }),
  );
  const stop = { cwd: "/", selection: { named: ["fox"] } };
  const change = { method: "POST", body: JSON.stringify(stop), ...withCookie };
  await attempt("change", () => text("/v1/stop", change));
  await attempt("blind change", async () => (await fetch(`${daemon}/v1/stop`, { ...change, mode: "no-cors" })).type);
  await attempt("terminal", () => ask(`${daemon.replace("http", "ws")}/v1/sessions/${session}/terminal?access=control`));
  await attempt("events", stream);
  await attempt("frame", frame);
  await fetch("/results", { method: "POST", body: JSON.stringify(results) });
}

/** Starts the program. It records the headers that it is sent, and what its page reports. */
async function startProgram(daemon, session) {
  const seen = { cookies: new Set() };
  const page = `<!doctype html><title>dev server</title><body><script>(${attack})(${JSON.stringify(daemon)}, ${JSON.stringify(session)})</script>`;
  const server = createServer(async (request, response) => {
    if (request.headers.cookie) seen.cookies.add(request.headers.cookie);
    if (request.url === "/results") {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      seen.report(JSON.parse(Buffer.concat(chunks)));
    }
    response.writeHead(200, { "content-type": "text/html" }).end(page);
  });
  const results = new Promise((resolve) => (seen.report = resolve));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, seen, results, url: `http://127.0.0.1:${server.address().port}/` };
}

/** Sends a request as a program does: with any headers. Returns the status. */
function ask(daemon, { method = "GET", path, headers, body }) {
  return new Promise((resolve, reject) => {
    const request = httpRequest(new URL(path, daemon), { method, headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    });
    request.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response.statusCode);
    });
    request.on("error", reject);
    request.end(body);
  });
}

/** The requests that a program would send with a stolen login, as the page of Segue sends them. */
function requests(daemon, cookie, session, pageKey) {
  const own = { cookie, origin: new URL(daemon).origin, "sec-fetch-site": "same-origin" };
  const key = pageKey ? { "segue-page-key": pageKey } : {};
  const protocols = ["segue.terminal", ...(pageKey ? [`segue.page-key.${pageKey}`] : [])].join(", ");
  const upgrade = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-protocol": protocols,
  };
  const json = { "content-type": "application/json" };
  return [
    { path: "/v1/web/session", headers: { ...own, ...key } },
    { path: "/v1/sessions", headers: { ...own, ...key } },
    { path: `/v1/sessions/${session}/transcript`, headers: { ...own, ...key } },
    { path: `/v1/sessions/${session}/screen`, headers: { ...own, ...key } },
    { path: "/v1/events", headers: { ...own, ...key } },
    { path: "/v1/usage", method: "POST", headers: { ...own, ...key, ...json }, body: '{"by":"agent"}' },
    { path: `/v1/sessions/${session}/terminal?access=control`, headers: { ...own, ...upgrade } },
  ];
}

await Scenario.run(async (scenario) => {
  const fox = startAgent("fox");
  const page = await scenario.login();
  const daemon = new URL(page.url()).origin;
  const program = await startProgram(daemon, fox.id);
  try {
    const other = await page.context().newPage();
    await other.goto(program.url);
    const results = await program.results;
    assert.equal(results.storage, "{}", "the storage of another port is empty");
    assert.equal(results["blind change"] === "opaque" || results["blind change"].startsWith("failed"), true);
    delete results.storage;
    delete results["blind change"];
    const names = ["read", "read with a header", "change", "terminal", "events", "frame"];
    assert.deepEqual(Object.keys(results).sort(), names.sort());
    for (const [name, result] of Object.entries(results)) {
      assert.match(result, /^failed: /, `${name}: ${result}`);
    }
    assert.equal(segueJson("ls").sessions[0].status, "idle", "the blind change has stopped nothing");

    // The browser has sent the cookie to the program, which uses it from its own process.
    const [cookie] = [...program.seen.cookies].filter((it) => it.includes("segue_web=segue_"));
    assert.ok(cookie, "browsers do not separate cookies by port");
    for (const request of requests(daemon, cookie, fox.id, null)) {
      assert.equal(await ask(daemon, request), 401, request.path);
    }
    // The same requests with the key of the page: the key is what they lacked.
    const pageKey = await page.evaluate(() => localStorage.getItem("segue.page-key"));
    for (const request of requests(daemon, cookie, fox.id, pageKey)) {
      assert.ok([200, 101].includes(await ask(daemon, request)), request.path);
    }
    await page.reload();
    await page.getByRole("heading", { name: "Nobody needs you" }).waitFor();
  } finally {
    program.server.close();
    program.server.closeAllConnections();
  }
});
