// Settings: tokens that work until they are revoked, sources without secrets, findings of the doctor
// with their cures, shared links, and the choices of this browser.

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";

import { PHONE, Scenario, checkAccess, go, loginLink, startAgent } from "./support.mjs";

const SETTINGS = `
[[sources]]
name = "hub"
forge = "github"
token = { env = "HUB_TOKEN" }

[[sources]]
name = "lab"
forge = "gitlab"
secret = { file = "~/hook" }
`;

const card = (page, title) => page.locator("section.card", { has: page.getByRole("heading", { name: title }) });

/** Asks for the sessions with a token. Returns the status of the answer. */
async function ask(origin, token) {
  const answer = await fetch(`${origin}/v1/sessions`, { headers: { authorization: `Bearer ${token}` } });
  return answer.status;
}

await Scenario.run(async (scenario) => {
  const fox = startAgent("fox");
  appendFileSync(join(process.env.SEGUE_HOME, "config.toml"), SETTINGS);
  const page = await scenario.login();
  const { origin } = new URL(loginLink());
  await go(page, "/settings");

  const sources = card(page, "Sources");
  await sources.getByRole("listitem").filter({ hasText: "hub" }).getByText("has a token").waitFor();
  await sources.getByRole("listitem").filter({ hasText: "lab" }).getByText("no token").waitFor();

  await tokens(page, origin);
  await doctor(page);
  await shares(page, fox);
  await theme(page);
  await checkAccess(page, "settings");
  const phone = await scenario.login({ viewport: PHONE, colorScheme: "light" });
  await go(phone, "/settings");
  await card(phone, "Doctor").getByText("hook").first().waitFor();
  await checkAccess(phone, "settings on a phone");
});

async function tokens(page, origin) {
  const section = card(page, "Tokens");
  await section.getByText("No program has a token.").waitFor();
  await section.getByText("New token").click();
  await section.getByLabel("Name").fill("reader");
  assert.ok(await section.getByRole("checkbox", { name: /^read/ }).isChecked(), "the least scope is chosen at first");
  await section.getByRole("button", { name: "Create" }).click();
  const banner = section.getByRole("status").filter({ hasText: "Copy the token now" });
  const token = (await banner.locator("code").textContent()) ?? "";
  assert.ok(token.length > 20, "the token is shown once");
  assert.equal(await ask(origin, token), 200);
  const row = section.getByRole("listitem").filter({ hasText: "reader" });
  await row.getByText("read", { exact: true }).waitFor();
  await checkAccess(page, "a new token");
  await section.getByRole("button", { name: /^Log out browser-/ }).waitFor();
  await row.getByRole("button", { name: "Revoke reader" }).click();
  await section.getByText("No program has a token.").waitFor();
  assert.equal(await ask(origin, token), 401);
  await page.reload();
  await section.getByText("No program has a token.").waitFor();
  assert.ok(!(await page.locator("main").textContent()).includes(token), "the token is not shown again");
}

/** The secret of a source is in a file that does not exist. */
async function doctor(page) {
  const finding = card(page, "Doctor").getByRole("listitem").filter({ hasText: "hook" }).first();
  await finding.waitFor();
  await finding.getByText("problem").waitFor();
  await finding.locator(".cure").first().waitFor();
  await card(page, "Doctor").getByRole("button", { name: "Look again" }).click();
  await finding.waitFor();
}

async function shares(page, fox) {
  const section = card(page, "Shared links");
  await section.getByText("No session is shared").waitFor();
  await go(page, `/sessions/${fox.id}/log`);
  await page.getByRole("button", { name: "Share" }).click();
  const dialog = page.getByRole("dialog", { name: "Share default/fox" });
  await dialog.getByRole("button", { name: "Create the link" }).click();
  await dialog.getByText("Copy the link now").waitFor();
  await checkAccess(page, "a new link");
  await dialog.getByRole("button", { name: "Done" }).click();
  await go(page, "/settings");
  const row = section.getByRole("listitem").filter({ hasText: "default/fox" });
  await row.getByRole("button", { name: "Revoke" }).click();
  await section.getByText("No session is shared").waitFor();
}

async function theme(page) {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await card(page, "This browser").getByLabel("Theme").selectOption("light");
  const light = await ground();
  assert.notEqual(light, dark);
  await page.reload();
  await card(page, "This browser").waitFor();
  assert.equal(await ground(), light, "the browser keeps the choice");
  await card(page, "This browser").getByLabel("Theme").selectOption("system");
  assert.equal(await ground(), dark);
}
