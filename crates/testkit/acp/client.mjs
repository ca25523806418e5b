// An editor, written on the protocol's own library. The arguments are the folder with the npm
// packages, the folder of the session, and the command of the agent. It begins a session, answers a
// question, cancels a prompt, kills the agent with SIGKILL, and loads the session with a new agent.
// Prints a line of JSON for each step.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [modules, cwd, program, ...words] = process.argv.slice(2);
const folder = join(modules, "@agentclientprotocol/sdk");
const about = createRequire(import.meta.url)(join(folder, "package.json"));
const library = join(folder, about.exports["."].import);
const { client, methods, ndJsonStream } = await import(pathToFileURL(library));

const report = (step, value) => console.log(JSON.stringify({ step, ...value }));

// Starts an agent. Returns it with what it has sent.
const start = async () => {
  const agent = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
  const updates = [];
  const questions = [];
  const editor = client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params.update);
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      questions.push(params);
      const { optionId } = params.options.find((option) => option.kind === "allow_once");
      return { outcome: { outcome: "selected", optionId } };
    });
  const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
  const connection = editor.connect(stream);
  const hello = { protocolVersion: 1, clientCapabilities: {} };
  const { agentCapabilities } = await connection.agent.request(methods.agent.initialize, hello);
  report("initialize", { loads: agentCapabilities.loadSession });
  return { agent, ctx: connection.agent, updates, questions };
};

const texts = (updates, kind) =>
  updates.filter((it) => it.sessionUpdate === kind).map((it) => it.content.text);

let { agent, ctx, updates, questions } = await start();
const { session } = methods.agent;
const { sessionId } = await ctx.request(session.new, { cwd, mcpServers: [] });
const prompt = (text) =>
  ctx.request(session.prompt, { sessionId, prompt: [{ type: "text", text }] });

let { stopReason } = await prompt("remember the word amber");
report("prompt", { sessionId, stopReason, texts: texts(updates, "agent_message_chunk") });
({ stopReason } = await prompt("/ask"));
report("permission", { stopReason, questions: questions.length });

const cancelled = prompt("/hang");
await ctx.notify(session.cancel, { sessionId });
report("cancel", { stopReason: (await cancelled).stopReason });

const ended = new Promise((resolve) => agent.once("exit", resolve));
agent.kill("SIGKILL");
await ended;
const before = texts(updates, "agent_message_chunk");
({ agent, ctx, updates, questions } = await start());
await ctx.request(session.load, { sessionId, cwd, mcpServers: [] });
report("load", { before, after: texts(updates, "agent_message_chunk") });
({ stopReason } = await prompt("what is the word?"));
report("again", { stopReason, text: texts(updates, "agent_message_chunk").at(-1) });
const { sessions } = await ctx.request(session.list, {});
report("list", { ids: sessions.map((it) => it.sessionId) });
await ctx.request(session.close, { sessionId });
agent.stdin.end();
