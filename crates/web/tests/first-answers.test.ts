import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { FIRST_PATHS, dropFirstAnswers, takeFirstAnswer } from "../page/api/first-answers.ts";

beforeEach(() => {
  Object.assign(globalThis, { window: {} });
});

test("an early answer is used once", async () => {
  window.segueFirstAnswers = { identity: Promise.resolve({ scopes: ["admin"] }) };
  assert.deepEqual(await takeFirstAnswer(FIRST_PATHS.identity), { scopes: ["admin"] });
  assert.equal(await takeFirstAnswer(FIRST_PATHS.identity), null);
});

test("a path that was not asked for early has no early answer", async () => {
  window.segueFirstAnswers = { identity: Promise.resolve({}) };
  assert.equal(await takeFirstAnswer("/v1/health"), null);
  assert.equal(await takeFirstAnswer(FIRST_PATHS.sessions), null);
});

test("a request that failed early is sent again by the page", async () => {
  window.segueFirstAnswers = { sessions: Promise.reject(new Error("403")) };
  assert.equal(await takeFirstAnswer(FIRST_PATHS.sessions), null);
});

test("an early script that comes after the page finds that the page has asked", async () => {
  assert.equal(await takeFirstAnswer(FIRST_PATHS.newest), null);
  assert.deepEqual(window.segueFirstAnswers, {});
});

test("answers that were not needed are dropped, because they become old", async () => {
  window.segueFirstAnswers = { attention: Promise.resolve({ sessions: [] }) };
  dropFirstAnswers();
  assert.equal(await takeFirstAnswer(FIRST_PATHS.attention), null);
});
