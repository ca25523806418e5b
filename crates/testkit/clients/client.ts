// Uses the generated types of the API. `tsc` checks every name and type, then node runs the result.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

const url = process.env.SEGUE_URL!;
const authorization = `Bearer ${process.env.SEGUE_TOKEN}`;
const client = createClient<paths>({ baseUrl: url, headers: { authorization } });

function check(condition: unknown, value: unknown): asserts condition {
  if (!condition) throw new Error(JSON.stringify(value));
}

// The stream is open before anything happens, so that it has all events from now on.
const { response: stream } = await client.GET("/v1/events/stream", {
  params: { query: { kinds: "message_delivered" } },
  parseAs: "stream",
});
check(stream.headers.get("content-type") === "text/event-stream", stream.status);

const started = await client.POST("/v1/run", {
  params: { header: { "Idempotency-Key": "start the heron" } },
  body: { caller: { cwd: process.env.SEGUE_FOLDER! }, vendor: "demo", name: "heron", prompt: "hello" },
});
check(started.data, started.error);
const id: string = started.data.id;

const listed = await client.GET("/v1/sessions", { params: { query: { fleet: "default", limit: 1 } } });
check(listed.data?.sessions.length === 1 && listed.data.next, listed);
check(listed.response.headers.get("link")?.includes('rel="next"'), listed);
const tag = listed.response.headers.get("etag")!;
const same = await client.GET("/v1/sessions", {
  params: { query: { fleet: "default", limit: 1 } },
  headers: { "if-none-match": tag },
});
check([200, 304].includes(same.response.status), same.response.status);

const sent = await client.POST("/v1/sessions/{id}/messages", {
  params: { path: { id } },
  body: { text: "remember the word amber", until: "turn_ended", timeout_ms: 60000 },
});
check(sent.data?.turn_ended === true, sent.error ?? sent.data);

let text = "";
const decoder = new TextDecoder();
for await (const bytes of stream.body as unknown as AsyncIterable<Uint8Array>) {
  text += decoder.decode(bytes, { stream: true });
  if (/^data: .*\n\n/m.test(text)) break;
}
const data = text.split("\n").find((line) => line.startsWith("data: "))!;
const event: components["schemas"]["Event"] = JSON.parse(data.slice("data: ".length));
check(event.kind === "message_delivered" && event.session === id, event);

const missing = await client.GET("/v1/sessions/{id}", {
  params: { path: { id: "00000000-0000-0000-0000-000000000001" } },
});
const problem: components["schemas"]["Problem"] | undefined = missing.error;
check(problem?.kind === "not_found" && problem.status === 404 && problem.hints, missing);
console.log("ok");
process.exit(0);
