import assert from "node:assert/strict";
import { test } from "node:test";

import type { LogEvent, Session, Task, TranscriptPage, Turn, UsageRow } from "../page/api/types.ts";
import { type Story, chatItems, joinNewest, toolSummary, withNewest, withOlder } from "../page/model/conversation.ts";
import { ago, count, duration, shortPath, size } from "../page/model/format.ts";
import { movedPriorities } from "../page/model/priority.ts";
import { parsePath, sessionPath } from "../page/model/routes.ts";
import { bestMatches } from "../page/model/search.ts";
import { type SortOrder, boardOrder, groupByFleet, matchesFilter, nextOrder, statusDetail, statusLook } from "../page/model/status.ts";
import { topicsOf } from "../page/model/topics.ts";
import { scaleTop, usageDays } from "../page/model/usage.ts";

const session = (fields: Partial<Session>) =>
  ({ fleet: "shop", name: "a", address: "shop/a", status: "idle", status_detail: null, dialog: null, missing_variables: [], goes_on_as: null, cwd: "/src", vendor: "demo", branch: null, ...fields }) as Session;

test("every path leads to its view and back", () => {
  assert.deepEqual(parsePath("/"), { view: "needs-you" });
  assert.deepEqual(parsePath("/sessions/a%20b"), { view: "session", id: "a b", tab: "terminal" });
  assert.deepEqual(parsePath(sessionPath("a/b", "talk")), { view: "session", id: "a/b", tab: "talk" });
  for (const path of ["/sessions/a/other", "/nowhere", "/tasks/1/2", "/sessions/%E0%A4%A"]) {
    assert.equal(parsePath(path).view, "unknown", path);
  }
});

test("every status has a symbol, a word and a tone; unknown ones are shown as they are", () => {
  assert.deepEqual(statusLook("waiting"), { symbol: "▲", word: "waiting", tone: "waiting" });
  assert.equal(statusLook("lost").tone, "failed");
  assert.deepEqual(statusLook("dreaming"), { symbol: "?", word: "dreaming", tone: "idle" });
  assert.equal(statusDetail(session({ status: "interrupted" })), "resume brings it back");
  const dialog = { id: "1", kind: "permission", question: "npm test\nmore", choices: [], answer: "" } as Session["dialog"];
  assert.equal(statusDetail(session({ status: "waiting", dialog })), "permission: npm test");
});

test("a group has the sessions that need a person first", () => {
  const [group] = groupByFleet([session({ name: "b" }), session({ name: "a" }), session({ name: "z", status: "waiting" })]);
  assert.deepEqual(group?.sessions.map((it) => it.name), ["z", "a", "b"]);
  assert.ok(matchesFilter(session({ branch: "feat/x" }), "SHOP feat"));
  assert.ok(!matchesFilter(session({}), "shop nothing"));
});

test("a group is sorted by status, by name, or newest first, in turn", () => {
  const all = [
    session({ name: "a", updated_at: "2026-01-01T00:00:00Z" }),
    session({ name: "b", updated_at: "2026-01-02T00:00:00Z", status: "waiting" }),
    session({ name: "c", updated_at: "2026-01-03T00:00:00Z", status: "ended" }),
  ];
  const rows: [SortOrder, string, SortOrder][] = [["status", "bac", "name"], ["name", "abc", "recent"], ["recent", "cba", "status"]];
  for (const [order, names, next] of rows) {
    assert.equal(groupByFleet(all, order)[0]?.sessions.map((it) => it.name).join(""), names);
    assert.equal(nextOrder(order), next);
  }
});

test("queued tasks are sorted as they start, ended ones by their end", () => {
  const task = (id: string, state: string, priority: number, at: string) =>
    ({ id, state, priority, created_at: at, ended_at: at }) as Task;
  const tasks = [task("a", "queued", 0, "1"), task("b", "queued", 5, "2"), task("c", "done", 0, "3"), task("d", "failed", 0, "4")];
  assert.deepEqual(boardOrder(tasks, ["queued"]).map((it) => it.id), ["b", "a"]);
  assert.deepEqual(boardOrder(tasks, ["done", "failed"]).map((it) => it.id), ["d", "c"]);
});

test("a moved task gets its place, and only its neighbours get other priorities", () => {
  const task = (id: string, priority: number) => ({ id, priority, created_at: id }) as Task;
  const moved = (column: Task[], id: string, to: number) => {
    const changes = movedPriorities(column, column.find((it) => it.id === id) as Task, to);
    const now = column.map((it) => ({ ...it, priority: changes.find((change) => change.id === it.id)?.priority ?? it.priority, state: "queued" }));
    return [boardOrder(now as Task[], ["queued"]).map((it) => it.id).join(""), changes.length] as const;
  };
  const same = ["a", "b", "c", "d"].map((id) => task(id, 0));
  const rows: [Task[], string, number, string, number][] = [
    [same, "d", 0, "dabc", 1],
    [same, "d", 1, "adbc", 2],
    [same, "d", 2, "abdc", 3],
    [same, "a", 3, "bcda", 1],
    [same, "a", 1, "bacd", 3],
    [same, "b", 1, "abcd", 0],
    [same, "b", 9, "acdb", 1],
    [[task("a", 5), task("b", 0), task("c", 0)], "c", 1, "acb", 1],
    [[task("a", 5), task("b", 0), task("c", -3)], "a", 1, "bac", 1],
    [[task("a", 9), task("b", 9)], "b", 0, "ab", 0],
    [[task("b", 0), task("a", -1)], "a", 0, "ab", 1],
  ];
  for (const [column, id, to, order, changes] of rows) {
    assert.deepEqual(moved(column, id, to), [order, changes], `${id} to ${to}`);
  }
});

