// Tells which conversation this process is in, and what it does. Changes nothing.
// `given` is in the line before: the command to tell it to, if anybody listens, and whether a prompt
// comes with the start.
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

// The errors after which Pi tries again by itself, as it has them.
const TRIED_AGAIN =
  /overloaded|provider.?returned.?error|rate.?limit|too many requests|429|500|502|503|504|service.?unavailable|server.?error|internal.?error|network.?error|connection.?error|connection.?refused|connection.?lost|websocket.?closed|websocket.?error|other side closed|fetch failed|upstream.?connect|reset before headers|socket hang up|ended without|http2 request did not get a response|timed? out|timeout|terminated|retry delay/i;

// How much later than planned another try may begin; a person may have called it off.
const SPARE_MS = 5000;

// How long the one who is told may take: Pi waits for it.
const PATIENCE_MS = 5000;

// What the user has set for further tries; the project's settings come last.
function retrySettings(cwd) {
  let found = { enabled: true, maxRetries: 3, baseDelayMs: 2000 };
  for (const folder of [process.env.PI_CODING_AGENT_DIR, join(cwd, ".pi")]) {
    try {
      found = { ...found, ...JSON.parse(readFileSync(join(folder, "settings.json"), "utf8")).retry };
    } catch {
      // There are none, or Pi itself complains about them.
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
  // One after the other: their order is what they mean.
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
  // Whoever looks for the process that has this conversation finds it by its open files: with the
  // folder it is told from one that only reads the transcript, which may have been deleted and made
  // anew since it was opened.
  const hold = () => {
    const before = held;
    held = [];
    for (const path of file ? [dirname(file), file] : []) {
      try {
        held.push(openSync(path, "r"));
      } catch {
        // Pi makes the file of a conversation that it began itself with the first answer.
      }
    }
    release(before);
  };

  // Returns how long Pi waits before it tries again; 0 where it does not.
  const delay = (message, cwd) => {
    if (message?.stopReason !== "error" || !TRIED_AGAIN.test(message.errorMessage ?? "")) return 0;
    const { enabled, maxRetries, baseDelayMs } = retrySettings(cwd);
    return enabled && tries < maxRetries ? baseDelayMs * 2 ** tries++ + SPARE_MS : 0;
  };

  // Pi waits for whoever listens, and a headless one does not wait for that: nobody takes long.
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
  // Pi asks the model, and writes down what was said, when this is told: until the turn has ended
  // nobody takes the agent for idle.
  pi.on("before_agent_start", async () => {
    await work();
  });
  // Without a prompt: Pi tries again, or another extension has something to say.
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
