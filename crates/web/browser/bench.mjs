// Measurements of the page for `make bench`: `node bench.mjs PART ARGUMENTS`, with the arguments as
// JSON. The last line that it prints is the result as JSON.

import { setTimeout as pause } from "node:timers/promises";

import { Scenario, loginLink, openTerminal, takeControl } from "./support.mjs";

/** The time in which the page finishes its work after it was opened. */
const SETTLE_MS = 5000;
const WINDOW_MS = 20_000;

const [part, argument] = process.argv.slice(2);
const parts = { view, idle, echo, memory };

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];

/** Logs a browser in. Returns what it stores, for browsers without a cache. */
async function stored(scenario) {
  const page = await scenario.login();
  const state = await page.context().storageState();
  await page.context().close();
  return state;
}

/** The first view of all sessions in a browser that has no file of the page yet. */
async function view(scenario, { sessions, times }) {
  const storageState = await stored(scenario);
  const url = new URL("/sessions", loginLink()).href;
  const drawn = [];
  let bytes = 0;
  for (let time = 0; time < times; time++) {
    const page = await scenario.page({ storageState });
    await page.addInitScript((count) => {
      const observer = new MutationObserver(() => {
        if (document.querySelectorAll("main .session-card[data-session]").length < count) return;
        observer.disconnect();
        // A task after the next frame: the rows are on the screen.
        requestAnimationFrame(() => setTimeout(() => (window.drawnAt = performance.now())));
      });
      observer.observe(document, { childList: true, subtree: true });
    }, sessions);
    const traffic = await countTraffic(page);
    await page.goto(url);
    await page.waitForFunction(() => window.drawnAt);
    drawn.push(await page.evaluate(() => window.drawnAt));
    bytes = traffic.bytes;
    await page.context().close();
  }
  return { median_ms: percentile(drawn, 0.5), bytes };
}

/** Counts the requests of a page, and the bytes that it receives. */
async function countTraffic(page) {
  const traffic = { bytes: 0, requests: 0, parts: 0, received: 0 };
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  session.on("Network.requestWillBeSent", () => traffic.requests++);
  session.on("Network.loadingFinished", (event) => (traffic.bytes += event.encodedDataLength));
  // Bytes of answers that have not ended, such as the stream of events, count as well.
  const receive = (bytes) => {
    traffic.parts++;
    traffic.received += bytes;
  };
  session.on("Network.dataReceived", (event) => receive(event.encodedDataLength || event.dataLength));
  session.on("Network.webSocketFrameReceived", ({ response }) => receive(response.payloadData.length));
  return traffic;
}

/** An open page with idle agents. The caller measures the daemon between the two printed lines. */
async function idle(scenario) {
  const storageState = await stored(scenario);
  const page = await scenario.page({ storageState });
  await page.addInitScript(countCallbacks);
  const traffic = await countTraffic(page);
  await page.goto(new URL("/sessions", loginLink()).href);
  await page.locator("main .session-card[data-session]").first().waitFor();
  await pause(SETTLE_MS);
  // The words "3 min ago" change at each minute. The window has none.
  const second = new Date().getSeconds();
  if (second > 35) await pause((61 - second) * 1000);
  const read = async () => ({ ...traffic, callbacks: await page.evaluate(() => window.callbacks) });
  const before = await read();
  console.log("begin");
  await pause(WINDOW_MS);
  console.log("end");
  const after = await read();
  const since = (name) => after[name] - before[name];
  const perHour = Math.ceil((since("received") * 3_600_000) / WINDOW_MS);
  return { requests: since("requests"), parts: since("parts"), callbacks: since("callbacks"), bytes_per_hour: perHour };
}

/** Counts how often timers, frames and observers run code of the page. */
function countCallbacks() {
  window.callbacks = 0;
  for (const name of ["setTimeout", "setInterval", "requestAnimationFrame", "requestIdleCallback"]) {
    const original = window[name];
    window[name] = (callback, ...rest) =>
      original((...values) => {
        window.callbacks++;
        callback(...values);
      }, ...rest);
  }
}