test("an event names the topics that it changes", () => {
  const event = (kind: string, id: string | null) => ({ kind, session: id }) as LogEvent;
  assert.deepEqual(topicsOf(event("message_queued", "s")), ["sessions", "session:s", "usage", "messages:s"]);
  assert.deepEqual(topicsOf(event("task_changed", null)), ["tasks"]);
  assert.deepEqual(topicsOf(event("a_newer_kind", null)), []);
});

const turn = (role: string, text: string, at: string | null, id = "") =>
  ({ role, text, at, model: null, usage: null, tool: id ? { id, name: "Bash", failed: false } : null }) as Turn;

test("a tool call and its result are one item", () => {
  const items = chatItems([
    turn("user", "hi", "2026-01-01T00:00:00Z"), turn("tool_call", '{"command":"ls"}', "2026-01-01T00:00:01Z", "1"),
    turn("tool_call", "x", "2026-01-01T00:00:01Z", "2"), turn("tool_result", "out", "2026-01-01T00:00:02Z", "1"),
  ]);
  assert.deepEqual(items.map((it) => it.type), ["said", "tool", "tool"]);
  const [, call] = items;
  assert.ok(call?.type === "tool");
  assert.equal(call.result?.text, "out");
  assert.equal(toolSummary(call.call), "ls");
});

test("keys of turns stay the same when older and newer turns arrive", () => {
  const turns = [1, 2, 3].map((second) => turn("user", String(second), `2026-01-01T00:00:0${second}Z`));
  const keys = (list: Turn[]) => chatItems(list).map((it) => it.key);
  assert.deepEqual(keys(turns.slice(1)), keys(turns).slice(1));
  assert.deepEqual(keys(turns.slice(0, 2)), keys(turns).slice(0, 2));
  assert.equal(new Set(keys([...turns, ...turns])).size, 6);
});

test("the newest page joins the turns before it, unless turns between are missing", () => {
  const turns = [1, 2, 3, 4].map((second) => turn("user", String(second), `2026-01-01T00:00:0${second}Z`));
  const texts = (list: Turn[] | null) => list?.map((it) => it.text).join("");
  assert.equal(texts(joinNewest(turns.slice(0, 3), turns.slice(2))), "1234");
  assert.equal(joinNewest(turns.slice(0, 1), turns.slice(2)), null);
});

test("times, numbers and sizes are short", () => {
  const now = Date.parse("2026-01-01T12:00:00Z");
  assert.equal(ago("2026-01-01T11:59:30Z", now), "just now");
  assert.equal(ago("2026-01-01T09:30:00Z", now), "2 h 30 min ago");
  assert.equal(duration(420), "420 ms");
  assert.equal(count(1_234_567), "1.2 M");
  assert.equal(size(4_200_000_000), "4.2 GB");
  assert.equal(shortPath("/home/ada/src/shop"), "~/src/shop");
});

test("the chart has a bar for every day, also without usage", () => {
  const row = { day: "2026-01-02", vendor: "demo", input: 5, output: 2 } as UsageRow;
  const days = usageDays([row, row], "2026-01-03", 3);
  assert.deepEqual(days.map((day) => [day.day, day.total]), [["2026-01-01", 0], ["2026-01-02", 14], ["2026-01-03", 0]]);
  assert.deepEqual([3, 10, 0, 1_400_000].map(scaleTop), [5, 10, 1, 2_000_000]);
});

test("the palette prefers words that begin with the letters", () => {
  const words = ["Resume this session", "Worktrees", "New session"];
  assert.equal(bestMatches("work", words, (it) => it)[0], "Worktrees");
  assert.equal(bestMatches("nses", words, (it) => it)[0], "New session");
  assert.deepEqual(bestMatches("zzz", words, (it) => it), []);
});

test("pages of a story become sections, and a page without an overlap begins again", () => {
  const turn = (text: string) => ({ role: "user", text, at: null }) as unknown as Turn;
  const page = (number: number, texts: string[], next: string | null) =>
    ({ session: `s${number}`, vendor: "demo", turns: texts.map(turn), next, part: { number, address: `shop/${number}`, taken_over: null, unreadable: null } }) as unknown as TranscriptPage;
  const texts = (story: Story) => story.sections.map((it) => `${it.part.number}:${it.turns.map((it) => it.text).join("")}`);
  let story = withNewest({ sections: [], before: null }, page(1, ["d", "e"], "1.x"));
  story = withOlder(story, page(1, ["c"], "0"));
  story = withOlder(story, page(0, ["a", "b"], null));
  assert.deepEqual([texts(story), story.before], [["0:ab", "1:cde"], null]);
  story = withNewest(story, page(1, ["e", "f"], "1.y"));
  assert.deepEqual([texts(story), story.before], [["0:ab", "1:cdef"], null]);
  assert.deepEqual(texts(withNewest(story, page(1, ["x", "y"], "1.z"))), ["1:xy"]);
  assert.deepEqual(texts(withNewest(story, page(3, ["g"], "2"))), ["3:g"]);
});
