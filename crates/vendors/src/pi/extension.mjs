// Reports the conversation and the activity of this process to Segue. Segue writes a line before
// this file that defines `launch`: the hook command (null if nothing is reported), and whether the
// launch has a prompt.
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

// The errors after which Pi retries. Copied from Pi.
const RETRIED_ERRORS =
  /overloaded|provider.?returned.?error|rate.?limit|too many requests|429|500|502|503|504|service.?unavailable|server.?error|internal.?error|network.?error|connection.?error|connection.?refused|connection.?lost|websocket.?closed|websocket.?error|other side closed|fetch failed|upstream.?connect|reset before headers|socket hang up|ended without|http2 request did not get a response|timed? out|timeout|terminated|retry delay/i;

// A retry that is later than this counts as cancelled by the user.
const RETRY_TOLERANCE_MS = 5000;

// The timeout of the hook command. Pi waits for the hook command.
const HOOK_TIMEOUT_MS = 5000;

// Returns the retry settings. The project's settings override the user's settings.
function retrySettings(cwd) {
  let found = { enabled: true, maxRetries: 3, baseDelayMs: 2000 };
  for (const folder of [process.env.PI_CODING_AGENT_DIR, join(cwd, ".pi")]) {
    try {
      found = { ...found, ...JSON.parse(readFileSync(join(folder, "settings.json"), "utf8")).retry };
    } catch {
      // The file is missing, or Pi reports its error.
    }
  }
  return found;
}

function summarize(message) {
  const { role, stopReason, errorMessage, content } = message;
  const texts = Array.isArray(content) ? content.filter((part) => part.type === "text") : [];
  return { role, stopReason, errorMessage, content: texts.map(({ text }) => ({ text })) };
}

export default function (pi) {
  let session;
  let file;
  let openFiles = [];
  let isBusy = false;
  let retries = 0;
  let cancelTimer;
  let lastReport = Promise.resolve();

  const runHook = (payload) =>
    new Promise((done) => {
      const options = { stdio: ["pipe", "ignore", "ignore"], timeout: HOOK_TIMEOUT_MS };
      const hook = spawn("/bin/sh", ["-c", launch.hook], options);
      hook.on("error", done);
      hook.on("close", done);
      hook.stdin.on("error", () => {});
      hook.stdin.end(payload);
    });
  // Run the hooks one after the other, because their order matters.
  const report = (fields) => {
    isBusy = fields.event === "working";
    const payload = JSON.stringify({ session, ...fields });
    if (launch.hook) lastReport = lastReport.then(() => runHook(payload));
  };
  const reportWork = () => {
    clearTimeout(cancelTimer);
    if (!isBusy) report({ event: "working" });
    return lastReport;
  };

  const closeFiles = (files) => files.splice(0).forEach((open) => closeSync(open));
  // Segue finds the process of a conversation by its open files. A process that only reads the
  // transcript does not have the folder open. The files are opened again after each turn, because
  // the transcript may have been deleted and created again.
  const reopenFiles = () => {
    const before = openFiles;
    openFiles = [];
    for (const path of file ? [dirname(file), file] : []) {
      try {
        openFiles.push(openSync(path, "r"));
      } catch {
        // Without a prepared file, Pi creates the transcript with the first answer.
      }
    }
    closeFiles(before);
  };

  // Returns how long to wait for Pi's retry, or 0 if Pi does not retry.
  const delay = (message, cwd) => {
    if (message?.stopReason !== "error" || !RETRIED_ERRORS.test(message.errorMessage ?? "")) return 0;
    const { enabled, maxRetries, baseDelayMs } = retrySettings(cwd);
    return enabled && retries < maxRetries ? baseDelayMs * 2 ** retries++ + RETRY_TOLERANCE_MS : 0;
  };

  // Pi waits for event handlers, so they must be fast. A headless Pi does not wait for this one.
  pi.on("session_start", (event, ctx) => {
    session = ctx.sessionManager.getSessionId();
    file = ctx.sessionManager.getSessionFile();
    reopenFiles();
    report({ event: event.reason === "startup" && launch.prompted ? "working" : "idle" });
  });
  pi.on("session_shutdown", async () => {
    clearTimeout(cancelTimer);
    closeFiles(openFiles);
    await lastReport;
  });
  if (!launch.hook) return;

  pi.on("input", (_event, ctx) => {
    const { model } = ctx;
    if (!model) report({ event: "ended", error: "No model selected." });
    else if (!ctx.modelRegistry.hasConfiguredAuth(model))
      report({ event: "ended", error: `No API key found for ${model.provider}.` });
  });
  // After this event, Pi sends the request to the model and writes the transcript. The agent must
  // count as working until the turn has ended.
  pi.on("before_agent_start", async () => {
    await reportWork();
  });
  // Pi also sends this event without a prompt, after a retry or a message of another extension.
  pi.on("agent_start", async () => {
    await reportWork();
  });
  pi.on("message_end", (event) => {
    if (event.message.role === "assistant" && event.message.stopReason !== "error") retries = 0;
  });
  pi.on("agent_end", (event, ctx) => {
    reopenFiles();
    const last = event.messages.at(-1);
    const end = () => {
      retries = 0;
      report({ event: "ended", message: last && summarize(last) });
    };
    const wait = delay(last, ctx.cwd);
    if (wait) cancelTimer = setTimeout(end, wait);
    else end();
  });
}