/** Keys in the terminal of the page, each followed by a key to a server that only returns it. */
async function echo(scenario, { session, bare, keys }) {
  // The policy of the page forbids connections to other servers.
  const page = await scenario.login({ bypassCSP: true });
  await page.addInitScript(() => {
    window.sockets = [];
    window.WebSocket = class extends WebSocket {
      constructor(...words) {
        super(...words);
        window.sockets.push(this);
      }
    };
  });
  await openTerminal(page, { id: session });
  await takeControl(page);
  const times = await page.evaluate(typeKeys, { bare, keys });
  const p95 = (name) => percentile(times[name], 0.95);
  const median = (name) => percentile(times[name], 0.5);
  return { ours_p95: p95("ours"), bare_p95: p95("bare"), drawn_p95: p95("drawn"), ours: median("ours"), bare: median("bare") };
}

async function typeKeys({ bare, keys }) {
  const ours = window.sockets.at(-1);
  const terminal = document.querySelector(".xterm-helper-textarea");
  const rows = document.querySelector(".xterm-rows");
  const opened = (socket) => new Promise((resolve) => {
    if (socket.readyState === WebSocket.OPEN) resolve();
    else socket.addEventListener("open", resolve);
  });
  const other = new WebSocket(bare);
  other.binaryType = "arraybuffer";
  const field = document.createElement("textarea");
  document.body.append(field);
  field.addEventListener("keypress", (event) => other.send(new TextEncoder().encode(event.key)));
  await Promise.all([opened(ours), opened(other)]);
  const answer = (socket, code) => new Promise((resolve) => {
    const listen = ({ data }) => {
      if (typeof data === "string" || !new Uint8Array(data).includes(code)) return;
      socket.removeEventListener("message", listen);
      resolve(performance.now());
    };
    socket.addEventListener("message", listen);
  });
  const drawing = () => new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      observer.disconnect();
      resolve(performance.now());
    });
    observer.observe(rows, { childList: true, subtree: true, characterData: true });
  });
  const press = (target, letter) => {
    const charCode = letter.charCodeAt(0);
    target.dispatchEvent(new KeyboardEvent("keypress", { key: letter, charCode, bubbles: true, cancelable: true }));
    return charCode;
  };
  // Both begin while the page has nothing to do: the drawing of one key must not delay the next.
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const quiet = async () => {
    await frame();
    await frame();
  };
  const times = { ours: [], bare: [], drawn: [] };
  for (let number = 0; number < keys; number++) {
    const letter = String.fromCharCode(97 + (number % 26));
    await quiet();
    const drawn = drawing();
    let begin = performance.now();
    times.ours.push((await answer(ours, press(terminal, letter))) - begin);
    times.drawn.push((await drawn) - begin);
    await quiet();
    begin = performance.now();
    times.bare.push((await answer(other, press(field, letter))) - begin);
  }
  other.close();
  field.remove();
  return times;
}

/** 100 MB of output. Before it, enough to fill the scrollback of the terminal. */
async function memory(scenario, { session }) {
  const page = await scenario.login();
  await openTerminal(page, { id: session });
  await takeControl(page);
  const flood = async (command, end) => {
    await page.keyboard.type(command);
    await page.keyboard.press("Enter");
    await page.locator(".xterm-rows").getByText(end).first().waitFor({ timeout: 600_000 });
    return usedMemory(page);
  };
  const before = await flood("fill", "fill over");
  console.log("begin");
  const after = await flood("go", "flood over");
  console.log("end");
  return { before, after };
}

/** The memory that objects of the page use. */
async function usedMemory(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize;
}

await Scenario.run(async (scenario) => {
  const result = await parts[part](scenario, JSON.parse(argument ?? "{}"));
  console.log(JSON.stringify(result));
});
