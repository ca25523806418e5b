import assert from "node:assert/strict";
import { test } from "node:test";

import type { PlanTask } from "../page/api/types.ts";
import { NODE, drawPlan, layersOf, needing, planLook, planTaskLook, shortName } from "../page/model/plan.ts";
import { parsePath, planPath } from "../page/model/routes.ts";

const task = (name: string, needs: string[] = [], status = "blocked") => ({ name, needs, status }) as PlanTask;

test("a task is one layer after the last task that it needs", () => {
  const tasks = [task("ship", ["build", "design"]), task("build", ["design"]), task("design"), task("lone")];
  assert.deepEqual(Object.fromEntries(layersOf(tasks)), { design: 0, build: 1, ship: 2, lone: 0 });
});

test("a need that the plan does not have, and a cycle, end the search for layers", () => {
  assert.equal(layersOf([task("a", ["gone"])]).get("a"), 0);
  assert.equal(layersOf([task("a", ["b"]), task("b", ["a"])]).size, 2);
});

test("no two tasks of a picture overlap, and arrows lead to the right", () => {
  const tasks = Array.from({ length: 200 }, (_, at) => task(`t${at}`, at < 20 ? [] : [`t${at - 20}`, `t${at - 19}`]));
  const { nodes, arrows, width, height } = drawPlan(tasks);
  assert.equal(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size, 200);
  assert.equal(arrows.length, 360);
  const byName = new Map(nodes.map((it) => [it.task.name, it]));
  for (const { task, x, y } of nodes) {
    assert.ok(x + NODE.width <= width && y + NODE.height <= height);
    for (const need of task.needs) assert.ok((byName.get(need)?.x ?? 0) < x);
  }
});

test("tasks of a layer are sorted by the places of what they need", () => {
  const tasks = [task("a"), task("b"), task("of-b", ["b"]), task("of-a", ["a"])];
  const y = Object.fromEntries(drawPlan(tasks).nodes.map((it) => [it.task.name, it.y]));
  assert.ok((y["of-a"] ?? 0) < (y["of-b"] ?? 0));
});

test("only the arrow of a task that is done counts as met", () => {
  const { arrows } = drawPlan([task("a", [], "done"), task("b", [], "failed"), task("c", ["a", "b"])]);
  assert.deepEqual(arrows.map(({ key, isMet }) => [key, isMet]), [["a c", true], ["b c", false]]);
});

test("every state has a symbol and a word, and unknown ones are shown as they are", () => {
  assert.deepEqual(planLook("waiting"), { symbol: "▲", word: "waiting for you", tone: "waiting" });
  assert.equal(planTaskLook("approval").word, "needs approval");
  assert.equal(planTaskLook("dreaming").word, "dreaming");
  assert.deepEqual(needing([task("a"), task("b", ["a"])], "a"), ["b"]);
  assert.equal(shortName("a".repeat(30)).length, 20);
  assert.deepEqual(parsePath(planPath("a b")), { view: "plan", id: "a b" });
});
