// Reports to Segue which conversation this process is in and what it does. Changes nothing. The
// line before this file defines `given`: the hook command to report to, if any, and whether the
// start includes a prompt.
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

// The errors after which Pi retries automatically, copied from Pi.
const TRIED_AGAIN =
  /overloaded|provider.?returned.?error|rate.?limit|too many requests|429|500|502|503|504|service.?unavailable|server.?error|internal.?error|network.?error|connection.?error|connection.?refused|connection.?lost|websocket.?closed|websocket.?error|other side closed|fetch failed|upstream.?connect|reset before headers|socket hang up|ended without|http2 request did not get a response|timed? out|timeout|terminated|retry delay/i;

// A retry may begin this much later than planned. After that it counts as cancelled by the user.
const SPARE_MS = 5000;

// Timeout of the hook command. Pi waits for it.
const PATIENCE_MS = 5000;

// Returns the user's retry settings. The project's settings override them.
function retrySettings(cwd) {
  let found = { enabled: true, maxRetries: 3, baseDelayMs: 2000 };
  for (const folder of [process.env.PI_CODING_AGENT_DIR, join(cwd, ".pi")]) {
    try {
      found = { ...found, ...JSON.parse(readFileSync(join(folder, "settings.json"), "utf8")).retry };
    } catch {
      // The file is missing, or Pi itself reports its error.
    }
  }
  return found;
}

function brief(message) {
  const { role, stopReason, errorMessage, content } = message;
  const texts = Array.isArray(content) ? content.filter((part) => part.type === "text") : [];
  return { role, stopReason, errorMessage, content: texts.map(({ text }) => ({ text })) };
}

export default function (pi) {
  let session;
  let file;
  let held = [];
  let busy = false;
  let tries = 0;
  let called_off;
  let told = Promise.resolve();

  const run = (payload) =>
    new Promise((done) => {
      const options = { stdio: ["pipe", "ignore", "ignore"], timeout: PATIENCE_MS };
      const hook = spawn("/bin/sh", ["-c", given.hook], options);
      hook.on("error", done);
      hook.on("close", done);
      hook.stdin.on("error", () => {});
      hook.stdin.end(payload);
    });
  // Run the hooks one after the other, because their order matters.
  const tell = (said) => {
    busy = said.event === "working";
    const payload = JSON.stringify({ session, ...said });
    if (given.hook) told = told.then(() => run(payload));
  };
  const work = () => {
    clearTimeout(called_off);
    if (!busy) tell({ event: "working" });
    return told;
  };

  const release = (files) => files.splice(0).forEach((open) => closeSync(open));
  // Segue finds the process of this conversation by its open files. The open folder distinguishes
  // it from a process that only reads the transcript. The transcript may have been deleted and
  // created again since it was opened.
  const hold = () => {
    const before = held;
    held = [];
    for (const path of file ? [dirname(file), file] : []) {
      try {
        held.push(openSync(path, "r"));
      } catch {
        // Pi creates the file of a conversation that it started itself with the first answer.
      }
    }
    release(before);
  };

  // Returns how long to wait for Pi's retry. 0 if Pi does not retry.
  const delay = (message, cwd) => {
    if (message?.stopReason !== "error" || !TRIED_AGAIN.test(message.errorMessage ?? "")) return 0;
    const { enabled, maxRetries, baseDelayMs } = retrySettings(cwd);
    return enabled && tries < maxRetries ? baseDelayMs * 2 ** tries++ + SPARE_MS : 0;
  };

  // Pi waits for event handlers, so none of them may take long. A headless Pi does not wait for
  // this one.
  pi.on("session_start", (event, ctx) => {
    session = ctx.sessionManager.getSessionId();
    file = ctx.sessionManager.getSessionFile();
    hold();
    tell({ event: event.reason === "startup" && given.prompted ? "working" : "idle" });
  });
  pi.on("session_shutdown", async () => {
    clearTimeout(called_off);
    release(held);
    await told;
  });
  if (!given.hook) return;

  pi.on("input", (_event, ctx) => {
    const { model } = ctx;
    if (!model) tell({ event: "ended", error: "No model selected." });
    else if (!ctx.modelRegistry.hasConfiguredAuth(model))
      tell({ event: "ended", error: `No API key found for ${model.provider}.` });
  });
  // Pi sends the request to the model and writes the transcript after this event. The agent must
  // not count as idle until the turn has ended.
  pi.on("before_agent_start", async () => {
    await work();
  });
  // This event comes without a prompt if Pi retries or another extension sends a message.
  pi.on("agent_start", async () => {
    await work();
  });
  pi.on("message_end", (event) => {
    if (event.message.role === "assistant" && event.message.stopReason !== "error") tries = 0;
  });
  pi.on("agent_end", (event, ctx) => {
    hold();
    const last = event.messages.at(-1);
    const end = () => {
      tries = 0;
      tell({ event: "ended", message: last && brief(last) });
    };
    const wait = delay(last, ctx.cwd);
    if (wait) called_off = setTimeout(end, wait);
    else end();
  });
}
