// Logging in: a link works once, and everything else leads to the command that makes a link.

import assert from "node:assert/strict";

import { Scenario, checkAccess, loginLink, startAgent } from "./support.mjs";

await Scenario.run(async (scenario) => {
  startAgent("fox");
  const link = loginLink();

  const page = await scenario.page();
  await page.goto(link);
  await page.getByRole("heading", { name: "Nobody needs you" }).waitFor();
  assert.equal(new URL(page.url()).hash, "", "the code has left the address bar");
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.reload();
  await page.getByRole("heading", { name: "Nobody needs you" }).waitFor();
  for (const path of ["/v1/web/session", "/v1/sessions", "/v1/attention", "/v1/events"]) {
    assert.equal(asked.filter((it) => it === path).length, 1, `the first view asks once for ${path}`);
  }

  const late = await scenario.page();
  await late.goto(link);
  await late.getByRole("alert").getByText("was used already").waitFor();
  await late.getByText("segue web").waitFor();
  await checkAccess(late, "a used-up link");

  const wrong = await scenario.page();
  await wrong.goto(new URL("/login#wrong", link).href);
  await wrong.getByRole("alert").waitFor();

  const stranger = await scenario.page();
  await stranger.goto(new URL("/sessions", link).href);
  await stranger.getByText("segue web").waitFor();
  assert.equal(await stranger.getByText("fox").count(), 0);

  // A wrong link does not end the login of a browser that has one.
  await page.goto(new URL("/login#wrong", link).href);
  await page.getByRole("alert").waitFor();
  await page.goto(new URL("/", link).href);
  await page.getByRole("heading", { name: "Nobody needs you" }).waitFor();

  await lostStorage(scenario, link);

  // Both tabs of a browser log out together.
  const tab = await page.context().newPage();
  await tab.goto(new URL("/sessions", link).href);
  await tab.getByText("fox").first().waitFor();
  await page.goto(new URL("/settings", link).href);
  await page.getByRole("button", { name: "Log out", exact: true }).click();
  for (const it of [page, tab]) {
    await it.getByText("segue web").waitFor();
    assert.equal(await it.getByText("fox").count(), 0);
    assert.equal(await it.evaluate(() => localStorage.getItem("segue.page-key")), null);
    await it.reload();
    await it.getByText("segue web").waitFor();
  }

  // Both tabs are logged in by one link.
  await page.goto(loginLink());
  await page.getByRole("heading", { name: "Nobody needs you" }).waitFor();
  await tab.getByText("fox").first().waitFor();
});

/** The storage of the page is cleared while the cookie lives: the page explains it, and asks once. */
async function lostStorage(scenario, link) {
  const page = await scenario.login();
  await page.clock.install();
  await page.evaluate(() => localStorage.clear());
  await page.goto(new URL("/sessions", link).href);
  const alert = page.getByRole("alert").getByText("The login of this browser is incomplete");
  await alert.waitFor();
  await page.getByText("segue web").waitFor();
  await checkAccess(page, "a login without its storage");
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.clock.fastForward("10:00");
  assert.deepEqual(requests, [], "the page does not try again and again");
  await page.goto(loginLink());
  await page.getByRole("heading", { name: "Nobody needs you" }).waitFor();
}
