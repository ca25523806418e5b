// Notifications: a page in the background reports a question, the button of the notification
// answers it, and the title and the icon count the sessions that need a person.

import assert from "node:assert/strict";

import { Scenario, ask, go, segue, startAgent, waitFor } from "./support.mjs";

/** Returns the notifications that the browser shows now. */
const shown = (page) =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    const all = await registration.getNotifications();
    return all.map(({ title, body, tag, actions }) => ({ title, body, tag, actions: actions.map((it) => it.title) }));
  });

/** Clicks a notification as the browser reports it to the service worker. */
const click = (worker, tag, action) =>
  worker.evaluate(
    async ([tag, action]) => {
      const [notification] = await self.registration.getNotifications({ tag });
      self.dispatchEvent(new NotificationEvent("notificationclick", { notification, action }));
    },
    [tag, action],
  );

const icon = (page) => page.locator("link[rel=icon]").getAttribute("href");

await Scenario.run(async (scenario) => {
  const fox = startAgent("fox");
  const owl = startAgent("owl");
  const page = await scenario.login();
  const context = page.context();
  await context.grantPermissions(["notifications"]);
  await go(page, "/settings");
  await page.getByRole("checkbox", { name: "Notify me when an agent needs me" }).check();
  assert.equal(await page.title(), "Segue");
  assert.equal(await icon(page), "/icon.svg");
  const badge = await countBadge(page);

  // A page that a person looks at shows the question itself, and no notification.
  ask("owl");
  await page.waitForFunction(() => document.title === "(1) Segue");
  assert.deepEqual(await shown(page), []);

  // A page in the background reports the question.
  await sendToBackground(context, page);
  ask("fox");
  await waitFor(async () => (await shown(page)).length === 1);
  const [notification] = await shown(page);
  assert.deepEqual(notification, { title: "default/fox needs you", body: "Allow?", tag: fox.id, actions: ["yes", "no"] });
  assert.equal(await page.title(), "(2) Segue");
  assert.equal(await icon(page), "/assets/icon-alert.svg");
  assert.deepEqual(await badge(), ["set 1", "set 2"]);

  // Its button answers the question that it shows.
  const [worker] = context.serviceWorkers();
  await click(worker, fox.id, "1");
  segue("wait", "fox", "--for", "idle");
  assert.match(segue("log", "fox"), /answered/);
  await page.waitForFunction(() => document.title === "(1) Segue");
  assert.deepEqual(await shown(page), []);

  // The same question, asked again, is reported again. It is answered elsewhere: the notification of
  // an answered question goes away.
  ask("fox");
  await waitFor(async () => (await shown(page)).length === 1);
  segue("answer", "fox", "no");
  await waitFor(async () => (await shown(page)).length === 0);

  // A click beside the buttons opens the session.
  ask("fox");
  await waitFor(async () => (await shown(page)).length === 1);
  await click(worker, fox.id, "");
  await page.waitForURL(`**/sessions/${fox.id}/terminal`);

  segue("answer", "fox", "yes");
  segue("answer", "owl", "yes");
  await page.waitForFunction(() => document.title === "Segue");
  await waitFor(async () => (await badge()).at(-1) === "clear");
  assert.equal(await icon(page), "/icon.svg");
  assert.ok(owl.id);
});

/** Shows another tab, so that the page is neither visible nor has the focus. */
async function sendToBackground(context, page) {
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setFocusEmulationEnabled", { enabled: false });
  const other = await context.newPage();
  await other.bringToFront();
  await page.waitForFunction(() => document.visibilityState === "hidden" || !document.hasFocus());
}

/** Records the numbers that the icon of an installed page gets. */
async function countBadge(page) {
  await page.evaluate(() => {
    globalThis.badges = [];
    navigator.setAppBadge = async (count) => void globalThis.badges.push(`set ${count}`);
    navigator.clearAppBadge = async () => void globalThis.badges.push("clear");
  });
  return () => page.evaluate(() => globalThis.badges);
}
