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
  await page.reload();
  await page.getByRole("heading", { name: "Nobody needs you" }).waitFor();

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

  await page.goto(new URL("/settings", link).href);
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByText("segue web").waitFor();
  await page.reload();
  await page.getByText("segue web").waitFor();
});
